-- What the chat has beside the tables of sql/postgres/tables.sql. Each gateway runs both files when it starts. This is for the search by time.
CREATE INDEX IF NOT EXISTS messages_by_time ON messages (room, id);
