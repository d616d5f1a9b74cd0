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

/// Returns the names of the forms.
pub(crate) fn forms() -> impl Iterator<Item = PossibleValue> {
    FORMS.iter().map(|(_, name, help)| PossibleValue::new(name).help(help))
}

/// Returns the form of this name, in any case.
pub(crate) fn form_named(name: &str) -> Option<Form> {
    FORMS.iter().find(|(_, other, _)| other.eq_ignore_ascii_case(name)).map(|(form, ..)| *form)
}

/// Reads the name of a form.
pub(crate) fn form() -> impl TypedValueParser<Value = Form> {
    // PANIC: clap accepts only these names.
    PossibleValuesParser::new(forms()).map(|name| form_named(&name).expect("a possible value is one of the forms"))
}

/// The error for an ID that has no UUID view.
pub(crate) const NO_UUID: &str = "only 80-bit IDs of the standard layout have a UUID view";
