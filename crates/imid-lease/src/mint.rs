//! The interface that plain and leased generators share.

use std::time::Duration;

use imid::clock::Clock;
use imid::generator::{Batch, Generator, ObserveError, Stats};
use imid::{MessageId, SessionTag};

use crate::error::{LeaseError, LeaseKind};
use crate::generator::LeasedGenerator;

/// Mints IDs: an [`imid::Generator`] or a [`LeasedGenerator`], for code that takes either.
///
/// The methods do what the inherent methods of the same names do. An error of a plain generator becomes a [`LeaseError`] that
/// contains it as [`generate_error`](LeaseError::generate_error).
///
/// ```
/// use imid::{Generator, MessageId, SessionTag, SessionType};
/// use imid_lease::register::MemoryRegister;
/// use imid_lease::{LaneOptions, LeaseError, LeasedGenerator, Mint};
///
/// fn reply(ids: &dyn Mint, to: MessageId) -> Result<MessageId, LeaseError> {
///     ids.raise_floor(to);
///     ids.generate(to.session_tag())
/// }
///
/// let plain = Generator::new();
/// let first = plain.generate(SessionTag::new(SessionType::GROUP, "room-42"))?;
/// let leased = LeasedGenerator::open(MemoryRegister::new(), LaneOptions::new())?;
/// leased.wait_until_open(std::time::Duration::from_secs(15))?;
/// assert!(first < reply(&plain, first)? && first < reply(&leased, first)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Mint {
    /// Mints the next ID of a session.
    ///
    /// # Errors
    /// As for the generator.
    fn generate(&self, session: SessionTag) -> Result<MessageId, LeaseError>;

    /// Mints a session's next ID, and retries for at most `timeout` while the refusal is temporary.
    ///
    /// # Errors
    /// As for the generator.
    fn generate_within(&self, session: SessionTag, timeout: Duration) -> Result<MessageId, LeaseError>;

    /// Mints an ID of a session that sorts after the room's last one.
    ///
    /// # Errors
    /// As for the generator.
    fn generate_after(&self, last: Option<MessageId>, session: SessionTag) -> Result<MessageId, LeaseError>;

    /// Mints as [`generate_after`](Self::generate_after) does, and retries for at most `timeout` while the refusal is temporary.
    ///
    /// # Errors
    /// As for the generator.
    fn generate_after_within(
        &self,
        last: Option<MessageId>,
        session: SessionTag,
        timeout: Duration,
    ) -> Result<MessageId, LeaseError>;

    /// Takes a run of `n` consecutive IDs of a session, all or nothing.
    ///
    /// # Errors
    /// As for the generator.
    fn batch(&self, session: SessionTag, n: usize) -> Result<Batch, LeaseError>;

    /// Fills a slice with the IDs of one [`batch`](Self::batch), all or nothing.
    ///
    /// # Errors
    /// As for the generator.
    fn fill(&self, session: SessionTag, ids: &mut [MessageId]) -> Result<(), LeaseError>;

    /// Makes every later ID, of every session, sort after an ID from a host that you trust.
    ///
    /// # Errors
    /// As for the generator.
    fn observe(&self, id: MessageId) -> Result<(), ObserveError>;

    /// Does what [`observe`](Self::observe) does, with your own limit.
    ///
    /// # Errors
    /// As for the generator.
    fn observe_limited(&self, id: MessageId, limit: Duration) -> Result<(), ObserveError>;

    /// Makes every later ID, of every session, sort after one that is trusted, however far ahead it is.
    fn raise_floor(&self, id: MessageId);

    /// Returns the longest run that [`batch`](Self::batch) can grant.
    fn longest_run(&self) -> u64;

    /// Returns the state of the generator, for monitoring.
    fn stats(&self) -> Stats;
}

/// Implements [`Mint`] by the methods of the same names.
macro_rules! mint {
    ($($generator:ty: $($bound:path),+;)*) => {
        $(
            impl<C: $($bound +)+, const STRIPES: usize> Mint for $generator {
                #[inline]
                fn generate(&self, session: SessionTag) -> Result<MessageId, LeaseError> {
                    <$generator>::generate(self, session).map_err(LeaseError::from)
                }

                fn generate_within(&self, session: SessionTag, timeout: Duration) -> Result<MessageId, LeaseError> {
                    <$generator>::generate_within(self, session, timeout).map_err(LeaseError::from)
                }

                fn generate_after(
                    &self,
                    last: Option<MessageId>,
                    session: SessionTag,
                ) -> Result<MessageId, LeaseError> {
                    <$generator>::generate_after(self, last, session).map_err(LeaseError::from)
                }

                fn generate_after_within(
                    &self,
                    last: Option<MessageId>,
                    session: SessionTag,
                    timeout: Duration,
                ) -> Result<MessageId, LeaseError> {
                    <$generator>::generate_after_within(self, last, session, timeout).map_err(LeaseError::from)
                }

                fn batch(&self, session: SessionTag, n: usize) -> Result<Batch, LeaseError> {
                    <$generator>::batch(self, session, n).map_err(LeaseError::from)
                }

                fn fill(&self, session: SessionTag, ids: &mut [MessageId]) -> Result<(), LeaseError> {
                    <$generator>::fill(self, session, ids).map_err(LeaseError::from)
                }

                fn observe(&self, id: MessageId) -> Result<(), ObserveError> {
                    <$generator>::observe(self, id)
                }

                fn observe_limited(&self, id: MessageId, limit: Duration) -> Result<(), ObserveError> {
                    <$generator>::observe_limited(self, id, limit)
                }

                fn raise_floor(&self, id: MessageId) {
                    <$generator>::raise_floor(self, id);
                }

                fn longest_run(&self) -> u64 {
                    <$generator>::longest_run(self)
                }

                fn stats(&self) -> Stats {
                    <$generator>::stats(self)
                }
            }
        )*
    };
}

mint! {
    Generator<C, STRIPES>: Clock;
    LeasedGenerator<C, STRIPES>: Clock, Clone, Send, Sync;
}

impl From<imid::generator::GenerateError> for LeaseError {
    fn from(error: imid::generator::GenerateError) -> Self {
        LeaseKind::Generate(error).into()
    }
}
