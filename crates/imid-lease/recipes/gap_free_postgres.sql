-- Gap-free numbers per conversation in PostgreSQL: the number is taken in the transaction that stores the message.
-- The row of the conversation stays locked until the commit, so one conversation stores one message at a time.

CREATE TABLE conversation (id bigint PRIMARY KEY, last_number bigint NOT NULL);
CREATE TABLE message (
    conversation bigint NOT NULL,
    number bigint NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (conversation, number)
);

-- statement: one for each message, alone or in the transaction of the application
WITH taken AS (
    INSERT INTO conversation (id, last_number) VALUES (:conversation, 1)
    ON CONFLICT (id) DO UPDATE SET last_number = conversation.last_number + 1
    RETURNING last_number
)
INSERT INTO message (conversation, number, body)
SELECT :conversation, last_number, 'hello' FROM taken
RETURNING number;
