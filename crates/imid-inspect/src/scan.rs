//! Finds the IDs in a pasted text, in all of their forms.

use core::ops::Range;

use crate::bytes::{Shown, hex_prefix_len, is_hex};
use crate::cut::Broken;
use crate::find::{Finder, Found, escape_len, is_one_case};
use crate::form::{Form, Read};
use crate::recognize::{SHORTEST, identify};
use crate::scheme::STANDARD;

/// What is in a longer text.
#[derive(Clone, Debug, Default)]
pub struct Scan {
    /// The IDs, in the order of the text.
    pub ids: Vec<Found>,
    /// Numbers and words that could be IDs, but that nothing in the text calls so.
    pub others: Vec<Found>,
    /// The first word that is not all of an ID.
    pub broken: Option<Broken>,
}

/// The longest literal of bytes: 16 escapes with two backslashes and what is around them.
const LITERAL: usize = 120;

/// Returns the IDs in a pasted text: what has the dashes of an ID or of its UUID view, `0x` or `\x`, or a key or a path
/// that names an ID, such as `id=`, `"msg_id":` and `/status/`.
///
/// ```
/// let text = "sent \\x64d1601c46e2afbc856b (msg_id=204697221847986177), order 175928847299117063";
/// let scan = imid_inspect::scan(text, 1_767_225_600_000);
/// let places = |found: &[imid_inspect::Found]| found.iter().map(|found| text[found.at.clone()].to_owned()).collect::<Vec<_>>();
/// assert_eq!(places(&scan.ids), ["\\x64d1601c46e2afbc856b", "204697221847986177"]);
/// assert_eq!(places(&scan.others), ["175928847299117063"]);
/// ```
pub fn scan(text: &str, now_ms: u64) -> Scan {
    let (finder, mut scan, mut from) = (Finder::new(None, now_ms), Scan::default(), 0);
    loop {
        let dashed = finder.next(text.as_bytes(), from).filter(|found| stands_alone(text, &found.at));
        let end = dashed.as_ref().map_or(text.len(), |found| found.at.start);
        scan.add_words(text, from..end, now_ms);
        let Some(found) = dashed else { return scan };
        from = found.at.end;
        scan.ids.push(found);
    }
}

impl Scan {
    /// Adds the words in a part of the text. They have no dash, because the finder has those with dashes.
    fn add_words(&mut self, text: &str, part: Range<usize>, now_ms: u64) {
        let mut from = part.start;
        while let Some(len) = text[from..part.end].find(|c: char| c.is_ascii_alphanumeric()) {
            let first = from + len;
            from = first + text[first..part.end].bytes().take_while(u8::is_ascii_alphanumeric).count();
            // PostgreSQL's `\x` is a part of the form. Other escapes are not.
            let start = match text[..first].strip_suffix('\\') {
                Some(before) if is_prefixed(&text[before.len()..from]) => before.len(),
                Some(_) => first + escape_len(&text.as_bytes()[..first], &text.as_bytes()[first..from]),
                None => first,
            };
            let word = &text[start..from];
            let is_sql = is_id_in_hex(word) && (text[..start].ends_with("x'") || text[..start].ends_with("X'"));
            let read = if is_prefixed(word) || is_sql {
                identify(word, now_ms).into_iter().next().filter(|read| read.id.is_likely(now_ms))
            } else {
                name_of(&text[..start]).and_then(|system| read_named(system, word, now_ms))
            };
            if let Some(read) = read {
                self.ids.push(Found { at: start..from, read });
                continue;
            }
            // Bytes have other signs than letters and digits.
            let literal = text[..first].trim_end_matches('\\').len().max(part.start);
            if name_of(&text[..first]).is_some()
                && let Some((read, len)) = read_literal(&text[literal..part.end], now_ms)
            {
                from = literal + len;
                self.ids.push(Found { at: literal..from, read });
            } else if let Some(read) = read_likely(word, now_ms) {
                self.others.push(Found { at: start..from, read });
            }
        }
    }
}

/// Returns whether a word is the 20 hex digits of an ID, or the 32 of its view.
fn is_id_in_hex(word: &str) -> bool {
    matches!(word.len(), 20 | 32) && is_hex(word.as_bytes())
}

/// Returns whether a word is these digits after `0x` or `\x`.
fn is_prefixed(word: &str) -> bool {
    hex_prefix_len(word) > 0 && is_id_in_hex(&word[2..])
}

/// Returns whether no look-alike of a letter is beside an ID: the Kelvin sign, `ſ`, `ı` and full-width letters.
fn stands_alone(text: &str, at: &Range<usize>) -> bool {
    let is_letter = |c: char| matches!(c, '\u{212a}' | '\u{17f}' | '\u{131}' | '\u{ff10}'..='\u{ff5a}');
    !text[at.end..].starts_with(is_letter) && !text[..at.start].ends_with(is_letter)
}

/// Reads a word that is called an ID. RongCloud writes its IDs with dashes.
fn read_named(system: &str, word: &str, now_ms: u64) -> Option<Read> {
    let fits = |read: &Read| {
        let is_written = read.id.is_standard() || read.form == Form::Text;
        is_written && read.id.is_likely(now_ms) && (system == ANY || system == read.id.scheme_name())
    };
    if word.len() < SHORTEST { None } else { identify(word, now_ms).into_iter().find(fits) }
}

/// Reads a word that could be an ID. Most numbers of 17 to 19 digits are a Snowflake of some time.
fn read_likely(word: &str, now_ms: u64) -> Option<Read> {
    let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
    let is_likely = word.len() <= 25 && has_digit && is_one_case(word.as_bytes());
    if is_likely { read_named(ANY, word, now_ms) } else { None }
}

/// Reads the bytes that begin here, up to what closes them. Returns their length as well.
fn read_literal(text: &str, now_ms: u64) -> Option<(Read, usize)> {
    let text = (0..=LITERAL.min(text.len())).rev().find_map(|end| text.get(..end))?;
    // As in `b'f\xa8..'` and `0, "ZqirGtAAHPyFaw=="`.
    let opened = text.find(['\'', '"']).filter(|at| *at < 4);
    let closes = |c: char| if opened.is_some() { matches!(c, '\'' | '"') } else { "\"'`>]})|\n".contains(c) };
    let from = opened.map_or(0, |at| at + 1);
    // As in `Uint8Array(10) [102, ..]`.
    let mut ends = text[from..].match_indices(closes).map(|(at, _)| from + at);
    let len = ends.find(|at| !text[*at..].starts_with(") [")).unwrap_or(text.len());
    let literal = &text[..len + usize::from(opened.is_some() && len < text.len())];
    let shown = Shown::read(literal.strip_suffix('\\').unwrap_or(literal))?;
    let read = Read { id: shown.id(STANDARD)?, form: shown.form };
    read.id.is_likely(now_ms).then_some((read, len))
}

/// Words that are an ID of something else if they are before `id`.
const NOT_MESSAGES: &str = "android app build card client connection correlation device imei job node order parent_span \
                            payment process request session span task thread trace transaction worker";

/// What a name tells that can be of any system.
const ANY: &str = "";

/// Returns the system whose ID begins after this text, or [`ANY`], if something names an ID there.
fn name_of(before: &str) -> Option<&'static str> {
    const SIGNS: &[char] = &[' ', '\t', '"', '\'', '`', '=', ':', '>', '(', '{', '[', '<', '\\', '$', '#'];
    let nearest = (before.len().saturating_sub(80)..).find_map(|at| before.get(at..))?;
    if let Some(path) = nearest.strip_suffix('/') {
        return name_of_path(path);
    }
    let name_end = nearest.trim_end_matches(SIGNS);
    let signs = &nearest[name_end.len()..];
    let key = name_end.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-').next()?;
    if matches!((key, signs), ("FIN" | "REQ" | "TOUCH", " ")) {
        return Some("nsq");
    }
    let lower = key.to_ascii_lowercase();
    let is_named = match lower.as_str() {
        "message" | "msg" | "createfrombase64" => true,
        "buffer" if nearest.ends_with("<Buffer ") => true,
        // The calls that make bytes, and MongoDB's members for them. In prose they are words.
        "decode" | "unhex" | "buffer" | "bindata" | "base64" | "binary" => signs.chars().any(|c| c != ' '),
        _ => is_name_of_id(name_end, key, &lower),
    };
    (is_named && !signs.is_empty()).then_some(ANY)
}

/// Returns whether the key at the end of a text is one of an ID that can be that of a message: `id`, `msg_ids`, `parentId`.
fn is_name_of_id(text: &str, key: &str, lower: &str) -> bool {
    let stem = lower.trim_end_matches(|c: char| c.is_ascii_digit());
    let Some(stem) = stem.strip_suffix("ids").or_else(|| stem.strip_suffix("id")) else { return false };
    let is_whole = stem.is_empty() || stem.ends_with(['_', '-']) || key[stem.len()..].starts_with('I');
    let of = stem.trim_end_matches(['_', '-']);
    // `order id 2026...` has its name in two words.
    let of = if of.is_empty() { text[..text.len() - key.len()].trim_end() } else { of };
    let of = of.rsplit([' ', ',', '.', '"', '_', '-']).next().unwrap_or(of).to_ascii_lowercase();
    (is_whole || matches!(of.as_str(), "msg" | "message" | "m"))
        && !NOT_MESSAGES.split(' ').any(|word| of == word || !is_whole && of.ends_with(word))
}

/// Returns what the last names of a path name: `/status/1`, `/channels/1/2/3`, `/messages/1`.
fn name_of_path(path: &str) -> Option<&'static str> {
    let mut names = path.rsplit('/').map(|name| name.rsplit([' ', '"']).next().unwrap_or(name));
    let is_id = |name: &&str| name.bytes().all(|byte| byte.is_ascii_digit()) || *name == "@me";
    let name = names.by_ref().take(3).find(|name| !is_id(name))?;
    match name {
        "status" | "statuses" | "tweet" => Some("twitter"),
        "channels" | "guilds" => Some("discord"),
        "m" | "msg" | "msgs" | "message" | "messages" | "id" | "ids" => Some(ANY),
        _ => None,
    }
}
