-- A chat in ClickHouse, after install.sql. ../chat.py runs this file and compares each answer with a recount.

-- schema: A room's messages are next to each other in a partition. A partition is a day, whose least and greatest ID are kept, so that a
-- scan by time reads the granules of a day. If you keep years of messages, or rooms have few of them a day, partition by month, and a scan by
-- time reads a month.
CREATE TABLE messages (
  id FixedString(10),
  session_tag UInt32 MATERIALIZED imid_session_tag(id),
  room LowCardinality(String),
  seq UInt64,
  length UInt32
) ENGINE = MergeTree PARTITION BY toYYYYMMDD(imid_timestamp(id)) ORDER BY (session_tag, id);

-- load: From a CSV file with the texts of the IDs. An application sends the 10 bytes. The setting is for a file of more than 100 days.
INSERT INTO messages (id, room, seq, length) SETTINGS max_partitions_per_insert_block = 0
  SELECT imid_bytes(id), room, seq, length FROM file(:file, 'CSVWithNames');

-- support: A view for people, who do not know of bytes. Compare id with imid_bytes(...), or the view reads the whole table.
CREATE VIEW messages_for_support AS SELECT imid_text(id) AS text, imid_timestamp(id) AS sent, messages.* FROM messages;

-- page: One page of a room, backwards. Two rooms can have the same session, so the room is compared too.
SELECT imid_text(id), seq FROM messages
  WHERE session_tag = :session_tag AND room = :room AND id < imid_bytes(:before) ORDER BY id DESC LIMIT :limit;

-- minute: The messages of all rooms in a minute.
SELECT imid_text(id), room FROM messages WHERE id BETWEEN imid_first(:first) AND imid_last(:last) ORDER BY id;

-- again: To follow all rooms; each message comes at least once. :from is when the last complete read began, less the longest transaction and
-- the skew of the clocks (docs/STORES.md, "Cursors"). After :limit rows, go on from the last ID. The follower drops the IDs that it knows.
SELECT imid_text(id), room FROM messages WHERE id >= imid_first(:from) ORDER BY id LIMIT :limit;

-- one: One message by its ID. The session is a part of the ID, and the first part of the primary key.
SELECT room, seq, length FROM messages WHERE session_tag = imid_session_tag(imid_bytes(:id)) AND id = imid_bytes(:id);

-- retention: Deletes the rows in the background; `ALTER TABLE messages DROP PARTITION 20261031` drops a day immediately.
DELETE FROM messages WHERE id < imid_first(:keep);

-- rest: What is left.
SELECT imid_text(id) FROM messages ORDER BY id;

-- drop: Removes the table.
DROP VIEW IF EXISTS messages_for_support;
DROP TABLE IF EXISTS messages;
