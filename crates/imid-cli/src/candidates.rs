//! The schemes that could have made an ID.

use std::path::Path;

use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE};
use imid::MessageId;
use imid::dialect::DialectId;

use crate::find::find_in;
use crate::form::{Form, Read, ReadForm, hex_prefix_len, look_alike};
use crate::scheme::{Id, STANDARD, Scheme};
use crate::time::{now_ms, rfc3339};

/// The shortest text that is worth a hint: 16 digits. Shorter numbers are Snowflakes too, but of the first minutes after
/// an epoch.
const MIN_HINTED: usize = 16;

/// Returns the ways to read a text, the likely ones first.
///
/// The order is that of [`Candidate::fit`](imid_inspect::identify::Candidate::fit), with exact forms first among readings of the
/// same years. The dialects read one hex number or integer as the same time, and then the standard dialect is first. An
/// inexact form with an implausible time is returned only if there is nothing else.
fn readings(text: &str, now_ms: u64) -> Vec<Read> {
    let readings = Scheme::all().filter_map(|scheme| {
        let read = scheme.recognize(text).ok()?;
        // Any 16 hex digits fit each Snowflake layout. Without a prefix they are read only by layouts that write hex.
        let is_snowflake = matches!(scheme, Scheme::Snowflake(_));
        let is_exact = read.form == ReadForm::Exact(Form::Text);
        (is_exact || !is_snowflake || hex_prefix_len(text) > 0).then_some(read)
    });
    let mut readings: Vec<Read> = readings.collect();
    let is_inexact = |read: &Read| read.form != ReadForm::Exact(Form::Text);
    readings.sort_by_key(|read| {
        let (inexact, (class, distance)) = (is_inexact(read), read.id.candidate().fit(now_ms));
        (class, inexact, inexact && !read.id.is_standard(), distance)
    });
    let is_unlikely = |read: &Read| is_inexact(read) && !read.id.is_plausible(now_ms);
    if readings.first().is_some_and(|best| !is_unlikely(best)) {
        readings.retain(|read| !is_unlikely(read));
    }
    readings
}

/// Reads an ID that a person gives. If it is of no form of the scheme, the error says which other scheme has such IDs, or
/// where in the text an ID is.
pub(crate) fn read_or_hint(scheme: Scheme, text: &str, form: Option<Form>) -> Result<Read, String> {
    let problem = match scheme.read(text, form) {
        Err(problem) if form.is_none() => problem,
        read => return read,
    };
    let unwrapped = unwrapped(text);
    if let Ok(read) = scheme.recognize(&unwrapped) {
        return Ok(Read { form: read.form.lenient(), ..read });
    }
    if let Some(read) = from_base64(scheme, text) {
        return Ok(read);
    }
    if let Some(place) = place_of_id(scheme, text) {
        return Err(format!("{problem}; {place}"));
    }
    Err(match hint(text.trim()) {
        Some(id) => {
            format!("{problem}; imid identify reads it as {}, {}", id.scheme_name(), rfc3339(id.timestamp_ms()))
        }
        None if Path::new(text).is_file() => format!("{problem}; it is a file: to read its lines, write < {text}"),
        None => problem,
    })
}

/// Says where in a longer text an ID is.
pub(crate) fn place_of_id(scheme: Scheme, text: &str) -> Option<String> {
    let whole = text.trim().len();
    let found = find_in(scheme, text, now_ms()).filter(|found| found.at.len() < whole)?;
    let (id, at) = (found.read.id, text[..found.at.start].chars().count());
    Some(format!("there is an ID at {at}: {id}{}", of_other(scheme, id)))
}

/// Returns the ID of another scheme that a text is likely to be, if its time as `read` is implausible.
pub(crate) fn likelier(read: Read, text: &str) -> Option<Id> {
    let now_ms = now_ms();
    if read.id.is_plausible(now_ms) {
        return None;
    }
    let first = pasted_readings(text, now_ms).first()?.id;
    (first.is_plausible(now_ms) && first.scheme_name() != read.id.scheme_name()).then_some(first)
}

/// Returns the ways to read a text that a person gives, which can have something around it.
pub(crate) fn pasted_readings(text: &str, now_ms: u64) -> Vec<Read> {
    let exact = readings(text.trim(), now_ms);
    if !exact.is_empty() {
        return exact;
    }
    let unwrapped = readings(&unwrapped(text), now_ms);
    match from_base64(STANDARD, text) {
        Some(read) if unwrapped.is_empty() => vec![read],
        _ => unwrapped,
    }
}

/// Names the scheme of an ID, unless it is the expected one.
fn of_other(expected: Scheme, id: Id) -> String {
    let is_other = !expected.is_standard() || !id.is_standard();
    if is_other { format!(", of {}", id.scheme_name()) } else { String::new() }
}

/// Reads 10 bytes in base 64. Without the padding, other texts of 14 characters would be read too.
fn from_base64(scheme: Scheme, text: &str) -> Option<Read> {
    let text = text.trim_matches(|c: char| !c.is_ascii_alphanumeric() && !"+/-_=".contains(c));
    let mut bytes = [0; MessageId::BYTE_LEN + 2];
    let engine = if text.contains(['-', '_']) { &BASE64_URL_SAFE } else { &BASE64_STANDARD };
    let Scheme::Dialect(dialect) = scheme else { return None };
    engine.decode_slice(text, &mut bytes).ok().filter(|len| *len == MessageId::BYTE_LEN)?;
    let id = DialectId::from_bytes(*bytes.first_chunk()?, dialect.layout());
    let id = Id::Message { dialect, id };
    id.is_plausible(now_ms()).then_some(Read { id, form: ReadForm::Base64 })
}

/// Returns a text without what is around an ID in code, tables and mails: quotation marks, brackets, commas, and spaces or
/// look-alikes of a dash between its groups.
fn unwrapped(text: &str) -> String {
    let is_inside = |c: char| c.is_ascii_alphanumeric() || c == '\\';
    let text = text.trim_matches(|c: char| !is_inside(c) && c != '-');
    let text = text.trim_matches('-');
    let is_separator = |c: char| c.is_whitespace() || look_alike(c).is_some() || matches!(c, '-' | '_');
    let groups: Vec<_> = text.split(is_separator).filter(|group| !group.is_empty()).collect();
    if groups.len() == 4 && groups.iter().all(|group| group.len() == 4) {
        return groups.join("-");
    }
    // A binary string of SQL, and the bytes of a hex dump.
    let hex: String = text.trim_start_matches(['x', 'X', '\'']).chars().filter(|c| !matches!(c, ' ' | ':')).collect();
    if hex.len() == 2 * MessageId::BYTE_LEN && hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return hex;
    }
    // A spreadsheet groups the digits of a number.
    let digits: String = text.chars().filter(|c| !matches!(c, ' ' | ',' | '.' | '_' | '\'')).collect();
    if digits.len() > 20 && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return digits;
    }
    // Other texts keep their separators, because an error or another form needs them.
    text.to_owned()
}

/// Returns the most likely ID that a text can be.
fn hint(text: &str) -> Option<Id> {
    let now_ms = now_ms();
    let likely = readings(text, now_ms).first()?.id;
    (text.len() >= MIN_HINTED && likely.is_plausible(now_ms)).then_some(likely)
}
