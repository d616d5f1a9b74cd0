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

/// The argument that names the form of the IDs that are read.
#[derive(clap::Args)]
pub(crate) struct IdFormArg {
    /// Form of the IDs that are read
    #[arg(long = "id-form", value_name = "FORM", default_value = "auto", value_parser = form_or_auto())]
    form: FormArg,
}

/// A form, or `None` if the shape of each ID says it.
#[derive(Clone, Copy)]
struct FormArg(Option<Form>);

impl IdFormArg {
    /// Returns the form, or `None` if the shape of each ID says it.
    pub(crate) const fn get(&self) -> Option<Form> {
        self.form.0
    }
}

fn values() -> impl Iterator<Item = PossibleValue> {
    FORMS.iter().map(|(_, name, help)| PossibleValue::new(name).help(help))
}

fn named(chosen: &str) -> Option<Form> {
    FORMS.iter().find(|(_, name, _)| name.eq_ignore_ascii_case(chosen)).map(|(form, ..)| *form)
}

/// Reads the name of a form.
pub(crate) fn form() -> impl TypedValueParser<Value = Form> {
    // PANIC: clap accepts only these names.
    PossibleValuesParser::new(values()).map(|chosen| named(&chosen).expect("a possible value is one of the forms"))
}

fn form_or_auto() -> impl TypedValueParser<Value = FormArg> {
    let auto = PossibleValue::new("auto").help("The form that the shape of each ID says");
    PossibleValuesParser::new([auto].into_iter().chain(values())).map(|chosen| FormArg(named(&chosen)))
}

/// The error for an ID that has no UUID view.
pub(crate) const NO_UUID: &str = "only 80-bit IDs of the standard layout have a UUID view";
