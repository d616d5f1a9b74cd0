-- Numbers of messages without gaps and without repeats, in SQLite 3.35 or later: the statements of a chat with the tables of tables.sql.
-- ../numbers.sh measures them while processes are killed.
--
-- `take` and `store` of mint.sql store a message. A transaction that ends in another way than its COMMIT leaves no gap. SQLite has one writer
-- at a time, so a reader that has number n, or the ID of number n, has all before it.

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
  ON CONFLICT (reader, room) DO UPDATE SET number = max(readers.number, excluded.number);

-- unread: How many messages each room of a reader has after the marker.
SELECT rooms.name, rooms.last_number - readers.number AS unread FROM readers JOIN rooms ON rooms.name = readers.room
  WHERE readers.reader = :reader ORDER BY rooms.name;

-- gaps: The numbers that are missing, as ranges. A client does the same with the numbers that it has received, and asks for the ranges.
SELECT room, previous + 1 AS first, number - 1 AS last
  FROM (SELECT room, number, lag(number, 1, 0) OVER (PARTITION BY room ORDER BY number) AS previous FROM messages) AS pairs
  WHERE number > previous + 1;

-- audit: Messages, those that are missing, and those whose ID is not in the order of the numbers.
SELECT (SELECT count(*) FROM messages), (SELECT coalesce(sum(last_number), 0) FROM rooms) - (SELECT count(*) FROM messages),
  (SELECT count(*) FROM (SELECT id < lag(id) OVER (PARTITION BY room ORDER BY number) AS wrong FROM messages) AS pairs WHERE wrong);

-- drop: Removes the tables.
DROP TABLE IF EXISTS rooms;
DROP TABLE IF EXISTS messages;
DROP TABLE IF EXISTS readers;
