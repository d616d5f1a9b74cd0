//! utoipa 6: the `OpenAPI` schemas of what feature `serde` writes.

use utoipa::openapi::schema::{AdditionalProperties, Schema};
use utoipa::openapi::{ObjectBuilder, Ref, RefOr, Type};
use utoipa::{PartialSchema, ToSchema};

use super::json::{TEXT_PATTERN, session_type_names};
use crate::id::MessageId;
use crate::layout::HASH_MAX;
use crate::session::{SessionHash, SessionTag, SessionType};

macro_rules! schema {
    ($(#[$doc:meta])* $type:ident, $kind:ident, $description:literal, $($rest:tt)*) => {
        $(#[$doc])*
        impl PartialSchema for $type {
            fn schema() -> RefOr<Schema> {
                ObjectBuilder::new().schema_type(Type::$kind).description(Some($description)) $($rest)* .into()
            }
        }
    };
}

schema! {
    /// A string of 19 characters.
    MessageId, String, "A message ID of 19 characters.",
    .min_length(Some(Self::TEXT_LEN)).max_length(Some(Self::TEXT_LEN)).pattern(Some(TEXT_PATTERN))
}

schema! {
    /// A string: the name of the type, or its code if it has no name.
    SessionType, String, "The type of a session.",
    .enum_values(Some(session_type_names()))
}

schema! {
    /// A number of 22 bits.
    SessionHash, Integer, "The hash of a session's name.",
    .minimum(Some(0_u32)).maximum(Some(HASH_MAX))
}

schema! {
    /// An object with the members `type` and `hash`.
    SessionTag, Object, "A session tag: its type and its hash.",
    .property("type", Ref::from_schema_name(<SessionType as ToSchema>::name()))
    .required("type")
    .property("hash", Ref::from_schema_name(<SessionHash as ToSchema>::name()))
    .required("hash")
    .additional_properties(Some(AdditionalProperties::<Schema>::FreeForm(false)))
}

impl ToSchema for MessageId {}
impl ToSchema for SessionType {}
impl ToSchema for SessionHash {}

impl ToSchema for SessionTag {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((<SessionType as ToSchema>::name().into(), SessionType::schema()));
        schemas.push((<SessionHash as ToSchema>::name().into(), SessionHash::schema()));
    }
}
