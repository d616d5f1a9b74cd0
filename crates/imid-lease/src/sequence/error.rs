//! What can go wrong with a sequence.

use core::num::NonZeroU32;
use core::time::Duration;

use super::engine::MAX_BOUND;
use super::record::RecordError;
use crate::RegisterError;

/// A sequence has no number for a conversation, or does not have the section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct SequenceError {
    section: u32,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
enum Kind {
    #[error("section {section} is not held by this process; retry in {retry_ms} ms")]
    NotHeld { section: u32, retry_ms: u32 },
    #[error("section {section} has no numbers below its bound left; retry in {retry_ms} ms")]
    Bound { section: u32, retry_ms: u32 },
    #[error("section {section} has too many sessions in memory and waits for a new epoch; retry in {retry_ms} ms")]
    Full { section: u32, retry_ms: u32 },
    #[error("section {section} has used all numbers below {MAX_BOUND}")]
    Exhausted { section: u32 },
    #[error(
        "the register lost an acknowledged write of section {section}; recover the register, then open the sequence again"
    )]
    Reverted { section: u32 },
    #[error("expected a section below {sections}, found {section}")]
    NoSuchSection { section: u32, sections: u32 },
    #[error("the sequence was opened by the process that this one was forked from; open it again in this process")]
    Forked,
}

impl SequenceError {
    const fn new(section: u32, kind: Kind) -> Self {
        Self { section, kind }
    }

    pub(crate) const fn not_held(section: u32, retry_ms: u32) -> Self {
        Self::new(section, Kind::NotHeld { section, retry_ms })
    }

    pub(crate) const fn bound(section: u32, retry_ms: u32) -> Self {
        Self::new(section, Kind::Bound { section, retry_ms })
    }

    pub(crate) const fn full(section: u32, retry_ms: u32) -> Self {
        Self::new(section, Kind::Full { section, retry_ms })
    }

    pub(crate) const fn exhausted(section: u32) -> Self {
        Self::new(section, Kind::Exhausted { section })
    }

    pub(crate) const fn reverted(section: u32) -> Self {
        Self::new(section, Kind::Reverted { section })
    }

    pub(crate) const fn no_such_section(section: u32, sections: u32) -> Self {
        Self::new(section, Kind::NoSuchSection { section, sections })
    }

    pub(crate) const fn forked(section: u32) -> Self {
        Self::new(section, Kind::Forked)
    }

    /// Returns how long to wait until the same call can succeed. `None` if waiting does not help.
    pub const fn retry_after(self) -> Option<Duration> {
        match self.kind {
            Kind::NotHeld { retry_ms, .. } | Kind::Bound { retry_ms, .. } | Kind::Full { retry_ms, .. } => {
                Some(Duration::from_millis(retry_ms as u64))
            }
            _ => None,
        }
    }

    /// Returns the section that was asked for.
    pub const fn section(self) -> u32 {
        self.section
    }

    /// Returns whether this process does not hold the section. [`Sequence::holder`](super::Sequence::holder) says who
    /// does.
    pub const fn is_not_held(self) -> bool {
        matches!(self.kind, Kind::NotHeld { .. })
    }

    /// Returns whether the register lost an acknowledged write. An operator must recover it.
    pub const fn is_reverted(self) -> bool {
        matches!(self.kind, Kind::Reverted { .. })
    }

    /// Returns whether this process is a forked child of the one that opened the sequence.
    pub const fn is_forked(self) -> bool {
        matches!(self.kind, Kind::Forked)
    }

    /// Returns whether the sequence does not have this section.
    pub const fn is_section(self) -> bool {
        matches!(self.kind, Kind::NoSuchSection { .. })
    }

    /// Returns whether all numbers of the section are used.
    pub const fn is_exhausted(self) -> bool {
        matches!(self.kind, Kind::Exhausted { .. })
    }
}

/// A sequence cannot be opened, or its records cannot be read.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct OpenError(#[from] OpenErrorKind);

#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenErrorKind {
    #[error("expected a {what} of 1 to 64 characters `a-z`, `0-9`, `-`, `_` and `.`, found {found:?}")]
    Name { what: &'static str, found: String },
    #[error("expected {expected}, found {found}")]
    Option { expected: &'static str, found: String },
    #[error("the sequence has {registered} sections in the register, and {given} were asked for")]
    Sections { registered: NonZeroU32, given: NonZeroU32 },
    #[error(
        "the register can lose acknowledged writes ({reason}); a sequence on it needs a floor from the message table"
    )]
    Weak { reason: String },
    #[error("the record {key} cannot be read: {error}")]
    Record { key: String, error: RecordError },
    #[error("the register does not answer: {0}")]
    Register(RegisterError),
    #[error("the system has no random numbers: {0}")]
    Random(getrandom::Error),
    #[error("the keeper's thread cannot be started: {0}")]
    Thread(std::io::Error),
}

impl OpenError {
    pub(crate) fn record(key: &str, error: RecordError) -> Self {
        Self(OpenErrorKind::Record { key: key.to_owned(), error })
    }

    /// Returns whether an option is outside its range, or a name has a wrong character.
    pub const fn is_options(&self) -> bool {
        matches!(self.0, OpenErrorKind::Name { .. } | OpenErrorKind::Option { .. })
    }

    /// Returns whether the register can lose acknowledged writes and no floor was given.
    pub const fn is_weak(&self) -> bool {
        matches!(self.0, OpenErrorKind::Weak { .. })
    }

    /// Returns whether the register is for another count of sections, or for another version of this crate.
    pub const fn is_mismatch(&self) -> bool {
        matches!(self.0, OpenErrorKind::Sections { .. } | OpenErrorKind::Record { .. })
    }

    /// Returns whether the register did not answer. A retry may succeed.
    pub const fn is_register(&self) -> bool {
        matches!(self.0, OpenErrorKind::Register(_))
    }
}

impl From<RegisterError> for OpenError {
    fn from(error: RegisterError) -> Self {
        Self(OpenErrorKind::Register(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_next_names_the_section_and_says_when_to_come_back() {
        for (error, words, retry_ms) in [
            (SequenceError::not_held(3, 2_500), "section 3 is not held by this process; retry in 2500 ms", Some(2_500)),
            (SequenceError::bound(3, 100), "section 3 has no numbers below its bound left; retry in 100 ms", Some(100)),
            (
                SequenceError::full(3, 1),
                "section 3 has too many sessions in memory and waits for a new epoch; retry in 1 ms",
                Some(1),
            ),
            (SequenceError::exhausted(3), "section 3 has used all numbers below 9223372036854775807", None),
            (
                SequenceError::reverted(3),
                "the register lost an acknowledged write of section 3; recover the register, then open the sequence again",
                None,
            ),
            (SequenceError::no_such_section(3, 2), "expected a section below 2, found 3", None),
            (
                SequenceError::forked(3),
                "the sequence was opened by the process that this one was forked from; open it again in this process",
                None,
            ),
        ] {
            assert_eq!(error.to_string(), words);
            assert_eq!((error.section(), error.retry_after()), (3, retry_ms.map(Duration::from_millis)), "{words}");
        }
    }

    #[test]
    fn an_error_of_open_says_what_was_expected() {
        let name = OpenErrorKind::Name { what: "name of a holder", found: "A b".into() };
        let words = "expected a name of a holder of 1 to 64 characters `a-z`, `0-9`, `-`, `_` and `.`, found \"A b\"";
        assert_eq!(OpenError::from(name).to_string(), words);
        let record = OpenError::record("seq/chat/meta", "x".parse::<super::super::record::Meta>().unwrap_err());
        assert!(record.to_string().starts_with("the record seq/chat/meta cannot be read: expected "), "{record}");
        let thread = OpenError::from(OpenErrorKind::Thread(std::io::Error::other("no room")));
        assert_eq!(thread.to_string(), "the keeper's thread cannot be started: no room");
        let random = OpenError::from(OpenErrorKind::Random(getrandom::Error::UNSUPPORTED)).to_string();
        assert!(random.starts_with("the system has no random numbers: "), "{random}");
        let silent = OpenError::from(RegisterError::new("refused"));
        assert_eq!(
            (silent.to_string().as_str(), silent.is_register()),
            ("the register does not answer: refused", true)
        );
    }
}
