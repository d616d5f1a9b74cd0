//! schemars 1: the JSON schemas of what feature `serde` writes.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::json::{TEXT_PATTERN, session_type_names};
use crate::id::MessageId;
use crate::layout::HASH_MAX;
use crate::session::{SessionHash, SessionTag, SessionType};

/// A string of 19 characters.
impl JsonSchema for MessageId {
    fn schema_name() -> Cow<'static, str> {
        "MessageId".into()
    }

    fn schema_id() -> Cow<'static, str> {
        "imid::MessageId".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A message ID of 19 characters.",
            "type": "string",
            "minLength": Self::TEXT_LEN,
            "maxLength": Self::TEXT_LEN,
            "pattern": TEXT_PATTERN,
        })
    }
}

/// A string: the name of the type, or its code if it has no name.
impl JsonSchema for SessionType {
    fn schema_name() -> Cow<'static, str> {
        "SessionType".into()
    }

    fn schema_id() -> Cow<'static, str> {
        "imid::SessionType".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "The type of a session.",
            "type": "string",
            "enum": session_type_names().collect::<Vec<_>>(),
        })
    }
}

/// A number of 22 bits.
impl JsonSchema for SessionHash {
    fn schema_name() -> Cow<'static, str> {
        "SessionHash".into()
    }

    fn schema_id() -> Cow<'static, str> {
        "imid::SessionHash".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "The hash of a session's name.",
            "type": "integer",
            "minimum": 0,
            "maximum": HASH_MAX,
        })
    }
}

/// An object with the members `type` and `hash`.
impl JsonSchema for SessionTag {
    fn schema_name() -> Cow<'static, str> {
        "SessionTag".into()
    }

    fn schema_id() -> Cow<'static, str> {
        "imid::SessionTag".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A session tag: its type and its hash.",
            "type": "object",
            "properties": {
                "type": generator.subschema_for::<SessionType>(),
                "hash": generator.subschema_for::<SessionHash>(),
            },
            "required": ["type", "hash"],
            "additionalProperties": false,
        })
    }
}
