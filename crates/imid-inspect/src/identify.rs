//! Which systems could have made an ID, the most likely one first.

use crate::scheme::{Id, Scheme};
use crate::time::PLAUSIBLE_FROM_MS;

/// How far ahead of now a plausible time can be: two years, because clocks can be wrong.
const PLAUSIBLE_AHEAD: u64 = 2 * 365 * 24 * 3_600_000;

/// When each system made IDs, in unix milliseconds: from the first day of a year up to another one, which is not
/// included. A system without years would never be the best guess.
const YEARS: [(&str, u64, u64); 11] = [
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

impl Id {
    /// Returns whether the time is between 2005-01-01 and two years (of 365 days) after `now_ms`.
    pub const fn is_plausible(self, now_ms: u64) -> bool {
        let ms = self.timestamp_ms();
        PLAUSIBLE_FROM_MS <= ms && ms <= now_ms.saturating_add(PLAUSIBLE_AHEAD)
    }

    /// Returns how well the time fits the system, as a key to sort by. The best fit is the least.
    ///
    /// A time in the years in which the system existed is better than another [plausible](Self::is_plausible) time, and
    /// that is better than an implausible one. Within each of these, the time that is nearest to `now_ms` is the best. A
    /// standard ID from before 2025 is plausible, because messages can be imported, but its system did not exist.
    ///
    /// ```
    /// use imid_inspect::identify_text;
    ///
    /// let ids = identify_text("5EGN-HLDB-K4Q4-LQ1G", 1_767_225_600_000);
    /// assert!(ids.is_sorted_by_key(|id| id.fit(1_767_225_600_000)));
    /// ```
    pub fn fit(self, now_ms: u64) -> (u8, u64) {
        let ms = self.timestamp_ms();
        let years = YEARS.iter().find(|(name, ..)| *name == self.scheme_name());
        let existed = years.is_some_and(|(_, from, end)| (*from..*end).contains(&ms));
        let class = match (self.is_plausible(now_ms), existed) {
            (true, true) => 0,
            (true, false) => 1,
            (false, _) => 2,
        };
        (class, ms.abs_diff(now_ms))
    }
}

/// Returns the IDs of all built-in schemes that are written as this text, the best [fit](Id::fit) first. Returns no ID if
/// no scheme [parses](Scheme::parse) the text.
///
/// **The rule:** IDs with a time in the years in which their system existed come first, then other times from
/// 2005-01-01 to two years from now, then the rest. Within each group, the time nearest to now is first. If the times
/// are equal, the order is that of [`Scheme::all`].
///
/// If there are several, the first one is a guess. Twitter's and Leaf's IDs look alike. A standard ID of an imported
/// message from 2009 to 2024 can be RongCloud's from 2018 on.
///
/// ```
/// use imid_inspect::identify_text;
///
/// let ids = identify_text("5EGN-HLDB-K4Q4-LQ1G", 1_767_225_600_000);
/// assert_eq!((ids[0].scheme_name(), ids[0].timestamp_ms()), ("rongcloud-v1", 1_499_141_156_189));
/// assert!(identify_text("hello", 1_767_225_600_000).is_empty());
/// ```
pub fn identify_text(text: &str, now_ms: u64) -> Vec<Id> {
    let mut ids: Vec<_> = Scheme::all().filter_map(|scheme| scheme.parse(text.as_bytes()).ok()).collect();
    // The sort is stable, so IDs that fit equally well keep their order.
    ids.sort_by_key(|id| id.fit(now_ms));
    ids
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_scheme_has_its_years() {
        for name in Scheme::all().map(Scheme::name) {
            assert!(YEARS.iter().any(|(of, ..)| *of == name), "{name} has no years");
        }
    }
}
