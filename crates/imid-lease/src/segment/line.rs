//! Blocks of a line of numbers in a register.

use super::{Block, BlockError, refused};
use crate::options::{OptionsError, OptionsKind};
use crate::record::{LineRecord, Name, Token};
use crate::{Promise, Register};

const MAX_STEP: u32 = 1_000_000_000;

/// Returns what fetches the blocks of the line of this name.
pub(super) fn blocks<R: Register>(
    mut register: R,
    name: &str,
    step: u32,
) -> Result<impl FnMut(Option<i64>) -> Result<Block, BlockError> + use<R>, OptionsError> {
    let name = Name::parse(name).map_err(OptionsKind::Name)?;
    if !(1..=MAX_STEP).contains(&step) {
        return Err(OptionsKind::Step { found: step }.into());
    }
    let key = LineRecord::key(&name);
    Ok(move |length: Option<i64>| {
        loop {
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
    })
}
