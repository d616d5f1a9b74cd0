//! Pasted text, which may contain more than an ID.

use crate::cut::{Broken, BrokenKind};
use crate::error::ReadError;
use crate::find::{Finder, Found};
use crate::foreign::looks;
use crate::form::{Form, Read};
use crate::recognize::{SHORTEST, from_bytes, identify, is_card_number, plausible_bytes, without_signs};
use crate::scan::{Scan, scan};
use crate::scheme::{STANDARD, Scheme};

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
