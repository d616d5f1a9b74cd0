-- Tests mint.sql with the tables of tables.sql, and with spec/vectors.json. Run it with psql in this folder, in a database without these tables:
--   psql -v ON_ERROR_STOP=1 -f install.sql -f tables.sql -f mint.sql -f mint_test.sql
\set ON_ERROR_STOP on
-- A text in PostgreSQL cannot have a zero character.
\set vectors `sed 's/\\u0000/\\u0001/g' ../../spec/vectors.json`
BEGIN;
SET LOCAL client_min_messages = warning;
SET LOCAL timezone = 'America/St_Johns';
CREATE FUNCTION pg_temp.expect(what text, is_right boolean) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  IF is_right IS NOT TRUE THEN RAISE EXCEPTION '%', what; END IF;
  RETURN 'ok: ' || what;
END $$;
-- The error of a statement.
CREATE FUNCTION pg_temp.error(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE statement;
  RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
CREATE TEMPORARY TABLE vectors AS SELECT member, row AS r
  FROM json_each(:'vectors'::json) AS file(member, list), json_array_elements(CASE json_typeof(list) WHEN 'array' THEN list ELSE '[]' END) AS row;
\pset format unaligned
\pset tuples_only on

-- Tags. The names with a zero character are tested as bytes.
CREATE TEMPORARY TABLE names AS SELECT r->>'name' AS name, (r->>'length')::integer AS length, r->>'xxh3' AS xxh3, (r->>'hash')::integer AS hash,
  decode(CASE WHEN r->>'name' ~ '\x01' THEN replace(encode(convert_to(r->>'name', 'UTF8'), 'hex'), '01', '00')
    ELSE encode(convert_to(r->>'name', 'UTF8'), 'hex') END, 'hex') AS bytes
  FROM vectors WHERE member = 'names';
SELECT pg_temp.expect('XXH3 of names of each length', count(*) > 60 AND bool_and(octet_length(bytes) = length
  AND encode(int8send(imid_xxh3(bytes)), 'hex') = xxh3)) FROM names;
SELECT pg_temp.expect('tags of names', bool_and(imid_session_tag_of(type, name) = type * 4194304 + hash))
  FROM names, generate_series(0, 15) AS type WHERE name !~ '\x01' AND (length < 300 OR type = 3);
SELECT pg_temp.expect('tags of pairs', count(*) > 20 AND bool_and(imid_pair_tag_of(r->>'a', r->>'b') = (r->>'session_tag')::integer
  AND imid_pair_tag_of(r->>'b', r->>'a') = (r->>'session_tag')::integer)) FROM vectors WHERE member = 'pairs';
SELECT pg_temp.expect('NULL gives NULL', num_nonnulls(imid_session_tag_of(NULL, 'x'), imid_session_tag_of(3, NULL), imid_pair_tag_of(NULL, 'b'),
  imid_pair_tag_of('a', NULL)) = 0);
SELECT pg_temp.expect(format('type %s: %s', type, error), error = format('22023 expected a session type from 0 to 15, found %s', type))
  FROM (VALUES (-1), (16)) AS types(type), pg_temp.error(format('SELECT imid_session_tag_of(%s, %L)', type, 'x')) AS error;

-- IDs. The clock of a transaction stands still, but not that of the database.
CREATE FUNCTION pg_temp.stamp(id bytea) RETURNS bigint LANGUAGE sql RETURN imid_ms(id) * 4096 + imid_spin(id);
CREATE FUNCTION pg_temp.now_ms() RETURNS double precision LANGUAGE sql RETURN date_part('epoch', clock_timestamp()) * 1000;
CREATE FUNCTION pg_temp.id(stamp bigint, session_tag integer) RETURNS bytea LANGUAGE sql
  RETURN imid_join(stamp >> 14, ((stamp & 16383) << 26) | session_tag);
CREATE FUNCTION pg_temp.at(ahead_ms bigint, spin integer) RETURNS bytea LANGUAGE sql
  RETURN pg_temp.id((floor(pg_temp.now_ms())::bigint + ahead_ms) * 4096 + spin, 77);
CREATE TEMPORARY TABLE minted AS SELECT n, imid_after(NULL, 16549227) AS id, pg_temp.now_ms() AS ms FROM generate_series(1, 20000) AS n;
SELECT pg_temp.expect('without a last ID it has the time and the tag', bool_and(imid_ms(id) BETWEEN ms - 600000 AND ms AND imid_session_tag(id) = 16549227))
  FROM minted;
SELECT pg_temp.expect('its spin is even over 0 to 4095', min(imid_spin(id)) < 64 AND max(imid_spin(id)) > 4031 AND avg(imid_spin(id)) BETWEEN 1990 AND 2105)
  FROM minted;
-- `ahead` is an hour ahead, so the step counts.
CREATE TEMPORARY TABLE steps AS SELECT pg_temp.stamp(imid_after(ahead, 5)) - pg_temp.stamp(ahead) AS step
  FROM (SELECT pg_temp.at(3600000, 4095) AS ahead) AS x, generate_series(1, 20000);
SELECT pg_temp.expect('a step is even over 1 to 1024', min(step) BETWEEN 1 AND 16 AND max(step) BETWEEN 1009 AND 1024 AND avg(step) BETWEEN 497 AND 528)
  FROM steps;
SELECT pg_temp.expect('the time counts if it is greater', imid_after(pg_temp.at(-2000000, 0), 5) > pg_temp.at(-1000000, 0));
SELECT pg_temp.expect('an ID is after the last one in any case', bool_and(imid_after(last, 67108863) > last AND imid_after(last, 0) > last))
  FROM (SELECT pg_temp.at(ahead, spin) AS last FROM generate_series(-3, 86400000, 1234567) AS ahead, (VALUES (0), (3), (4095)) AS spins(spin)) AS x;
SELECT pg_temp.expect(format('%s: %s', call, error), error LIKE expected)
  FROM (VALUES
    ('imid_after(NULL, NULL)', '22023 expected a session tag from 0 to 67108863, found NULL'),
    ('imid_after(NULL, -1)', '22023 expected a session tag from 0 to 67108863, found -1'),
    ('imid_after(NULL, 67108864)', '22023 expected a session tag from 0 to 67108863, found 67108864'),
    ('imid_after(NULL, 67108863)', 'no error'),
    ($$imid_after('\x', 1)$$, '22023 expected a last ID of 10 bytes, found 0 bytes'),
    ($$imid_after('\x66a8ab1ad0001cfc85', 1)$$, '22023 expected a last ID of 10 bytes, found 9 bytes'),
    ($$imid_after('\x66a8ab1ad0001cfc856b00', 1)$$, '22023 expected a last ID of 10 bytes, found 11 bytes'),
    ($$imid_after('\xffffffffffffffffffff', 1)$$, '22008 last ID is % ms ahead of the clock (limit 86400000 ms)'),
    ($$imid_after('\xffffffffffffffffffff', 1, 9223372036854775807)$$, '22008 expected a time from 1970 to 2109, found 4398046511104 ms'),
    ($$imid_after('\x00000000000000000000', 1)$$, 'no error'),
    ('imid_after(pg_temp.at(87000000, 0), 1)', '22008 last ID is % ms ahead of the clock (limit 86400000 ms)'),
    ('imid_after(pg_temp.at(86399000, 0), 1)', 'no error'),
    ('imid_after(pg_temp.at(601000, 0), 1, 1000)', '22008 last ID is % ms ahead of the clock (limit 1000 ms)'),
    ('imid_after(pg_temp.at(0, 0), 1, 0)', 'no error'),
    ('imid_after(NULL, 1, -1)', '22023 expected a limit_ms of 0 or more, found -1'),
    ('imid_after(NULL, 1, NULL)', '22023 expected a limit_ms of 0 or more, found NULL'),
    ('imid_lift(NULL, 1, -1)', '22023 expected an ahead_ms from 0 to 86400000, found -1'),
    ('imid_lift(NULL, 1, NULL)', '22023 expected an ahead_ms from 0 to 86400000, found NULL'),
    ('imid_lift(NULL, NULL, 1)', '22023 expected a session tag from 0 to 67108863, found NULL'),
    ($$imid_lift('\xffffffffffffffffffff', 1, 0)$$, '22008 expected a time from 1970 to 2109, found 4398046511104 ms')) AS calls(call, expected),
  pg_temp.error('SELECT ' || call) AS error;

-- Messages.
SELECT pg_temp.expect('the tables are new', (SELECT count(*) FROM messages) = 0 AND (SELECT count(*) FROM rooms) = 1);
CREATE TEMPORARY TABLE posts AS SELECT n, post.* FROM generate_series(1, 20) AS n, imid_post('room-42', 3, 'ada', n::text, 'hello ' || n) AS post;
SELECT pg_temp.expect('a post has the next number, a later ID and the tag of its room', array_agg(number ORDER BY n) = array_agg(n::bigint ORDER BY n)
  AND bool_and(is_new AND imid_session_tag(id) = 16549227) AND count(*) = count(DISTINCT id)
  AND array_agg(id ORDER BY n) = array_agg(id ORDER BY id)) FROM posts;
SELECT pg_temp.expect('it is stored as it came', count(*) = 20) FROM posts JOIN messages USING (id, number)
  WHERE room = 'room-42' AND sender = 'ada' AND client_key = n::text AND body = 'hello ' || n;
SELECT pg_temp.expect('a client key is known', (id, number, is_new) = (SELECT id, number, false FROM posts WHERE n = 7))
  FROM imid_post('room-42', 3, 'ada', '7', 'again');
SELECT pg_temp.expect('a message that is known takes no number', (number, is_new) = (21, true)) FROM imid_post('room-42', 3, 'ada', '21', 'next');
SELECT pg_temp.expect('a key is of a sender', (number, is_new) = (22, true)) FROM imid_post('room-42', 3, 'bob', '7', 'hello');
SELECT pg_temp.expect('a key is of a room', (number, is_new) = (1, true)) FROM imid_post('room-43', 3, 'ada', '7', 'hello');
SELECT pg_temp.expect('the row has the last ID', last_id = (SELECT max(imid_text(id)) FROM messages WHERE room = name)) FROM
  (SELECT name, imid_text(last_id) AS last_id FROM rooms WHERE name <> '') AS x;
INSERT INTO rooms VALUES ('alice:bob', imid_pair_tag_of('bob', 'alice'), 0);
SELECT pg_temp.expect('a private conversation has the tag of its row', imid_session_tag(id) = imid_pair_tag_of('alice', 'bob') AND number = 1)
  FROM imid_post('alice:bob', 1, 'bob', '1', 'hello');
SELECT pg_temp.expect(format('%s: %s', call, error), error = expected) FROM (VALUES
    ($$imid_post('room-42', 2, 'ada', 'x', '')$$, '22023 expected the session type of the room, 3, found 2'),
    ($$imid_post('room-42', NULL, 'ada', 'x', '')$$, '22023 expected the session type of the room, 3, found NULL'),
    ($$imid_post('new', 16, 'ada', 'x', '')$$, '22023 expected a session type from 0 to 15, found 16'),
    ($$imid_post('new', NULL, 'ada', 'x', '')$$, '23502 null value in column "session_tag" of relation "rooms" violates not-null constraint'),
    ($$imid_post(NULL, 3, 'ada', 'x', '')$$, '23502 null value in column "name" of relation "rooms" violates not-null constraint'),
    ($$imid_post('room-42', 3, NULL, 'x', '')$$, '23502 null value in column "sender" of relation "messages" violates not-null constraint'),
    ($$imid_post('room-42', 3, 'ada', NULL, '')$$, '23502 null value in column "client_key" of relation "messages" violates not-null constraint'),
    ($$imid_post('room-42', 3, 'ada', 'x', NULL)$$, '23502 null value in column "body" of relation "messages" violates not-null constraint')
  ) AS calls(call, expected), pg_temp.error('SELECT ' || call) AS error;
SELECT pg_temp.expect('errors took no number and made no room', last_number = 22 AND NOT EXISTS (SELECT FROM rooms WHERE name = 'new'))
  FROM rooms WHERE name = 'room-42';

-- A room of the same tag has one in two IDs of the next steps, and then all of them.
CREATE FUNCTION pg_temp.occupy(halves integer) RETURNS void LANGUAGE sql AS $$
  INSERT INTO messages SELECT pg_temp.id(stamp + step, session_tag), 'twin', step + coalesce(number, 0), 'a', gen_random_uuid(), ''
    FROM (SELECT pg_temp.stamp(last_id) AS stamp, session_tag, (SELECT max(number) FROM messages WHERE room = 'twin') AS number FROM rooms WHERE name = 'room-42') AS last,
      generate_series(1, 20000) AS step WHERE step % 2 < halves ON CONFLICT DO NOTHING $$;
UPDATE rooms SET last_id = pg_temp.at(3600000, 0) WHERE name = 'room-42';
SELECT pg_temp.occupy(1) \g /dev/null
-- A client repeats the call after an error.
DO $$ BEGIN
  FOR n IN 1..6 LOOP
    FOR attempt IN 1..10 LOOP
      BEGIN
        PERFORM imid_post('room-42', 3, 'ada', 'c' || n, '');
        EXIT;
      EXCEPTION WHEN unique_violation THEN
        IF attempt = 10 THEN RAISE; END IF;
      END;
    END LOOP;
  END LOOP;
END $$;
SELECT pg_temp.expect('a collision takes another ID and no other number', array_agg(number ORDER BY id) = '{23,24,25,26,27,28}') FROM messages
  WHERE room = 'room-42' AND client_key LIKE 'c%';
SELECT pg_temp.occupy(2) \g /dev/null
SELECT pg_temp.expect(error, error = '23505 no new ID in 5 attempts in room "room-42"')
  FROM pg_temp.error($$SELECT imid_post('room-42', 3, 'ada', 'full', '')$$) AS error;
SELECT pg_temp.expect('the numbers have no gap', count(*) = max(number) AND max(number) = 28) FROM messages WHERE room = 'room-42';

-- After a failover: every room, and rooms without a row.
UPDATE rooms SET last_id = pg_temp.at(7200000, 9) WHERE name = 'room-43';
CREATE TEMPORARY TABLE before AS SELECT *, pg_temp.now_ms() AS ms FROM rooms;
UPDATE rooms SET last_id = imid_lift(last_id, session_tag, 60000);
SELECT pg_temp.expect('each room is lifted above its last ID and the clock', bool_and(
  imid_ms(rooms.last_id) - greatest(coalesce(imid_ms(before.last_id), 0), floor(ms)) >= 60000
  AND imid_ms(rooms.last_id) - greatest(coalesce(imid_ms(before.last_id), 0), pg_temp.now_ms()) <= 60002
  AND imid_session_tag(rooms.last_id) = rooms.session_tag)) FROM rooms JOIN before USING (name);
SELECT pg_temp.expect('a post is after that', imid_ms(id) - imid_ms(last_id) >= 60000) FROM imid_post('room-43', 3, 'ada', 'after', ''), before WHERE name = 'room-43';
SELECT pg_temp.expect('a new room too', imid_ms(id) - floor(ms) >= 60000 AND imid_ms(id) - pg_temp.now_ms() <= 60002 AND number = 1)
  FROM imid_post('room-44', 3, 'ada', 'after', ''), before WHERE name = '';
ROLLBACK;
