//! A named line of numbers, taken from a store in blocks: Leaf-segment.
//!
//! Two blocks are kept in memory. The next one is fetched when a tenth of the present one is used, so an outage of the store goes
//! unnoticed for as long as the block lasts. The step, which is the length of a block, follows the rate: it doubles when a block
//! lasted less than 15 minutes, and halves when it lasted more than 30. It never doubles beyond 1,000,000, and never halves below
//! the store's step. These are the rules of Meituan's Leaf, and [`leaf`] works on Leaf's own table.
//!
//! # What is promised
//! **Never repeats**: the store grants each block once. **Grows** within one process; across processes the numbers grow only
//! roughly, since each process uses up its own blocks. **Has gaps**: a process that exits loses the rest of its two blocks, and a
//! lost answer loses a block.
//!
//! | fault | what happens |
//! | --- | --- |
//! | the store does not answer | numbers continue until both blocks are used; then an error with [`retry_after`](NumberError::retry_after) |
//! | a reply is lost, or a write is late | the block is skipped: a gap |
//! | a process is killed | the rest of its two blocks is skipped |
//! | a clock jumps | nothing; the step may adapt to a wrong duration |
//! | a process forks | the child has no numbers, and does not use its parent's connection |
//! | the store is restored from a backup | a process notices a block below its last one; **numbers of others can repeat** |
//! | a weak register loses a write | does not happen: a register that says that it is weak is refused |
//! | a running VM is cloned | **the rest of both blocks repeats** |
//! | processes use two registers | **numbers can repeat** |
//!
//! If the application brings its own database client, the settings are not checked: commits must be durable.
//!
//! # After a restore
//! A store that was restored from a backup grants blocks again that it granted after the backup. A running process notices a block
//! below its last one and stops ([`is_reverted`](NumberError::is_reverted)); one that starts cannot tell. Stop all processes, raise
//! the line above all numbers that were handed out, and start them again: [`recover_line`] for a line in a register, and one
//! [statement](leaf#after-a-restore) for Leaf's table.

mod error;
pub mod leaf;
mod line;
mod step;

use core::error::Error;
use core::ops::{ControlFlow, Range};
use core::time::Duration;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

pub use self::error::{NumberError, SegmentError};
pub use self::line::recover_line;

use self::error::{NumberKind, SegmentKind};
use self::step::next_step;
use crate::background::{Background, Backoff, FIRST_WAIT_MS, LONGEST_WAIT_MS, Owner};
use crate::changes::{retry_within, within};
use crate::register::with_causes;
use crate::{Register, RegisterError};

/// How long a call that finds no number waits.
const PAUSE: Duration = Duration::from_millis(FIRST_WAIT_MS);

/// Why a store has no block.
///
/// A [permanent](RegisterError::is_permanent) [`RegisterError`] ends [`wait_until_open`](Segment::wait_until_open) immediately.
pub type BlockError = Box<dyn Error + Send + Sync>;

/// A block of numbers that a store has granted. It ends before `end`, and has as many numbers as the segment asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// The first number after the block.
    pub end: i64,
    /// The step of the store. It is the length of a block if the segment asked for none, and the step of the segment does
    /// not fall below it.
    pub step: i64,
}

/// A named line of numbers with two blocks in memory.
///
/// [`open`](Self::open), [`next`](Self::next), [`status`](Self::status) and drops do not block: a thread fetches the
/// blocks. [`wait_until_open`](Self::wait_until_open) blocks for at most the given time; an async task calls
/// [`wait_until_open_async`](Self::wait_until_open_async) and [`next_async`](Self::next_async).
///
/// ```no_run
/// use std::time::Duration;
///
/// use imid_lease::segment::Segment;
/// use imid_lease::register::FileRegister;
///
/// let register = FileRegister::owned("/var/lib/shop/register")?;
/// let orders = Segment::open_line(register, "orders", 1_000)?;
/// orders.wait_until_open(Duration::from_secs(15))?;
/// let order = orders.next()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Segment(Background<Numbers>);

/// The state of a [`Segment`], for operators.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SegmentStatus {
    /// How many numbers are in memory.
    pub left: u64,
    /// The error of the store's last call, if it failed.
    pub last_error: Option<String>,
}

/// The present block and the next one.
#[derive(Debug)]
struct Numbers {
    present: Range<u64>,
    /// The first number at which the next block is fetched.
    fetch_at: u64,
    spare: Range<u64>,
    /// The thread is fetching.
    is_fetching: bool,
    /// Why there will be no other block.
    ended: Option<NumberKind>,
    last_error: Option<String>,
    /// The last error is permanent.
    is_refused: bool,
}

impl Numbers {
    #[inline]
    fn mint(&mut self) -> Option<u64> {
        if self.present.is_empty() && !self.spare.is_empty() {
            self.use_spare();
        }
        self.present.next()
    }

    /// Returns whether there was a block. None ends at 0.
    const fn has_begun(&self) -> bool {
        self.present.end > 0
    }

    fn use_spare(&mut self) {
        self.present = core::mem::take(&mut self.spare);
        self.fetch_at = self.present.start + (self.present.end - self.present.start).div_ceil(10);
    }

    /// Returns whether the thread must be woken.
    #[inline]
    fn wants_block(&mut self) -> bool {
        if self.present.start < self.fetch_at || !self.spare.is_empty() || self.is_fetching || self.ended.is_some() {
            return false;
        }
        self.is_fetching = true;
        true
    }
}

impl Segment {
    /// Opens the line of numbers of this name in a register. Its blocks have at least `step` numbers, and a new line begins
    /// at 1. A register that can lose acknowledged writes is refused, which [`wait_until_open`](Self::wait_until_open) says.
    ///
    /// # Errors
    /// The name is not a [`Name`](crate::record::Name), or the step is not 1 to 10⁹ ([`SegmentError::is_options`]). Or as for
    /// [`open`](Self::open).
    pub fn open_line(register: impl Register + 'static, name: &str, step: u32) -> Result<Self, SegmentError> {
        Self::open(line::blocks(register, name, step)?)
    }

    /// Opens a line of numbers. It returns immediately: a thread calls `fetch`, which may block, for the first block and for later
    /// ones. Until the first one is there, each call of [`next`](Self::next) returns an error with
    /// [`retry_after`](NumberError::retry_after).
    ///
    /// `fetch` returns the next block, with as many numbers as it is asked for, or the store's step. After an error the store may
    /// have granted a block anyway, which is then skipped. After a panic it is not called again, because its client could mistake
    /// an answer for that of another call.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn open(
        fetch: impl FnMut(Option<i64>) -> Result<Block, BlockError> + Send + 'static,
    ) -> Result<Self, SegmentError> {
        let numbers = Numbers {
            present: 0..0,
            fetch_at: 0,
            spare: 0..0,
            is_fetching: true,
            ended: None,
            last_error: None,
            is_refused: false,
        };
        let fetcher = Fetcher { fetch, step: None, end: 0, fetched: Instant::now(), backoff: Backoff::default() };
        let background = Background::start("imid-segment", numbers, move |owner| fetcher.run(owner));
        Ok(Self(background.map_err(SegmentKind::Thread)?))
    }

    /// Waits until there are numbers, for at most this time.
    ///
    /// # Errors
    /// The store does not answer in this time. Immediately, if it refuses this process permanently, as with a wrong password, or
    /// can lose acknowledged writes. The thread keeps retrying in either case.
    pub fn wait_until_open(&self, timeout: Duration) -> Result<(), SegmentError> {
        self.0.changes().wait(self.until_open(timeout))
    }

    /// Does what [`wait_until_open`](Self::wait_until_open) does in a task of any async runtime. Dropping the future loses nothing:
    /// the thread continues.
    ///
    /// # Errors
    /// As for [`wait_until_open`](Self::wait_until_open).
    pub async fn wait_until_open_async(&self, timeout: Duration) -> Result<(), SegmentError> {
        self.0.changes().wait_async(self.until_open(timeout)).await
    }

    /// Returns a check that breaks when there are numbers, when the store refuses this process, or after this time.
    fn until_open(&self, timeout: Duration) -> impl FnMut() -> ControlFlow<Result<(), SegmentError>, Instant> {
        let mut until_known = within(timeout, || match self.0.state() {
            Some(numbers) => (numbers.has_begun() || numbers.is_refused).then_some(()),
            None => Some(()),
        });
        move || {
            until_known().map_break(|_| {
                let Some(numbers) = self.0.state() else { return Err(SegmentKind::Forked.into()) };
                if numbers.has_begun() {
                    return Ok(());
                }
                let cause = numbers.last_error.clone();
                let cause = cause.unwrap_or_else(|| format!("no answer in {} ms", timeout.as_millis()));
                Err(SegmentKind::NoBlock { cause, is_permanent: numbers.is_refused }.into())
            })
        }
    }

    /// Returns the next number.
    ///
    /// **Never blocks on the network**: it takes the number from memory.
    ///
    /// # Errors
    /// Both blocks are used and the store has not answered yet, has lost a block that it granted, or the call for a block
    /// has panicked; or this process is a forked child of the one that opened the segment.
    #[inline]
    pub fn next(&self) -> Result<u64, NumberError> {
        let Some(mut numbers) = self.0.state() else { return Err(NumberKind::Forked.into()) };
        let number = numbers.mint();
        let wants_block = numbers.wants_block();
        let ended = numbers.ended;
        drop(numbers);
        if wants_block {
            self.0.wake();
        }
        number.ok_or_else(|| ended.unwrap_or(NumberKind::None { retry_after: PAUSE }).into())
    }

    /// Returns the next number in a task of any async runtime. While the store has not answered, the task sleeps and retries, for
    /// at most `timeout` in total. Dropping the future takes no number.
    ///
    /// # Errors
    /// As for [`next`](Self::next). If the wait is longer than the rest of `timeout`, the error is returned immediately.
    pub async fn next_async(&self, timeout: Duration) -> Result<u64, NumberError> {
        self.0.changes().wait_async(retry_within(timeout, || self.next(), NumberError::retry_after, |_| false)).await
    }

    /// Returns the state, for operators. In a forked child the segment has no numbers.
    pub fn status(&self) -> SegmentStatus {
        let Some(numbers) = self.0.state() else { return SegmentStatus { left: 0, last_error: None } };
        let left = |block: &Range<u64>| block.end - block.start;
        let last_error = numbers.last_error.clone();
        SegmentStatus { left: left(&numbers.present) + left(&numbers.spare), last_error }
    }
}

/// The thread that fetches blocks.
struct Fetcher<F> {
    fetch: F,
    /// How many numbers to ask for. The store decides on the first block.
    step: Option<i64>,
    /// The end of the last block.
    end: u64,
    fetched: Instant,
    backoff: Backoff,
}

impl<F: FnMut(Option<i64>) -> Result<Block, BlockError>> Fetcher<F> {
    fn run(mut self, owner: &Owner<Numbers>) {
        while !owner.is_closing() {
            if !owner.state().is_fetching {
                owner.sleep(Duration::MAX);
                continue;
            }
            // It is foreign code. If this thread ended silently, calls would be told to retry forever.
            let fetched = match catch_unwind(AssertUnwindSafe(|| (self.fetch)(self.step))) {
                Ok(fetched) => fetched.and_then(|block| Ok((block, checked(block, self.step)?))),
                Err(panic) => {
                    let mut numbers = owner.state();
                    numbers.last_error = Some("the call that fetches a block has panicked".into());
                    (numbers.is_refused, numbers.ended) = (true, Some(NumberKind::Closed));
                    // Not dropped, because that can also panic.
                    return core::mem::forget(panic);
                }
            };
            let is_answered = fetched.is_ok();
            self.backoff.note(is_answered);
            self.note(&mut owner.state(), fetched);
            owner.announce();
            if !is_answered {
                owner.sleep(Duration::from_millis(self.backoff.wait_ms(LONGEST_WAIT_MS)));
            }
        }
    }

    fn note(&mut self, numbers: &mut Numbers, fetched: Result<(Block, Range<u64>), BlockError>) {
        match fetched {
            Ok((_, found)) if found.start < self.end => {
                let (end, first) = (self.end, found.start);
                numbers.last_error = Some(format!("expected a block from {end} on, found one from {first} on"));
                numbers.ended = Some(NumberKind::Reverted);
                numbers.is_fetching = false;
            }
            Ok((block, found)) => {
                self.end = found.end;
                let lasted = self.fetched.elapsed();
                self.fetched = Instant::now();
                self.step = Some(self.step.map_or(block.step, |step| next_step(step, block.step, lasted)));
                numbers.spare = found;
                if !numbers.has_begun() {
                    numbers.use_spare();
                }
                numbers.is_fetching = false;
                numbers.last_error = None;
            }
            Err(error) => {
                // The error of an application's own client can be one of any kind, and a retry may mend it.
                numbers.is_refused = error.downcast_ref().is_some_and(RegisterError::is_permanent);
                numbers.last_error = Some(with_causes(&*error));
            }
        }
    }
}

/// Returns the numbers of a block that was asked for with this step.
fn checked(block: Block, step: Option<i64>) -> Result<Range<u64>, BlockError> {
    let Block { end, step: least } = block;
    let first = end.checked_sub(step.unwrap_or(least)).filter(|first| least > 0 && *first < end);
    let numbers = first.and_then(|first| Some(u64::try_from(first).ok()?..u64::try_from(end).ok()?));
    numbers.ok_or_else(|| refused(format!("expected a positive step, and numbers from 0 on, found {block:?}")))
}

/// Returns the permanent error of an answer, which stays the same until someone changes the store.
fn refused(what: impl Into<String>) -> BlockError {
    RegisterError::new(what).permanent().into()
}
