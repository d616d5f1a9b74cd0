-- imid for SQLite 3.31 or later. SQLite has no functions in SQL, so this file makes a view of a table of messages, imid_messages. It
-- has the columns of the table and the fields of its IDs, for people and reports: SELECT imid_text, body FROM imid_messages. The
-- table itself gets one column, imid_session_tag, for the index of a room: CREATE INDEX ... ON messages (imid_session_tag, id).
--
-- The table is messages, and its column of IDs is id. For other names:
--   sed 's/messages/YOUR_TABLE/g' install.sql | sqlite3 YOUR_FILE
-- If the application stores the tag itself (SessionTag::to_u32), an insert is faster, and the column is not needed.
--
-- An ID is a BLOB of 10 bytes. spec/FORMAT.md defines the bits:
--   timestamp (Unix ms) 42 | spin 12 | session type 4 | session hash 22
-- The table should have CHECK (typeof(id) = 'blob' AND length(id) = 10): the columns of another value have no meaning.
--
-- A condition on a column of the view, such as imid_text = 'EUNC-Q8QJ-22GH-T3DD', reads all rows. Compare id with bytes instead. The
-- expressions for that need SQLite 3.43 for unhex and octet_length, and test.sql tests them.
--   The first and the last ID of the millisecond :ms, for id BETWEEN ... AND ... with the index:
--     unhex(printf('%010x%010x', :ms >> 2, (:ms & 3) << 38))
--     unhex(printf('%010x%010x', :ms >> 2, ((:ms & 3) << 38) | 274877906943))
--   The bytes of the text :id: see `one` in chat.sql, which checks the form first: instr and substr read other texts as some ID.
--   Whether :letters is the text of an ID (GLOB alone would stop at a zero character):
--     octet_length(:letters) = 19 AND :letters GLOB replace('dddd-dddd-dddd-dddd', 'd', '[2-9A-HJ-NP-Z]')
--   Whether :view is the text of a UUID view in lower case:
--     :view GLOB '0[0-3]' || replace('dddddd-dddd-7ddd-[89ab]ddd-dddfffffffff', 'd', '[0-9a-f]')
--
-- SQLite evaluates <<, >>, & and | from left to right with equal precedence, so each of them is in parentheses.

-- The session tag, 26 bits: type * 4194304 + hash. Two rooms can have the same tag. The column is virtual: the index stores it.
ALTER TABLE messages ADD COLUMN imid_session_tag INTEGER GENERATED ALWAYS AS (
  ((((instr('0123456789ABCDEF', substr(hex(id), 14, 1)) - 1) & 3) << 24) |
  ((instr('0123456789ABCDEF', substr(hex(id), 15, 1)) - 1) << 20) |
  ((instr('0123456789ABCDEF', substr(hex(id), 16, 1)) - 1) << 16) |
  ((instr('0123456789ABCDEF', substr(hex(id), 17, 1)) - 1) << 12) |
  ((instr('0123456789ABCDEF', substr(hex(id), 18, 1)) - 1) << 8) |
  ((instr('0123456789ABCDEF', substr(hex(id), 19, 1)) - 1) << 4) |
  (instr('0123456789ABCDEF', substr(hex(id), 20, 1)) - 1))) VIRTUAL;

CREATE VIEW imid_messages AS
-- The 80 bits in four numbers of 20 bits.
WITH bits AS (SELECT *,
  (((instr('0123456789ABCDEF', substr(hex(id), 1, 1)) - 1) << 16) |
    ((instr('0123456789ABCDEF', substr(hex(id), 2, 1)) - 1) << 12) |
    ((instr('0123456789ABCDEF', substr(hex(id), 3, 1)) - 1) << 8) |
    ((instr('0123456789ABCDEF', substr(hex(id), 4, 1)) - 1) << 4) |
    (instr('0123456789ABCDEF', substr(hex(id), 5, 1)) - 1)) AS imid_0_19,
  (((instr('0123456789ABCDEF', substr(hex(id), 6, 1)) - 1) << 16) |
    ((instr('0123456789ABCDEF', substr(hex(id), 7, 1)) - 1) << 12) |
    ((instr('0123456789ABCDEF', substr(hex(id), 8, 1)) - 1) << 8) |
    ((instr('0123456789ABCDEF', substr(hex(id), 9, 1)) - 1) << 4) |
    (instr('0123456789ABCDEF', substr(hex(id), 10, 1)) - 1)) AS imid_20_39,
  (((instr('0123456789ABCDEF', substr(hex(id), 11, 1)) - 1) << 16) |
    ((instr('0123456789ABCDEF', substr(hex(id), 12, 1)) - 1) << 12) |
    ((instr('0123456789ABCDEF', substr(hex(id), 13, 1)) - 1) << 8) |
    ((instr('0123456789ABCDEF', substr(hex(id), 14, 1)) - 1) << 4) |
    (instr('0123456789ABCDEF', substr(hex(id), 15, 1)) - 1)) AS imid_40_59,
  (((instr('0123456789ABCDEF', substr(hex(id), 16, 1)) - 1) << 16) |
    ((instr('0123456789ABCDEF', substr(hex(id), 17, 1)) - 1) << 12) |
    ((instr('0123456789ABCDEF', substr(hex(id), 18, 1)) - 1) << 8) |
    ((instr('0123456789ABCDEF', substr(hex(id), 19, 1)) - 1) << 4) |
    (instr('0123456789ABCDEF', substr(hex(id), 20, 1)) - 1)) AS imid_60_79
  FROM messages),
times AS (SELECT *, (imid_0_19 << 22) | (imid_20_39 << 2) | (imid_40_59 >> 18) AS imid_ms FROM bits)
SELECT *,
  -- The time in UTC, as SQLite's date functions write it.
  strftime('%Y-%m-%d %H:%M:%S', imid_ms / 1000, 'unixepoch') || printf('.%03d', imid_ms % 1000) AS imid_timestamp,
  -- The start of the hour, for GROUP BY.
  strftime('%Y-%m-%d %H:00:00', imid_ms / 1000, 'unixepoch') AS imid_hour,
  -- The bucket of 7 days. Bucket 0 begins on 1970-01-01 UTC.
  imid_ms / (7 * 86400000) AS imid_week,
  -- 0 to 4095.
  (imid_40_59 >> 6) & 4095 AS imid_spin,
  -- The code of the session type, 0 to 15.
  (imid_40_59 >> 2) & 15 AS imid_type,
  -- The name of the session type, or NULL for the codes without one (0 and 13 to 15).
  CASE (imid_40_59 >> 2) & 15 WHEN 1 THEN 'PRIVATE' WHEN 2 THEN 'DISCUSSION' WHEN 3 THEN 'GROUP' WHEN 4 THEN 'CHATROOM'
    WHEN 5 THEN 'CUSTOMER_SERVICE' WHEN 6 THEN 'SYSTEM' WHEN 7 THEN 'APP_PUBLIC_SERVICE' WHEN 8 THEN 'PUBLIC_SERVICE'
    WHEN 9 THEN 'PUSH_SERVICE' WHEN 10 THEN 'ULTRA_GROUP' WHEN 11 THEN 'ENCRYPTED' WHEN 12 THEN 'RTC' END AS imid_type_name,
  -- The session hash, 0 to 4194303.
  ((imid_40_59 & 3) << 20) | imid_60_79 AS imid_hash,
  -- The text of 19 characters.
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
    substr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', (imid_60_79 & 31) + 1, 1) AS imid_text,
  -- The UUID view: a UUID of version 7 in which the timestamp and the spin are in the usual places.
  printf('%08x-%04x-7%03x-%04x-%04xffffffff', imid_ms >> 16, imid_ms & 65535, (imid_40_59 >> 6) & 4095,
    32768 | (imid_session_tag >> 12), ((imid_session_tag & 4095) << 4) | 15) AS imid_uuid
FROM times;
