//! IDs in formats of serde: text where people read it, bits where they do not.
//!
//! A number would lose bits past 2⁵³ in JavaScript, so JSON has strings.

use core::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::id::MessageId;
use crate::snowflake::Snowflake;

/// The 19-character text; in binary formats the 10 bytes as an array.
impl Serialize for MessageId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.serialize_str(&self.to_text())
        } else {
            self.to_bytes().serialize(serializer)
        }
    }
}

/// The 19-character text, strictly; in binary formats the 10 bytes as an array.
impl<'de> Deserialize<'de> for MessageId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_str(TextVisitor)
        } else {
            <[u8; Self::BYTES]>::deserialize(deserializer).map(Self::from_bytes)
        }
    }
}

struct TextVisitor;

impl Visitor<'_> for TextVisitor {
    type Value = MessageId;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message ID of 19 characters")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<MessageId, E> {
        MessageId::parse(text).map_err(E::custom)
    }
}

/// The text, as its layout's owners write it; in binary formats the 64 bits.
///
/// There is no `Deserialize`: the text does not say the layout. Read a string, and
/// [parse](crate::snowflake::Layout::parse) it.
impl Serialize for Snowflake {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            serializer.serialize_u64(self.to_u64())
        }
    }
}
