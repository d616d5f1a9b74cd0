-- Tests the columns of install.sql with the known answers of spec/vectors.json. Run it in this folder:
--   python ../embedded.py sqlite
-- The function readfile is that of the command sqlite3.
CREATE TEMP TABLE member AS SELECT list.key AS name, row.key AS n, row.value AS r FROM json_each(CAST(readfile('$VECTORS') AS TEXT)) AS list, json_each(CASE list.type WHEN 'array' THEN list.value ELSE '[]' END) AS row;
-- Fails unless the number is 0.
CREATE TEMP TABLE expect_none (what TEXT, wrong INTEGER CHECK (wrong = 0));
CREATE TEMP TABLE ids AS SELECT unhex(r->>'hex') AS id, r->>'text' AS letters, r->>'timestamp' AS ms, r->>'spin' AS spin,
  r->>'type' AS type, r->>'hash' AS hash, r->>'session_tag' AS session_tag, n FROM member WHERE name = 'ids';
INSERT INTO messages (id) SELECT id FROM ids;

INSERT INTO expect_none SELECT 'there are vectors', count(*) < 100 FROM ids;
INSERT INTO expect_none SELECT 'text', count(*) FROM ids JOIN imid_messages USING (id) WHERE imid_text IS NOT letters;
INSERT INTO expect_none SELECT 'fields', count(*) FROM ids JOIN imid_messages USING (id)
  WHERE (imid_ms, imid_spin, imid_type, imid_hash, imid_session_tag) IS NOT (ms, spin, type, hash, session_tag);
INSERT INTO expect_none SELECT 'timestamps', count(*) FROM ids JOIN imid_messages USING (id)
  WHERE strftime('%s', imid_timestamp) * 1000 + substr(imid_timestamp, -3) IS NOT ms;
INSERT INTO expect_none SELECT 'hours', count(*) FROM ids JOIN imid_messages USING (id)
  WHERE strftime('%s', imid_hour) IS NOT CAST(ms / 3600000 * 3600 AS TEXT);
INSERT INTO expect_none SELECT 'names of types', count(*) FROM imid_messages
  JOIN member ON name = 'types' AND r->>'code' = imid_type WHERE imid_type_name IS NOT r->>'name';
INSERT INTO expect_none SELECT 'the bytes of texts', count(*) FROM ids
  WHERE id IS NOT unhex(printf('%05x%05x%05x%05x',
    ((instr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', substr(letters, 1, 1)) - 1) << 15) | ((instr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', substr(letters, 2, 1)) - 1) << 10) | ((instr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', substr(letters, 3, 1)) - 1) << 5) | (instr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', substr(letters, 4, 1)) - 1),
    ((instr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', substr(letters, 6, 1)) - 1) << 15) | ((instr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', substr(letters, 7, 1)) - 1) << 10) | ((instr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', substr(letters, 8, 1)) - 1) << 5) | (instr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', substr(letters, 9, 1)) - 1),
    ((instr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', substr(letters, 11, 1)) - 1) << 15) | ((instr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', substr(letters, 12, 1)) - 1) << 10) | ((instr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', substr(letters, 13, 1)) - 1) << 5) | (instr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', substr(letters, 14, 1)) - 1),
    ((instr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', substr(letters, 16, 1)) - 1) << 15) | ((instr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', substr(letters, 17, 1)) - 1) << 10) | ((instr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', substr(letters, 18, 1)) - 1) << 5) | (instr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', substr(letters, 19, 1)) - 1)));
INSERT INTO expect_none SELECT 'the table has one more column', count(*) - 1 FROM pragma_table_xinfo('messages') WHERE name <> 'id';
INSERT INTO expect_none SELECT 'weeks', count(*) FROM ids JOIN imid_messages USING (id) WHERE imid_week IS NOT ms / 604800000;
INSERT INTO expect_none SELECT 'UUIDs', count(*) FROM member, imid_messages WHERE name = 'uuids' AND imid_text = r->>'text'
  AND imid_uuid IS NOT r->>'uuid';
INSERT INTO expect_none SELECT 'the order', count(*) FROM (SELECT n, row_number() OVER (ORDER BY id) - 1 AS a,
  row_number() OVER (ORDER BY imid_text) - 1 AS b, row_number() OVER (ORDER BY imid_uuid) - 1 AS c
  FROM ids JOIN imid_messages USING (id)) WHERE (a, b, c) IS NOT (n, n, n);
INSERT INTO expect_none SELECT 'texts', count(*) FROM ids WHERE NOT letters GLOB replace('dddd-dddd-dddd-dddd', 'd', '[2-9A-HJ-NP-Z]');
-- The JSON functions of older versions end a text at its zero character.
INSERT INTO expect_none SELECT 'texts that are refused', count(*) FROM member
  WHERE name = 'texts_refused' AND (sqlite_version() >= '3.43' OR NOT instr(r, '\u0000')) AND octet_length(r->>'input') = 19 AND r->>'input' GLOB replace('dddd-dddd-dddd-dddd', 'd', '[2-9A-HJ-NP-Z]') ;
INSERT INTO expect_none SELECT 'views', count(*) FROM member
  WHERE name IN ('uuids', 'uuids_refused') AND (name = 'uuids') IS NOT
  (r->>'uuid' GLOB '0[0-3]' || replace('dddddd-dddd-7ddd-[89ab]ddd-dddfffffffff', 'd', '[0-9a-f]'));
CREATE TEMP TABLE times AS SELECT r->>'first' AS first, r->>'last' AS last, r->>'from' AS a, r->>'to' AS b FROM member WHERE name = 'times';
INSERT OR IGNORE INTO messages (id) SELECT unhex(printf('%010x%010x', a >> 2, (a & 3) << 38)) FROM times
  UNION SELECT unhex(printf('%010x%010x', b >> 2, ((b & 3) << 38) | 274877906943)) FROM times;
INSERT INTO expect_none SELECT 'times', count(*) FROM times
  WHERE first NOT IN (SELECT imid_text FROM imid_messages WHERE id = unhex(printf('%010x%010x', a >> 2, (a & 3) << 38)))
  OR last NOT IN (SELECT imid_text FROM imid_messages WHERE id = unhex(printf('%010x%010x', b >> 2, ((b & 3) << 38) | 274877906943)));
INSERT INTO expect_none SELECT 'first and last', count(*) FROM ids
  WHERE id NOT BETWEEN unhex(printf('%010x%010x', ms >> 2, (ms & 3) << 38))
  AND unhex(printf('%010x%010x', ms >> 2, ((ms & 3) << 38) | 274877906943));
-- The reason for the parentheses in install.sql. Other languages have 10.
INSERT INTO expect_none SELECT 'bit operators have equal precedence', (1 << 3 | 1 << 1) - 18;
-- The CHECK of the table refuses what has another type or length, because the columns would read it as another ID.
INSERT OR IGNORE INTO messages (id) SELECT unhex(r->>'bytes') FROM member WHERE name = 'bytes_refused'
  UNION ALL SELECT r->>'text' FROM member WHERE name = 'ids' UNION ALL SELECT 'ten letters' UNION ALL SELECT '0123456789';
INSERT INTO expect_none SELECT 'values that are not IDs', count(*) FROM messages WHERE typeof(id) <> 'blob' OR length(id) <> 10;
SELECT 'ok: ' || what FROM expect_none;
DELETE FROM messages;
