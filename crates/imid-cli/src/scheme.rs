//! The argument that names a scheme of IDs: a dialect of 80-bit IDs or a Snowflake layout.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use imid_inspect::Scheme;

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
