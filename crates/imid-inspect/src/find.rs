//! Finds IDs in text of any kind: log lines, JSON, URLs, binary files.

use core::ops::Range;

use imid::MessageId;
use memchr::memchr;
use uuid::Uuid;

use crate::form::{Form, Read, ReadForm};
use crate::identify::identify_text;
use crate::scheme::{Id, STANDARD, Scheme};

/// Finds the IDs of one scheme, or of all dialects whose texts have dashes.
///
/// A text with dashes is found by its dashes: 19 bytes have them at 4, 9 and 14, and a UUID view has them at 8, 13, 18 and
/// 23. Texts without dashes are words of letters and digits.
#[derive(Clone, Copy, Debug)]
pub struct Finder {
    scheme: Option<Scheme>,
    has_dashes: bool,
    now_ms: u64,
}

/// An ID in a text, and its place.
#[derive(Clone, Debug)]
pub struct Found {
    /// The bytes of the text.
    pub at: Range<usize>,
    /// The ID.
    pub read: Read,
}

/// The least and the greatest length of a text without dashes: 15 digits are a Snowflake of the first days of a layout.
const WORD: Range<usize> = 15..22;

impl Finder {
    /// Without a scheme, finds IDs of all dialects whose texts have dashes, if their time is plausible and if they have
    /// letters and digits: any four words of four letters look like an ID, and so do the digits of a payment card.
    pub fn new(scheme: Option<Scheme>, now_ms: u64) -> Self {
        let has_dashes = match scheme {
            None => true,
            Some(Scheme::Dialect(dialect)) => dialect.to_text(MessageId::MIN).is_ok_and(|text| text.contains('-')),
            Some(Scheme::Snowflake(_)) => false,
        };
        Self { scheme, has_dashes, now_ms }
    }

    /// Returns the first ID that starts at this place or after it.
    pub fn next(self, text: &[u8], from: usize) -> Option<Found> {
        if self.has_dashes { self.next_dashed(text, from) } else { self.next_word(text, from) }
    }

    fn next_dashed(self, text: &[u8], from: usize) -> Option<Found> {
        let has_dash = |at: usize| text.get(at) == Some(&b'-');
        let mut searched = from;
        while let Some(at) = memchr(b'-', &text[searched..]) {
            let dash = searched + at;
            searched = dash + 1;
            if !has_dash(dash + 5) || !has_dash(dash + 10) {
                continue;
            }
            let place = |before: usize, after: usize| {
                let start = dash.checked_sub(before).filter(|start| *start >= from)?;
                Some(start..dash + after).filter(|at| at.end <= text.len() && stands_alone(text, at))
            };
            if let Some(at) = place(4, 15)
                && let Some(read) = self.read_text(&text[at.clone()])
            {
                return Some(Found { at, read });
            }
            if has_dash(dash + 15)
                && let Some(at) = place(8, 28)
                && let Some(read) = self.read_view(&text[at.clone()])
            {
                return Some(Found { at, read });
            }
        }
        None
    }

    fn next_word(self, text: &[u8], from: usize) -> Option<Found> {
        let mut start = from;
        while start < text.len() {
            if !text[start].is_ascii_alphanumeric() {
                start += 1;
                continue;
            }
            let end = text[start..].iter().position(|byte| !byte.is_ascii_alphanumeric());
            let end = end.map_or(text.len(), |len| start + len);
            let (before, word) = text[..end].split_at(start);
            let escaped = start + escape_len(before, word);
            // What looks like an escape can be a part of the ID.
            let starts = match before {
                _ if escaped == start => [Some(start), None],
                // As in a path of Windows, where the letter is the first one of an ID.
                [.., b'\\'] => [Some(escaped), Some(start)],
                // As in `LIKE '%204697221847986177'`.
                _ if is_percent(&text[end..]) || matches!(before, [.., b'\'' | b'"', b'%']) => {
                    [Some(start), Some(escaped)]
                }
                _ => [Some(escaped), None],
            };
            if let Some(found) = starts.into_iter().flatten().find_map(|start| self.read_word(text, start..end)) {
                return Some(found);
            }
            start = end;
        }
        None
    }

    fn read_word(self, text: &[u8], at: Range<usize>) -> Option<Found> {
        let is_word = WORD.contains(&at.len()) && stands_alone(text, &at);
        let scheme = self.scheme.filter(|_| is_word)?;
        read_strict(scheme, &text[at.clone()]).map(|read| Found { at, read })
    }

    fn read_text(self, text: &[u8]) -> Option<Read> {
        if let Some(scheme) = self.scheme {
            return read_strict(scheme, text).or_else(|| {
                let mut read = read_strict(scheme, &one_case(text)?)?;
                read.form = ReadForm::LenientText;
                Some(read)
            });
        }
        // Most IDs are standard ones of today.
        let standard = str::from_utf8(text).ok()?.parse::<MessageId>().ok().map(Id::from);
        if let Some(id) = standard.filter(|id| id.fit(self.now_ms).0 == 0) {
            return has_letters_and_digits(text).then_some(Read { id, form: ReadForm::Exact(Form::Text) });
        }
        let upper = one_case(text)?;
        let form = if upper == text { ReadForm::Exact(Form::Text) } else { ReadForm::LenientText };
        let id = *identify_text(str::from_utf8(&upper).ok()?, self.now_ms).first()?;
        let is_likely = matches!(id, Id::Message { .. }) && id.is_plausible(self.now_ms);
        (is_likely && has_letters_and_digits(text)).then_some(Read { id, form })
    }

    fn read_view(self, text: &[u8]) -> Option<Read> {
        if self.scheme.is_some_and(|scheme| !scheme.has_uuid()) {
            return None;
        }
        let id = Id::from(MessageId::from_uuid(Uuid::try_parse_ascii(text).ok()?).ok()?);
        let is_expected = self.scheme.is_some() || id.is_plausible(self.now_ms);
        is_expected.then_some(Read { id, form: ReadForm::Exact(Form::Uuid) })
    }
}

fn read_strict(scheme: Scheme, text: &[u8]) -> Option<Read> {
    let id = scheme.parse(text).ok()?;
    Some(Read { id, form: ReadForm::Exact(Form::Text) })
}

/// Returns the text in upper case, or `None` if it has letters of both cases.
fn one_case(text: &[u8]) -> Option<Vec<u8>> {
    let has_both = text.iter().any(u8::is_ascii_lowercase) && text.iter().any(u8::is_ascii_uppercase);
    (!has_both).then(|| text.to_ascii_uppercase())
}

fn has_letters_and_digits(text: &[u8]) -> bool {
    text.iter().any(u8::is_ascii_digit) && text.iter().any(u8::is_ascii_alphabetic)
}

/// Returns how many letters and digits at the start of a word belong to an escape: `n` after a backslash, `20` after `%`.
fn escape_len(before: &[u8], word: &[u8]) -> usize {
    match (before, word) {
        ([.., b'%'], [high, low, ..]) if is_hex(&[*high, *low]) => 2,
        ([.., b'\\'], [b'n' | b't' | b'r', ..]) => 1,
        ([.., b'\\'], [b'u', a, b, c, d, ..]) if is_hex(&[*a, *b, *c, *d]) => 5,
        _ => 0,
    }
}

/// Returns whether a text begins with a `%` that is not the one of an escape.
fn is_percent(text: &[u8]) -> bool {
    match text {
        [b'%', high, low, ..] => !is_hex(&[*high, *low]),
        _ => text.starts_with(b"%"),
    }
}

fn is_hex(bytes: &[u8]) -> bool {
    bytes.iter().all(u8::is_ascii_hexdigit)
}

/// Returns whether no letter, digit or group of four is before or after a place. An escape, such as `\n` and `\u003c` in JSON
/// or `%20` in a URL, is not a letter or digit.
fn stands_alone(text: &[u8], at: &Range<usize>) -> bool {
    let (before, after) = (&text[..at.start], &text[at.end..]);
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric();
    let follows = match before {
        [.., b'%', high, low] if is_hex(&[*high, *low]) => true,
        [] | [.., b'\\', b'n' | b't' | b'r'] => true,
        [.., b'\\', b'u', a, b, c, d] if is_hex(&[*a, *b, *c, *d]) => true,
        [.., b'-'] => !is_group(before.iter().rev().skip(1)),
        [.., last] => !is_word(last),
    };
    let ends = match after {
        [b'-', rest @ ..] => !is_group(rest.iter()),
        [first, ..] => !is_word(first),
        [] => true,
    };
    follows && ends
}

/// Returns whether the next word has four characters, as the groups of an ID do. License keys have more of them.
fn is_group<'a>(rest: impl Iterator<Item = &'a u8>) -> bool {
    rest.take(5).take_while(|byte| byte.is_ascii_alphanumeric()).count() == 4
}

/// Returns the first ID in a text that is not an ID itself. Texts of the scheme come before those of all dialects.
pub(crate) fn find_in(scheme: Scheme, text: &str, now_ms: u64) -> Option<Found> {
    let first = |scheme| Finder::new(scheme, now_ms).next(text.as_bytes(), 0);
    let dashed = first(Some(scheme)).or_else(|| if scheme.is_standard() { first(None) } else { first(Some(STANDARD)) });
    dashed.or_else(|| find_word(scheme, text, now_ms))
}

/// Returns the first word that is a plausible ID without dashes. It has letters and digits, or it is a long number.
fn find_word(scheme: Scheme, text: &str, now_ms: u64) -> Option<Found> {
    text.split(|c: char| !c.is_ascii_alphanumeric()).find_map(|word| {
        let start = word.as_ptr().addr() - text.as_ptr().addr();
        let is_number = word.len() >= WORD.end && word.bytes().all(|byte| byte.is_ascii_digit());
        // PostgreSQL's `\x` and other prefixes of hex digits.
        let hex = ["0x", "x", "0X", "X"].iter().find_map(|prefix| word.strip_prefix(prefix));
        let read =
            scheme.recognize(word, now_ms).or_else(|error| hex.map_or(Err(error), |hex| scheme.recognize(hex, now_ms)));
        let read = read.ok().filter(|_| is_number || has_letters_and_digits(word.as_bytes()))?;
        let is_likely = read.id.is_plausible(now_ms);
        is_likely.then_some(Found { at: start..start + word.len(), read })
    })
}

#[cfg(test)]
mod tests {
    use imid::dialect::Dialect;
    use imid_snowflake::Layout;

    use super::*;

    /// 2026-11-22.
    const NOW: u64 = 1_795_305_600_000;
    const ID: &str = "F3ZC-FDXM-X8SH-T3DD";

    fn all(scheme: Option<Scheme>, text: &[u8]) -> Vec<(usize, String, &'static str)> {
        let finder = Finder::new(scheme, NOW);
        let (mut found, mut from) = (Vec::new(), 0);
        while let Some(next) = finder.next(text, from) {
            from = next.at.end;
            found.push((next.at.start, next.read.id.to_string(), next.read.id.scheme_name()));
        }
        found
    }

    #[test]
    fn an_id_is_found_in_any_text() {
        for (before, after) in [
            ("", ""),
            ("message=", " sent"),
            ("{\"id\":\"", "\",\"a\":1}"),
            ("[", "]"),
            ("https://chat.example/m/", "?q=1"),
            ("%22", "%22"),
            ("line\\n", "\\nline"),
            ("\\u003c", "\\u003e"),
            ("backup-", ".json"),
            ("msg_", "_x"),
            ("2026-11-22T12:00:00.000Z a-b-c-d 1-2-", "-1"),
            ("Zoë: ", "…"),
            ("---- ", "-----"),
            ("----", "----"),
        ] {
            let text = format!("{before}{ID}{after}");
            assert_eq!(all(None, text.as_bytes()), [(before.len(), ID.into(), "standard")], "{text}");
            let lower = text.replace(ID, &ID.to_lowercase());
            assert_eq!(all(None, lower.as_bytes()), [(before.len(), ID.into(), "standard")], "{lower}");
        }
        let bytes = [b"\0\xff\xfe", ID.as_bytes(), b"\xff\0", ID.as_bytes(), b"\xc3"].concat();
        assert_eq!(all(None, &bytes).len(), 2);
        assert_eq!(all(None, format!("{ID}{ID} {ID},{ID}").as_bytes()).len(), 2);
    }

    #[test]
    fn texts_that_look_like_ids_are_not_found() {
        for text in [
            "",
            "-",
            "F3ZC-FDXM-X8SH-T3D",
            "xF3ZC-FDXM-X8SH-T3DD",
            "F3ZC-FDXM-X8SH-T3DD9",
            "F3ZC-FDXM-X8SH-T3DD-F3ZC",
            "ABCD-F3ZC-FDXM-X8SH-T3DD",
            "F3zC-FDXM-X8SH-T3DD",
            "that-were-gate-here",
            "5412-7512-3412-3456",
            "4111-1111-1111-1111",
            "550e8400-e29b-41d4-a716-446655440000",
            "0191e0c0-8e3a-7c3d-9b1a-2b3c4d5e6f70",
            "2222-2222-2222-2222",
        ] {
            assert_eq!(all(None, text.as_bytes()), [], "{text}");
        }
    }

    #[test]
    fn views_and_other_schemes_are_found() {
        let view = b"id=019aa2ac-6b40-7007-8fc8-56b000000000;";
        assert_eq!(all(None, view), [(3, "EUNC-Q8QJ-22GH-T3DD".into(), "standard")]);
        let rongcloud = b"[BUFE-A62U-32C4-01I2]";
        assert_eq!(all(None, rongcloud), [(1, "BUFE-A62U-32C4-01I2".into(), "rongcloud")]);
        // Any time is an ID if the scheme is given.
        assert_eq!(all(Some(STANDARD), b"2222-2222-2222-2222").len(), 1);
        assert_eq!(all(Some(STANDARD), rongcloud), []);
        let discord = Some(Scheme::Snowflake(Layout::DISCORD));
        for before in ["%22", "a\\n", "\\u003c", "\\t", "id="] {
            let text = format!("{before}90339695967350784%22");
            assert_eq!(
                all(discord, text.as_bytes()),
                [(before.len(), "90339695967350784".into(), "discord")],
                "{text}"
            );
        }
        let twitter = Some(Scheme::Snowflake(Layout::TWITTER));
        assert_eq!(
            all(twitter, b"x204697221847986177,\"204697221847986177\""),
            [(21, "204697221847986177".into(), "twitter")]
        );
        let pattern = b"LIKE '%204697221847986177%' OR LIKE \"%204697221847986177%\"";
        let id = || "204697221847986177".into();
        assert_eq!(all(twitter, pattern), [(7, id(), "twitter"), (38, id(), "twitter")]);
        assert_eq!(all(twitter, b"?q=%22204697221847986177%"), [(6, id(), "twitter")]);
        // After a quotation mark, `%` begins a pattern, and elsewhere an escape.
        for (text, at, found) in [
            ("LIKE '%20469722184798617'", 7, "20469722184798617"),
            ("LIKE \"%20469722184798617\"", 7, "20469722184798617"),
            ("q=%20469722184798617", 5, "469722184798617"),
            ("'a%20469722184798617'", 5, "469722184798617"),
            // The whole number has more than 64 bits.
            ("'%22204697221847986177'", 4, "204697221847986177"),
        ] {
            assert_eq!(all(twitter, text.as_bytes()), [(at, found.into(), "twitter")], "{text}");
        }
        // A time, as 14 digits.
        assert_eq!(all(twitter, b"?q=%2220261122120000%22&r=%2220261122120000"), []);
        let juggleim = Some(Scheme::Dialect(&Dialect::JUGGLEIM));
        for text in [&b"C:\\nb9hvkf86lyr3bmm.png"[..], b"a\\nnb9hvkf86lyr3bmm"] {
            assert_eq!(all(juggleim, text).len(), 1, "{}", text.escape_ascii());
        }
        assert_eq!(all(juggleim, b"/pb9hvkf86lyr3bmm/"), [(1, "pb9hvkf86lyr3bmm".into(), "juggleim")]);
    }

    #[test]
    fn the_search_continues_anywhere() {
        let text = format!("{ID} {ID}");
        let finder = Finder::new(None, NOW);
        let starts: Vec<_> =
            (0..=text.len()).map(|from| finder.next(text.as_bytes(), from).map(|found| found.at.start)).collect();
        assert!(starts.iter().enumerate().all(|(from, start)| *start == [0, 20].into_iter().find(|at| *at >= from)));
    }
}
