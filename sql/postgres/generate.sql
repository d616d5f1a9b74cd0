-- Tests imid_generate of install.sql in one connection: lanes, clocks that stand still or step, errors. Run it with psql in this folder:
--   psql -v ON_ERROR_STOP=1 -f install.sql -f generate.sql
-- ../generate.py tests several connections.
\set ON_ERROR_STOP on
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;
SELECT current_schema AS home \gset
DROP SCHEMA IF EXISTS imid_generate_test CASCADE;
CREATE SCHEMA imid_generate_test;
-- A function in the first schema hides the clock of install.sql.
SET search_path = imid_generate_test, :"home";
CREATE FUNCTION imid_clock_ms() RETURNS bigint LANGUAGE sql AS $$ SELECT current_setting('imid.clock')::bigint $$;
SET imid.clock = 1763665800000;

CREATE FUNCTION expect_none(what text, wrong bigint) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  IF wrong IS DISTINCT FROM 0 THEN RAISE EXCEPTION '%: % rows differ', what, wrong; END IF;
  RETURN 'ok: ' || what;
END $$;
-- Fails unless the statement is refused with this message.
CREATE FUNCTION expect_refused(statement text, wanted text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  BEGIN
    EXECUTE statement;
  EXCEPTION WHEN OTHERS THEN
    IF SQLERRM <> wanted THEN RAISE EXCEPTION 'expected %, found %', wanted, SQLERRM; END IF;
    RETURN 'ok: refused: ' || wanted;
  END;
  RAISE EXCEPTION 'not refused: %', statement;
END $$;
-- Mints IDs, and numbers them.
CREATE FUNCTION minted(lane integer, bits integer, number bigint) RETURNS TABLE (n bigint, id bytea) LANGUAGE sql AS $$
  SELECT i, imid_generate(lane, bits, 16549227) FROM generate_series(1, number) AS i
$$;
CREATE TABLE found (place bigint GENERATED ALWAYS AS IDENTITY, step integer, id bytea);

-- The session 16549227 is the type GROUP and the hash of "room-42", as in the ID EUNC-Q8QJ-22GH-T3DD. The
-- lanes of each width are rolled back, because those of the next width overlap them.
DO $$
DECLARE bits integer; lane integer; id bytea;
BEGIN
  FOR bits IN 0..12 LOOP
    BEGIN
      FOR lane IN SELECT DISTINCT unnest(array[0, (1 << bits) / 3, (1 << bits) - 1]) LOOP
        PERFORM imid_open_lane(lane, bits);
        FOR n IN 1..20 LOOP
          id := imid_generate(lane, bits, 16549227);
          IF imid_session(id) <> 16549227 OR imid_type_name(id) <> 'GROUP' OR NOT imid_is_bytes(id)
            OR imid_spin(id) >> (12 - bits) <> lane OR imid_ms(id) NOT BETWEEN 1763665800000 AND 1763665800020 THEN
            RAISE EXCEPTION 'lane % of % bits: %', lane, bits, imid_text(id);
          END IF;
        END LOOP;
      END LOOP;
      RAISE EXCEPTION SQLSTATE 'OPEN0';
    EXCEPTION WHEN SQLSTATE 'OPEN0' THEN NULL;
    END;
  END LOOP;
END $$;
SELECT 'ok: lanes of 0 to 12 bits have their spins, and sessions are kept';
SELECT expect_none('an ID from 0 to the last session', count(*)) FROM (VALUES (0), (1), (4194303), (67108863)) AS x(session),
  imid_open_lane(3, 4) WHERE imid_session(imid_generate(3, 4, session)) <> session;
DROP SEQUENCE imid_lane_3_of_16;

-- 256 IDs fit into a millisecond of a lane of 4 bits.
SELECT imid_open_lane(7, 4) \gset opened_
INSERT INTO found (step, id) SELECT 1, id FROM minted(7, 4, 20000);
SELECT expect_none('a clock that stands still', count(*)) FROM (SELECT max(imid_ms(id)) AS ms FROM found) AS x
  WHERE ms <> 1763665800000 + 20000 / 256;
SET imid.clock = 1763664000000;
INSERT INTO found (step, id) SELECT 2, id FROM minted(7, 4, 20000);
SET imid.clock = 1763666000000;
INSERT INTO found (step, id) SELECT 3, id FROM minted(7, 4, 1);
SELECT expect_none('a step forward is followed', count(*)) FROM found WHERE step = 3 AND imid_ms(id) <> 1763666000000;
-- A transaction that is rolled back, and a sub-transaction.
BEGIN;
SELECT imid_generate(7, 4, 1) AS lost \gset
ROLLBACK;
BEGIN;
SAVEPOINT before;
SELECT imid_generate(7, 4, 1) AS lost_too \gset
ROLLBACK TO before;
INSERT INTO found (step, id) SELECT 4, id FROM minted(7, 4, 1);
COMMIT;
SELECT expect_none('an ID that was rolled back is not used again', count(*)) FROM found WHERE step = 4 AND (id <= :'lost' OR id <= :'lost_too');
-- The lock is released before the commit.
BEGIN;
INSERT INTO found (step, id) SELECT 4, id FROM minted(7, 4, 1);
SELECT expect_none('an open transaction holds no lock', count(*)) FROM pg_locks WHERE locktype = 'advisory' AND classid = 1768778084;
COMMIT;
-- A foreign ID of the lane, 50 minutes ahead.
SELECT imid_raise_lane(7, 4, imid_last(1763669000000)) AS ignored \gset
INSERT INTO found (step, id) SELECT 5, id FROM minted(7, 4, 1000);
SELECT expect_none('a lane is raised past an ID', count(*)) FROM found WHERE step = 5 AND imid_ms(id) <= 1763669000000;
SELECT imid_raise_lane(7, 4, imid_first(0)) AS ignored \gset
INSERT INTO found (step, id) SELECT 6, id FROM minted(7, 4, 1000);
SELECT expect_none('IDs strictly increase in all of this', count(*)) FROM (SELECT id <= lag(id) OVER (ORDER BY place) AS wrong FROM found) AS x
  WHERE wrong;

SET imid.clock = 1763665399000;
SELECT expect_refused('SELECT imid_generate(7, 4, 1)', 'clock is 3601 s behind lane 7 of 16 (limit 3600 s)');
SELECT expect_refused('SELECT imid_raise_lane(7, 4, imid_first(1763669000000))', 'clock is 3601 s behind the ID (limit 3600 s)');
SET imid.clock = 1763665410000;
SELECT expect_none('a clock that has caught up', (imid_ms(imid_generate(7, 4, 1)) < 1763669000000)::int);
SELECT expect_none('no lock is left, also after errors', count(*)) FROM pg_locks WHERE locktype = 'advisory' AND classid = 1768778084;

SELECT expect_refused('SELECT imid_generate(7, 4, -1)', 'expected a session of 0 to 67108863, found -1');
SELECT expect_refused('SELECT imid_generate(7, 4, 67108864)', 'expected a session of 0 to 67108863, found 67108864');
SELECT expect_refused('SELECT imid_generate(5, 4, 1)', 'lane 5 of 16 is not open');
SELECT expect_refused('SELECT imid_generate(0, 13, 1)', 'expected 0 to 12 bits of the lane, found 13');
SELECT expect_refused('SELECT imid_generate(0, -1, 1)', 'expected 0 to 12 bits of the lane, found -1');
SELECT expect_refused('SELECT imid_open_lane(16, 4)', 'expected a lane of 0 to 15, found 16');
SELECT expect_refused('SELECT imid_open_lane(-1, 4)', 'expected a lane of 0 to 15, found -1');
SELECT expect_refused('SELECT imid_raise_lane(7, 4, ''\x00'')', 'expected an ID of 10 bytes, found 1');
-- Lane 7 of 16 has the spins 1792 to 2047.
SELECT expect_refused('SELECT imid_open_lane(0, 0)', 'imid_lane_0_of_1 overlaps imid_lane_7_of_16');
SELECT expect_refused('SELECT imid_open_lane(0, 1)', 'imid_lane_0_of_2 overlaps imid_lane_7_of_16');
SELECT expect_refused('SELECT imid_open_lane(3, 3)', 'imid_lane_3_of_8 overlaps imid_lane_7_of_16');
SELECT expect_refused('SELECT imid_open_lane(1792, 12)', 'imid_lane_1792_of_4096 overlaps imid_lane_7_of_16');
SELECT expect_refused('SELECT imid_open_lane(2047, 12)', 'imid_lane_2047_of_4096 overlaps imid_lane_7_of_16');
SELECT expect_none('the lanes beside it', (imid_open_lane(1791, 12) <> 'imid_lane_1791_of_4096')::int
  + (imid_open_lane(2048, 12) <> 'imid_lane_2048_of_4096')::int);
SELECT expect_none('a lane that is open stays as it is', (imid_open_lane(7, 4) <> 'imid_lane_7_of_16')::int
  + (imid_ms(imid_generate(7, 4, 1)) < 1763669000000)::int);
SELECT expect_none('NULL gives NULL', num_nonnulls(imid_generate(NULL, 4, 1), imid_generate(7, NULL, 1), imid_generate(7, 4, NULL)));

-- The end of time: 256 IDs at most.
SET imid.clock = 4398046511103;
SELECT expect_refused('SELECT count(imid_generate(7, 4, 1)) FROM generate_series(1, 256)',
  'nextval: reached maximum value of sequence "imid_lane_7_of_16" (1125899906842623)');
SELECT expect_none('no lock is left at the end of time', count(*)) FROM pg_locks WHERE locktype = 'advisory' AND classid = 1768778084;
DROP SCHEMA imid_generate_test CASCADE;
