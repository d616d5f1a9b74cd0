-- imid for MariaDB 10.6 or later and MySQL 8: IDs minted in SQL, by the clock of the database. Tested with MariaDB 10.11; not tested with MySQL.
--
-- Run this file with the client `mariadb` or `mysql` in the database of the tables. It needs no other file; uninstall.sql removes what it
-- makes, and is run first to install a new version. The user needs CREATE ROUTINE, and EXECUTE to call them. Error 1419 says that the server
-- writes a binary log, and that the user then needs SUPER too: an administrator runs this file, or sets log_bin_trust_function_creators = ON.
-- The binary log is ROW or MIXED: with STATEMENT a replica computes other IDs.
--
--   CALL imid_post(room, type, sender, client_key, body)    stores a message in the tables of tables.sql, in a transaction of its own
--   imid_after(last, session_tag)                           a new ID after the last one of a room, for tables of your own
--   imid_lift(last, session_tag, ahead_ms)                  for the statement after a failover that lost commits
--   imid_session_tag_of(type, name)                         the session tag of a room. It takes 0.2 ms and more, so the room's row has it
--   imid_pair_tag_of(a, b)                                  the session tag of a private conversation
--
-- docs/STORES.md says how a transaction uses them, and spec/FORMAT.md defines the bits of an ID and the hash.

-- A stored function keeps the sql_mode and the character set of the connection that made it, so this file sets its own.
SET @imid_sql_mode = @@sql_mode, @imid_client = @@character_set_client, @imid_results = @@character_set_results,
  @imid_collation = @@collation_connection;
SET sql_mode = 'STRICT_TRANS_TABLES';
SET NAMES utf8mb4;
DELIMITER //

-- XXH3 of 64 bits, with seed 0 and the default secret. BIGINT refuses to overflow, so sums and products are computed as DECIMAL.

CREATE FUNCTION imid_xxh3_add(a BIGINT UNSIGNED, b BIGINT UNSIGNED) RETURNS BIGINT UNSIGNED DETERMINISTIC NO SQL
RETURN CAST((CAST(a AS DECIMAL(20)) + b) % 18446744073709551616 AS UNSIGNED) //

CREATE FUNCTION imid_xxh3_multiply(a BIGINT UNSIGNED, b BIGINT UNSIGNED) RETURNS BIGINT UNSIGNED DETERMINISTIC NO SQL
RETURN CAST((CAST(a AS DECIMAL(20)) * b) % 18446744073709551616 AS UNSIGNED) //

-- The lower and the upper half of the product, combined.
CREATE FUNCTION imid_xxh3_fold(a BIGINT UNSIGNED, b BIGINT UNSIGNED) RETURNS BIGINT UNSIGNED DETERMINISTIC NO SQL
BEGIN
  DECLARE product DECIMAL(40) DEFAULT CAST(a AS DECIMAL(20)) * b;
  DECLARE low DECIMAL(20) DEFAULT product % 18446744073709551616;
  RETURN CAST(low AS UNSIGNED) ^ CAST((product - low) / 18446744073709551616 AS UNSIGNED);
END //

CREATE FUNCTION imid_xxh3_avalanche(bits BIGINT UNSIGNED) RETURNS BIGINT UNSIGNED DETERMINISTIC NO SQL
BEGIN
  SET bits = imid_xxh3_multiply(bits ^ (bits >> 37), CAST(0x165667919E3779F9 AS UNSIGNED));
  RETURN bits ^ (bits >> 32);
END //

-- Eight bytes, the least significant first. Bytes after the end are zero.
CREATE FUNCTION imid_xxh3_word(bytes MEDIUMBLOB, at INT) RETURNS BIGINT UNSIGNED DETERMINISTIC NO SQL
RETURN CONV(HEX(REVERSE(SUBSTR(bytes, at + 1, 8))), 16, 10) //

CREATE FUNCTION imid_xxh3_secret(at INT) RETURNS BIGINT UNSIGNED DETERMINISTIC NO SQL
RETURN imid_xxh3_word(CONCAT(
  X'b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221',
  X'b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8',
  X'a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb',
  X'170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e'), at) //

CREATE FUNCTION imid_xxh3_mix(bytes MEDIUMBLOB, at INT, secret_at INT) RETURNS BIGINT UNSIGNED DETERMINISTIC NO SQL
RETURN imid_xxh3_fold(imid_xxh3_word(bytes, at) ^ imid_xxh3_secret(secret_at), imid_xxh3_word(bytes, at + 8) ^ imid_xxh3_secret(secret_at + 8)) //

-- One of the eight lanes of more than 240 bytes: stripes of 64 bytes, and then the last 64 bytes. After each block of 16 stripes it is scrambled.
CREATE FUNCTION imid_xxh3_lane(bytes MEDIUMBLOB, lane INT) RETURNS BIGINT UNSIGNED DETERMINISTIC NO SQL
BEGIN
  DECLARE stripe INT DEFAULT 0;
  DECLARE stripes INT DEFAULT (LENGTH(bytes) - 1) DIV 64;
  DECLARE at, secret_at INT;
  DECLARE word BIGINT UNSIGNED;
  DECLARE sum BIGINT UNSIGNED DEFAULT CAST(ELT(lane + 1, 3266489917, 11400714785074694791, 14029467366897019727, 1609587929392839161,
    9650029242287828579, 2246822519, 2870177450012600261, 2654435761) AS UNSIGNED);
  WHILE stripe <= stripes DO
    IF stripe > 0 AND stripe % 16 = 0 THEN
      SET sum = imid_xxh3_multiply(sum ^ (sum >> 47) ^ imid_xxh3_secret(128 + 8 * lane), 2654435761);
    END IF;
    SET at = IF(stripe < stripes, 64 * stripe, LENGTH(bytes) - 64), secret_at = IF(stripe < stripes, 8 * (stripe % 16), 121);
    SET word = imid_xxh3_word(bytes, at + 8 * lane) ^ imid_xxh3_secret(secret_at + 8 * lane);
    SET sum = imid_xxh3_add(sum, imid_xxh3_multiply(word & 4294967295, word >> 32));
    SET sum = imid_xxh3_add(sum, imid_xxh3_word(bytes, at + 8 * (lane ^ 1)));
    SET stripe = stripe + 1;
  END WHILE;
  RETURN sum;
END //

CREATE FUNCTION imid_xxh3(bytes MEDIUMBLOB) RETURNS BIGINT UNSIGNED DETERMINISTIC NO SQL
BEGIN
  DECLARE size INT DEFAULT LENGTH(bytes);
  DECLARE hash BIGINT UNSIGNED DEFAULT imid_xxh3_multiply(size, CAST(0x9E3779B185EBCA87 AS UNSIGNED));
  DECLARE word, last_word BIGINT UNSIGNED;
  DECLARE n INT DEFAULT 0;
  IF size <= 3 THEN
    IF size = 0 THEN
      SET hash = imid_xxh3_secret(56) ^ imid_xxh3_secret(64);
    ELSE
      SET hash = (ORD(SUBSTR(bytes, 1, 1)) << 16) | (ORD(SUBSTR(bytes, size DIV 2 + 1, 1)) << 24) | ORD(SUBSTR(bytes, size, 1)) | (size << 8);
      SET hash = hash ^ ((imid_xxh3_secret(0) ^ imid_xxh3_secret(4)) & 4294967295);
    END IF;
    SET hash = imid_xxh3_multiply(hash ^ (hash >> 33), CAST(0xC2B2AE3D27D4EB4F AS UNSIGNED));
    SET hash = imid_xxh3_multiply(hash ^ (hash >> 29), CAST(0x165667B19E3779F9 AS UNSIGNED));
    RETURN hash ^ (hash >> 32);
  ELSEIF size <= 8 THEN
    SET hash = imid_xxh3_add(imid_xxh3_word(bytes, size - 4), imid_xxh3_word(bytes, 0) << 32) ^ imid_xxh3_secret(8) ^ imid_xxh3_secret(16);
    SET hash = hash ^ ((hash << 49) | (hash >> 15)) ^ ((hash << 24) | (hash >> 40));
    SET hash = imid_xxh3_multiply(hash, CAST(0x9FB21C651E98DF25 AS UNSIGNED));
    SET hash = imid_xxh3_multiply(hash ^ ((hash >> 35) + size), CAST(0x9FB21C651E98DF25 AS UNSIGNED));
    RETURN hash ^ (hash >> 28);
  ELSEIF size <= 16 THEN
    SET word = imid_xxh3_word(bytes, 0) ^ imid_xxh3_secret(24) ^ imid_xxh3_secret(32);
    SET last_word = imid_xxh3_word(bytes, size - 8) ^ imid_xxh3_secret(40) ^ imid_xxh3_secret(48);
    SET hash = CONV(HEX(REVERSE(UNHEX(LPAD(HEX(word), 16, '0')))), 16, 10);
    SET hash = imid_xxh3_add(imid_xxh3_add(size, hash), imid_xxh3_add(last_word, imid_xxh3_fold(word, last_word)));
  ELSEIF size <= 128 THEN
    WHILE n <= (size - 1) DIV 32 DO
      SET hash = imid_xxh3_add(hash, imid_xxh3_mix(bytes, 16 * n, 32 * n));
      SET hash = imid_xxh3_add(hash, imid_xxh3_mix(bytes, size - 16 * (n + 1), 32 * n + 16));
      SET n = n + 1;
    END WHILE;
  ELSEIF size <= 240 THEN
    WHILE n < size DIV 16 DO
      SET hash = imid_xxh3_add(hash, imid_xxh3_mix(bytes, 16 * n, IF(n < 8, 16 * n, 16 * n - 125)));
      SET n = n + 1;
      IF n = 8 THEN SET hash = imid_xxh3_avalanche(hash); END IF;
    END WHILE;
    SET hash = imid_xxh3_add(hash, imid_xxh3_mix(bytes, size - 16, 119));
  ELSE
    WHILE n < 8 DO
      SET hash = imid_xxh3_add(hash, imid_xxh3_fold(imid_xxh3_lane(bytes, n) ^ imid_xxh3_secret(11 + 8 * n),
        imid_xxh3_lane(bytes, n + 1) ^ imid_xxh3_secret(19 + 8 * n)));
      SET n = n + 2;
    END WHILE;
  END IF;
  RETURN imid_xxh3_avalanche(hash);
END //

-- The session tag of a name: type * 4194304 + hash. The type is 0 to 15. NULL gives NULL.
CREATE FUNCTION imid_session_tag_of(type INT, name MEDIUMTEXT CHARACTER SET utf8mb4) RETURNS INT DETERMINISTIC NO SQL
BEGIN
  DECLARE message VARCHAR(128) CHARACTER SET utf8mb4 DEFAULT CONCAT('expected a session type from 0 to 15, found ', type);
  IF type NOT BETWEEN 0 AND 15 THEN SIGNAL SQLSTATE '22023' SET MESSAGE_TEXT = message; END IF;
  RETURN (type << 22) | (imid_xxh3(CAST(name AS BINARY)) & 4194303);
END //

-- The session tag of the private conversation of two users, in either order. NULL gives NULL.
CREATE FUNCTION imid_pair_tag_of(a MEDIUMTEXT CHARACTER SET utf8mb4, b MEDIUMTEXT CHARACTER SET utf8mb4) RETURNS INT DETERMINISTIC NO SQL
BEGIN
  DECLARE first, second BIGINT UNSIGNED;
  SET first = imid_xxh3(CAST(a AS BINARY)), second = imid_xxh3(CAST(b AS BINARY));
  RETURN (1 << 22) | (imid_xxh3(UNHEX(CONCAT(LPAD(HEX(LEAST(first, second)), 16, '0'), LPAD(HEX(GREATEST(first, second)), 16, '0')))) & 4194303);
END //

-- As imid_after, with the limit in milliseconds.
CREATE FUNCTION imid_after_within(last VARBINARY(255), session_tag BIGINT, limit_ms BIGINT) RETURNS BINARY(10) NOT DETERMINISTIC NO SQL
BEGIN
  -- Not UNIX_TIMESTAMP(NOW(3)), which is an hour wrong in the hour that a time zone repeats.
  DECLARE now_ms BIGINT DEFAULT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000;
  -- The timestamp and the spin: the upper 54 bits.
  DECLARE stamp BIGINT DEFAULT now_ms * 4096 + FLOOR(RAND() * 4096);
  DECLARE last_stamp BIGINT DEFAULT CONV(HEX(LEFT(last, 7)), 16, 10) >> 2;
  DECLARE message VARCHAR(128) CHARACTER SET utf8mb4;
  IF session_tag IS NULL OR session_tag NOT BETWEEN 0 AND 67108863 THEN
    SET message = CONCAT('expected a session tag from 0 to 67108863, found ', COALESCE(session_tag, 'NULL'));
    SIGNAL SQLSTATE '22023' SET MESSAGE_TEXT = message;
  END IF;
  IF limit_ms IS NULL OR limit_ms < 0 THEN
    SET message = CONCAT('expected a limit_ms of 0 or more, found ', COALESCE(limit_ms, 'NULL'));
    SIGNAL SQLSTATE '22023' SET MESSAGE_TEXT = message;
  END IF;
  IF last IS NOT NULL THEN
    IF LENGTH(last) <> 10 THEN
      SET message = CONCAT('expected a last ID of 10 bytes, found ', LENGTH(last), ' bytes');
      SIGNAL SQLSTATE '22023' SET MESSAGE_TEXT = message;
    END IF;
    IF (last_stamp >> 12) > now_ms AND (last_stamp >> 12) - now_ms > limit_ms THEN
      SET message = CONCAT('last ID is ', (last_stamp >> 12) - now_ms, ' ms ahead of the clock (limit ', limit_ms, ' ms)');
      SIGNAL SQLSTATE '22008' SET MESSAGE_TEXT = message;
    END IF;
    SET stamp = GREATEST(stamp, last_stamp + 1 + FLOOR(RAND() * 1024));
  END IF;
  IF stamp NOT BETWEEN 0 AND 18014398509481983 THEN
    SET message = CONCAT('expected a time from 1970 to 2109, found ', stamp >> 12, ' ms');
    SIGNAL SQLSTATE '22008' SET MESSAGE_TEXT = message;
  END IF;
  -- Two numbers of 40 bits.
  RETURN UNHEX(CONCAT(LPAD(HEX(stamp >> 14), 10, '0'), LPAD(HEX(((stamp & 16383) << 26) | session_tag), 10, '0')));
END //

-- Returns a new ID with this session tag, after `last`. Without a `last` it has the time of the database, with a random spin. If `last` is at
-- that time or ahead of it, the ID is a random step of 1 to 1,024 spins after it: a step of one would give the same ID again after a
-- collision, or after a failover that lost it. `last` must be the one that this transaction has locked:
--   UPDATE rooms SET last_id = imid_after(last_id, session_tag) WHERE name = 'room-42';
-- It is an error if `last` is more than a day ahead of the clock: SQLSTATE 22008.
CREATE FUNCTION imid_after(last VARBINARY(255), session_tag BIGINT) RETURNS BINARY(10) NOT DETERMINISTIC NO SQL
RETURN imid_after_within(last, session_tag, 86400000) //

-- Returns an ID with this tag that is ahead_ms after `last` and after the time of the database. A database that was promoted or restored does
-- not know its latest IDs, but readers do. Before writers return, lift each room by the time whose commits may be lost, plus the difference of
-- the two servers' clocks. Rooms without a row begin after the last ID of the row ''.
--   UPDATE rooms SET last_id = imid_lift(last_id, session_tag, 60000);
CREATE FUNCTION imid_lift(last VARBINARY(255), session_tag BIGINT, ahead_ms BIGINT) RETURNS BINARY(10) NOT DETERMINISTIC NO SQL
BEGIN
  -- A room that is too far ahead is lifted too.
  DECLARE ms BIGINT DEFAULT CONV(HEX(LEFT(imid_after_within(last, session_tag, 9223372036854775807), 6)), 16, 10) >> 6;
  DECLARE message VARCHAR(128) CHARACTER SET utf8mb4;
  IF ahead_ms IS NULL OR ahead_ms NOT BETWEEN 0 AND 86400000 THEN
    SET message = CONCAT('expected an ahead_ms from 0 to 86400000, found ', COALESCE(ahead_ms, 'NULL'));
    SIGNAL SQLSTATE '22023' SET MESSAGE_TEXT = message;
  END IF;
  SET ms = ms + ahead_ms + 1;
  IF ms > 4398046511103 THEN
    SET message = CONCAT('expected a time from 1970 to 2109, found ', ms, ' ms');
    SIGNAL SQLSTATE '22008' SET MESSAGE_TEXT = message;
  END IF;
  RETURN UNHEX(CONCAT(LPAD(HEX(ms >> 2), 10, '0'), LPAD(HEX(((ms & 3) << 38) | session_tag), 10, '0')));
END //

-- Stores a message in one round trip, and returns its ID, its number in the room, and whether it is new: if this sender has used this
-- client_key in this room before, that message is returned, so repeat the call after any error. The first message of a room makes the room's
-- row, with imid_session_tag_of(type, room); for a private conversation insert the row before, with imid_pair_tag_of and last_number 0.
-- It is a transaction of its own, and in another one it is error 1568. Show the ID to others after it has returned.
CREATE PROCEDURE imid_post(room VARCHAR(200) CHARACTER SET utf8mb4, type INT, sender VARCHAR(200) CHARACTER SET utf8mb4,
  client_key VARCHAR(100) CHARACTER SET utf8mb4, body MEDIUMTEXT CHARACTER SET utf8mb4)
MODIFIES SQL DATA SQL SECURITY INVOKER
BEGIN
  DECLARE attempt INT DEFAULT 1;
  DECLARE tag INT;
  DECLARE new_id, known_id VARBINARY(10);
  DECLARE new_number BIGINT;
  DECLARE is_new BOOLEAN DEFAULT FALSE;
  DECLARE message VARCHAR(128) CHARACTER SET utf8mb4;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  START TRANSACTION;
  take: LOOP
    -- A transaction that waits for the lock gets the row as it was committed, with the last ID.
    UPDATE rooms SET rooms.last_number = rooms.last_number + 1, rooms.last_id = imid_after(rooms.last_id, rooms.session_tag) WHERE rooms.name = room;
    IF ROW_COUNT() > 0 THEN LEAVE take; END IF;
    SET new_id = (SELECT rooms.last_id FROM rooms WHERE rooms.name = '');
    INSERT INTO rooms (name, session_tag, last_number, last_id) VALUES (room, imid_session_tag_of(type, room), 0, new_id)
      ON DUPLICATE KEY UPDATE name = room;
  END LOOP;
  SELECT rooms.last_id, rooms.last_number, rooms.session_tag INTO new_id, new_number, tag FROM rooms WHERE rooms.name = room;
  IF NOT tag >> 22 <=> type THEN
    SET message = CONCAT('expected the session type of the room, ', tag >> 22, ', found ', COALESCE(type, 'NULL'));
    SIGNAL SQLSTATE '22023' SET MESSAGE_TEXT = message;
  END IF;
  store: LOOP
    BEGIN
      DECLARE CONTINUE HANDLER FOR 1062 SET is_new = FALSE;
      SET is_new = TRUE;
      INSERT INTO messages (id, room, number, sender, client_key, body) VALUES (new_id, room, new_number, sender, client_key, body);
    END;
    IF is_new THEN
      COMMIT;
      LEAVE store;
    END IF;
    SELECT messages.id, messages.number INTO known_id, new_number FROM messages
      WHERE messages.room = room AND messages.sender = sender AND messages.client_key = client_key;
    IF known_id IS NOT NULL THEN
      -- This gives the number back.
      ROLLBACK;
      SET new_id = known_id;
      LEAVE store;
    END IF;
    IF attempt = 5 THEN
      SET message = CONCAT('no new ID in 5 attempts in room "', LEFT(room, 60), '"');
      SIGNAL SQLSTATE '23000' SET MESSAGE_TEXT = message;
    END IF;
    -- A room with the same session tag has this ID.
    UPDATE rooms SET rooms.last_id = imid_after(rooms.last_id, rooms.session_tag) WHERE rooms.name = room;
    SET new_id = (SELECT rooms.last_id FROM rooms WHERE rooms.name = room), attempt = attempt + 1;
  END LOOP;
  SELECT new_id AS id, new_number AS number, is_new;
END //

DELIMITER ;
SET sql_mode = @imid_sql_mode, character_set_client = @imid_client, character_set_results = @imid_results,
  collation_connection = @imid_collation;
