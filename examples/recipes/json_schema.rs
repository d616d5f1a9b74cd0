//! JSON Schema and OpenAPI: a type with IDs describes its own JSON, with schemars or utoipa.
//!
//! A validator then accepts what serde writes, and refuses what serde refuses. `tests/json_schema.rs` compares the two on many
//! values.

use std::error::Error;

use imid::{MessageId, SessionTag, SessionType};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::OpenApi;

#[derive(Serialize, Deserialize, schemars::JsonSchema, utoipa::ToSchema)]
struct ChatMessage {
    id: MessageId,
    room: SessionTag,
    reply_to: Option<MessageId>,
    body: String,
}

#[derive(OpenApi)]
#[openapi(components(schemas(ChatMessage)))]
struct Api;

fn main() -> Result<(), Box<dyn Error>> {
    let schemars = schemars::schema_for!(ChatMessage).to_value();
    // The schemas of OpenAPI 3.1 are JSON schemas. They refer to each other within the whole document.
    let mut utoipa = serde_json::to_value(Api::openapi())?;
    utoipa["$ref"] = "#/components/schemas/ChatMessage".into();
    println!("{}", utoipa["components"]["schemas"]["MessageId"]);

    let room = SessionTag::new(SessionType::GROUP, "room-42");
    let message = ChatMessage { id: imid::generate(room)?, room, reply_to: None, body: "hello".to_owned() };
    let message = serde_json::to_value(message)?;
    let mut number = message.clone();
    number["id"] = json!(7_405_372_519_939_285_401_u64);
    for schema in [schemars, utoipa] {
        let validator = jsonschema::validator_for(&schema)?;
        assert!(validator.is_valid(&message) && ChatMessage::deserialize(&message).is_ok());
        assert!(!validator.is_valid(&number) && ChatMessage::deserialize(&number).is_err());
    }
    println!("{message}");
    Ok(())
}
