-- The numbers of numbers.sql with partitions by time, in PostgreSQL 14 or later, so that retention drops a partition and deletes no rows.
-- It needs no other file. ../numbers.sh measures it while connections are killed.
--
-- A unique key of a partitioned table must contain the partition's column, so it cannot be (room, sender, client_key). The keys have a table
-- of their own, which forgets them by time too: keep them for as long as a client repeats a message. Numbers are unique because the room
-- is locked. Pages go by ID, because a page by number would look into each partition.
--
-- The transaction is that of numbers.sql: BEGIN, take, MessageId::after(last_id, session_tag, now_ms), store, COMMIT.

-- schema: Each partition has 30 days. A job makes the next ones in time, as the last statement does for this one and the next two.
CREATE TABLE rooms (
  name text PRIMARY KEY,
  session_tag integer NOT NULL CHECK (session_tag BETWEEN 0 AND 67108863),
  last_number bigint NOT NULL,
  last_id bytea CHECK (octet_length(last_id) = 10)
) WITH (fillfactor = 50);
-- New rooms begin after the last ID of this row.
INSERT INTO rooms VALUES ('', 0, 0, NULL);
CREATE TABLE messages (
  id bytea PRIMARY KEY CHECK (octet_length(id) = 10),
  room text NOT NULL,
  number bigint NOT NULL,
  sender text NOT NULL,
  body text NOT NULL
) PARTITION BY RANGE (id);
CREATE INDEX messages_by_room ON messages (room, id);
CREATE TABLE client_keys (
  room text,
  sender text,
  client_key text,
  id bytea NOT NULL,
  number bigint NOT NULL,
  PRIMARY KEY (room, sender, client_key)
);
CREATE INDEX client_keys_by_time ON client_keys (id);
-- The first ID of a millisecond is its 42 bits and then zeros.
CREATE FUNCTION first_of_bucket(bucket bigint) RETURNS bytea LANGUAGE sql IMMUTABLE AS
  $$ SELECT decode(lpad(to_hex((bucket * 30 * 86400000) << 6), 12, '0') || '00000000', 'hex') $$;
CREATE FUNCTION make_partition(bucket bigint) RETURNS void LANGUAGE plpgsql AS
  $$ BEGIN EXECUTE format('CREATE TABLE IF NOT EXISTS messages_%s PARTITION OF messages FOR VALUES FROM (%L) TO (%L)',
    bucket, first_of_bucket(bucket), first_of_bucket(bucket + 1)); END $$;
CREATE FUNCTION drop_partition(bucket bigint) RETURNS void LANGUAGE plpgsql AS
  $$ BEGIN EXECUTE format('DROP TABLE messages_%s', bucket); END $$;
SELECT make_partition(extract(epoch FROM now())::bigint / (30 * 86400) + following) FROM generate_series(0, 2) AS following;

-- take: Takes the number and locks the room. The first message makes the room's row.
INSERT INTO rooms AS room (name, session_tag, last_number, last_id)
  VALUES (:room, :session_tag, 1, (SELECT last_id FROM rooms WHERE name = ''))
  ON CONFLICT (name) DO UPDATE SET last_number = room.last_number + 1
  RETURNING last_number, last_id, session_tag, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now_ms;

-- store: Stores the message, unless its client has sent it before.
WITH new AS (
  INSERT INTO client_keys (room, sender, client_key, id, number) VALUES (:room, :sender, :key, :id, :number)
  ON CONFLICT DO NOTHING RETURNING id, room, number, sender),
stored AS (
  INSERT INTO messages (id, room, number, sender, body) SELECT id, room, number, sender, :body FROM new RETURNING id, room)
UPDATE rooms SET last_id = stored.id FROM stored WHERE name = stored.room;

-- known: The message that the client has sent before.
SELECT id, number FROM client_keys WHERE room = :room AND sender = :sender AND client_key = :key;

-- resume: The message that the client has, and what is new after it. If the first row is another message, the database has lost that one.
SELECT id, number, sender, body FROM messages WHERE room = :room AND id >= :id ORDER BY id LIMIT :limit;

-- page: One page of a room, backwards.
SELECT id, number, sender, body FROM messages WHERE room = :room AND id < :id ORDER BY id DESC LIMIT :limit;

-- retention: Drops the partition of a bucket, and forgets the keys before an ID.
SELECT drop_partition(:bucket);
DELETE FROM client_keys WHERE id < :id;

-- gaps: The numbers that are missing, as ranges.
SELECT room, previous + 1 AS first, number - 1 AS last
  FROM (SELECT room, number, lag(number, 1, 0) OVER (PARTITION BY room ORDER BY number) AS previous FROM messages) AS pairs
  WHERE number > previous + 1;

-- audit: Messages, those that are missing, and those whose ID is not in the order of the numbers.
SELECT (SELECT count(*) FROM messages), (SELECT coalesce(sum(last_number), 0)::bigint FROM rooms) - (SELECT count(*) FROM messages),
  (SELECT count(*) FROM (SELECT id < lag(id) OVER (PARTITION BY room ORDER BY number) AS wrong FROM messages) AS pairs WHERE wrong);

-- drop: Removes the tables.
DROP TABLE IF EXISTS rooms, messages, client_keys;
DROP FUNCTION IF EXISTS make_partition, drop_partition, first_of_bucket;
