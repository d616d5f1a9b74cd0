//! The argument that names a scheme of IDs: a dialect of 80-bit IDs or a Snowflake layout.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use imid::MessageId;
use imid_inspect::{STANDARD, Scheme};

use crate::candidates::not_read;
use crate::time::now_ms;

/// The argument that names the scheme of the IDs.
#[derive(clap::Args)]
pub(crate) struct SchemeArg {
    /// Dialect or Snowflake layout of the IDs
    #[arg(long = "dialect", value_name = "NAME", default_value = "standard", value_parser = scheme())]
    pub(crate) scheme: Scheme,
}

/// Reads the name of a scheme.
pub(crate) fn scheme() -> impl TypedValueParser<Value = Scheme> {
    PossibleValuesParser::new(Scheme::all().map(Scheme::name)).map(|chosen| {
        let found = Scheme::all().find(|scheme| scheme.name().eq_ignore_ascii_case(&chosen));
        // PANIC: clap accepts only these names.
        found.expect("a possible value is one of the schemes")
    })
}

/// Reads an ID of imid's own dialect in any of its forms.
pub(crate) fn pasted_id(text: &str) -> Result<MessageId, String> {
    let read = STANDARD.read(text, None, now_ms());
    read.map(|read| read.id.sort_key()).map_err(|error| not_read(text, error))
}
