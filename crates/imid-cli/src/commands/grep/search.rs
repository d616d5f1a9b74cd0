//! Searches a file in blocks of lines, and a very long line in pieces.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::io::Write;
use std::path::Path;
use std::{iter, mem};

use bstr::ByteSlice;
use imid_inspect::Found;
use memchr::{memchr, memchr_iter, memrchr};
use serde::Serialize;

use super::seams::{self, unfinished};
use super::{Args, Filter, Needle};
use crate::Out;
use crate::id_object::IdObject;
use crate::input::{Block, Input, MAX_LINE, OVERLAP};
use crate::json;
use crate::report::{Report, Stop};

/// An ID and its place, as a JSON object.
#[derive(Serialize)]
struct Place<'a> {
    file: Option<&'a str>,
    line: u64,
    at: usize,
    #[serde(flatten)]
    id: IdObject<'a>,
}

/// The search of one file.
pub(super) struct Search<'a> {
    pub(super) args: &'a Args,
    pub(super) needle: &'a Needle,
    pub(super) filter: &'a Filter,
    pub(super) file: Option<String>,
    /// Whether the name of the file is in front of each line.
    pub(super) has_names: bool,
    /// Number of lines before the present block.
    pub(super) lines: u64,
    pub(super) count: u64,
    /// The present line, if its beginning was searched before.
    pub(super) long: Option<LongLine>,
}

/// A line that is searched in pieces.
#[derive(Clone, Copy)]
pub(super) struct LongLine {
    /// Number of bytes of the line before the present piece.
    before: usize,
    /// How much of the present piece was searched before.
    searched: usize,
    /// Whether it has an ID, so that it is counted.
    has_id: bool,
}

impl Search<'_> {
    pub(super) fn run(&mut self, path: Option<&Path>, out: &mut Out, report: &mut Report) -> Result<(), Stop> {
        let mut input = Input::open(path, "text")?;
        // A line that an ID can continue.
        let mut kept = Vec::new();
        loop {
            let (text, is_part) = match input.next(true)? {
                Some(Block::Lines(lines)) if kept.is_empty() => (Cow::Borrowed(lines), false),
                Some(Block::Lines(lines)) => (Cow::Owned([&mem::take(&mut kept), lines].concat()), false),
                Some(Block::TooLong(piece)) if kept.is_empty() => (Cow::Borrowed(piece), true),
                Some(Block::TooLong(piece)) => {
                    self.search(&mem::take(&mut kept), false, out, report)?;
                    (Cow::Borrowed(piece), true)
                }
                None if kept.is_empty() => return Ok(()),
                None => return self.search(&kept, false, out, report),
            };
            let end = unfinished(&text).filter(|_| !is_part && self.long.is_none());
            kept.extend_from_slice(&text[end.unwrap_or(text.len())..]);
            self.search(&text[..end.unwrap_or(text.len())], is_part, out, report)?;
            out.flush()?;
            report.progress(|| (self.lines, None));
            if self.count > 0 && (self.args.quiet || self.args.files_with_ids) {
                return Ok(());
            }
        }
    }

    /// Returns the IDs of a text that are not found by [`Finder::next`] alone, the last one first.
    fn others(&self, text: &[u8]) -> Vec<Found> {
        let mut found = match self.needle {
            Needle::Any(finder) => seams::find(text, |text| {
                let next = |from: usize| finder.next(text, from);
                iter::successors(next(0), |found| next(found.at.end)).collect()
            }),
            Needle::Ids(ids) => [ids.find_in(text), seams::find(text, |text| ids.find_in(text))].concat(),
        };
        found.sort_by_key(|found| Reverse(found.at.start));
        found
    }

    /// Searches whole lines, or a piece of a line that continues in the next piece.
    fn search(&mut self, text: &[u8], is_part: bool, out: &mut Out, report: &mut Report) -> Result<(), Stop> {
        let args = self.args;
        let is_silent = args.count || args.quiet || args.files_with_ids;
        let needs_numbers = args.json.json || args.line_number && !is_silent;
        let (needle, mut others) = (self.needle, self.others(text));
        let mut next = |from: usize| {
            while others.last().is_some_and(|next| next.at.start < from) {
                others.pop();
            }
            let own = match needle {
                Needle::Any(finder) => finder.next(text, from),
                Needle::Ids(_) => None,
            };
            match (own, others.last()) {
                (Some(own), Some(other)) if other.at.start < own.at.start => others.pop(),
                (None, Some(_)) => others.pop(),
                (own, _) => own,
            }
        };
        // An ID can begin before the end of a piece, and is then found in the next one.
        let limit = if is_part { text.len() - OVERLAP / 2 } else { text.len() };
        let long_end = if is_part { text.len() } else { memchr(b'\n', text).map_or(text.len(), |at| at + 1) };
        // All lines before `counted` are in `self.lines`.
        let (mut from, mut counted) = (self.long.map_or(0, |long| long.searched), 0);
        if is_part && self.long.is_none() {
            self.long = Some(LongLine { before: 0, searched: 0, has_id: false });
        }
        while let Some(Found { at, read }) = next(from).filter(|found| found.at.start < limit) {
            from = at.end;
            if !self.filter.accepts(read.id) {
                continue;
            }
            let long = self.long.as_mut().filter(|_| at.start < long_end);
            let is_first = long.as_ref().is_none_or(|long| !long.has_id);
            let (before, is_long) = long.map_or((0, false), |long| {
                long.has_id = true;
                (long.before, true)
            });
            self.count += u64::from(is_first || args.only_ids || args.json.json);
            if needs_numbers {
                self.lines += memchr_iter(b'\n', &text[counted..at.start]).count() as u64;
                counted = at.start;
            }
            let start = memrchr(b'\n', &text[..at.start]).map_or(0, |line_feed| line_feed + 1);
            if args.only_ids || args.json.json {
                if !is_silent {
                    self.write_id(out, &Found { at: before + at.start - start..before + at.end - start, read })?;
                }
                continue;
            }
            // A line is written once. It is the first one of an ID that continues in the next.
            from = memchr(b'\n', &text[at.start..]).map_or(text.len(), |line_feed| at.start + line_feed + 1);
            if is_long && is_first && !is_silent {
                let hint = format!("a line of more than {MAX_LINE} bytes is not printed; -o prints its IDs");
                report.unreadable(format_args!("{} at byte {} of its line: {hint}", read.id, before + at.start));
            } else if !is_long && !is_silent {
                self.write_place(out)?;
                out.write_all(&text[start..from])?;
                if text[from - 1] != b'\n' {
                    writeln!(out)?;
                }
            }
        }
        if needs_numbers {
            self.lines += memchr_iter(b'\n', &text[counted..]).count() as u64;
        }
        self.long = self.long.filter(|_| is_part).map(|long| LongLine {
            before: long.before + text.len() - OVERLAP,
            searched: OVERLAP / 2,
            ..long
        });
        Ok(())
    }

    fn write_id(&self, out: &mut Out, found: &Found) -> Result<(), Stop> {
        let id = found.read.id;
        if !self.args.json.json {
            self.write_place(out)?;
            return Ok(writeln!(out, "{id}")?);
        }
        let id = IdObject { form: Some(found.read.form), ..IdObject::new(id) };
        let place = Place { file: self.file.as_deref(), line: self.lines + 1, at: found.at.start, id };
        json::write_line(out, &place)
    }

    /// Writes the name of the file, if there are several, and the number of the line, if it is asked for.
    fn write_place(&self, out: &mut Out) -> Result<(), Stop> {
        self.write_name(out)?;
        if self.args.line_number { Ok(write!(out, "{}:", self.lines + 1)?) } else { Ok(()) }
    }

    pub(super) fn write_name(&self, out: &mut Out) -> Result<(), Stop> {
        match &self.file {
            Some(name) if self.has_names => Ok(write!(out, "{}:", name.as_bytes().as_bstr())?),
            _ => Ok(()),
        }
    }
}
