-- The tables of a chat in MariaDB or MySQL, for mint.sql and numbers.sql. This file can be run again. Names are compared by their bytes: in
-- MySQL 8 write utf8mb4_0900_bin.
--
-- A room's row has its last number and its last ID, so it is never deleted, and they are never lowered: a room that is gone keeps its row.
-- To adopt a table of messages that have IDs, insert a row for each room with its number of messages and its greatest ID.
CREATE TABLE IF NOT EXISTS rooms (
  name VARCHAR(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PRIMARY KEY,
  session_tag INT NOT NULL CHECK (session_tag BETWEEN 0 AND 67108863),
  last_number BIGINT NOT NULL,
  last_id VARBINARY(10) CHECK (LENGTH(last_id) = 10)
);
-- New rooms begin after the last ID of this row. It is NULL until a failover that lost commits (imid_lift).
INSERT IGNORE INTO rooms VALUES ('', 0, 0, NULL);
CREATE TABLE IF NOT EXISTS messages (
  id VARBINARY(10) PRIMARY KEY CHECK (LENGTH(id) = 10),
  room VARCHAR(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  number BIGINT NOT NULL,
  sender VARCHAR(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  client_key VARCHAR(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  body TEXT CHARACTER SET utf8mb4 NOT NULL,
  UNIQUE KEY by_number (room, number),
  UNIQUE KEY by_client_key (room, sender, client_key)
);
CREATE TABLE IF NOT EXISTS readers (
  reader VARCHAR(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin,
  room VARCHAR(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin,
  number BIGINT NOT NULL,
  PRIMARY KEY (reader, room)
);
