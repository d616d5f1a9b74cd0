-- Compares the macros with rows that the library wrote: see tests/stores/src/bin/rows.rs. $ROWS is the file.
CREATE TEMP TABLE written AS SELECT n, unhex(hex) AS id, * EXCLUDE (n, hex) FROM read_csv('$ROWS', header = false, columns = {
  n: 'BIGINT', hex: 'VARCHAR', letters: 'VARCHAR', view: 'UUID', ms: 'BIGINT', spin: 'INT', type: 'INT', hash: 'INT',
  session_tag: 'INT', bucket: 'INT'});
SELECT count(*) || ' rows of the library' FROM written;
SELECT CASE WHEN count(*) = 0 THEN 'ok: the rows of the library' ELSE error(count(*) || ' rows differ') END FROM written WHERE
  (imid_text(id), imid_bytes(letters), imid_uuid(id), imid_from_uuid(view)) IS DISTINCT FROM (letters, id, view, id)
  OR (imid_ms(id), imid_spin(id), imid_type(id), imid_hash(id), imid_session_tag(id), imid_bucket(id, 7))
    IS DISTINCT FROM (ms, spin, type, hash, session_tag, bucket)
  OR NOT (id BETWEEN imid_first(ms) AND imid_last(ms)) OR NOT (imid_is_bytes(id) AND imid_is_text(letters) AND imid_is_uuid(view));
SELECT CASE WHEN count(*) = 0 THEN 'ok: the order of the rows' ELSE error(count(*) || ' rows are in another place') END
  FROM (SELECT n, row_number() OVER (ORDER BY id) - 1 AS a, row_number() OVER (ORDER BY letters) - 1 AS b,
  row_number() OVER (ORDER BY view) - 1 AS c FROM written) WHERE (a, b, c) IS DISTINCT FROM (n, n, n);
