//! Which systems could have made an ID, most likely first.

use crate::scheme::{Id, Scheme};
use crate::time::{DAY_MS, PLAUSIBLE_FROM_MS};

/// How far ahead of now a plausible time can be: two years, because clocks can be wrong.
const PLAUSIBLE_AHEAD: u64 = 2 * 365 * DAY_MS;

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
    /// A standard ID of another time that is [plausible](Id::is_plausible): that of an imported message.
    Imported,
    /// A standard ID of a time that is not plausible.
    OtherTime,
    /// The time is plausible, but the system did not make IDs at this time, or has no such type.
    Plausible,
    /// The time is not plausible.
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
    /// assert_eq!(ranks, [("rongcloud", Rank::InUse), ("standard", Rank::Imported)]);
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
        let is_in_use = has_type && (from..until).contains(&ms);
        let rank = match (self.is_plausible(now_ms), is_in_use, self.is_standard()) {
            (true, true, false) if ms > now_ms.saturating_add(DAY_MS) => Rank::Ahead,
            (true, true, _) => Rank::InUse,
            (true, false, true) => Rank::Imported,
            (true, false, false) => Rank::Plausible,
            (false, _, true) => Rank::OtherTime,
            (false, _, false) => Rank::Implausible,
        };
        Fit { rank, distance_ms: ms.abs_diff(now_ms) }
    }

    /// Returns whether this can be an ID in a longer text. Messages from before the standard dialect can be imported. Other
    /// systems have none from before their years.
    pub(crate) fn is_likely(self, now_ms: u64) -> bool {
        self.fit(now_ms).rank <= Rank::Imported
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
/// **The rule:** the best [rank](Rank) is first, and within a rank the time nearest to now. If these are equal, the order is that
/// of [`Scheme::all`].
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
    let ids = Scheme::all().filter_map(|scheme| scheme.parse(text.as_bytes()));
    let mut ids: Vec<_> = ids.filter(|id| id.is_listed()).collect();
    // The sort is stable, so IDs that fit equally well keep their order.
    ids.sort_by_cached_key(|id| id.fit(now_ms));
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
