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

-- make: The columns of install.sql.
CREATE TABLE messages (id BLOB PRIMARY KEY) WITHOUT ROWID;
INSERT INTO messages SELECT id FROM ids LIMIT :some;
-- install: ../figures.py runs install.sql here.

-- function: nothing
SELECT count(id) FROM messages;
-- function: imid_ms
SELECT count(imid_ms) FROM messages;
-- function: imid_timestamp
SELECT count(imid_timestamp) FROM messages;
-- function: imid_session
SELECT count(imid_session) FROM messages;
-- function: imid_text
SELECT count(imid_text) FROM messages;
-- function: imid_uuid
SELECT count(imid_uuid) FROM messages;
