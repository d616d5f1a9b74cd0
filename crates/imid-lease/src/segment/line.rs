//! A line of numbers in a register.

use std::fmt;

use super::error::{SegmentError, SegmentKind};
use super::{Block, BlockError, refused};
use crate::admin::MOST_TRIES;
use crate::record::{FORMAT, Fields, Name, RecordError, Token};
use crate::{Promise, Register};

const MAX_STEP: u32 = 1_000_000_000;

/// The record of a named line of numbers: every number below `next` may be in use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct LineRecord {
    next: u64,
    /// Random. A line that was restored can repeat a number, but not a token.
    token: Token,
}

impl LineRecord {
    fn key(name: &Name) -> String {
        format!("seg/{name}")
    }

    pub(super) fn parse(text: &str) -> Result<Self, RecordError> {
        let mut fields = Fields::of(text, "line")?;
        let record = Self { next: fields.number("next")?, token: fields.token()? };
        fields.end()?;
        Ok(record)
    }
}

impl fmt::Display for LineRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{FORMAT} line next={} token={}", self.next, self.token)
    }
}

/// Returns the function that fetches the blocks of the line with this name.
pub(super) fn blocks<R: Register>(
    mut register: R,
    name: &str,
    step: u32,
) -> Result<impl FnMut(Option<i64>) -> Result<Block, BlockError> + use<R>, SegmentError> {
    let name = Name::parse(name).map_err(SegmentKind::Name)?;
    if !(1..=MAX_STEP).contains(&step) {
        return Err(SegmentKind::Step { found: step }.into());
    }
    let key = LineRecord::key(&name);
    Ok(move |length: Option<i64>| {
        for _ in 0..MOST_TRIES {
            let seen = register.read(&key)?;
            if let Promise::Weak(reason) = register.promise() {
                return Err(refused(format!("the register can lose acknowledged writes: {reason}")));
            }
            let first = match &seen {
                Some(text) => LineRecord::parse(text).map_err(|error| refused(error.to_string()))?.next,
                None => 1,
            };
            let end = i64::try_from(first).ok().and_then(|first| first.checked_add(length.unwrap_or(step.into())));
            let end = end.ok_or_else(|| refused("the line has used all numbers below 2^63"))?;
            let record = LineRecord { next: end.cast_unsigned(), token: Token::draw()? };
            // Another process was faster if this fails, so the line always makes progress.
            if register.compare_and_set(&key, seen.as_deref(), &record.to_string())? {
                return Ok(Block { end, step: step.into() });
            }
        }
        Err(SegmentError::from(SegmentKind::Busy { key: key.clone() }).into())
    })
}

/// Makes a line of numbers ([`Segment::open_line`](super::Segment::open_line)) safe to use again after its register was restored
/// from a backup, or has lost acknowledged writes. No process may use the line in the meantime.
///
/// `next` must be above every number that was handed out, whatever became of it. The line continues there, or where it is if that
/// is later; the function returns which. Reopen the segments afterwards: one that has noticed the restore has ended.
///
/// # Errors
/// The register does not answer; the name is not a [`Name`]; `next` is 2⁶³ or more, such as `u64::MAX`; the record has another
/// format; another process is using the line.
pub fn recover_line<R: Register + ?Sized>(register: &mut R, name: &str, next: u64) -> Result<u64, SegmentError> {
    let key = LineRecord::key(&Name::parse(name).map_err(SegmentKind::Name)?);
    // A line does not go back, so it would permanently have no number.
    if next > i64::MAX.cast_unsigned() {
        return Err(SegmentKind::Next { found: next }.into());
    }
    let text = register.read(&key)?;
    let found = text.as_deref().map(LineRecord::parse).transpose().map_err(SegmentKind::Record)?;
    let token = Token::draw().map_err(|_| SegmentKind::Random)?;
    let record = LineRecord { next: next.max(found.map_or(1, |line| line.next)), token };
    if register.compare_and_set(&key, text.as_deref(), &record.to_string())? {
        Ok(record.next)
    } else {
        Err(SegmentKind::Busy { key }.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RegisterError;

    const LINE: &str = "imid-lease/1 line next=1001 token=0000000000000abc";

    /// A register that reads and never writes, as with row security.
    struct Refusing(u32);

    impl Register for Refusing {
        fn read(&mut self, _: &str) -> Result<Option<String>, RegisterError> {
            Ok(None)
        }

        fn list(&mut self, _: &str) -> Result<Vec<(String, String)>, RegisterError> {
            Ok(Vec::new())
        }

        fn compare_and_set(&mut self, _: &str, _: Option<&str>, _: &str) -> Result<bool, RegisterError> {
            self.0 += 1;
            assert!(self.0 <= MOST_TRIES, "it does not end");
            Ok(false)
        }

        fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
            Ok(None)
        }

        fn promise(&self) -> Promise {
            Promise::Strong
        }
    }

    #[test]
    fn a_record_that_is_never_written_is_an_error() {
        let error = blocks(Refusing(0), "orders", 10).unwrap()(None).unwrap_err();
        assert_eq!(error.to_string(), "the record seg/orders is being written by another process");
    }

    #[test]
    fn a_record_reads_as_it_is_written_and_no_beginning_of_it_is_a_record() {
        let record = LineRecord { next: 1_001, token: Token(0xABC) };
        assert_eq!((LineRecord::parse(LINE), record.to_string().as_str()), (Ok(record.clone()), LINE));
        for end in 0..LINE.len() {
            LineRecord::parse(&LINE[..end]).unwrap_err();
        }
        let lane = LINE.replace("line", "lane");
        let error = LineRecord::parse(&lane).unwrap_err();
        assert_eq!(error.to_string(), "expected a record of a line of numbers, found \"lane\"");
    }
}
