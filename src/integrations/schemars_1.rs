//! schemars 1: the JSON schemas of what feature `serde` writes.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::json::{TEXT_PATTERN, session_type_names};
use crate::id::MessageId;
use crate::layout::HASH_MAX;
use crate::session::{SessionHash, SessionTag, SessionType};

macro_rules! schema {
    ($(#[$doc:meta])* $type:ident, |$generator:pat_param| $schema:tt) => {
        $(#[$doc])*
        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }

            fn schema_id() -> Cow<'static, str> {
                concat!("imid::", stringify!($type)).into()
            }

            fn json_schema($generator: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    };
}

schema! {
    /// A string of 19 characters.
    MessageId, |_| {
        "description": "A message ID of 19 characters.",
        "type": "string",
        "minLength": Self::TEXT_LEN,
        "maxLength": Self::TEXT_LEN,
        "pattern": TEXT_PATTERN,
    }
}

schema! {
    /// A string: the name of the type, or its code if it has no name.
    SessionType, |_| {
        "description": "The type of a session.",
        "type": "string",
        "enum": session_type_names().collect::<Vec<_>>(),
    }
}

schema! {
    /// A number of 22 bits.
    SessionHash, |_| {
        "description": "The hash of a session's name.",
        "type": "integer",
        "minimum": 0,
        "maximum": HASH_MAX,
    }
}

schema! {
    /// An object with the members `type` and `hash`.
    SessionTag, |generator| {
        "description": "A session tag: its type and its hash.",
        "type": "object",
        "properties": {
            "type": generator.subschema_for::<SessionType>(),
            "hash": generator.subschema_for::<SessionHash>(),
        },
        "required": ["type", "hash"],
        "additionalProperties": false,
    }
}
