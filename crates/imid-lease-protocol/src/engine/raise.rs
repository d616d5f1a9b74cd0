//! How far ahead a ceiling is raised: arithmetic on milliseconds.

/// The first millisecond after the last timestamp of an ID (2109-05-15).
pub(crate) const END_OF_TIME_MS: u64 = 1 << 42;

/// What a new ceiling depends on, in milliseconds.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_field_names, reason = "each is in milliseconds")]
pub(super) struct Raise {
    /// The time of the clock, as far as it is believed; `None` where there is none.
    pub(super) now_ms: Option<u64>,
    pub(super) horizon_ms: u64,
    /// The ceiling that was read.
    pub(super) ceiling_ms: u64,
    /// How long ago this process first read the record.
    pub(super) known_for_ms: u64,
    /// The first millisecond of the grant.
    pub(super) floor_ms: u64,
    /// The first millisecond after the last stamp of this process; 0 if there is none.
    pub(super) used_until_ms: u64,
    /// How long ago a write of this process was acknowledged for the last time; `None` if none was.
    pub(super) acknowledged_ago_ms: Option<u64>,
}

impl Raise {
    /// Returns the ceiling to write: `max(now + h, C + e, R + e')`, with no more than a millisecond in the place of `e` where C is a
    /// horizon past all that can be minted now.
    ///
    /// It leads the true time by a horizon and the worst error of a clock at most, whatever restarts and take-overs
    /// there are, because `e` and `e'` are times that have passed. A ceiling of a clock that was ahead keeps its lead only for as
    /// long as the stamps do. It grows by a millisecond all the same: a record that does not change is that of a dead holder.
    pub(super) fn ceiling(&self) -> u64 {
        let elapsed = self.known_for_ms.min(self.horizon_ms);
        let by_clock = self.now_ms.map_or(0, |now| now.saturating_add(self.horizon_ms));
        let next_ms = self.now_ms.unwrap_or(0).max(self.floor_ms).max(self.used_until_ms);
        let most = next_ms.saturating_add(self.horizon_ms).max(self.ceiling_ms.saturating_add(1));
        let by_record = self.ceiling_ms.saturating_add(elapsed).min(most);
        let by_stamps = self.acknowledged_ago_ms.map_or(0, |ago| self.used_until_ms.saturating_add(elapsed.min(ago)));
        by_clock.max(by_record).max(by_stamps).min(END_OF_TIME_MS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: u64 = 1_795_204_812_345;
    const PLAIN: Raise = Raise {
        now_ms: Some(T),
        horizon_ms: 10_000,
        ceiling_ms: 0,
        known_for_ms: 0,
        floor_ms: 0,
        used_until_ms: 0,
        acknowledged_ago_ms: None,
    };

    #[test]
    fn a_ceiling_is_the_greatest_of_three() {
        #[rustfmt::skip]
        let table = [
            ("a new lane", PLAIN, T + 10_000),
            ("a clock that is behind: the time since the record was read", Raise { ceiling_ms: T + 20_000, known_for_ms: 250, used_until_ms: T + 11_000, ..PLAIN }, T + 20_250),
            ("at most a horizon", Raise { ceiling_ms: T + 20_000, known_for_ms: 99_000, floor_ms: T + 20_000, ..PLAIN }, T + 30_000),
            ("no time has passed: no room", Raise { ceiling_ms: T + 20_000, ..PLAIN }, T + 20_000),
            ("a horizon past the clock already", Raise { ceiling_ms: T + 20_000, known_for_ms: 250, ..PLAIN }, T + 20_001),
            ("nearly a horizon past the stamps", Raise { ceiling_ms: T + 20_000, known_for_ms: 250, used_until_ms: T + 10_100, ..PLAIN }, T + 20_100),
            ("no clock", Raise { now_ms: None, ceiling_ms: 7, known_for_ms: 3, ..PLAIN }, 10),
            ("stamps ahead of both", Raise { used_until_ms: T + 15_000, known_for_ms: 2_000, acknowledged_ago_ms: Some(1_500), ..PLAIN }, T + 16_500),
            ("stamps, and the record is new", Raise { used_until_ms: T + 15_000, known_for_ms: 20, acknowledged_ago_ms: Some(1_500), ..PLAIN }, T + 15_020),
            ("stamps without a write", Raise { used_until_ms: T + 15_000, known_for_ms: 2_000, ..PLAIN }, T + 10_000),
            ("the end of time", Raise { now_ms: Some(u64::MAX), ceiling_ms: u64::MAX, ..PLAIN }, END_OF_TIME_MS),
        ];
        for (what, raise, ceiling) in table {
            assert_eq!(raise.ceiling(), ceiling, "{what}");
        }
    }
}
