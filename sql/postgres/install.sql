-- imid for PostgreSQL 14 or later: message IDs in SQL. Plain functions, no extension and no superuser.
--
-- Run this file in the schema that should have the functions; uninstall.sql removes them. It can be run again.
--
-- An ID is a bytea of 10 bytes. spec/FORMAT.md defines the bits:
--   timestamp (Unix ms) 42 | spin 12 | session type 4 | session hash 22
--
-- As usual in PostgreSQL, NULL gives NULL and a text that is not an ID is an error (22P02). Functions of bytes do not check
-- the length, so that they are fast: a column has CHECK (imid_is_bytes(id)).
--
-- Each function of an ID is one expression, which PostgreSQL inlines. The bodies are expressions (RETURN) and not strings, so
-- that they do not depend on search_path: PostgreSQL 17 and later empty it for CREATE INDEX and ANALYZE, and pg_restore empties
-- it too. PostgreSQL evaluates <<, >>, & and | from left to right with equal precedence, so each of them is in parentheses.

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

-- Whether a UUID is the view of an ID: version 7, variant 0b10, a timestamp of 42 bits, 36 ones at the end.
CREATE OR REPLACE FUNCTION imid_is_uuid(view uuid) RETURNS boolean
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN view::text COLLATE "C" ~ '^0[0-3][0-9a-f]{6}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{3}f{9}$';

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

-- The session tag, 26 bits: type * 4194304 + hash. Two rooms can have the same tag.
CREATE OR REPLACE FUNCTION imid_session_tag(id bytea) RETURNS integer
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN ((get_byte(id, 6) & 3) << 24) | (get_byte(id, 7) << 16) | (get_byte(id, 8) << 8) | get_byte(id, 9);

-- Whether the ID has this session tag. If not, it is not of the session. If so, it can be of another one with the same tag.
CREATE OR REPLACE FUNCTION imid_is_in(id bytea, session_tag integer) RETURNS boolean
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN imid_session_tag(id) = session_tag;

-- The start of the hour, for GROUP BY.
CREATE OR REPLACE FUNCTION imid_hour(id bytea) RETURNS timestamptz
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN to_timestamp((imid_ms(id) / 3600000 * 3600)::double precision);

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
    || int8send((imid_session_tag(id)::bigint << 36) | (-9223371968135299073)), 'hex')::uuid;

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

-- The millisecond that contains the time. Differences of times are IMMUTABLE and extract(... FROM timestamptz) is not, so a plan
-- has the bounds as constants.
CREATE OR REPLACE FUNCTION imid_first_at(moment timestamptz) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN imid_first(floor(extract(epoch FROM moment - timestamptz '1970-01-01 00:00:00+00') * 1000)::bigint);

CREATE OR REPLACE FUNCTION imid_last_at(moment timestamptz) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN imid_last(floor(extract(epoch FROM moment - timestamptz '1970-01-01 00:00:00+00') * 1000)::bigint);

-- The first and the last ID of a bucket. The last bucket ends with the last ID.
CREATE OR REPLACE FUNCTION imid_bucket_first(bucket integer, days integer) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN imid_first(bucket * (days * 86400000::bigint));

CREATE OR REPLACE FUNCTION imid_bucket_last(bucket integer, days integer) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN imid_bucket_first(bucket, days) IS NOT NULL
  THEN imid_last(least((bucket + 1) * (days * 86400000::bigint) - 1, 4398046511103)) END;
