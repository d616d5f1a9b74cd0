//! A line of numbers with two blocks in memory.

use core::error::Error;
use core::ops::Range;
use core::time::Duration;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use crate::error::{NumberError, NumberKind, Refused, SegmentError, SegmentKind};
use crate::step::next_step;
use crate::wait::Shared;

/// How long a call that finds no number waits, and the thread after the first failure.
const PAUSE: Duration = Duration::from_millis(100);

/// The longest wait of the thread.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// Why a store has no block.
///
/// [`Refused`] ends [`wait_until_open`](Segment::wait_until_open) immediately. After any other error the thread tries again.
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

/// Where a line of numbers gets its blocks: the application's own client of a store. Each closure of this shape is one.
pub trait Blocks: Send {
    /// Takes the next block, with as many numbers as `step` says, or with the store's own step. May block.
    ///
    /// # Errors
    /// The store does not answer, or refuses. It may have granted a block anyway, which is then skipped.
    fn take(&mut self, step: Option<i64>) -> Result<Block, BlockError>;
}

impl<F: FnMut(Option<i64>) -> Result<Block, BlockError> + Send> Blocks for F {
    fn take(&mut self, step: Option<i64>) -> Result<Block, BlockError> {
        self(step)
    }
}

/// A named line of numbers with two blocks in memory.
///
/// [`open`](Self::open), [`next`](Self::next), [`status`](Self::status) and drops do not block: a thread fetches the
/// blocks. [`wait_until_open`](Self::wait_until_open) blocks for at most the given time, so an async program calls it in a thread for
/// blocking calls, such as one of `tokio::task::spawn_blocking`. A task that finds no number sleeps for
/// [`retry_after`](NumberError::retry_after), and calls [`next`](Self::next) again.
#[derive(Debug)]
pub struct Segment(Arc<Shared<Numbers>>);

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
#[derive(Debug, Default)]
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
    /// The segment was dropped.
    is_closing: bool,
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

    /// Returns whether the line is open, once that is known.
    fn opened(&self) -> Option<Result<(), SegmentError>> {
        match &self.last_error {
            _ if self.has_begun() => Some(Ok(())),
            Some(cause) if self.is_refused => {
                Some(Err(SegmentKind::NoBlock { cause: cause.clone(), is_permanent: true }.into()))
            }
            _ => None,
        }
    }
}

impl Segment {
    /// Opens a line of numbers. It returns immediately: a thread takes the first block and later ones. Until the first one is
    /// there, each call of [`next`](Self::next) returns an error with [`retry_after`](NumberError::retry_after).
    ///
    /// After a panic of `blocks` it is not called again, because its client could mistake an answer for that of another call. A
    /// call that does not return keeps the thread, so it needs a time limit.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn open(blocks: impl Blocks + 'static) -> Result<Self, SegmentError> {
        let shared = Arc::new(Shared::new(Numbers { is_fetching: true, ..Numbers::default() }));
        let fetcher =
            Fetcher { shared: Arc::clone(&shared), blocks, step: None, end: 0, fetched: Instant::now(), failures: 0 };
        // Nobody joins the thread: to drop the handle in a forked child would be wrong.
        let thread = std::thread::Builder::new().name("leaf-segment".into());
        thread.spawn(move || fetcher.run()).map_err(SegmentKind::Thread)?;
        Ok(Self(shared))
    }

    /// Waits until there are numbers, for at most this time.
    ///
    /// # Errors
    /// The store does not answer in this time. Immediately, if it refuses this process permanently ([`Refused`]). The thread keeps
    /// retrying in either case.
    pub fn wait_until_open(&self, timeout: Duration) -> Result<(), SegmentError> {
        if let Some(opened) = self.0.wait(timeout, |numbers| numbers.opened()) {
            return opened;
        }
        let Some(numbers) = self.0.state() else { return Err(SegmentKind::Forked.into()) };
        let cause = numbers.last_error.clone().unwrap_or_else(|| format!("no answer in {} ms", timeout.as_millis()));
        Err(SegmentKind::NoBlock { cause, is_permanent: false }.into())
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
            self.0.announce();
        }
        number.ok_or_else(|| ended.unwrap_or(NumberKind::None { retry_after: PAUSE }).into())
    }

    /// Returns the state, for operators. In a forked child the segment has no numbers.
    pub fn status(&self) -> SegmentStatus {
        let Some(numbers) = self.0.state() else { return SegmentStatus { left: 0, last_error: None } };
        let left = |block: &Range<u64>| block.end - block.start;
        let last_error = numbers.last_error.clone();
        SegmentStatus { left: left(&numbers.present) + left(&numbers.spare), last_error }
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        if let Some(mut numbers) = self.0.state() {
            numbers.is_closing = true;
        }
        self.0.announce();
    }
}

/// The thread that fetches blocks.
struct Fetcher<B> {
    shared: Arc<Shared<Numbers>>,
    blocks: B,
    /// How many numbers to ask for. The store decides on the first block.
    step: Option<i64>,
    /// The end of the last block.
    end: u64,
    fetched: Instant,
    /// How many calls in a row have failed.
    failures: u32,
}

impl<B: Blocks> Fetcher<B> {
    fn run(mut self) {
        let shared = Arc::clone(&self.shared);
        loop {
            let is_due = |numbers: &mut Numbers| (numbers.is_fetching || numbers.is_closing).then_some(());
            shared.wait(Duration::MAX, is_due);
            if shared.state().is_none_or(|numbers| numbers.is_closing) {
                return;
            }
            // It is foreign code. If this thread ended silently, calls would be told to retry forever.
            let fetched = match catch_unwind(AssertUnwindSafe(|| self.blocks.take(self.step))) {
                Ok(fetched) => fetched.and_then(|block| Ok((block, checked(block, self.step)?))),
                Err(panic) => {
                    if let Some(mut numbers) = shared.state() {
                        numbers.last_error = Some("the call that fetches a block has panicked".into());
                        (numbers.is_refused, numbers.ended) = (true, Some(NumberKind::Closed));
                    }
                    shared.announce();
                    // Not dropped, because that can also panic.
                    return core::mem::forget(panic);
                }
            };
            self.failures = if fetched.is_ok() { 0 } else { (self.failures + 1).min(8) };
            if let Some(mut numbers) = shared.state() {
                self.note(&mut numbers, fetched);
            }
            shared.announce();
            if self.failures > 0 {
                let pause = (PAUSE * (1 << (self.failures - 1))).min(LONGEST_WAIT);
                shared.wait(pause, |numbers| numbers.is_closing.then_some(()));
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
                (numbers.is_fetching, numbers.is_refused, numbers.last_error) = (false, false, None);
            }
            Err(error) => {
                // The error of an application's own client can be one of any kind, and a retry may mend it.
                numbers.is_refused = error.is::<Refused>();
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
    let wrong = || Refused::new(format!("expected a positive step, and numbers from 0 on, found {block:?}"));
    Ok(numbers.ok_or_else(wrong)?)
}

/// Returns an error with its causes.
fn with_causes(error: &dyn Error) -> String {
    let causes = std::iter::successors(error.source(), |error| (*error).source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
