//! The rules that are kept outside of the engine: by the generators, the clock and the store. Each is needed: without it,
//! a schedule shows a fault.

use super::named::{self, Schedule};
use super::random::find_fault;
use super::world::Fault;

/// A rule. The comment says what goes wrong without it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rule {
    /// A take or a renewal replaces exactly the record that was read. Without the token a record that was restored and
    /// written again looks the same.
    CompareToken,
    /// The old generator is sealed before the new one starts. Without it the order across lanes is lost.
    SealBeforeSwitch,
    /// The generator is sealed before its end is read. Without it a paused thread mints after the release.
    SealBeforeRelease,
    /// A released lane's ceiling is rounded up to a whole millisecond. Without it the last one is granted twice.
    RoundEndUp,
    /// A clock that jumped is not believed. Without it the ceiling leads by the jump.
    FilterClock,
    /// Each path that mints respects the ceiling, even one that was paused.
    CheckCeilingAgain,
    /// Each attempt to write has a fresh random token, even in two copies of one machine.
    FreshToken,
    /// A forked child mints nothing.
    RefuseInChild,
}

impl Rule {
    const ALL: [Self; 8] = [
        Self::CompareToken,
        Self::SealBeforeSwitch,
        Self::SealBeforeRelease,
        Self::RoundEndUp,
        Self::FilterClock,
        Self::CheckCeilingAgain,
        Self::FreshToken,
        Self::RefuseInChild,
    ];
}

/// Which rules are in force: all of them, or all but one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rules {
    without: Option<Rule>,
}

impl Rules {
    pub(super) const fn without(rule: Rule) -> Self {
        Self { without: Some(rule) }
    }

    pub(super) fn keep(self, rule: Rule) -> bool {
        self.without != Some(rule)
    }
}

/// What shows that a rule is missing.
enum By {
    /// Random schedules, of at most this number.
    Random(u64),
    /// A schedule by hand.
    Hand(Schedule),
}

/// How each rule is found missing. Random schedules find some in seconds and others never.
const fn found_by(rule: Rule) -> By {
    use By::{Hand, Random};
    match rule {
        Rule::CompareToken => Hand(named::a_late_write_meets_a_restored_record),
        Rule::SealBeforeSwitch => Hand(named::a_lane_is_switched_within_a_millisecond),
        Rule::SealBeforeRelease => Hand(named::a_paused_thread_wakes_after_the_release),
        Rule::RoundEndUp => Hand(named::a_lane_changes_hands_within_a_millisecond),
        Rule::FilterClock | Rule::RefuseInChild => Random(2_000),
        Rule::CheckCeilingAgain => Hand(named::a_paused_thread_wakes_at_the_ceiling),
        Rule::FreshToken => Hand(named::two_copies_renew_at_once),
    }
}

/// The kinds of fault that stand for "two equal IDs", "IDs in the wrong order", and so on.
fn is_expected(rule: Rule, fault: &Fault) -> bool {
    match rule {
        Rule::SealBeforeSwitch => matches!(fault, Fault::Order { .. }),
        Rule::FilterClock => matches!(fault, Fault::Lead { .. }),
        Rule::RefuseInChild => *fault == Fault::ChildMinted,
        _ => matches!(fault, Fault::Overlap { .. }),
    }
}

#[test]
fn without_any_one_rule_a_schedule_shows_the_fault() {
    let mut missed = Vec::new();
    for rule in Rule::ALL {
        let found = match found_by(rule) {
            By::Random(most) => find_fault(rule, most),
            By::Hand(schedule) => schedule(Rules::without(rule)).map(|fault| (0, fault)),
        };
        println!("without {rule:?}: {found:?}");
        if !found.is_some_and(|(_, fault)| is_expected(rule, &fault)) {
            missed.push(rule);
        }
    }
    assert_eq!(missed, []);
}
