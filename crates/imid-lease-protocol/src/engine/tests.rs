//! The times of an engine, to the millisecond: when it writes and lists, and how far it raises a ceiling.

use super::*;
use crate::record::{LaneState, Name, Space};

const T: u64 = 1_795_204_812_345;
const META: &str = "imid-lease/1 meta version=1 token=5b1f6c0e9d2a4477 layout=imid-80 bits=BITS era=1 floor=0 \
                    space=0f8fad5b-d9cb-469f-a165-70867728950e";

fn engine(bits: u32, horizon_ms: u64, max_skew_ms: u64) -> Engine {
    let (space, name) = (Space::lanes(bits).unwrap(), Name::parse("a").unwrap());
    Engine::new(Config { space, name, horizon_ms, max_skew_ms, any_lead: false })
}

fn at(mono_ms: u64) -> Moment {
    Moment { mono_ms, now_ms: Some(T + mono_ms), used_until_ms: 0 }
}

/// A list of a space in which one process holds each of the first lanes.
fn listed(bits: u32, lanes: usize, horizon_ms: u64, ceiling_ms: u64) -> Reply {
    let held = format!("version=1 token=0000000000000007 holder=b horizon={horizon_ms} ceiling={ceiling_ms} held");
    list_of(&META.replace("BITS", &bits.to_string()), 1, &vec![held; lanes])
}

/// A list of a space with this description, whose first lanes have these fields in this era.
fn list_of(meta: &str, era: u32, lanes: &[String]) -> Reply {
    let record = |(lane, fields)| (format!("lanes/{era}/{lane:05}"), format!("imid-lease/1 lane {fields}"));
    let mut records: Vec<_> = lanes.iter().enumerate().map(record).collect();
    records.push(("lanes/meta".into(), meta.into()));
    Reply::Listed(Ok(records))
}

/// Loses the race for the lane that the engine tries, and returns the key of its record.
fn lose(engine: &mut Engine, at: Moment, random: u128) -> String {
    let action = engine.poll(at, random);
    let Action::Write { attempt, key, .. } = action else { panic!("expected a write, found {action:?}") };
    engine.reply(at, Reply::Written { attempt, outcome: Outcome::Conflict });
    key
}

fn written(engine: &mut Engine, at: Moment, action: &Action, outcome: Outcome) -> u64 {
    let Action::Write { attempt, value, .. } = action else { panic!("expected a write, found {action:?}") };
    engine.reply(at, Reply::Written { attempt: *attempt, outcome });
    LaneRecord::parse(value).unwrap().ceiling_ms
}

/// An engine that holds the only lane since the time 1 s.
fn holder(horizon_ms: u64, max_skew_ms: u64) -> Engine {
    let (mut engine, at) = (engine(0, horizon_ms, max_skew_ms), at(1_000));
    assert_eq!(engine.poll(at, 0), Action::List);
    engine.reply(at, listed(0, 0, 0, 0));
    let take = engine.poll(at, 0);
    written(&mut engine, at, &take, Outcome::Acknowledged);
    confirm(&mut engine, at, &META.replace("BITS", "0"));
    assert_eq!(engine.poll(at, 0), Action::Seal);
    engine.reply(at, Reply::Sealed { end_ms: 0 });
    assert!(matches!(engine.poll(at, 0), Action::Start(_)));
    engine
}

/// The engine has taken a lane, and finds this description.
fn confirm(engine: &mut Engine, at: Moment, meta: &str) {
    assert_eq!(engine.poll(at, 0), Action::Read { key: "lanes/meta".into() });
    engine.reply(at, Reply::Read(Ok(Some(meta.into()))));
}

#[test]
fn a_late_acknowledgement_raises_the_ceiling_to_what_its_attempt_wrote() {
    let mut engine = holder(10_000, 1_000);
    let renew = engine.poll(at(3_500), 0);
    let ceiling_ms = written(&mut engine, at(3_500), &renew, Outcome::Unknown);
    assert_eq!(engine.grant().unwrap().ceiling_ms, T + 11_000);
    written(&mut engine, at(3_600), &renew, Outcome::Acknowledged);
    assert_eq!(engine.grant().unwrap().ceiling_ms, ceiling_ms);
    assert_eq!(ceiling_ms, T + 13_500);
}

#[test]
fn a_lane_without_a_time_grows_by_the_time_since_its_record_was_first_read() {
    let mut engine = holder(10_000, 1_000);
    let timeless = |mono_ms: u64| Moment { now_ms: None, used_until_ms: T + 10_900, ..at(mono_ms) };
    let renew = engine.poll(timeless(3_500), 0);
    let found = engine.present.as_ref().unwrap().record.to_string();
    assert_eq!(written(&mut engine, timeless(3_500), &renew, Outcome::Unknown), T + 11_000 + 2_500);
    assert!(matches!(engine.poll(timeless(3_700), 0), Action::Read { .. }));
    engine.reply(timeless(3_700), Reply::Read(Ok(Some(found))));
    let renew = engine.poll(timeless(4_000), 0);
    assert_eq!(written(&mut engine, timeless(4_000), &renew, Outcome::Acknowledged), T + 11_000 + 3_000);
}

#[test]
fn a_lane_is_used_once_the_description_was_read_again_and_given_back_if_that_has_changed() {
    let (most, meta) = (u128::MAX, META.replace("BITS", "0"));
    let taken = || {
        let mut engine = engine(0, 10_000, 1_000);
        engine.poll(at(1_000), most);
        let free = format!("version=7 token=0000000000000007 holder=b horizon=10000 ceiling={} free", T + 3_000);
        engine.reply(at(1_000), list_of(&meta, 1, &[free]));
        let take = engine.poll(at(1_000), most);
        written(&mut engine, at(1_000), &take, Outcome::Acknowledged);
        engine
    };
    // No answer. It tries again, and nothing is minted meanwhile.
    let mut engine = taken();
    assert!(matches!(engine.poll(at(1_000), most), Action::Read { .. }));
    engine.reply(at(1_000), Reply::Read(Err(Silence)));
    assert_eq!(engine.poll(at(1_000), most), Action::Sleep { until_ms: 1_100 });
    assert_eq!((engine.phase(), engine.is_given_back()), (Phase::Seeking, false));
    confirm(&mut engine, at(1_100), &meta);
    assert_eq!(engine.poll(at(1_100), most), Action::Seal);
    // A change of any field, or no description.
    for other in [Some(meta.replace("version=1", "version=2")), Some(meta.replace("5b1f", "6b1f")), None] {
        for (outcome, is_given_back) in
            [(Outcome::Acknowledged, true), (Outcome::Conflict, true), (Outcome::Unknown, false)]
        {
            let mut engine = taken();
            engine.poll(at(1_000), most);
            engine.reply(at(1_000), Reply::Read(Ok(other.clone())));
            let give_back = engine.poll(at(1_000), most - 5);
            let Action::Write { key, value, .. } = &give_back else { panic!("{give_back:?}") };
            let found = LaneRecord::parse(value).unwrap();
            assert_eq!((key.as_str(), found.version, found.state), ("lanes/1/00000", 9, LaneState::Free));
            assert_eq!(written(&mut engine, at(1_000), &give_back, outcome), T + 3_000, "where it began");
            assert_eq!((engine.is_given_back(), engine.grant()), (is_given_back, None));
            let next = engine.poll(at(1_000), most);
            let expected = if is_given_back { Action::List } else { Action::Sleep { until_ms: 1_100 } };
            assert_eq!(next, expected);
        }
    }
    // A close gives it back as any other lane.
    let mut engine = taken();
    engine.close();
    assert_eq!(engine.poll(at(1_000), most), Action::Seal);
    engine.reply(at(1_000), Reply::Sealed { end_ms: 0 });
    let release = engine.poll(at(1_000), most);
    assert_eq!(written(&mut engine, at(1_000), &release, Outcome::Acknowledged), T + 3_000);
    assert!(engine.is_given_back());
}

#[test]
fn who_finds_no_lane_lists_again_after_a_wait_that_doubles_by_chance_to_half_of_it() {
    for (bits, horizon_ms, waits_ms) in [
        (0, 10_000, [75, 75, 75, 75]),
        (6, 10_000, [128, 256, 512, 1_024]),
        (7, 10_000, [256, 512, 1_024, 2_048]),
        (8, 10_000, [1_024, 2_048, 4_096, 4_096]),
        (8, 2_000, [1_024, 1_600, 1_600, 1_600]),
    ] {
        for (random, divisor) in [(u128::MAX, 1), (0, 2)] {
            let (mut engine, mut mono_ms) = (engine(bits, horizon_ms, 100), 1_000);
            for wait_ms in waits_ms {
                assert_eq!(engine.poll(at(mono_ms), random), Action::List);
                engine.reply(at(mono_ms), listed(bits, 1 << bits, 60_000, T));
                let until_ms = mono_ms + wait_ms / 2 + if divisor == 1 { wait_ms / 2 } else { 0 };
                assert_eq!(engine.poll(at(mono_ms), random), Action::Sleep { until_ms }, "{bits} bits, {wait_ms} ms");
                mono_ms = until_ms;
            }
        }
    }
}

#[test]
fn a_lane_that_times_out_is_tried_a_little_later_by_those_who_wait() {
    for (random, pause_ms) in [(u128::MAX, 8), (0, 0)] {
        let mut engine = engine(4, 10_000, 100);
        engine.poll(at(1_000), random);
        engine.reply(at(1_000), listed(4, 16, 30, T));
        assert_eq!(engine.next_time_out_ms(), Some(1_030));
        let until_ms = 1_030 + pause_ms;
        assert_eq!(engine.poll(at(1_000), random), Action::Sleep { until_ms });
        assert_eq!(engine.poll(at(until_ms - 1), random), Action::Sleep { until_ms }, "it was woken early");
        assert!(matches!(engine.poll(at(until_ms), random), Action::Write { .. }));
    }
}

#[test]
fn who_loses_a_race_tries_one_more_lane_of_the_list_if_an_eighth_of_them_is_left() {
    let (most, meta) = (u128::MAX, META.replace("BITS", "4"));
    let lane = |end: &str| format!("version=1 token=0000000000000007 holder=b horizon=60000 ceiling=0 {end}");
    for (free, is_tried) in [(3, true), (2, false)] {
        let mut engine = engine(4, 10_000, 100);
        engine.poll(at(1_000), most);
        engine.reply(at(1_000), list_of(&meta, 1, &[vec![lane("free"); free], vec![lane("held"); 16 - free]].concat()));
        let first = lose(&mut engine, at(1_000), most);
        if is_tried {
            assert_ne!(lose(&mut engine, at(1_000), most), first);
        }
        assert_eq!(engine.poll(at(1_000), most), Action::Sleep { until_ms: 1_000 + POLL_MS }, "{free} free lanes");
    }
    // The wait after it doubles.
    let (mut engine, mut mono_ms) = (engine(8, 10_000, 100), 1_000);
    for wait_ms in [128, 256, 512] {
        assert_eq!(engine.poll(at(mono_ms), most), Action::List);
        engine.reply(at(mono_ms), list_of(&META.replace("BITS", "8"), 1, &vec![lane("free"); 256]));
        (0..2).for_each(|_| _ = lose(&mut engine, at(mono_ms), most));
        assert_eq!(engine.poll(at(mono_ms), most), Action::Sleep { until_ms: mono_ms + wait_ms });
        mono_ms += wait_ms;
    }
}

#[test]
fn who_loses_a_race_takes_a_lane_that_it_still_holds_and_no_other_of_its_name() {
    for (end, expected) in [("held", "lanes/1/00001"), ("free", "lanes/1/00000")] {
        let lane = |holder: &str, ahead_ms: u64, end: &str| {
            format!("version=1 token=0000000000000007 holder={holder} horizon=60000 ceiling={} {end}", T + ahead_ms)
        };
        let lanes = [lane("b", 3_000, "free"), lane("a", 4_000, end), lane("b", 2_000, "free"), lane("b", 0, "held")];
        let mut engine = engine(2, 10_000, 100);
        engine.poll(at(1_000), 0);
        engine.reply(at(1_000), list_of(&META.replace("BITS", "2"), 1, &lanes));
        assert_eq!(lose(&mut engine, at(1_000), 0), "lanes/1/00002", "the one that is least ahead");
        assert_eq!(lose(&mut engine, at(1_000), 0), expected, "{end}");
    }
}

#[test]
fn time_in_which_the_store_does_not_answer_is_not_watched() {
    for fails in [false, true] {
        let mut engine = engine(0, 10_000, 100);
        engine.poll(at(1_000), 0);
        engine.reply(at(1_000), listed(0, 1, 3_000, T));
        engine.poll(at(1_000), 0);
        assert_eq!(engine.poll(at(1_500), 0), Action::List);
        engine.reply(at(1_500), listed(0, 1, 3_000, T));
        engine.poll(at(1_500), 0);
        assert_eq!(engine.poll(at(2_000), 0), Action::List);
        engine.reply(at(2_000), if fails { Reply::Listed(Err(Silence)) } else { listed(0, 1, 3_000, T) });
        engine.poll(at(2_000), 0);
        let next = engine.poll(at(5_500), 0);
        assert_eq!((next == Action::List, matches!(next, Action::Write { .. })), (fails, !fails));
        if fails {
            engine.reply(at(5_500), listed(0, 1, 3_000, T));
            // It was watched for half a second.
            assert_eq!(engine.next_time_out_ms(), Some(5_500 - 500 + 3_000));
        }
    }
}

#[test]
fn the_first_grant_of_a_lane_that_was_recovered_reaches_a_quarter_of_the_horizon_above_its_floor() {
    let meta = META.replace("BITS", "0").replace("floor=0", &format!("floor={}", T + 16_000));
    for (ceiling_ms, expected_ms) in [(16_000, Some(18_500)), (16_001, None)] {
        let mut engine = engine(0, 10_000, 5_000);
        engine.poll(at(1_000), 0);
        let free = format!("version=2 token=0000000000000007 holder=recover horizon=0 ceiling={} free", T + ceiling_ms);
        engine.reply(at(1_000), list_of(&meta, 1, &[free]));
        let action = engine.poll(at(1_000), 0);
        let found_ms = match &action {
            Action::Write { value, .. } => Some(LaneRecord::parse(value).unwrap().ceiling_ms - T),
            _ => None,
        };
        // Somebody has minted in the other one, and each restart would take it further ahead.
        assert_eq!(found_ms, expected_ms, "{action:?}");
    }
}

#[test]
fn a_lane_that_has_timed_out_and_is_not_taken_wakes_nobody() {
    let mut engine = engine(0, 10_000, 100);
    engine.poll(at(1_000), 0);
    // Far ahead of the clock.
    engine.reply(at(1_000), listed(0, 1, 30, T + 10_000_000));
    assert_eq!(engine.poll(at(1_000), 0), Action::Sleep { until_ms: 1_030 });
    assert_eq!(engine.poll(at(1_030), 0), Action::Sleep { until_ms: 1_000 + POLL_MS / 2 });
}

#[test]
fn who_holds_a_lane_and_gets_no_answer_asks_often_while_it_has_room_to_mint() {
    let (mut engine, most) = (holder(10_000, 1_000), u128::MAX);
    let renew = engine.poll(at(3_500), most);
    written(&mut engine, at(3_500), &renew, Outcome::Unknown);
    let (mut mono_ms, mut waits_ms) = (3_500, Vec::new());
    while mono_ms < 21_000 {
        let Action::Sleep { until_ms } = engine.poll(at(mono_ms), most) else { panic!("it does not wait") };
        waits_ms.push(until_ms - mono_ms);
        mono_ms = until_ms;
        assert!(matches!(engine.poll(at(mono_ms), most), Action::Read { .. }) && engine.is_waiting());
        engine.reply(at(mono_ms), Reply::Read(Err(Silence)));
        assert!(!engine.is_waiting());
    }
    // An eighth of the horizon, until the clock is at the ceiling.
    assert_eq!(waits_ms[..10], [100, 200, 400, 800, 1_250, 1_250, 1_250, 1_250, 1_250, 1_000]);
}

/// Refuses the write that the engine tries, and returns for how long it waits then.
fn refuse(engine: &mut Engine, mono_ms: u64) -> u64 {
    let write = engine.poll(at(mono_ms), u128::MAX);
    written(engine, at(mono_ms), &write, Outcome::Unknown);
    let Action::Sleep { until_ms } = engine.poll(at(mono_ms), u128::MAX) else { panic!("it does not wait") };
    until_ms - mono_ms
}

/// As those of a store whose disk is full.
#[test]
fn writes_that_are_refused_are_tried_ever_more_seldom_although_reads_are_answered() {
    let (mut holder, mut mono_ms) = (holder(10_000, 1_000), 3_500);
    let found = holder.present.as_ref().unwrap().record.to_string();
    let waits_ms = [0; 11].map(|_| {
        let pause_ms = refuse(&mut holder, mono_ms);
        mono_ms += pause_ms;
        assert!(matches!(holder.poll(at(mono_ms), 0), Action::Read { .. }));
        holder.reply(at(mono_ms), Reply::Read(Ok(Some(found.clone()))));
        pause_ms
    });
    assert_eq!(waits_ms, [100, 200, 400, 800, 1_250, 1_250, 1_250, 1_250, 1_250, 1_000, 1_000]);
    let (mut seeker, mut mono_ms) = (engine(0, 10_000, 1_000), 1_000);
    let waits_ms = [0; 8].map(|_| {
        assert_eq!(seeker.poll(at(mono_ms), 0), Action::List);
        seeker.reply(at(mono_ms), listed(0, 0, 0, 0));
        let pause_ms = refuse(&mut seeker, mono_ms);
        mono_ms += pause_ms;
        pause_ms
    });
    assert_eq!(waits_ms, [100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000]);
}

#[test]
fn the_latest_attempts_are_remembered_and_an_older_one_that_takes_effect_is_a_lost_lane() {
    let (mut engine, mut values) = (holder(10_000, 1_000), Vec::new());
    let found = engine.present.as_ref().unwrap().record.to_string();
    for mono_ms in (0..1_100).map(|round| 20_000 * (1 + round)) {
        // What has no effect is read again.
        engine.reply(at(mono_ms), Reply::Read(Ok(Some(found.clone()))));
        let write = engine.poll(at(mono_ms), 0);
        written(&mut engine, at(mono_ms), &write, Outcome::Unknown);
        let Action::Write { value, .. } = write else { panic!("{write:?}") };
        values.push(value);
        assert!(matches!(engine.poll(at(mono_ms + 15_000), 0), Action::Read { .. }));
    }
    for (value, lost) in [(&values[75], 1), (&values[76], 0), (&values[1_099], 0)] {
        let mut engine = engine.clone();
        engine.reply(at(30_000_000), Reply::Read(Ok(Some(value.clone()))));
        assert_eq!(engine.counts().0, lost, "{value}");
    }
}

const OTHER_SPACE: [&str; 2] = ["space=0f8f", "space=1f8f"];

#[test]
fn a_description_that_is_older_than_what_was_acknowledged_stops_the_lease() {
    let meta = META.replace("BITS", "0").replace("version=1", "version=2").replace("era=1", "era=2");
    for (change, is_reverted) in [
        (["version=2", "version=3"], false),
        (["version=2", "version=1"], true),
        (["era=2", "era=1"], true),
        (OTHER_SPACE, true),
    ] {
        let mut engine = engine(0, 10_000, 1_000);
        engine.poll(at(1_000), 0);
        engine.reply(at(1_000), list_of(&meta, 2, &[]));
        let take = engine.poll(at(1_000), 0);
        written(&mut engine, at(1_000), &take, Outcome::Acknowledged);
        confirm(&mut engine, at(1_000), &meta);
        engine.poll(at(1_000), 0);
        engine.reply(at(1_000), Reply::Sealed { end_ms: 0 });
        engine.poll(at(1_000), 0);
        // The lane is lost, so all are listed again.
        lose(&mut engine, at(3_500), 0);
        engine.poll(at(3_500), 0);
        let others = format!("version=9 token=0000000000000007 holder=b horizon=10000 ceiling={} held", T + 90_000);
        engine.reply(at(3_500), Reply::Read(Ok(Some(format!("imid-lease/1 lane {others}")))));
        assert_eq!(engine.poll(at(3_500), 0), Action::List);
        engine.reply(at(3_500), list_of(&meta.replace(change[0], change[1]), 2, &[others]));
        let reverted = Stopped::Reverted { key: "lanes/meta".into() };
        assert_eq!(engine.stopped(), is_reverted.then_some(&reverted), "{change:?}");
    }
}

#[test]
fn a_record_of_another_space_or_era_is_watched_from_its_beginning() {
    let (meta, mono_ms) = (META.replace("BITS", "0"), 1_000 + POLL_MS / 2);
    for (change, era, since_ms) in
        [(["version=1", "version=2"], 1, 1_000), (OTHER_SPACE, 1, mono_ms), (["era=1", "era=2"], 2, mono_ms)]
    {
        let mut engine = engine(0, 10_000, 1_000);
        engine.poll(at(1_000), 0);
        engine.reply(at(1_000), listed(0, 1, 60_000, T));
        engine.poll(at(1_000), 0);
        assert_eq!(engine.poll(at(mono_ms), 0), Action::List);
        let held = format!("version=1 token=0000000000000007 holder=b horizon=60000 ceiling={T} held");
        engine.reply(at(mono_ms), list_of(&meta.replace(change[0], change[1]), era, &[held]));
        assert_eq!(engine.next_time_out_ms(), Some(since_ms + 60_000), "{change:?}");
    }
}
