//! schemars and utoipa: the schemas describe the JSON that feature `serde` writes.

use imid::{MessageId, SessionHash, SessionTag, SessionType};
use serde_json::{Value, json};

use super::ID;

/// The text of an ID as a regular expression, from FORMAT.md.
const PATTERN: &str = "^[2-9A-HJ-NP-Z]{4}(-[2-9A-HJ-NP-Z]{4}){3}$";

fn type_names() -> Vec<Value> {
    let names = ["0", "PRIVATE", "DISCUSSION", "GROUP", "CHATROOM", "CUSTOMER_SERVICE", "SYSTEM", "APP_PUBLIC_SERVICE"];
    let more = ["PUBLIC_SERVICE", "PUSH_SERVICE", "ULTRA_GROUP", "ENCRYPTED", "RTC", "13", "14", "15"];
    names.into_iter().chain(more).map(Value::from).collect()
}

/// Asserts the members of the four schemas that both crates write.
fn check(id: &Value, session_type: &Value, hash: &Value, session: &Value, reference: impl Fn(&str) -> Value) {
    assert_eq!((&id["type"], &id["pattern"]), (&json!("string"), &json!(PATTERN)));
    assert_eq!((&id["minLength"], &id["maxLength"]), (&json!(19), &json!(19)));
    assert_eq!((&session_type["type"], &session_type["enum"]), (&json!("string"), &json!(type_names())));
    assert_eq!(hash["type"], "integer");
    assert_eq!((&hash["minimum"], &hash["maximum"]), (&json!(0), &json!(4_194_303)));
    assert_eq!(session["type"], "object");
    assert_eq!(session["required"], json!(["type", "hash"]));
    assert_eq!(session["additionalProperties"], json!(false));
    assert_eq!(session["properties"]["type"], reference("SessionType"));
    assert_eq!(session["properties"]["hash"], reference("SessionHash"));
}

#[test]
fn the_json_of_values_is_what_the_schemas_say() {
    let id = serde_json::to_value(ID).unwrap();
    assert_eq!(id, json!("EUNC-Q8QJ-22GH-T3DD"));
    for code in 0..16 {
        let session_type = SessionType::from_u8(code).unwrap();
        assert_eq!(serde_json::to_value(session_type).unwrap(), type_names()[usize::from(code)]);
    }
    let session = serde_json::to_value(SessionTag::from_u32((1 << 26) - 1).unwrap()).unwrap();
    assert_eq!(session, json!({"type": "15", "hash": ((1 << 22) - 1)}));
    assert_eq!(MessageId::TEXT_LEN, 19);
}

#[test]
fn schemars_describes_the_json_of_each_value() {
    use schemars::schema_for;

    let session = schema_for!(SessionTag).to_value();
    let of = |schema: schemars::Schema| schema.to_value();
    check(
        &of(schema_for!(MessageId)),
        &of(schema_for!(SessionType)),
        &of(schema_for!(SessionHash)),
        &session,
        |name| json!({"$ref": format!("#/$defs/{name}")}),
    );
    assert_eq!(session["$defs"]["SessionType"]["enum"], json!(type_names()));
    assert_eq!(session["$defs"]["SessionHash"]["maximum"], json!(4_194_303));
}

#[test]
fn utoipa_describes_the_json_of_each_value() {
    use utoipa::{PartialSchema, ToSchema};

    fn of<T: PartialSchema>() -> Value {
        serde_json::to_value(T::schema()).unwrap()
    }
    check(
        &of::<MessageId>(),
        &of::<SessionType>(),
        &of::<SessionHash>(),
        &of::<SessionTag>(),
        |name| json!({"$ref": format!("#/components/schemas/{name}")}),
    );
    let mut parts = Vec::new();
    <SessionTag as ToSchema>::schemas(&mut parts);
    let names: Vec<_> = parts.into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["SessionType", "SessionHash"]);
}
