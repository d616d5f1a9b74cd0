//! Finds the dialects and Snowflake layouts that could have made a text.

use core::fmt;
use core::iter::FusedIterator;

use arrayvec::ArrayVec;

use imid::dialect::{Dialect, DialectId};
use imid_snowflake::{Layout, Snowflake};

/// The earliest plausible time: 2005-01-01T00:00:00Z. All of these systems are younger.
const PLAUSIBLE_FROM: u64 = 1_104_537_600_000;
/// How far ahead of now a plausible time can be: two years, because clocks can be wrong.
const PLAUSIBLE_AHEAD: u64 = 2 * 365 * 24 * 3_600_000;

/// When each system made IDs, in unix milliseconds: from the first day of a year up to another one, which is not
/// included. A system without years would never be the best guess.
const YEARS: [(&str, u64, u64); MAX] = [
    // RongCloud changed its layout in the spring of 2018.
    ("rongcloud", Y2018, u64::MAX),
    ("rongcloud-v1", Y2013, Y2019),
    // Before 2025 there were no generators of this dialect. Its earlier IDs belong to imported messages.
    ("standard", Y2025, u64::MAX),
    ("juggleim", Y2023, u64::MAX),
    ("twitter", Y2010, u64::MAX),
    ("leaf", Y2017, u64::MAX),
    ("discord", Y2015, u64::MAX),
    ("twitter-java", Y2015, u64::MAX),
    // A layout of an article. No system is known to have used it.
    ("rollback-38-15-10", u64::MAX, u64::MAX),
    ("nsq", Y2015, u64::MAX),
    ("nsq-before-2015", Y2012, Y2016),
];

const Y2010: u64 = 1_262_304_000_000;
const Y2012: u64 = 1_325_376_000_000;
const Y2013: u64 = 1_356_998_400_000;
const Y2015: u64 = 1_420_070_400_000;
const Y2016: u64 = 1_451_606_400_000;
const Y2017: u64 = 1_483_228_800_000;
const Y2018: u64 = 1_514_764_800_000;
const Y2019: u64 = 1_546_300_800_000;
const Y2023: u64 = 1_672_531_200_000;
const Y2025: u64 = 1_735_689_600_000;

/// One way to read a text: the dialect or layout that could have made it, and the ID.
// More kinds of IDs can follow. The fields of `Message` are complete: an ID and the dialect that writes it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Candidate {
    /// An 80-bit ID of a dialect.
    Message {
        /// The dialect that writes this text.
        dialect: &'static Dialect<'static>,
        /// The ID, in the dialect's layout.
        id: DialectId,
    },
    /// A 64-bit ID, with its layout.
    Snowflake(Snowflake),
}

impl Candidate {
    /// Returns the name of the dialect or of the Snowflake's layout, such as `rongcloud` or `twitter`.
    ///
    /// The name of a layout of your own is `custom`. [`identify`] does not return such a layout.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Message { dialect, .. } => dialect.name(),
            Self::Snowflake(id) => match id.layout().name() {
                Some(name) => name,
                None => "custom",
            },
        }
    }

    /// Returns the time, in unix milliseconds.
    pub const fn timestamp_ms(&self) -> u64 {
        match self {
            Self::Message { id, .. } => id.timestamp_ms(),
            Self::Snowflake(id) => id.timestamp_ms(),
        }
    }

    /// Returns whether the time is between 2005-01-01 and two years (of 365 days) after `now_ms`.
    pub const fn is_plausible(&self, now_ms: u64) -> bool {
        let ms = self.timestamp_ms();
        PLAUSIBLE_FROM <= ms && ms <= now_ms.saturating_add(PLAUSIBLE_AHEAD)
    }

    /// Returns how well the time fits the system, as a key to sort by. The best fit is the least.
    ///
    /// A time in the years in which the system existed is better than another [plausible](Self::is_plausible) time, and
    /// that is better than an implausible one. Within each of these, the time that is nearest to `now_ms` is the best. A
    /// standard ID from before 2025 is plausible, because messages can be imported, but its system did not exist.
    ///
    /// ```
    /// use imid_inspect::identify::identify_at;
    ///
    /// let candidates: Vec<_> = identify_at("5EGN-HLDB-K4Q4-LQ1G", 1_767_225_600_000).collect();
    /// assert!(candidates.is_sorted_by_key(|candidate| candidate.fit(1_767_225_600_000)));
    /// ```
    pub fn fit(&self, now_ms: u64) -> (u8, u64) {
        let ms = self.timestamp_ms();
        let years = YEARS.iter().find(|(name, ..)| *name == self.name());
        let existed = years.is_some_and(|(_, from, end)| (*from..*end).contains(&ms));
        let class = match (self.is_plausible(now_ms), existed) {
            (true, true) => 0,
            (true, false) => 1,
            (false, _) => 2,
        };
        (class, ms.abs_diff(now_ms))
    }
}

/// Formats the text of the ID in its dialect or layout. If the dialect cannot write the ID, because its layout is another
/// one, formats the hex digits. Width and alignment apply.
impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message { dialect, id } => match dialect.to_text(*id) {
                Ok(text) => text.fmt(f),
                Err(_) => id.to_hex().fmt(f),
            },
            Self::Snowflake(id) => id.fmt(f),
        }
    }
}

/// The greatest number of candidates that a text can have.
const MAX: usize = Dialect::ALL.len() + Layout::ALL.len();

/// The candidates for a text, the best fit first, as [`identify`] returns them.
#[derive(Clone, Debug)]
pub struct Candidates(arrayvec::IntoIter<Candidate, MAX>);

impl Iterator for Candidates {
    type Item = Candidate;

    fn next(&mut self) -> Option<Candidate> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl DoubleEndedIterator for Candidates {
    fn next_back(&mut self) -> Option<Candidate> {
        self.0.next_back()
    }
}

impl ExactSizeIterator for Candidates {}

impl FusedIterator for Candidates {}

/// Returns the built-in dialects and Snowflake layouts that could have made a text, the best
/// [fit](Candidate::fit) first. Returns
/// no candidate if no dialect and no layout [parses](Dialect::parse) the text.
///
/// **The rule:** candidates with a time in the years in which their system existed come first, then other times from
/// 2005-01-01 to two years from now, then the rest. Within each group, the time nearest to now is first. If the times
/// are equal, the order is that of [`Dialect::ALL`] and then that of [`Layout::ALL`].
///
/// If there are several candidates, the first one is a guess. Twitter's and Leaf's IDs look alike. A standard ID of an
/// imported message from 2009 to 2024 can be RongCloud's from 2018 on.
///
/// ```
/// use imid_inspect::identify::identify;
///
/// let first = identify("5EGN-HLDB-K4Q4-LQ1G").next().expect("a candidate");
/// assert_eq!((first.name(), first.timestamp_ms()), ("rongcloud-v1", 1_499_141_156_189));
/// assert_eq!(identify("hello").count(), 0);
/// ```
#[cfg(all(feature = "std", target_has_atomic = "64"))]
pub fn identify(text: &str) -> Candidates {
    use imid::clock::{Clock, SystemClock};
    // Without a clock, every time since 2005 is plausible.
    identify_at(text, SystemClock.now_ms().unwrap_or(u64::MAX))
}

/// Returns the candidates as [`identify`] does, for a given time in unix milliseconds. It does not read
/// a clock.
pub fn identify_at(text: &str, now_ms: u64) -> Candidates {
    let messages =
        Dialect::ALL.iter().filter_map(|dialect| dialect.parse(text).ok().map(|id| Candidate::Message { dialect, id }));
    let snowflakes = Layout::ALL.iter().filter_map(|layout| layout.parse(text).ok().map(Candidate::Snowflake));
    let mut ranked = ArrayVec::<Candidate, MAX>::new();
    let mut fits = ArrayVec::<_, MAX>::new();
    for candidate in messages.chain(snowflakes) {
        let fit = candidate.fit(now_ms);
        // Candidates that fit equally well keep their order. A stable sort would need an allocator.
        let place = fits.iter().take_while(|other| **other <= fit).count();
        fits.insert(place, fit);
        ranked.insert(place, candidate);
    }
    Candidates(ranked.into_iter())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_dialect_and_layout_has_its_years() {
        let layouts = Layout::ALL.iter().filter_map(|layout| layout.name());
        for name in Dialect::ALL.iter().map(Dialect::name).chain(layouts) {
            assert!(YEARS.iter().any(|(of, ..)| *of == name), "{name} has no years");
        }
    }
}
