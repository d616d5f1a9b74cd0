//! Protocol Buffers, with prost: an ID is a field of type `bytes`, 12 bytes on the wire.
//!
//! ```proto
//! message ChatMessage {
//!   bytes id = 1;
//!   optional bytes reply_to = 2;
//!   string body = 3;
//! }
//! ```
//!
//! A field of type `string` with the ID's text takes 21 bytes. Choose it if the messages also go through the JSON form
//! of Protocol Buffers, which writes `bytes` as Base64.

use std::error::Error;

use imid::{Generator, MessageId, SessionTag, SessionType};
use prost::Message;

/// What `prost-build` makes of the file above.
#[derive(Clone, PartialEq, Message)]
struct ChatMessage {
    #[prost(bytes = "vec", tag = "1")]
    id: Vec<u8>,
    #[prost(bytes = "vec", optional, tag = "2")]
    reply_to: Option<Vec<u8>>,
    #[prost(string, tag = "3")]
    body: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let ids = Generator::new();
    let room = SessionTag::new(SessionType::GROUP, "room-42");
    let (question, answer) = (ids.generate(room)?, ids.generate(room)?);

    let message = ChatMessage {
        id: answer.to_bytes().to_vec(),
        reply_to: Some(question.to_bytes().to_vec()),
        body: "yes, at 8 o'clock".to_owned(),
    };
    let wire = message.encode_to_vec();
    assert_eq!(wire[..2], [0x0a, 10], "field 1 has 10 bytes");
    assert_eq!(wire[2..12], answer.to_bytes());

    let read = ChatMessage::decode(&wire[..])?;
    let id = MessageId::try_from(read.id)?;
    let reply_to = read.reply_to.map(MessageId::try_from).transpose()?;
    assert_eq!((id, reply_to), (answer, Some(question)));
    assert!(id > question && id.is_in(room));
    println!("{id} answers {question}: {}", read.body);

    // proto3 has no required fields. A field that the sender left out is empty, and an empty field is not an ID.
    let without_id = ChatMessage::decode(&b"\x1a\x05hello"[..])?;
    let error = MessageId::try_from(without_id.id).expect_err("0 bytes are not an ID");
    assert_eq!(error.to_string(), "expected 10 bytes, found 0");
    println!("without a field `id`: {error}");
    Ok(())
}
