//! Waits until a lease is open, in an expression: `LeasedGenerator::open(..).and_then(opened)`.

use std::time::Duration;

use imid::clock::Clock;
use imid_lease::{LeasedGenerator, OpenError};

pub(crate) fn opened<C, const STRIPES: usize>(
    lease: LeasedGenerator<C, STRIPES>,
) -> Result<LeasedGenerator<C, STRIPES>, OpenError>
where
    C: Clock + Clone + Send + Sync + 'static,
{
    opened_within(lease, Duration::from_secs(15))
}

pub(crate) fn opened_within<C, const STRIPES: usize>(
    lease: LeasedGenerator<C, STRIPES>,
    timeout: Duration,
) -> Result<LeasedGenerator<C, STRIPES>, OpenError>
where
    C: Clock + Clone + Send + Sync + 'static,
{
    lease.wait_until_open(timeout).map(|()| lease)
}
