-- Makes a table that uses the functions in columns, constraints and indexes. ci/stores.sh dumps it and restores it in another database,
-- where restored.sql reads it.
CREATE TABLE imid_dumped (
  id bytea PRIMARY KEY CHECK (imid_is_bytes(id)),
  session_tag integer GENERATED ALWAYS AS (imid_session_tag(id)) STORED,
  sent timestamptz GENERATED ALWAYS AS (imid_timestamp(id)) STORED,
  letters text GENERATED ALWAYS AS (imid_text(id)) STORED CHECK (imid_is_text(letters))
);
CREATE INDEX ON imid_dumped (imid_uuid(id));
CREATE INDEX ON imid_dumped (imid_bucket(id, 7), id);
INSERT INTO imid_dumped SELECT imid_first(1763665800000 + i * 7919) FROM generate_series(1, 1000) AS i;
ANALYZE imid_dumped;
