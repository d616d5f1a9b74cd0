-- Tests the functions of install.sql with the known answers of spec/vectors.json. Run it with psql in this folder:
--   psql -v ON_ERROR_STOP=1 -f install.sql -f test.sql
\set ON_ERROR_STOP on
-- A text in PostgreSQL cannot have a zero character, so the texts with one have another control character.
\set vectors `sed 's/\\u0000/\\u0001/g' ../../spec/vectors.json`
SELECT current_schema AS home \gset
BEGIN;
SET LOCAL client_min_messages = warning;
-- A server with another time zone or style of bytes has the same answers.
SET LOCAL timezone = 'America/St_Johns';
SET LOCAL bytea_output = 'escape';

CREATE TEMPORARY TABLE vectors AS
  SELECT member, row.value AS r, row.ordinality AS n
  FROM json_each(:'vectors'::json) AS file(member, list), json_array_elements(CASE json_typeof(file.list) WHEN 'array' THEN file.list ELSE '[]' END) WITH ORDINALITY AS row;

CREATE TEMPORARY VIEW ids AS
  SELECT decode(r->>'hex', 'hex') AS id, r->>'text' AS letters, (r->>'timestamp')::bigint AS ms, (r->>'spin')::int AS spin,
    (r->>'type')::int AS type, (r->>'hash')::int AS hash, (r->>'session_tag')::int AS session_tag, n
  FROM vectors WHERE member = 'ids';

-- Fails unless the number is 0.
CREATE FUNCTION pg_temp.expect_none(what text, wrong bigint) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  IF wrong IS DISTINCT FROM 0 THEN RAISE EXCEPTION '%: % rows differ', what, wrong; END IF;
  RETURN 'ok: ' || what;
END $$;

-- Whether a statement is an error of this class, and its message.
CREATE FUNCTION pg_temp.message(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE statement;
  RETURN NULL;
EXCEPTION WHEN invalid_text_representation THEN
  RETURN SQLERRM;
END $$;

\pset format unaligned
\pset tuples_only on

SELECT pg_temp.expect_none('there are vectors', (count(*) < 100)::int) FROM ids;
SELECT pg_temp.expect_none('bytes and text', count(*)) FROM ids
  WHERE imid_text(id) IS DISTINCT FROM letters OR imid_bytes(letters) IS DISTINCT FROM id
  OR NOT imid_is_bytes(id) OR NOT imid_is_text(letters);
SELECT pg_temp.expect_none('fields', count(*)) FROM ids
  WHERE (imid_ms(id), imid_spin(id), imid_type(id), imid_hash(id), imid_session_tag(id))
  IS DISTINCT FROM (ms, spin, type, hash, session_tag);
SELECT pg_temp.expect_none('timestamps', count(*)) FROM ids
  WHERE (extract(epoch FROM imid_timestamp(id)) * 1000)::bigint IS DISTINCT FROM ms
  OR imid_first_at(imid_timestamp(id)) IS DISTINCT FROM imid_first(ms);
SELECT pg_temp.expect_none('hours', count(*)) FROM ids WHERE (extract(epoch FROM imid_hour(id)))::bigint IS DISTINCT FROM ms / 3600000 * 3600;
SELECT pg_temp.expect_none('an ID is in its session', count(*)) FROM ids WHERE NOT imid_is_in(id, session_tag) OR imid_is_in(id, session_tag + 1);
SELECT pg_temp.expect_none('names of types', count(*)) FROM vectors
  WHERE member = 'types' AND imid_type_name(imid_join(0, (r->>'code')::bigint << 22)) IS DISTINCT FROM r->>'name';
SELECT pg_temp.expect_none('UUIDs', count(*)) FROM vectors WHERE member = 'uuids' AND (
  imid_uuid(imid_bytes(r->>'text')) IS DISTINCT FROM (r->>'uuid')::uuid
  OR imid_from_uuid((r->>'uuid')::uuid) IS DISTINCT FROM imid_bytes(r->>'text')
  OR NOT imid_is_uuid((r->>'uuid')::uuid));
SELECT pg_temp.expect_none('times', count(*)) FROM vectors WHERE member = 'times' AND (
  imid_text(imid_first((r->>'from')::bigint)) IS DISTINCT FROM r->>'first'
  OR imid_text(imid_last((r->>'to')::bigint)) IS DISTINCT FROM r->>'last');
SELECT pg_temp.expect_none('the order of bytes', count(*)) FROM (SELECT n, row_number() OVER (ORDER BY id) AS place FROM ids) AS x
  WHERE n <> place;
SELECT pg_temp.expect_none('the order of texts', count(*))
  FROM (SELECT n, row_number() OVER (ORDER BY letters COLLATE "C") AS place FROM ids) AS x WHERE n <> place;
SELECT pg_temp.expect_none('the order of UUIDs', count(*))
  FROM (SELECT n, row_number() OVER (ORDER BY imid_uuid(id)) AS place FROM ids) AS x WHERE n <> place;

SELECT pg_temp.expect_none('texts that are refused', count(*)) FROM vectors WHERE member = 'texts_refused' AND (
  imid_is_text(r->>'input')
  OR pg_temp.message(format('SELECT imid_bytes(%L)', r->>'input'))
    IS DISTINCT FROM format('expected a message ID such as EUNC-Q8QJ-22GH-T3DD, found "%s"', r->>'input'));
SELECT pg_temp.expect_none('UUIDs that are refused', count(*)) FROM vectors WHERE member = 'uuids_refused' AND (
  imid_is_uuid((r->>'uuid')::uuid)
  OR pg_temp.message(format('SELECT imid_from_uuid(%L)', r->>'uuid'))
    IS DISTINCT FROM format('expected the UUID view of a message ID, found "%s"', r->>'uuid'));
SELECT pg_temp.expect_none('times that are refused', count(*)) FROM (VALUES (-1), (4398046511104), (9007199254740991)) AS x(ms)
  WHERE pg_temp.message(format('SELECT imid_first(%s::bigint)', ms)) IS DISTINCT FROM format('expected a time of 0 to 4398046511103 ms, found "%s"', ms)
  OR pg_temp.message(format('SELECT imid_last(%s::bigint)', ms)) IS DISTINCT FROM format('expected a time of 0 to 4398046511103 ms, found "%s"', ms);
SELECT pg_temp.expect_none('bytes that are refused', count(*)) FROM vectors
  WHERE member = 'bytes_refused' AND imid_is_bytes(decode(r->>'bytes', 'hex'));

SELECT pg_temp.expect_none('RongCloud', count(*)) FROM ids
  WHERE imid_from_rongcloud(translate(letters, '23456789ABCDEFGHJKLMNPQRSTUVWXYZ', '0123456789ABCDEFGHIJKLMNOPQRSTUV')) IS DISTINCT FROM id;
SELECT pg_temp.expect_none('RongCloud refuses other digits', (pg_temp.message($$SELECT imid_from_rongcloud('WS4A-5FKA-QC0J-8P24')$$)
  IS DISTINCT FROM 'expected a message ID of RongCloud such as BS4A-5FKA-QC0J-8P24, found "WS4A-5FKA-QC0J-8P24"')::int);

SELECT pg_temp.expect_none('buckets', count(*)) FROM ids, (VALUES (1), (7), (30), (50904)) AS x(days)
  WHERE id NOT BETWEEN imid_bucket_first(imid_bucket(id, days), days) AND imid_bucket_last(imid_bucket(id, days), days)
  OR imid_bucket(imid_bucket_first(imid_bucket(id, days), days), days) <> imid_bucket(id, days)
  OR imid_bucket(imid_bucket_last(imid_bucket(id, days), days), days) <> imid_bucket(id, days);
SELECT pg_temp.expect_none('a bucket past the last ID', (pg_temp.message('SELECT imid_bucket_last(50904, 1)') IS NULL)::int);
SELECT pg_temp.expect_none('the last bucket', (imid_bucket_last(50903, 1) <> '\xffffffffffffffffffff'::bytea)::int);

-- The reason for the parentheses in install.sql. Other languages have 10.
SELECT pg_temp.expect_none('bit operators have equal precedence', (1 << 3 | 1 << 1) - 18);
SELECT pg_temp.expect_none('NULL gives NULL', num_nonnulls(
  imid_ms(NULL), imid_timestamp(NULL), imid_spin(NULL), imid_type(NULL), imid_type_name(NULL), imid_hash(NULL),
  imid_session_tag(NULL), imid_bucket(NULL, 1), imid_text(NULL), imid_bytes(NULL), imid_from_rongcloud(NULL), imid_uuid(NULL),
  imid_from_uuid(NULL), imid_first(NULL::bigint), imid_last(NULL::bigint), imid_first_at(NULL),
  imid_last_at(NULL), imid_bucket_first(NULL, 1), imid_bucket_last(NULL, 1), imid_is_bytes(NULL),
  imid_is_text(NULL), imid_is_uuid(NULL)));

-- The functions can be in generated columns, CHECK constraints and indexes, and a scan by time uses the primary key.
CREATE TEMPORARY TABLE messages (
  id bytea PRIMARY KEY CHECK (imid_is_bytes(id)),
  session_tag integer GENERATED ALWAYS AS (imid_session_tag(id)) STORED,
  sent timestamptz GENERATED ALWAYS AS (imid_timestamp(id)) STORED,
  body text
);
CREATE INDEX ON messages (session_tag, id);
CREATE INDEX ON messages (imid_text(id));
INSERT INTO messages (id, body) SELECT int8send(i * 37) || '\x0001'::bytea, 'x' FROM generate_series(1, 20000) AS i;
ANALYZE messages;
CREATE FUNCTION pg_temp.plan(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text; lines text := '';
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || statement LOOP lines := lines || line || chr(10); END LOOP;
  RETURN lines;
END $$;
SELECT pg_temp.expect_none('a scan by time uses the index', (plan !~ 'Index.*Cond: \(\(id >= .*\) AND \(id <=')::int)
  FROM pg_temp.plan('SELECT * FROM messages WHERE id BETWEEN imid_first(9) AND imid_last(9)') AS plan;
SELECT pg_temp.expect_none('a scan by timestamps uses the index with constants', (plan !~ 'Index.*Cond: \(\(id >= ''[^'']*''::bytea\) AND \(id <= ''[^'']*''::bytea\)\)')::int)
  FROM pg_temp.plan($$SELECT * FROM messages WHERE id BETWEEN imid_first_at('1970-01-01 00:00:00.009Z') AND imid_last_at('1970-01-01 00:00:00.009Z')$$) AS plan;
SELECT pg_temp.expect_none('functions are put in place', (plan !~ 'get_byte')::int)
  FROM pg_temp.plan('SELECT * FROM messages WHERE imid_ms(id) = 7 AND imid_spin(id) = 1 AND imid_text(id) = body') AS plan;

-- PostgreSQL 18 reads the time of a UUID of version 7 itself.
SELECT current_setting('server_version_num')::int >= 180000 AS reads_uuids \gset
\if :reads_uuids
  SELECT pg_temp.expect_none('uuid_extract_timestamp reads the UUID view', count(*)) FROM ids
    WHERE uuid_extract_timestamp(imid_uuid(id)) IS DISTINCT FROM imid_timestamp(id) OR uuid_extract_version(imid_uuid(id)) <> 7;
\endif

-- As pg_restore, CREATE INDEX and ANALYZE see the functions.
SET LOCAL search_path = pg_catalog, pg_temp;
SELECT pg_temp.expect_none('the functions do not need search_path', count(*)) FROM ids
  WHERE :"home".imid_bytes(:"home".imid_text(id)) <> id OR :"home".imid_from_uuid(:"home".imid_uuid(id)) <> id
  OR NOT :"home".imid_is_bytes(id) OR NOT :"home".imid_is_text(letters) OR NOT :"home".imid_is_uuid(:"home".imid_uuid(id))
  OR :"home".imid_timestamp(id) IS NULL OR :"home".imid_spin(id) <> spin OR :"home".imid_hash(id) <> hash
  OR :"home".imid_session_tag(id) <> session_tag OR coalesce(:"home".imid_type_name(id), '') = 'x'
  OR id NOT BETWEEN :"home".imid_first_at(:"home".imid_timestamp(id)) AND :"home".imid_last_at(:"home".imid_timestamp(id))
  OR id NOT BETWEEN :"home".imid_bucket_first(:"home".imid_bucket(id, 7), 7) AND :"home".imid_bucket_last(:"home".imid_bucket(id, 7), 7);
SELECT pg_temp.expect_none('imid_from_rongcloud does not need it', (:"home".imid_from_rongcloud('BS4A-5FKA-QC0J-8P24') IS NULL)::int);
ROLLBACK;
