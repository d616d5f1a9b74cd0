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
//! | fault | effect |
//! | --- | --- |
//! | the store is gone | numbers go on until both blocks are used, then [`SegmentError`] with `retry_after` |
//! | an answer is lost | the block is skipped: a gap |
//! | the process is killed | the rest of both blocks is skipped |
//! | the process is paused or its clock is wrong | none; the step may adapt to a wrong duration |
//! | the process forks | the child gets [`SegmentError::is_forked`] |
//! | the store goes back (restored, or it lost an update) | a process notices when it gets a block that is below its last one: it uses up its blocks and stops. **Numbers of other processes can repeat** |
//! | the register is weak | refused. The settings of a database with Leaf's table are not checked: commits must be durable |

mod blocks;
mod error;
pub mod leaf;
mod step;

use core::time::Duration;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::{JoinHandle, Thread};
use std::time::Instant;

use imid::fork::Process;

pub use self::blocks::{Block, BlockError, Blocks, RegisterBlocks};
use self::error::{Kind, OpenKind};
pub use self::error::{OpenError, SegmentError};
use self::step::next_step;
use crate::sync::lock;

/// How long the keeper waits after a store did not answer.
const PAUSE: Duration = Duration::from_millis(100);

/// A named line of numbers with two blocks in memory.
///
/// ```no_run
/// use imid_lease::register::FileRegister;
/// use imid_lease::segment::{RegisterBlocks, Segment};
///
/// let register = FileRegister::owned("/var/lib/shop/register")?;
/// let orders = Segment::open(RegisterBlocks::try_new(register, "orders", 1_000)?)?;
/// let order = orders.next()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Segment {
    shared: Arc<Shared>,
    process: Process,
    keeper: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    numbers: Mutex<Numbers>,
    closing: AtomicBool,
    thread: OnceLock<Thread>,
}

/// The present block and the next one.
#[derive(Debug)]
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
    /// Fetches the first block, and starts the thread that fetches the others.
    ///
    /// # Errors
    /// The store does not answer, or the register can lose acknowledged writes.
    pub fn open(mut blocks: impl Blocks + 'static) -> Result<Self, OpenError> {
        let block = checked(blocks.fetch(None)).map_err(OpenKind::Store)?;
        let (spare, last_error) = (None, None);
        let mut numbers =
            Numbers { next: 0, end: 0, fetch_at: 0, spare, is_fetching: false, blocks: 1, reverted: false, last_error };
        numbers.start(block);
        let process = Process::current();
        let shared = Shared { numbers: Mutex::new(numbers), closing: AtomicBool::new(false), thread: OnceLock::new() };
        let shared = Arc::new(shared);
        let keeper =
            Keeper { blocks, shared: shared.clone(), step: block.length, end: block.end, fetched: Instant::now() };
        let thread = std::thread::Builder::new().name("imid-segment".to_owned());
        let keeper = thread.spawn(move || keeper.run()).map_err(OpenKind::Thread)?;
        Ok(Self { shared, process, keeper: Some(keeper) })
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
        let mut numbers = lock(&self.shared.numbers);
        let number = numbers.mint();
        let wants_block = numbers.wants_block();
        let kind = if numbers.reverted { Kind::Reverted } else { Kind::Used };
        drop(numbers);
        if wants_block {
            self.shared.wake();
        }
        number.ok_or(kind.into())
    }

    /// Returns the state, for operators. In a forked child the segment has no numbers.
    pub fn status(&self) -> SegmentStatus {
        if self.is_forked() {
            return SegmentStatus { left: 0, blocks: 0, last_error: None };
        }
        let numbers = lock(&self.shared.numbers);
        let spare = numbers.spare.map_or(0, |spare| spare.length);
        let last_error = numbers.last_error.clone();
        SegmentStatus { left: numbers.end - numbers.next + spare, blocks: numbers.blocks, last_error }
    }
}

impl Segment {
    /// Returns whether this process is a forked child of the one that opened the segment. A lock that another thread
    /// held at the fork is never released in it.
    fn is_forked(&self) -> bool {
        !self.process.is_current()
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        let keeper = self.keeper.take();
        if self.is_forked() {
            // The thread is not in this process, so it cannot be joined, and the handle must not be dropped.
            std::mem::forget(keeper);
        } else if let Some(keeper) = keeper {
            self.shared.closing.store(true, Ordering::Release);
            self.shared.wake();
            let _ = keeper.join();
        }
    }
}

impl Shared {
    fn wake(&self) {
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }
}

/// The thread that fetches blocks.
struct Keeper<B> {
    blocks: B,
    shared: Arc<Shared>,
    step: u64,
    /// The end of the last block.
    end: u64,
    fetched: Instant,
}

impl<B: Blocks> Keeper<B> {
    fn run(mut self) {
        let _ = self.shared.thread.set(std::thread::current());
        while !self.shared.closing.load(Ordering::Acquire) {
            if !lock(&self.shared.numbers).is_fetching {
                std::thread::park();
            } else if !self.fetch() {
                std::thread::park_timeout(PAUSE);
            }
        }
    }

    /// Fetches the next block. Returns whether the store answered.
    fn fetch(&mut self) -> bool {
        let fetched = checked(self.blocks.fetch(Some(self.step)));
        let mut numbers = lock(&self.shared.numbers);
        match fetched {
            Ok(block) if block.end - block.length < self.end => {
                let first = block.end - block.length;
                numbers.last_error = Some(format!("expected a block from {} on, found one from {first} on", self.end));
                numbers.reverted = true;
                numbers.is_fetching = false;
                true
            }
            Ok(block) => {
                self.end = block.end;
                let lasted = self.fetched.elapsed();
                self.fetched = Instant::now();
                self.step = next_step(self.step, block.min_step, lasted);
                numbers.spare = Some(block);
                numbers.is_fetching = false;
                numbers.blocks += 1;
                numbers.last_error = None;
                true
            }
            Err(error) => {
                numbers.last_error = Some(error.to_string());
                false
            }
        }
    }
}

/// Checks a block from a store.
fn checked(block: Result<Block, BlockError>) -> Result<Block, BlockError> {
    let block = block?;
    if block.length == 0 || block.length > block.end || block.end > i64::MAX as u64 {
        let Block { end, length, .. } = block;
        return Err(format!("expected a block of 1 to {end} numbers that ends below 2^63, found {length}").into());
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
