//! How a sequence is opened.

use core::error::Error;
use core::fmt;
use core::num::NonZeroU32;
use core::time::Duration;

use super::engine::{Config, LastStored};
use super::error::{OpenError, OpenErrorKind};

/// Most sections of a sequence.
const MOST_SECTIONS: u32 = 65_536;

/// A function that looks into the message table.
pub(crate) type Floor = Box<dyn FnMut(u32) -> Result<LastStored, Box<dyn Error + Send + Sync>> + Send>;

/// The options of a [`Sequence`](super::Sequence).
#[must_use]
pub struct SequenceOptions {
    pub(crate) name: String,
    pub(crate) sections: NonZeroU32,
    pub(crate) holder: Option<String>,
    pub(crate) time_out: Duration,
    pub(crate) horizon: Duration,
    pub(crate) step: u64,
    pub(crate) max_step: u64,
    pub(crate) sessions_per_section: usize,
    pub(crate) claim: Vec<u32>,
    pub(crate) claim_all: bool,
    pub(crate) floor: Option<Floor>,
}

impl SequenceOptions {
    /// Returns the default options for the sequence of this name. The name is 1 to 64 of the characters `a-z`, `0-9`,
    /// `-`, `_` and `.`.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            sections: const { NonZeroU32::new(64).expect("64 is not zero") },
            holder: None,
            time_out: Duration::from_secs(10),
            horizon: Duration::from_secs(10),
            step: 10_000,
            max_step: 10_000_000,
            sessions_per_section: 1 << 22,
            claim: Vec::new(),
            claim_all: true,
            floor: None,
        }
    }

    /// Sets how many sections share the sessions (64 by default, at most 65,536).
    ///
    /// All processes must use the same count, and it cannot change later: with another count a session would move to
    /// another section, where its numbers could repeat. So the register keeps the count, and [`Sequence::open`] refuses
    /// another one.
    ///
    /// [`Sequence::open`]: super::Sequence::open
    pub const fn sections(mut self, sections: NonZeroU32) -> Self {
        self.sections = sections;
        self
    }

    /// Sets the name under which this process holds its sections: 1 to 64 of the characters `a-z`, `0-9`, `-`, `_` and
    /// `.`, such as `chat-3`. By default the name is random. Processes that run at the same time need different names.
    ///
    /// A restarted process takes the sections that its name held at once, without waiting for the time-out. Operators
    /// see the name in the register.
    pub fn holder(mut self, name: impl Into<String>) -> Self {
        self.holder = Some(name.into());
        self
    }

    /// Takes only these sections, and more with [`Sequence::claim`](super::Sequence::claim). By default a process takes
    /// each section that is free.
    pub fn claim(mut self, sections: impl IntoIterator<Item = u32>) -> Self {
        self.claim_all = false;
        self.claim.extend(sections);
        self
    }

    /// Sets how long an owner must be silent before another process takes its sections: 10 s by default, at least 100
    /// ms. It has no effect on uniqueness.
    pub const fn time_out(mut self, time_out: Duration) -> Self {
        self.time_out = time_out;
        self
    }

    /// Sets the step: how many numbers each write to the register allows. 10,000 by default, 1 to 10⁹.
    ///
    /// After a crash the numbers of a section jump by at most one and a half times the present step.
    pub const fn step(mut self, step: u64) -> Self {
        self.step = step;
        self
    }

    /// Sets the greatest step: 10⁷ by default, at most 10⁹.
    ///
    /// The step doubles when it was used up within the [`horizon`](Self::horizon), and halves when it lasted for more
    /// than four horizons.
    pub const fn max_step(mut self, step: u64) -> Self {
        self.max_step = step;
        self
    }

    /// Sets how long a step should last: 10 s by default. At least half a step is left when the next one is fetched, so
    /// a busy section survives an outage of the register for half of this time.
    pub const fn horizon(mut self, horizon: Duration) -> Self {
        self.horizon = horizon;
        self
    }

    /// Sets how many sessions of a section are in memory before the section starts a new epoch with an empty table. 2²²
    /// by default. At twice as many, new sessions are refused until the new epoch has begun.
    pub const fn sessions_per_section(mut self, sessions: usize) -> Self {
        self.sessions_per_section = sessions;
        self
    }

    /// Sets a function that returns the greatest number and the greatest epoch of a section in the message table. It is
    /// called each time before a section is taken, and the new epoch begins above both. A weak register is refused
    /// without it.
    ///
    /// The answer must be final: from then on the message table must refuse messages of this epoch and lower ones in
    /// the whole section. So the function raises the section's least epoch in the transaction in which it reads, or no
    /// former owner runs any more.
    ///
    /// The keeper's thread calls the function, so it may use the network.
    pub fn floor<E: Into<Box<dyn Error + Send + Sync>>>(
        mut self,
        mut floor: impl FnMut(u32) -> Result<LastStored, E> + Send + 'static,
    ) -> Self {
        self.floor = Some(Box::new(move |section| floor(section).map_err(Into::into)));
        self
    }

    /// Checks the options.
    pub(crate) fn config(&self, owner: u64) -> Result<Config, OpenError> {
        let name = self.holder.clone().unwrap_or_else(|| format!("{owner:016x}"));
        check_name("name of a sequence", &self.name)?;
        check_name("name of a holder", &name)?;
        let check = |expected, found: u64, is_good: bool| {
            let found = found.to_string();
            if is_good { Ok(()) } else { Err(OpenError::from(OpenErrorKind::Option { expected, found })) }
        };
        let sections = self.sections.get();
        let time_out_ms = u64::try_from(self.time_out.as_millis()).unwrap_or(u64::MAX);
        let horizon_ms = u64::try_from(self.horizon.as_millis()).unwrap_or(u64::MAX);
        check("at most 65536 sections", sections.into(), sections <= MOST_SECTIONS)?;
        check("a time-out of 100 to 3600000 ms", time_out_ms, (100..=3_600_000).contains(&time_out_ms))?;
        check("a horizon of at most 3600000 ms", horizon_ms, horizon_ms <= 3_600_000)?;
        check("a step of 1 to 1000000000", self.step, (1..=1_000_000_000).contains(&self.step))?;
        let is_good = (self.step..=1_000_000_000).contains(&self.max_step);
        check("a greatest step from the step to 1000000000", self.max_step, is_good)?;
        check("at least 1 session per section", 0, self.sessions_per_section > 0)?;
        for &section in &self.claim {
            check("a claimed section below the count of sections", section.into(), section < sections)?;
        }
        Ok(Config {
            sections,
            owner,
            name,
            time_out_ms,
            horizon_ms,
            min_step: self.step,
            max_step: self.max_step,
            floor: self.floor.is_some(),
            #[cfg(test)]
            broken: None,
        })
    }
}

impl fmt::Debug for SequenceOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SequenceOptions")
            .field("name", &self.name)
            .field("sections", &self.sections)
            .field("holder", &self.holder)
            .field("time_out", &self.time_out)
            .field("horizon", &self.horizon)
            .field("step", &self.step)
            .field("max_step", &self.max_step)
            .finish_non_exhaustive()
    }
}

/// Returns whether a name can be part of a key or of a record.
pub(crate) fn is_name(name: &str) -> bool {
    let is_good = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, b'-' | b'_' | b'.');
    (1..=64).contains(&name.len()) && name.bytes().all(is_good)
}

/// Checks a name that becomes part of a key or of a record.
pub(super) fn check_name(what: &'static str, name: &str) -> Result<(), OpenError> {
    if is_name(name) { Ok(()) } else { Err(OpenErrorKind::Name { what, found: name.to_owned() }.into()) }
}
