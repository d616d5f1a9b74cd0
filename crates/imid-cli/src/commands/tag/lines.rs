//! JSON lines. The ID is added as the last members of each object. The other bytes do not change.

use bstr::ByteSlice;

use super::resume::PreviousOutput;
use super::tagger::Tagger;
use crate::input::{Block, Input, too_long};
use crate::json::JsonLine;
use crate::report::{Stop, quote};

impl Tagger<'_> {
    /// Tags the lines of an input, from the first one on that was not written before.
    pub(super) fn tag_lines(&mut self, mut input: Input, mut written: PreviousOutput) -> Result<(), Stop> {
        let mut number = 0;
        while let Some(block) = input.next().map_err(|stop| self.with_last(stop))? {
            let before = self.last;
            let ran = match block {
                Block::Lines(lines) => lines.lines_with_terminator().try_for_each(|line| {
                    number += 1;
                    if number <= written.items {
                        self.check_line(number, line, &mut written)
                    } else {
                        self.tag_line(number, line)
                    }
                }),
                Block::TooLong => {
                    number += 1;
                    self.mint(number, Err::<(_, ()), _>(too_long())).map(|_| ())
                }
            };
            // Also after an error: these are the lines before a bad one.
            self.write(before)?;
            ran?;
        }
        if number < written.items { Err(written.too_few(number, "lines")) } else { Ok(()) }
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

    /// Checks that a line of the output was made from this line, if it is the one that is checked.
    fn check_line(&self, number: u64, line: &[u8], written: &mut PreviousOutput) -> Result<(), Stop> {
        written.check(number, number, |id| {
            let (object, mut made) = (JsonLine::read(line)?, Vec::new());
            object.write_with_last(&mut made, |out| self.addition.write(out, id));
            Ok((self.plan.read(&object)?, made))
        })
    }
}
