//! The range that a number must be in.

use core::ops::RangeInclusive;

use thiserror::Error;

/// The name and the unit of a number, for a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Quantity {
    name: &'static str,
    unit: &'static str,
}

/// A number is outside of the range that it must be in.
// The words are behind a reference, so that the errors that contain this one are small.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("expected {} of {min} to {max}{}, found {found}", .of.name, .of.unit)]
pub(crate) struct OutOfBounds {
    of: &'static Quantity,
    min: u64,
    max: u64,
    found: u64,
}

impl Quantity {
    /// Returns a quantity. `name` includes the article. `unit` begins with a space or is empty.
    pub(crate) const fn new(name: &'static str, unit: &'static str) -> Self {
        Self { name, unit }
    }

    /// Returns an error if a number is outside of a range.
    pub(crate) const fn check(&'static self, found: u64, range: RangeInclusive<u64>) -> Result<(), OutOfBounds> {
        let (min, max) = (*range.start(), *range.end());
        if min <= found && found <= max { Ok(()) } else { Err(OutOfBounds { of: self, min, max, found }) }
    }
}

/// Returns an error for the first number that is outside of its range.
pub(crate) const fn check_all(numbers: &[(&'static Quantity, u64, RangeInclusive<u64>)]) -> Result<(), OutOfBounds> {
    let mut at = 0;
    while at < numbers.len() {
        let (of, found, range) = &numbers[at];
        if let Err(error) = of.check(*found, *range.start()..=*range.end()) {
            return Err(error);
        }
        at += 1;
    }
    Ok(())
}
