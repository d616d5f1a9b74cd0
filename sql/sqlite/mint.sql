-- IDs minted in SQL, in SQLite 3.35 or later, with the tables of tables.sql. SQLite has no functions in SQL, so an application runs these
-- statements, with parameters:
--
--   BEGIN IMMEDIATE
--   take: the next number of the room, and a new ID as 20 hex digits, whose 10 bytes are :id below. It is after the last ID of the room,
--     whichever process minted that. The first message makes the room's row
--   store: without a row, the client has sent this message before: ROLLBACK, and `known` in numbers.sql has its ID and number
--   COMMIT
--
-- If take returns no row, the room's last ID is more than a day ahead of the clock: ROLLBACK and report it. If store fails at the primary key
-- (SQLITE_CONSTRAINT_PRIMARYKEY), a room with the same session tag has this ID: ROLLBACK and begin again, up to 5 times. :session_tag is
-- what `imid new --type group --session room-42 --tag` prints, SessionTag::to_u32, or the type * 4194304 + the hash of the name
-- (spec/FORMAT.md names libraries); of an existing room it is not used.

-- take: Takes the number, and mints the ID: the greater of the time with a random spin, and a random step of 1 to 1,024 spins after the last ID.
INSERT INTO rooms (name, session_tag, last_number, last_stamp) VALUES (:room, :session_tag, 1,
  max((CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) << 12) + (random() & 4095),
    (SELECT last_stamp FROM rooms WHERE name = '') + 1 + (random() & 1023)))
  ON CONFLICT (name) DO UPDATE SET last_number = last_number + 1, last_stamp = max(excluded.last_stamp, last_stamp + 1 + (random() & 1023))
    WHERE (last_stamp >> 12) - CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) <= 86400000
  RETURNING last_number, printf('%010X%010X', last_stamp >> 14, ((last_stamp & 16383) << 26) | session_tag) AS id;

-- store: Stores the message, unless its client has sent it before.
INSERT INTO messages (id, room, number, sender, client_key, body) VALUES (:id, :room, :number, :sender, :key, :body)
  ON CONFLICT (room, sender, client_key) DO NOTHING RETURNING number;

-- lift: A database that was restored does not know its latest IDs, but readers do. Run this before writers return, with the time whose commits may
-- be lost, in milliseconds.
UPDATE rooms SET last_stamp =
  (max(last_stamp >> 12, CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER)) + :ahead + 1) << 12;
