//! The errors for texts that are not IDs, with what they could be instead.

use std::path::Path;

use imid_inspect::{Form, Found, Hint, Id, NotPasted, Read, ReadError, Scheme, read_pasted};

use crate::report::quote;
use crate::time::{now_ms, rfc3339};

/// Returns the error for a text.
pub(crate) fn not_read(text: &str, error: ReadError) -> String {
    format!("{} is {error}", quote(text.trim()))
}

/// Reads an ID in any of its forms.
pub(crate) fn read_id(scheme: Scheme, text: &str) -> Result<Id, String> {
    scheme.read(text, None).map(|read| read.id).map_err(|error| not_read(text, error))
}

/// Reads an ID that a person gives. If it is of no form of the scheme, the error says which other scheme has such IDs, or
/// where in the text an ID is.
pub(crate) fn read_or_hint(scheme: Scheme, text: &str, form: Option<Form>) -> Result<Read, String> {
    read_pasted(scheme, text, form, now_ms()).map_err(|not_pasted| describe(scheme, text, form, not_pasted))
}

/// Returns the error for a text, with its hint.
pub(crate) fn describe(scheme: Scheme, text: &str, form: Option<Form>, not_pasted: NotPasted) -> String {
    let problem = not_read(text, not_pasted.error);
    match not_pasted.hint {
        Some(Hint::Inside(found)) => format!("{problem}; {}", place(scheme, text, &found)),
        Some(Hint::Other(readings)) if !readings.is_empty() => {
            let id = readings[0].id;
            format!("{problem}; imid inspect reads it as {}, {}", id.scheme_name(), rfc3339(id.timestamp_ms()))
        }
        Some(Hint::CutOff(cut)) => {
            let (first, last) = (rfc3339(cut.first.timestamp_ms()), rfc3339(cut.last.timestamp_ms()));
            let times = if first == last { format!("of {first}") } else { format!("from {first} to {last}") };
            let rest = if cut.digits == 15 { "digit".to_owned() } else { format!("{} digits", 16 - cut.digits) };
            format!(
                "{} lacks the last {rest} of an ID {times}; imid range --prefix prints its bounds",
                quote(text.trim())
            )
        }
        Some(Hint::WrongDigit(wrong)) => {
            let fits: Vec<_> = wrong.fits.chars().map(String::from).collect();
            format!("{problem}; IDs have no {:?}: is it {}?", wrong.found, fits.join(" or "))
        }
        Some(Hint::NoPadding(id)) => format!("{problem}; if it is base 64, add == to read {id}"),
        _ if form.is_none() && Path::new(text).is_file() => {
            format!("{problem}; it is a file: to read its lines, write < {text}")
        }
        _ => problem,
    }
}

fn place(scheme: Scheme, text: &str, found: &Found) -> String {
    let (id, at) = (found.read.id, text[..found.at.start].chars().count());
    format!("there is an ID at {at}: {id}{}", of_other(scheme, id))
}

/// Names the scheme of an ID, unless it is the expected one.
fn of_other(expected: Scheme, id: Id) -> String {
    let is_other = !expected.is_standard() || !id.is_standard();
    if is_other { format!(", of {}", id.scheme_name()) } else { String::new() }
}
