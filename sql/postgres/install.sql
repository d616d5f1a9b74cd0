-- imid for PostgreSQL 14 or later: message IDs in SQL. Plain functions, no extension and no superuser.
--
-- Run this file in the schema that should have the functions; uninstall.sql removes them. It can be run again.
--
-- An ID is a bytea of 10 bytes. docs/FORMAT.md defines the bits:
--   timestamp (unix ms) 42 | spin 12 | session type 4 | session hash 22
--
-- As usual in PostgreSQL, NULL gives NULL and a text that is not an ID is an error (22P02). Functions of bytes do not check
-- the length, so that they are fast: a column has CHECK (imid_is_bytes(id)).
--
-- Each function of an ID is one expression, which PostgreSQL inlines. The bodies are expressions (RETURN) and not strings, so
-- that they do not depend on search_path: PostgreSQL 17 and later empty it for CREATE INDEX and ANALYZE, and pg_restore empties
-- it too. PostgreSQL evaluates <<, >>, & and | from left to right with equal precedence, so each of them is in parentheses.
--
-- imid_generate mints IDs. IT NEEDS A LANE THAT NOBODY ELSE HOLDS. See "New IDs" at the end of this file before you use it.
-- An application that has the library should mint with the library.

-- ---------------------------------------------------------------------------------------------------------------------
-- Errors and helpers.

-- Raises an error. It is IMMUTABLE, so that PostgreSQL can inline the functions that call it.
CREATE OR REPLACE FUNCTION imid_refuse(wanted text, given text) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RAISE EXCEPTION 'expected %, found "%"', wanted, given USING ERRCODE = 'invalid_text_representation';
END $$;

-- Returns the digit with this value, 0 to 31.
CREATE OR REPLACE FUNCTION imid_digit(value integer) RETURNS bytea
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN substring('23456789ABCDEFGHJKLMNPQRSTUVWXYZ'::bytea FROM value + 1 FOR 1);

-- Returns the value of the digit at a place of a valid text. The constant has a byte for each character from 2 to Z.
CREATE OR REPLACE FUNCTION imid_digit_value(letters text, place integer) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN get_byte('\x00010203040506070000000000000008090a0b0c0d0e0f0010111213140015161718191a1b1c1d1e1f'::bytea,
    get_byte(decode(letters, 'escape'), place) - 50)::bigint;

-- Returns the 10 bytes with these upper and lower 40 bits.
CREATE OR REPLACE FUNCTION imid_join(upper_40 bigint, lower_40 bigint) RETURNS bytea
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN substring(int8send(upper_40) FROM 4) || substring(int8send(lower_40) FROM 4);

-- ---------------------------------------------------------------------------------------------------------------------
-- Validity. Each returns NULL for NULL.

CREATE OR REPLACE FUNCTION imid_is_bytes(id bytea) RETURNS boolean
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN octet_length(id) = 10;

CREATE OR REPLACE FUNCTION imid_is_text(letters text) RETURNS boolean
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN letters COLLATE "C" ~ '^[2-9A-HJ-NP-Z]{4}(-[2-9A-HJ-NP-Z]{4}){3}$';

-- Whether a UUID is the view of an ID: version 7, variant 0b10, a timestamp of 42 bits, 36 zeros at the end.
CREATE OR REPLACE FUNCTION imid_is_uuid(view uuid) RETURNS boolean
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN view::text COLLATE "C" ~ '^0[0-3][0-9a-f]{6}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{3}000000000$';

-- ---------------------------------------------------------------------------------------------------------------------
-- The fields of an ID.

-- Unix milliseconds.
CREATE OR REPLACE FUNCTION imid_ms(id bytea) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN (get_byte(id, 0)::bigint << 34) | (get_byte(id, 1)::bigint << 26) | (get_byte(id, 2)::bigint << 18)
    | (get_byte(id, 3)::bigint << 10) | (get_byte(id, 4)::bigint << 2) | (get_byte(id, 5)::bigint >> 6);

CREATE OR REPLACE FUNCTION imid_timestamp(id bytea) RETURNS timestamptz
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN to_timestamp(imid_ms(id) / 1000.0::double precision);

-- 0 to 4095.
CREATE OR REPLACE FUNCTION imid_spin(id bytea) RETURNS integer
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN ((get_byte(id, 5) & 63) << 6) | (get_byte(id, 6) >> 2);

-- The code of the session type, 0 to 15.
CREATE OR REPLACE FUNCTION imid_type(id bytea) RETURNS integer
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN ((get_byte(id, 6) & 3) << 2) | (get_byte(id, 7) >> 6);

-- The name of the session type, or NULL for the codes without one (0 and 13 to 15).
CREATE OR REPLACE FUNCTION imid_type_name(id bytea) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN ('{PRIVATE,DISCUSSION,GROUP,CHATROOM,CUSTOMER_SERVICE,SYSTEM,APP_PUBLIC_SERVICE,PUBLIC_SERVICE,PUSH_SERVICE,ULTRA_GROUP,ENCRYPTED,RTC}'::text[])[imid_type(id)];

-- The session hash, 0 to 4194303.
CREATE OR REPLACE FUNCTION imid_hash(id bytea) RETURNS integer
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN ((get_byte(id, 7) & 63) << 16) | (get_byte(id, 8) << 8) | get_byte(id, 9);

-- The session, 26 bits: type * 4194304 + hash.
CREATE OR REPLACE FUNCTION imid_session(id bytea) RETURNS integer
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN ((get_byte(id, 6) & 3) << 24) | (get_byte(id, 7) << 16) | (get_byte(id, 8) << 8) | get_byte(id, 9);

-- The bucket of a number of days. Bucket 0 begins on 1970-01-01 UTC.
CREATE OR REPLACE FUNCTION imid_bucket(id bytea, days integer) RETURNS integer
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN (imid_ms(id) / (days * 86400000::bigint))::integer;

-- ---------------------------------------------------------------------------------------------------------------------
-- The forms of an ID.

-- The text of 19 characters.
CREATE OR REPLACE FUNCTION imid_text(id bytea) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN encode(
    imid_digit(get_byte(id, 0) >> 3)
    || imid_digit(((get_byte(id, 0) & 7) << 2) | (get_byte(id, 1) >> 6))
    || imid_digit((get_byte(id, 1) >> 1) & 31)
    || imid_digit(((get_byte(id, 1) & 1) << 4) | (get_byte(id, 2) >> 4))
    || '-'::bytea
    || imid_digit(((get_byte(id, 2) & 15) << 1) | (get_byte(id, 3) >> 7))
    || imid_digit((get_byte(id, 3) >> 2) & 31)
    || imid_digit(((get_byte(id, 3) & 3) << 3) | (get_byte(id, 4) >> 5))
    || imid_digit(get_byte(id, 4) & 31)
    || '-'::bytea
    || imid_digit(get_byte(id, 5) >> 3)
    || imid_digit(((get_byte(id, 5) & 7) << 2) | (get_byte(id, 6) >> 6))
    || imid_digit((get_byte(id, 6) >> 1) & 31)
    || imid_digit(((get_byte(id, 6) & 1) << 4) | (get_byte(id, 7) >> 4))
    || '-'::bytea
    || imid_digit(((get_byte(id, 7) & 15) << 1) | (get_byte(id, 8) >> 7))
    || imid_digit((get_byte(id, 8) >> 2) & 31)
    || imid_digit(((get_byte(id, 8) & 3) << 3) | (get_byte(id, 9) >> 5))
    || imid_digit(get_byte(id, 9) & 31),
    'escape');

-- Reads a text strictly: 19 characters, upper case, three dashes.
CREATE OR REPLACE FUNCTION imid_bytes(letters text) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN imid_is_text(letters) THEN imid_join(
    (imid_digit_value(letters, 0) << 35) | (imid_digit_value(letters, 1) << 30)
      | (imid_digit_value(letters, 2) << 25) | (imid_digit_value(letters, 3) << 20)
      | (imid_digit_value(letters, 5) << 15) | (imid_digit_value(letters, 6) << 10)
      | (imid_digit_value(letters, 7) << 5) | imid_digit_value(letters, 8),
    (imid_digit_value(letters, 10) << 35) | (imid_digit_value(letters, 11) << 30)
      | (imid_digit_value(letters, 12) << 25) | (imid_digit_value(letters, 13) << 20)
      | (imid_digit_value(letters, 15) << 15) | (imid_digit_value(letters, 16) << 10)
      | (imid_digit_value(letters, 17) << 5) | imid_digit_value(letters, 18))
  WHEN letters IS NOT NULL THEN imid_refuse('a message ID such as EUNC-Q8QJ-22GH-T3DD', letters) END;

-- Reads RongCloud's text, which has other digits (0 to 9 and A to V) for the same 80 bits. IDs from before spring 2018
-- have another layout: their first digit is 9 or less, and these functions return wrong fields for them.
CREATE OR REPLACE FUNCTION imid_from_rongcloud(letters text) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN letters COLLATE "C" ~ '^[0-9A-V]{4}(-[0-9A-V]{4}){3}$'
  THEN imid_bytes(translate(letters, '0123456789ABCDEFGHIJKLMNOPQRSTUV', '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'))
  WHEN letters IS NOT NULL THEN imid_refuse('a message ID of RongCloud such as BS4A-5FKA-QC0J-8P24', letters) END;

-- The UUID view: a UUID of version 7 in which the timestamp and the spin are in the usual places.
CREATE OR REPLACE FUNCTION imid_uuid(id bytea) RETURNS uuid
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN encode(
    int8send((imid_ms(id) << 16) | 28672 | imid_spin(id))
    || int8send((imid_session(id)::bigint << 36) | (-9223372036854775808)), 'hex')::uuid;

-- Returns the 8 bytes of a UUID from this place, 1 or 9, as a number.
CREATE OR REPLACE FUNCTION imid_view_half(view uuid, place integer) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN ('x' || encode(substring(uuid_send(view) FROM place FOR 8), 'hex'))::bit(64)::bigint;

-- Reads a UUID view. Any other UUID is an error.
CREATE OR REPLACE FUNCTION imid_from_uuid(view uuid) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN imid_is_uuid(view) THEN imid_join(
    (imid_view_half(view, 1) >> 18) & 1099511627775,
    ((imid_view_half(view, 1) & 196608) << 22) | ((imid_view_half(view, 1) & 4095) << 26)
      | ((imid_view_half(view, 9) >> 36) & 67108863))
  WHEN view IS NOT NULL THEN imid_refuse('the UUID view of a message ID', view::text) END;

-- ---------------------------------------------------------------------------------------------------------------------
-- The first and the last ID of a time, for a scan that uses the index:
--   WHERE id BETWEEN imid_first_at('2026-11-22 10:00Z') AND imid_last_at('2026-11-22 10:59:59.999Z')

CREATE OR REPLACE FUNCTION imid_first(ms bigint) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN ms BETWEEN 0 AND 4398046511103 THEN imid_join(ms >> 2, (ms & 3) << 38)
  WHEN ms IS NOT NULL THEN imid_refuse('a time of 0 to 4398046511103 ms', ms::text) END;

CREATE OR REPLACE FUNCTION imid_last(ms bigint) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN ms BETWEEN 0 AND 4398046511103 THEN imid_join(ms >> 2, ((ms & 3) << 38) | 274877906943)
  WHEN ms IS NOT NULL THEN imid_refuse('a time of 0 to 4398046511103 ms', ms::text) END;

-- The millisecond that contains the time.
CREATE OR REPLACE FUNCTION imid_first_at(moment timestamptz) RETURNS bytea
LANGUAGE sql STABLE PARALLEL SAFE
  RETURN imid_first(floor(extract(epoch FROM moment) * 1000)::bigint);

CREATE OR REPLACE FUNCTION imid_last_at(moment timestamptz) RETURNS bytea
LANGUAGE sql STABLE PARALLEL SAFE
  RETURN imid_last(floor(extract(epoch FROM moment) * 1000)::bigint);

-- The first and the last ID of a bucket. The last bucket ends with the last ID.
CREATE OR REPLACE FUNCTION imid_bucket_first(bucket integer, days integer) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN imid_first(bucket * (days * 86400000::bigint));

CREATE OR REPLACE FUNCTION imid_bucket_last(bucket integer, days integer) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN imid_bucket_first(bucket, days) IS NOT NULL
  THEN imid_last(least((bucket + 1) * (days * 86400000::bigint) - 1, 4398046511103)) END;

-- ---------------------------------------------------------------------------------------------------------------------
-- New IDs, for jobs and triggers that cannot use the library.
--
--   SELECT imid_open_lane(15, 4);                    -- once: this database mints in lane 15 of 2^4 = 16
--   SELECT imid_generate(15, 4, imid_session(id)) FROM ...;
--
-- A lane is the part of the spins whose upper bits are its number, as in the library's Builder::lane. The session is the
-- integer of the library's Session::to_u32: type * 4194304 + hash. imid_session reads it from any ID of the session.
--
-- Unique, if all of these hold:
--   - No generator of the library and no other database mints in this lane, or in a lane that overlaps it, for a session that this
--     database mints for. Reserve the lane by hand. imid-lease uses all lanes of its space, so with imid-lease
--     use imid_generate only for sessions that nobody else mints for.
--   - The sequence of the lane keeps its state. Nobody sets it back, drops it, or changes its CACHE.
--   - An ID leaves the database only after the commit of its transaction, with synchronous_commit on.
--   - Before a copy of the database mints (a restored backup, a promoted asynchronous or logical replica), imid_raise_lane moves its
--     lane past the last ID that the old database has minted. Then only one of the two mints.
--
-- Under these conditions the clock does not matter: an ID is always greater than the one before it in its lane, in all
-- sessions and transactions of the database, whether the clock stands still, steps back or the server was restarted. If
-- the clock is behind the lane's last ID, the next IDs follow that ID. If it is more than an hour behind, imid_generate is an error
-- (55000) until the clock has caught up or another lane is opened.
--
-- Not promised: that transactions commit in the order of their IDs, and that there are no gaps. IDs of a transaction that was rolled
-- back are not used again. Below 4096 / 2^bits IDs a millisecond, an ID's time is at most 1 ms ahead of the clock.
--
-- The schema of the functions must be in the search_path of those who mint.
--
-- The state of a lane is the sequence imid_lane_NUMBER_of_COUNT. A role that mints needs USAGE and UPDATE on it. Sequences
-- are not transactional, so a call takes an advisory lock, and releases it before it returns: transactions do not wait for each
-- other's commit. uninstall.sql does not drop the sequences.

-- Unix milliseconds of the server's clock.
CREATE OR REPLACE FUNCTION imid_clock_ms() RETURNS bigint
LANGUAGE sql VOLATILE PARALLEL SAFE
  RETURN floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint;

-- Returns the name of the sequence of a lane. A lane that does not exist is an error.
CREATE OR REPLACE FUNCTION imid_lane_name(lane integer, bits integer) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  IF bits NOT BETWEEN 0 AND 12 THEN
    RAISE EXCEPTION 'expected 0 to 12 bits of the lane, found %', bits USING ERRCODE = 'invalid_parameter_value';
  ELSIF lane NOT BETWEEN 0 AND (1 << bits) - 1 THEN
    RAISE EXCEPTION 'expected a lane of 0 to %, found %', (1 << bits) - 1, lane USING ERRCODE = 'invalid_parameter_value';
  END IF;
  RETURN format('imid_lane_%s_of_%s', lane, 1 << bits);
END $$;

-- Makes the sequence of a lane, if there is none. The first ID has the time of the clock. If the lane was used before, call
-- imid_raise_lane with its last ID. A lane that overlaps another one of this schema is an error.
CREATE OR REPLACE FUNCTION imid_open_lane(lane integer, bits integer) RETURNS text
LANGUAGE plpgsql STRICT AS $$
DECLARE
  name text := imid_lane_name(lane, bits);
  other text;
BEGIN
  -- Two transactions must not open lanes that overlap. 1768778084 is "imid".
  PERFORM pg_advisory_xact_lock(1768778084, 0);
  -- Each lane is a range of the 4096 spins.
  SELECT relname INTO other FROM (
    SELECT relname, part[1]::integer AS number, 4096 / part[2]::integer AS width
    FROM pg_class, regexp_match(relname, '^imid_lane_(\d{1,4})_of_([1-9]\d{0,3})$') AS part
    WHERE relkind = 'S' AND relnamespace = current_schema()::regnamespace AND part IS NOT NULL) AS lanes
    WHERE relname <> name AND number * width < (lane + 1) << (12 - bits) AND (number + 1) * width > lane << (12 - bits);
  IF other IS NOT NULL THEN
    RAISE EXCEPTION '% overlaps %', name, other USING ERRCODE = 'duplicate_object';
  END IF;
  -- The counter is what the lane leaves of the spin. A value of the sequence is the time and the counter.
  EXECUTE format('CREATE SEQUENCE IF NOT EXISTS %I AS bigint MINVALUE 0 MAXVALUE %s CACHE 1 NO CYCLE', name,
    (4398046511104 << (12 - bits)) - 1);
  RETURN name;
END $$;

-- A helper: moves the sequence of a lane to its next value, of this millisecond or later, and returns the value.
CREATE OR REPLACE FUNCTION imid_next_stamp(lane integer, bits integer, ms bigint) RETURNS bigint
LANGUAGE plpgsql STRICT AS $$
DECLARE
  state regclass := to_regclass(imid_lane_name(lane, bits));
  stamp bigint;
BEGIN
  IF state IS NULL THEN
    RAISE EXCEPTION 'lane % of % is not open', lane, 1 << bits
      USING ERRCODE = 'object_not_in_prerequisite_state', HINT = format('Call imid_open_lane(%s, %s).', lane, bits);
  END IF;
  -- The error at the end of this block rolls its subtransaction back, which releases the lock. The sequence keeps its new value.
  -- A cancelled statement releases the lock too, which a lock of the session would not do.
  BEGIN
    PERFORM pg_advisory_xact_lock(1768778084, (state::oid::bigint & 2147483647)::integer);
    stamp := nextval(state);
    -- In a new millisecond the counter continues from its last value, so that all values are used equally often.
    IF stamp >> (12 - bits) < ms THEN
      stamp := (ms << (12 - bits)) | (stamp & ((1 << (12 - bits)) - 1));
      PERFORM setval(state, stamp);
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'IMID0', MESSAGE = 'the lock is released';
  EXCEPTION WHEN SQLSTATE 'IMID0' THEN
    RETURN stamp;
  END;
END $$;

-- Mints an ID. The lane must be open, and nobody else may mint in it: see above.
CREATE OR REPLACE FUNCTION imid_generate(lane integer, bits integer, session integer) RETURNS bytea
LANGUAGE plpgsql STRICT AS $$
DECLARE
  clock bigint := imid_clock_ms();
  stamp bigint;
  ms bigint;
BEGIN
  IF session NOT BETWEEN 0 AND 67108863 THEN
    RAISE EXCEPTION 'expected a session of 0 to 67108863, found %', session USING ERRCODE = 'invalid_parameter_value';
  END IF;
  stamp := imid_next_stamp(lane, bits, clock);
  ms := stamp >> (12 - bits);
  IF ms - clock > 3600000 THEN
    RAISE EXCEPTION 'clock is % s behind lane % of % (limit 3600 s)', (ms - clock) / 1000, lane, 1 << bits
      USING ERRCODE = 'object_not_in_prerequisite_state';
  END IF;
  RETURN imid_join(ms >> 2, ((ms & 3) << 38) | (lane::bigint << (38 - bits))
    | ((stamp & ((1 << (12 - bits)) - 1)) << 26) | session);
END $$;

-- Moves a lane past an ID, for a database that takes the lane over. The next ID is at least a millisecond later.
CREATE OR REPLACE FUNCTION imid_raise_lane(lane integer, bits integer, id bytea) RETURNS void
LANGUAGE plpgsql STRICT AS $$
BEGIN
  IF NOT imid_is_bytes(id) THEN
    RAISE EXCEPTION 'expected an ID of 10 bytes, found %', octet_length(id) USING ERRCODE = 'invalid_parameter_value';
  ELSIF imid_ms(id) - imid_clock_ms() > 3600000 THEN
    RAISE EXCEPTION 'clock is % s behind the ID (limit 3600 s)', (imid_ms(id) - imid_clock_ms()) / 1000
      USING ERRCODE = 'object_not_in_prerequisite_state';
  END IF;
  PERFORM imid_next_stamp(lane, bits, imid_ms(id) + 1);
END $$;
