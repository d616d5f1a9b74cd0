//! Where blocks come from.

use core::error::Error;

use super::error::{OpenError, OpenKind};
use crate::record::{LineRecord, Name, Token};
use crate::{Promise, Register, RegisterError};

/// Why a store has no block.
///
/// A [`RegisterError`] that [is final](RegisterError::is_final) ends [`wait_until_open`](super::Segment::wait_until_open) at once.
pub type BlockError = Box<dyn Error + Send + Sync>;

/// Returns the error of an answer that stays the same until somebody changes the store.
pub(super) fn refused(what: impl Into<String>) -> BlockError {
    RegisterError::new(what).finally().into()
}

/// A block of numbers that the store has granted: `end - length` to `end - 1`. Every implementation of [`Blocks`] makes
/// it, so it gets no more fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// The first number after the block.
    pub end: u64,
    /// How many numbers the block has.
    pub length: u64,
    /// The step that the store asks for. The step of a segment does not fall below it.
    pub min_step: u64,
}

/// A store that grants blocks of one line of numbers, each number once.
pub trait Blocks: Send {
    /// Returns the next block, of `step` numbers. Without a step the store decides on the length.
    ///
    /// # Errors
    /// The store does not answer. It may have granted a block all the same, which is then skipped.
    fn fetch(&mut self, step: Option<u64>) -> Result<Block, BlockError>;
}

impl<B: Blocks + ?Sized> Blocks for Box<B> {
    fn fetch(&mut self, step: Option<u64>) -> Result<Block, BlockError> {
        (**self).fetch(step)
    }
}

/// Blocks from a register.
#[derive(Debug)]
pub struct RegisterBlocks<R> {
    register: R,
    key: String,
    step: u64,
}

impl<R: Register> RegisterBlocks<R> {
    /// Uses the line of numbers of this name, with this least step. The first number of a new line is 1. The name is a
    /// [`Name`].
    ///
    /// # Errors
    /// The name has other characters or another length, or the step is not 1 to 10⁹.
    pub fn try_new(register: R, name: &str, step: u64) -> Result<Self, OpenError> {
        let name = Name::parse(name).map_err(OpenKind::Name)?;
        if !(1..=1_000_000_000).contains(&step) {
            return Err(OpenKind::Step { found: step }.into());
        }
        Ok(Self { register, key: format!("seg/{name}"), step })
    }
}

impl<R: Register> Blocks for RegisterBlocks<R> {
    fn fetch(&mut self, step: Option<u64>) -> Result<Block, BlockError> {
        let length = step.unwrap_or(self.step);
        loop {
            let seen = self.register.read(&self.key)?;
            if let Promise::Weak(reason) = self.register.promise() {
                return Err(refused(format!("the register can lose acknowledged writes: {reason}")));
            }
            let first = match &seen {
                Some(text) => LineRecord::parse(text).map_err(|error| refused(error.to_string()))?.next,
                None => 1,
            };
            let end = first.checked_add(length).filter(|end| i64::try_from(*end).is_ok());
            let end = end.ok_or_else(|| refused("the line has used all numbers below 2^63"))?;
            let record = LineRecord { next: end, token: Token(crate::random::bits()? as u64) };
            // Another process was faster if this fails, so the line always makes progress.
            if self.register.compare_and_set(&self.key, seen.as_deref(), &record.to_string())? {
                return Ok(Block { end, length, min_step: self.step });
            }
        }
    }
}
