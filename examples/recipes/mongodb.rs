//! MongoDB, with bson: `_id` is the 10 bytes of the ID.
//!
//! The program reads and writes BSON, as the driver does for a `Collection<ChatMessage>`. There is no server in it.
//! MongoDB compares binary values by length, then by subtype, then byte by byte, so IDs sort by time.

use std::error::Error;

use bson::spec::BinarySubtype;
use bson::{Binary, Bson, doc};
use imid::{Generator, MessageId, SessionTag, SessionType};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, PartialEq, Debug)]
struct ChatMessage {
    #[serde(rename = "_id")]
    id: MessageId,
    reply_to: Option<MessageId>,
    /// A signed integer, because BSON has no unsigned ones.
    session: i32,
    body: String,
}

/// Returns an ID as a value for filters and updates.
fn binary(id: MessageId) -> Bson {
    Bson::Binary(Binary { subtype: BinarySubtype::Generic, bytes: id.to_bytes().to_vec() })
}

fn main() -> Result<(), Box<dyn Error>> {
    let ids = Generator::new();
    let room = SessionTag::new(SessionType::GROUP, "room-42");
    let session = i32::try_from(room.to_u32())?;
    let question = ids.generate(room)?;
    let id = ids.generate(room)?;
    let message = ChatMessage { id, reply_to: Some(question), session, body: "hello".to_owned() };

    // What `collection.insert_one(&message)` sends.
    let raw = bson::serialize_to_raw_document_buf(&message)?;
    let stored = raw.get_binary("_id")?;
    assert_eq!((stored.subtype, stored.bytes), (BinarySubtype::Generic, &id.to_bytes()[..]));
    assert_eq!(bson::deserialize_from_slice::<ChatMessage>(raw.as_bytes())?, message);
    println!("_id of {id}: {} bytes", stored.bytes.len());

    // All messages of a minute, and one page of a room, backwards from an ID: `collection.find(minute).sort(doc! {"_id": 1})`.
    let from_ms = id.timestamp_ms() / 60_000 * 60_000;
    let range = MessageId::range(from_ms..from_ms + 60_000)?;
    let minute = doc! { "_id": { "$gte": binary(*range.start()), "$lte": binary(*range.end()) } };
    let page = doc! { "session": session, "_id": { "$lt": binary(id) } };
    println!("{minute}\n{page}");
    // The values in filters have the form of the stored ones, so they can be compared.
    let low = minute.get_document("_id")?.get_binary_generic("$gte")?;
    let high = minute.get_document("_id")?.get_binary_generic("$lte")?;
    assert!(low[..] <= *stored.bytes && *stored.bytes <= high[..]);
    let before = page.get_document("_id")?.get_binary_generic("$lt")?;
    assert!(question.to_bytes()[..] < before[..] && before[..] == *stored.bytes);

    // `serialize_to_document` and `serialize_to_bson` are for people: they write the text, which is another value for
    // MongoDB. Do not use them for filters.
    assert_eq!(bson::serialize_to_document(&message)?.get_str("_id")?, id.to_string());

    let short = doc! { "_id": Binary { subtype: BinarySubtype::Generic, bytes: vec![0; 9] }, "session": 0, "body": "" };
    let error = bson::deserialize_from_slice::<ChatMessage>(&short.to_vec()?).expect_err("9 bytes are not an ID");
    assert!(error.to_string().contains("invalid length 9, expected the 10 bytes of a message ID"), "{error}");
    println!("{error}");
    Ok(())
}
