-- The tables of a chat in SQLite 3.35 or later, for mint.sql and numbers.sql. This file can be run again.
--
-- A room's row has its last number and the timestamp and the spin of its last ID (its upper 54 bits, as an integer), so it is never deleted,
-- and they are never lowered: a room that is gone keeps its row. To adopt a table of messages that have IDs, insert a row for each room with its
-- number of messages and its greatest ID (timestamp_ms * 4096 + spin).
CREATE TABLE IF NOT EXISTS rooms (
  name TEXT PRIMARY KEY,
  session_tag INTEGER NOT NULL CHECK (typeof(session_tag) = 'integer' AND session_tag BETWEEN 0 AND 67108863),
  last_number INTEGER NOT NULL,
  last_stamp INTEGER NOT NULL CHECK (last_stamp < 1 << 54)
) WITHOUT ROWID;
-- New rooms begin after the last ID of this row. It is 0 until a backup is restored (lift).
INSERT OR IGNORE INTO rooms VALUES ('', 0, 0, 0);
CREATE TABLE IF NOT EXISTS messages (
  id BLOB PRIMARY KEY CHECK (typeof(id) = 'blob' AND length(id) = 10),
  room TEXT NOT NULL,
  number INTEGER NOT NULL,
  sender TEXT NOT NULL,
  client_key TEXT NOT NULL,
  body TEXT NOT NULL,
  UNIQUE (room, number),
  UNIQUE (room, sender, client_key)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS readers (reader TEXT, room TEXT, number INTEGER NOT NULL, PRIMARY KEY (reader, room)) WITHOUT ROWID;
