-- The figures of SQLite in docs/STORES.md. ../figures.py runs this file and explains its headers.

-- make: One ID every 4 ms, with spins and sessions that look random. text_of is a function of the runner.
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
CREATE TABLE ids AS WITH RECURSIVE made(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM made WHERE i < :rows)
  SELECT i, unhex(printf('%010x%010x', (1763665800000 + i * 4) >> 2,
    (((1763665800000 + i * 4) & 3) << 38) | (((i * 997) & 4095) << 26) | ((i * 48271) & 67108863))) AS id,
  randomblob(16) AS random_view FROM made;
ALTER TABLE ids ADD COLUMN letters TEXT;
UPDATE ids SET letters = text_of(id);
CREATE TABLE shuffled AS SELECT i, id, letters FROM ids ORDER BY random_view;
CREATE TABLE by_bytes (id BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE by_text (id TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE by_number (id INTEGER PRIMARY KEY);
CREATE TABLE by_random (id BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE unsorted (id BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE with_rowid (id BLOB PRIMARY KEY);

-- once: insert, BLOB in the order of time
INSERT INTO by_bytes SELECT id FROM ids;
-- once: insert, TEXT in the order of time
INSERT INTO by_text SELECT letters FROM ids;
-- once: insert, INTEGER in order
INSERT INTO by_number SELECT i FROM ids;
-- once: insert, BLOB in the order of time, a table with rowid
INSERT INTO with_rowid SELECT id FROM ids;
-- once: insert, BLOB in random order
INSERT INTO unsorted SELECT id FROM shuffled;
-- once: insert, random UUID (BLOB of 16 bytes)
INSERT INTO by_random SELECT random_view FROM ids;

-- value: size, BLOB in the order of time
SELECT round(sum(pgsize) / 1e6, 1) || ' MB' FROM dbstat WHERE name = 'by_bytes';
-- value: size, TEXT in the order of time
SELECT round(sum(pgsize) / 1e6, 1) || ' MB' FROM dbstat WHERE name = 'by_text';
-- value: size, INTEGER in order
SELECT round(sum(pgsize) / 1e6, 1) || ' MB' FROM dbstat WHERE name = 'by_number';
-- value: size, BLOB in the order of time, a table with rowid, and its index
SELECT round(sum(pgsize) / 1e6, 1) || ' MB' FROM dbstat WHERE name IN ('with_rowid', 'sqlite_autoindex_with_rowid_1');
-- value: size, BLOB in random order
SELECT round(sum(pgsize) / 1e6, 1) || ' MB' FROM dbstat WHERE name = 'unsorted';
-- value: size, random UUID (BLOB of 16 bytes)
SELECT round(sum(pgsize) / 1e6, 1) || ' MB' FROM dbstat WHERE name = 'by_random';

-- scan: one minute, BLOB
SELECT count(*) FROM by_bytes WHERE id BETWEEN unhex(printf('%010x%010x', 1763665860000 >> 2, (1763665860000 & 3) << 38))
  AND unhex(printf('%010x%010x', 1763665919999 >> 2, ((1763665919999 & 3) << 38) | 274877906943));
-- scan: one minute, TEXT
SELECT count(*) FROM by_text WHERE id BETWEEN text_of(unhex(printf('%010x%010x', 1763665860000 >> 2, (1763665860000 & 3) << 38)))
  AND text_of(unhex(printf('%010x%010x', 1763665919999 >> 2, ((1763665919999 & 3) << 38) | 274877906943)));
-- scan: one minute, INTEGER
SELECT count(*) FROM by_number WHERE id BETWEEN 15001 AND 30000;

-- row: nothing
SELECT count(id) FROM shuffled;
-- row: ORDER BY id without an index, BLOB
SELECT count(id) FROM (SELECT id FROM shuffled ORDER BY id LIMIT -1 OFFSET 1);
-- row: ORDER BY id without an index, TEXT
SELECT count(id) FROM (SELECT letters AS id FROM shuffled ORDER BY letters LIMIT -1 OFFSET 1);
-- row: ORDER BY id without an index, INTEGER
SELECT count(id) FROM (SELECT i AS id FROM shuffled ORDER BY i LIMIT -1 OFFSET 1);
-- row: ORDER BY id with the primary key, BLOB
SELECT count(id) FROM (SELECT id FROM by_bytes ORDER BY id LIMIT -1 OFFSET 1);

-- make: The column and the view of install.sql, and a table whose application stores the tag.
CREATE TABLE messages (id BLOB PRIMARY KEY CHECK (typeof(id) = 'blob' AND length(id) = 10), body TEXT) WITHOUT ROWID;
CREATE TABLE with_tag (id BLOB PRIMARY KEY CHECK (typeof(id) = 'blob' AND length(id) = 10), session_tag INTEGER, body TEXT) WITHOUT ROWID;
CREATE INDEX with_tag_by_session_tag ON with_tag (session_tag, id);
CREATE TABLE some_ids AS SELECT id, (i * 48271) & 67108863 AS session_tag FROM ids;
-- install: ../figures.py runs install.sql here.
-- make: The index.
CREATE INDEX by_session_tag ON messages (imid_session_tag, id);
-- once: insert with an index on imid_session_tag
INSERT INTO messages (id, body) SELECT id, 'hello' FROM some_ids;
-- once: insert with an index on a tag that the application stores
INSERT INTO with_tag SELECT id, session_tag, 'hello' FROM some_ids;

-- function: nothing
SELECT count(id) FROM (SELECT id FROM messages LIMIT :some);
-- function: SELECT * of the table
SELECT count(id), count(body), count(imid_session_tag) FROM (SELECT * FROM messages LIMIT :some);
-- function: imid_ms
SELECT count(imid_ms) FROM (SELECT imid_ms FROM imid_messages LIMIT :some);
-- function: imid_timestamp
SELECT count(imid_timestamp) FROM (SELECT imid_timestamp FROM imid_messages LIMIT :some);
-- function: imid_session_tag
SELECT count(imid_session_tag) FROM (SELECT imid_session_tag FROM imid_messages LIMIT :some);
-- function: imid_text
SELECT count(imid_text) FROM (SELECT imid_text FROM imid_messages LIMIT :some);
-- function: imid_uuid
SELECT count(imid_uuid) FROM (SELECT imid_uuid FROM imid_messages LIMIT :some);
