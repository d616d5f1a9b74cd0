-- A chat in SQLite 3.43 or later. ../chat.py runs this file and compares each answer with a recount.

-- schema: After this, install.sql adds its columns, such as imid_session and imid_text.
CREATE TABLE messages (
  id BLOB PRIMARY KEY CHECK (typeof(id) = 'blob' AND length(id) = 10),
  room TEXT NOT NULL,
  seq INTEGER NOT NULL,
  length INTEGER NOT NULL
) WITHOUT ROWID;

-- installed: An index can have a virtual column.
CREATE INDEX messages_by_session ON messages (imid_session, id);

-- insert: An application sends the 10 bytes as a parameter.
INSERT INTO messages (id, room, seq, length) VALUES (unhex(:hex), :room, :seq, :length);

-- loaded: Statistics for the plans.
ANALYZE;

-- page: One page of a room, backwards. Two rooms can have the same session, so the room is compared too.
SELECT imid_text, seq FROM messages
  WHERE imid_session = :session AND room = :room AND id < unhex(:beforehex) ORDER BY id DESC LIMIT :limit;

-- minute: The messages of all rooms in a minute.
SELECT imid_text, room FROM messages WHERE id BETWEEN unhex(printf('%010x%010x', :first >> 2, (:first & 3) << 38))
  AND unhex(printf('%010x%010x', :last >> 2, ((:last & 3) << 38) | 274877906943)) ORDER BY id;

-- one: One message by its ID.
SELECT room, seq, length FROM messages WHERE id = unhex(:hex);

-- retention: A scan of the primary key.
DELETE FROM messages WHERE id < unhex(printf('%010x%010x', :keep >> 2, (:keep & 3) << 38));

-- rest: What is left.
SELECT imid_text FROM messages ORDER BY id;

-- drop: Removes the table.
DROP TABLE IF EXISTS messages;
