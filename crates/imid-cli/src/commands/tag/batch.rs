//! A block of messages, read and ready for its IDs.

use bstr::ByteSlice;

use super::columns::Addition;
use super::plan::{Facts, Plan};
use crate::input::too_long;
use crate::json::JsonLine;
use crate::report::{Stop, quote};

/// A block of messages.
///
/// The text is the output, except for the IDs: each message has an [`Addition`] with slots for them.
#[derive(Default)]
pub(super) struct Batch {
    /// Number of lines.
    pub(super) lines: u64,
    pub(super) text: Vec<u8>,
    pub(super) entries: Vec<Entry>,
}

/// A message, or a bad line.
pub(super) struct Entry {
    /// The line of the block, from 0.
    pub(super) line: u64,
    /// Where the message starts in the text. A bad line has no text.
    pub(super) start: usize,
    pub(super) result: Result<Ready, Box<str>>,
}

/// A message that was read.
pub(super) struct Ready {
    pub(super) facts: Facts,
    /// Where its addition starts in the text.
    pub(super) addition: usize,
    /// Where the next message starts in the text.
    pub(super) end: usize,
}

impl Batch {
    pub(super) fn clear(&mut self) {
        self.lines = 0;
        self.text.clear();
        self.entries.clear();
    }

    /// Adds JSON lines.
    pub(super) fn add_json_lines(&mut self, lines: &[u8], plan: &Plan, addition: &Addition) -> Result<(), Stop> {
        // Most lines grow by less than a half.
        self.text.try_reserve(lines.len() + lines.len() / 2).map_err(|_| Stop::out_of_memory())?;
        for line in lines.lines_with_terminator() {
            // The addition comes after a comma.
            self.text.try_reserve(line.len() + 1 + addition.text.len()).map_err(|_| Stop::out_of_memory())?;
            self.entries.try_reserve(1).map_err(|_| Stop::out_of_memory())?;
            let start = self.text.len();
            if line.trim_ascii().is_empty() {
                self.text.extend_from_slice(line);
            } else {
                let result = JsonLine::read(line).and_then(|object| {
                    if !plan.overwrite
                        && let Some(field) = plan.id_fields.iter().find(|field| object.has(field))
                    {
                        return Err(format!("field {} already exists (--overwrite replaces it)", quote(field)));
                    }
                    let facts = plan.read(&object)?;
                    let addition = object.write_with_last(&mut self.text, plan.removed(), &addition.text);
                    Ok(Ready { facts, addition, end: self.text.len() })
                });
                self.entries.push(Entry { line: self.lines, start, result: result.map_err(Into::into) });
            }
            self.lines += 1;
        }
        Ok(())
    }

    /// Adds a line that was skipped because it is too long.
    pub(super) fn add_too_long(&mut self) {
        self.entries.push(Entry { line: self.lines, start: self.text.len(), result: Err(too_long().into()) });
        self.lines += 1;
    }
}
