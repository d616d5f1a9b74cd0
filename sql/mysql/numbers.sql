-- Numbers of messages without gaps and without repeats, in MariaDB or MySQL: the statements of a chat with the tables of tables.sql.
-- ../numbers.sh measures them while connections are killed; not tested with MySQL.
--
-- imid_post of mint.sql stores a message. A program in Rust can mint the ID itself, in a transaction:
--   START TRANSACTION
--   take: locks the room until the commit, and returns its next number, its last ID, and the time of the database
--   in the application: MessageId::after(last_id, session_tag, now_ms)
--   store: error 1062 of the key by_client_key means that the client has sent this message before: ROLLBACK, and `known` has its ID and number
--   COMMIT
-- A transaction that ends in another way leaves no gap. Repeat one that ends with error 1213 (deadlock). Messages of one room wait for each
-- other's commit, and see it: a reader that has number n, or the ID of number n, has all before it.
-- It needs READ COMMITTED if innodb_snapshot_isolation is on: stricter levels can fail with error 1020. REPEATABLE READ works otherwise.

-- take: Takes the number and locks the room. The first message makes the room's row. The second statement reads what the first one has written.
INSERT INTO rooms (name, session_tag, last_number) VALUES (:room, :session_tag, 1) ON DUPLICATE KEY UPDATE last_number = last_number + 1;
SELECT last_number, COALESCE(last_id, (SELECT start.last_id FROM rooms AS start WHERE start.name = '')) AS last_id, session_tag,
  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000 AS now_ms FROM rooms WHERE name = :room;

-- store: Stores the message.
INSERT INTO messages (id, room, number, sender, client_key, body) VALUES (:id, :room, :number, :sender, :key, :body);
UPDATE rooms SET last_id = :id WHERE name = :room;

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
  ON DUPLICATE KEY UPDATE number = GREATEST(number, VALUES(number));

-- unread: How many messages each room of a reader has after the marker.
SELECT rooms.name, rooms.last_number - readers.number AS unread FROM readers JOIN rooms ON rooms.name = readers.room
  WHERE readers.reader = :reader ORDER BY rooms.name;

-- gaps: The numbers that are missing, as ranges. A client does the same with the numbers that it has received, and asks for the ranges.
SELECT room, previous + 1 AS first, number - 1 AS last
  FROM (SELECT room, number, COALESCE(LAG(number) OVER (PARTITION BY room ORDER BY number), 0) AS previous FROM messages) AS pairs
  WHERE number > previous + 1;

-- audit: Messages, those that are missing, and those whose ID is not in the order of the numbers.
SELECT (SELECT COUNT(*) FROM messages), (SELECT CAST(COALESCE(SUM(last_number), 0) AS SIGNED) FROM rooms) - (SELECT COUNT(*) FROM messages),
  (SELECT COUNT(*) FROM (SELECT id < LAG(id) OVER (PARTITION BY room ORDER BY number) AS wrong FROM messages) AS pairs WHERE wrong);

-- drop: Removes the tables.
DROP TABLE IF EXISTS rooms, messages, readers;
