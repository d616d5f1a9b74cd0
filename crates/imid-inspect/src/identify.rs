//! Which systems could have made an ID, most likely first.

use crate::scheme::{Id, Scheme};
use crate::time::PLAUSIBLE_FROM_MS;

/// How far ahead of now a plausible time can be: two years, because clocks can be wrong.
const PLAUSIBLE_AHEAD: u64 = 2 * 365 * 24 * 3_600_000;

/// When each system made IDs, in Unix milliseconds; the end is not included. DIALECTS.md has the sources. A system without an
/// entry would never be the best guess.
const IN_USE: [(&str, u64, u64); 11] = [
    // RongCloud changed its layout in the spring of 2018.
    ("rongcloud", 1_519_862_400_000, u64::MAX),
    ("rongcloud-v1", 1_388_534_400_000, 1_527_811_200_000),
    // Before 2025 there were no generators of this dialect. Its earlier IDs belong to imported messages.
    ("standard", 1_735_689_600_000, u64::MAX),
    ("juggleim", 1_722_470_400_000, u64::MAX),
    // The day after its epoch. Lesser numbers are Twitter's older IDs, which were sequential.
    ("twitter", 1_288_915_200_000, u64::MAX),
    ("leaf", 1_491_004_800_000, u64::MAX),
    // Months after their epochs. Otherwise every number of 32 bits, Unix time and phone number would be an ID of January 2015.
    ("discord", 1_430_438_400_000, u64::MAX),
    ("twitter-java", 1_446_336_000_000, u64::MAX),
    // A layout of an article. No system is known to have used it.
    ("rollback-38-15-10", u64::MAX, u64::MAX),
    ("nsq", 1_441_065_600_000, u64::MAX),
    // Until the release that has the other tick.
    ("nsq-before-2015", 1_338_508_800_000, 1_456_790_400_000),
];

impl Id {
    /// Returns whether the time is between 2005-01-01 and two years (of 365 days) after `now_ms`.
    pub const fn is_plausible(self, now_ms: u64) -> bool {
        let ms = self.timestamp_ms();
        PLAUSIBLE_FROM_MS <= ms && ms <= now_ms.saturating_add(PLAUSIBLE_AHEAD)
    }

    /// Returns how well the time fits the system, as a sort key: the best fit is the least.
    ///
    /// A time in which the system was in use is better than another [plausible](Self::is_plausible) time, and
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
        let period = IN_USE.iter().find(|(name, ..)| *name == self.scheme_name());
        let in_use = period.is_some_and(|(_, from, end)| (*from..*end).contains(&ms));
        let class = match (self.is_plausible(now_ms), in_use) {
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
/// **The rule:** IDs with a time in which their system was in use come first, then other times from
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
    sorted(text, |id| id.fit(now_ms))
}

/// Returns the IDs as [`identify_text`] does, for a caller who knows about when the ID was made: from the row or the log line
/// that it is in.
///
/// The ID whose time is nearest to `near_ms` comes first. With equal distance, the better [fit](Id::fit) decides.
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
    sorted(text, |id| (id.timestamp_ms().abs_diff(near_ms), id.fit(now_ms).0))
}

fn sorted<K: Ord>(text: &str, key: impl Fn(Id) -> K) -> Vec<Id> {
    let mut ids: Vec<_> = Scheme::all().filter_map(|scheme| scheme.parse(text.as_bytes()).ok()).collect();
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
