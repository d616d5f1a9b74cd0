//! The dialects and Snowflake layouts, as `--dialect` names them.

use bstr::ByteSlice;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use imid::MessageId;
use imid::dialect::Dialect;
use imid::identify::Candidate;
use imid::snowflake::{Layout, Snowflake};

use crate::report::quote;

/// Who made the IDs.
#[derive(clap::Args)]
pub(crate) struct FamilyArg {
    /// Dialect or Snowflake layout of the IDs
    #[arg(long = "dialect", value_name = "NAME", default_value = "standard", value_parser = family())]
    pub(crate) family: Family,
}

/// A way to write and to divide IDs.
#[derive(Clone, Copy)]
pub(crate) enum Family {
    Message(&'static Dialect),
    Snowflake(&'static Layout),
}

fn family() -> impl TypedValueParser<Value = Family> {
    let dialects = Dialect::ALL.iter().map(|dialect| (dialect.name(), Family::Message(dialect)));
    let layouts = Layout::ALL.iter().map(|layout| (layout.name(), Family::Snowflake(layout)));
    let all: Vec<_> = dialects.chain(layouts).collect();
    PossibleValuesParser::new(all.iter().map(|(name, _)| *name).collect::<Vec<_>>()).map(move |chosen| {
        let found = all.iter().find(|(name, _)| *name == chosen);
        // PANIC: clap takes no other names than these.
        found.expect("a possible value is one of the families").1
    })
}

impl Family {
    /// Whether it is the library's own.
    pub(crate) fn is_standard(self) -> bool {
        matches!(self, Self::Message(dialect) if dialect.name() == Dialect::STANDARD.name())
    }

    /// Whether the IDs are never numbers in JSON.
    pub(crate) fn is_text(self) -> bool {
        matches!(self, Self::Message(_))
    }

    /// Reads a text as it is written.
    pub(crate) fn parse(self, text: &[u8]) -> Result<Candidate, String> {
        let read = match self {
            Self::Message(dialect) => dialect.parse_bytes(text).map(|id| Candidate::Message { dialect, id }),
            Self::Snowflake(layout) => layout.parse_bytes(text).map(Candidate::Snowflake),
        };
        read.map_err(|error| format!("{} is no ID: {error}", quote(&text.to_str_lossy())))
    }

    /// Reads a text as a person types or pastes it.
    pub(crate) fn parse_pasted(self, text: &str) -> Result<Candidate, String> {
        let Self::Message(dialect) = self else { return self.parse(text.trim().as_bytes()) };
        let read = dialect.parse_lenient(text).map(|id| Candidate::Message { dialect, id });
        read.map_err(|error| format!("{} is no ID: {error}", quote(text.trim())))
    }

    /// The ID of a key.
    pub(crate) fn with_key(self, key: MessageId) -> Candidate {
        match self {
            Self::Message(dialect) => Candidate::Message { dialect, id: key },
            Self::Snowflake(layout) => Candidate::Snowflake(Snowflake::from_u64(key.to_u128() as u64, layout)),
        }
    }
}

/// 80 bits that are ordered as the IDs of a family are: what is sorted and compared, whoever made it.
pub(crate) fn key(id: &Candidate) -> MessageId {
    match id {
        Candidate::Message { id, .. } => *id,
        // PANIC: 64 bits fit 80.
        Candidate::Snowflake(id) => MessageId::from_u128(id.to_u64().into()).expect("64 bits fit 80"),
    }
}
