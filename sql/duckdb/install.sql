-- imid for DuckDB 1.2 or later: message IDs in SQL, as macros.
--
-- An ID is a BLOB of 10 bytes. spec/FORMAT.md defines the bits:
--   timestamp (Unix ms) 42 | spin 12 | session type 4 | session hash 22
--
-- As usual in DuckDB, NULL gives NULL and a text that is not an ID is an error. To get NULL instead:
--   CASE WHEN imid_is_text(letters) THEN imid_bytes(letters) END
-- Macros of bytes do not check the length: a column has CHECK (imid_is_bytes(id)).
--
-- DuckDB copies a macro into the statement. A statement with imid_bytes('...') for each row of VALUES takes about 40 times as long as one with
-- unhex('...'): insert with parameters of 10 bytes, or with INSERT ... SELECT imid_bytes(id) FROM a table or a file.
--
-- A scan by time is a scan of the table. It skips row groups by their least and greatest ID (zone map), if the rows were inserted in
-- the order of time. An index does not help it.
--
-- DuckDB evaluates <<, >>, & and | from left to right with equal precedence, so each of them is in parentheses.

-- The 80 bits as a number, and back.
CREATE OR REPLACE MACRO imid_integer(id) AS id::BIT::UHUGEINT;
CREATE OR REPLACE MACRO imid_from_integer(number) AS unhex(lpad(to_hex(number::UHUGEINT), 20, '0'));

-- Validity. Each returns NULL for NULL.
CREATE OR REPLACE MACRO imid_is_bytes(id) AS octet_length(id) = 10;
CREATE OR REPLACE MACRO imid_is_text(letters) AS regexp_full_match(letters, '[2-9A-HJ-NP-Z]{4}(-[2-9A-HJ-NP-Z]{4}){3}');
-- Whether a UUID is the view of an ID: version 7, variant 0b10, a timestamp of 42 bits, 36 ones at the end.
CREATE OR REPLACE MACRO imid_is_uuid(view) AS regexp_full_match(view::VARCHAR,
  '0[0-3][0-9a-f]{6}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{3}f{9}');

-- The fields of an ID.
CREATE OR REPLACE MACRO imid_ms(id) AS (imid_integer(id) >> 38)::BIGINT;
CREATE OR REPLACE MACRO imid_timestamp(id) AS make_timestamp_ms(imid_ms(id)); -- TIMESTAMP in UTC
CREATE OR REPLACE MACRO imid_spin(id) AS ((imid_integer(id) >> 26) & 4095)::INTEGER;
CREATE OR REPLACE MACRO imid_type(id) AS ((imid_integer(id) >> 22) & 15)::INTEGER;
CREATE OR REPLACE MACRO imid_hash(id) AS (imid_integer(id) & 4194303)::INTEGER;
CREATE OR REPLACE MACRO imid_session_tag(id) AS (imid_integer(id) & 67108863)::INTEGER;
-- Whether the ID has this session tag. If not, it is not of the session. If so, it can be of another one with the same tag.
CREATE OR REPLACE MACRO imid_is_in(id, session_tag) AS imid_session_tag(id) = session_tag;
-- The start of the hour, for GROUP BY.
CREATE OR REPLACE MACRO imid_hour(id) AS make_timestamp_ms(imid_ms(id) // 3600000 * 3600000); -- TIMESTAMP in UTC
-- The name of the session type, or NULL for the codes without one (0 and 13 to 15).
CREATE OR REPLACE MACRO imid_type_name(id) AS nullif(['', 'PRIVATE', 'DISCUSSION', 'GROUP', 'CHATROOM', 'CUSTOMER_SERVICE',
  'SYSTEM', 'APP_PUBLIC_SERVICE', 'PUBLIC_SERVICE', 'PUSH_SERVICE', 'ULTRA_GROUP', 'ENCRYPTED', 'RTC'][imid_type(id) + 1], '');
-- The bucket of a number of days. Bucket 0 begins on 1970-01-01 UTC.
CREATE OR REPLACE MACRO imid_bucket(id, days) AS (imid_ms(id) // (days * 86400000::BIGINT))::INTEGER;

-- The forms of an ID. The first macro is a helper: the 8 digits of 40 bits.
CREATE OR REPLACE MACRO imid_digits(bits) AS
  '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'[((bits >> 35) & 31) + 1] || '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'[((bits >> 30) & 31) + 1]
  || '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'[((bits >> 25) & 31) + 1] || '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'[((bits >> 20) & 31) + 1]
  || '-'
  || '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'[((bits >> 15) & 31) + 1] || '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'[((bits >> 10) & 31) + 1]
  || '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'[((bits >> 5) & 31) + 1] || '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'[(bits & 31) + 1];
CREATE OR REPLACE MACRO imid_text(id) AS imid_digits((imid_integer(id) >> 40)::BIGINT) || '-'
  || imid_digits((imid_integer(id) & 1099511627775)::BIGINT);

-- A helper: the value of the digit at a place, from 1.
CREATE OR REPLACE MACRO imid_digit_value(letters, place) AS
  (strpos('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', letters[place]) - 1)::UHUGEINT;
-- Reads a text strictly: 19 characters, upper case, three dashes.
CREATE OR REPLACE MACRO imid_bytes(letters) AS CASE WHEN imid_is_text(letters) THEN imid_from_integer(
    (imid_digit_value(letters, 1) << 75) | (imid_digit_value(letters, 2) << 70)
    | (imid_digit_value(letters, 3) << 65) | (imid_digit_value(letters, 4) << 60)
    | (imid_digit_value(letters, 6) << 55) | (imid_digit_value(letters, 7) << 50)
    | (imid_digit_value(letters, 8) << 45) | (imid_digit_value(letters, 9) << 40)
    | (imid_digit_value(letters, 11) << 35) | (imid_digit_value(letters, 12) << 30)
    | (imid_digit_value(letters, 13) << 25) | (imid_digit_value(letters, 14) << 20)
    | (imid_digit_value(letters, 16) << 15) | (imid_digit_value(letters, 17) << 10)
    | (imid_digit_value(letters, 18) << 5) | imid_digit_value(letters, 19))
  WHEN letters IS NOT NULL
  THEN error('expected a message ID such as EUNC-Q8QJ-22GH-T3DD, found "' || letters || '"') END;
-- Reads RongCloud's text, which has other digits (0 to 9 and A to V) for the same 80 bits. IDs from before spring 2018
-- have another layout: their first digit is 9 or less, and these functions return wrong fields for them.
CREATE OR REPLACE MACRO imid_from_rongcloud(letters) AS
  CASE WHEN regexp_full_match(letters, '[0-9A-V]{4}(-[0-9A-V]{4}){3}')
  THEN imid_bytes(translate(letters, '0123456789ABCDEFGHIJKLMNOPQRSTUV', '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'))
  WHEN letters IS NOT NULL
  THEN error('expected a message ID of RongCloud such as BS4A-5FKA-QC0J-8P24, found "' || letters || '"') END;

-- The UUID view: a UUID of version 7 in which the timestamp and the spin are in the usual places.
CREATE OR REPLACE MACRO imid_uuid(id) AS (((imid_integer(id) >> 38) << 80) | (7::UHUGEINT << 76)
  | (((imid_integer(id) >> 26) & 4095) << 64) | (2::UHUGEINT << 62) | ((imid_integer(id) & 67108863) << 36) | 68719476735)::UUID;
-- Reads a UUID view. Any other UUID is an error.
CREATE OR REPLACE MACRO imid_from_uuid(view) AS CASE WHEN imid_is_uuid(view) THEN imid_from_integer(
    ((view::UUID::UHUGEINT >> 80) << 38) | (((view::UUID::UHUGEINT >> 64) & 4095) << 26)
    | ((view::UUID::UHUGEINT >> 36) & 67108863))
  WHEN view IS NOT NULL THEN error('expected the UUID view of a message ID, found "' || view::VARCHAR || '"') END;

-- The first and the last ID of a time: WHERE id BETWEEN imid_first(ms) AND imid_last(ms).
CREATE OR REPLACE MACRO imid_first(ms) AS CASE WHEN ms BETWEEN 0 AND 4398046511103
  THEN imid_from_integer(ms::UHUGEINT << 38)
  WHEN ms IS NOT NULL THEN error('expected a time of 0 to 4398046511103 ms, found "' || ms::VARCHAR || '"') END;
CREATE OR REPLACE MACRO imid_last(ms) AS CASE WHEN ms BETWEEN 0 AND 4398046511103
  THEN imid_from_integer((ms::UHUGEINT << 38) | 274877906943)
  WHEN ms IS NOT NULL THEN error('expected a time of 0 to 4398046511103 ms, found "' || ms::VARCHAR || '"') END;
-- The millisecond that contains a TIMESTAMPTZ such as now(), or a TIMESTAMP in UTC. A text is an error: its zone is not known.
CREATE OR REPLACE MACRO imid_first_at(moment) AS imid_first(epoch_us(moment) // 1000);
CREATE OR REPLACE MACRO imid_last_at(moment) AS imid_last(epoch_us(moment) // 1000);
-- The first and the last ID of a bucket. The last bucket ends with the last ID.
CREATE OR REPLACE MACRO imid_bucket_first(bucket, days) AS imid_first(bucket * (days * 86400000::BIGINT));
CREATE OR REPLACE MACRO imid_bucket_last(bucket, days) AS CASE WHEN imid_bucket_first(bucket, days) IS NOT NULL
  THEN imid_last(least((bucket + 1) * (days * 86400000::BIGINT) - 1, 4398046511103)) END;
