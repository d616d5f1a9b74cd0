-- imid for PostgreSQL 14 or later: IDs minted in SQL, by the clock of the database. Plain functions, no extension and no superuser: run this
-- file with the right to create in the schema of the tables. It needs no other file and can be run again; uninstall.sql removes the functions.
--
--   imid_post(room, type, sender, client_key, body)    stores a message in the tables of tables.sql
--   imid_after(last, session_tag)                      a new ID after the last one of a room, for tables of your own
--   imid_lift(last, session_tag, ahead_ms)             for the statement after a failover that lost commits
--   imid_session_tag_of(type, name)                    the session tag of a room. It takes 0.2 ms and more, so the room's row has it
--   imid_pair_tag_of(a, b)                             the session tag of a private conversation
--
-- docs/STORES.md says how a transaction uses them, and spec/FORMAT.md defines the bits of an ID and the hash.

-- ---------------------------------------------------------------------------------------------------------------------
-- XXH3 of 64 bits, with seed 0 and the default secret. 64 bits are a bigint, which has a sign and refuses to overflow, so sums and products
-- are computed as numeric.

-- The unsigned value of 64 bits, and the lower 64 bits of an unsigned value.
CREATE OR REPLACE FUNCTION imid_xxh3_unsigned(bits bigint) RETURNS numeric
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN bits + CASE WHEN bits < 0 THEN 18446744073709551616 ELSE 0 END;

CREATE OR REPLACE FUNCTION imid_xxh3_bits(value numeric) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN ((value + 9223372036854775808) % 18446744073709551616 - 9223372036854775808)::bigint;

CREATE OR REPLACE FUNCTION imid_xxh3_add(a bigint, b bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN imid_xxh3_bits(imid_xxh3_unsigned(a) + imid_xxh3_unsigned(b));

CREATE OR REPLACE FUNCTION imid_xxh3_multiply(a bigint, b bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN imid_xxh3_bits(imid_xxh3_unsigned(a) * imid_xxh3_unsigned(b));

-- The lower and the upper half of the product, combined.
CREATE OR REPLACE FUNCTION imid_xxh3_fold(a bigint, b bigint) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE product CONSTANT numeric := imid_xxh3_unsigned(a) * imid_xxh3_unsigned(b);
BEGIN
  RETURN imid_xxh3_bits(product) # imid_xxh3_bits(div(product, 18446744073709551616));
END $$;

-- A shift that fills with zeros.
CREATE OR REPLACE FUNCTION imid_xxh3_shift(bits bigint, places integer) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN (bits >> places) & ((1::bigint << (64 - places)) - 1);

CREATE OR REPLACE FUNCTION imid_xxh3_avalanche(bits bigint) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE mixed CONSTANT bigint := imid_xxh3_multiply(bits # imid_xxh3_shift(bits, 37), x'165667919E3779F9'::bigint);
BEGIN
  RETURN mixed # imid_xxh3_shift(mixed, 32);
END $$;

-- Eight bytes, the least significant first.
CREATE OR REPLACE FUNCTION imid_xxh3_word(bytes bytea, at integer) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN get_byte(bytes, at)::bigint | (get_byte(bytes, at + 1)::bigint << 8) | (get_byte(bytes, at + 2)::bigint << 16)
    | (get_byte(bytes, at + 3)::bigint << 24) | (get_byte(bytes, at + 4)::bigint << 32) | (get_byte(bytes, at + 5)::bigint << 40)
    | (get_byte(bytes, at + 6)::bigint << 48) | (get_byte(bytes, at + 7)::bigint << 56);

CREATE OR REPLACE FUNCTION imid_xxh3_mix(bytes bytea, at integer, secret bytea, secret_at integer) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN imid_xxh3_fold(imid_xxh3_word(bytes, at) # imid_xxh3_word(secret, secret_at),
    imid_xxh3_word(bytes, at + 8) # imid_xxh3_word(secret, secret_at + 8));

-- It keeps the search_path of the installation, because pg_restore and CREATE INDEX empty it.
CREATE OR REPLACE FUNCTION imid_xxh3(bytes bytea) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path FROM CURRENT AS $$
DECLARE
  secret CONSTANT bytea := decode('b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221'
    'b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8'
    'a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb'
    '170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e', 'hex');
  half CONSTANT bigint := 4294967295;
  prime_32_1 CONSTANT bigint := 2654435761;
  prime_32_2 CONSTANT bigint := 2246822519;
  prime_32_3 CONSTANT bigint := 3266489917;
  prime_64_1 CONSTANT bigint := x'9E3779B185EBCA87'::bigint;
  prime_64_2 CONSTANT bigint := x'C2B2AE3D27D4EB4F'::bigint;
  prime_64_3 CONSTANT bigint := x'165667B19E3779F9'::bigint;
  prime_64_4 CONSTANT bigint := x'85EBCA77C2B2AE63'::bigint;
  prime_64_5 CONSTANT bigint := x'27D4EB2F165667C5'::bigint;
  prime_short CONSTANT bigint := x'9FB21C651E98DF25'::bigint;
  size CONSTANT integer := octet_length(bytes);
  lanes bigint[] := ARRAY[prime_32_3, prime_64_1, prime_64_2, prime_64_3, prime_64_4, prime_32_2, prime_64_5, prime_32_1];
  hash bigint := imid_xxh3_multiply(size, prime_64_1);
  word bigint;
  key bigint;
  stripes CONSTANT integer := (size - 1) / 64;
  at integer;
BEGIN
  IF size <= 3 THEN
    IF size = 0 THEN
      hash := imid_xxh3_word(secret, 56) # imid_xxh3_word(secret, 64);
    ELSE
      hash := (get_byte(bytes, 0) << 16) | (get_byte(bytes, size / 2)::bigint << 24) | get_byte(bytes, size - 1) | (size << 8);
      hash := hash # ((imid_xxh3_word(secret, 0) # imid_xxh3_word(secret, 4)) & half);
    END IF;
    hash := imid_xxh3_multiply(hash # imid_xxh3_shift(hash, 33), prime_64_2);
    hash := imid_xxh3_multiply(hash # imid_xxh3_shift(hash, 29), prime_64_3);
    RETURN hash # imid_xxh3_shift(hash, 32);
  ELSIF size <= 8 THEN
    hash := imid_xxh3_add(imid_xxh3_word(bytes || '\x00000000', size - 4) & half, imid_xxh3_word(bytes || '\x00000000', 0) << 32);
    hash := hash # imid_xxh3_word(secret, 8) # imid_xxh3_word(secret, 16);
    hash := hash # ((hash << 49) | imid_xxh3_shift(hash, 15)) # ((hash << 24) | imid_xxh3_shift(hash, 40));
    hash := imid_xxh3_multiply(hash, prime_short);
    hash := imid_xxh3_multiply(hash # (imid_xxh3_shift(hash, 35) + size), prime_short);
    RETURN hash # imid_xxh3_shift(hash, 28);
  ELSIF size <= 16 THEN
    word := imid_xxh3_word(bytes, 0) # imid_xxh3_word(secret, 24) # imid_xxh3_word(secret, 32);
    key := imid_xxh3_word(bytes, size - 8) # imid_xxh3_word(secret, 40) # imid_xxh3_word(secret, 48);
    hash := 0;
    FOR at IN 0..7 LOOP
      hash := (hash << 8) | ((word >> (8 * at)) & 255);
    END LOOP;
    hash := imid_xxh3_add(imid_xxh3_add(size, hash), imid_xxh3_add(key, imid_xxh3_fold(word, key)));
  ELSIF size <= 128 THEN
    FOR at IN 0..(size - 1) / 32 LOOP
      hash := imid_xxh3_add(hash, imid_xxh3_mix(bytes, 16 * at, secret, 32 * at));
      hash := imid_xxh3_add(hash, imid_xxh3_mix(bytes, size - 16 * (at + 1), secret, 32 * at + 16));
    END LOOP;
  ELSIF size <= 240 THEN
    FOR at IN 0..7 LOOP
      hash := imid_xxh3_add(hash, imid_xxh3_mix(bytes, 16 * at, secret, 16 * at));
    END LOOP;
    hash := imid_xxh3_avalanche(hash);
    FOR at IN 8..size / 16 - 1 LOOP
      hash := imid_xxh3_add(hash, imid_xxh3_mix(bytes, 16 * at, secret, 16 * at - 125));
    END LOOP;
    hash := imid_xxh3_add(hash, imid_xxh3_mix(bytes, size - 16, secret, 119));
  ELSE
    -- Stripes of 64 bytes, and the last 64 bytes. 16 stripes are a block, after which the lanes are scrambled.
    FOR stripe IN 0..stripes LOOP
      IF stripe > 0 AND stripe % 16 = 0 THEN
        FOR lane IN 0..7 LOOP
          word := lanes[lane + 1];
          word := word # imid_xxh3_shift(word, 47) # imid_xxh3_word(secret, 128 + 8 * lane);
          lanes[lane + 1] := imid_xxh3_multiply(word, prime_32_1);
        END LOOP;
      END IF;
      FOR lane IN 0..7 LOOP
        at := 8 * lane + CASE WHEN stripe < stripes THEN 64 * stripe ELSE size - 64 END;
        word := imid_xxh3_word(bytes, at);
        key := word # imid_xxh3_word(secret, 8 * lane + CASE WHEN stripe < stripes THEN 8 * (stripe % 16) ELSE 121 END);
        lanes[(lane # 1) + 1] := imid_xxh3_add(lanes[(lane # 1) + 1], word);
        lanes[lane + 1] := imid_xxh3_add(lanes[lane + 1], imid_xxh3_multiply(key & half, imid_xxh3_shift(key, 32)));
      END LOOP;
    END LOOP;
    FOR pair IN 0..3 LOOP
      hash := imid_xxh3_add(hash, imid_xxh3_fold(lanes[2 * pair + 1] # imid_xxh3_word(secret, 11 + 16 * pair),
        lanes[2 * pair + 2] # imid_xxh3_word(secret, 19 + 16 * pair)));
    END LOOP;
  END IF;
  RETURN imid_xxh3_avalanche(hash);
END $$;

-- ---------------------------------------------------------------------------------------------------------------------
-- Session tags. Each returns NULL for NULL.

-- The session tag of a name: type * 4194304 + hash. The type is 0 to 15.
CREATE OR REPLACE FUNCTION imid_session_tag_of(type integer, name text) RETURNS integer
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path FROM CURRENT AS $$
BEGIN
  IF type NOT BETWEEN 0 AND 15 THEN
    RAISE EXCEPTION 'expected a session type from 0 to 15, found %', type USING ERRCODE = 'invalid_parameter_value';
  END IF;
  RETURN (type << 22) | (imid_xxh3(convert_to(name, 'UTF8')) & 4194303);
END $$;

-- The session tag of the private conversation of two users, in either order.
CREATE OR REPLACE FUNCTION imid_pair_tag_of(a text, b text) RETURNS integer
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path FROM CURRENT AS $$
DECLARE
  -- Most significant byte first, bytes compare as the unsigned numbers do.
  first CONSTANT bytea := int8send(imid_xxh3(convert_to(a, 'UTF8')));
  second CONSTANT bytea := int8send(imid_xxh3(convert_to(b, 'UTF8')));
BEGIN
  RETURN (1 << 22) | (imid_xxh3(least(first, second) || greatest(first, second)) & 4194303);
END $$;

-- ---------------------------------------------------------------------------------------------------------------------
-- IDs.

-- Returns a new ID with this session tag, after `last`. Without a `last` it has the time of the database, with a random spin. If `last` is at
-- that time or ahead of it, the ID is a random step of 1 to 1,024 spins after it: a step of one would give the same ID again after a
-- collision, or after a failover that lost it. `last` must be the one that this transaction has locked:
--   UPDATE rooms SET last_id = imid_after(last_id, session_tag) WHERE name = 'room-42' RETURNING last_id;
-- It is an error if `last` is more than limit_ms ahead of the clock, by default a day: 22008.
CREATE OR REPLACE FUNCTION imid_after(last bytea, session_tag integer, limit_ms bigint DEFAULT 86400000) RETURNS bytea
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  now_ms CONSTANT bigint := floor(date_part('epoch', clock_timestamp()) * 1000);
  -- The timestamp and the spin: the upper 54 bits.
  stamp bigint := now_ms * 4096 + floor(random() * 4096)::integer;
  last_stamp bigint;
BEGIN
  IF session_tag IS NULL OR session_tag NOT BETWEEN 0 AND 67108863 THEN
    RAISE EXCEPTION 'expected a session tag from 0 to 67108863, found %', coalesce(session_tag::text, 'NULL')
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF limit_ms IS NULL OR limit_ms < 0 THEN
    RAISE EXCEPTION 'expected a limit_ms of 0 or more, found %', coalesce(limit_ms::text, 'NULL') USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF last IS NOT NULL THEN
    IF octet_length(last) <> 10 THEN
      RAISE EXCEPTION 'expected a last ID of 10 bytes, found % bytes', octet_length(last) USING ERRCODE = 'invalid_parameter_value';
    END IF;
    last_stamp := (get_byte(last, 0)::bigint << 46) | (get_byte(last, 1)::bigint << 38) | (get_byte(last, 2)::bigint << 30)
      | (get_byte(last, 3)::bigint << 22) | (get_byte(last, 4) << 14) | (get_byte(last, 5) << 6) | (get_byte(last, 6) >> 2);
    IF (last_stamp >> 12) - now_ms > limit_ms THEN
      RAISE EXCEPTION 'last ID is % ms ahead of the clock (limit % ms)', (last_stamp >> 12) - now_ms, limit_ms
        USING ERRCODE = 'datetime_field_overflow';
    END IF;
    stamp := greatest(stamp, last_stamp + 1 + floor(random() * 1024)::integer);
  END IF;
  IF stamp NOT BETWEEN 0 AND 18014398509481983 THEN
    RAISE EXCEPTION 'expected a time from 1970 to 2109, found % ms', stamp >> 12 USING ERRCODE = 'datetime_field_overflow';
  END IF;
  -- Two numbers of 40 bits.
  RETURN substring(int8send(stamp >> 14) FROM 4) || substring(int8send(((stamp & 16383) << 26) | session_tag) FROM 4);
END $$;

-- Returns an ID with this tag that is ahead_ms after `last` and after the time of the database. A database that was promoted or restored does
-- not know its latest IDs, but readers do. Before writers return, lift each room by the time whose commits may be lost, plus the difference of
-- the two servers' clocks. Rooms without a row begin after the last ID of the row ''.
--   UPDATE rooms SET last_id = imid_lift(last_id, session_tag, 60000);
CREATE OR REPLACE FUNCTION imid_lift(last bytea, session_tag integer, ahead_ms bigint) RETURNS bytea
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  -- A room that is too far ahead is lifted too.
  after CONSTANT bytea := imid_after(last, session_tag, 9223372036854775807);
  ms bigint := (get_byte(after, 0)::bigint << 34) | (get_byte(after, 1)::bigint << 26) | (get_byte(after, 2) << 18)
    | (get_byte(after, 3) << 10) | (get_byte(after, 4) << 2) | (get_byte(after, 5) >> 6);
BEGIN
  IF ahead_ms IS NULL OR ahead_ms NOT BETWEEN 0 AND 86400000 THEN
    RAISE EXCEPTION 'expected an ahead_ms from 0 to 86400000, found %', coalesce(ahead_ms::text, 'NULL')
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  ms := ms + ahead_ms + 1;
  IF ms > 4398046511103 THEN
    RAISE EXCEPTION 'expected a time from 1970 to 2109, found % ms', ms USING ERRCODE = 'datetime_field_overflow';
  END IF;
  RETURN substring(int8send(ms >> 2) FROM 4) || substring(int8send(((ms & 3) << 38) | session_tag) FROM 4);
END $$;

-- ---------------------------------------------------------------------------------------------------------------------
-- Messages.

-- Stores a message in one round trip, and returns its ID, its number in the room, and whether it is new: if this sender has used this
-- client_key in this room before, that message is returned, so repeat the call after any error. The first message of a room makes the room's
-- row, with imid_session_tag_of(type, room); for a private conversation insert the row before, with imid_pair_tag_of and last_number 0.
-- It needs READ COMMITTED, the default. The room is locked until the transaction ends; show the ID to others after that.
CREATE OR REPLACE FUNCTION imid_post(room text, type integer, sender text, client_key text, body text,
  OUT id bytea, OUT number bigint, OUT is_new boolean)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
  tag integer;
BEGIN
  LOOP
    -- A transaction that waits for the lock gets the row as it was committed, with the last ID.
    UPDATE rooms SET last_number = last_number + 1, last_id = imid_after(last_id, session_tag) WHERE name = imid_post.room
      RETURNING last_id, last_number, session_tag INTO id, number, tag;
    EXIT WHEN FOUND;
    INSERT INTO rooms (name, session_tag, last_number, last_id) VALUES (imid_post.room, imid_session_tag_of(imid_post.type, imid_post.room), 0,
      (SELECT last_id FROM rooms WHERE name = '')) ON CONFLICT (name) DO NOTHING;
  END LOOP;
  IF tag >> 22 IS DISTINCT FROM imid_post.type THEN
    RAISE EXCEPTION 'expected the session type of the room, %, found %', tag >> 22, coalesce(imid_post.type::text, 'NULL')
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  FOR attempt IN 1..5 LOOP
    INSERT INTO messages (id, room, number, sender, client_key, body)
      VALUES (imid_post.id, imid_post.room, imid_post.number, imid_post.sender, imid_post.client_key, imid_post.body) ON CONFLICT DO NOTHING;
    is_new := FOUND;
    IF is_new THEN RETURN; END IF;
    SELECT messages.id, messages.number INTO id, number FROM messages
      WHERE room = imid_post.room AND sender = imid_post.sender AND client_key = imid_post.client_key;
    IF FOUND THEN
      UPDATE rooms SET last_number = last_number - 1 WHERE name = imid_post.room;
      RETURN;
    END IF;
    -- A room with the same session tag has this ID.
    UPDATE rooms SET last_id = imid_after(last_id, session_tag) WHERE name = imid_post.room
      RETURNING last_id, last_number INTO id, number;
  END LOOP;
  RAISE EXCEPTION 'no new ID in 5 attempts in room "%"', imid_post.room USING ERRCODE = 'unique_violation';
END $$;
