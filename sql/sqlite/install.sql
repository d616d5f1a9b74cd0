-- imid for SQLite 3.31 or later: SQLite has no functions in SQL, so this file adds columns to a table that has IDs. They are
-- virtual: they take no space in the table, and an index can have them.
--
-- The table is messages, and its column of IDs is id. For other names:
--   sed 's/messages/YOUR_TABLE/g' install.sql | sqlite3 YOUR_FILE
--
-- An ID is a BLOB of 10 bytes. docs/FORMAT.md defines the bits:
--   timestamp (unix ms) 42 | spin 12 | session type 4 | session hash 22
-- The table should have CHECK (typeof(id) = 'blob' AND length(id) = 10): the columns of another value have no meaning.
--
-- SQLite evaluates <<, >>, & and | from left to right with equal precedence, so each of them is in parentheses.
--
-- Expressions for what is not in a row. They need SQLite 3.43 for unhex and octet_length, and test.sql tests them.
--   The first and the last ID of the millisecond :ms, for id BETWEEN ... AND ... with the index:
--     unhex(printf('%010x%010x', :ms >> 2, (:ms & 3) << 38))
--     unhex(printf('%010x%010x', :ms >> 2, ((:ms & 3) << 38) | 274877906943))
--   Whether :letters is the text of an ID (GLOB alone would stop at a zero character):
--     octet_length(:letters) = 19 AND :letters GLOB replace('dddd-dddd-dddd-dddd', 'd', '[2-9A-HJ-NP-Z]')
--   Whether :view is the text of a UUID view in lower case:
--     :view GLOB '0[0-3]' || replace('dddddd-dddd-7ddd-[89ab]ddd-ddd000000000', 'd', '[0-9a-f]')

-- The 80 bits in four numbers of 20 bits.
ALTER TABLE messages ADD COLUMN imid_0_19 INTEGER GENERATED ALWAYS AS (
  ((instr('0123456789ABCDEF', substr(hex(id), 1, 1)) - 1) << 16) |
  ((instr('0123456789ABCDEF', substr(hex(id), 2, 1)) - 1) << 12) |
  ((instr('0123456789ABCDEF', substr(hex(id), 3, 1)) - 1) << 8) |
  ((instr('0123456789ABCDEF', substr(hex(id), 4, 1)) - 1) << 4) |
  ((instr('0123456789ABCDEF', substr(hex(id), 5, 1)) - 1))) VIRTUAL;
ALTER TABLE messages ADD COLUMN imid_20_39 INTEGER GENERATED ALWAYS AS (
  ((instr('0123456789ABCDEF', substr(hex(id), 6, 1)) - 1) << 16) |
  ((instr('0123456789ABCDEF', substr(hex(id), 7, 1)) - 1) << 12) |
  ((instr('0123456789ABCDEF', substr(hex(id), 8, 1)) - 1) << 8) |
  ((instr('0123456789ABCDEF', substr(hex(id), 9, 1)) - 1) << 4) |
  ((instr('0123456789ABCDEF', substr(hex(id), 10, 1)) - 1))) VIRTUAL;
ALTER TABLE messages ADD COLUMN imid_40_59 INTEGER GENERATED ALWAYS AS (
  ((instr('0123456789ABCDEF', substr(hex(id), 11, 1)) - 1) << 16) |
  ((instr('0123456789ABCDEF', substr(hex(id), 12, 1)) - 1) << 12) |
  ((instr('0123456789ABCDEF', substr(hex(id), 13, 1)) - 1) << 8) |
  ((instr('0123456789ABCDEF', substr(hex(id), 14, 1)) - 1) << 4) |
  ((instr('0123456789ABCDEF', substr(hex(id), 15, 1)) - 1))) VIRTUAL;
ALTER TABLE messages ADD COLUMN imid_60_79 INTEGER GENERATED ALWAYS AS (
  ((instr('0123456789ABCDEF', substr(hex(id), 16, 1)) - 1) << 16) |
  ((instr('0123456789ABCDEF', substr(hex(id), 17, 1)) - 1) << 12) |
  ((instr('0123456789ABCDEF', substr(hex(id), 18, 1)) - 1) << 8) |
  ((instr('0123456789ABCDEF', substr(hex(id), 19, 1)) - 1) << 4) |
  ((instr('0123456789ABCDEF', substr(hex(id), 20, 1)) - 1))) VIRTUAL;

-- Unix milliseconds.
ALTER TABLE messages ADD COLUMN imid_ms INTEGER GENERATED ALWAYS AS (
  (imid_0_19 << 22) | (imid_20_39 << 2) | (imid_40_59 >> 18)) VIRTUAL;

-- The time in UTC, as SQLite's date functions write it.
ALTER TABLE messages ADD COLUMN imid_timestamp TEXT GENERATED ALWAYS AS (
  strftime('%Y-%m-%d %H:%M:%S', imid_ms / 1000, 'unixepoch') || printf('.%03d', imid_ms % 1000)) VIRTUAL;

-- 0 to 4095.
ALTER TABLE messages ADD COLUMN imid_spin INTEGER GENERATED ALWAYS AS (
  (imid_40_59 >> 6) & 4095) VIRTUAL;

-- The code of the session type, 0 to 15.
ALTER TABLE messages ADD COLUMN imid_type INTEGER GENERATED ALWAYS AS (
  (imid_40_59 >> 2) & 15) VIRTUAL;

-- The name of the session type, or NULL for the codes without one (0 and 13 to 15).
ALTER TABLE messages ADD COLUMN imid_type_name TEXT GENERATED ALWAYS AS (
  CASE imid_type WHEN 1 THEN 'PRIVATE' WHEN 2 THEN 'DISCUSSION' WHEN 3 THEN 'GROUP' WHEN 4 THEN 'CHATROOM'
  WHEN 5 THEN 'CUSTOMER_SERVICE' WHEN 6 THEN 'SYSTEM' WHEN 7 THEN 'APP_PUBLIC_SERVICE' WHEN 8 THEN 'PUBLIC_SERVICE'
  WHEN 9 THEN 'PUSH_SERVICE' WHEN 10 THEN 'ULTRA_GROUP' WHEN 11 THEN 'ENCRYPTED' WHEN 12 THEN 'RTC' END) VIRTUAL;

-- The session hash, 0 to 4194303.
ALTER TABLE messages ADD COLUMN imid_hash INTEGER GENERATED ALWAYS AS (
  ((imid_40_59 & 3) << 20) | imid_60_79) VIRTUAL;

-- The session, 26 bits: type * 4194304 + hash.
ALTER TABLE messages ADD COLUMN imid_session INTEGER GENERATED ALWAYS AS (
  ((imid_40_59 & 63) << 20) | imid_60_79) VIRTUAL;

-- The bucket of 7 days. Bucket 0 begins on 1970-01-01 UTC.
ALTER TABLE messages ADD COLUMN imid_week INTEGER GENERATED ALWAYS AS (
  imid_ms / (7 * 86400000)) VIRTUAL;

-- The text of 19 characters.
ALTER TABLE messages ADD COLUMN imid_text TEXT GENERATED ALWAYS AS (
  substr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', ((imid_0_19 >> 15) & 31) + 1, 1) ||
  substr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', ((imid_0_19 >> 10) & 31) + 1, 1) ||
  substr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', ((imid_0_19 >> 5) & 31) + 1, 1) ||
  substr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', (imid_0_19 & 31) + 1, 1) || '-' ||
  substr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', ((imid_20_39 >> 15) & 31) + 1, 1) ||
  substr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', ((imid_20_39 >> 10) & 31) + 1, 1) ||
  substr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', ((imid_20_39 >> 5) & 31) + 1, 1) ||
  substr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', (imid_20_39 & 31) + 1, 1) || '-' ||
  substr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', ((imid_40_59 >> 15) & 31) + 1, 1) ||
  substr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', ((imid_40_59 >> 10) & 31) + 1, 1) ||
  substr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', ((imid_40_59 >> 5) & 31) + 1, 1) ||
  substr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', (imid_40_59 & 31) + 1, 1) || '-' ||
  substr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', ((imid_60_79 >> 15) & 31) + 1, 1) ||
  substr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', ((imid_60_79 >> 10) & 31) + 1, 1) ||
  substr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', ((imid_60_79 >> 5) & 31) + 1, 1) ||
  substr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', (imid_60_79 & 31) + 1, 1)) VIRTUAL;

-- The UUID view: a UUID of version 7 in which the timestamp and the spin are in the usual places.
ALTER TABLE messages ADD COLUMN imid_uuid TEXT GENERATED ALWAYS AS (
  printf('%08x-%04x-7%03x-%04x-%04x00000000', imid_ms >> 16, imid_ms & 65535,
  imid_spin, 32768 | (imid_session >> 12), (imid_session & 4095) << 4)) VIRTUAL;
