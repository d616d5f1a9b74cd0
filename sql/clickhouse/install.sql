-- imid for ClickHouse 23.8 or later: message IDs in SQL, as functions of expressions. Tested with 26.9.
--
-- An ID is a FixedString(10), or a String of 10 bytes. spec/FORMAT.md defines the bits:
--   timestamp (Unix ms) 42 | spin 12 | session type 4 | session hash 22
--
-- As usual in ClickHouse, NULL gives NULL and a text that is not an ID is an error. Functions of bytes do not check the length:
-- a column is a FixedString(10), or has CONSTRAINT is_id CHECK imid_is_bytes(id).
--
-- Compare the column itself with the functions, and ClickHouse reads only the granules of the answer. The functions are computed
-- before the scan, because they have no throwIf, which ClickHouse evaluates for each row:
--   WHERE id BETWEEN imid_first(1763665860000) AND imid_last(1763665919999)
--   WHERE id < imid_bytes('EUNC-Q8QJ-22GH-T3DD')
-- A condition on a function of the column, such as imid_ms(id) < 1763665860000, reads all granules.
--
-- Do not convert an ID with CAST(id AS String), reinterpretAsString or toFixedString of a shorter value: they drop or add zero
-- bytes, and the result is another ID or none. ClickHouse sorts a UUID by its second half, so a UUID view does not have the
-- order of IDs there.

-- A helper: 0 if it is valid, otherwise an error with the message. Unlike throwIf, toUInt8 of a constant is a constant.
CREATE OR REPLACE FUNCTION imid_zero_or_error AS (is_valid, message) -> toUInt8(if(is_valid, '0', message));

-- The 80 bits as a number, and back.
CREATE OR REPLACE FUNCTION imid_integer AS (id) -> reinterpretAsUInt128(reverse(id));
CREATE OR REPLACE FUNCTION imid_from_integer AS (number) ->
  toFixedString(substring(reverse(reinterpretAsFixedString(toUInt128(number))), 7, 10), 10);

-- Validity. Each returns NULL for NULL.
CREATE OR REPLACE FUNCTION imid_is_bytes AS (id) -> length(id) = 10;
CREATE OR REPLACE FUNCTION imid_is_text AS (letters) -> match(letters, '^[2-9A-HJ-NP-Z]{4}(-[2-9A-HJ-NP-Z]{4}){3}$');
-- Whether a UUID is the view of an ID: version 7, variant 0b10, a timestamp of 42 bits, 36 ones at the end.
CREATE OR REPLACE FUNCTION imid_is_uuid AS (view) -> match(toString(view),
  '^0[0-3][0-9a-f]{6}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{3}f{9}$');

-- The fields of an ID.
CREATE OR REPLACE FUNCTION imid_ms AS (id) -> toInt64(bitShiftRight(imid_integer(id), 38));
CREATE OR REPLACE FUNCTION imid_timestamp AS (id) -> fromUnixTimestamp64Milli(imid_ms(id), 'UTC');
CREATE OR REPLACE FUNCTION imid_spin AS (id) -> toUInt16(bitAnd(bitShiftRight(imid_integer(id), 26), 4095));
CREATE OR REPLACE FUNCTION imid_type AS (id) -> toUInt8(bitAnd(bitShiftRight(imid_integer(id), 22), 15));
CREATE OR REPLACE FUNCTION imid_hash AS (id) -> toUInt32(bitAnd(imid_integer(id), 4194303));
CREATE OR REPLACE FUNCTION imid_session_tag AS (id) -> toUInt32(bitAnd(imid_integer(id), 67108863));
-- Whether the ID has this session tag. If not, it is not of the session. If so, it can be of another one with the same tag.
CREATE OR REPLACE FUNCTION imid_is_in AS (id, session_tag) -> imid_session_tag(id) = session_tag;
-- The start of the hour in UTC, for GROUP BY.
CREATE OR REPLACE FUNCTION imid_hour AS (id) -> fromUnixTimestamp64Milli(toInt64(intDiv(imid_ms(id), 3600000) * 3600000), 'UTC');
-- The name of the session type, or NULL for the codes without one (0 and 13 to 15).
CREATE OR REPLACE FUNCTION imid_type_name AS (id) -> nullIf(['', 'PRIVATE', 'DISCUSSION', 'GROUP', 'CHATROOM',
  'CUSTOMER_SERVICE', 'SYSTEM', 'APP_PUBLIC_SERVICE', 'PUBLIC_SERVICE', 'PUSH_SERVICE', 'ULTRA_GROUP', 'ENCRYPTED',
  'RTC'][imid_type(id) + 1], '');
-- The bucket of a number of days. Bucket 0 begins on 1970-01-01 UTC.
CREATE OR REPLACE FUNCTION imid_bucket AS (id, days) -> toInt32(intDiv(imid_ms(id), toInt64(days) * 86400000));

-- Sessions by their names: XXH3-64 is a function of ClickHouse. The number of shards is at most 2147483647 and is a constant.
CREATE OR REPLACE FUNCTION imid_hash_of AS (name) -> toUInt32(bitAnd(xxh3(name), 4194303));
CREATE OR REPLACE FUNCTION imid_session_tag_of AS (type, name) -> toUInt32(type * 4194304 + imid_hash_of(name));
CREATE OR REPLACE FUNCTION imid_shard AS (session_tag, shards) -> jumpConsistentHash(session_tag, shards);

-- The forms of an ID. The first function is a helper: the 8 digits of 40 bits.
CREATE OR REPLACE FUNCTION imid_digits AS (bits) -> concat(
  substring('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', bitAnd(bitShiftRight(bits, 35), 31) + 1, 1),
  substring('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', bitAnd(bitShiftRight(bits, 30), 31) + 1, 1),
  substring('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', bitAnd(bitShiftRight(bits, 25), 31) + 1, 1),
  substring('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', bitAnd(bitShiftRight(bits, 20), 31) + 1, 1),
  '-',
  substring('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', bitAnd(bitShiftRight(bits, 15), 31) + 1, 1),
  substring('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', bitAnd(bitShiftRight(bits, 10), 31) + 1, 1),
  substring('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', bitAnd(bitShiftRight(bits, 5), 31) + 1, 1),
  substring('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', bitAnd(bits, 31) + 1, 1));
CREATE OR REPLACE FUNCTION imid_text AS (id) -> concat(imid_digits(toUInt64(bitShiftRight(imid_integer(id), 40))), '-',
  imid_digits(toUInt64(bitAnd(imid_integer(id), 1099511627775))));

-- A helper: the value of the digit at a place, from 1.
CREATE OR REPLACE FUNCTION imid_digit_value AS (letters, place) ->
  toUInt64(position('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', substring(letters, place, 1)) - 1);
-- A helper: the 40 bits of two groups of a text.
CREATE OR REPLACE FUNCTION imid_bits AS (letters, place) ->
  bitShiftLeft(imid_digit_value(letters, place), 35) + bitShiftLeft(imid_digit_value(letters, place + 1), 30)
  + bitShiftLeft(imid_digit_value(letters, place + 2), 25) + bitShiftLeft(imid_digit_value(letters, place + 3), 20)
  + bitShiftLeft(imid_digit_value(letters, place + 5), 15) + bitShiftLeft(imid_digit_value(letters, place + 6), 10)
  + bitShiftLeft(imid_digit_value(letters, place + 7), 5) + imid_digit_value(letters, place + 8);
-- Reads a text strictly: 19 characters, upper case, three dashes.
CREATE OR REPLACE FUNCTION imid_bytes AS (letters) -> imid_from_integer(
  bitShiftLeft(toUInt128(imid_bits(letters, 1)), 40) + imid_bits(letters, 11)
  + imid_zero_or_error(imid_is_text(letters), concat('expected a message ID such as EUNC-Q8QJ-22GH-T3DD, found "', letters, '"')));
-- Reads RongCloud's text, which has other digits (0 to 9 and A to V) for the same 80 bits. IDs from before spring 2018
-- have another layout: their first digit is 9 or less, and these functions return wrong fields for them.
CREATE OR REPLACE FUNCTION imid_from_rongcloud AS (letters) ->
  imid_bytes(translate(if(imid_zero_or_error(match(letters, '^[0-9A-V]{4}(-[0-9A-V]{4}){3}$'),
  concat('expected a message ID of RongCloud such as BS4A-5FKA-QC0J-8P24, found "', letters, '"')) = 0, letters, ''),
  '0123456789ABCDEFGHIJKLMNOPQRSTUV', '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'));

-- The UUID view: a UUID of version 7 in which the timestamp and the spin are in the usual places. UUIDv7ToDateTime reads it.
CREATE OR REPLACE FUNCTION imid_uuid AS (id) -> toUUID(UUIDNumToString(reverse(reinterpretAsFixedString(
  bitShiftLeft(toUInt128(imid_ms(id)), 80) + bitShiftLeft(toUInt128(7), 76) + bitShiftLeft(toUInt128(imid_spin(id)), 64)
  + bitShiftLeft(toUInt128(2), 62) + bitShiftLeft(toUInt128(imid_session_tag(id)), 36) + 68719476735))));
-- Reads a UUID view. Any other UUID is an error.
CREATE OR REPLACE FUNCTION imid_from_uuid AS (view) -> imid_from_integer(
  bitShiftLeft(bitShiftRight(imid_integer(UUIDStringToNum(toString(view))), 80), 38)
  + bitShiftLeft(bitAnd(bitShiftRight(imid_integer(UUIDStringToNum(toString(view))), 64), 4095), 26)
  + bitAnd(bitShiftRight(imid_integer(UUIDStringToNum(toString(view))), 36), 67108863)
  + imid_zero_or_error(imid_is_uuid(view), concat('expected the UUID view of a message ID, found "', toString(view), '"')));

-- The first and the last ID of a time, for a scan that uses the index: WHERE id BETWEEN imid_first(ms) AND imid_last(ms).
CREATE OR REPLACE FUNCTION imid_first AS (ms) -> imid_from_integer(bitShiftLeft(toUInt128(ms), 38)
  + imid_zero_or_error(ms BETWEEN 0 AND 4398046511103, concat('expected a time of 0 to 4398046511103 ms, found ', toString(ms))));
CREATE OR REPLACE FUNCTION imid_last AS (ms) -> imid_from_integer(bitShiftLeft(toUInt128(ms), 38) + 274877906943
  + imid_zero_or_error(ms BETWEEN 0 AND 4398046511103, concat('expected a time of 0 to 4398046511103 ms, found ', toString(ms))));
-- The millisecond that contains a DateTime64.
CREATE OR REPLACE FUNCTION imid_first_at AS (moment) -> imid_first(toUnixTimestamp64Milli(toDateTime64(moment, 3, 'UTC')));
CREATE OR REPLACE FUNCTION imid_last_at AS (moment) -> imid_last(toUnixTimestamp64Milli(toDateTime64(moment, 3, 'UTC')));
-- The first and the last ID of a bucket. The last bucket ends with the last ID.
CREATE OR REPLACE FUNCTION imid_bucket_first AS (bucket, days) -> imid_first(toInt64(bucket) * toInt64(days) * 86400000);
CREATE OR REPLACE FUNCTION imid_bucket_last AS (bucket, days) -> imid_last(
  least((toInt64(bucket) + 1) * toInt64(days) * 86400000 - 1, 4398046511103)
  + imid_zero_or_error(toInt64(bucket) * toInt64(days) * 86400000 BETWEEN 0 AND 4398046511103,
  concat('expected a time of 0 to 4398046511103 ms, found ', toString(toInt64(bucket) * toInt64(days) * 86400000))));
