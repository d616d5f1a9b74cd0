//! Waits until a lease is open, in an expression: `LeasedGenerator::open(..).and_then(opened)`.

use std::time::Duration;

use imid::clock::Clock;
use imid_lease::{LeasedGenerator, OpenError};

pub(crate) trait Lease {
    fn wait_until_open(&self, timeout: Duration) -> Result<(), OpenError>;
}

impl<C: Clock + Clone + Send + Sync + 'static, const STRIPES: usize> Lease for LeasedGenerator<C, STRIPES> {
    fn wait_until_open(&self, timeout: Duration) -> Result<(), OpenError> {
        self.wait_until_open(timeout)
    }
}

#[cfg(feature = "worker-ids")]
impl<C: Clock + Send + Sync + 'static> Lease for imid_lease::worker_ids::WorkerIds<C> {
    fn wait_until_open(&self, timeout: Duration) -> Result<(), OpenError> {
        self.wait_until_open(timeout)
    }
}

pub(crate) fn opened<L: Lease>(lease: L) -> Result<L, OpenError> {
    opened_within(lease, Duration::from_secs(15))
}

pub(crate) fn opened_within<L: Lease>(lease: L, timeout: Duration) -> Result<L, OpenError> {
    lease.wait_until_open(timeout).map(|()| lease)
}
