//! ClickHouse: the ID is a `FixedString(10)`, which sorts by time and can be the table's order.
//!
//! The server is the crate's mock, which records what the client sends. If CLICKHOUSE_URL is set, the program also uses the
//! server there.

use std::error::Error;

use clickhouse::test::{Mock, handlers};
use clickhouse::{Client, Row};
use imid::{Generator, MessageId, SessionTag, SessionType};
use serde::{Deserialize, Serialize};

const CREATE: &str =
    "CREATE OR REPLACE TABLE imid_messages (id FixedString(10), view UUID, session UInt32, body String)
    ENGINE = MergeTree ORDER BY id";

#[derive(Row, Serialize, Deserialize, Clone, PartialEq, Debug)]
struct ChatMessage {
    #[serde(with = "fixed_string")]
    id: MessageId,
    /// The UUID view, for people and other systems. A `UUID` sorts by its second half, so do not sort by it.
    #[serde(with = "clickhouse::serde::uuid")]
    view: uuid::Uuid,
    session: u32,
    body: String,
}

/// An ID as an array of 10 bytes, which is a `FixedString(10)`. Without it an ID is a `String` of 10 bytes.
mod fixed_string {
    use imid::MessageId;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(id: &MessageId, serializer: S) -> Result<S::Ok, S::Error> {
        id.to_bytes().serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<MessageId, D::Error> {
        Deserialize::deserialize(deserializer).map(MessageId::from_bytes)
    }
}

async fn insert(client: &Client, messages: &[ChatMessage]) -> clickhouse::error::Result<()> {
    let mut insert = client.insert::<ChatMessage>("imid_messages").await?;
    for message in messages {
        insert.write(message).await?;
    }
    insert.end().await
}

/// Returns the messages of a minute in the order of their IDs.
async fn minute(client: &Client, of: MessageId) -> Result<Vec<ChatMessage>, Box<dyn Error>> {
    let from_ms = of.timestamp_ms() / 60_000 * 60_000;
    let range = MessageId::range(from_ms..from_ms + 60_000)?;
    let sql = "SELECT ?fields FROM imid_messages WHERE id BETWEEN unhex(?) AND unhex(?) ORDER BY id";
    let query = client.query(sql).bind(range.start().to_hex().as_str()).bind(range.end().to_hex().as_str());
    Ok(query.fetch_all().await?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let ids = Generator::new();
    let room = SessionTag::new(SessionType::GROUP, "room-42");
    let mut messages = Vec::new();
    for body in ["hello", "is anybody here?", "yes"] {
        let id = ids.generate(room)?;
        messages.push(ChatMessage { id, view: id.to_uuid(), session: room.to_u32(), body: body.to_owned() });
    }

    // The mock answers each request with the next of its handlers.
    let mock = Mock::new();
    let client = Client::default().with_mock(&mock);
    let recorded = mock.add(handlers::record::<Sent>());
    insert(&client, &messages).await?;
    for (sent, message) in recorded.collect::<Vec<_>>().await.iter().zip(&messages) {
        assert_eq!((sent.id, sent.view), (message.id.to_bytes(), message.view.as_u64_pair()));
    }
    let recorded = mock.add(handlers::record_ddl());
    minute(&client, messages[0].id).await?;
    println!("{}", recorded.query().await);
    mock.add(handlers::provide(messages.clone()));
    assert_eq!(minute(&client, messages[0].id).await?, messages);

    if let Ok(url) = std::env::var("CLICKHOUSE_URL") {
        let client = Client::default().with_url(url);
        client.query(CREATE).execute().await?;
        messages.rotate_left(1);
        insert(&client, &messages).await?;
        messages.rotate_right(1);
        let [first, .., last] = &messages[..] else { return Err("three messages were inserted".into()) };
        let mut found = minute(&client, first.id).await?;
        if last.id.timestamp_ms() / 60_000 > first.id.timestamp_ms() / 60_000 {
            found.extend(minute(&client, last.id).await?);
        }
        assert_eq!(found, messages);
        println!("{} messages from the server", found.len());
    }
    Ok(())
}

/// The bytes of a row, without the types of imid and uuid.
#[derive(Row, Deserialize)]
struct Sent {
    id: [u8; 10],
    view: (u64, u64),
    _session: u32,
    _body: String,
}
