-- A chat in MariaDB or MySQL, after install.sql. ../chat.py runs this file and compares each answer with a recount.

-- schema: A generated column can have no stored function, so the expression of imid_session_tag is written out.
CREATE TABLE messages (
  id VARBINARY(10) PRIMARY KEY CHECK (LENGTH(id) = 10),
  session_tag INT AS (CONV(HEX(RIGHT(id, 4)), 16, 10) & 67108863) STORED,
  room VARCHAR(200) CHARACTER SET utf8mb4 NOT NULL,
  seq BIGINT NOT NULL,
  length INT NOT NULL,
  KEY by_session_tag (session_tag, id)
);

-- insert: An application sends the 10 bytes as a parameter.
INSERT INTO messages (id, room, seq, length) VALUES (UNHEX(:hex), :room, :seq, :length);

-- loaded: Statistics for the plans.
ANALYZE TABLE messages;

-- support: A view for people, who do not know of bytes. Compare id with imid_bytes(...), or the view reads the whole table.
CREATE VIEW messages_for_support AS SELECT imid_text(id) AS text, imid_timestamp(id) AS sent, messages.* FROM messages;

-- page: One page of a room, backwards. Two rooms can have the same session, so the room is compared too. Without FORCE INDEX,
-- MariaDB does not use this index for a room that has a fifth of all messages.
SELECT imid_text(id), seq FROM messages FORCE INDEX (by_session_tag)
  WHERE session_tag = :session_tag AND room = :room AND id < imid_bytes(:before) ORDER BY id DESC LIMIT :limit;

-- minute: The messages of all rooms in a minute.
SELECT imid_text(id), room FROM messages WHERE id BETWEEN imid_first(:first) AND imid_last(:last) ORDER BY id;

-- again: To follow all rooms; each message comes at least once. :from is when the last complete read began, less the longest transaction and
-- the skew of the clocks (docs/STORES.md, "Cursors"). After :limit rows, go on from the last ID. The follower drops the IDs that it knows.
SELECT imid_text(id), room FROM messages WHERE id >= imid_first(:from) ORDER BY id LIMIT :limit;

-- one: One message by its ID.
SELECT room, seq, length FROM messages WHERE id = imid_bytes(:id);

-- retention: A scan of the primary key.
DELETE FROM messages WHERE id < imid_first(:keep);

-- rest: What is left.
SELECT imid_text(id) FROM messages ORDER BY id;

-- drop: Removes the table.
DROP VIEW IF EXISTS messages_for_support;
DROP TABLE IF EXISTS messages;
