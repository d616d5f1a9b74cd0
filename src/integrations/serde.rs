//! serde: text in human-readable formats, bits in binary formats.
//!
//! In JSON an ID is a string, because a number above 2⁵³ loses bits in JavaScript.

use core::fmt;

use serde::de::{Error, IgnoredAny, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::codec::{HexText, IdText};
use crate::dialect::DialectText;
use crate::id::MessageId;
use crate::session::{SessionHash, SessionTag, SessionType};

/// Writes the 19-character text. In binary formats, writes the 10 bytes.
impl Serialize for MessageId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.serialize_str(&self.to_text())
        } else {
            serializer.serialize_bytes(&self.to_bytes())
        }
    }
}

/// Reads the 19-character text, strictly. In binary formats, reads the 10 bytes or a sequence of 10 bytes, and in those that mark a text
/// as one, such as MessagePack, also the text, which clients in other languages send.
impl<'de> Deserialize<'de> for MessageId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_str(IdVisitor { expected: TEXT })
        } else {
            deserializer.deserialize_bytes(IdVisitor { expected: BYTES })
        }
    }
}

const TEXT: &str = "a message ID of 19 characters";
const BYTES: &str = "the 10 bytes of a message ID";

/// Reads the text and the bytes, whichever form was asked for.
///
/// For `#[serde(tag)]`, `#[serde(untagged)]` and `#[serde(flatten)]` serde reads the value from a buffer. The buffer says
/// that it is human-readable for all formats, and holds the 10 bytes of a binary one.
struct IdVisitor {
    expected: &'static str,
}

impl<'de> Visitor<'de> for IdVisitor {
    type Value = MessageId;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<MessageId, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<MessageId, E> {
        let bytes = bytes.try_into().map_err(|_| E::invalid_length(bytes.len(), &BYTES))?;
        Ok(MessageId::from_bytes(bytes))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut bytes: A) -> Result<MessageId, A::Error> {
        if self.expected == TEXT {
            return Err(A::Error::invalid_type(Unexpected::Seq, &self));
        }
        let mut id = [0; MessageId::BYTE_LEN];
        for (at, byte) in id.iter_mut().enumerate() {
            *byte = bytes.next_element()?.ok_or_else(|| A::Error::invalid_length(at, &BYTES))?;
        }
        if bytes.next_element::<IgnoredAny>()?.is_some() {
            return Err(A::Error::invalid_length(MessageId::BYTE_LEN + 1, &BYTES));
        }
        Ok(MessageId::from_bytes(id))
    }
}

/// Implements the trait for texts on the stack.
macro_rules! texts {
    ($($text:ty)*) => {$(
        /// Writes the text, in all formats.
        impl Serialize for $text {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self)
            }
        }
    )*};
}

texts!(IdText HexText DialectText);

/// Writes the name, or the code as a string if the type has no name. In binary formats, writes the code.
impl Serialize for SessionType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            serializer.serialize_u8(self.to_u8())
        }
    }
}

/// Reads a name in any case, or a code as a string or a number. In binary formats, reads the code.
impl<'de> Deserialize<'de> for SessionType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_any(NameOrCode)
        } else {
            Self::from_u8(u8::deserialize(deserializer)?).map_err(D::Error::custom)
        }
    }
}

struct NameOrCode;

impl Visitor<'_> for NameOrCode {
    type Value = SessionType;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name or the code of a session type")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<SessionType, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_u64<E: Error>(self, code: u64) -> Result<SessionType, E> {
        let known = u8::try_from(code).ok().and_then(|code| SessionType::from_u8(code).ok());
        known.ok_or_else(|| E::invalid_value(Unexpected::Unsigned(code), &"a code from 0 to 15"))
    }

    /// Reads a signed number. TOML and YAML have no unsigned numbers.
    fn visit_i64<E: Error>(self, code: i64) -> Result<SessionType, E> {
        match u64::try_from(code) {
            Ok(code) => self.visit_u64(code),
            Err(_) => Err(E::invalid_value(Unexpected::Signed(code), &"a code from 0 to 15")),
        }
    }
}

/// Writes the value as a number.
impl Serialize for SessionHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(self.to_u32())
    }
}

/// Reads the value, a number of at most 22 bits.
impl<'de> Deserialize<'de> for SessionHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_u32(u32::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// Writes a struct such as `{"type": "GROUP", "hash": 3966315}`. In binary formats its members are two numbers.
// A number would be shorter in binary formats, but could not be read in a tagged enum: see `IdVisitor`.
impl Serialize for SessionTag {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        TypeAndHash { r#type: self.session_type(), hash: self.session_hash() }.serialize(serializer)
    }
}

/// Reads a struct with the members `type` and `hash`, or a sequence of the two. Other members are errors.
impl<'de> Deserialize<'de> for SessionTag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let TypeAndHash { r#type, hash } = Deserialize::deserialize(deserializer)?;
        Ok(Self::from_parts(r#type, hash))
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename = "SessionTag", deny_unknown_fields, expecting = "a session tag with its type and its hash")]
struct TypeAndHash {
    r#type: SessionType,
    hash: SessionHash,
}
