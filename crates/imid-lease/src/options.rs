//! Settings of a lease.

use std::time::Duration;

use imid::clock::SystemClock;
use imid_lease_protocol::admin::{LANES_LAYOUT, LONGEST_HORIZON};
use imid_lease_protocol::record::{Space, SpaceError};
use thiserror::Error;

use crate::engine::Config;
use crate::record::{Name, RecordError};

/// Settings of a [`LeasedGenerator`](crate::LeasedGenerator). Every process that uses one register has the same space.
///
/// ```
/// use core::time::Duration;
/// use imid_lease::LaneOptions;
///
/// let options = LaneOptions::new().lane_bits(4).horizon(Duration::from_secs(30)).holder("web-3").stripes::<64>();
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct LaneOptions<C = SystemClock, const STRIPES: usize = 1> {
    pub(crate) clock: C,
    pub(crate) settings: Settings,
}

#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) space: String,
    pub(crate) lane_bits: u32,
    pub(crate) holder: Option<String>,
    pub(crate) horizon: Duration,
    pub(crate) max_skew: Duration,
    pub(crate) max_lead: Duration,
    pub(crate) accept_far_lanes: bool,
    pub(crate) create_missing: bool,
    pub(crate) trusted: Option<TrustedClock>,
}

/// A clock to trust where two differ: see [`LaneOptions::trust`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TrustedClock {
    /// This process's. The store's time is shown ([`Status::store_ahead_ms`](crate::Status::store_ahead_ms)) and not used.
    Process,
    /// The store's, until this process's clock agrees with it.
    Store,
}

impl LaneOptions {
    /// Returns the default settings: 64 lanes, a horizon of 10 s, the system clock, and one stripe.
    pub const fn new() -> Self {
        let settings = Settings {
            space: String::new(),
            lane_bits: 6,
            holder: None,
            horizon: Duration::from_secs(10),
            max_skew: Duration::from_secs(5),
            max_lead: Duration::from_secs(1),
            accept_far_lanes: false,
            create_missing: false,
            trusted: None,
        };
        Self { clock: SystemClock, settings }
    }
}

impl Default for LaneOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl<C, const STRIPES: usize> LaneOptions<C, STRIPES> {
    /// Sets the clock. Default: the system's. Clones of it must show the same time.
    pub fn clock<D>(self, clock: D) -> LaneOptions<D, STRIPES> {
        LaneOptions { clock, settings: self.settings }
    }

    /// Sets the number of stripes, as of [`imid::generator::Builder::stripes`]. Default: 1.
    pub fn stripes<const MORE: usize>(self) -> LaneOptions<C, MORE> {
        LaneOptions { clock: self.clock, settings: self.settings }
    }

    /// Sets how many bits of the spin select the lane, from 0 to 12. Default: 6, which is 64 lanes.
    ///
    /// Each process holds one lane. A process that finds no lane cannot mint, so there should be more lanes than
    /// processes, old ones that are being replaced included. Each lane mints 4096 / 2^bits IDs per millisecond and
    /// stripe.
    pub fn lane_bits(mut self, bits: u32) -> Self {
        self.settings.lane_bits = bits;
        self
    }

    /// Sets how far IDs may run ahead of the clock under overload. Default: 1 s.
    pub fn max_lead(mut self, lead: Duration) -> Self {
        self.settings.max_lead = lead;
        self
    }

    /// Accepts a lane that is far ahead of the clock: further than the horizon and [`max_skew`](Self::max_skew) explain.
    /// Then this clock is behind, or another process has minted with a clock that was ahead.
    ///
    /// By default it is an error at the start if all lanes are far ahead ([`OpenError::is_clock`]), and the process waits if other
    /// processes hold those that are not. With this setting it takes the nearest free lane immediately, and its IDs are as far
    /// ahead of the clock as that lane. A free lane that is not far ahead takes precedence.
    ///
    /// [`OpenError::is_clock`]: crate::OpenError::is_clock
    pub fn accept_far_lanes(mut self) -> Self {
        self.settings.accept_far_lanes = true;
        self
    }

    /// Creates the space if the register has none; two processes that do it together create one space. For development: in
    /// production, `imid lane create` or [`admin::create`](crate::admin::create) creates it once, and a register that was emptied or
    /// replaced is then an error ([`OpenError::is_no_space`](crate::OpenError::is_no_space)) rather than mistaken for one in which
    /// nothing was granted. Leases on a [`FileRegister`](crate::register::FileRegister) or a
    /// [`MemoryRegister`](crate::register::MemoryRegister) always create their space.
    pub fn create_missing(mut self) -> Self {
        self.settings.create_missing = true;
        self
    }

    /// Sets the name of the space. Default: `lanes`. Generators of different spaces can mint equal IDs.
    pub fn space(mut self, name: impl Into<String>) -> Self {
        self.settings.space = name.into();
        self
    }

    /// Sets the name under which this process holds its lane. Default: the process ID and a random number. The name has 1 to 64 of the
    /// characters `A-Z`, `a-z`, `0-9`, `-`, `_`, `.` and `:`.
    ///
    /// A process that starts can take a lane of the same name immediately, without waiting for the horizon, so a name that stays the same
    /// across restarts helps after a crash. If two live processes share it, one of them can lose its lane at each start of the other, and
    /// no ID is duplicated.
    pub fn holder(mut self, name: impl Into<String>) -> Self {
        self.settings.holder = Some(name.into());
        self
    }

    /// Sets how far ahead of use the ceiling is written. Default: 10 s, at most 24 h. If the register is unreachable, minting continues
    /// for three quarters of this time.
    ///
    /// It must be greater than [`max_skew`](Self::max_skew) and [`max_lead`](Self::max_lead) together, and at least twice `max_lead`.
    /// There is one write per quarter of it. After a crash, the next IDs can be ahead of the clock by up to this time.
    ///
    /// It is also the timeout: others may take the lane once its record has stayed unchanged for this time, by which its holder can no
    /// longer mint.
    pub fn horizon(mut self, horizon: Duration) -> Self {
        self.settings.horizon = horizon;
        self
    }

    /// Names the clock to trust if this process's and the store's differ by more than [`max_skew`](Self::max_skew) at the start.
    /// By default that is an error ([`OpenError::is_clock`](crate::OpenError::is_clock)) that says by how much, until they agree.
    pub fn trust(mut self, clock: TrustedClock) -> Self {
        self.settings.trusted = Some(clock);
        self
    }

    /// Sets the largest clock error that is tolerated: a step, or a difference from the store's time. Default: 5 s. It is also how far
    /// ahead of the clock an observed ID may be.
    pub fn max_skew(mut self, skew: Duration) -> Self {
        self.settings.max_skew = skew;
        self
    }
}

impl Settings {
    /// Returns the space and the name, if the settings are consistent.
    pub(crate) fn check(&self) -> Result<(Space, Name), OptionsError> {
        let Self { horizon, max_skew, max_lead, .. } = *self;
        // In whole milliseconds, a shorter one would be none.
        let least = max_skew.saturating_add(max_lead).max(Duration::from_millis(1));
        if horizon <= least {
            return Err(OptionsKind::Horizon { least, found: horizon }.into());
        }
        if horizon / 2 < max_lead {
            return Err(OptionsKind::Lead { most: horizon / 2, found: max_lead }.into());
        }
        if horizon > LONGEST_HORIZON {
            return Err(OptionsKind::Long { found: horizon }.into());
        }
        let space = if self.space.is_empty() { "lanes" } else { &self.space };
        let space = Space::new(space, LANES_LAYOUT, self.lane_bits).map_err(OptionsKind::Space)?;
        let name = if let Some(name) = &self.holder {
            name.clone()
        } else {
            let random = getrandom::u64().map_err(|_| OptionsKind::Random)?;
            format!("{}-{random:016x}", std::process::id())
        };
        Ok((space, Name::parse(&name).map_err(OptionsKind::Name)?))
    }

    /// Returns the configuration of a lease's engine.
    pub(crate) fn config(&self, space: Space, name: Name) -> Config {
        Config {
            space,
            name,
            horizon_ms: millis(self.horizon),
            max_skew_ms: millis(self.max_skew),
            any_lead: self.accept_far_lanes,
        }
    }
}

/// What the name of a lease's thread begins with. The holder's follows.
pub(crate) const THREAD: &str = "imid-lease/";

/// Whole milliseconds of a duration.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Settings that contradict each other.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error(transparent)]
pub struct OptionsError(#[from] OptionsKind);

#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub(crate) enum OptionsKind {
    #[error("expected a horizon longer than {least:?} (1 ms, or max_skew and max_lead together), found {found:?}")]
    Horizon { least: Duration, found: Duration },
    #[error("expected a max_lead of at most half the horizon ({most:?}), found {found:?}")]
    Lead { most: Duration, found: Duration },
    #[error("expected a horizon of at most 24 h, found {found:?}")]
    Long { found: Duration },
    #[error(transparent)]
    Space(#[from] SpaceError),
    #[error(transparent)]
    Name(#[from] RecordError),
    #[error("the system has no random numbers")]
    Random,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_do_not_fit_are_named() {
        let refused = |options: LaneOptions| options.settings.check().unwrap_err().to_string();
        let s = Duration::from_secs;
        assert_eq!(
            refused(LaneOptions::new().horizon(s(6))),
            "expected a horizon longer than 6s (1 ms, or max_skew and max_lead together), found 6s"
        );
        let short =
            LaneOptions::new().horizon(Duration::from_micros(500)).max_skew(Duration::ZERO).max_lead(Duration::ZERO);
        assert!(refused(short).starts_with("expected a horizon longer than 1ms"));
        assert_eq!(
            refused(LaneOptions::new().max_skew(s(1)).max_lead(s(6))),
            "expected a max_lead of at most half the horizon (5s), found 6s"
        );
        for options in [LaneOptions::new().max_skew(Duration::MAX), LaneOptions::new().max_lead(Duration::MAX)] {
            assert!(refused(options).starts_with("expected a horizon longer than 18446744073709551615.999999999s"));
        }
        assert_eq!(refused(LaneOptions::new().horizon(s(86_401))), "expected a horizon of at most 24 h, found 86401s");
        assert_eq!(refused(LaneOptions::new().lane_bits(13)), "expected at most 12 lane bits, found 13");
        assert!(refused(LaneOptions::new().holder("a b")).starts_with("expected a name of 1 to 64"));
        assert!(refused(LaneOptions::new().space("a/b")).starts_with("expected a name of 1 to 64"));
        assert!(LaneOptions::new().settings.check().is_ok());
        // At the limits.
        for options in [
            LaneOptions::new().horizon(s(6) + Duration::from_nanos(1)),
            LaneOptions::new().max_skew(s(1)).max_lead(s(5)),
            LaneOptions::new().horizon(s(86_400)),
            LaneOptions::new().lane_bits(12),
        ] {
            assert!(options.settings.check().is_ok(), "{options:?}");
        }
        assert_eq!(OptionsError::from(OptionsKind::Random).to_string(), "the system has no random numbers");
    }
}
