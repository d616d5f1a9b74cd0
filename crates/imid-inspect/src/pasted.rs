//! Pasted text, which may contain more than an ID.

use crate::bytes::Shown;
use crate::cut::{Broken, BrokenKind};
use crate::error::{ReadError, look_alike};
use crate::find::{Finder, Found, is_one_case};
use crate::foreign::looks;
use crate::form::{Form, Read, hex_prefix_len};
use crate::identify::Rank;
use crate::scan::{Scan, scan};
use crate::scheme::{STANDARD, Scheme};

/// The shortest text that is an ID of another system: 16 digits. Shorter numbers can be Snowflakes as well, but of the first
/// days after an epoch.
pub(crate) const SHORTEST: usize = 16;

/// The longest text that is one ID: bytes as escapes in a dump, with what is around them.
const LONGEST: usize = 300;

/// What a pasted text is.
#[derive(Clone, Debug)]
pub enum Pasted {
    /// The whole text is an ID. If there are several ways to read it, the first one is a guess.
    One(Vec<Read>),
    /// The text is a longer one.
    Text(Scan),
}

/// A pasted text has no ID, or is not one of the expected scheme.
#[derive(Clone, Debug)]
pub struct NotPasted {
    /// Why the text cannot be read.
    pub error: ReadError,
    /// What it is instead: an ID of another scheme, or a text with an ID, with a word that is not all of one, or with numbers.
    pub instead: Pasted,
}

/// Reads a text that a person typed or pasted: one ID in any form of any scheme, or a longer text with IDs.
///
/// The places of what is found count from the beginning of the text without the white space around it.
///
/// A standard ID from 2018 to two years from now is read at once. An ID that another system could have made with a better
/// [rank](crate::Rank) has all its readings.
///
/// ```
/// use imid_inspect::{Pasted, read};
///
/// let now_ms = 1_767_225_600_000;
/// let Ok(Pasted::One(readings)) = read("CPEN-GH7K-ECA4-98EU", now_ms) else { panic!("one ID") };
/// let systems: Vec<_> = readings.iter().map(|read| read.id.scheme_name()).collect();
/// assert_eq!(systems, ["rongcloud", "standard"]);
/// ```
///
/// # Errors
/// The text has no ID. The error says what it looks like, and what is missing or mistyped.
#[expect(clippy::result_large_err, reason = "a person gives few texts, and the error has what else they can be")]
pub fn read(text: &str, now_ms: u64) -> Result<Pasted, NotPasted> {
    let text = text.trim();
    if text.len() <= LONGEST {
        let readings = identify(text, now_ms);
        let is_read = |first: &Read| first.id.is_standard() || text.len() >= SHORTEST && first.id.is_plausible(now_ms);
        if readings.first().is_some_and(is_read) {
            return Ok(Pasted::One(readings));
        }
    }
    let mut scan = scan(text, now_ms);
    scan.broken = broken(text, &scan.ids, now_ms);
    if !scan.ids.is_empty() {
        return Ok(Pasted::Text(scan));
    }
    let error = match looks(text) {
        _ if is_card_number(text) => {
            ReadError::new("not an ID: expected a letter, found only digits, as in the number of a payment card")
        }
        Some(message) => ReadError::new(message),
        None => STANDARD.problem(text),
    };
    Err(NotPasted { error, instead: Pasted::Text(scan) })
}

/// Reads an ID of this scheme that a person typed or pasted, in any form, or only in `form`.
///
/// # Errors
/// The text has no form of the scheme. The error says which other scheme has such IDs, or where in the text an ID is.
#[expect(clippy::result_large_err, reason = "as above")]
pub fn read_declared(scheme: Scheme, text: &str, form: Option<Form>, now_ms: u64) -> Result<Read, NotPasted> {
    let text = text.trim();
    let error = match scheme.read(text, form) {
        Ok(read) => return Ok(read),
        Err(error) if form.is_some() => return Err(NotPasted { error, instead: Pasted::Text(Scan::default()) }),
        Err(error) => error,
    };
    let unwrapped = scheme.recognized(&without_signs(text)).map(Read::lenient);
    // A list or hex digits show each byte. In base64 and beside an escape, any ten characters are bytes of some time.
    let is_clear = |read: &Read| read.id.is_plausible(now_ms) || read.form != Form::Base64 && !text.contains('\\');
    if let Some(read) = unwrapped.or_else(|| from_bytes(scheme, text).filter(is_clear)) {
        return Ok(read);
    }
    let instead = match Finder::new(Some(scheme), now_ms).next(text.as_bytes(), 0) {
        Some(found) => Pasted::Text(Scan { ids: vec![found], ..Scan::default() }),
        None => read(text, now_ms).unwrap_or_else(|not_pasted| not_pasted.instead),
    };
    Err(NotPasted { error, instead })
}

/// Returns the ways to read a typed or pasted text, in all forms of all schemes, most likely first. If there is no doubt,
/// there is one.
///
/// ```
/// use imid_inspect::identify;
///
/// let readings = identify("\"bufe-a62u-32c4-01i2\",", 1_767_225_600_000);
/// assert_eq!(readings[0].id.scheme_name(), "rongcloud");
/// assert_eq!(readings[0].form.name(), "lenient text");
/// ```
pub fn identify(text: &str, now_ms: u64) -> Vec<Read> {
    let text = text.trim();
    let (mut found, bare) = (readings(text, now_ms), without_signs(text));
    if found.is_empty() && bare != text {
        found = readings(&bare, now_ms).into_iter().map(Read::lenient).collect();
        found.retain(|read| read.form != Form::LenientText || !is_card_number(text));
    }
    if found.is_empty() { plausible_bytes(text, now_ms).into_iter().collect() } else { found }
}

/// Returns the ways to read a text that has nothing around it. The dialects read one hex number or integer as the same time,
/// and then the standard dialect is first.
fn readings(text: &str, now_ms: u64) -> Vec<Read> {
    let has_prefix = hex_prefix_len(text) > 0;
    let read = |scheme: Scheme| match scheme {
        // Any 16 hex digits fit each Snowflake layout. Without a prefix they are read only by layouts that write hex.
        Scheme::Snowflake(_) if !has_prefix => scheme.read_text(text),
        _ => scheme.recognized(text),
    };
    // A word in both cases is a name of a program or base64, unless it has the dashes of an ID.
    let is_word = text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let is_no_text = is_card_number(text) || is_word && !is_one_case(text.as_bytes());
    let is_read = |read: &Read| read.id.is_listed() && !(is_no_text && read.form == Form::LenientText);
    let mut readings: Vec<_> = Scheme::all().filter_map(read).filter(is_read).collect();
    readings.sort_by_cached_key(|read| {
        let (inexact, fit) = (read.form != Form::Text, read.id.fit(now_ms));
        // Letters that are not written so are not an ID of another age.
        let is_other = read.form == Form::LenientText && fit.rank == Rank::OtherTime;
        let rank = if is_other { Rank::Implausible } else { fit.rank };
        (rank, inexact, inexact && !read.id.is_standard(), fit.distance_ms)
    });
    if let Some(best) = readings.first().copied() {
        readings.truncate(if best.id.is_standard() { 1 } else { readings.len() });
        readings.retain(|read| read.id.is_plausible(now_ms) || !best.id.is_plausible(now_ms));
    }
    readings
}

/// The longest text in which broken IDs are searched.
const LONGEST_BROKEN: usize = 20_000;

/// Returns the first word that is not all of an ID, or the whole text if it is one. In a longer text it has a dash and more than
/// one group, because `base-2` is a word, or dots.
fn broken(text: &str, ids: &[Found], now_ms: u64) -> Option<Broken> {
    let is_in_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '…');
    let text = if text.len() > LONGEST_BROKEN { "" } else { text };
    let has_dots = |word: &str| word.ends_with("..") || word.ends_with('…');
    let is_long = |word: &&str| has_dots(word) && word.len() > 4 || word.contains('-') && word.len() > 9;
    let words = text.split(|c| !is_in_word(c)).filter(is_long);
    let place = |word: &str| word.as_ptr().addr() - text.as_ptr().addr();
    // A letter or a dash of another script is a wrong digit.
    let is_wrong = |c: char| matches!(c, '\u{a0}'..'\u{2e80}') && !matches!(c, '\u{2018}'..='\u{201f}' | '…');
    let is_apart = |word: &&str| {
        let (start, end) = (place(word), place(word) + word.len());
        let is_alone = !text[..start].ends_with(is_wrong) && !text[end..].starts_with(is_wrong);
        is_alone && ids.iter().all(|found| end <= found.at.start || found.at.end <= start)
    };
    let read = |word: &str| BrokenKind::read(word, now_ms);
    let whole = || {
        let bare = without_signs(text);
        let padded = || {
            let padded = format!("{bare}==");
            plausible_bytes(&padded, now_ms)?;
            Some(BrokenKind::Mistyped { at: text.len(), texts: vec![padded] })
        };
        read(text).or_else(|| read(&bare)).or_else(padded).map(|kind| Broken { at: 0..text.len(), kind })
    };
    let whole = if ids.is_empty() && text.len() <= LONGEST { whole() } else { None };
    whole.or_else(|| {
        let mut words = words.filter(is_apart);
        words.find_map(|word| Some(Broken { at: place(word)..place(word) + word.len(), kind: read(word)? }))
    })
}

/// Returns whether a text has 16 digits, as payment cards have, and no letter. Less than one ID in 10^9 has none.
fn is_card_number(text: &str) -> bool {
    // Full-width letters are those of an ID, too. Tables of all letters would be a tenth of the page.
    let is_letter = |c: char| c.is_ascii_alphabetic() || matches!(c, 'Ａ'..='Ｚ' | 'ａ'..='ｚ');
    text.chars().filter(char::is_ascii_digit).count() == SHORTEST && !text.contains(is_letter)
}

/// Reads the bytes of an ID, or those of its view.
fn from_bytes(scheme: Scheme, text: &str) -> Option<Read> {
    let shown = Shown::read(text).or_else(|| Shown::of_list(&without_signs(text)))?;
    Some(Read { id: shown.id(scheme)?, form: shown.form })
}

/// Reads the bytes of a standard ID with a plausible time: any ten bytes are an ID of some time.
fn plausible_bytes(text: &str, now_ms: u64) -> Option<Read> {
    from_bytes(STANDARD, text).filter(|read| read.id.is_plausible(now_ms))
}

/// Returns whether a character can be around an ID: a sign, a space or a picture. Letters of other scripts are not dropped,
/// because some look like those of an ID.
fn is_sign(c: char) -> bool {
    let is_ascii = c.is_ascii() && !c.is_ascii_alphanumeric() && c != '\\';
    is_ascii
        || matches!(c, '\u{80}'..='\u{a9}' | '\u{ab}'..='\u{b9}' | '\u{bb}'..='\u{bf}' | '\u{2000}'..='\u{20cf}' | '\u{2190}'..='\u{2bff}')
        || matches!(c, '\u{3000}'..='\u{303f}' | '\u{fe10}'..='\u{fe6f}' | '\u{feff}' | '\u{1f000}'..='\u{1faff}')
}

/// Returns a text without what is around an ID in code, tables and emails: quotation marks, brackets, commas, and spaces or
/// look-alikes of a dash between its groups.
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
    let is_number = |digits: &&str| digits.bytes().all(|byte| byte.is_ascii_digit());
    // A spreadsheet adds a fraction of zeros.
    let whole = text.split_once(['.', ',']).filter(|(_, rest)| rest.bytes().all(|byte| byte == b'0'));
    let text = text.strip_suffix('n').or(whole.map(|(whole, _)| whole)).filter(is_number).unwrap_or(text);
    let inner = text.trim_matches(|c: char| is_sign(c) && c != '-');
    // A dash before a number is its sign.
    let is_negative = inner.strip_prefix('-').is_some_and(|rest| is_number(&rest));
    let text = if is_negative { inner } else { inner.trim_matches('-').trim() };
    let is_separator = |c: char| c.is_whitespace() || look_alike(c).is_some() || matches!(c, '-' | '_');
    let groups: Vec<_> = text.split(is_separator).filter(|group| !group.is_empty()).collect();
    if groups.len() == 4 && groups.iter().all(|group| group.len() == 4) {
        return groups.join("-");
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
