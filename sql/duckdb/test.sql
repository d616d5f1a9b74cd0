-- Tests the macros of install.sql with the known answers of spec/vectors.json. Run it in this folder:
--   python ../embedded.py duckdb
-- A statement after a line "-- refused: ..." must fail with this message.
CREATE TEMP TABLE file AS SELECT json FROM read_json('../../spec/vectors.json', columns = {json: 'JSON'}, records = false,
  maximum_object_size = 16777216);
CREATE TEMP MACRO member(name) AS TABLE
  SELECT unnest(range(json_array_length(json, '$.' || name)::BIGINT)) AS n, json_extract(json, '$.' || name || '[' || n || ']') AS r FROM file;
-- Fails unless the number is 0.
CREATE TEMP MACRO expect_none(what, wrong) AS
  CASE WHEN wrong = 0 THEN 'ok: ' || what ELSE error(what || ': ' || coalesce(wrong, -1)::VARCHAR || ' rows differ') END;

CREATE TEMP TABLE ids AS SELECT unhex(r->>'hex') AS id, r->>'text' AS letters, (r->>'timestamp')::BIGINT AS ms,
  (r->>'spin')::INT AS spin, (r->>'type')::INT AS type, (r->>'hash')::INT AS hash, (r->>'session_tag')::INT AS session_tag, n
  FROM member('ids');

SELECT expect_none('there are vectors', (count(*) < 100)::INT) FROM ids;
SELECT expect_none('bytes and text', count(*)) FROM ids WHERE imid_text(id) IS DISTINCT FROM letters
  OR imid_bytes(letters) IS DISTINCT FROM id OR NOT imid_is_bytes(id) OR NOT imid_is_text(letters);
SELECT expect_none('fields', count(*)) FROM ids
  WHERE (imid_ms(id), imid_spin(id), imid_type(id), imid_hash(id), imid_session_tag(id))
  IS DISTINCT FROM (ms, spin, type, hash, session_tag);
SELECT expect_none('timestamps', count(*)) FROM ids
  WHERE epoch_ms(imid_timestamp(id)) IS DISTINCT FROM ms OR imid_first_at(imid_timestamp(id)) IS DISTINCT FROM imid_first(ms);
SELECT expect_none('hours', count(*)) FROM ids WHERE epoch_ms(imid_hour(id)) IS DISTINCT FROM ms // 3600000 * 3600000;
SELECT expect_none('an ID is in its session', count(*)) FROM ids WHERE NOT imid_is_in(id, session_tag) OR imid_is_in(id, session_tag + 1);
-- In a session with another time zone, a time is still that of the clock.
SET TimeZone = 'America/St_Johns';
SELECT expect_none('imid_first_at(now()) does not depend on the time zone', (abs(imid_ms(imid_first_at(now())) - epoch_ms(now())) > 1)::INT);
SELECT expect_none('times with a time zone', count(*)) FROM (VALUES (TIMESTAMPTZ '2026-11-22 10:00:00.000999Z'),
  (TIMESTAMPTZ '2026-11-22 15:30:00.0009+05:30')) AS x(moment)
  WHERE imid_first_at(moment) <> imid_first(1795341600000) OR imid_last_at(moment) <> imid_last(1795341600000);
SELECT expect_none('a TIMESTAMP is in UTC', (imid_first_at(TIMESTAMP '2026-11-22 10:00') <> imid_first(1795341600000))::INT);
-- refused: explicit type casts
SELECT imid_first_at('2026-11-22 10:00');
RESET TimeZone;
SELECT expect_none('names of types', count(*)) FROM member('types')
  WHERE imid_type_name(imid_from_integer((r->>'code')::UHUGEINT << 22)) IS DISTINCT FROM r->>'name';
SELECT expect_none('UUIDs', count(*)) FROM member('uuids')
  WHERE imid_uuid(imid_bytes(r->>'text')) IS DISTINCT FROM (r->>'uuid')::UUID
  OR imid_from_uuid((r->>'uuid')::UUID) IS DISTINCT FROM imid_bytes(r->>'text') OR NOT imid_is_uuid((r->>'uuid')::UUID);
SELECT expect_none('times', count(*)) FROM member('times')
  WHERE imid_text(imid_first((r->>'from')::BIGINT)) IS DISTINCT FROM r->>'first'
  OR imid_text(imid_last((r->>'to')::BIGINT)) IS DISTINCT FROM r->>'last';
SELECT expect_none('the order', count(*)) FROM (SELECT n, row_number() OVER (ORDER BY id) - 1 AS by_bytes,
  row_number() OVER (ORDER BY letters) - 1 AS by_text, row_number() OVER (ORDER BY imid_uuid(id)) - 1 AS by_uuid FROM ids)
  WHERE (by_bytes, by_text, by_uuid) IS DISTINCT FROM (n, n, n);

SELECT expect_none('texts that are refused', count(*)) FROM member('texts_refused')
  WHERE imid_is_text(r->>'input');
SELECT expect_none('UUIDs that are refused', count(*)) FROM member('uuids_refused')
  WHERE imid_is_uuid((r->>'uuid')::UUID);
SELECT expect_none('bytes that are refused', count(*)) FROM member('bytes_refused') WHERE imid_is_bytes(unhex(r->>'bytes'));
SELECT expect_none('RongCloud', count(*)) FROM ids
  WHERE imid_from_rongcloud(translate(letters, '23456789ABCDEFGHJKLMNPQRSTUVWXYZ', '0123456789ABCDEFGHIJKLMNOPQRSTUV')) IS DISTINCT FROM id;
SELECT expect_none('buckets', count(*)) FROM ids, (VALUES (1), (7), (30), (50904)) AS x(days)
  WHERE id NOT BETWEEN imid_bucket_first(imid_bucket(id, days), days) AND imid_bucket_last(imid_bucket(id, days), days)
  OR imid_bucket(imid_bucket_first(imid_bucket(id, days), days), days) <> imid_bucket(id, days)
  OR imid_bucket(imid_bucket_last(imid_bucket(id, days), days), days) <> imid_bucket(id, days);
-- The reason for the parentheses in install.sql. Other languages have 10.
SELECT expect_none('bit operators have equal precedence', (1 << 3 | 1 << 1) - 18);
SELECT expect_none('NULL gives NULL', (coalesce(imid_ms(NULL)::VARCHAR, imid_timestamp(NULL)::VARCHAR, imid_type_name(NULL),
  imid_bucket(NULL, 1)::VARCHAR, imid_text(NULL), imid_bytes(NULL)::VARCHAR, imid_from_rongcloud(NULL)::VARCHAR,
  imid_uuid(NULL)::VARCHAR, imid_from_uuid(NULL)::VARCHAR, imid_first(NULL)::VARCHAR, imid_last_at(NULL::TIMESTAMP)::VARCHAR,
  imid_bucket_last(NULL, 1)::VARCHAR, imid_is_text(NULL)::VARCHAR) IS NOT NULL)::INT);

-- refused: expected a message ID such as EUNC-Q8QJ-22GH-T3DD, found "eunc-q8qj-22gh-t3dd"
SELECT imid_bytes('eunc-q8qj-22gh-t3dd');
-- refused: expected a message ID of RongCloud such as BS4A-5FKA-QC0J-8P24, found "WS4A-5FKA-QC0J-8P24"
SELECT imid_from_rongcloud('WS4A-5FKA-QC0J-8P24');
-- refused: expected the UUID view of a message ID, found "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"
SELECT imid_from_uuid('017f22e2-79b0-7cc3-98c4-dc0c0c07398f');
-- refused: expected a time of 0 to 4398046511103 ms, found "4398046511104"
SELECT imid_first(4398046511104);
-- refused: expected a time of 0 to 4398046511103 ms, found "-1"
SELECT imid_last(-1);
-- refused: expected a time of 0 to 4398046511103 ms, found "4398105600000"
SELECT imid_bucket_last(50904, 1);
SELECT expect_none('CASE gives NULL for other texts', count(*)) FROM member('texts_refused')
  WHERE CASE WHEN imid_is_text(r->>'input') THEN imid_bytes(r->>'input') END IS NOT NULL;

-- A scan by time skips row groups by their least and greatest ID, if the rows were inserted in the order of time.
CREATE TABLE in_order AS SELECT imid_first(1763665800000 + i) AS id FROM range(600000) AS made(i);
CREATE TABLE in_random_order AS SELECT id FROM in_order ORDER BY hash(id);
-- plan: Row Groups Scanned: [12] / 5
EXPLAIN ANALYZE SELECT id FROM in_order WHERE id BETWEEN imid_first(1763665860000) AND imid_last(1763665860999);
-- plan: Row Groups Scanned: 1 / 5
EXPLAIN ANALYZE SELECT id FROM in_order WHERE id < imid_bytes('EUNC-Q8QJ-32GH-T3DD');
-- plan: Row Groups Scanned: 5 / 5
EXPLAIN ANALYZE SELECT id FROM in_random_order WHERE id BETWEEN imid_first(1763665860000) AND imid_last(1763665860999);
DROP TABLE in_order;
DROP TABLE in_random_order;
