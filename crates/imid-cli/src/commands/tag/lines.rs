//! JSON lines. The ID is added as the last members of each object. The other bytes do not change.

use bstr::ByteSlice;

use super::tagger::Tagger;
use crate::input::{Block, Input, too_long};
use crate::json::JsonLine;
use crate::report::{Stop, quote};

impl Tagger<'_> {
    /// Tags the lines of an input.
    pub(super) fn tag_lines(&mut self, mut input: Input) -> Result<(), Stop> {
        let mut number = 0;
        while let Some(block) = input.next(false).map_err(|stop| self.with_last(stop))? {
            let before = self.last;
            let ran = match block {
                Block::Lines(lines) => lines.lines_with_terminator().try_for_each(|line| {
                    number += 1;
                    self.tag_line(number, line)
                }),
                Block::TooLong(_) => {
                    number += 1;
                    self.mint(number, Err::<(_, ()), _>(too_long())).map(|_| ())
                }
            };
            // Also after an error: these are the lines before a bad one.
            self.write(before)?;
            ran?;
        }
        Ok(())
    }

    fn tag_line(&mut self, number: u64, line: &[u8]) -> Result<(), Stop> {
        if line.trim_ascii().is_empty() {
            self.reserve(line.len())?;
            self.output.extend_from_slice(line);
            return Ok(());
        }
        let plan = &self.plan;
        let read = JsonLine::read(line).and_then(|object| {
            if let Some(field) = plan.id_fields().iter().find(|field| object.has(field)) {
                return Err(format!("field {} already exists (--id-field names another one)", quote(field)));
            }
            Ok((plan.read(&object)?, object))
        });
        if let Some((id, object)) = self.mint(number, read)? {
            // The addition comes after a comma.
            self.reserve(line.len() + 1 + self.addition.max_len())?;
            object.write_with_last(&mut self.output, |out| self.addition.write(out, id));
        }
        Ok(())
    }
}
