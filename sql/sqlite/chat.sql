-- A chat in SQLite 3.43 or later. ../chat.py runs this file and compares each answer with a recount.

-- schema: After this, install.sql adds the column imid_session_tag and the view imid_messages.
CREATE TABLE messages (
  id BLOB PRIMARY KEY CHECK (typeof(id) = 'blob' AND length(id) = 10),
  room TEXT NOT NULL,
  seq INTEGER NOT NULL,
  length INTEGER NOT NULL
) WITHOUT ROWID;

-- installed: The index stores the tags.
CREATE INDEX messages_by_session_tag ON messages (imid_session_tag, id);

-- insert: An application sends the 10 bytes as a parameter.
INSERT INTO messages (id, room, seq, length) VALUES (unhex(:hex), :room, :seq, :length);

-- loaded: Statistics for the plans.
ANALYZE;

-- page: One page of a room, backwards. Two rooms can have the same session, so the room is compared too.
SELECT imid_text, seq FROM imid_messages
  WHERE imid_session_tag = :session_tag AND room = :room AND id < unhex(:beforehex) ORDER BY id DESC LIMIT :limit;

-- minute: The messages of all rooms in a minute.
SELECT imid_text, room FROM imid_messages WHERE id BETWEEN unhex(printf('%010x%010x', :first >> 2, (:first & 3) << 38))
  AND unhex(printf('%010x%010x', :last >> 2, ((:last & 3) << 38) | 274877906943)) ORDER BY id;

-- again: To follow all rooms; each message comes at least once. :from is when the last complete read began, less the longest transaction and
-- the skew of the clocks (docs/STORES.md, "Cursors"). After :limit rows, go on from the last ID. The follower drops the IDs that it knows.
SELECT imid_text, room FROM imid_messages WHERE id >= unhex(printf('%010x%010x', :from >> 2, (:from & 3) << 38)) ORDER BY id LIMIT :limit;

-- one: One message by the text of its ID. If it is not the text of an ID, there is no row.
SELECT room, seq, length FROM messages WHERE octet_length(:id) = 19 AND :id GLOB replace('dddd-dddd-dddd-dddd', 'd', '[2-9A-HJ-NP-Z]')
  AND id = unhex(printf('%05x%05x%05x%05x',
    ((instr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', substr(:id, 1, 1)) - 1) << 15) | ((instr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', substr(:id, 2, 1)) - 1) << 10) | ((instr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', substr(:id, 3, 1)) - 1) << 5) | (instr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', substr(:id, 4, 1)) - 1),
    ((instr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', substr(:id, 6, 1)) - 1) << 15) | ((instr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', substr(:id, 7, 1)) - 1) << 10) | ((instr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', substr(:id, 8, 1)) - 1) << 5) | (instr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', substr(:id, 9, 1)) - 1),
    ((instr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', substr(:id, 11, 1)) - 1) << 15) | ((instr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', substr(:id, 12, 1)) - 1) << 10) | ((instr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', substr(:id, 13, 1)) - 1) << 5) | (instr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', substr(:id, 14, 1)) - 1),
    ((instr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', substr(:id, 16, 1)) - 1) << 15) | ((instr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', substr(:id, 17, 1)) - 1) << 10) | ((instr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', substr(:id, 18, 1)) - 1) << 5) | (instr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', substr(:id, 19, 1)) - 1)));

-- retention: A scan of the primary key.
DELETE FROM messages WHERE id < unhex(printf('%010x%010x', :keep >> 2, (:keep & 3) << 38));

-- rest: What is left.
SELECT imid_text FROM imid_messages ORDER BY id;

-- drop: Removes the table and the view.
DROP VIEW IF EXISTS imid_messages;
DROP TABLE IF EXISTS messages;
