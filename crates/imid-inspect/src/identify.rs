//! Which systems could have made an ID, most likely first.

use crate::scheme::{Id, Scheme};
use crate::time::PLAUSIBLE_FROM_MS;

/// How far ahead of now a plausible time can be: two years, because clocks can be wrong.
const PLAUSIBLE_AHEAD: u64 = 2 * 365 * DAY;

pub(crate) const DAY: u64 = 24 * 3_600_000;

/// The end of the years of a system that still makes IDs.
const STILL: u64 = u64::MAX;

/// When each system made IDs, in Unix milliseconds; the end is not included. DIALECTS.md has the sources.
const IN_USE: [(&str, u64, u64); 11] = [
    // RongCloud changed its layout in the spring of 2018. The first public IDs are of 2016.
    ("rongcloud", 1_519_862_400_000, STILL),
    ("rongcloud-v1", 1_451_606_400_000, 1_527_811_200_000),
    // Messages from before the first generators of 2025 are imported. All digits of older IDs can be those of RongCloud's present ones.
    ("standard", 1_514_764_800_000, STILL),
    ("juggleim", 1_722_470_400_000, STILL),
    // The day after its epoch. Lesser numbers are Twitter's older IDs, which were sequential.
    ("twitter", 1_288_915_200_000, STILL),
    ("leaf", 1_491_004_800_000, STILL),
    // Months after their epochs. Otherwise every number of 32 bits, Unix time and phone number would be an ID of January 2015.
    ("discord", 1_430_438_400_000, STILL),
    ("twitter-java", 1_446_336_000_000, STILL),
    // A layout of an article. No system is known to have used it.
    ("rollback-38-15-10", 0, 0),
    ("nsq", 1_441_065_600_000, STILL),
    // Until the day of the release that has the other tick.
    ("nsq-before-2015", 1_338_508_800_000, 1_458_864_000_000),
];

/// How well an ID fits a system: its [rank](Fit::rank), and the distance of its time from now. The least is the best.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Fit {
    /// How the time and the type fit.
    pub rank: Rank,
    /// The distance from now, in milliseconds.
    pub distance_ms: u64,
}

/// How the time and the type of an ID fit its system, from the best to the worst.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Rank {
    /// The system made IDs at this time, and has this type.
    InUse,
    /// The same, but the time is more than a day from now, and this is not a standard ID, which can be ahead of the clock.
    Ahead,
    /// The time is [plausible](Id::is_plausible).
    Plausible,
    /// It is not.
    Implausible,
}

impl Id {
    /// Returns whether the time is between 2005-01-01 and two years (of 365 days) after `now_ms`.
    pub const fn is_plausible(self, now_ms: u64) -> bool {
        let ms = self.timestamp_ms();
        PLAUSIBLE_FROM_MS <= ms && ms <= now_ms.saturating_add(PLAUSIBLE_AHEAD)
    }

    /// Returns how well the time and the type fit the system.
    ///
    /// ```
    /// use imid_inspect::{Rank, identify_text};
    ///
    /// let now_ms = 1_767_225_600_000;
    /// let ranks = identify_text("CPEN-GH7K-ECA4-98EU", now_ms);
    /// let ranks: Vec<_> = ranks.iter().map(|id| (id.scheme_name(), id.fit(now_ms).rank)).collect();
    /// assert_eq!(ranks, [("rongcloud", Rank::InUse), ("standard", Rank::Plausible)]);
    /// ```
    pub fn fit(self, now_ms: u64) -> Fit {
        let has_type = match self {
            Self::Message { dialect, id } => self.is_standard() || dialect.type_name(id.type_code()).is_some(),
            Self::Snowflake(_) => true,
        };
        self.fit_of_time(now_ms, has_type)
    }

    /// Returns how well the time fits the system, if it has the type.
    pub(crate) fn fit_of_time(self, now_ms: u64, has_type: bool) -> Fit {
        let (ms, (from, until)) = (self.timestamp_ms(), self.years());
        let rank = match (self.is_plausible(now_ms), has_type && (from..until).contains(&ms)) {
            (false, _) => Rank::Implausible,
            (true, false) => Rank::Plausible,
            (true, true) if !self.is_standard() && ms > now_ms.saturating_add(DAY) => Rank::Ahead,
            (true, true) => Rank::InUse,
        };
        Fit { rank, distance_ms: ms.abs_diff(now_ms) }
    }

    /// Returns the key by which the ways to read a text are sorted. Where no system fits, a standard ID of an imported message
    /// is the likeliest.
    pub(crate) fn guess(self, fit: Fit) -> (Rank, bool, Fit) {
        (fit.rank.min(Rank::Plausible), fit.rank > Rank::Ahead && !self.is_standard(), fit)
    }

    /// Returns whether this can be an ID in a longer text. Messages from before the standard dialect can be imported. Other
    /// systems have none from before their years.
    pub(crate) fn is_likely(self, now_ms: u64) -> bool {
        self.is_likely_by(self.fit(now_ms))
    }

    pub(crate) fn is_likely_by(self, fit: Fit) -> bool {
        fit.rank <= if self.is_standard() { Rank::Plausible } else { Rank::Ahead }
    }

    /// Returns whether this ID is listed for a text: its system makes IDs, or made them at this time.
    pub(crate) fn is_listed(self) -> bool {
        let (from, until) = self.years();
        until == STILL || (from..until).contains(&self.timestamp_ms())
    }

    fn years(self) -> (u64, u64) {
        IN_USE.iter().find(|(name, ..)| *name == self.scheme_name()).map_or((0, 0), |(_, from, until)| (*from, *until))
    }
}

/// Returns the IDs of the built-in schemes that are written as this text, the best guess first. Returns no ID if no scheme
/// [parses](Scheme::parse) the text. A system that no longer makes IDs is left out if the time is not of its years.
///
/// **The rule:** the best [rank](Rank) is first, and within a rank the time nearest to now. A standard ID of any time comes before
/// systems that did not make IDs at their time. If these are equal, the order is that of [`Scheme::all`].
///
/// If there are several, the first one is a guess. Twitter's and Leaf's IDs look alike. A standard ID of an imported
/// message from 2009 to 2017 can be RongCloud's from 2018 on.
///
/// ```
/// use imid_inspect::identify_text;
///
/// let ids = identify_text("5EGN-HLDB-K4Q4-LQ1G", 1_767_225_600_000);
/// assert_eq!((ids[0].scheme_name(), ids[0].timestamp_ms()), ("rongcloud-v1", 1_499_141_156_189));
/// assert!(identify_text("hello", 1_767_225_600_000).is_empty());
/// ```
pub fn identify_text(text: &str, now_ms: u64) -> Vec<Id> {
    sorted(text, |id| id.guess(id.fit(now_ms)))
}

/// Returns the IDs as [`identify_text`] does, for a caller who knows about when the ID was made: from the row or the log line
/// that it is in.
///
/// The ID whose time is nearest to `near_ms` comes first. With equal distance, the better [rank](Rank) decides.
///
/// ```
/// use imid_inspect::{identify_near, identify_text};
///
/// // A tweet of 2012. As an ID of Discord it would be from 2016.
/// let (text, now_ms) = ("204697221847986177", 1_767_225_600_000);
/// assert_eq!(identify_text(text, now_ms)[0].scheme_name(), "discord");
/// assert_eq!(identify_near(text, 1_337_638_595_000, now_ms)[0].scheme_name(), "twitter");
/// ```
pub fn identify_near(text: &str, near_ms: u64, now_ms: u64) -> Vec<Id> {
    sorted(text, |id| (id.timestamp_ms().abs_diff(near_ms), id.fit(now_ms).rank))
}

fn sorted<K: Ord>(text: &str, key: impl Fn(Id) -> K) -> Vec<Id> {
    let mut ids: Vec<_> =
        Scheme::all().filter_map(|scheme| scheme.parse(text.as_bytes()).ok()).filter(|id| id.is_listed()).collect();
    // The sort is stable, so IDs that fit equally well keep their order.
    ids.sort_by_cached_key(|id| key(*id));
    ids
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_scheme_has_its_period() {
        for name in Scheme::all().map(Scheme::name) {
            assert!(IN_USE.iter().any(|(of, ..)| *of == name), "{name} has no period");
        }
    }
}
