-- The figures of PostgreSQL in docs/STORES.md. ../figures.py runs this file and explains its headers.

-- make: One ID every 4 ms, with spins and sessions that look random.
SET max_parallel_workers_per_gather = 0;
SET jit = off;
SET synchronize_seqscans = off;
CREATE UNLOGGED TABLE ids AS
  SELECT i, id, imid_text(id) COLLATE "C" AS letters, imid_uuid(id) AS view, gen_random_uuid() AS random_view FROM (SELECT i,
  imid_join((1763665800000 + i * 4) >> 2, (((1763665800000 + i * 4) & 3) << 38) | ((i * 997 & 4095) << 26)
  | ((i * 48271) & 67108863)) AS id FROM generate_series(1::bigint, :rows) AS i OFFSET 0) AS made;
CREATE UNLOGGED TABLE shuffled AS SELECT i, id, letters, view FROM ids ORDER BY random_view;
CREATE TABLE by_bytes (id bytea PRIMARY KEY);
CREATE TABLE by_text (id text COLLATE "C" PRIMARY KEY);
CREATE TABLE by_view (id uuid PRIMARY KEY);
CREATE TABLE by_number (id bigint PRIMARY KEY);
CREATE TABLE by_random (id uuid PRIMARY KEY);
CREATE TABLE unsorted (id bytea PRIMARY KEY);
VACUUM ANALYZE ids;
VACUUM ANALYZE shuffled;
CHECKPOINT;

-- once: insert, bytea in the order of time
INSERT INTO by_bytes SELECT id FROM ids;
-- once: insert, text in the order of time
INSERT INTO by_text SELECT letters FROM ids;
-- once: insert, uuid (the view) in the order of time
INSERT INTO by_view SELECT view FROM ids;
-- once: insert, bigint in order
INSERT INTO by_number SELECT i FROM ids;
-- once: insert, bytea in random order
INSERT INTO unsorted SELECT id FROM shuffled;
-- once: insert, random uuid
INSERT INTO by_random SELECT random_view FROM ids;

-- make: Statistics and the visibility map.
VACUUM ANALYZE by_bytes;
VACUUM ANALYZE by_text;
VACUUM ANALYZE by_view;
VACUUM ANALYZE by_number;
VACUUM ANALYZE unsorted;
VACUUM ANALYZE by_random;

-- value: size, bytea in the order of time
SELECT 'table ' || round(pg_table_size('by_bytes') / 1e6, 1) || ' MB, primary key ' || round(pg_indexes_size('by_bytes') / 1e6, 1) || ' MB';
-- value: size, text in the order of time
SELECT 'table ' || round(pg_table_size('by_text') / 1e6, 1) || ' MB, primary key ' || round(pg_indexes_size('by_text') / 1e6, 1) || ' MB';
-- value: size, uuid (the view) in the order of time
SELECT 'table ' || round(pg_table_size('by_view') / 1e6, 1) || ' MB, primary key ' || round(pg_indexes_size('by_view') / 1e6, 1) || ' MB';
-- value: size, bigint in order
SELECT 'table ' || round(pg_table_size('by_number') / 1e6, 1) || ' MB, primary key ' || round(pg_indexes_size('by_number') / 1e6, 1) || ' MB';
-- value: size, bytea in random order
SELECT 'table ' || round(pg_table_size('unsorted') / 1e6, 1) || ' MB, primary key ' || round(pg_indexes_size('unsorted') / 1e6, 1) || ' MB';
-- value: size, random uuid
SELECT 'table ' || round(pg_table_size('by_random') / 1e6, 1) || ' MB, primary key ' || round(pg_indexes_size('by_random') / 1e6, 1) || ' MB';

-- scan: one minute, bytea
SELECT count(*) FROM by_bytes WHERE id BETWEEN imid_first(1763665860000) AND imid_last(1763665919999);
-- scan: one minute, text
SELECT count(*) FROM by_text WHERE id BETWEEN imid_text(imid_first(1763665860000)) AND imid_text(imid_last(1763665919999));
-- scan: one minute, uuid (the view)
SELECT count(*) FROM by_view WHERE id BETWEEN imid_uuid(imid_first(1763665860000)) AND imid_uuid(imid_last(1763665919999));
-- scan: one minute, bigint
SELECT count(*) FROM by_number WHERE id BETWEEN 15001 AND 30000;
-- scan: one minute, bytea inserted in random order
SELECT count(*) FROM unsorted WHERE id BETWEEN imid_first(1763665860000) AND imid_last(1763665919999);
-- scan: one minute, bytea without the index: imid_ms(id) BETWEEN
SELECT count(*) FROM by_bytes WHERE imid_ms(id) BETWEEN 1763665860000 AND 1763665919999;

-- row: nothing
SELECT count(octet_length(id)) FROM shuffled;
-- row: ORDER BY id without an index, bytea
SELECT count(octet_length(id)) FROM (SELECT id FROM shuffled ORDER BY id OFFSET 0) AS x;
-- row: ORDER BY id without an index, text COLLATE "C"
SELECT count(octet_length(id)) FROM (SELECT letters AS id FROM shuffled ORDER BY letters OFFSET 0) AS x;
-- row: ORDER BY id without an index, uuid (the view)
SELECT count(id) FROM (SELECT view AS id FROM shuffled ORDER BY view OFFSET 0) AS x;
-- row: ORDER BY id without an index, bigint
SELECT count(id) FROM (SELECT i AS id FROM shuffled ORDER BY i OFFSET 0) AS x;
-- row: ORDER BY id with the primary key, bytea
SELECT count(octet_length(id)) FROM (SELECT id FROM by_bytes ORDER BY id OFFSET 0) AS x;

-- make: The functions.
CREATE UNLOGGED TABLE some_ids AS SELECT * FROM ids LIMIT :some;
VACUUM ANALYZE some_ids;
-- function: nothing
SELECT count(octet_length(id)) FROM some_ids;
-- function: imid_ms
SELECT count(imid_ms(id)) FROM some_ids;
-- function: imid_timestamp
SELECT count(imid_timestamp(id)) FROM some_ids;
-- function: imid_spin
SELECT count(imid_spin(id)) FROM some_ids;
-- function: imid_type_name
SELECT count(imid_type_name(id)) FROM some_ids;
-- function: imid_session_tag
SELECT count(imid_session_tag(id)) FROM some_ids;
-- function: imid_text
SELECT count(imid_text(id)) FROM some_ids;
-- function: imid_bytes
SELECT count(imid_bytes(letters)) FROM some_ids;
-- function: imid_uuid
SELECT count(imid_uuid(id)) FROM some_ids;
-- function: imid_from_uuid
SELECT count(imid_from_uuid(view)) FROM some_ids;
-- function: imid_is_text
SELECT count(imid_is_text(letters)) FROM some_ids;
