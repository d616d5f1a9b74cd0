-- Gap-free numbers per conversation in MariaDB and MySQL: the number is taken in the transaction that stores the message.
-- The row of the conversation stays locked until the commit, so one conversation stores one message at a time.

CREATE TABLE conversation (id bigint PRIMARY KEY, last_number bigint NOT NULL) ENGINE = InnoDB;
CREATE TABLE message (
    conversation bigint NOT NULL,
    number bigint NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (conversation, number)
) ENGINE = InnoDB;

-- statement: two for each message, in one transaction. LAST_INSERT_ID belongs to the connection.
INSERT INTO conversation (id, last_number) VALUES (:conversation, LAST_INSERT_ID(1))
ON DUPLICATE KEY UPDATE last_number = LAST_INSERT_ID(last_number + 1);
INSERT INTO message (conversation, number, body) VALUES (:conversation, LAST_INSERT_ID(), 'hello');
