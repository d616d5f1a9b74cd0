//! What the schemas of schemars and utoipa have in common.

use crate::session::SessionType;

/// The text of an ID as a regular expression of JSON Schema and `OpenAPI`.
pub(super) const TEXT_PATTERN: &str = "^[2-9A-HJ-NP-Z]{4}(-[2-9A-HJ-NP-Z]{4}){3}$";

/// Returns the strings of the 16 types in JSON: names, and codes of types without a name.
pub(super) fn session_type_names() -> impl Iterator<Item = String> {
    (0..=SessionType::MAX.to_u8()).filter_map(|code| SessionType::from_u8(code).ok()).map(|named| named.to_string())
}
