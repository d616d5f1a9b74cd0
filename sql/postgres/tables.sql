-- The tables of a chat in PostgreSQL, for mint.sql and numbers.sql. This file can be run again.
--
-- A room's row has its last number and its last ID, so it is never deleted, and they are never lowered: a room that is gone keeps its row.
-- To adopt a table of messages that have IDs, insert a row for each room with its number of messages and its greatest ID.

-- The free space of a page makes updates of a room cheap (HOT).
CREATE TABLE IF NOT EXISTS rooms (
  name text PRIMARY KEY,
  session_tag integer NOT NULL CHECK (session_tag BETWEEN 0 AND 67108863),
  last_number bigint NOT NULL,
  last_id bytea CHECK (octet_length(last_id) = 10)
) WITH (fillfactor = 50);
-- New rooms begin after the last ID of this row. It is NULL until a failover that lost commits (imid_lift).
INSERT INTO rooms VALUES ('', 0, 0, NULL) ON CONFLICT DO NOTHING;
CREATE TABLE IF NOT EXISTS messages (
  id bytea PRIMARY KEY CHECK (octet_length(id) = 10),
  room text NOT NULL,
  number bigint NOT NULL,
  sender text NOT NULL,
  client_key text NOT NULL,
  body text NOT NULL,
  UNIQUE (room, number),
  UNIQUE (room, sender, client_key)
);
CREATE TABLE IF NOT EXISTS readers (reader text, room text, number bigint NOT NULL, PRIMARY KEY (reader, room));
