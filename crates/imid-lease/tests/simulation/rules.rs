//! Each rule is needed: without it, a schedule shows a fault.

use super::named::{self, Schedule};
use super::random::find_fault;
use super::world::Fault;
use crate::engine::rules::{Rule, Rules};

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
        Rule::GrantWhenAcknowledged => Hand(named::a_take_is_not_answered),
        Rule::CompareToken => Hand(named::a_late_write_meets_a_restored_record),
        Rule::WaitForTimeOut
        | Rule::WaitForHorizon
        | Rule::FloorAtCeiling
        | Rule::LoseToOthers
        | Rule::GrowByElapsedOnly
        | Rule::FilterClock
        | Rule::RenewEarly
        | Rule::RefuseInChild => Random(2_000),
        Rule::OnlyRaise => Hand(named::a_small_step_back_does_not_lower_the_ceiling),
        Rule::RenewSeldom => Hand(named::room_is_used_up_all_the_time),
        Rule::FreshToken => Hand(named::two_copies_renew_at_once),
        Rule::FloorAfterOwnStamps => Hand(named::stamps_ahead_of_the_clock_are_not_repeated_in_another_lane),
        Rule::SealBeforeSwitch => Hand(named::a_lane_is_switched_within_a_millisecond),
        Rule::OwnGrantOnly => Hand(named::an_acknowledgement_of_another_lane_is_late),
        Rule::StopWhenRegisterWentBack => Hand(named::the_register_is_restored_under_live_holders),
        Rule::SealBeforeRelease => Hand(named::a_paused_thread_wakes_after_the_release),
        Rule::RoundEndUp => Hand(named::a_lane_changes_hands_within_a_millisecond),
        Rule::NeverResume => Hand(named::a_release_is_not_answered),
        Rule::ReleaseOwnRecordOnly => Hand(named::a_release_meets_another_record),
        Rule::KeepRecords => Hand(named::a_released_lane_remembers_its_end),
        Rule::GrowWithTime => Hand(named::the_only_lane_is_ahead_of_the_clock),
        Rule::SkipFarAhead => Hand(named::a_lane_is_far_ahead),
        Rule::CheckCeilingAgain => Hand(named::a_paused_thread_wakes_at_the_ceiling),
        Rule::CheckMeta => Hand(named::the_number_of_lanes_is_another),
    }
}

/// The kinds of fault that stand for "two equal IDs", "IDs in the wrong order", and so on.
fn is_expected(rule: Rule, fault: &Fault) -> bool {
    match rule {
        Rule::WaitForTimeOut | Rule::WaitForHorizon => *fault == Fault::LostWhileHealthy,
        Rule::FloorAfterOwnStamps | Rule::SealBeforeSwitch => matches!(fault, Fault::Order { .. }),
        Rule::GrowWithTime => *fault == Fault::Stuck,
        Rule::GrowByElapsedOnly | Rule::FilterClock => matches!(fault, Fault::Lead { .. }),
        Rule::SkipFarAhead => *fault == Fault::FarAhead,
        Rule::RenewEarly => *fault == Fault::RefusedWhileHealthy,
        Rule::RenewSeldom => *fault == Fault::TooOften,
        Rule::RefuseInChild => *fault == Fault::ChildMinted,
        _ => matches!(fault, Fault::Overlap { .. }),
    }
}

#[test]
fn without_any_one_rule_a_schedule_shows_the_fault() {
    let mut missed = Vec::new();
    for rule in Rule::ALL.iter().copied() {
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
