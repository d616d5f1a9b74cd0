//! The fields of an ID, most significant first.

use imid::dialect::Dialect;

use crate::scheme::Id;

/// A field of an ID.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    /// The name: `timestamp` (Unix milliseconds), `spin`, `type` and `hash`; for a Snowflake `tick` (since the epoch of the layout),
    /// `node` and `sequence`.
    pub name: &'static str,
    /// Its value.
    pub value: u64,
    /// Its width in bits, at least 1.
    pub bits: u32,
}

impl Id {
    /// Returns the fields, most significant first. Their widths add up to 80 or 64.
    ///
    /// ```
    /// use imid_inspect::STANDARD;
    ///
    /// let id = STANDARD.parse(b"EMAQ-2948-WCRV-T3DD").expect("an ID");
    /// let fields: Vec<_> = id.fields().map(|field| (field.name, field.value, field.bits)).collect();
    /// assert_eq!(fields[2], ("type", 14, 4));
    /// ```
    pub fn fields(self) -> impl Iterator<Item = Field> {
        let fields = match self {
            Self::Message { id, .. } => {
                let layout = id.layout();
                vec![
                    ("timestamp", id.timestamp_ms(), layout.timestamp_bits()),
                    ("spin", id.spin().unwrap_or_default().into(), layout.spin_bits()),
                    ("type", id.type_code().into(), layout.type_bits()),
                    ("hash", id.session_hash().into(), layout.hash_bits()),
                ]
            }
            Self::Snowflake(id) => {
                let (node, sequence) = (id.layout().node_bits(), id.layout().sequence_bits());
                vec![
                    ("tick", id.tick(), u64::BITS - node - sequence),
                    ("node", id.node().into(), node),
                    ("sequence", id.sequence().into(), sequence),
                ]
            }
        };
        fields.into_iter().filter(|(.., bits)| *bits > 0).map(|(name, value, bits)| Field { name, value, bits })
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
