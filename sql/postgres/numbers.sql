-- Numbers of messages without gaps and without repeats, in PostgreSQL 14 or later: the statements of a chat with the tables of tables.sql.
-- ../numbers.sh measures them while connections are killed. MariaDB and SQLite have the same sections.
--
-- imid_post of mint.sql stores a message. A program in Rust can mint the ID itself, in a transaction:
--   BEGIN
--   take: locks the room until the commit, and returns its next number, its last ID, and the time of the database
--   in the application: MessageId::after(last_id, session_tag, now_ms)
--   store: if it changes no row, the client has sent this message before: ROLLBACK, and `known` has its ID and number
--   COMMIT
-- A transaction that ends in another way leaves no gap. Messages of one room wait for each other's commit, and see it: a reader that has
-- number n, or the ID of number n, has all before it.
-- It needs READ COMMITTED, the default: stricter levels fail with 40001 where messages of one room wait for each other.

-- take: Takes the number and locks the room. The first message makes the room's row.
INSERT INTO rooms AS room (name, session_tag, last_number, last_id)
  VALUES (:room, :session_tag, 1, (SELECT last_id FROM rooms WHERE name = ''))
  ON CONFLICT (name) DO UPDATE SET last_number = room.last_number + 1
  RETURNING last_number, last_id, session_tag, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now_ms;

-- store: Stores the message, unless its client has sent it before.
WITH stored AS (
  INSERT INTO messages (id, room, number, sender, client_key, body) VALUES (:id, :room, :number, :sender, :key, :body)
  ON CONFLICT (room, sender, client_key) DO NOTHING RETURNING id, room)
UPDATE rooms SET last_id = stored.id FROM stored WHERE name = stored.room;

-- known: The message that the client has sent before.
SELECT id, number FROM messages WHERE room = :room AND sender = :sender AND client_key = :key;

-- follow: What is new in a room. It misses nothing, while the database loses nothing.
SELECT id, number, sender, body FROM messages WHERE room = :room AND number > :number ORDER BY number LIMIT :limit;

-- resume: The message that a client has, and what is new after it. Without a row the database has lost that message (a failover, a restore)
-- and gives its number again: the client reads the room anew.
SELECT id, number, sender, body FROM messages WHERE room = :room AND number >=
  (SELECT number FROM messages WHERE id = :id AND room = :room) ORDER BY number LIMIT :limit;

-- page: One page of a room, backwards.
SELECT id, number, sender, body FROM messages WHERE room = :room AND number < :number ORDER BY number DESC LIMIT :limit;

-- read: Moves a reader's marker forward, never back.
INSERT INTO readers (reader, room, number) VALUES (:reader, :room, :number)
  ON CONFLICT (reader, room) DO UPDATE SET number = greatest(readers.number, excluded.number);

-- unread: How many messages each room of a reader has after the marker.
SELECT rooms.name, rooms.last_number - readers.number AS unread FROM readers JOIN rooms ON rooms.name = readers.room
  WHERE readers.reader = :reader ORDER BY rooms.name;

-- gaps: The numbers that are missing, as ranges. A client does the same with the numbers that it has received, and asks for the ranges.
SELECT room, previous + 1 AS first, number - 1 AS last
  FROM (SELECT room, number, lag(number, 1, 0) OVER (PARTITION BY room ORDER BY number) AS previous FROM messages) AS pairs
  WHERE number > previous + 1;

-- audit: Messages, those that are missing, and those whose ID is not in the order of the numbers.
SELECT (SELECT count(*) FROM messages), (SELECT coalesce(sum(last_number), 0)::bigint FROM rooms) - (SELECT count(*) FROM messages),
  (SELECT count(*) FROM (SELECT id < lag(id) OVER (PARTITION BY room ORDER BY number) AS wrong FROM messages) AS pairs WHERE wrong);

-- drop: Removes the tables.
DROP TABLE IF EXISTS rooms, messages, readers;
