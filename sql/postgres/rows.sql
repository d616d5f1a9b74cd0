-- Compares the functions with rows that the library wrote: see tests/stores/src/bin/rows.rs. Standard input is the file:
--   psql -v ON_ERROR_STOP=1 -f install.sql -f rows.sql < ROWS
\set ON_ERROR_STOP on
\pset format unaligned
\pset tuples_only on
CREATE TEMPORARY TABLE written (n bigint, hex text, letters text COLLATE "C", view uuid, ms bigint, spin int, type int, hash int,
  session_tag int, bucket int, id bytea GENERATED ALWAYS AS (decode(hex, 'hex')) STORED);
\copy written (n, hex, letters, view, ms, spin, type, hash, session_tag, bucket) FROM pstdin (FORMAT csv)
SELECT count(*) || ' rows of the library' FROM written;
SELECT count(*) AS wrong FROM written WHERE
  (imid_text(id), imid_bytes(letters), imid_uuid(id), imid_from_uuid(view)) IS DISTINCT FROM (letters, id, view, id)
  OR (imid_ms(id), imid_spin(id), imid_type(id), imid_hash(id), imid_session_tag(id), imid_bucket(id, 7))
    IS DISTINCT FROM (ms, spin, type, hash, session_tag, bucket)
  OR (extract(epoch FROM imid_timestamp(id)) * 1000)::bigint <> ms OR imid_first_at(imid_timestamp(id)) <> imid_first(ms)
  OR id NOT BETWEEN imid_first(ms) AND imid_last(ms) OR NOT (imid_is_bytes(id) AND imid_is_text(letters) AND imid_is_uuid(view))
\gset
SELECT count(*) AS misplaced FROM (SELECT n, row_number() OVER (ORDER BY id) - 1 AS a,
  row_number() OVER (ORDER BY letters) - 1 AS b, row_number() OVER (ORDER BY view) - 1 AS c FROM written) AS x
  WHERE (a, b, c) IS DISTINCT FROM (n, n, n)
\gset
-- PostgreSQL 18 reads the time of a UUID of version 7 itself.
SELECT current_setting('server_version_num')::int >= 180000 AS reads_uuids, 0 AS misread \gset
\if :reads_uuids
  SELECT count(*) AS misread FROM written WHERE uuid_extract_timestamp(view) IS DISTINCT FROM imid_timestamp(id) \gset
\endif
SELECT :wrong + :misplaced + :misread = 0 AS good \gset
\if :good
  \echo 'ok: the rows of the library'
\else
  \warn :wrong 'rows differ,' :misplaced 'are in another place, and uuid_extract_timestamp misreads' :misread
  SELECT 1 / 0;
\endif
