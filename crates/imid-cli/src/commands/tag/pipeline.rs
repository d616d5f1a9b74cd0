//! Reads and parses blocks on several threads, and returns them in the order of the input.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::{io, thread};

use super::batch::Batch;
use crate::report::Stop;

/// A source of blocks.
pub(super) trait Source: Send + 'static {
    /// Reads one block. Returns `false` at the end of the input.
    fn read(&mut self, block: &mut Block) -> Result<bool, Stop>;
}

/// A block and what a thread made of it. Blocks are used again, so that memory is allocated only once.
#[derive(Default)]
pub(super) struct Block {
    /// The lines of the block, for the work that is done in parallel. They are a range of the buffer.
    pub(super) buffer: Vec<u8>,
    pub(super) lines: Range<usize>,
    pub(super) batch: Batch,
}

/// Number of blocks for each thread. While one is written, the next ones are read.
const BLOCKS_PER_THREAD: usize = 3;

/// The blocks of an input, in order.
pub(super) struct Pipeline {
    /// Blocks that were written, and can be used again.
    free: Sender<Block>,
    done: Receiver<(u64, Result<Option<Block>, Stop>)>,
    /// Blocks that came before their turn.
    early: BTreeMap<u64, Result<Option<Block>, Stop>>,
    next: u64,
}

struct Shared<S> {
    source: S,
    free: Receiver<Block>,
    next: u64,
    has_ended: bool,
}

impl Pipeline {
    /// Starts threads that read blocks one after another and work on them at the same time.
    ///
    /// The threads are not joined, because a thread that waits for input cannot be stopped. They end with the process.
    pub(super) fn start<S: Source>(
        threads: usize,
        source: S,
        work: impl Fn(&mut Block) -> Result<(), Stop> + Send + Sync + 'static,
    ) -> Result<Self, Stop> {
        let (free, free_blocks) = mpsc::channel();
        let (done_blocks, done) = mpsc::channel();
        for _ in 0..threads * BLOCKS_PER_THREAD {
            // The receiver exists.
            let _ = free.send(Block::default());
        }
        let shared = Arc::new(Mutex::new(Shared { source, free: free_blocks, next: 0, has_ended: false }));
        let work = Arc::new(work);
        let mut started = Err(io::ErrorKind::InvalidInput.into());
        for _ in 0..threads {
            let (shared, work, done) = (Arc::clone(&shared), Arc::clone(&work), done_blocks.clone());
            let thread = thread::Builder::new().spawn(move || run(&shared, &*work, &done));
            // One thread is enough.
            started = started.or(thread);
        }
        started.map_err(|error| Stop::Error(format!("cannot start a thread: {error}")))?;
        Ok(Self { free, done, early: BTreeMap::new(), next: 0 })
    }

    /// Returns the next block, or `None` at the end of the input.
    pub(super) fn next(&mut self) -> Result<Option<Block>, Stop> {
        loop {
            if let Some(block) = self.early.remove(&self.next) {
                self.next += 1;
                return block;
            }
            // The threads end without a block only if one of them panics, which prints a message.
            let stopped = |_| Stop::Error("a thread of the tool ended early".into());
            let (number, block) = self.done.recv().map_err(stopped)?;
            self.early.insert(number, block);
        }
    }

    /// Returns a block that is not needed anymore.
    pub(super) fn recycle(&self, block: Block) {
        // If all threads have ended, the block is dropped.
        let _ = self.free.send(block);
    }
}

/// Reads and works on blocks until the end of the input.
fn run<S: Source>(
    shared: &Mutex<Shared<S>>,
    work: &impl Fn(&mut Block) -> Result<(), Stop>,
    done: &Sender<(u64, Result<Option<Block>, Stop>)>,
) {
    loop {
        let (number, read) = {
            let Ok(mut shared) = shared.lock() else { return };
            if shared.has_ended {
                return;
            }
            // The other end is closed when the run ends.
            let Ok(mut block) = shared.free.recv() else { return };
            block.batch.clear();
            let read = match shared.source.read(&mut block) {
                Ok(true) => Ok(Some(block)),
                Ok(false) => Ok(None),
                Err(stop) => Err(stop),
            };
            shared.has_ended = !matches!(read, Ok(Some(_)));
            let number = shared.next;
            shared.next += 1;
            (number, read)
        };
        let worked = read.and_then(|block| match block {
            Some(mut block) => work(&mut block).map(|()| Some(block)),
            None => Ok(None),
        });
        if done.send((number, worked)).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Blocks with the numbers from 1 on.
    struct Numbers(u64);

    impl Source for Numbers {
        fn read(&mut self, block: &mut Block) -> Result<bool, Stop> {
            self.0 += 1;
            block.batch.lines = self.0;
            Ok(self.0 <= 100)
        }
    }

    #[test]
    fn blocks_come_in_order_for_any_number_of_threads() {
        for threads in [1, 2, 7] {
            // Some blocks take longer than those after them.
            let work = |block: &mut Block| {
                thread::sleep(Duration::from_micros(block.batch.lines * 7 % 10 * 100));
                Ok(())
            };
            let mut pipeline = Pipeline::start(threads, Numbers(0), work).ok().unwrap();
            let mut numbers = Vec::new();
            while let Ok(Some(block)) = pipeline.next() {
                numbers.push(block.batch.lines);
                pipeline.recycle(block);
            }
            assert!(numbers.into_iter().eq(1..=100), "{threads} threads");
        }
    }
}
