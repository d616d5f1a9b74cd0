-- A chat in PostgreSQL, after install.sql. ../chat.py runs this file and compares each answer with a recount.

-- schema: The table has a partition for each 30 days, so that retention drops a partition and deletes no rows.
CREATE TABLE messages (
  id bytea PRIMARY KEY CHECK (imid_is_bytes(id)),
  session_tag integer NOT NULL GENERATED ALWAYS AS (imid_session_tag(id)) STORED,
  room text NOT NULL,
  seq bigint NOT NULL,
  length integer NOT NULL
) PARTITION BY RANGE (id);
CREATE INDEX messages_by_session_tag ON messages (session_tag, id);
-- The partitions of the buckets 570 to 690, 2016 to 2026. A job makes the next ones in time.
DO $$ BEGIN
  FOR bucket IN 570..690 LOOP
    EXECUTE format('CREATE TABLE messages_%s PARTITION OF messages FOR VALUES FROM (%L) TO (%L)',
      bucket, imid_bucket_first(bucket, 30), imid_bucket_first(bucket + 1, 30));
  END LOOP; END $$;

-- insert: An application sends the 10 bytes as a parameter.
INSERT INTO messages (id, room, seq, length) VALUES (decode(:hex, 'hex'), :room, :seq, :length);

-- loaded: Statistics for the plans.
ANALYZE messages;

-- support: A view for people, who do not know of bytes. Compare id with imid_bytes(...), or the view reads the whole table.
CREATE VIEW messages_for_support AS SELECT imid_text(id) AS text, imid_timestamp(id) AS sent, messages.* FROM messages;

-- page: One page of a room, backwards. Two rooms can have the same session, so the room is compared too.
SELECT imid_text(id), seq FROM messages
  WHERE session_tag = :session_tag AND room = :room AND id < imid_bytes(:before) ORDER BY id DESC LIMIT :limit;

-- minute: The messages of all rooms in a minute.
SELECT imid_text(id), room FROM messages WHERE id BETWEEN imid_first(:first) AND imid_last(:last) ORDER BY id;

-- again: To follow all rooms; each message comes at least once. :from is when the last complete read began, less the longest transaction and
-- the skew of the clocks (docs/STORES.md, "Cursors"). After :limit rows, go on from the last ID. The follower drops the IDs that it knows.
SELECT imid_text(id), room FROM messages WHERE id >= imid_first(:from) ORDER BY id LIMIT :limit;

-- one: One message by its ID.
SELECT room, seq, length FROM messages WHERE id = imid_bytes(:id);

-- retention: Drops the partitions before a time that is the first of a bucket.
DO $$ BEGIN
  FOR bucket IN 570..imid_bucket(imid_first(:keep), 30) - 1 LOOP EXECUTE format('DROP TABLE messages_%s', bucket);
  END LOOP; END $$;

-- rest: What is left.
SELECT imid_text(id) FROM messages ORDER BY id;

-- drop: Removes the table and its partitions.
DROP VIEW IF EXISTS messages_for_support;
DROP TABLE IF EXISTS messages;
