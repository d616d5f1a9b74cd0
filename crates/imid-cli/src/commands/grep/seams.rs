//! Finds IDs whose dashes are not `-`: those of word processors, escaped ones, and dashes after which a line ends.
//!
//! The text around each of these is copied with `-` in their place, and the copy is searched. What the original text shows
//! does not change.

use std::iter;
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use bstr::ByteSlice;
use imid_inspect::Found;

/// Dashes that are written in another way. A `-` is one of them if a line ends after it.
const DASHES: [&str; 21] = [
    "-\n", "-\r\n", "-=\n", "-=\r\n", "\u{2010}", "\u{2011}", "\u{2012}", "\u{2013}", "\u{2014}", "\u{2212}",
    "\u{fe63}", "\u{ff0d}", "%2D", "%2d", "&#45;", "&#x2d;", "&#x2D;", "=2D", "=2d", "\\-", "\\u002d",
];

static SEARCH: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let search = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(DASHES);
    // PANIC: the patterns are short and few.
    search.expect("a search for some short texts")
});

/// How much text on each side of a dash is searched. A UUID view with escaped dashes has 56 bytes.
const AROUND: usize = 128;

/// Returns the IDs that have such a dash, in order. `find` finds all IDs in a text.
pub(super) fn find(text: &[u8], find: impl Fn(&[u8]) -> Vec<Found>) -> Vec<Found> {
    let mut found = Vec::<Found>::new();
    let mut dashes = dashes(text).peekable();
    while let Some(first) = dashes.next() {
        let mut copy = Copy::new(first.start.saturating_sub(AROUND));
        let mut last = first.end;
        copy.add(text, first);
        while let Some(next) = dashes.next_if(|next| next.start < last + 2 * AROUND) {
            last = next.end;
            copy.add(text, next);
        }
        copy.bytes.extend_from_slice(&text[copy.read..text.len().min(last + AROUND)]);
        for mut id in find(&copy.bytes) {
            if copy.dashes.iter().any(|(at, _)| id.at.contains(at)) {
                id.at = copy.original(id.at.start)..copy.original(id.at.end);
                found.push(id);
            }
        }
    }
    found
}

/// Returns the dashes that have a letter or digit on both sides.
fn dashes(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    SEARCH.find_iter(text).filter_map(|found| {
        let end = line_start(text, found.end(), text[..found.end()].ends_with(b"\n"));
        let is_beside = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
        (is_beside(text[..found.start()].last()) && is_beside(text.get(end))).then_some(found.start()..end)
    })
}

/// Returns where a line continues: after the line end, if there is one here, and the signs of a quoted mail.
fn line_start(text: &[u8], at: usize, has_ended: bool) -> usize {
    let rest = &text[at..];
    let line_end = [&b"\n"[..], b"\r\n", b"=\n", b"=\r\n"].into_iter().find(|end| !has_ended && rest.starts_with(end));
    let len = line_end.map_or(0, <[u8]>::len);
    if len == 0 && !has_ended {
        at
    } else {
        at + len + rest[len..].find_not_byteset(b"> \t|").unwrap_or(rest.len() - len)
    }
}

/// A part of a text, with `-` for each of its dashes.
struct Copy {
    bytes: Vec<u8>,
    /// Where the copy starts and how far it goes in the text.
    start: usize,
    read: usize,
    /// The places of the dashes in the copy, and of what follows them in the text.
    dashes: Vec<(usize, usize)>,
}

impl Copy {
    fn new(start: usize) -> Self {
        Self { bytes: Vec::new(), start, read: start, dashes: Vec::new() }
    }

    fn add(&mut self, text: &[u8], dash: Range<usize>) {
        self.bytes.extend_from_slice(&text[self.read..dash.start]);
        self.dashes.push((self.bytes.len(), dash.end));
        self.bytes.push(b'-');
        self.read = dash.end;
    }

    /// Returns the place in the text of a place in the copy.
    fn original(&self, at: usize) -> usize {
        match self.dashes.iter().rfind(|(dash, _)| *dash < at) {
            Some((dash, end)) => end + at - dash - 1,
            None => self.start + at,
        }
    }
}

/// Returns where the last lines of a block begin that an ID can continue in the next block: each ends with a dash after four letters
/// or digits.
pub(super) fn unfinished(lines: &[u8]) -> Option<usize> {
    // A UUID view has four dashes.
    let before = |end: &usize| unfinished_line(&lines[..*end]);
    iter::successors(before(&lines.len()), before).take(4).last()
}

/// Returns where the last line begins, if it is unfinished.
fn unfinished_line(lines: &[u8]) -> Option<usize> {
    let text = lines.strip_suffix(b"\n")?;
    let text = text.strip_suffix(b"\r").unwrap_or(text);
    let text = text.strip_suffix(b"=").unwrap_or(text);
    let text = DASHES.iter().chain(["-"].iter()).find_map(|dash| text.strip_suffix(dash.as_bytes()))?;
    let has_group = text.len() >= 4 && text[text.len() - 4..].iter().all(u8::is_ascii_alphanumeric);
    has_group.then(|| text.rfind_byte(b'\n').map_or(0, |at| at + 1))
}
