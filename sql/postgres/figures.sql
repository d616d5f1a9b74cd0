-- Prints the figures of docs/STORES.md: sizes and insert times of tables of IDs, and the time of each function per row.
--   psql -f install.sql -v n=1000000 -f figures.sql
-- It makes the schema imid_figures and drops it.
\set ON_ERROR_STOP on
\if :{?n} \else \set n 1000000 \endif
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;
SELECT current_schema AS home \gset
CREATE SCHEMA imid_figures;
SET search_path = imid_figures, :"home";
SET max_parallel_workers_per_gather = 0;
SET jit = off;

-- Four IDs in each millisecond, with spins and sessions that look random.
CREATE TABLE ids AS
  SELECT i, id, imid_text(id) AS letters, imid_uuid(id) AS view, gen_random_uuid() AS random_view, random() AS place FROM (SELECT i,
  imid_join((1763665800000 + i / 4) >> 2, (((1763665800000 + i / 4) & 3) << 38) | ((i % 4) << 36) | ((i * 997 & 1023) << 26)
  | ((i * 7919) & 67108863)) AS id FROM generate_series(1::bigint, :n) AS i) AS made;
CREATE FUNCTION milliseconds(statement text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE start timestamptz := clock_timestamp();
BEGIN
  EXECUTE statement;
  RETURN round(extract(epoch FROM clock_timestamp() - start) * 1000, 1);
END $$;
CREATE TABLE by_bytes (id bytea PRIMARY KEY);
CREATE TABLE by_text (id text COLLATE "C" PRIMARY KEY);
CREATE TABLE by_view (id uuid PRIMARY KEY);
CREATE TABLE by_number (id bigint PRIMARY KEY);
CREATE TABLE by_random (id uuid PRIMARY KEY);
CREATE TABLE unsorted (id bytea PRIMARY KEY);

SELECT 'insert, ms: ' || name || ' ' || milliseconds(statement) FROM (VALUES
  ('bytes', 'INSERT INTO by_bytes SELECT id FROM ids ORDER BY i'),
  ('text', 'INSERT INTO by_text SELECT letters FROM ids ORDER BY i'),
  ('uuid', 'INSERT INTO by_view SELECT view FROM ids ORDER BY i'),
  ('bigint', 'INSERT INTO by_number SELECT i FROM ids ORDER BY i'),
  ('random uuid', 'INSERT INTO by_random SELECT random_view FROM ids ORDER BY i'),
  ('bytes in random order', 'INSERT INTO unsorted SELECT id FROM ids ORDER BY place')) AS x(name, statement);
SELECT 'size, MB: ' || name || ' table ' || round(pg_table_size(name::regclass) / 1e6, 1)
  || ' primary key ' || round(pg_indexes_size(name::regclass) / 1e6, 1)
  FROM unnest(array['by_bytes', 'by_text', 'by_view', 'by_number', 'by_random', 'unsorted']) AS name;
ANALYZE;
SELECT 'one minute, ms: ' || name || ' ' || milliseconds(statement) FROM (VALUES
  ('bytes', 'SELECT count(*) FROM by_bytes WHERE id BETWEEN imid_first(1763665860000) AND imid_last(1763665919999)'),
  ('text', 'SELECT count(*) FROM by_text WHERE id BETWEEN imid_text(imid_first(1763665860000)) AND imid_text(imid_last(1763665919999))'),
  ('uuid', 'SELECT count(*) FROM by_view WHERE id BETWEEN imid_uuid(imid_first(1763665860000)) AND imid_uuid(imid_last(1763665919999))')
  ) AS x(name, statement);
SELECT 'sort, ms: ' || name || ' ' || milliseconds('SELECT count(*) FROM (SELECT ' || name || ' FROM ids ORDER BY ' || name || ' OFFSET 0) AS x')
  FROM unnest(array['id', 'letters COLLATE "C"', 'view', 'i']) AS name;

-- The time of a function is the time of the query less that of a query with octet_length.
SELECT min(milliseconds('SELECT count(octet_length(id)) FROM ids')) AS base FROM generate_series(1, 3) \gset
SELECT 'function, µs a row: ' || call || ' ' || round((min(milliseconds('SELECT count(' || call || ') FROM ids')) - :base) * 1000 / :n, 2)
  FROM unnest(array['imid_ms(id)', 'imid_timestamp(id)', 'imid_spin(id)', 'imid_type_name(id)', 'imid_session(id)', 'imid_text(id)',
  'imid_bytes(letters)', 'imid_uuid(id)', 'imid_from_uuid(view)', 'imid_is_text(letters)']) AS call, generate_series(1, 3) GROUP BY call ORDER BY call;
DROP SCHEMA imid_figures CASCADE;
