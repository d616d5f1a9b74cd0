-- Compares the columns of the view with rows that the library wrote: see tests/stores/src/bin/rows.rs. The runner has put them into the table
-- written (n, hex, letters, view, ms, spin, type, hash, session, bucket).
INSERT INTO messages (id) SELECT unhex(hex) FROM written;
SELECT count(*) || ' rows of the library' FROM imid_messages;
CREATE TEMP TABLE expect_same (what TEXT, wrong INTEGER CHECK (wrong = 0));
INSERT INTO expect_same SELECT 'the rows of the library', count(*) FROM written JOIN imid_messages AS messages ON id = unhex(hex)
  WHERE (imid_text, imid_uuid, imid_ms, imid_spin, imid_type, imid_hash, imid_session_tag, imid_week)
  IS NOT (letters, view, ms, spin, type, hash, session_tag, bucket);
INSERT INTO expect_same SELECT 'the order of the rows', count(*) FROM (SELECT n, row_number() OVER (ORDER BY unhex(hex)) - 1 AS a,
  row_number() OVER (ORDER BY letters) - 1 AS b, row_number() OVER (ORDER BY view) - 1 AS c FROM written) WHERE (a, b, c) IS NOT (n, n, n);
SELECT 'ok: ' || what FROM expect_same;
