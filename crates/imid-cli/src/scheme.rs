//! The ID schemes that `--dialect` names: dialects of 80-bit IDs and Snowflake layouts.

use std::fmt;

use bstr::ByteSlice;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use imid::MessageId;
use imid::dialect::{Dialect, DialectId};
use imid_inspect::identify::Candidate;
use imid_snowflake::{Layout, Snowflake};

use crate::report::quote;

/// The argument that names the scheme of the IDs.
#[derive(clap::Args)]
pub(crate) struct SchemeArg {
    /// Dialect or Snowflake layout of the IDs
    #[arg(long = "dialect", value_name = "NAME", default_value = "standard", value_parser = scheme())]
    pub(crate) scheme: Scheme,
}

/// How IDs are written and divided into fields.
#[derive(Clone, Copy)]
pub(crate) enum Scheme {
    Dialect(&'static Dialect<'static>),
    Snowflake(Layout),
}

/// imid's own dialect.
pub(crate) const STANDARD: Scheme = Scheme::Dialect(&Dialect::STANDARD);

/// An ID of a scheme.
#[derive(Clone, Copy)]
pub(crate) enum Id {
    Message { dialect: &'static Dialect<'static>, id: DialectId },
    Snowflake(Snowflake),
}

/// Reads the name of a scheme.
pub(crate) fn scheme() -> impl TypedValueParser<Value = Scheme> {
    PossibleValuesParser::new(Scheme::all().filter_map(Scheme::name)).map(|chosen| {
        let found = Scheme::all().find(|scheme| scheme.name().is_some_and(|name| name.eq_ignore_ascii_case(&chosen)));
        // PANIC: clap accepts only these names.
        found.expect("a possible value is one of the schemes")
    })
}

impl Scheme {
    /// Returns all schemes, in the order in which the library identifies them.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        Dialect::ALL.iter().map(Self::Dialect).chain(Layout::ALL.iter().copied().map(Self::Snowflake))
    }

    /// Returns the name, which each built-in scheme has.
    fn name(self) -> Option<&'static str> {
        match self {
            Self::Dialect(dialect) => Some(dialect.name()),
            Self::Snowflake(layout) => layout.name(),
        }
    }

    /// Returns whether this is imid's own dialect.
    pub(crate) fn is_standard(self) -> bool {
        matches!(self, Self::Dialect(dialect) if dialect.name() == Dialect::STANDARD.name())
    }

    /// Returns whether the IDs are always strings in JSON.
    pub(crate) fn is_text(self) -> bool {
        matches!(self, Self::Dialect(_))
    }

    /// Reads a text in its strict form.
    pub(crate) fn parse(self, text: &[u8]) -> Result<Id, String> {
        let read = match self {
            Self::Dialect(dialect) => {
                dialect.parse_bytes(text).map(|id| Id::Message { dialect, id }).map_err(|error| error.to_string())
            }
            Self::Snowflake(layout) => layout.parse_bytes(text).map(Id::Snowflake).map_err(|error| error.to_string()),
        };
        read.map_err(|error| format!("{} is not an ID: {error}", quote(&text.to_str_lossy())))
    }

    /// Returns whether the IDs have a UUID view.
    pub(crate) fn has_uuid(self) -> bool {
        matches!(self, Self::Dialect(dialect) if dialect.layout() == Dialect::STANDARD.layout())
    }

    /// Returns the ID of this scheme with this sort key.
    pub(crate) fn with_sort_key(self, key: MessageId) -> Id {
        match self {
            Self::Dialect(dialect) => {
                Id::Message { dialect, id: DialectId::from_bytes(key.to_bytes(), dialect.layout()) }
            }
            Self::Snowflake(layout) => Id::Snowflake(Snowflake::from_u64(key.to_u128() as u64, layout)),
        }
    }
}

impl Id {
    /// Returns the type of the library for an ID of any scheme.
    pub(crate) fn candidate(self) -> Candidate {
        match self {
            Self::Message { dialect, id } => Candidate::Message { dialect, id },
            Self::Snowflake(id) => Candidate::Snowflake(id),
        }
    }

    /// Returns whether the time is between 2005 and two years from now.
    pub(crate) fn is_plausible(self, now_ms: u64) -> bool {
        self.candidate().is_plausible(now_ms)
    }

    /// Returns the name of the scheme.
    pub(crate) fn scheme_name(self) -> &'static str {
        self.candidate().name()
    }

    /// Returns the time, in unix milliseconds.
    pub(crate) fn timestamp_ms(self) -> u64 {
        self.candidate().timestamp_ms()
    }

    /// Returns the first millisecond in which new IDs cannot have the time of this one.
    pub(crate) fn end_ms(self) -> u64 {
        let end = match self {
            Self::Message { .. } => return self.timestamp_ms() + 1,
            Self::Snowflake(id) => id.since_unix_epoch() + id.layout().tick(),
        };
        // PANIC: a tick has at most 64 bits of nanoseconds, and no layout ends after the year 10000.
        u64::try_from(end.as_nanos().div_ceil(1_000_000)).expect("a tick ends before the year 10000")
    }

    /// Returns the last millisecond that the layout of this ID has.
    pub(crate) fn layout_end_ms(self) -> u64 {
        match self {
            Self::Message { id, .. } => (1 << id.layout().timestamp_bits()) - 1,
            Self::Snowflake(id) => id.layout().last_ms(),
        }
    }

    /// Returns whether this is an ID of imid's own dialect.
    pub(crate) fn is_standard(self) -> bool {
        matches!(self, Self::Message { dialect, .. } if dialect.name() == Dialect::STANDARD.name())
    }

    /// Returns 80 bits that sort as the IDs of the scheme do, so that IDs of all schemes are compared in one way.
    pub(crate) fn sort_key(self) -> MessageId {
        match self {
            Self::Message { id, .. } => MessageId::from_bytes(id.to_bytes()),
            // PANIC: 64 bits fit 80.
            Self::Snowflake(id) => MessageId::from_u128(id.to_u64().into()).expect("64 bits fit 80"),
        }
    }
}

/// Returns the text of the ID in its scheme.
impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.candidate().fmt(f)
    }
}

/// Returns the code of a session type, followed by its name in this dialect if it has a name.
pub(crate) fn named_type(dialect: &Dialect<'_>, code: u8) -> String {
    dialect.type_name(code).map_or_else(|| code.to_string(), |name| format!("{code} {name}"))
}
