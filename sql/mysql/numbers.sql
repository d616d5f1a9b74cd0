-- Numbers of messages without gaps and without repeats, in MariaDB or MySQL. It needs no other file. ../numbers.sh measures it while
-- connections are killed; not tested with MySQL.
--
-- A transaction stores a message:
--   START TRANSACTION
--   take: locks the room until the commit, and returns its next number and its last ID
--   in the application: ids.generate_after(last_id, tag), whose ID is after the last one of the room, whichever host minted that
--   store: error 1062 of the key by_client_key means that the client has sent this message before: ROLLBACK, and `known` has its ID and number
--   COMMIT
-- A transaction that ends in another way leaves no gap. Repeat one that ends with error 1213 (deadlock). Messages of one room wait for each
-- other's commit, and see it: a reader that has number n, or the ID of number n, has all before it.
-- It needs READ COMMITTED if innodb_snapshot_isolation is on: stricter levels can fail with error 1020. REPEATABLE READ works otherwise.

-- schema: Names are compared by their bytes. In MySQL 8 write utf8mb4_0900_bin.
CREATE TABLE rooms (
  name VARCHAR(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PRIMARY KEY,
  last_number BIGINT NOT NULL,
  last_id VARBINARY(10)
);
CREATE TABLE messages (
  id VARBINARY(10) PRIMARY KEY CHECK (LENGTH(id) = 10),
  room VARCHAR(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  number BIGINT NOT NULL,
  sender VARCHAR(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  client_key VARCHAR(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  body TEXT CHARACTER SET utf8mb4 NOT NULL,
  UNIQUE KEY by_number (room, number),
  UNIQUE KEY by_client_key (room, sender, client_key)
);
CREATE TABLE readers (
  reader VARCHAR(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin,
  room VARCHAR(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin,
  number BIGINT NOT NULL,
  PRIMARY KEY (reader, room)
);

-- take: Takes the number and locks the room. The second statement reads what the first one has written.
INSERT INTO rooms (name, last_number) VALUES (:room, 1) ON DUPLICATE KEY UPDATE last_number = last_number + 1;
SELECT last_number, last_id FROM rooms WHERE name = :room;

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
