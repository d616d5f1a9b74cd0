-- Compares the functions with rows that the library wrote: see tests/stores/src/bin/rows.rs. $ROWS is the file.
CREATE DATABASE IF NOT EXISTS imid_test;
CREATE OR REPLACE TABLE imid_test.written (n Int64, hex String, letters String, view UUID, ms Int64, spin UInt16, type UInt8,
  hash UInt32, session_tag UInt32, bucket Int32, id FixedString(10) MATERIALIZED unhex(hex)) ENGINE = MergeTree ORDER BY id;
INSERT INTO imid_test.written (n, hex, letters, view, ms, spin, type, hash, session_tag, bucket) SELECT * FROM file('$ROWS', 'CSV',
  'n Int64, hex String, letters String, view UUID, ms Int64, spin UInt16, type UInt8, hash UInt32, session_tag UInt32, bucket Int32');
SELECT concat(toString(count()), ' rows of the library') FROM imid_test.written;
SELECT concat('ok: the rows of the library', left('', throwIf(count() > 0, 'rows differ'))) FROM imid_test.written WHERE
  (imid_text(id), imid_bytes(letters), imid_uuid(id), imid_from_uuid(view)) != (letters, id, view, id)
  OR (imid_ms(id), imid_spin(id), imid_type(id), imid_hash(id), imid_session_tag(id), imid_bucket(id, 7))
    != (ms, spin, type, hash, session_tag, bucket)
  OR id NOT BETWEEN imid_first(ms) AND imid_last(ms) OR NOT (imid_is_bytes(id) AND imid_is_text(letters) AND imid_is_uuid(view));
SELECT concat('ok: the order of the rows', left('', throwIf(count() > 0, 'rows are in another place'))) FROM (SELECT n,
  row_number() OVER (ORDER BY id) - 1 AS a, row_number() OVER (ORDER BY letters) - 1 AS b FROM imid_test.written)
  WHERE (a, b) != (n, n);
DROP DATABASE imid_test;
