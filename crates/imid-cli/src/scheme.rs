//! The argument that names a scheme of IDs: a dialect of 80-bit IDs or a Snowflake layout.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use imid::SessionType;
use imid::dialect::Dialect;
use imid_inspect::Scheme;

/// The argument that names the scheme of the IDs.
#[derive(clap::Args)]
pub(crate) struct SchemeArg {
    /// Dialect or Snowflake layout of the IDs
    #[arg(long = "dialect", value_name = "NAME", default_value = "standard", value_parser = scheme())]
    pub(crate) scheme: Scheme,
}

/// Layouts that no system mints any more: they are read by name, and not listed.
const DEAD: [&str; 2] = ["rollback-38-15-10", "nsq-before-2015"];

/// Reads the name of a scheme.
pub(crate) fn scheme() -> impl TypedValueParser<Value = Scheme> {
    let names = Scheme::all().map(|scheme| PossibleValue::new(scheme.name()).hide(DEAD.contains(&scheme.name())));
    PossibleValuesParser::new(names).map(|chosen| {
        let found = Scheme::all().find(|scheme| scheme.name().eq_ignore_ascii_case(&chosen));
        // PANIC: clap accepts only these names.
        found.expect("a possible value is one of the schemes")
    })
}

/// Reads the name of a dialect that can mint IDs.
pub(crate) fn minting_dialect() -> impl TypedValueParser<Value = &'static Dialect<'static>> {
    let mints = |dialect: &&Dialect<'_>| dialect.session_tag(SessionType::MIN, "").is_ok();
    PossibleValuesParser::new(Dialect::ALL.iter().filter(mints).map(Dialect::name)).map(|name| {
        // PANIC: clap accepts only these names, in any case.
        Dialect::named(&name.to_ascii_lowercase()).expect("a possible value is a dialect")
    })
}
