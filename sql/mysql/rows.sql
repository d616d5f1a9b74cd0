-- Compares the functions with rows that the library wrote: see tests/stores/src/bin/rows.rs. The client has no variables for
-- paths, so ci/stores.sh replaces $ROWS with the path of the file.
CREATE TEMPORARY TABLE written (n BIGINT, id BINARY(10) PRIMARY KEY, letters CHAR(19) CHARACTER SET ascii COLLATE ascii_bin,
  view CHAR(36) CHARACTER SET ascii, ms BIGINT, spin INT, type INT, hash INT, session_tag INT, bucket INT);
LOAD DATA LOCAL INFILE '$ROWS' INTO TABLE written FIELDS TERMINATED BY ','
  (n, @hex, letters, view, ms, spin, type, hash, session_tag, bucket) SET id = UNHEX(@hex);
SELECT CONCAT(COUNT(*), ' rows of the library') AS result FROM written;
SELECT IF(COUNT(*) = 0, 'ok: the rows of the library', imid_bytes(CONCAT(COUNT(*), ' rows differ'))) AS result FROM written WHERE NOT (
  imid_text(id) <=> letters AND imid_bytes(letters) <=> id AND imid_uuid(id) <=> view AND imid_from_uuid(view) <=> id
  AND imid_ms(id) <=> ms AND imid_spin(id) <=> spin AND imid_type(id) <=> type AND imid_hash(id) <=> hash
  AND imid_session_tag(id) <=> session_tag AND imid_bucket(id, 7) <=> bucket AND id BETWEEN imid_first(ms) AND imid_last(ms));
SELECT IF(COUNT(*) = 0, 'ok: the order of the rows', imid_bytes(CONCAT(COUNT(*), ' rows are in another place'))) AS result
  FROM (SELECT n, ROW_NUMBER() OVER (ORDER BY id) - 1 AS a, ROW_NUMBER() OVER (ORDER BY letters) - 1 AS b FROM written) AS places
  WHERE (a, b) <> (n, n);
