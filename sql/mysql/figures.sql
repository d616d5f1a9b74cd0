-- The figures of MariaDB in docs/STORES.md. ../figures.py runs this file and explains its headers.

-- make: One ID every 4 ms, with spins and sessions that look random. The buffer pool is that of a small server. The texts are from a table of 1024 pairs of digits, because stored
-- functions are slow.
SET GLOBAL innodb_buffer_pool_size = 1073741824;
CREATE TABLE pairs (value INT PRIMARY KEY, digits CHAR(2) CHARACTER SET ascii);
INSERT INTO pairs SELECT seq, CONCAT(SUBSTR('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', (seq DIV 32) + 1, 1),
  SUBSTR('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', (seq MOD 32) + 1, 1)) FROM seq_0_to_1023;
CREATE TABLE numbers AS SELECT CAST(seq AS SIGNED) AS i, (1763665800000 + seq * 4) >> 2 AS high,
  (((1763665800000 + seq * 4) & 3) << 38) | (((seq * 997) & 4095) << 26) | ((seq * 48271) & 67108863) AS low FROM seq_1_to_:rows;
CREATE TABLE ids AS SELECT i, CAST(UNHEX(CONCAT(LPAD(HEX(high), 10, '0'), LPAD(HEX(low), 10, '0'))) AS BINARY(10)) AS id,
  CAST(CONCAT(a.digits, b.digits, '-', c.digits, d.digits, '-', e.digits, f.digits, '-', g.digits, h.digits)
    AS CHAR(19) CHARACTER SET ascii) COLLATE ascii_bin AS letters,
  CAST(CONCAT(LPAD(HEX((high << 2) | (low >> 38)), 12, '0'), '7', LPAD(HEX((low >> 26) & 4095), 3, '0'),
    HEX(((low & 67108863) << 36) | (CAST(2 AS UNSIGNED) << 62))) AS UUID) AS view
  FROM numbers
  JOIN pairs a ON a.value = high >> 30 JOIN pairs b ON b.value = (high >> 20) & 1023 JOIN pairs c ON c.value = (high >> 10) & 1023
  JOIN pairs d ON d.value = high & 1023 JOIN pairs e ON e.value = low >> 30 JOIN pairs f ON f.value = (low >> 20) & 1023
  JOIN pairs g ON g.value = (low >> 10) & 1023 JOIN pairs h ON h.value = low & 1023;
ALTER TABLE ids ADD PRIMARY KEY (i);
CREATE TABLE shuffled (place BINARY(16) PRIMARY KEY, i BIGINT, id BINARY(10), letters CHAR(19) CHARACTER SET ascii COLLATE ascii_bin, view UUID)
  SELECT UNHEX(MD5(i)) AS place, i, id, letters, view FROM ids ORDER BY 1;
CREATE TABLE by_bytes (id BINARY(10) PRIMARY KEY, room INT, KEY (room)) STATS_PERSISTENT = 1;
CREATE TABLE by_text (id CHAR(19) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY, room INT, KEY (room)) STATS_PERSISTENT = 1;
CREATE TABLE by_view (id UUID PRIMARY KEY, room INT, KEY (room)) STATS_PERSISTENT = 1;
CREATE TABLE by_number (id BIGINT PRIMARY KEY, room INT, KEY (room)) STATS_PERSISTENT = 1;
CREATE TABLE by_random (id BINARY(16) PRIMARY KEY, room INT, KEY (room)) STATS_PERSISTENT = 1;
CREATE TABLE unsorted (id BINARY(10) PRIMARY KEY, room INT, KEY (room)) STATS_PERSISTENT = 1;

-- once: insert, BINARY(10) in the order of time
INSERT INTO by_bytes SELECT id, i DIV 100 FROM ids ORDER BY i;
-- once: insert, CHAR(19) in the order of time
INSERT INTO by_text SELECT letters, i DIV 100 FROM ids ORDER BY i;
-- once: insert, UUID (the view) in the order of time
INSERT INTO by_view SELECT view, i DIV 100 FROM ids ORDER BY i;
-- once: insert, BIGINT in order
INSERT INTO by_number SELECT i, i DIV 100 FROM ids ORDER BY i;
-- once: insert, BINARY(10) in random order
INSERT INTO unsorted SELECT id, i DIV 100 FROM shuffled ORDER BY place;
-- once: insert, random UUID (BINARY(16))
INSERT INTO by_random SELECT UNHEX(MD5(i)), i DIV 100 FROM ids ORDER BY i;

-- make: Statistics have the sizes.
ANALYZE TABLE by_bytes, by_text, by_view, by_number, unsorted, by_random;

-- value: size, BINARY(10) in the order of time
SELECT CONCAT('table ', ROUND(data_length / 1e6, 1), ' MB, second index ', ROUND(index_length / 1e6, 1), ' MB') FROM information_schema.tables WHERE table_schema = 'imid_figures' AND table_name = 'by_bytes';
-- value: size, CHAR(19) in the order of time
SELECT CONCAT('table ', ROUND(data_length / 1e6, 1), ' MB, second index ', ROUND(index_length / 1e6, 1), ' MB') FROM information_schema.tables WHERE table_schema = 'imid_figures' AND table_name = 'by_text';
-- value: size, UUID (the view) in the order of time
SELECT CONCAT('table ', ROUND(data_length / 1e6, 1), ' MB, second index ', ROUND(index_length / 1e6, 1), ' MB') FROM information_schema.tables WHERE table_schema = 'imid_figures' AND table_name = 'by_view';
-- value: size, BIGINT in order
SELECT CONCAT('table ', ROUND(data_length / 1e6, 1), ' MB, second index ', ROUND(index_length / 1e6, 1), ' MB') FROM information_schema.tables WHERE table_schema = 'imid_figures' AND table_name = 'by_number';
-- value: size, BINARY(10) in random order
SELECT CONCAT('table ', ROUND(data_length / 1e6, 1), ' MB, second index ', ROUND(index_length / 1e6, 1), ' MB') FROM information_schema.tables WHERE table_schema = 'imid_figures' AND table_name = 'unsorted';
-- value: size, random UUID (BINARY(16))
SELECT CONCAT('table ', ROUND(data_length / 1e6, 1), ' MB, second index ', ROUND(index_length / 1e6, 1), ' MB') FROM information_schema.tables WHERE table_schema = 'imid_figures' AND table_name = 'by_random';

-- scan: one minute, BINARY(10)
SELECT COUNT(*) FROM by_bytes FORCE INDEX (PRIMARY) WHERE id BETWEEN imid_first(1763665860000) AND imid_last(1763665919999);
-- scan: one minute, CHAR(19)
SELECT COUNT(*) FROM by_text FORCE INDEX (PRIMARY) WHERE id BETWEEN imid_text(imid_first(1763665860000)) AND imid_text(imid_last(1763665919999));
-- scan: one minute, UUID (the view)
SELECT COUNT(*) FROM by_view FORCE INDEX (PRIMARY) WHERE id BETWEEN imid_uuid(imid_first(1763665860000)) AND imid_uuid(imid_last(1763665919999));
-- scan: one minute, BIGINT
SELECT COUNT(*) FROM by_number FORCE INDEX (PRIMARY) WHERE id BETWEEN 15001 AND 30000;

-- row: nothing
SELECT MAX(id) FROM shuffled;
-- row: ORDER BY id without an index, BINARY(10)
SELECT MAX(id) FROM (SELECT id FROM shuffled ORDER BY id LIMIT 1, 4000000000) AS x;
-- row: ORDER BY id without an index, CHAR(19)
SELECT MAX(id) FROM (SELECT letters AS id FROM shuffled ORDER BY letters LIMIT 1, 4000000000) AS x;
-- row: ORDER BY id without an index, UUID (the view)
SELECT MAX(id) FROM (SELECT view AS id FROM shuffled ORDER BY view LIMIT 1, 4000000000) AS x;
-- row: ORDER BY id without an index, BIGINT
SELECT MAX(id) FROM (SELECT i AS id FROM shuffled ORDER BY i LIMIT 1, 4000000000) AS x;
-- row: ORDER BY id with the primary key, BINARY(10)
SELECT MAX(id) FROM (SELECT id FROM by_bytes FORCE INDEX (PRIMARY) ORDER BY id LIMIT 1, 4000000000) AS x;

-- make: The functions.
CREATE TABLE some_ids AS SELECT * FROM ids LIMIT :some;
-- function: nothing
SELECT MAX(id) FROM some_ids;
-- function: imid_ms
SELECT MAX(imid_ms(id)) FROM some_ids;
-- function: imid_timestamp
SELECT MAX(imid_timestamp(id)) FROM some_ids;
-- function: imid_session_tag
SELECT MAX(imid_session_tag(id)) FROM some_ids;
-- function: imid_text
SELECT MAX(imid_text(id)) FROM some_ids;
-- function: imid_bytes
SELECT MAX(imid_bytes(letters)) FROM some_ids;
-- function: imid_uuid
SELECT MAX(imid_uuid(id)) FROM some_ids;
-- function: imid_from_uuid
SELECT MAX(imid_from_uuid(view)) FROM some_ids;
