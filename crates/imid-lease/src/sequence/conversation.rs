//! What a number belongs to, and the number.

use core::fmt;

use super::numbers::Minted;

/// A conversation of one [`Sequence`](super::Sequence): its section and its key in memory.
///
/// Keys differ in each process, so a conversation cannot be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Conversation {
    section: u32,
    key: u64,
}

impl Conversation {
    /// `key` is a hash.
    pub(crate) const fn new(section: u32, key: u64) -> Self {
        Self { section, key }
    }

    /// Returns the section that the conversation belongs to.
    #[inline]
    pub const fn section(self) -> u32 {
        self.section
    }

    #[inline]
    pub(crate) const fn key(self) -> u64 {
        self.key
    }
}

/// A number of a conversation, with the epoch of the owner that minted it.
///
/// Store both with the message. The store must refuse an epoch that is lower than the last one of the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Number {
    // First, so that numbers are ordered as a store accepts them.
    epoch: u64,
    value: u64,
    start: u64,
}

impl Number {
    #[inline]
    pub(crate) const fn new(minted: &Minted) -> Self {
        Self { epoch: minted.epoch, value: minted.value, start: minted.start }
    }

    /// Returns the number: at least 1, below 2⁶³.
    #[inline]
    pub const fn value(self) -> u64 {
        self.value
    }

    /// Returns the epoch of the section's owner: at least 1. It grows with each owner.
    #[inline]
    pub const fn epoch(self) -> u64 {
        self.epoch
    }

    /// Returns whether this is the conversation's first number in its epoch. Then the numbers just below it were skipped,
    /// unless the conversation is new.
    #[inline]
    pub const fn is_first_of_epoch(self) -> bool {
        self.value == self.start
    }
}

/// Formats the number without its epoch.
impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.value, f)
    }
}
