//! A named line of numbers, taken from a store in blocks: Leaf-segment.
//!
//! Two blocks are in memory. The next one is fetched when a tenth of the present one is used, so a store that is gone
//! for a while is not noticed as long as the block lasts. The step, which is the length of a block, follows the rate:
//! it doubles when a block lasted less than 15 minutes, and halves when it lasted more than 30. These are the rules of
//! Meituan's Leaf, and [`leaf`] works on Leaf's own table.
//!
//! # What is promised
//! **Never repeats**: each block is granted once by the store. **Grows** in one process. Across processes the numbers
//! only grow roughly, since each process uses up its own blocks. **Has gaps**: a process that ends loses the rest of
//! its two blocks, and an answer that is lost loses a block.
//!
//! The [crate's table](crate#what-is-promised) says what each fault does. The settings of a database whose client is the
//! application's own are not checked: its commits must be durable.

mod blocks;
mod error;
pub mod leaf;
mod step;

use core::ops::ControlFlow;
use core::time::Duration;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use self::blocks::refused;
pub use self::blocks::{Block, BlockError, Blocks, RegisterBlocks};
use self::error::{Kind, OpenKind};
pub use self::error::{OpenError, SegmentError};
use self::step::next_step;
use crate::RegisterError;
use crate::background::{Background, Owner};
use crate::backoff::{self, Backoff};
use crate::changes::{retry_within, within};
use crate::sync::lock;

/// How long a call waits that finds no number.
const PAUSE: Duration = Duration::from_millis(backoff::FIRST_MS);

/// A named line of numbers with two blocks in memory.
///
/// [`open`](Self::open), [`next`](Self::next), [`status`](Self::status) and drops do not block: a thread fetches the
/// blocks. [`wait_until_open`](Self::wait_until_open) blocks for at most the given time; an async task calls
/// [`wait_until_open_async`](Self::wait_until_open_async) and [`next_async`](Self::next_async).
///
/// ```no_run
/// use std::time::Duration;
///
/// use imid_lease::register::FileRegister;
/// use imid_lease::segment::{RegisterBlocks, Segment};
///
/// let register = FileRegister::owned("/var/lib/shop/register")?;
/// let orders = Segment::open(RegisterBlocks::try_new(register, "orders", 1_000)?)?;
/// orders.wait_until_open(Duration::from_secs(15))?;
/// let order = orders.next()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Segment {
    shared: Arc<Mutex<Numbers>>,
    background: Background,
}

/// The present block and the next one.
#[derive(Debug, Default)]
struct Numbers {
    next: u64,
    end: u64,
    /// The first number at which the next block is fetched.
    fetch_at: u64,
    spare: Option<Block>,
    /// The keeper is fetching.
    is_fetching: bool,
    blocks: u64,
    /// The store has lost a block that it granted.
    reverted: bool,
    last_error: Option<String>,
    /// The last error is one that a retry does not mend.
    is_refused: bool,
}

impl Numbers {
    /// Uses a block from its first number on.
    fn start(&mut self, block: Block) {
        self.next = block.end - block.length;
        self.end = block.end;
        self.fetch_at = self.next + block.length.div_ceil(10).min(block.length);
    }

    #[inline]
    fn mint(&mut self) -> Option<u64> {
        if self.next == self.end {
            let spare = self.spare.take()?;
            self.start(spare);
        }
        self.next += 1;
        Some(self.next - 1)
    }

    /// Returns whether the keeper must be woken.
    #[inline]
    fn wants_block(&mut self) -> bool {
        if self.next < self.fetch_at || self.spare.is_some() || self.is_fetching || self.reverted {
            return false;
        }
        self.is_fetching = true;
        true
    }
}

impl Segment {
    /// Opens a line of numbers. It returns at once: a thread fetches the first block, and the others later. Until then
    /// each call of [`next`](Self::next) is an error with [`retry_after`](SegmentError::retry_after).
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn open(blocks: impl Blocks + 'static) -> Result<Self, OpenError> {
        let numbers = Numbers { is_fetching: true, ..Numbers::default() };
        let shared = Arc::new(Mutex::new(numbers));
        let keeper = Keeper {
            blocks,
            shared: Arc::clone(&shared),
            step: None,
            end: 0,
            fetched: Instant::now(),
            backoff: Backoff::default(),
        };
        let background = Background::start("imid-segment", move |owner| keeper.run(owner)).map_err(OpenKind::Thread)?;
        Ok(Self { shared, background })
    }

    /// Waits until there are numbers, for at most this time.
    ///
    /// # Errors
    /// The store does not answer in this time. At once: it refuses this process for good, as with a wrong password, or
    /// because it can lose acknowledged writes. The thread tries again in either case.
    pub fn wait_until_open(&self, timeout: Duration) -> Result<(), OpenError> {
        self.background.changes().wait(self.until_open(timeout))
    }

    /// Does what [`wait_until_open`](Self::wait_until_open) does in a task of any async runtime. Dropping the future loses
    /// nothing: the thread goes on.
    ///
    /// # Errors
    /// As for [`wait_until_open`](Self::wait_until_open).
    pub async fn wait_until_open_async(&self, timeout: Duration) -> Result<(), OpenError> {
        self.background.changes().wait_async(self.until_open(timeout)).await
    }

    /// Returns a look that breaks when there are numbers, when the store refuses this process, or after this time.
    fn until_open(&self, timeout: Duration) -> impl FnMut() -> ControlFlow<Result<(), OpenError>, Instant> {
        let mut until_known = within(timeout, || {
            if self.is_forked() {
                return Some(Err(Kind::Forked.to_string()));
            }
            let numbers = lock(&self.shared);
            let refused = || numbers.last_error.clone().filter(|_| numbers.is_refused).map(Err);
            if numbers.blocks > 0 { Some(Ok(())) } else { refused() }
        });
        move || {
            until_known().map_break(|known| {
                let known = known.unwrap_or_else(|| {
                    let cause = lock(&self.shared).last_error.clone();
                    Err(cause.unwrap_or_else(|| format!("no answer in {} ms", timeout.as_millis())))
                });
                known.map_err(|cause| OpenKind::Store(cause).into())
            })
        }
    }

    /// Returns the next number.
    ///
    /// **Never blocks on the network**: it takes the number from memory.
    ///
    /// # Errors
    /// Both blocks are used and the store has not answered yet, or has lost a block that it granted; or this process is
    /// a forked child of the one that opened the segment.
    #[inline]
    pub fn next(&self) -> Result<u64, SegmentError> {
        // Before the lock: in a forked child another thread may have held it for ever.
        if self.is_forked() {
            return Err(Kind::Forked.into());
        }
        let mut numbers = lock(&self.shared);
        let number = numbers.mint();
        let wants_block = numbers.wants_block();
        let kind = if numbers.reverted { Kind::Reverted } else { Kind::Used };
        drop(numbers);
        if wants_block {
            self.background.wake();
        }
        number.ok_or(kind.into())
    }

    /// Returns the next number in a task of any async runtime. While the store has not answered, the task sleeps and tries
    /// again, for at most `timeout` in all. Dropping the future takes no number.
    ///
    /// # Errors
    /// As for [`next`](Self::next). If the wait is longer than the rest of `timeout`, the error comes at once.
    pub async fn next_async(&self, timeout: Duration) -> Result<u64, SegmentError> {
        self.background.changes().wait_async(retry_within(timeout, || self.next(), SegmentError::retry_after)).await
    }

    /// Returns the state, for operators. In a forked child the segment has no numbers.
    pub fn status(&self) -> SegmentStatus {
        if self.is_forked() {
            return SegmentStatus { left: 0, blocks: 0, last_error: None };
        }
        let numbers = lock(&self.shared);
        let spare = numbers.spare.map_or(0, |spare| spare.length);
        let last_error = numbers.last_error.clone();
        SegmentStatus { left: numbers.end - numbers.next + spare, blocks: numbers.blocks, last_error }
    }
}

impl Segment {
    /// Returns whether this process is a forked child of the one that opened the segment. A lock that another thread
    /// held at the fork is never released in it.
    fn is_forked(&self) -> bool {
        self.background.is_forked()
    }
}

/// The thread that fetches blocks.
struct Keeper<B> {
    blocks: B,
    shared: Arc<Mutex<Numbers>>,
    /// How many numbers to ask for. The store decides on the first block.
    step: Option<u64>,
    /// The end of the last block.
    end: u64,
    fetched: Instant,
    backoff: Backoff,
}

impl<B: Blocks> Keeper<B> {
    fn run(mut self, owner: &Owner) {
        while !owner.is_closing() {
            if !lock(&self.shared).is_fetching {
                owner.sleep(Duration::MAX);
            } else if !self.fetch(owner) {
                owner.sleep(Duration::from_millis(self.backoff.wait_ms()));
            }
        }
    }

    /// Fetches the next block. Returns whether the store answered.
    fn fetch(&mut self, owner: &Owner) -> bool {
        let fetched = self.blocks.fetch(self.step).and_then(checked);
        self.backoff.note(fetched.is_ok());
        let mut numbers = lock(&self.shared);
        let is_answered = fetched.is_ok();
        match fetched {
            Ok(block) if block.end - block.length < self.end => {
                let first = block.end - block.length;
                numbers.last_error = Some(format!("expected a block from {} on, found one from {first} on", self.end));
                numbers.reverted = true;
                numbers.is_fetching = false;
            }
            Ok(block) => {
                self.end = block.end;
                let lasted = self.fetched.elapsed();
                self.fetched = Instant::now();
                self.step = Some(self.step.map_or(block.length, |step| next_step(step, block.min_step, lasted)));
                if numbers.blocks == 0 {
                    numbers.start(block);
                } else {
                    numbers.spare = Some(block);
                }
                numbers.is_fetching = false;
                numbers.blocks += 1;
                numbers.last_error = None;
            }
            Err(error) => {
                // The error of an application's own client can be one of any kind, and a retry may mend it.
                numbers.is_refused = error.downcast_ref().is_some_and(RegisterError::is_final);
                numbers.last_error = Some(error.to_string());
            }
        }
        drop(numbers);
        owner.announce();
        is_answered
    }
}

/// Checks a block from a store.
fn checked(block: Block) -> Result<Block, BlockError> {
    if block.length == 0 || block.length > block.end || block.end > i64::MAX as u64 {
        let Block { end, length, .. } = block;
        return Err(refused(format!("expected a block of 1 to {end} numbers that ends below 2^63, found {length}")));
    }
    Ok(block)
}

/// The state of a [`Segment`], for operators.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SegmentStatus {
    /// How many numbers are in memory.
    pub left: u64,
    /// How many blocks were fetched.
    pub blocks: u64,
    /// The error of the store's last call, if it failed.
    pub last_error: Option<String>,
}
