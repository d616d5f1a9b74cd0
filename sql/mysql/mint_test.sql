-- Tests mint.sql with new tables of tables.sql, and with spec/vectors.json, which ci/stores.sh puts into @vectors.
DROP PROCEDURE IF EXISTS imid_expect;
DROP PROCEDURE IF EXISTS imid_expect_error;
DELIMITER //
CREATE PROCEDURE imid_expect(what VARCHAR(100), is_right BOOLEAN)
BEGIN
  IF NOT is_right <=> 1 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = what; END IF;
  SELECT CONCAT('ok: ', what) AS result;
END //
CREATE PROCEDURE imid_expect_error(statement TEXT CHARACTER SET utf8mb4, expected TEXT CHARACTER SET utf8mb4)
BEGIN
  DECLARE state, message TEXT CHARACTER SET utf8mb4 DEFAULT '';
  BEGIN
    DECLARE EXIT HANDLER FOR SQLEXCEPTION GET DIAGNOSTICS CONDITION 1 state = RETURNED_SQLSTATE, message = MESSAGE_TEXT;
    EXECUTE IMMEDIATE statement;
  END;
  CALL imid_expect(CONCAT(LEFT(statement, 40), ': ', LEFT(CONCAT(state, ' ', message), 55)), CONCAT(state, ' ', message) LIKE expected);
END //
CREATE FUNCTION imid_test_stamp(id BINARY(10)) RETURNS BIGINT DETERMINISTIC NO SQL RETURN CONV(HEX(LEFT(id, 7)), 16, 10) >> 2 //
CREATE FUNCTION imid_test_id(stamp BIGINT, session_tag INT) RETURNS BINARY(10) DETERMINISTIC NO SQL
RETURN UNHEX(CONCAT(LPAD(HEX(stamp >> 14), 10, '0'), LPAD(HEX(((stamp & 16383) << 26) | session_tag), 10, '0'))) //
CREATE FUNCTION imid_test_at(ahead_ms BIGINT, spin INT) RETURNS BINARY(10) NOT DETERMINISTIC NO SQL
RETURN imid_test_id((TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000 + ahead_ms) * 4096 + spin, 77) //
-- A room of the same tag gets one in two of the IDs of the next steps of room-42, or all of them.
CREATE PROCEDURE imid_test_occupy(halves INT)
BEGIN
  DECLARE stamp BIGINT DEFAULT (SELECT imid_test_stamp(last_id) FROM rooms WHERE name = 'room-42');
  DECLARE number BIGINT DEFAULT (SELECT COALESCE(MAX(messages.number), 0) FROM messages WHERE room = 'twin');
  INSERT IGNORE INTO messages SELECT imid_test_id(stamp + seq, 16549227), 'twin', number + seq, 'a', UUID(), '' FROM seq_1_to_20000 WHERE seq % 2 < halves;
END //
DELIMITER ;

CREATE TEMPORARY TABLE names AS SELECT * FROM JSON_TABLE(@vectors, '$.names[*]' COLUMNS (name MEDIUMTEXT CHARACTER SET utf8mb4 PATH '$.name',
  length INT PATH '$.length', xxh3 CHAR(16) PATH '$.xxh3', hash INT PATH '$.hash')) AS file;
CALL imid_expect('XXH3 of names of each length', (SELECT COUNT(*) > 60 AND MIN(LENGTH(name) = length
  AND LOWER(LPAD(HEX(imid_xxh3(CAST(name AS BINARY))), 16, '0')) = xxh3) FROM names));
CALL imid_expect('tags of names', (SELECT MIN(imid_session_tag_of(type, name) = type * 4194304 + hash)
  FROM names, (SELECT seq AS type FROM seq_0_to_15) AS types WHERE length < 20 OR type = 3));
CALL imid_expect('tags of pairs', (SELECT COUNT(*) > 20 AND MIN(imid_pair_tag_of(a, b) = tag AND imid_pair_tag_of(b, a) = tag)
  FROM JSON_TABLE(@vectors, '$.pairs[*]' COLUMNS (a TEXT CHARACTER SET utf8mb4 PATH '$.a', b TEXT CHARACTER SET utf8mb4 PATH '$.b',
  tag INT PATH '$.session_tag')) AS file));
CALL imid_expect('NULL gives NULL', COALESCE(imid_session_tag_of(NULL, 'x'), imid_session_tag_of(3, NULL), imid_pair_tag_of(NULL, 'b'),
  imid_pair_tag_of('a', NULL), 'none') = 'none');
CALL imid_expect_error('SET @x = imid_session_tag_of(-1, "x")', '22023 expected a session type from 0 to 15, found -1');
CALL imid_expect_error('SET @x = imid_session_tag_of(16, "x")', '22023 expected a session type from 0 to 15, found 16');

-- IDs. UTC_TIMESTAMP stands still in a statement. The zone has an hour that is repeated, or none.
SET time_zone = '-03:30';
CREATE TEMPORARY TABLE minted AS SELECT imid_after(NULL, 16549227) AS id FROM seq_1_to_20000;
CALL imid_expect('without a last ID it has the time and the tag', (SELECT MIN(id BETWEEN imid_test_at(-60000, 0) AND imid_test_at(1, 0)
  AND CONV(HEX(RIGHT(id, 4)), 16, 10) & 67108863 = 16549227) FROM minted));
CALL imid_expect('its spin is even over 0 to 4095', (SELECT MIN(spin) < 64 AND MAX(spin) > 4031 AND AVG(spin) BETWEEN 1990 AND 2105
  FROM (SELECT imid_test_stamp(id) & 4095 AS spin FROM minted) AS x));
SET time_zone = '+00:00';
SET @ahead = imid_test_at(3600000, 4095);
CREATE TEMPORARY TABLE steps AS SELECT imid_test_stamp(imid_after(@ahead, 5)) - imid_test_stamp(@ahead) AS step FROM seq_1_to_20000;
CALL imid_expect('a step is even over 1 to 1024', (SELECT MIN(step) BETWEEN 1 AND 16 AND MAX(step) BETWEEN 1009 AND 1024 AND AVG(step) BETWEEN 497 AND 528 FROM steps));
CALL imid_expect('the time counts if it is greater', imid_after(imid_test_at(-1000, 0), 5) > imid_test_at(-500, 0));
CALL imid_expect('an ID is after the last one in any case', (SELECT MIN(imid_after(last, 67108863) > last AND imid_after(last, 0) > last)
  FROM (SELECT imid_test_at(CAST(times.seq AS SIGNED) - 3, spins.seq * 63) AS last FROM seq_0_to_86390000_step_1234567 AS times, seq_0_to_65 AS spins) AS x));
CALL imid_expect_error('SET @x = imid_after(NULL, NULL)', '22023 expected a session tag from 0 to 67108863, found NULL');
CALL imid_expect_error('SET @x = imid_after(NULL, -1)', '22023 expected a session tag from 0 to 67108863, found -1');
CALL imid_expect_error('SET @x = imid_after(NULL, 67108864)', '22023 expected a session tag from 0 to 67108863, found 67108864');
CALL imid_expect_error('SET @x = imid_after(NULL, 67108863)', ' ');
CALL imid_expect_error('SET @x = imid_after(X\'\', 1)', '22023 expected a last ID of 10 bytes, found 0 bytes');
CALL imid_expect_error('SET @x = imid_after(X\'66a8ab1ad0001cfc85\', 1)', '22023 expected a last ID of 10 bytes, found 9 bytes');
CALL imid_expect_error('SET @x = imid_after(X\'66a8ab1ad0001cfc856b00\', 1)', '22023 expected a last ID of 10 bytes, found 11 bytes');
CALL imid_expect_error('SET @x = imid_after(X\'ffffffffffffffffffff\', 1)', '22008 last ID is % ms ahead of the clock (limit 86400000 ms)');
CALL imid_expect_error('SET @x = imid_after_within(X\'ffffffffffffffffffff\', 1, 9223372036854775807)',
  '22008 expected a time from 1970 to 2109, found 4398046511104 ms');
CALL imid_expect_error('SET @x = imid_after(X\'00000000000000000000\', 1)', ' ');
CALL imid_expect_error('SET @x = imid_after(imid_test_at(86400001, 0), 1)', '22008 last ID is 86400001 ms ahead of the clock (limit 86400000 ms)');
CALL imid_expect_error('SET @x = imid_after(imid_test_at(86400000, 4095), 1)', ' ');
CALL imid_expect_error('SET @x = imid_after_within(imid_test_at(1001, 0), 1, 1000)', '22008 last ID is 1001 ms ahead of the clock (limit 1000 ms)');
CALL imid_expect_error('SET @x = imid_after_within(imid_test_at(0, 4095), 1, 0)', ' ');
CALL imid_expect_error('SET @x = imid_after_within(NULL, 1, -1)', '22023 expected a limit_ms of 0 or more, found -1');
CALL imid_expect_error('SET @x = imid_after_within(NULL, 1, NULL)', '22023 expected a limit_ms of 0 or more, found NULL');
CALL imid_expect_error('SET @x = imid_lift(NULL, 1, -1)', '22023 expected an ahead_ms from 0 to 86400000, found -1');
CALL imid_expect_error('SET @x = imid_lift(NULL, 1, NULL)', '22023 expected an ahead_ms from 0 to 86400000, found NULL');
CALL imid_expect_error('SET @x = imid_lift(NULL, NULL, 1)', '22023 expected a session tag from 0 to 67108863, found NULL');
CALL imid_expect_error('SET @x = imid_lift(X\'ffffffffffffffffffff\', 1, 0)', '22008 expected a time from 1970 to 2109, found 4398046511104 ms');

-- Messages.
CALL imid_expect('the tables are new', (SELECT COUNT(*) FROM messages) = 0 AND (SELECT COUNT(*) FROM rooms) = 1);
DELIMITER //
-- A client repeats the call after an error.
CREATE PROCEDURE imid_test_post(posts INT)
BEGIN
  DECLARE n, errors INT DEFAULT 1;
  DECLARE CONTINUE HANDLER FOR SQLSTATE '23000'
  BEGIN
    IF errors = 10 THEN RESIGNAL; END IF;
    SET errors = errors + 1, n = n - 1;
  END;
  WHILE n <= posts DO
    CALL imid_post('room-42', 3, 'ada', n, CONCAT('hello ', n));
    SET n = n + 1;
  END WHILE;
END //
DELIMITER ;
CALL imid_test_post(20);
CALL imid_expect('posts have the next numbers, later IDs and the tag of their room', (SELECT COUNT(*) = 20 AND MIN(number = place AND client_key = number
  AND CONV(HEX(RIGHT(id, 4)), 16, 10) & 67108863 = 16549227 AND body = CONCAT('hello ', number) AND room = 'room-42' AND sender = 'ada')
  FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY id) AS place FROM messages) AS x));
CALL imid_test_post(21);
CALL imid_expect('a message that is known takes no number', (SELECT COUNT(*) = 21 AND MAX(number) = 21 FROM messages)
  AND (SELECT last_number = 21 FROM rooms WHERE name = 'room-42'));
CALL imid_post('room-42', 3, 'bob', '7', 'hello');
CALL imid_post('room-43', 3, 'ada', '7', 'hello');
CALL imid_expect('a key is of a sender and of a room', (SELECT COUNT(*) = 3 FROM messages WHERE client_key = '7'));
CALL imid_expect('the row has the last ID', (SELECT COUNT(*) = 2 FROM rooms WHERE last_id = (SELECT MAX(id) FROM messages WHERE room = name)));
INSERT INTO rooms VALUES ('alice:bob', imid_pair_tag_of('bob', 'alice'), 0, NULL);
CALL imid_post('alice:bob', 1, 'bob', '1', 'hello');
CALL imid_expect('a private conversation has the tag of its row', (SELECT CONV(HEX(RIGHT(id, 4)), 16, 10) & 67108863 = imid_pair_tag_of('alice', 'bob')
  FROM messages WHERE room = 'alice:bob'));
CALL imid_post('Zoë 😀', 3, 'é', '1', '😀');
CALL imid_expect('names and texts are of utf8mb4', (SELECT COUNT(*) = 1 FROM messages WHERE room = 'Zoë 😀' AND sender = 'é' AND body = '😀'
  AND CONV(HEX(RIGHT(id, 4)), 16, 10) & 67108863 = imid_session_tag_of(3, 'Zoë 😀')));
CALL imid_expect_error('CALL imid_post("room-42", 2, "ada", "x", "")', '22023 expected the session type of the room, 3, found 2');
CALL imid_expect_error('CALL imid_post("room-42", NULL, "ada", "x", "")', '22023 expected the session type of the room, 3, found NULL');
CALL imid_expect_error('CALL imid_post("new", 16, "ada", "x", "")', '22023 expected a session type from 0 to 15, found 16');
CALL imid_expect_error('CALL imid_post("new", NULL, "ada", "x", "")', "23000 Column 'session_tag' cannot be null");
CALL imid_expect_error('CALL imid_post(NULL, 3, "ada", "x", "")', "23000 Column 'name' cannot be null");
CALL imid_expect_error('CALL imid_post("room-42", 3, NULL, "x", "")', "23000 Column 'sender' cannot be null");
CALL imid_expect_error('CALL imid_post("room-42", 3, "ada", NULL, "")', "23000 Column 'client_key' cannot be null");
CALL imid_expect_error('CALL imid_post("room-42", 3, "ada", "x", NULL)', "23000 Column 'body' cannot be null");
CALL imid_expect_error('CALL imid_post(REPEAT("x", 201), 3, "ada", "x", "")', "22001 Data too long for column 'room'%");
CALL imid_expect('errors took no number and made no room', (SELECT SUM(last_number) = 22 FROM rooms WHERE name IN ('room-42', 'new')));
START TRANSACTION;
CALL imid_expect_error('CALL imid_post("room-42", 3, "ada", "x", "")', '25001 %');
ROLLBACK;

UPDATE rooms SET last_id = imid_test_at(3600000, 0) WHERE name = 'room-42';
CALL imid_test_occupy(1);
CALL imid_test_post(27);
CALL imid_expect('a collision takes another ID and no other number', (SELECT COUNT(*) = 28 AND MAX(number) = 28 FROM messages WHERE room = 'room-42')
  AND (SELECT last_number = 28 AND (imid_test_stamp(last_id) - (SELECT imid_test_stamp(MIN(id)) FROM messages WHERE room = 'twin')) % 2 <> 0 FROM rooms WHERE name = 'room-42'));
CALL imid_test_occupy(2);
CALL imid_expect_error('CALL imid_post("room-42", 3, "ada", "full", "")', '23000 no new ID in 5 attempts in room "room-42"');
CALL imid_expect('the numbers have no gap', (SELECT last_number = 28 FROM rooms WHERE name = 'room-42'));

-- After a failover: every room, and rooms without a row.
UPDATE rooms SET last_id = imid_test_at(7200000, 9) WHERE name = 'room-43';
CREATE TEMPORARY TABLE before_lift AS SELECT *, imid_test_stamp(imid_test_at(0, 0)) AS now FROM rooms;
UPDATE rooms SET last_id = imid_lift(last_id, session_tag, 60000);
CALL imid_expect('each room is lifted above its last ID and the clock', (SELECT MIN((imid_test_stamp(rooms.last_id) -
  GREATEST(COALESCE(imid_test_stamp(before_lift.last_id), 0), now)) / 4096 >= 60000 AND (imid_test_stamp(rooms.last_id) -
  GREATEST(COALESCE(imid_test_stamp(before_lift.last_id), 0), imid_test_stamp(imid_test_at(0, 0)))) / 4096 <= 60002
  AND CONV(HEX(RIGHT(rooms.last_id, 4)), 16, 10) & 67108863 = rooms.session_tag) FROM rooms JOIN before_lift USING (name)));
CALL imid_post('room-43', 3, 'ada', 'after', '');
CALL imid_post('room-44', 3, 'ada', 'after', '');
CALL imid_expect('posts in old and new rooms are after that', (SELECT MIN(imid_test_stamp(id) / 4096 - 60000 >= IF(room = 'room-43', imid_test_stamp(last_id), now) / 4096) AND COUNT(*) = 2
  FROM messages JOIN before_lift ON name = IF(room = 'room-43', room, '') WHERE client_key = 'after'));
DROP PROCEDURE imid_expect;
DROP PROCEDURE imid_expect_error;
DROP PROCEDURE imid_test_occupy;
DROP PROCEDURE imid_test_post;
DROP FUNCTION imid_test_stamp;
DROP FUNCTION imid_test_id;
DROP FUNCTION imid_test_at;
