//! The arguments that name a form of IDs.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use imid_inspect::Form;

/// The forms, with their names and what the help says of them.
const FORMS: [(Form, &str, &str); 4] = [
    (Form::Text, "text", "The text of the dialect or layout"),
    (Form::Hex, "hex", "20 hex digits, or 16 for a Snowflake"),
    (Form::Int, "int", "A decimal number"),
    (Form::Uuid, "uuid", "The UUID view"),
];

/// Reads the name of a form.
pub(crate) fn form() -> impl TypedValueParser<Value = Form> {
    PossibleValuesParser::new(FORMS.iter().map(|(_, name, help)| PossibleValue::new(name).help(help))).map(|chosen| {
        let found = FORMS.iter().find(|(_, name, _)| name.eq_ignore_ascii_case(&chosen));
        // PANIC: clap accepts only these names.
        found.expect("a possible value is one of the forms").0
    })
}

/// The error for an ID that has no UUID view.
pub(crate) const NO_UUID: &str = "only 80-bit IDs of the standard layout have a UUID view";
