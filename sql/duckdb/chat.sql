-- A chat in DuckDB, after install.sql. ../chat.py runs this file and compares each answer with a recount.

-- schema: Insert in the order of time. There is no primary key, which makes inserts slow and finds only single IDs; a scan by time skips row
-- groups without it.
CREATE TABLE messages (
  id BLOB NOT NULL CHECK (imid_is_bytes(id)),
  session_tag INTEGER AS (imid_session_tag(id)),
  room VARCHAR NOT NULL,
  seq BIGINT NOT NULL,
  length INTEGER NOT NULL
);

-- load: From a CSV file with the texts of the IDs. An application sends the 10 bytes as a parameter.
INSERT INTO messages (id, room, seq, length) SELECT imid_bytes(id), room, seq, length FROM read_csv(:file, header = true);

-- support: A view for people, who do not know of bytes. Compare id with imid_bytes(...), or the view reads the whole table.
CREATE VIEW messages_for_support AS SELECT imid_text(id) AS text, imid_timestamp(id) AS sent, messages.* FROM messages;

-- page: One page of a room, backwards. Two rooms can have the same session, so the room is compared too. imid_text is outside, because
-- DuckDB computes it before the limit, for all rows.
SELECT imid_text(id), seq FROM (SELECT id, seq FROM messages
  WHERE session_tag = :session_tag AND room = :room AND id < imid_bytes(:before) ORDER BY id DESC LIMIT :limit) ORDER BY id DESC;

-- minute: The messages of all rooms in a minute.
SELECT imid_text(id), room FROM messages WHERE id BETWEEN imid_first(:first) AND imid_last(:last) ORDER BY id;

-- again: To follow all rooms; each message comes at least once. :from is when the last complete read began, less the longest transaction and
-- the skew of the clocks (docs/STORES.md, "Cursors"). After :limit rows, go on from the last ID. The follower drops the IDs that it knows.
SELECT imid_text(id), room FROM (SELECT id, room FROM messages WHERE id >= imid_first(:from) ORDER BY id LIMIT :limit) ORDER BY id;

-- one: One message by its ID.
SELECT room, seq, length FROM messages WHERE id = imid_bytes(:id);

-- retention: By the first ID of a time.
DELETE FROM messages WHERE id < imid_first(:keep);

-- rest: What is left.
SELECT imid_text(id) FROM messages ORDER BY id;

-- drop: Removes the table.
DROP VIEW IF EXISTS messages_for_support;
DROP TABLE IF EXISTS messages;
