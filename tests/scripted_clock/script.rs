//! What can happen: settings, readings of the clock, calls.

use core::cell::Cell;

use imid::clock::Clock;
use imid::clock::ClockError;
use imid::{SessionHash, SessionTag, SessionType};
use proptest::prelude::*;
use proptest::sample::select;

use super::model::{LAST_MS, Settings};

/// What the clock shows: a time, or why there is none.
#[derive(Clone, Copy, Debug)]
pub(super) enum Face {
    Time(u64),
    Before1970,
    Absent,
}

pub(super) struct ScriptedClock(pub(super) Cell<Face>);

impl Clock for ScriptedClock {
    fn now_ms(&self) -> Result<u64, ClockError> {
        match self.0.get() {
            Face::Time(ms) => Ok(ms),
            Face::Before1970 => Err(ClockError::before_1970()),
            Face::Absent => Err(ClockError::unavailable()),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Run {
    /// `generate`.
    One,
    /// Milliseconds' worth and some more, by `batch` or by `fill`.
    Of { ms: u64, more: u64, fill: bool },
    /// The longest run and this many more or less.
    Longest(i64),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Return {
    Never,
    OnTime,
    /// A millisecond too early, and then on time.
    Early,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Forward(u64),
    Back(u64),
    Show(Face),
    /// A session, a run, and whether to come back after exactly the wait that a refusal names.
    Mint(usize, Run, Return),
    /// An ID this far ahead of the latest time that the clock has shown.
    Observe {
        ahead: i64,
        spin: u16,
    },
    /// A trusted ID, likewise.
    Floor {
        ahead: i64,
        spin: u16,
    },
    /// A ceiling this far ahead, likewise.
    Ceiling {
        ahead: i64,
    },
    Close,
}

/// Sessions of different stripes, of one stripe, and of one hash.
pub(super) fn sessions() -> [SessionTag; 5] {
    [(3, 0), (3, 1), (4, 1), (1, 4_194_303), (15, 64)].map(|(code, hash)| {
        SessionTag::from_parts(SessionType::from_u8(code).unwrap(), SessionHash::from_u32(hash).unwrap())
    })
}

fn limit() -> impl Strategy<Value = Option<u64>> {
    prop_oneof![6 => (0_u64..12).prop_map(Some), 1 => Just(Some(1_000)), 1 => Just(None)]
}

prop_compose! {
    fn settings(base: u64, floors: bool)(
        is_rolling in any::<bool>(),
        seed in any::<u64>(),
        // Full lanes make milliseconds small, and their edges near.
        lane in prop::option::weighted(0.75, prop_oneof![1 => Just(0_u32), 6 => 8_u32..=12, 2 => 1_u32..8]
            .prop_flat_map(|bits| (0..1_u16 << bits, Just(bits)))),
        (max_lead, max_rollback, max_skew) in (limit(), limit(), limit()),
        floor in prop::option::weighted(0.3, -20_i64..20),
        ceiling in prop::option::weighted(0.2, -5_i64..60),
    ) -> Settings {
        let floor = floor.filter(|_| floors).map(|offset| base.saturating_add_signed(offset).min(LAST_MS));
        let ceiling = ceiling.map(|offset| base.saturating_add_signed(offset));
        Settings { is_rolling, seed, lane, max_lead, max_rollback, max_skew, floor, ceiling }
    }
}

fn step() -> impl Strategy<Value = Step> {
    let time = prop_oneof![Just(0), 0_u64..30, 1_000_000_000_000..1_000_000_000_030_u64, LAST_MS - 30..=LAST_MS];
    let face = prop_oneof![
        4 => time.prop_map(Face::Time),
        1 => Just(Face::Before1970),
        1 => Just(Face::Absent),
        1 => select(vec![LAST_MS + 1, u64::MAX]).prop_map(Face::Time),
    ];
    let run = prop_oneof![
        4 => Just(Run::One),
        5 => (0_u64..14, 0_u64..4, any::<bool>()).prop_map(|(ms, more, fill)| Run::Of { ms, more, fill }),
        1 => (-1_i64..=1).prop_map(Run::Longest),
    ];
    let comeback = select(vec![Return::Never, Return::OnTime, Return::Early]);
    prop_oneof![
        20 => (0..sessions().len(), run, comeback).prop_map(|(session, run, back)| Step::Mint(session, run, back)),
        8 => (0_u64..4).prop_map(Step::Forward),
        2 => (4_u64..40).prop_map(Step::Forward),
        5 => (1_u64..14).prop_map(Step::Back),
        3 => (-10_i64..16, 0_u16..4096).prop_map(|(ahead, spin)| Step::Observe { ahead, spin }),
        1 => face.prop_map(Step::Show),
        1 => (-10_i64..40, 0_u16..4096).prop_map(|(ahead, spin)| Step::Floor { ahead, spin }),
        1 => (-5_i64..40).prop_map(|ahead| Step::Ceiling { ahead }),
    ]
}

/// A base time, settings and steps; with `floors` also IDs from elsewhere.
pub(super) fn script(floors: bool) -> impl Strategy<Value = (u64, Settings, Vec<Step>)> {
    let base = prop_oneof![Just(0), Just(1_000_000_000_010), Just(LAST_MS - 30)];
    let close = prop::option::weighted(0.2, 0_usize..100);
    let steps = (prop::collection::vec(step(), 1..100), close).prop_map(move |(mut steps, close)| {
        if let Some(at) = close {
            steps.insert(at.min(steps.len()), Step::Close);
        }
        steps.retain(|step| floors || !matches!(step, Step::Observe { .. } | Step::Floor { .. }));
        steps
    });
    (base, steps).prop_flat_map(move |(base, steps)| (Just(base), settings(base, floors), Just(steps)))
}
