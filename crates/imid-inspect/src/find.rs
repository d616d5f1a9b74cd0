//! Finds IDs in text of any kind: log lines, JSON, URLs, binary files.

use core::ops::Range;

use imid::MessageId;
use memchr::memchr;
use uuid::Uuid;

use crate::bytes::is_hex;
use crate::form::{Form, Read};
use crate::identify::{Rank, identify_text};
use crate::scheme::{Id, Scheme};
use crate::time::DAY_MS;

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
    /// Without a scheme, finds IDs of all dialects whose texts have dashes, if their time is plausible. The digits of a
    /// payment card and four words of four letters look like an ID and are not found.
    pub fn new(scheme: Option<Scheme>, now_ms: u64) -> Self {
        let has_dashes = scheme.is_none_or(|scheme| scheme.with_sort_key(MessageId::MIN).to_string().contains('-'));
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
            if let Some(start) = dash.checked_sub(4).filter(|start| *start >= from) {
                let groups = Groups::at(text, start);
                if let Some(found) = self.first_of(text, &groups) {
                    return Some(found);
                }
                // No ID starts in the first four groups, and a view starts with a longer one: before the dash of the fifth.
                let passed = if groups.count > 4 { 4 } else { groups.count.saturating_sub(1) };
                searched = searched.max(start + 5 * passed);
            }
            if has_dash(dash + 15)
                && let Some(start) = dash.checked_sub(8).filter(|start| *start >= from)
                && starts_alone(text, start)
                && !text.get(dash + 28).is_some_and(u8::is_ascii_alphanumeric)
                && let Some(read) = text.get(start..dash + 28).and_then(|view| self.read_view(view))
            {
                return Some(Found { at: start..dash + 28, read });
            }
        }
        None
    }

    /// Returns the best of the IDs that start in the first four groups. They overlap.
    fn first_of(self, text: &[u8], groups: &Groups) -> Option<Found> {
        let read = |first: usize| {
            let start = groups.start + 5 * first;
            let read = self.read_text(&text[start..start + TEXT_LEN])?;
            Some((first, Found { at: start..start + TEXT_LEN, read }))
        };
        let mut found = (groups.first..4).filter(|first| first + 4 <= groups.count).filter_map(read).peekable();
        let first = found.next()?;
        // The usual case, and two IDs with a dash between them.
        let is_followed = || first.0 == groups.first && groups.first + 8 <= groups.count && read(first.0 + 4).is_some();
        if found.peek().is_none() || is_followed() {
            return Some(first.1);
        }
        let best = [first].into_iter().chain(found).min_by_key(|(first, found)| {
            let group = |index: usize| &text[groups.start + 5 * index..][..4];
            let words: u8 = (*first..first + 4).map(|index| likeness_to_a_word(group(index))).sum();
            let beside = [first.checked_sub(1), Some(first + 4).filter(|after| *after < groups.count)];
            let has = |index: usize, is_part: fn(&u8) -> bool| group(index).iter().any(is_part);
            let is_mixed = |index: &usize| has(*index, u8::is_ascii_digit) && has(*index, u8::is_ascii_alphabetic);
            let cut = beside.into_iter().flatten().filter(is_mixed).count();
            (words, cut, found.read.id.fit(self.now_ms))
        });
        best.map(|(_, found)| found)
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
            let escaped = start + escape_len(&text[..start], &text[start..end]);
            // What looks like an escape can be a part of the ID.
            let starts = match &text[..start] {
                _ if escaped == start => [Some(start), None],
                // As in a path of Windows, where the letter is the first one of an ID.
                [.., b'\\'] => [Some(escaped), Some(start)],
                // As in `LIKE '%204697221847986177'`.
                // As in `%252F`, if the `25` is not a part of the ID.
                [.., b'%'] if escaped == start + 4 => [Some(escaped), Some(start + 2)],
                // Also as in `id=204697221847986177`.
                before if is_percent(&text[end..]) || matches!(before, [.., b'='] | [.., b'\'' | b'"', b'%']) => {
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
        let id = self.scheme.filter(|_| WORD.contains(&at.len()))?.parse(&text[at.clone()])?;
        Some(Found { at, read: Read { id, form: Form::Text } })
    }

    fn read_text(self, text: &[u8]) -> Option<Read> {
        let text = str::from_utf8(text).ok()?;
        if let Some(scheme) = self.scheme {
            return scheme.read_text(text).filter(|_| is_one_case(text.as_bytes()));
        }
        // Most IDs are standard ones of the last years. Read as RongCloud's, each digit is greater by 2 at least, so the time is
        // 2^38 ms later at least: after now, where the standard reading is the better one.
        let is_after_now = |id: &Id| id.timestamp_ms() + (1 << 38) > self.now_ms.saturating_add(DAY_MS);
        let is_clear = |id: &Id| is_after_now(id) && id.fit(self.now_ms).rank == Rank::InUse;
        if let Some(id) = text.parse::<MessageId>().ok().map(Id::from).filter(is_clear) {
            return looks_like_an_id(text).then_some(Read { id, form: Form::Text });
        }
        let upper = Some(text.to_ascii_uppercase()).filter(|_| is_one_case(text.as_bytes()))?;
        let ids = identify_text(&upper, self.now_ms);
        let id = ids.into_iter().find(|id| id.session().is_some() && id.is_likely(self.now_ms))?;
        let form = if upper == text { Form::Text } else { Form::LenientText };
        looks_like_an_id(text).then_some(Read { id, form })
    }

    fn read_view(self, text: &[u8]) -> Option<Read> {
        let id = Id::from(MessageId::from_uuid(Uuid::try_parse_ascii(text).ok()?).ok()?);
        let is_expected = self.scheme.map_or_else(|| id.is_plausible(self.now_ms), Scheme::has_uuid);
        is_expected.then_some(Read { id, form: Form::Uuid })
    }
}

/// Words that are beside IDs, and words of names that look like IDs. An ID in lower case or without a digit rarely consists of
/// them: each group is one of them once in 2,500.
const WORDS: &str = include_str!("words.txt");

/// The length of a text with dashes.
const TEXT_LEN: usize = 19;

/// Groups of four letters or digits, with one dash between them. A run of them can have more than one ID, and words.
struct Groups {
    /// The place of the first group.
    start: usize,
    /// Number of groups to examine. Those beside an ID that starts in the first five are enough.
    count: usize,
    /// The first group that can start an ID: the first one, or the second one if the first is the end of a word.
    first: usize,
}

impl Groups {
    /// Returns the groups from this place on.
    fn at(text: &[u8], start: usize) -> Self {
        let is_group = |index: &usize| {
            let at = start + 5 * index;
            let group = text.get(at..at + 4);
            let is_whole = !text.get(at + 4).is_some_and(u8::is_ascii_alphanumeric);
            let follows = *index == 0 || text.get(at - 1) == Some(&b'-');
            follows && is_whole && group.is_some_and(|group| group.iter().all(u8::is_ascii_alphanumeric))
        };
        let count = (0..9).take_while(is_group).count();
        Self { start, count, first: usize::from(!starts_alone(text, start)) }
    }
}

/// Returns whether a text has a letter, and a digit or something other than words: any four words of four letters look like an
/// ID, and so do the digits of a payment card.
fn looks_like_an_id(text: &str) -> bool {
    let text = text.as_bytes();
    let has_digit = text.iter().any(u8::is_ascii_digit);
    // Less than one ID in 10^10 has three groups that are words.
    let has_words = || text.split(|byte| *byte == b'-').filter(|group| likeness_to_a_word(group) > 0).count() > 2;
    text.iter().any(u8::is_ascii_alphabetic) && (has_digit || !has_words())
}

/// Returns whether the letters of a text are of one case.
pub(crate) fn is_one_case(text: &[u8]) -> bool {
    !(text.iter().any(u8::is_ascii_lowercase) && text.iter().any(u8::is_ascii_uppercase))
}

/// Returns how many letters and digits at the start of a word belong to an escape: `n` after a backslash, `20` after `%`.
pub(crate) fn escape_len(before: &[u8], word: &[u8]) -> usize {
    let hex = |len: usize| word.get(..len).is_some_and(is_hex);
    match (before, word) {
        // A `%` that is itself escaped is `%25`.
        ([.., b'%'], [b'2', b'5', ..]) if hex(4) => 4,
        ([.., b'%'], _) if hex(2) => 2,
        // As in quoted-printable mails.
        ([.., b'='], [high, low, ..]) if hex(2) && ![high, low].iter().any(|byte| byte.is_ascii_lowercase()) => 2,
        ([.., b'\\'], [b'x', ..]) if word.get(1..3).is_some_and(is_hex) => 3,
        ([.., b'\\'], [b'u', ..]) if word.get(1..5).is_some_and(is_hex) => 5,
        ([.., b'\\'], [b'0'..=b'3', b'0'..=b'7', b'0'..=b'7', ..]) => 3,
        ([.., b'\\'], [b'a' | b'b' | b'e' | b'f' | b'n' | b'r' | b't' | b'v' | b'0', ..]) => 1,
        // The color of a terminal, whatever is left of its escape.
        _ if ends_color(before, word) => {
            word.iter().position(|byte| matches!(byte, b'm' | b'K')).map_or(0, |at| at + 1)
        }
        _ => 0,
    }
}

/// Returns whether `[32` and `m`, or the like, are before and at the start of a word: the end of the escape of a color.
fn ends_color(before: &[u8], word: &[u8]) -> bool {
    let digits = word.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_parameter = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b';' | b':');
    let bracket = before.iter().rev().take(20).position(|byte| !is_parameter(byte));
    matches!(word.get(digits), Some(b'm' | b'K')) && bracket.is_some_and(|at| before[before.len() - 1 - at] == b'[')
}

/// Returns whether a text begins with a `%` that is not the one of an escape.
fn is_percent(text: &[u8]) -> bool {
    match text {
        [b'%', high, low, ..] => !is_hex(&[*high, *low]),
        _ => text.starts_with(b"%"),
    }
}

/// Returns whether no letter or digit is before a place, except those of an escape: `\n` and `\u003c` in JSON, `%20` in a URL.
pub(crate) fn starts_alone(text: &[u8], start: usize) -> bool {
    // The longest escape has five letters and digits. What is before it starts with a sign.
    let len = text[..start].iter().rev().take(6).take_while(|byte| byte.is_ascii_alphanumeric()).count();
    len == 0 || escape_len(&text[..start - len], &text[start - len..]) == len
}

/// Returns 2 for a word that occurs next to IDs in file names and other names, 1 for a number, and 0 for another group.
fn likeness_to_a_word(group: &[u8]) -> u8 {
    let is_word = |word: &[u8]| word.eq_ignore_ascii_case(group);
    let is_listed = || WORDS.as_bytes().chunks(5).any(|word| is_word(&word[..4]));
    if group.iter().all(u8::is_ascii_digit) { 1 } else { 2 * u8::from(is_listed()) }
}

#[cfg(test)]
mod tests {
    use imid::dialect::Dialect;
    use imid_snowflake::Layout;

    use super::*;
    use crate::scheme::STANDARD;

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
    fn a_view_that_is_cut_off_is_not_found() {
        let view = "019aa2ac-6b40-7007-8fc8-56bfffffffff";
        for text in [view.to_owned(), format!("id={view}"), "-".repeat(40)] {
            for end in 0..=text.len() {
                let count = crate::scan::scan(&text[..end], NOW).ids.len();
                assert_eq!(count, usize::from(text[..end].ends_with(view)), "{}", &text[..end]);
            }
        }
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
            ("\u{1b}[32m", "\u{1b}[0m"),
            ("\u{1b}[01;31m\u{1b}[K", "\u{1b}[m"),
            ("\\u001b[32m", "\\u001b[0m"),
            ("\\x1b[1;32m", "\\x1b[0m"),
            ("\\033[32m", "\\033[0m"),
            ("^[[32m", "^[[0m"),
            ("#033[32m", "#033[0m"),
            ("\\b", "\\b"),
            ("\\x22", "\\x22"),
            ("\\042", "\\042"),
            ("=22", "=22"),
            ("%252F", "%252F"),
            ("chat-", ""),
            ("CHAT-", ""),
            ("", "-orig.png"),
            ("", "-ORIG.png"),
            ("2026-", ""),
            ("logs-2026-", "-2026-logs"),
            ("original-", "-original"),
            ("a-bc-def-", "-a-bc-def"),
            ("中", "中"),
            ("urn:id:", "~"),
            ("<b>", "</b>"),
            ("&quot;", "&quot;"),
            ("{{", "}}"),
            ("*", "*"),
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
            "F3ZCA-FDXM-X8SH-T3DD",
            "F3ZC-FDXM-X8SHB-T3DD",
            "F3ZC--FDXM-X8SH-T3DD",
            "BASE-CASE-DATA-PATH",
            "AUTO-LOAD-SAFE-PATH",
            "8859-2ISO-8859-3ISO",
            "AB4E-F859-713E-4BE4",
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
        let view = b"id=019aa2ac-6b40-7007-8fc8-56bfffffffff;";
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
