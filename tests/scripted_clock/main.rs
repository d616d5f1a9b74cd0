//! Random scripts of clock and calls over random settings, each step compared with a plain model of the rule.
//!
//! The model knows the rule and the settings, and shares no code with the generator. Besides what it says, each ID is
//! checked for what callers rely on: after its session's last, after what was observed, not older than the clock, not
//! further ahead than the limits allow.
#![cfg(target_has_atomic = "64")]

mod model;
mod play;
mod script;

use core::cell::Cell;

use proptest::prelude::*;

use self::model::Settings;
use self::play::Play;
use self::script::{Face, Return, Run, ScriptedClock, Step, script};

fn play<const STRIPES: usize>(base: u64, settings: Settings, script: &[Step]) {
    let clock = ScriptedClock(Cell::new(Face::Time(base)));
    let mut play = Play::<STRIPES>::new(settings, &clock);
    for step in script {
        play.step(*step);
    }
    play.finish();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, max_shrink_iters: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn one_stripe_does_what_the_rule_says((base, settings, script) in script(false)) {
        play::<1>(base, settings, &script);
    }

    #[test]
    fn three_stripes_do_what_the_rule_says((base, settings, script) in script(false)) {
        play::<3>(base, settings, &script);
    }

    #[test]
    fn sixty_four_stripes_do_what_the_rule_says((base, settings, script) in script(false)) {
        play::<64>(base, settings, &script);
    }

    #[test]
    fn with_ids_from_elsewhere_three_stripes_do_what_the_rule_says((base, settings, script) in script(true)) {
        play::<3>(base, settings, &script);
    }
}

/// The clock cannot have moved a time that was reached before its first reading. So the floor of a lane counts as a jump from the
/// first reading that is accepted, and not from the one that is too far behind it.
#[test]
fn a_step_back_after_a_floor_that_was_refused_at_first_is_slewed_from_the_first_reading() {
    let settings = Settings {
        is_rolling: false,
        seed: 0,
        lane: Some((0, 0)),
        max_lead: Some(1_000),
        max_rollback: Some(3),
        max_skew: Some(0),
        floor: Some(8),
        ceiling: None,
    };
    let script = [
        Step::Mint(4, Run::One, Return::OnTime),
        Step::Forward(1),
        Step::Mint(3, Run::One, Return::Never),
        Step::Back(1),
        Step::Mint(4, Run::One, Return::Never),
        Step::Forward(3),
        Step::Mint(0, Run::One, Return::Never),
    ];
    play::<3>(0, settings.clone(), &script);
    play::<3>(0, Settings { lane: None, ..settings }, &script);
}
