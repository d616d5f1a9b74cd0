-- Reads the table of dump.sql after it was restored.
\set ON_ERROR_STOP on
\pset format unaligned
\pset tuples_only on
SELECT 1 / (count(*) = 1000)::int AS all_rows, 1 / (sum((imid_bytes(letters) <> id OR sent <> imid_timestamp(id))::int) = 0)::int AS equal FROM imid_dumped \gset
SELECT 'ok: a dump of a table with the functions is restored';
