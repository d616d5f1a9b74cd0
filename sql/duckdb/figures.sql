-- The figures of DuckDB in docs/STORES.md. ../figures.py runs this file and explains its headers.

-- make: One ID every 4 ms, with spins and sessions that look random.
CREATE TABLE ids AS SELECT i, imid_from_integer(((1763665800000 + i * 4)::UHUGEINT << 38) | ((((i * 997) & 4095) << 26)
  | ((i * 48271) & 67108863))::UHUGEINT) AS id FROM range(1, :rows + 1) AS made(i);
CREATE TABLE forms AS SELECT i, id, imid_text(id) AS letters, imid_uuid(id) AS view, uuid() AS random_view FROM ids;
CREATE TABLE shuffled AS SELECT i, id, letters, view FROM forms ORDER BY random_view;
CREATE TABLE by_bytes (id BLOB);
CREATE TABLE by_text (id VARCHAR);
CREATE TABLE by_view (id UUID);
CREATE TABLE by_number (id BIGINT);
CREATE TABLE by_random (id UUID);
CREATE TABLE unsorted (id BLOB);
CREATE TABLE with_key (id BLOB PRIMARY KEY);
CHECKPOINT;

-- once: insert, BLOB in the order of time
INSERT INTO by_bytes SELECT id FROM forms;
-- once: insert, VARCHAR in the order of time
INSERT INTO by_text SELECT letters FROM forms;
-- once: insert, UUID (the view) in the order of time
INSERT INTO by_view SELECT view FROM forms;
-- once: insert, BIGINT in order
INSERT INTO by_number SELECT i FROM forms;
-- once: insert, BLOB in random order
INSERT INTO unsorted SELECT id FROM shuffled;
-- once: insert, random UUID
INSERT INTO by_random SELECT random_view FROM forms;
-- once: insert, BLOB PRIMARY KEY in the order of time
INSERT INTO with_key SELECT id FROM forms;
-- once: insert, BLOB from texts with imid_bytes
CREATE TABLE from_texts AS SELECT imid_bytes(letters) AS id FROM forms;

-- make: Sizes are those of the blocks in the file.
CHECKPOINT;
-- value: size, BLOB in the order of time
SELECT round(count(DISTINCT block_id) * 262144 / 1e6, 1) || ' MB' FROM pragma_storage_info('by_bytes');
-- value: size, VARCHAR in the order of time
SELECT round(count(DISTINCT block_id) * 262144 / 1e6, 1) || ' MB' FROM pragma_storage_info('by_text');
-- value: size, UUID (the view) in the order of time
SELECT round(count(DISTINCT block_id) * 262144 / 1e6, 1) || ' MB' FROM pragma_storage_info('by_view');
-- value: size, BIGINT in order
SELECT round(count(DISTINCT block_id) * 262144 / 1e6, 1) || ' MB' FROM pragma_storage_info('by_number');
-- value: size, BLOB in random order
SELECT round(count(DISTINCT block_id) * 262144 / 1e6, 1) || ' MB' FROM pragma_storage_info('unsorted');
-- value: size, random UUID
SELECT round(count(DISTINCT block_id) * 262144 / 1e6, 1) || ' MB' FROM pragma_storage_info('by_random');

-- scan: one minute, BLOB
SELECT count(*) FROM by_bytes WHERE id BETWEEN imid_first(1763665860000) AND imid_last(1763665919999);
-- scan: one minute, VARCHAR
SELECT count(*) FROM by_text WHERE id BETWEEN imid_text(imid_first(1763665860000)) AND imid_text(imid_last(1763665919999));
-- scan: one minute, UUID (the view)
SELECT count(*) FROM by_view WHERE id BETWEEN imid_uuid(imid_first(1763665860000)) AND imid_uuid(imid_last(1763665919999));
-- scan: one minute, BIGINT
SELECT count(*) FROM by_number WHERE id BETWEEN 15001 AND 30000;
-- scan: one minute, BLOB inserted in random order
SELECT count(*) FROM unsorted WHERE id BETWEEN imid_first(1763665860000) AND imid_last(1763665919999);
-- scan: one minute, BLOB, imid_ms(id) BETWEEN
SELECT count(*) FROM by_bytes WHERE imid_ms(id) BETWEEN 1763665860000 AND 1763665919999;

-- row: nothing
SELECT max(octet_length(id)) FROM shuffled;
-- row: ORDER BY id, BLOB
SELECT max(octet_length(id)) FROM (SELECT id FROM shuffled ORDER BY id OFFSET 1);
-- row: ORDER BY id, VARCHAR
SELECT max(strlen(letters)) FROM (SELECT letters FROM shuffled ORDER BY letters OFFSET 1);
-- row: ORDER BY id, UUID (the view)
SELECT max(view) FROM (SELECT view FROM shuffled ORDER BY view OFFSET 1);
-- row: ORDER BY id, BIGINT
SELECT max(i) FROM (SELECT i FROM shuffled ORDER BY i OFFSET 1);

-- make: The functions.
CREATE TABLE some_ids AS SELECT * FROM forms LIMIT :some;
-- function: nothing
SELECT max(octet_length(id)) FROM some_ids;
-- function: imid_ms
SELECT max(imid_ms(id)) FROM some_ids;
-- function: imid_timestamp
SELECT max(imid_timestamp(id)) FROM some_ids;
-- function: imid_session_tag
SELECT max(imid_session_tag(id)) FROM some_ids;
-- function: imid_text
SELECT max(imid_text(id)) FROM some_ids;
-- function: imid_bytes
SELECT max(imid_bytes(letters)) FROM some_ids;
-- function: imid_uuid
SELECT max(imid_uuid(id)) FROM some_ids;
-- function: imid_from_uuid
SELECT max(imid_from_uuid(view)) FROM some_ids;

-- make: Each macro is a long expression, and DuckDB prepares it again for each row of VALUES.
CREATE TABLE from_values (id BLOB);
CREATE TABLE with_session (id BLOB, session_tag INTEGER AS (imid_session_tag(id)));
-- values: insert 1,000 rows of VALUES, unhex('...')
INSERT INTO from_values VALUES (unhex(':hex'));
-- values: insert 1,000 rows of VALUES, imid_bytes('...')
INSERT INTO from_values VALUES (imid_bytes(':id'));
-- values: insert 1,000 rows of VALUES, unhex('...') and a generated column imid_session_tag(id)
INSERT INTO with_session (id) VALUES (unhex(':hex'));
