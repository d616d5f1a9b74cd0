//! The schemes of IDs: dialects of 80-bit IDs and layouts of Snowflakes.

use core::fmt;

use imid::MessageId;
use imid::dialect::{Dialect, DialectId};
use imid_snowflake::{Layout, Snowflake};

/// How IDs are written and divided into fields.
#[derive(Clone, Copy, Debug)]
pub enum Scheme {
    /// A dialect of 80-bit IDs.
    Dialect(&'static Dialect<'static>),
    /// A layout of 64-bit IDs.
    Snowflake(Layout),
}

/// imid's own dialect.
pub const STANDARD: Scheme = Scheme::Dialect(&Dialect::STANDARD);

/// An ID of a scheme.
#[derive(Clone, Copy, Debug)]
pub enum Id {
    /// An 80-bit ID.
    Message {
        /// The dialect that writes the ID.
        dialect: &'static Dialect<'static>,
        /// The ID, in the dialect's layout.
        id: DialectId,
    },
    /// A 64-bit ID, with its layout.
    Snowflake(Snowflake),
}

impl Scheme {
    /// Returns all built-in schemes: the dialects, then the Snowflake layouts.
    pub fn all() -> impl Iterator<Item = Self> {
        Dialect::ALL.iter().map(Self::Dialect).chain(Layout::ALL.iter().copied().map(Self::Snowflake))
    }

    /// Returns the name, such as `rongcloud` or `twitter`. The name of a custom layout is `custom`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dialect(dialect) => dialect.name(),
            Self::Snowflake(layout) => layout.name().unwrap_or("custom"),
        }
    }

    /// Returns whether this is imid's own dialect.
    pub fn is_standard(self) -> bool {
        self.name() == Dialect::STANDARD.name()
    }

    /// Returns whether the IDs are always strings in JSON.
    pub const fn is_text(self) -> bool {
        matches!(self, Self::Dialect(_))
    }

    /// Returns whether the IDs have a UUID view.
    pub fn has_uuid(self) -> bool {
        matches!(self, Self::Dialect(dialect) if dialect.layout() == Dialect::STANDARD.layout())
    }

    /// Reads a text in its strict form, as the scheme writes it.
    #[inline]
    pub fn parse(self, text: &[u8]) -> Option<Id> {
        match self {
            Self::Dialect(dialect) => Some(Id::Message { dialect, id: dialect.parse_bytes(text).ok()? }),
            Self::Snowflake(layout) => layout.parse_bytes(text).ok().map(Id::Snowflake),
        }
    }

    /// Returns the ID of this scheme with this [sort key](Id::sort_key).
    pub fn with_sort_key(self, key: MessageId) -> Id {
        match self {
            Self::Dialect(dialect) => {
                Id::Message { dialect, id: DialectId::from_bytes(key.to_bytes(), dialect.layout()) }
            }
            Self::Snowflake(layout) => Id::Snowflake(Snowflake::from_u64(key.to_u128() as u64, layout)),
        }
    }
}

impl Id {
    /// Returns the scheme.
    pub const fn scheme(self) -> Scheme {
        match self {
            Self::Message { dialect, .. } => Scheme::Dialect(dialect),
            Self::Snowflake(id) => Scheme::Snowflake(id.layout()),
        }
    }

    /// Returns the name of the scheme.
    pub fn scheme_name(self) -> &'static str {
        self.scheme().name()
    }

    /// Returns the time, in Unix milliseconds.
    pub const fn timestamp_ms(self) -> u64 {
        match self {
            Self::Message { id, .. } => id.timestamp_ms(),
            Self::Snowflake(id) => id.timestamp_ms(),
        }
    }

    /// Returns the last millisecond that the layout of this ID has.
    pub const fn layout_end_ms(self) -> u64 {
        match self {
            Self::Message { id, .. } => (1 << id.layout().timestamp_bits()) - 1,
            Self::Snowflake(id) => id.layout().last_ms(),
        }
    }

    /// Returns whether this is an ID of imid's own dialect.
    pub fn is_standard(self) -> bool {
        self.scheme().is_standard()
    }

    /// Returns 80 bits that sort as the IDs of the scheme do, so that IDs of all schemes compare the same way.
    #[expect(clippy::missing_panics_doc, reason = "64 bits fit 80")]
    pub fn sort_key(self) -> MessageId {
        match self {
            Self::Message { id, .. } => MessageId::from_bytes(id.to_bytes()),
            // PANIC: 64 bits fit 80.
            Self::Snowflake(id) => MessageId::from_u128(id.to_u64().into()).expect("64 bits fit 80"),
        }
    }
}

impl From<MessageId> for Id {
    fn from(id: MessageId) -> Self {
        Self::Message { dialect: &Dialect::STANDARD, id: id.into() }
    }
}

/// Formats the text of the ID in its scheme. If the dialect cannot write the ID, because its layout is another one, formats
/// the hex digits. Width and alignment apply.
impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message { dialect, id } => match dialect.to_text(*id) {
                Ok(text) => text.fmt(f),
                Err(_) => id.to_hex().fmt(f),
            },
            Self::Snowflake(id) => id.fmt(f),
        }
    }
}
