//! The rules of the protocol by name, so that a test can take one away and see that the model then fails.

/// A rule that the engine and the generators keep. The comment says what goes wrong without it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(not(test), expect(dead_code, reason = "only the tests take rules away from the generators and the tool"))]
pub(crate) enum Rule {
    /// Only an acknowledged write grants anything. Without it a holder mints below a ceiling that no other process can
    /// see.
    GrantWhenAcknowledged,
    /// A take or a renewal replaces exactly the record that was read. Without the token a record that was restored and
    /// written again looks the same.
    CompareToken,
    /// A held lane is taken only after it has not changed for its time-out. Without it live holders lose their lanes.
    WaitForTimeOut,
    /// The time-out is at least the horizon of the record's holder. Without it a slow holder loses its lane.
    WaitForHorizon,
    /// A new grant begins at the ceiling that was read. Without it two holders mint the same stamps.
    FloorAtCeiling,
    /// A new grant begins after the stamps of all grants before. Without it IDs go back when the lane changes.
    FloorAfterOwnStamps,
    /// The old generator is sealed before the new one starts. Without it the order across lanes is lost.
    SealBeforeSwitch,
    /// An acknowledgement raises the ceiling of its own grant. Without it a late one raises that of another lane.
    OwnGrantOnly,
    /// A record that another process wrote means that the lane is lost. Without it two holders raise one ceiling.
    LoseToOthers,
    /// A record older than what was acknowledged means that the register went back. Without it stamps are granted
    /// twice.
    StopWhenRegisterWentBack,
    /// The generator is sealed before its end is read. Without it a paused thread mints after the release.
    SealBeforeRelease,
    /// A released lane's ceiling is rounded up to a whole millisecond. Without it the last one is granted twice.
    RoundEndUp,
    /// Nothing is minted after a release, whatever its reply was.
    NeverResume,
    /// A release is tried again only on a record of this grant. Without it another holder's record is overwritten.
    ReleaseOwnRecordOnly,
    /// A record is never deleted. Without it the next holder starts at the beginning of time.
    KeepRecords,
    /// A ceiling is only ever raised. Without it a clock that steps back grants stamps twice.
    OnlyRaise,
    /// The ceiling grows with time that has passed. Without it a holder whose clock stepped back stops.
    GrowWithTime,
    /// The ceiling grows with its own time by a horizon at most, and not by a horizon at each restart.
    GrowByElapsedOnly,
    /// A clock that jumped is not believed. Without it the ceiling leads by the jump.
    FilterClock,
    /// Lanes whose ceiling is far ahead are left alone. Without it one wild clock moves the IDs of others.
    SkipFarAhead,
    /// Renewals come long before the ceiling. Without it minting stops at each renewal.
    RenewEarly,
    /// Renewals are 100 ms apart at least. Without it an overload floods the register.
    RenewSeldom,
    /// Each path that mints respects the ceiling, also one that was paused.
    CheckCeilingAgain,
    /// The layout and the number of lanes are those of the register.
    CheckMeta,
    /// Each attempt to write has a fresh random token, also in two copies of one machine.
    FreshToken,
    /// A forked child mints nothing.
    RefuseInChild,
}

#[cfg(test)]
impl Rule {
    /// All of them.
    pub(crate) const ALL: &'static [Self] = &[
        Self::GrantWhenAcknowledged,
        Self::CompareToken,
        Self::WaitForTimeOut,
        Self::WaitForHorizon,
        Self::FloorAtCeiling,
        Self::FloorAfterOwnStamps,
        Self::SealBeforeSwitch,
        Self::OwnGrantOnly,
        Self::LoseToOthers,
        Self::StopWhenRegisterWentBack,
        Self::SealBeforeRelease,
        Self::RoundEndUp,
        Self::NeverResume,
        Self::ReleaseOwnRecordOnly,
        Self::KeepRecords,
        Self::OnlyRaise,
        Self::GrowWithTime,
        Self::GrowByElapsedOnly,
        Self::FilterClock,
        Self::SkipFarAhead,
        Self::RenewEarly,
        Self::RenewSeldom,
        Self::CheckCeilingAgain,
        Self::CheckMeta,
        Self::FreshToken,
        Self::RefuseInChild,
    ];
}

/// Which rules are in force: all of them, except in a test that takes one away.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rules {
    #[cfg(test)]
    pub(crate) without: Option<Rule>,
}

impl Rules {
    #[cfg(test)]
    pub(crate) const fn without(rule: Rule) -> Self {
        Self { without: Some(rule) }
    }

    #[cfg(test)]
    #[inline]
    pub(crate) fn keep(self, rule: Rule) -> bool {
        self.without != Some(rule)
    }

    #[cfg(not(test))]
    #[inline]
    #[expect(clippy::unused_self, reason = "in a test it holds the rule that is taken away")]
    pub(crate) const fn keep(self, _: Rule) -> bool {
        true
    }
}
