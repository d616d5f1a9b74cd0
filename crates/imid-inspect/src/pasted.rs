//! Pasted text, which may contain more than an ID.

use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE};
use bstr::ByteVec;
use imid::MessageId;
use imid::dialect::DialectId;

use crate::cut::{CutOff, WrongDigit};
use crate::error::{Kind, ReadError, look_alike};
use crate::find::{Found, find_in};
use crate::form::{Form, Read, ReadForm, hex_prefix_len, is_word};
use crate::scheme::{Id, STANDARD, Scheme};

/// The shortest text that is worth a hint: 16 digits. Shorter numbers can be Snowflakes as well, but of the first minutes after
/// an epoch.
const MIN_HINTED: usize = 16;

/// A pasted text is not an ID of the expected scheme.
#[derive(Clone, Debug)]
pub struct NotPasted {
    /// Why the text cannot be read.
    pub error: ReadError,
    /// What can be read instead.
    pub hint: Option<Hint>,
}

/// What can be read from a text instead.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Hint {
    /// A part of the text is an ID.
    Inside(Found),
    /// The whole text is an ID of other schemes, most likely first.
    Other(Vec<Read>),
    /// The text is the beginning of an ID.
    CutOff(CutOff),
    /// One digit of the text is wrong.
    WrongDigit(WrongDigit),
    /// The text is 10 bytes in base64 without the padding, as many words are.
    NoPadding(Id),
}

/// Returns the ways to read a text, most likely first.
///
/// The order is that of [`Id::fit`], with exact forms first among readings of the
/// same years. The dialects read one hex number or integer as the same time, and then the standard dialect is first. An
/// inexact form with an implausible time is returned only if there is nothing else.
fn readings(text: &str, now_ms: u64) -> Vec<Read> {
    let has_prefix = hex_prefix_len(text) > 0;
    let readings = Scheme::all().filter_map(|scheme| match scheme {
        // Any 16 hex digits fit each Snowflake layout. Without a prefix they are read only by layouts that write hex.
        Scheme::Snowflake(_) if !has_prefix => scheme.written_as(text),
        _ => scheme.recognized(text),
    });
    let mut readings: Vec<Read> = readings.collect();
    let is_inexact = |read: &Read| read.form != ReadForm::Exact(Form::Text);
    readings.sort_by_cached_key(|read| {
        let (inexact, (class, distance)) = (is_inexact(read), read.id.fit(now_ms));
        (class, inexact, inexact && !read.id.is_standard(), distance)
    });
    let is_unlikely = |read: &Read| is_inexact(read) && !read.id.is_plausible(now_ms);
    if readings.first().is_some_and(|best| !is_unlikely(best)) {
        readings.retain(|read| !is_unlikely(read));
    }
    readings
}

/// Reads an ID that a person typed or pasted, in any form of the scheme, or only in `form`.
///
/// # Errors
/// The text has no form of the scheme. The error says which other scheme has such IDs, or where in the text an ID is.
#[expect(clippy::result_large_err, reason = "a person gives few texts, and the error has what else they can be")]
pub fn read_pasted(scheme: Scheme, text: &str, form: Option<Form>, now_ms: u64) -> Result<Read, NotPasted> {
    let error = match scheme.read(text, form) {
        Ok(read) if !is_number(scheme, text, &read) => return Ok(read),
        Ok(_) => Kind::Number.into(),
        Err(error) if form.is_some() => return Err(NotPasted { error, hint: None }),
        Err(error) => error,
    };
    let unwrapped = unwrapped(text);
    if let Some(unwrapped) = &unwrapped {
        if let Some(read) = scheme.recognized(unwrapped)
            && !is_number(scheme, text, &read)
        {
            return Ok(Read { form: read.form.lenient(), ..read });
        }
        if let Some(read) = from_base64(scheme, text, now_ms).or_else(|| from_bytes(scheme, text, now_ms)) {
            return Ok(read);
        }
    }
    let inside = || {
        unwrapped.as_ref()?;
        find_in(scheme, text, now_ms).filter(|found| found.at.len() < text.trim().len())
    };
    let other = || inside().map(Hint::Inside).or_else(|| others(text.trim(), now_ms).map(Hint::Other));
    let unwrapped_cut_off = || CutOff::read(unwrapped.as_ref()?, now_ms);
    let cut_off = || unwrapped_cut_off().or_else(|| CutOff::read(text, now_ms)).map(Hint::CutOff);
    let standard = || {
        let padded = || from_base64(scheme, &format!("{}==", text.trim()), now_ms).map(|read| Hint::NoPadding(read.id));
        cut_off().or_else(|| WrongDigit::read(text, now_ms).map(Hint::WrongDigit)).or_else(padded)
    };
    let hint = other().or_else(|| scheme.is_standard().then(standard).flatten());
    Err(NotPasted { error, hint })
}

/// Returns the ID of another scheme that a text probably is, if its time as `id` is implausible.
pub fn likelier(id: Id, text: &str, now_ms: u64) -> Option<Id> {
    if id.is_plausible(now_ms) {
        return None;
    }
    let first = identify(text, now_ms).first()?.id;
    (first.is_plausible(now_ms) && first.scheme_name() != id.scheme_name()).then_some(first)
}

/// Returns the ways to read a typed or pasted text, in all forms of all schemes, most likely first.
///
/// ```
/// use imid_inspect::identify;
///
/// let readings = identify("\"bufe-a62u-32c4-01i2\",", 1_767_225_600_000);
/// assert_eq!(readings[0].id.scheme_name(), "rongcloud");
/// assert_eq!(readings[0].form.name(), "lenient text");
/// ```
pub fn identify(text: &str, now_ms: u64) -> Vec<Read> {
    let exact = readings(text.trim(), now_ms);
    if !exact.is_empty() {
        return exact;
    }
    let Some(unwrapped) = unwrapped(text) else { return exact };
    let unwrapped = readings(&unwrapped, now_ms);
    match from_base64(STANDARD, text, now_ms).or_else(|| from_bytes(STANDARD, text, now_ms)) {
        Some(read) if unwrapped.is_empty() => vec![read],
        _ => unwrapped,
    }
}

/// Returns whether a character is a letter of an ID, including full-width ones. Tables of all letters would be a tenth of the page.
fn is_letter(character: char) -> bool {
    character.is_ascii_alphabetic() || matches!(character, 'Ａ'..='Ｚ' | 'ａ'..='ｚ')
}

/// Returns whether an ID was read from 16 digits that are not in the exact form. Less than one ID in 10^9 has no letter, and
/// payment cards have 16 digits.
fn is_number(scheme: Scheme, text: &str, read: &Read) -> bool {
    let is_exact = scheme.parse(text.trim().as_bytes()).is_ok();
    let is_text = matches!(read.form, ReadForm::LenientText | ReadForm::Exact(Form::Text));
    is_text && !is_exact && scheme.is_text() && !text.contains(is_letter)
}

/// Reads 10 bytes in base64. Without the padding, other texts of 14 characters would be read as well.
fn from_base64(scheme: Scheme, text: &str, now_ms: u64) -> Option<Read> {
    let text = text.trim_matches(|c: char| !c.is_ascii_alphanumeric() && !"+/-_=".contains(c));
    let engine = if text.contains(['-', '_']) { &BASE64_URL_SAFE } else { &BASE64_STANDARD };
    let bytes = engine.decode(text).ok()?;
    // Less than one ID in 10^6 has the bytes of words.
    let is_words = bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b' ');
    if is_words { None } else { plausible(scheme, &bytes, ReadForm::Base64, now_ms) }
}

/// Returns the ID of 10 bytes, if its time is plausible.
fn plausible(scheme: Scheme, bytes: &[u8], form: ReadForm, now_ms: u64) -> Option<Read> {
    let Scheme::Dialect(dialect) = scheme else { return None };
    let id = Id::Message { dialect, id: DialectId::from_slice(bytes, dialect.layout()).ok()? };
    id.is_plausible(now_ms).then_some(Read { id, form })
}

/// Returns a text without what is around an ID in code, tables and emails: quotation marks, brackets, commas, and spaces or
/// look-alikes of a dash between its groups. Returns `None` for one word with nothing around it.
fn unwrapped(text: &str) -> Option<String> {
    let text = text.trim();
    // As in `123n` and in `x66a8`.
    let is_bare = is_word(text) && !text.ends_with('n') && !text.starts_with(['x', 'X']);
    (!is_bare).then(|| without_signs(text))
}

fn without_signs(text: &str) -> String {
    // Full-width letters and digits, as input methods of East Asia write them.
    let half_width = |c: char| match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        '\u{3000}' => ' ',
        _ => c,
    };
    let text: String = text.chars().map(half_width).collect();
    let text = text.trim();
    // A literal of Python, and a number of JavaScript.
    let text = ["b'", "b\""].iter().find_map(|start| text.strip_prefix(start)).unwrap_or(text);
    let number = text.strip_suffix('n').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    let text = number.unwrap_or(text);
    let is_inside = |c: char| c.is_ascii_alphanumeric() || c == '\\';
    let text = text.trim_matches(|c: char| !is_inside(c) && c != '-');
    let text = text.trim_matches('-').trim();
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
    grouped(text).unwrap_or_else(|| text.to_owned())
}

/// Returns the digits of a number that a spreadsheet or a program groups: the first group is the shortest, and there is one
/// separator. Bytes in a list have groups of other lengths, or more separators.
fn grouped(text: &str) -> Option<String> {
    let separator = text.chars().find(|c| matches!(c, ' ' | ',' | '.' | '_' | '\''))?;
    let mut groups = text.split(separator);
    let (first, len) = (groups.next()?, groups.clone().next()?.len());
    let is_grouped = matches!(len, 3 | 4) && (1..=len).contains(&first.len()) && groups.all(|group| group.len() == len);
    let digits = text.replace(separator, "");
    let is_number = digits.len() > 20 && digits.bytes().all(|byte| byte.is_ascii_digit());
    (is_grouped && is_number).then_some(digits)
}

/// Reads 10 bytes: a list of numbers, signed as in Java or not; a literal of Python with its escapes.
fn from_bytes(scheme: Scheme, text: &str, now_ms: u64) -> Option<Read> {
    plausible(scheme, &listed(text).or_else(|| escaped(text))?, ReadForm::Bytes, now_ms)
}

/// Reads `[102, 168, 171]`, `{102, -88}` and `<102 168>`.
fn listed(text: &str) -> Option<Vec<u8>> {
    let inner = text.trim_matches(|c: char| !c.is_ascii_digit() && c != '-');
    let numbers = inner.split([',', ' ', ';']).filter(|number| !number.is_empty());
    let byte = |number: &str| number.parse::<u8>().ok().or_else(|| Some(number.parse::<i8>().ok()?.cast_unsigned()));
    numbers.map(byte).collect()
}

/// Reads `b'f\xa8\xab\x1a'`.
fn escaped(text: &str) -> Option<Vec<u8>> {
    let quoted = text.trim().strip_prefix('b')?;
    let inner = ['\'', '"'].iter().find_map(|quote| quoted.strip_prefix(*quote)?.strip_suffix(*quote))?;
    // An odd one at the end would escape the quotation mark: the literal is cut off.
    let backslashes = inner.len() - inner.trim_end_matches('\\').len();
    (inner.is_ascii() && backslashes.is_multiple_of(2)).then(|| Vec::unescape_bytes(inner))
}

/// Returns the IDs that a text can be, if the most likely one is plausible. Four groups of four digits are those of a payment
/// card.
fn others(text: &str, now_ms: u64) -> Option<Vec<Read>> {
    let readings = identify(text, now_ms);
    let is_likely = |first: &Read| {
        let is_grouped = first.id.session().is_some() && text.contains(['-', ' ']);
        first.id.is_plausible(now_ms) && (!is_grouped || text.contains(is_letter))
    };
    (text.len() >= MIN_HINTED && readings.first().is_some_and(is_likely)).then_some(readings)
}
