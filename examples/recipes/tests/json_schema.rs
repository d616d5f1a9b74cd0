//! The schemas of schemars and utoipa accept what serde writes, and refuse what serde refuses.

use imid::{MessageId, SessionTag, SessionType};
use jsonschema::Validator;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::OpenApi;

#[derive(Serialize, Deserialize, schemars::JsonSchema, utoipa::ToSchema)]
struct ChatMessage {
    id: MessageId,
    room: SessionTag,
    reply_to: Option<MessageId>,
}

#[derive(OpenApi)]
#[openapi(components(schemas(ChatMessage)))]
struct Api;

/// Returns a validator for each of the two schemas.
fn validators() -> [Validator; 2] {
    let schemars = schemars::schema_for!(ChatMessage).to_value();
    let mut utoipa = serde_json::to_value(Api::openapi()).expect("JSON");
    utoipa["$ref"] = "#/components/schemas/ChatMessage".into();
    [schemars, utoipa].map(|schema| jsonschema::validator_for(&schema).expect("a schema"))
}

/// Returns a message with another value in one place.
fn with(pointer: &str, value: Value) -> Value {
    let mut message = json!({"id": "EUNC-Q8QJ-22GH-T3DD", "room": {"type": "GROUP", "hash": 7}, "reply_to": null});
    *message.pointer_mut(pointer).expect("a member of the message") = value;
    message
}

#[test]
fn the_schemas_accept_what_serde_writes() {
    for validator in validators() {
        let mut bits = 1_u128;
        for _ in 0..2_000 {
            // The multiplier of MMIX, so that each part of the ID varies.
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let id = MessageId::from_u128(bits >> 48).expect("80 bits");
            let reply_to = (id.spin() % 2 == 1).then_some(id);
            let message = serde_json::to_value(ChatMessage { id, room: id.session_tag(), reply_to }).expect("JSON");
            assert!(validator.is_valid(&message), "{message}");
            assert!(ChatMessage::deserialize(&message).is_ok_and(|read| (read.id, read.reply_to) == (id, reply_to)));
        }
        for (code, id) in (0..16).flat_map(|code| [(code, MessageId::MIN), (code, MessageId::MAX)]) {
            let room = SessionTag::from_parts(SessionType::from_u8(code).expect("a code"), id.session_hash());
            let message = serde_json::to_value(ChatMessage { id, room, reply_to: Some(id) }).expect("JSON");
            assert!(validator.is_valid(&message), "{message}");
        }
    }
}

#[test]
fn the_schemas_refuse_what_serde_refuses() {
    for validator in validators() {
        for (pointer, value) in refused() {
            let message = with(pointer, value);
            assert!(!validator.is_valid(&message), "the schema accepts {message}");
            assert!(ChatMessage::deserialize(&message).is_err(), "serde accepts {message}");
        }
    }
}

#[test]
fn the_schemas_agree_with_serde_on_each_text_with_one_other_character() {
    for validator in validators() {
        let mut accepted = 0;
        for at in 0..MessageId::TEXT_LEN {
            for character in 0..128 {
                let mut text = *b"EUNC-Q8QJ-22GH-T3DD";
                text[at] = character;
                let message = with("/id", json!(str::from_utf8(&text).expect("ASCII")));
                assert_eq!(validator.is_valid(&message), ChatMessage::deserialize(&message).is_ok(), "{message}");
                accepted += usize::from(validator.is_valid(&message));
            }
        }
        // 16 digits with 32 values, and 3 dashes with one value.
        assert_eq!(accepted, 16 * 32 + 3);
    }
}

/// serde reads more than it writes. The schemas describe what it writes.
#[test]
fn the_schemas_refuse_a_name_in_another_case_and_a_code_as_a_number() {
    for validator in validators() {
        for session_type in [json!("group"), json!(3)] {
            let message = with("/room/type", session_type);
            assert!(!validator.is_valid(&message) && ChatMessage::deserialize(&message).is_ok(), "{message}");
        }
    }
}

/// Returns values that a message cannot have, and where.
fn refused() -> Vec<(&'static str, Value)> {
    let mut refused = Vec::new();
    for text in [
        "",
        "EUNC-Q8QJ-22GH-T3D",
        "EUNC-Q8QJ-22GH-T3DDD",
        "EUNCQ8QJ22GHT3DD",
        "EUNC-Q8QJ-22GH-T3DD\n",
        " EUNC-Q8QJ-22GH-T3DD",
        "EUNC-Q8QJ-22GH-T3DÄ",
        "66a8ab1ad0001cfc856b",
    ] {
        refused.extend([("/id", json!(text)), ("/reply_to", json!(text))]);
    }
    refused.extend([("/id", json!(null)), ("/id", json!(7)), ("/id", json!([69]))]);
    for session_type in [json!("ROOM"), json!("16"), json!(""), json!(16), json!(-1), json!(null)] {
        refused.push(("/room/type", session_type));
    }
    for hash in [json!(((1 << 22) - 1) + 1), json!(-1), json!(1.5), json!("7"), json!(null)] {
        refused.push(("/room/hash", hash));
    }
    for room in [json!({"type": "GROUP"}), json!({"hash": 7}), json!({"type": "GROUP", "hash": 7, "name": "room-42"})] {
        refused.push(("/room", room));
    }
    refused
}
