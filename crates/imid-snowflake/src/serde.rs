//! serde: text in human-readable formats, bits in binary formats.

use serde::ser::{Serialize, Serializer};

use crate::id::Snowflake;

/// Writes the text in the form that the layout's owners use. In binary formats, writes the 64 bits.
///
/// There is no `Deserialize`, because the text does not name the layout. Read a string and
/// [parse](crate::Layout::parse) it.
// In JSON it is a string, because a number above 2⁵³ loses bits in JavaScript.
impl Serialize for Snowflake {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            serializer.serialize_u64(self.to_u64())
        }
    }
}
