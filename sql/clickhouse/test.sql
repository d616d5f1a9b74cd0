-- Tests the functions of install.sql with the known answers of spec/vectors.json. Run it in this folder:
--   python ../embedded.py clickhouse
-- A statement after a line "-- refused: ..." must fail with this message.
CREATE DATABASE IF NOT EXISTS imid_test;
CREATE OR REPLACE TABLE imid_test.members (name String, n UInt32, r String) ENGINE = Memory;
INSERT INTO imid_test.members SELECT member.1, number, r FROM (SELECT arrayJoin(JSONExtractKeysAndValuesRaw(
  raw_blob)) AS member FROM file('$VECTORS', 'RawBLOB'))
  ARRAY JOIN JSONExtractArrayRaw(member.2) AS r, arrayEnumerate(JSONExtractArrayRaw(member.2)) AS number;
CREATE OR REPLACE TABLE imid_test.ids (id FixedString(10), letters String, ms Int64, spin UInt16, type UInt8, hash UInt32,
  session_tag UInt32, n UInt32, name Nullable(String)) ENGINE = MergeTree ORDER BY id;
INSERT INTO imid_test.ids SELECT unhex(JSONExtractString(r, 'hex')), JSONExtractString(r, 'text'), JSONExtractInt(r, 'timestamp'),
  JSONExtractInt(r, 'spin'), JSONExtractInt(r, 'type'), JSONExtractInt(r, 'hash'), JSONExtractInt(r, 'session_tag'), n,
  JSONExtract(r, 'name', 'Nullable(String)') FROM imid_test.members WHERE name = 'ids';

SELECT concat('ok: ', toString(count()), ' vectors', left('', throwIf(count() < 100, 'there are no vectors'))) FROM imid_test.ids;
SELECT concat('ok: bytes and text', left('', throwIf(count() > 0, 'bytes and text differ'))) FROM imid_test.ids
  WHERE imid_text(id) != letters OR imid_bytes(letters) != id OR NOT imid_is_bytes(id) OR NOT imid_is_text(letters);
SELECT concat('ok: fields', left('', throwIf(count() > 0, 'fields differ'))) FROM imid_test.ids
  WHERE (imid_ms(id), imid_spin(id), imid_type(id), imid_hash(id), imid_session_tag(id)) != (ms, spin, type, hash, session_tag);
SELECT concat('ok: timestamps', left('', throwIf(count() > 0, 'timestamps differ'))) FROM imid_test.ids
  WHERE toUnixTimestamp64Milli(imid_timestamp(id)) != ms OR imid_first_at(imid_timestamp(id)) != imid_first(ms);
-- In a connection with another time zone, a time is still that of the clock.
SET session_timezone = 'America/St_Johns';
SELECT concat('ok: now() in another time zone', left('', throwIf(abs(imid_ms(imid_first_at(now64(3))) - toUnixTimestamp64Milli(now64(3))) > 1000
  OR abs(imid_ms(imid_first_at(now())) - toUnixTimestamp(now()) * 1000) > 1000, 'the time zone changes the time')));
SET session_timezone = '';
SELECT concat('ok: a String of 10 bytes', left('', throwIf(count() > 0, 'a String differs'))) FROM imid_test.ids
  WHERE imid_text(unhex(hex(id))) != letters OR imid_ms(unhex(hex(id))) != ms;
SELECT concat('ok: names of types', left('', throwIf(count() > 0, 'names differ'))) FROM imid_test.members WHERE name = 'types'
  AND imid_type_name(imid_from_integer(bitShiftLeft(toUInt128(JSONExtractInt(r, 'code')), 22)))
  IS DISTINCT FROM JSONExtract(r, 'name', 'Nullable(String)');
SELECT concat('ok: UUIDs', left('', throwIf(count() > 0, 'UUIDs differ'))) FROM imid_test.members WHERE name = 'uuids' AND (
  imid_uuid(imid_bytes(JSONExtractString(r, 'text'))) != toUUID(JSONExtractString(r, 'uuid'))
  OR imid_from_uuid(toUUID(JSONExtractString(r, 'uuid'))) != imid_bytes(JSONExtractString(r, 'text'))
  OR NOT imid_is_uuid(toUUID(JSONExtractString(r, 'uuid'))));
SELECT concat('ok: ClickHouse reads the time of a UUID view', left('', throwIf(count() > 0, 'times of UUIDs differ'))) FROM imid_test.ids
  WHERE toUnixTimestamp64Milli(UUIDv7ToDateTime(imid_uuid(id), 'UTC')) != ms;
SELECT concat('ok: times', left('', throwIf(count() > 0, 'times differ'))) FROM imid_test.members WHERE name = 'times' AND (
  imid_text(imid_first(JSONExtractInt(r, 'from'))) != JSONExtractString(r, 'first')
  OR imid_text(imid_last(JSONExtractInt(r, 'to'))) != JSONExtractString(r, 'last'));
SELECT concat('ok: the order', left('', throwIf(count() > 0, 'the order differs'))) FROM (SELECT n, row_number() OVER (ORDER BY id) AS a,
  row_number() OVER (ORDER BY letters) AS b FROM imid_test.ids) WHERE (a, b) != (n, n);
SELECT concat('ok: hashes of names', left('', throwIf(count() > 0, 'hashes differ'))) FROM imid_test.members
  WHERE name = 'names' AND imid_hash_of(JSONExtractString(r, 'name')) != JSONExtractUInt(r, 'hash');
SELECT concat('ok: sessions of names', left('', throwIf(count() > 0, 'sessions differ'))) FROM imid_test.ids
  WHERE name IS NOT NULL AND imid_session_tag_of(type, assumeNotNull(name)) != session_tag;
SELECT concat('ok: shards', left('', throwIf(count() > 0, 'shards differ'))) FROM imid_test.members WHERE name = 'shards' AND (
  (JSONExtractUInt(r, 'n') = 7 AND imid_shard(JSONExtractUInt(r, 'session_tag'), 7) != JSONExtractUInt(r, 'shard'))
  OR (JSONExtractUInt(r, 'n') = 1024 AND imid_shard(JSONExtractUInt(r, 'session_tag'), 1024) != JSONExtractUInt(r, 'shard'))
  OR (JSONExtractUInt(r, 'n') = 2147483647 AND imid_shard(JSONExtractUInt(r, 'session_tag'), 2147483647) != JSONExtractUInt(r, 'shard')));
SELECT concat('ok: texts that are refused', left('', throwIf(count() > 0, 'a text is not refused'))) FROM imid_test.members
  WHERE name = 'texts_refused' AND imid_is_text(JSONExtractString(r, 'input'));
SELECT concat('ok: UUIDs that are refused', left('', throwIf(count() > 0, 'a UUID is not refused'))) FROM imid_test.members
  WHERE name = 'uuids_refused' AND imid_is_uuid(toUUID(JSONExtractString(r, 'uuid')));
SELECT concat('ok: bytes that are refused', left('', throwIf(count() > 0, 'bytes are not refused'))) FROM imid_test.members
  WHERE name = 'bytes_refused' AND imid_is_bytes(unhex(JSONExtractString(r, 'bytes')));
SELECT concat('ok: RongCloud', left('', throwIf(count() > 0, 'RongCloud differs'))) FROM imid_test.ids
  WHERE imid_from_rongcloud(translate(letters, '23456789ABCDEFGHJKLMNPQRSTUVWXYZ', '0123456789ABCDEFGHIJKLMNOPQRSTUV')) != id;
SELECT concat('ok: buckets', left('', throwIf(count() > 0, 'buckets differ'))) FROM imid_test.ids
  ARRAY JOIN [1, 7, 30, 50904] AS days
  WHERE id NOT BETWEEN imid_bucket_first(imid_bucket(id, days), days) AND imid_bucket_last(imid_bucket(id, days), days)
  OR imid_bucket(imid_bucket_first(imid_bucket(id, days), days), days) != imid_bucket(id, days)
  OR imid_bucket(imid_bucket_last(imid_bucket(id, days), days), days) != imid_bucket(id, days);
-- Two conversions that must not be used for IDs, because they drop zero bytes at the end. If they keep them now, the head of
-- install.sql is wrong.
SELECT concat('ok: FixedString::String and reinterpretAsString drop zero bytes at the end', left('', throwIf(
  (sum(length(id::String) != 10), sum(length(reinterpretAsString(id)) != 10)) != (sum(substring(hex(id), 19) = '00'), sum(substring(hex(id), 19) = '00')),
  'they do not'))) FROM imid_test.ids;
SELECT concat('ok: IDs with zero bytes at the end', left('', throwIf(count() < 3 OR sum(imid_bytes(imid_text(id)) != id) > 0
  OR sum(imid_from_uuid(imid_uuid(id)) != id) > 0 OR sum(imid_from_integer(imid_integer(id)) != id) > 0, 'they differ'))) FROM imid_test.ids
  WHERE hex(id) LIKE '%00';
SELECT concat('ok: NULL gives NULL', left('', throwIf(coalesce(toString(imid_ms(x)), toString(imid_timestamp(x)), imid_type_name(x),
  imid_text(x), toString(imid_uuid(x)), toString(imid_is_text(y)), toString(imid_bytes(y))) IS NOT NULL, 'a value is not NULL')))
  FROM (SELECT CAST(NULL, 'Nullable(FixedString(10))') AS x, CAST(NULL, 'Nullable(String)') AS y);

-- A scan by time reads few granules.
CREATE OR REPLACE TABLE imid_test.messages (id FixedString(10)) ENGINE = MergeTree ORDER BY id SETTINGS index_granularity = 256;
INSERT INTO imid_test.messages SELECT imid_first(1763665800000 + number) FROM numbers(100000);
SELECT concat('ok: BETWEEN imid_first AND imid_last uses the index', left('', throwIf(max(match(explain, 'Granules: [1-9]/391')) = 0, 'all granules are read'))) FROM (
  EXPLAIN indexes = 1 SELECT id FROM imid_test.messages WHERE id BETWEEN imid_first(1763665810000) AND imid_last(1763665810600));
SELECT concat('ok: BETWEEN imid_first_at AND imid_last_at uses the index', left('', throwIf(max(match(explain, 'Granules: [1-9]/391')) = 0, 'all granules are read'))) FROM (
  EXPLAIN indexes = 1 SELECT id FROM imid_test.messages
  WHERE id BETWEEN imid_first_at('2025-11-20 19:10:10.000') AND imid_last_at('2025-11-20 19:10:10.600'));
SELECT concat('ok: a bucket uses the index', left('', throwIf(max(explain LIKE '%Granules: 391/391%') = 0 OR max(explain LIKE '%Condition: true%') > 0, 'the index is not used'))) FROM (
  EXPLAIN indexes = 1 SELECT id FROM imid_test.messages WHERE id BETWEEN imid_bucket_first(20412, 1) AND imid_bucket_last(20412, 1));
SELECT concat('ok: a comparison with imid_bytes uses the index', left('', throwIf(max(match(explain, 'Granules: [1-9]/391')) = 0, 'all granules are read'))) FROM (
  EXPLAIN indexes = 1 SELECT id FROM imid_test.messages WHERE id < imid_bytes('EUNC-Q8QJ-22GH-T3DD'));
SELECT concat('ok: a comparison with imid_from_uuid uses the index', left('', throwIf(max(match(explain, 'Granules: [1-9]/391')) = 0, 'all granules are read'))) FROM (
  EXPLAIN indexes = 1 SELECT id FROM imid_test.messages WHERE id < imid_from_uuid(toUUID('019aa2ac-6b40-7007-8fc8-56bfffffffff')));
-- These conditions do not use it, as the head of install.sql says.
SELECT concat('ok: a condition on imid_ms reads all granules', left('', throwIf(max(explain LIKE '%Granules: 391/391%') = 0, 'the head of install.sql is wrong'))) FROM (
  EXPLAIN indexes = 1 SELECT id FROM imid_test.messages WHERE imid_ms(id) < 1763665810000);

-- refused: expected a message ID such as EUNC-Q8QJ-22GH-T3DD, found "eunc-q8qj-22gh-t3dd"
SELECT imid_bytes('eunc-q8qj-22gh-t3dd');
-- refused: expected a message ID such as EUNC-Q8QJ-22GH-T3DD, found "eunc-q8qj-22gh-t3dd"
SELECT imid_bytes(materialize('eunc-q8qj-22gh-t3dd'));
-- refused: expected a message ID of RongCloud such as BS4A-5FKA-QC0J-8P24, found "WS4A-5FKA-QC0J-8P24"
SELECT imid_from_rongcloud('WS4A-5FKA-QC0J-8P24');
-- refused: expected the UUID view of a message ID, found "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"
SELECT imid_from_uuid(toUUID('017f22e2-79b0-7cc3-98c4-dc0c0c07398f'));
-- refused: expected a time of 0 to 4398046511103 ms, found 4398046511104
SELECT imid_first(4398046511104);
-- refused: expected a time of 0 to 4398046511103 ms, found -1
SELECT imid_last(-1);
-- refused: expected a time of 0 to 4398046511103 ms, found 4398105600000
SELECT imid_bucket_last(50904, 1);
DROP DATABASE imid_test;
