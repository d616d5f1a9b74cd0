//! Finds the IDs in a pasted text, in all of their forms.

use crate::find::{Finder, Found, WORD, find_word};
use crate::form::Read;
use crate::pasted::identify;

/// Returns the IDs in a pasted text, in all of their forms: with and without dashes, hex digits, integers, UUID
/// views and Snowflakes, of all systems. Each has a plausible time.
///
/// ```
/// let text = "sent EMAQ2948WCRVT3DD (0x64d1601c46e2afbc856b) after 204697221847986177";
/// let found: Vec<_> = imid_inspect::scan(text, 1_767_225_600_000).collect();
/// let places: Vec<_> = found.iter().map(|found| &text[found.at.clone()]).collect();
/// assert_eq!(places, ["EMAQ2948WCRVT3DD", "0x64d1601c46e2afbc856b", "204697221847986177"]);
/// ```
pub fn scan(text: &str, now_ms: u64) -> impl Iterator<Item = Found> {
    let finder = Finder::new(None, now_ms);
    let (mut from, mut next) = (0, finder.next(text.as_bytes(), 0));
    core::iter::from_fn(move || {
        let end = next.as_ref().map_or(text.len(), |found| found.at.start);
        if let Some(word) = find_word(text, from..end, |word| read_likely(word, now_ms)) {
            from = word.at.end;
            return Some(word);
        }
        let found = next.take()?;
        from = found.at.end;
        next = finder.next(text.as_bytes(), from);
        Some(found)
    })
}

/// Reads a word that is an 80-bit ID with a plausible time, or a Snowflake from a time when its system existed: most numbers
/// of 17 to 19 digits are a Snowflake of some time.
fn read_likely(word: &str, now_ms: u64) -> Option<Read> {
    // The ends of all forms without dashes: 15 and 25 digits.
    let is_form = WORD.start <= word.len() && word.len() <= 25 && word.bytes().any(|byte| byte.is_ascii_digit());
    let read = *identify(word, now_ms).first().filter(|_| is_form)?;
    let worst = u8::from(read.id.session().is_some());
    (read.id.fit(now_ms).0 <= worst).then_some(read)
}
