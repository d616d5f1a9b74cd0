//! The fields of an ID, most significant first.

use imid::dialect::Dialect;

use crate::scheme::Id;

/// A field of an ID.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    /// What the field is.
    pub name: FieldName,
    /// Its value.
    pub value: u64,
    /// Its width in bits, at least 1.
    pub bits: u32,
}

/// What a field is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum FieldName {
    /// Unix milliseconds.
    Timestamp,
    /// The counter within a millisecond.
    Spin,
    /// The code of the session type.
    Type,
    /// The hash of the session's name.
    Hash,
    /// Ticks since the epoch of a Snowflake layout.
    Tick,
    /// The node that minted a Snowflake.
    Node,
    /// The counter within a tick.
    Sequence,
}

impl Id {
    /// Returns the fields, most significant first. Their widths add up to 80 or 64.
    ///
    /// ```
    /// use imid_inspect::{FieldName, STANDARD};
    ///
    /// let id = STANDARD.parse(b"EMAQ-2948-WCRV-T3DD")?;
    /// let fields: Vec<_> = id.fields().map(|field| (field.name, field.value, field.bits)).collect();
    /// assert_eq!(fields[2], (FieldName::Type, 14, 4));
    /// # Ok::<(), imid_inspect::ReadError>(())
    /// ```
    pub fn fields(self) -> impl Iterator<Item = Field> {
        let field = |name, value, bits| Field { name, value, bits };
        let fields = match self {
            Self::Message { id, .. } => {
                let layout = id.layout();
                [
                    field(FieldName::Timestamp, id.timestamp_ms(), layout.timestamp_bits()),
                    field(FieldName::Spin, id.spin().unwrap_or_default().into(), layout.spin_bits()),
                    field(FieldName::Type, id.type_code().into(), layout.type_bits()),
                    field(FieldName::Hash, id.session_hash().into(), layout.hash_bits()),
                ]
            }
            Self::Snowflake(id) => {
                let (node, sequence) = (id.layout().node_bits(), id.layout().sequence_bits());
                [
                    field(FieldName::Tick, id.tick(), u64::BITS - node - sequence),
                    field(FieldName::Node, id.node().into(), node),
                    field(FieldName::Sequence, id.sequence().into(), sequence),
                    field(FieldName::Sequence, 0, 0),
                ]
            }
        };
        fields.into_iter().filter(|field| field.bits > 0)
    }

    /// Returns the code of the session type and the hash of the session, or `None` for a Snowflake.
    pub const fn session(self) -> Option<(u8, u32)> {
        match self {
            Self::Message { id, .. } => Some((id.type_code(), id.session_hash())),
            Self::Snowflake(_) => None,
        }
    }
}

/// Returns the code of a session type, followed by its name in this dialect if it has a name.
pub fn named_type(dialect: &Dialect<'_>, code: u8) -> String {
    dialect.type_name(code).map_or_else(|| code.to_string(), |name| format!("{code} {name}"))
}
