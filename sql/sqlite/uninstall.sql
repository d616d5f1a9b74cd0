-- Removes the columns of install.sql from the table messages. It needs SQLite 3.35.
ALTER TABLE messages DROP COLUMN imid_uuid;
ALTER TABLE messages DROP COLUMN imid_text;
ALTER TABLE messages DROP COLUMN imid_week;
ALTER TABLE messages DROP COLUMN imid_session;
ALTER TABLE messages DROP COLUMN imid_hash;
ALTER TABLE messages DROP COLUMN imid_type_name;
ALTER TABLE messages DROP COLUMN imid_type;
ALTER TABLE messages DROP COLUMN imid_spin;
ALTER TABLE messages DROP COLUMN imid_timestamp;
ALTER TABLE messages DROP COLUMN imid_ms;
ALTER TABLE messages DROP COLUMN imid_60_79;
ALTER TABLE messages DROP COLUMN imid_40_59;
ALTER TABLE messages DROP COLUMN imid_20_39;
ALTER TABLE messages DROP COLUMN imid_0_19;
