-- Tests the functions of install.sql with the known answers of spec/vectors.json, which ci/stores.sh puts into @vectors.
DROP PROCEDURE IF EXISTS imid_expect_refused;
DROP PROCEDURE IF EXISTS imid_expect_none;
DELIMITER //
CREATE PROCEDURE imid_expect_none(what VARCHAR(100), wrong BIGINT)
BEGIN
  DECLARE message VARCHAR(128) DEFAULT CONCAT(what, ': ', COALESCE(wrong, -1), ' rows differ');
  IF NOT wrong <=> 0 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = message; END IF;
  SELECT CONCAT('ok: ', what) AS result;
END //
-- Fails unless the statement is refused with this message.
CREATE PROCEDURE imid_expect_refused(statement TEXT CHARACTER SET utf8mb4, wanted TEXT CHARACTER SET utf8mb4)
BEGIN
  DECLARE message TEXT CHARACTER SET utf8mb4 DEFAULT 'no error';
  BEGIN
    DECLARE EXIT HANDLER FOR SQLSTATE '22007' GET DIAGNOSTICS CONDITION 1 message = MESSAGE_TEXT;
    EXECUTE IMMEDIATE CONCAT('SET @ignored = ', statement);
  END;
  CALL imid_expect_none(CONCAT('refused: ', statement), NOT message <=> wanted);
END //
DELIMITER ;

CREATE TEMPORARY TABLE ids (n INT, id BINARY(10) PRIMARY KEY, letters CHAR(19) CHARACTER SET ascii COLLATE ascii_bin, ms BIGINT,
  spin INT, type INT, hash INT, session_tag INT);
INSERT INTO ids SELECT n, UNHEX(hex), letters, ms, spin, type, hash, session_tag FROM JSON_TABLE(@vectors, '$.ids[*]' COLUMNS (
  n FOR ORDINALITY, hex CHAR(20) PATH '$.hex', letters CHAR(19) PATH '$.text', ms BIGINT PATH '$.timestamp',
  spin INT PATH '$.spin', type INT PATH '$.type', hash INT PATH '$.hash', session_tag INT PATH '$.session_tag')) AS file;

CALL imid_expect_none('there are vectors', (SELECT COUNT(*) < 100 FROM ids));
CALL imid_expect_none('bytes and text', (SELECT COUNT(*) FROM ids WHERE NOT imid_text(id) <=> letters
  OR NOT imid_bytes(letters) <=> id OR NOT imid_is_bytes(id) OR NOT imid_is_text(letters)));
CALL imid_expect_none('fields', (SELECT COUNT(*) FROM ids WHERE NOT (imid_ms(id) <=> ms AND imid_spin(id) <=> spin
  AND imid_type(id) <=> type AND imid_hash(id) <=> hash AND imid_session_tag(id) <=> session_tag)));
CALL imid_expect_none('timestamps', (SELECT COUNT(*) FROM ids
  WHERE NOT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', imid_timestamp(id)) <=> ms * 1000
  OR NOT imid_first_at(imid_timestamp(id)) <=> imid_first(ms)));
CALL imid_expect_none('hours', (SELECT COUNT(*) FROM ids
  WHERE NOT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', imid_hour(id)) <=> ms DIV 3600000 * 3600000000));
CALL imid_expect_none('an ID is in its session', (SELECT COUNT(*) FROM ids WHERE NOT imid_is_in(id, session_tag) OR imid_is_in(id, session_tag + 1)));
CALL imid_expect_none('names of types', (SELECT COUNT(*) FROM JSON_TABLE(@vectors, '$.types[*]' COLUMNS (code INT PATH '$.code',
  name VARCHAR(20) PATH '$.name')) AS file WHERE NOT imid_type_name(imid_join(0, code << 22)) <=> IF(name = 'null', NULL, name)));
CALL imid_expect_none('UUIDs', (SELECT COUNT(*) FROM JSON_TABLE(@vectors, '$.uuids[*]' COLUMNS (letters CHAR(19) PATH '$.text',
  view CHAR(36) PATH '$.uuid')) AS file WHERE NOT imid_uuid(imid_bytes(letters)) <=> view
  OR NOT imid_from_uuid(view) <=> imid_bytes(letters) OR NOT imid_is_uuid(view)));
CALL imid_expect_none('times', (SELECT COUNT(*) FROM JSON_TABLE(@vectors, '$.times[*]' COLUMNS (a BIGINT PATH '$.from',
  b BIGINT PATH '$.to', first CHAR(19) PATH '$.first', last CHAR(19) PATH '$.last')) AS file
  WHERE NOT imid_text(imid_first(a)) <=> first OR NOT imid_text(imid_last(b)) <=> last));
CALL imid_expect_none('the order', (SELECT COUNT(*) FROM (SELECT n, ROW_NUMBER() OVER (ORDER BY id) AS a,
  ROW_NUMBER() OVER (ORDER BY letters) AS b FROM ids) AS places WHERE (a, b) <> (n, n)));
CALL imid_expect_none('texts that are refused', (SELECT COUNT(*) FROM JSON_TABLE(@vectors, '$.texts_refused[*]' COLUMNS (
  input VARCHAR(100) CHARACTER SET utf8mb4 PATH '$.input')) AS file WHERE imid_is_text(input)));
CALL imid_expect_none('UUIDs that are refused', (SELECT COUNT(*) FROM JSON_TABLE(@vectors, '$.uuids_refused[*]' COLUMNS (
  view CHAR(36) PATH '$.uuid')) AS file WHERE imid_is_uuid(view)));
CALL imid_expect_none('bytes that are refused', (SELECT COUNT(*) FROM JSON_TABLE(@vectors, '$.bytes_refused[*]' COLUMNS (
  hex VARCHAR(40) PATH '$.bytes')) AS file WHERE imid_is_bytes(UNHEX(hex))));
CALL imid_expect_none('buckets', (SELECT COUNT(*) FROM ids, (SELECT 1 AS days UNION SELECT 7 UNION SELECT 50904) AS x
  WHERE id NOT BETWEEN imid_bucket_first(imid_bucket(id, days), days) AND imid_bucket_last(imid_bucket(id, days), days)
  OR imid_bucket(imid_bucket_last(imid_bucket(id, days), days), days) <> imid_bucket(id, days)));
CALL imid_expect_none('RongCloud', NOT imid_from_rongcloud('CQKA-M6MG-00EF-P1BB') <=> imid_bytes('EUNC-Q8QJ-22GH-T3DD'));
CALL imid_expect_none('NULL gives NULL', (imid_ms(NULL) IS NOT NULL) + (imid_timestamp(NULL) IS NOT NULL)
  + (imid_text(NULL) IS NOT NULL) + (imid_bytes(NULL) IS NOT NULL) + (imid_uuid(NULL) IS NOT NULL) + (imid_from_uuid(NULL) IS NOT NULL)
  + (imid_first(NULL) IS NOT NULL) + (imid_last_at(NULL) IS NOT NULL) + (imid_bucket_last(NULL, 1) IS NOT NULL)
  + (imid_type_name(NULL) IS NOT NULL) + (imid_is_text(NULL) IS NOT NULL) + (imid_from_rongcloud(NULL) IS NOT NULL));

-- MariaDB's shifts come before `&` and `|`, so 10 and not 18.
CALL imid_expect_none('shifts come before the other bit operators', (1 << 3 | 1 << 1) - 10);
-- BINARY(10) pads a shorter value with zero bytes without a warning. The result is the ID of other bytes.
CREATE TEMPORARY TABLE padded (id BINARY(10));
INSERT INTO padded VALUES (UNHEX('66A8AB1AD0001CFC85'));
CALL imid_expect_none('BINARY(10) pads a shorter value', (SELECT COUNT(*) FROM padded WHERE id <> UNHEX('66A8AB1AD0001CFC8500') OR NOT imid_is_bytes(id)));
CALL imid_expect_none('VARBINARY(10) does not', imid_is_bytes(UNHEX('66A8AB1AD0001CFC85')));
CALL imid_expect_none('IDs with zero bytes at the end', (SELECT (COUNT(*) < 3) + SUM(NOT imid_bytes(imid_text(id)) <=> id)
  + SUM(NOT imid_from_uuid(imid_uuid(id)) <=> id) FROM ids WHERE HEX(id) LIKE '%00'));
CALL imid_expect_refused('imid_bytes("eunc-q8qj-22gh-t3dd")',
  'expected a message ID such as EUNC-Q8QJ-22GH-T3DD, found "eunc-q8qj-22gh-t3dd"');
CALL imid_expect_refused('imid_bytes("EUNC-Q8QJ-22GH-T3DD\\n")',
  'expected a message ID such as EUNC-Q8QJ-22GH-T3DD, found "EUNC-Q8QJ-22GH-T3DD\n"');
CALL imid_expect_refused('imid_from_rongcloud("WS4A-5FKA-QC0J-8P24")',
  'expected a message ID of RongCloud such as BS4A-5FKA-QC0J-8P24, found "WS4A-5FKA-QC0J-8P24"');
CALL imid_expect_refused('imid_from_uuid("017f22e2-79b0-7cc3-98c4-dc0c0c07398f")',
  'expected the UUID view of a message ID, found "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"');
CALL imid_expect_refused('imid_first(4398046511104)', 'expected a time of 0 to 4398046511103 ms, found "4398046511104"');
CALL imid_expect_refused('imid_last(-1)', 'expected a time of 0 to 4398046511103 ms, found "-1"');
CALL imid_expect_refused('imid_bucket_last(50904, 1)', 'expected a time of 0 to 4398046511103 ms, found "4398105600000"');

-- A DATETIME has no time zone, so in another zone than UTC the functions of DATETIME are refused. UNIX_TIMESTAMP is right in all.
SET time_zone = '-03:30';
CALL imid_expect_refused('imid_first_at(NOW())',
  'expected time_zone = "+00:00", found another; or use imid_first(1000 * UNIX_TIMESTAMP(moment))');
CALL imid_expect_refused('imid_last_at("2026-11-22 10:00:00")',
  'expected time_zone = "+00:00", found another; or use imid_first(1000 * UNIX_TIMESTAMP(moment))');
SET timestamp = 1795341600;
CALL imid_expect_none('UNIX_TIMESTAMP in another zone', NOT imid_first(1000 * UNIX_TIMESTAMP(NOW())) <=> imid_first(1795341600000));
SET time_zone = '+00:00';
CALL imid_expect_none('NOW() in UTC', NOT imid_first_at(NOW()) <=> imid_first(1795341600000));
SET timestamp = DEFAULT;

-- VARBINARY(10) with a CHECK refuses what BINARY(10) pads.
CREATE TEMPORARY TABLE exact (id VARBINARY(10) PRIMARY KEY CHECK (LENGTH(id) = 10));
INSERT IGNORE INTO exact VALUES (UNHEX('66A8AB1AD0001CFC85')), (UNHEX('66A8AB1AD0001CFC8500')), (NULL);
CALL imid_expect_none('a CHECK of the length', (SELECT (COUNT(*) <> 1) + SUM(id <> UNHEX('66A8AB1AD0001CFC8500')) FROM exact));

-- MariaDB's type UUID keeps the order of IDs.
CREATE TEMPORARY TABLE views (view UUID PRIMARY KEY, n INT);
INSERT INTO views SELECT imid_uuid(id), n FROM ids;
CALL imid_expect_none('the order of the type UUID', (SELECT COUNT(*) FROM (SELECT n, ROW_NUMBER() OVER (ORDER BY view) AS a FROM views)
  AS places WHERE a <> n));
DROP PROCEDURE imid_expect_refused;
DROP PROCEDURE imid_expect_none;
