-- Removes what install.sql made. An index with imid_session_tag must be dropped first. SQLite 3.35 or later can drop columns.
DROP VIEW imid_messages;
ALTER TABLE messages DROP COLUMN imid_session_tag;
