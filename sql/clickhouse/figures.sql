-- The figures of ClickHouse in docs/STORES.md. ../figures.py runs this file and explains its headers.

-- make: One ID every 4 ms, with spins and sessions that look random.
CREATE TABLE ids ENGINE = MergeTree ORDER BY i AS SELECT number + 1 AS i, imid_from_integer(bitShiftLeft(toUInt128(1763665800000 + i * 4), 38)
  + bitShiftLeft(bitAnd(i * 997, 4095), 26) + bitAnd(i * 48271, 67108863)) AS id, imid_text(id) AS letters, imid_uuid(id) AS view,
  generateUUIDv4() AS random_view FROM numbers(:rows);
OPTIMIZE TABLE ids FINAL;
CREATE TABLE shuffled ENGINE = MergeTree ORDER BY random_view AS SELECT * FROM ids;
OPTIMIZE TABLE shuffled FINAL;
CREATE TABLE by_bytes (id FixedString(10)) ENGINE = MergeTree ORDER BY id;
CREATE TABLE by_text (id String) ENGINE = MergeTree ORDER BY id;
CREATE TABLE by_view (id UUID) ENGINE = MergeTree ORDER BY id;
CREATE TABLE by_number (id UInt64) ENGINE = MergeTree ORDER BY id;
CREATE TABLE by_random (id UUID) ENGINE = MergeTree ORDER BY id;
CREATE TABLE unsorted (id FixedString(10)) ENGINE = MergeTree ORDER BY id;

-- once: insert, FixedString(10) in the order of time
INSERT INTO by_bytes SELECT id FROM ids ORDER BY i;
-- once: insert, String in the order of time
INSERT INTO by_text SELECT letters FROM ids ORDER BY i;
-- once: insert, UUID (the view) in the order of time
INSERT INTO by_view SELECT view FROM ids ORDER BY i;
-- once: insert, UInt64 in order
INSERT INTO by_number SELECT i FROM ids ORDER BY i;
-- once: insert, FixedString(10) in random order
INSERT INTO unsorted SELECT id FROM shuffled ORDER BY random_view;
-- once: insert, random UUID
INSERT INTO by_random SELECT random_view FROM ids ORDER BY i;

-- make: One part for each table.
OPTIMIZE TABLE by_bytes FINAL;
OPTIMIZE TABLE by_text FINAL;
OPTIMIZE TABLE by_view FINAL;
OPTIMIZE TABLE by_number FINAL;
OPTIMIZE TABLE unsorted FINAL;
OPTIMIZE TABLE by_random FINAL;

-- value: size, FixedString(10)
SELECT concat(toString(round(sum(bytes_on_disk) / 1e6, 1)), ' MB') FROM system.parts WHERE active AND database = 'figures' AND table = 'by_bytes';
-- value: size, String
SELECT concat(toString(round(sum(bytes_on_disk) / 1e6, 1)), ' MB') FROM system.parts WHERE active AND database = 'figures' AND table = 'by_text';
-- value: size, UUID (the view)
SELECT concat(toString(round(sum(bytes_on_disk) / 1e6, 1)), ' MB') FROM system.parts WHERE active AND database = 'figures' AND table = 'by_view';
-- value: size, UInt64
SELECT concat(toString(round(sum(bytes_on_disk) / 1e6, 1)), ' MB') FROM system.parts WHERE active AND database = 'figures' AND table = 'by_number';
-- value: size, random UUID
SELECT concat(toString(round(sum(bytes_on_disk) / 1e6, 1)), ' MB') FROM system.parts WHERE active AND database = 'figures' AND table = 'by_random';

-- scan: one minute, FixedString(10)
SELECT count() FROM by_bytes WHERE id BETWEEN imid_first(1763665860000) AND imid_last(1763665919999);
-- scan: one minute, String
SELECT count() FROM by_text WHERE id BETWEEN imid_text(imid_first(1763665860000)) AND imid_text(imid_last(1763665919999));
-- scan: one minute, UUID (the view), by UUIDv7ToDateTime
SELECT count() FROM by_view WHERE UUIDv7ToDateTime(id, 'UTC') >= toDateTime64(1763665860, 3, 'UTC') AND UUIDv7ToDateTime(id, 'UTC') < toDateTime64(1763665920, 3, 'UTC');
-- scan: one minute, UInt64
SELECT count() FROM by_number WHERE id BETWEEN 15001 AND 30000;
-- scan: one minute, FixedString(10), imid_ms(id) BETWEEN
SELECT count() FROM by_bytes WHERE imid_ms(id) BETWEEN 1763665860000 AND 1763665919999;

-- row: nothing
SELECT max(id) FROM shuffled;
-- row: ORDER BY id, FixedString(10)
SELECT max(id) FROM (SELECT id FROM shuffled ORDER BY id OFFSET 1);
-- row: ORDER BY id, String
SELECT max(letters) FROM (SELECT letters FROM shuffled ORDER BY letters OFFSET 1);
-- row: ORDER BY id, UInt64
SELECT max(i) FROM (SELECT i FROM shuffled ORDER BY i OFFSET 1);

-- make: The functions.
CREATE TABLE some_ids ENGINE = MergeTree ORDER BY i AS SELECT * FROM ids LIMIT :some;
-- function: nothing
SELECT max(id) FROM some_ids;
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
