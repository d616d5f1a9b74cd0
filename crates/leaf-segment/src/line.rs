//! A line of numbers in a register of leases.

use std::fmt;

use imid_lease::record::Name;
use imid_lease::{Promise, Register};

use crate::error::{Refused, SegmentError, SegmentKind};
use crate::segment::{Block, BlockError, Segment};

const MAX_STEP: u32 = 1_000_000_000;

/// How often a record that others write at the same time is read again.
const MOST_TRIES: u32 = 100;

/// The record of a named line of numbers: every number below `next` may be in use.
#[derive(Clone, PartialEq, Eq, Debug)]
struct LineRecord {
    next: u64,
    /// Random. A line that was restored can repeat a number, but not a token.
    token: u64,
}

impl LineRecord {
    fn new(next: u64) -> Result<Self, SegmentError> {
        Ok(Self { next, token: getrandom::u64().map_err(|_| SegmentKind::Random)? })
    }

    fn key(name: &str) -> Result<String, SegmentError> {
        Ok(format!("seg/{}", Name::parse(name).map_err(SegmentKind::Name)?))
    }

    fn parse(text: &str) -> Result<Self, SegmentError> {
        let fields = || {
            let (next, token) = text.strip_prefix("imid-lease/1 line next=")?.split_once(" token=")?;
            let record = Self { next: next.parse().ok()?, token: u64::from_str_radix(token, 16).ok()? };
            (record.next < 1 << 63 && record.to_string() == text).then_some(record)
        };
        fields().ok_or_else(|| SegmentKind::Record { found: text.into() }.into())
    }
}

impl fmt::Display for LineRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "imid-lease/1 line next={} token={:016x}", self.next, self.token)
    }
}

impl Segment {
    /// Opens the line of numbers of this name in a register. Its blocks have at least `step` numbers, and a new line begins
    /// at 1. A register that can lose acknowledged writes is refused, which [`wait_until_open`](Self::wait_until_open) says.
    ///
    /// ```no_run
    /// use std::time::Duration;
    ///
    /// use imid_lease::register::FileRegister;
    /// use leaf_segment::Segment;
    ///
    /// let register = FileRegister::owned("/var/lib/shop/register")?;
    /// let orders = Segment::open_line(register, "orders", 1_000)?;
    /// orders.wait_until_open(Duration::from_secs(15))?;
    /// let order = orders.next()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The name is not a [`Name`], or the step is not 1 to 10⁹ ([`SegmentError::is_options`]). Or as for [`open`](Self::open).
    pub fn open_line(register: impl Register + 'static, name: &str, step: u32) -> Result<Self, SegmentError> {
        Self::open(blocks(register, name, step)?)
    }
}

/// Returns the function that fetches the blocks of the line with this name.
fn blocks<R: Register>(
    mut register: R,
    name: &str,
    step: u32,
) -> Result<impl FnMut(Option<i64>) -> Result<Block, BlockError> + use<R>, SegmentError> {
    let key = LineRecord::key(name)?;
    if !(1..=MAX_STEP).contains(&step) {
        return Err(SegmentKind::Step { found: step }.into());
    }
    Ok(move |length: Option<i64>| {
        for _ in 0..MOST_TRIES {
            let seen = register.read(&key).map_err(|error| -> BlockError {
                if error.is_permanent() { Refused::new(format!("{error:#}")).into() } else { error.into() }
            })?;
            if let Promise::Weak(reason) = register.promise() {
                return Err(Refused::new(format!("the register can lose acknowledged writes: {reason}")).into());
            }
            let first = match &seen {
                Some(text) => LineRecord::parse(text).map_err(|error| Refused::new(error.to_string()))?.next,
                None => 1,
            };
            let end = i64::try_from(first).ok().and_then(|first| first.checked_add(length.unwrap_or(step.into())));
            let end = end.ok_or_else(|| Refused::new("the line has used all numbers below 2^63"))?;
            let record = LineRecord::new(end.cast_unsigned())?;
            // Another process was faster if this fails, so the line always makes progress.
            if register.compare_and_set(&key, seen.as_deref(), &record.to_string())? {
                return Ok(Block { end, step: step.into() });
            }
        }
        Err(SegmentError::from(SegmentKind::Busy { key: key.clone() }).into())
    })
}

/// Makes a line of numbers ([`Segment::open_line`]) safe to use again after its register was restored from a backup, or has lost
/// acknowledged writes. No process may use the line in the meantime.
///
/// `next` must be above every number that was handed out, whatever became of it. The line continues there, or where it is if that
/// is later; the function returns which. Reopen the segments afterwards: one that has noticed the restore has ended.
///
/// # Errors
/// The register does not answer; the name is not a [`Name`]; `next` is 2⁶³ or more, such as `u64::MAX`; the record has another
/// format; another process is using the line.
pub fn recover_line<R: Register + ?Sized>(register: &mut R, name: &str, next: u64) -> Result<u64, SegmentError> {
    let key = LineRecord::key(name)?;
    // A line does not go back, so it would permanently have no number.
    if next > i64::MAX.cast_unsigned() {
        return Err(SegmentKind::Next { found: next }.into());
    }
    let text = register.read(&key)?;
    let found = text.as_deref().map(LineRecord::parse).transpose()?;
    let record = LineRecord::new(next.max(found.map_or(1, |line| line.next)))?;
    if register.compare_and_set(&key, text.as_deref(), &record.to_string())? {
        Ok(record.next)
    } else {
        Err(SegmentKind::Busy { key }.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use imid_lease::RegisterError;

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
        let record = LineRecord { next: 1_001, token: 0xABC };
        assert_eq!((LineRecord::parse(LINE).unwrap(), record.to_string().as_str()), (record.clone(), LINE));
        for other in
            [LINE.replace("1001", "01001"), LINE.replace("abc", "ABC"), LINE.replace("1001", "9223372036854775808")]
        {
            LineRecord::parse(&other).unwrap_err();
        }
        for end in 0..LINE.len() {
            LineRecord::parse(&LINE[..end]).unwrap_err();
        }
        let lane = LINE.replace("line", "lane");
        let error = LineRecord::parse(&lane).unwrap_err();
        let expected = "expected a record of a line of numbers of the format `imid-lease/1`, found ";
        assert_eq!(error.to_string(), format!("{expected}{lane:?}"));
    }
}
