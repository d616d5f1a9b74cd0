//! The errors for texts that are not IDs, with what they could be instead.

use std::path::Path;

use imid_inspect::{Broken, BrokenKind, Form, Found, Id, NotPasted, Pasted, Read, ReadError, Scheme, read_declared};

use crate::report::quote;
use crate::time::{now_ms, rfc3339};

/// Returns the error for a text.
pub(crate) fn not_read(text: &str, error: &ReadError) -> String {
    format!("{} is {error}", quote(text.trim()))
}

/// Reads an ID in any of its forms.
pub(crate) fn read_id(scheme: Scheme, text: &str) -> Result<Id, String> {
    scheme.read(text, None).map(|read| read.id).map_err(|error| not_read(text, &error))
}

/// Reads an ID of this scheme that a person gives. If it is of no form of the scheme, the error says which other scheme has such
/// IDs, or where in the text an ID is.
pub(crate) fn read_or_hint(scheme: Scheme, text: &str, form: Option<Form>) -> Result<Read, String> {
    read_declared(scheme, text, form, now_ms()).map_err(|not_pasted| describe(scheme, text, not_pasted))
}

/// Returns the error for a text that is an ID of another system than the standard one, or of one of several.
pub(crate) fn of_others(text: &str, readings: &[Read]) -> String {
    let names: Vec<_> = readings.iter().map(|read| of_time(read.id.scheme_name(), read.id.timestamp_ms())).collect();
    let text = quote(text.trim());
    match (&names[..], readings) {
        ([name], [read]) => format!("{text} is an ID of {name}; to use it, give --dialect {}", read.id.scheme_name()),
        _ => format!("{text} can be an ID of {}: name one with --dialect", names.join(" or of ")),
    }
}

fn of_time(name: &str, unix_ms: u64) -> String {
    format!("{name} ({})", rfc3339(unix_ms))
}

/// Returns the error for a text, with its hint.
pub(crate) fn describe(scheme: Scheme, text: &str, not_pasted: NotPasted) -> String {
    let problem = not_read(text, &not_pasted.error);
    let scan = match not_pasted.instead {
        Pasted::One(readings) => return format!("{problem}; {}", of_others(text, &readings)),
        Pasted::Text(scan) => scan,
    };
    if let Some(found) = scan.ids.first() {
        return format!("{problem}; {}", place(scheme, text, found));
    }
    match scan.broken {
        Some(broken) if matches!(broken.kind, BrokenKind::CutOff(_)) => {
            format!("{} {}", quote(&text.trim()[broken.at.clone()]), broken_word(&broken))
        }
        Some(broken) => format!("{problem}; {}", broken_word(&broken)),
        None if !scan.others.is_empty() => {
            let texts: Vec<_> = scan.others.iter().map(|found| text.trim()[found.at.clone()].to_owned()).collect();
            format!("{problem}; {}", numbers(&texts))
        }
        None if Path::new(text).is_file() => {
            format!("{problem}; it is a file: to read its lines, write < {text}")
        }
        None => problem,
    }
}

/// Says what is wrong with a word that is not all of an ID.
pub(crate) fn broken_word(broken: &Broken) -> String {
    match &broken.kind {
        BrokenKind::CutOff(cuts) => {
            let lacks = match 16 - cuts[0].digits {
                1 => "digit".to_owned(),
                count => format!("{count} digits"),
            };
            let of = cuts.iter().map(|cut| {
                let (first, last) = (rfc3339(cut.first.timestamp_ms()), rfc3339(cut.last.timestamp_ms()));
                let name =
                    if cut.first.is_standard() { String::new() } else { format!("{} ", cut.first.scheme_name()) };
                if first == last { format!("{name}of {first}") } else { format!("{name}from {first} to {last}") }
            });
            let of: Vec<_> = of.collect();
            let hint = if cuts[0].first.is_standard() { "; imid range --prefix prints its bounds" } else { "" };
            format!("lacks the last {lacks} of an ID {}{hint}", of.join(" or "))
        }
        BrokenKind::Mistyped { texts, .. } => format!("did you mean {}?", texts.join(" or ")),
    }
}

/// The most numbers that are listed.
const LISTED: usize = 5;

/// Lists numbers and words that could be IDs.
pub(crate) fn numbers(texts: &[String]) -> String {
    let listed = texts[..texts.len().min(LISTED)].join(", ");
    let more = if texts.len() > LISTED { ", ..." } else { "" };
    match texts.len() {
        1 => format!("1 number could be an ID of another system: {listed}"),
        count => format!("{count} numbers could be IDs of other systems: {listed}{more}"),
    }
}

/// Returns where in a text an ID is.
pub(crate) fn place(scheme: Scheme, text: &str, found: &Found) -> String {
    let (id, at) = (found.read.id, text.trim()[..found.at.start].chars().count());
    format!("there is an ID at {at}: {id}{}", of_other(scheme, id))
}

/// Names the scheme of an ID, unless it is the expected one.
fn of_other(expected: Scheme, id: Id) -> String {
    let is_other = !expected.is_standard() || !id.is_standard();
    if is_other { format!(", of {}", id.scheme_name()) } else { String::new() }
}
