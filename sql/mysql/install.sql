-- imid for MariaDB and MySQL 8: message IDs in SQL, as stored functions. Tested with MariaDB 10.11; not tested with MySQL.
--
-- Run this file with the client `mariadb` or `mysql`, which know DELIMITER. uninstall.sql removes the functions; run it first
-- to install a new version.
--
-- An ID is a BINARY(10). spec/FORMAT.md defines the bits:
--   timestamp (Unix ms) 42 | spin 12 | session type 4 | session hash 22
--
-- NULL gives NULL and a text that is not an ID is an error (SQLSTATE 22007). Functions of bytes do not check the length: a column is
--   id VARBINARY(10) PRIMARY KEY CHECK (LENGTH(id) = 10)
-- It refuses a shorter value. BINARY(10) pads it with zero bytes, and the result is another ID.
--
-- A column of texts is CHAR(19) CHARACTER SET ascii COLLATE ascii_bin.

-- A stored function keeps the sql_mode and the character set of the connection that made it, so this file sets its own.
SET @imid_sql_mode = @@sql_mode, @imid_client = @@character_set_client, @imid_results = @@character_set_results,
  @imid_collation = @@collation_connection;
SET sql_mode = 'STRICT_TRANS_TABLES';
SET NAMES utf8mb4;
DELIMITER //

-- Validity. Each returns NULL for NULL.
CREATE FUNCTION imid_is_bytes(id VARBINARY(255)) RETURNS BOOLEAN DETERMINISTIC NO SQL
RETURN LENGTH(id) = 10 //

-- `\z` is the end. `$` would also match before a line feed.
CREATE FUNCTION imid_is_text(letters TEXT CHARACTER SET utf8mb4) RETURNS BOOLEAN DETERMINISTIC NO SQL
RETURN letters COLLATE utf8mb4_bin REGEXP '\\A[2-9A-HJ-NP-Z]{4}(-[2-9A-HJ-NP-Z]{4}){3}\\z' //

-- Whether a UUID is the view of an ID: version 7, variant 0b10, a timestamp of 42 bits, 36 ones at the end.
CREATE FUNCTION imid_is_uuid(view TEXT CHARACTER SET utf8mb4) RETURNS BOOLEAN DETERMINISTIC NO SQL
RETURN LOWER(view) COLLATE utf8mb4_bin REGEXP
  '\\A0[0-3][0-9a-f]{6}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{3}f{9}\\z' //

-- Helpers: the upper and the lower 40 bits of an ID, and the ID with them.
CREATE FUNCTION imid_upper_40(id BINARY(10)) RETURNS BIGINT UNSIGNED DETERMINISTIC NO SQL
RETURN CONV(HEX(LEFT(id, 5)), 16, 10) //

CREATE FUNCTION imid_lower_40(id BINARY(10)) RETURNS BIGINT UNSIGNED DETERMINISTIC NO SQL
RETURN CONV(HEX(RIGHT(id, 5)), 16, 10) //

CREATE FUNCTION imid_join(upper_40 BIGINT UNSIGNED, lower_40 BIGINT UNSIGNED) RETURNS BINARY(10) DETERMINISTIC NO SQL
RETURN UNHEX(CONCAT(LPAD(HEX(upper_40), 10, '0'), LPAD(HEX(lower_40), 10, '0'))) //

-- The fields of an ID.
CREATE FUNCTION imid_ms(id BINARY(10)) RETURNS BIGINT DETERMINISTIC NO SQL
RETURN CONV(HEX(LEFT(id, 6)), 16, 10) >> 6 //

-- DATETIME(3) in UTC.
CREATE FUNCTION imid_timestamp(id BINARY(10)) RETURNS DATETIME(3) DETERMINISTIC NO SQL
RETURN TIMESTAMP '1970-01-01 00:00:00' + INTERVAL imid_ms(id) * 1000 MICROSECOND //

CREATE FUNCTION imid_spin(id BINARY(10)) RETURNS INT DETERMINISTIC NO SQL
RETURN (CONV(HEX(SUBSTR(id, 6, 2)), 16, 10) >> 2) & 4095 //

CREATE FUNCTION imid_type(id BINARY(10)) RETURNS INT DETERMINISTIC NO SQL
RETURN (CONV(HEX(SUBSTR(id, 7, 2)), 16, 10) >> 6) & 15 //

-- The name of the session type, or NULL for the codes without one (0 and 13 to 15).
CREATE FUNCTION imid_type_name(id BINARY(10)) RETURNS VARCHAR(20) CHARACTER SET ascii DETERMINISTIC NO SQL
RETURN ELT(imid_type(id), 'PRIVATE', 'DISCUSSION', 'GROUP', 'CHATROOM', 'CUSTOMER_SERVICE', 'SYSTEM', 'APP_PUBLIC_SERVICE',
  'PUBLIC_SERVICE', 'PUSH_SERVICE', 'ULTRA_GROUP', 'ENCRYPTED', 'RTC') //

CREATE FUNCTION imid_hash(id BINARY(10)) RETURNS INT DETERMINISTIC NO SQL
RETURN CONV(HEX(RIGHT(id, 3)), 16, 10) & 4194303 //

CREATE FUNCTION imid_session_tag(id BINARY(10)) RETURNS INT DETERMINISTIC NO SQL
RETURN CONV(HEX(RIGHT(id, 4)), 16, 10) & 67108863 //

-- Whether the ID has this session tag. If not, it is not of the session. If so, it can be of another one with the same tag.
CREATE FUNCTION imid_is_in(id BINARY(10), session_tag INT) RETURNS BOOLEAN DETERMINISTIC NO SQL
RETURN imid_session_tag(id) = session_tag //

-- The start of the hour, DATETIME in UTC, for GROUP BY.
CREATE FUNCTION imid_hour(id BINARY(10)) RETURNS DATETIME DETERMINISTIC NO SQL
RETURN TIMESTAMP '1970-01-01 00:00:00' + INTERVAL imid_ms(id) DIV 3600000 HOUR //

-- The bucket of a number of days. Bucket 0 begins on 1970-01-01 UTC.
CREATE FUNCTION imid_bucket(id BINARY(10), days INT) RETURNS INT DETERMINISTIC NO SQL
RETURN imid_ms(id) DIV (days * 86400000) //

-- A helper: the 9 characters of 40 bits.
CREATE FUNCTION imid_digits(bits BIGINT UNSIGNED) RETURNS CHAR(9) CHARACTER SET ascii DETERMINISTIC NO SQL
BEGIN
  DECLARE digits CHAR(32) CHARACTER SET ascii DEFAULT '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';
  RETURN CONCAT(
    SUBSTR(digits, ((bits >> 35) & 31) + 1, 1), SUBSTR(digits, ((bits >> 30) & 31) + 1, 1),
    SUBSTR(digits, ((bits >> 25) & 31) + 1, 1), SUBSTR(digits, ((bits >> 20) & 31) + 1, 1), '-',
    SUBSTR(digits, ((bits >> 15) & 31) + 1, 1), SUBSTR(digits, ((bits >> 10) & 31) + 1, 1),
    SUBSTR(digits, ((bits >> 5) & 31) + 1, 1), SUBSTR(digits, (bits & 31) + 1, 1));
END //

-- The text of 19 characters.
CREATE FUNCTION imid_text(id BINARY(10)) RETURNS CHAR(19) CHARACTER SET ascii COLLATE ascii_bin DETERMINISTIC NO SQL
RETURN CONCAT(imid_digits(imid_upper_40(id)), '-', imid_digits(imid_lower_40(id))) //

-- A helper: the 40 bits of 8 digits.
CREATE FUNCTION imid_bits(letters CHAR(9) CHARACTER SET ascii COLLATE ascii_bin) RETURNS BIGINT UNSIGNED DETERMINISTIC NO SQL
BEGIN
  DECLARE bits BIGINT UNSIGNED DEFAULT 0;
  DECLARE place INT DEFAULT 1;
  WHILE place <= 9 DO
    IF place <> 5 THEN
      SET bits = (bits << 5) | (LOCATE(SUBSTR(letters, place, 1), '23456789ABCDEFGHJKLMNPQRSTUVWXYZ') - 1);
    END IF;
    SET place = place + 1;
  END WHILE;
  RETURN bits;
END //

-- A helper: raises an error. The message of an error has at most 128 characters.
CREATE PROCEDURE imid_refuse(expected VARCHAR(80) CHARACTER SET utf8mb4, given TEXT CHARACTER SET utf8mb4)
BEGIN
  DECLARE message VARCHAR(128) CHARACTER SET utf8mb4 DEFAULT CONCAT('expected ', expected, ', found "', LEFT(given, 36), '"');
  SIGNAL SQLSTATE '22007' SET MESSAGE_TEXT = message;
END //

-- Reads a text strictly: 19 characters, upper case, three dashes.
CREATE FUNCTION imid_bytes(letters TEXT CHARACTER SET utf8mb4) RETURNS BINARY(10) DETERMINISTIC NO SQL
BEGIN
  IF letters IS NULL THEN RETURN NULL; END IF;
  IF NOT imid_is_text(letters) THEN CALL imid_refuse('a message ID such as EUNC-Q8QJ-22GH-T3DD', letters); END IF;
  RETURN imid_join(imid_bits(LEFT(letters, 9)), imid_bits(RIGHT(letters, 9)));
END //

-- Reads RongCloud's text, which has other digits (0 to 9 and A to V) for the same 80 bits. IDs from before spring 2018
-- have another layout: their first digit is 9 or less, and these functions return wrong fields for them.
CREATE FUNCTION imid_from_rongcloud(letters TEXT CHARACTER SET utf8mb4) RETURNS BINARY(10) DETERMINISTIC NO SQL
BEGIN
  DECLARE place INT DEFAULT 1;
  DECLARE ours VARCHAR(19) CHARACTER SET ascii DEFAULT '';
  IF letters IS NULL THEN RETURN NULL; END IF;
  IF NOT letters COLLATE utf8mb4_bin REGEXP '\\A[0-9A-V]{4}(-[0-9A-V]{4}){3}\\z' THEN
    CALL imid_refuse('a message ID of RongCloud such as BS4A-5FKA-QC0J-8P24', letters);
  END IF;
  WHILE place <= 19 DO
    SET ours = CONCAT(ours, SUBSTR('23456789ABCDEFGHJKLMNPQRSTUVWXYZ-',
      LOCATE(SUBSTR(letters, place, 1), '0123456789ABCDEFGHIJKLMNOPQRSTUV-'), 1));
    SET place = place + 1;
  END WHILE;
  RETURN imid_bytes(ours);
END //

-- The UUID view, as text: a UUID of version 7 in which the timestamp and the spin are in the usual places. MariaDB's type UUID
-- takes the text. In a BINARY(16) use UNHEX(REPLACE(imid_uuid(id), '-', '')).
CREATE FUNCTION imid_uuid(id BINARY(10)) RETURNS CHAR(36) CHARACTER SET ascii DETERMINISTIC NO SQL
BEGIN
  DECLARE ms CHAR(12) CHARACTER SET ascii DEFAULT LOWER(LPAD(HEX(imid_ms(id)), 12, '0'));
  DECLARE low CHAR(16) CHARACTER SET ascii DEFAULT LOWER(HEX((CAST(2 AS UNSIGNED) << 62) | (CAST(imid_session_tag(id) AS UNSIGNED) << 36) | 68719476735));
  RETURN CONCAT(LEFT(ms, 8), '-', RIGHT(ms, 4), '-7', LOWER(LPAD(HEX(imid_spin(id)), 3, '0')), '-', LEFT(low, 4), '-', RIGHT(low, 12));
END //

-- Reads the text of a UUID view. Any other UUID is an error.
CREATE FUNCTION imid_from_uuid(view TEXT CHARACTER SET utf8mb4) RETURNS BINARY(10) DETERMINISTIC NO SQL
BEGIN
  DECLARE ms, spin, session_tag BIGINT UNSIGNED;
  IF view IS NULL THEN RETURN NULL; END IF;
  IF NOT imid_is_uuid(view) THEN CALL imid_refuse('the UUID view of a message ID', view); END IF;
  SET ms = CONV(CONCAT(LEFT(view, 8), SUBSTR(view, 10, 4)), 16, 10), spin = CONV(SUBSTR(view, 16, 3), 16, 10);
  SET session_tag = (CONV(CONCAT(SUBSTR(view, 20, 4), RIGHT(view, 12)), 16, 10) >> 36) & 67108863;
  RETURN imid_join(ms >> 2, ((ms & 3) << 38) | (spin << 26) | session_tag);
END //

-- The first and the last ID of a time, for a scan that uses the index: WHERE id BETWEEN imid_first(ms) AND imid_last(ms).
CREATE FUNCTION imid_first(ms BIGINT) RETURNS BINARY(10) DETERMINISTIC NO SQL
BEGIN
  IF ms NOT BETWEEN 0 AND 4398046511103 THEN CALL imid_refuse('a time of 0 to 4398046511103 ms', ms); END IF;
  RETURN imid_join(ms >> 2, (ms & 3) << 38);
END //

CREATE FUNCTION imid_last(ms BIGINT) RETURNS BINARY(10) DETERMINISTIC NO SQL
BEGIN
  IF ms NOT BETWEEN 0 AND 4398046511103 THEN CALL imid_refuse('a time of 0 to 4398046511103 ms', ms); END IF;
  RETURN imid_join(ms >> 2, ((ms & 3) << 38) | 274877906943);
END //

-- A helper: the milliseconds of a DATETIME in UTC. A DATETIME has no time zone, so NOW() of another zone would be hours away.
CREATE FUNCTION imid_utc_ms(moment DATETIME(6)) RETURNS BIGINT DETERMINISTIC NO SQL
BEGIN
  IF TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(), NOW()) <> 0 THEN
    SIGNAL SQLSTATE '22007' SET MESSAGE_TEXT = 'expected time_zone = "+00:00", found another; or use imid_first(1000 * UNIX_TIMESTAMP(moment))';
  END IF;
  RETURN TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', moment) DIV 1000;
END //

-- The millisecond that contains a DATETIME in UTC. If the time zone of the connection is not UTC, they are an error.
CREATE FUNCTION imid_first_at(moment DATETIME(6)) RETURNS BINARY(10) DETERMINISTIC NO SQL
RETURN imid_first(imid_utc_ms(moment)) //

CREATE FUNCTION imid_last_at(moment DATETIME(6)) RETURNS BINARY(10) DETERMINISTIC NO SQL
RETURN imid_last(imid_utc_ms(moment)) //

-- The first and the last ID of a bucket. The last bucket ends with the last ID.
CREATE FUNCTION imid_bucket_first(bucket INT, days INT) RETURNS BINARY(10) DETERMINISTIC NO SQL
RETURN imid_first(bucket * (days * 86400000)) //

CREATE FUNCTION imid_bucket_last(bucket INT, days INT) RETURNS BINARY(10) DETERMINISTIC NO SQL
RETURN IF(imid_bucket_first(bucket, days) IS NULL, NULL, imid_last(LEAST((bucket + 1) * (days * 86400000) - 1, 4398046511103))) //

DELIMITER ;
SET sql_mode = @imid_sql_mode, character_set_client = @imid_client, character_set_results = @imid_results,
  collation_connection = @imid_collation;
