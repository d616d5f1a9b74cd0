//! What mints in a worker: a lease, or one of its rivals.

use std::env;
use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use imid::clock::{Clock, ClockError, SystemClock};
use imid::{MessageId, SessionTag};
use imid_lease::LeasedGenerator;

/// How long a lane stays with a holder that is not heard of. In the lease scheme this is also the horizon.
pub(crate) const TIME_OUT: Duration = Duration::from_secs(2);

/// Number of bits of the lanes: 16 lanes, unless `IMID_SOAK_LANE_BITS` says otherwise.
pub(crate) fn lane_bits() -> u32 {
    env::var("IMID_SOAK_LANE_BITS").ok().and_then(|bits| bits.parse().ok()).unwrap_or(4)
}

/// The system's clock with an offset in milliseconds, which commands set.
#[derive(Clone)]
pub(crate) struct TestClock(pub(crate) Arc<AtomicI64>);

impl Clock for TestClock {
    fn now_ms(&self) -> Result<u64, ClockError> {
        let offset = self.0.load(Ordering::Relaxed);
        SystemClock.now_ms().map(|now| now.saturating_add_signed(offset))
    }
}

/// Why there is no ID.
pub(crate) enum NoId {
    /// The limit of the rate: wait this long.
    Busy(Duration),
    /// There is no lane, or the lease has run out: wait this long.
    Refused(Duration),
    /// This minter has ended.
    Ended,
}

/// Something that mints until it cannot.
pub(crate) trait Minter {
    /// Returns an ID, or why there is none.
    fn mint(&self, session: SessionTag) -> Result<MessageId, NoId>;

    /// Gives back what it holds, before its process ends.
    fn give_back(&self) {}
}

impl Minter for LeasedGenerator<TestClock> {
    fn mint(&self, session: SessionTag) -> Result<MessageId, NoId> {
        self.generate(session).map_err(|error| match error.retry_after() {
            Some(wait) if error.is_no_lane() || error.is_register() => NoId::Refused(wait),
            Some(wait) => NoId::Busy(wait),
            None => {
                if !error.is_forked() {
                    eprintln!("worker: {error}");
                }
                NoId::Ended
            }
        })
    }

    fn give_back(&self) {
        self.close();
    }
}

/// Why there is no minter.
pub(crate) enum Refused {
    NoLane,
    Other(String),
}

impl<E: Display> From<E> for Refused {
    fn from(error: E) -> Self {
        Self::Other(error.to_string())
    }
}
