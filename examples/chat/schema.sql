-- The tables of the chat, as in sql/postgres/numbers.sql. Each gateway runs this file when it starts.
CREATE TABLE IF NOT EXISTS rooms (name text PRIMARY KEY, last_number bigint NOT NULL, last_id bytea) WITH (fillfactor = 50);
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
-- For the search by time.
CREATE INDEX IF NOT EXISTS messages_by_time ON messages (room, id);
CREATE TABLE IF NOT EXISTS readers (reader text, room text, number bigint NOT NULL, PRIMARY KEY (reader, room));
