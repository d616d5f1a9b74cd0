//! utoipa 6: the `OpenAPI` schemas of what feature `serde` writes.

use utoipa::openapi::schema::{AdditionalProperties, Schema};
use utoipa::openapi::{ObjectBuilder, Ref, RefOr, Type};
use utoipa::{PartialSchema, ToSchema};

use super::json::{TEXT_PATTERN, session_type_names};
use crate::id::MessageId;
use crate::layout::HASH_MAX;
use crate::session::{SessionHash, SessionTag, SessionType};

/// A string of 19 characters.
impl PartialSchema for MessageId {
    fn schema() -> RefOr<Schema> {
        let schema = ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some("A message ID of 19 characters."))
            .min_length(Some(Self::TEXT_LEN))
            .max_length(Some(Self::TEXT_LEN))
            .pattern(Some(TEXT_PATTERN));
        schema.into()
    }
}

impl ToSchema for MessageId {}

/// A string: the name of the type, or its code if it has no name.
impl PartialSchema for SessionType {
    fn schema() -> RefOr<Schema> {
        let schema = ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some("The type of a session."))
            .enum_values(Some(session_type_names()));
        schema.into()
    }
}

impl ToSchema for SessionType {}

/// A number of 22 bits.
impl PartialSchema for SessionHash {
    fn schema() -> RefOr<Schema> {
        let schema = ObjectBuilder::new()
            .schema_type(Type::Integer)
            .description(Some("The hash of a session's name."))
            .minimum(Some(0_u32))
            .maximum(Some(HASH_MAX));
        schema.into()
    }
}

impl ToSchema for SessionHash {}

/// An object with the members `type` and `hash`.
impl PartialSchema for SessionTag {
    fn schema() -> RefOr<Schema> {
        let schema = ObjectBuilder::new()
            .schema_type(Type::Object)
            .description(Some("A session tag: its type and its hash."))
            .property("type", Ref::from_schema_name(<SessionType as ToSchema>::name()))
            .required("type")
            .property("hash", Ref::from_schema_name(<SessionHash as ToSchema>::name()))
            .required("hash")
            .additional_properties(Some(AdditionalProperties::<Schema>::FreeForm(false)));
        schema.into()
    }
}

impl ToSchema for SessionTag {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((<SessionType as ToSchema>::name().into(), SessionType::schema()));
        schemas.push((<SessionHash as ToSchema>::name().into(), SessionHash::schema()));
    }
}
