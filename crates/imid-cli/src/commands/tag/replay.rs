//! Mints IDs for messages that have their own times.

use std::time::Duration;

use imid::clock::{ManualClock, SystemClock};
use imid::generator::{BuildError, Builder, GenerateError};
use imid::{Generator, MessageId, SessionTag};
use imid_inspect::time::duration;

/// Mints IDs with the times of messages, strictly increasing in the order of the messages.
///
/// If a message is earlier than a message before it, its ID moves forward to the latest time so far.
pub(crate) struct Replay {
    generator: Generator<ManualClock>,
    max_shift: Option<u64>,
    clock_ms: u64,
    /// The earliest time that the next ID can have.
    earliest: u64,
    /// The line that set `earliest`; 0 for the previous run.
    latest_line: u64,
    shifts: Shifts,
}

/// How many IDs moved forward, and the longest move, which was to the time of a line; 0 is the previous run.
#[derive(Clone, Copy, Default)]
pub(crate) struct Shifts {
    pub(crate) count: u64,
    pub(crate) largest_ms: u64,
    pub(crate) line: u64,
}

impl Replay {
    /// Returns a replay with the settings of a builder. It lifts the limits on the clock, because the messages set the
    /// time.
    ///
    /// `max_shift` is how far an ID may move forward, in milliseconds.
    pub(crate) fn new(builder: Builder<SystemClock, 1>, max_shift: Option<u64>) -> Result<Self, BuildError> {
        let unlimited = builder.max_lead(Duration::MAX).max_rollback(Duration::MAX);
        Ok(Self {
            generator: unlimited.clock(ManualClock::new(0)).build()?,
            max_shift,
            clock_ms: 0,
            earliest: 0,
            latest_line: 0,
            shifts: Shifts::default(),
        })
    }

    /// Continues exactly after the last ID of the previous run, in its millisecond if that has room. So an input that is
    /// tagged in pieces gets the IDs of one run.
    ///
    /// `Builder::floor` would skip the rest of that millisecond.
    pub(crate) fn continue_after(&mut self, last: MessageId) -> Result<(), GenerateError> {
        let place = |id: MessageId| (id.timestamp_ms(), id.spin());
        // The clock starts one millisecond earlier. A millisecond begins at a spin that depends on the seed, and IDs with
        // a lower spin are only there if the millisecond before it was full. So this reaches each spin.
        self.set_clock(last.timestamp_ms().saturating_sub(1));
        loop {
            let passed = self.generator.generate(last.session_tag())?;
            self.earliest = earliest_after(passed);
            if place(passed) >= place(last) {
                return Ok(());
            }
        }
    }

    /// Moves the clock forward to a time. It never goes back, because a generator catches up slowly with a clock that
    /// was set back: its IDs would be later than all messages.
    fn set_clock(&mut self, unix_ms: u64) {
        self.clock_ms = self.clock_ms.max(unix_ms);
        self.generator.clock().set(self.clock_ms);
    }

    /// Mints the ID of the message of a line, with its time in Unix milliseconds.
    ///
    /// The limit is checked before the generator sees the time, so a refused line changes nothing.
    pub(crate) fn mint(&mut self, session: SessionTag, unix_ms: u64, line: u64) -> Result<MessageId, String> {
        let shift = self.earliest.saturating_sub(unix_ms);
        if let Some(max) = self.max_shift.filter(|max| shift > *max) {
            let (shift, cause, max) = (duration(shift), time_of(self.latest_line), duration(max));
            return Err(format!("the ID would move forward by {shift}, to {cause} (limit {max})"));
        }
        self.set_clock(unix_ms);
        let id = self.generator.generate(session).map_err(|error| error.to_string())?;
        if shift == 0 {
            self.latest_line = line;
        } else {
            self.shifts.count += 1;
            if shift > self.shifts.largest_ms {
                (self.shifts.largest_ms, self.shifts.line) = (shift, self.latest_line);
            }
        }
        self.earliest = earliest_after(id);
        Ok(id)
    }

    pub(crate) fn shifts(&self) -> Shifts {
        self.shifts
    }
}

/// Names the time to which an ID moves.
pub(crate) fn time_of(line: u64) -> String {
    if line == 0 { "the end of the previous run".into() } else { format!("the time of line {line}") }
}

/// Returns the earliest time that the ID after this one can have. The next millisecond comes after the last spin.
fn earliest_after(id: MessageId) -> u64 {
    id.timestamp_ms() + u64::from(id.spin() == MessageId::SPIN_MAX)
}

#[cfg(test)]
mod tests {
    use std::iter;

    use imid::IdParts;
    use proptest::prelude::*;

    use super::*;

    const NOON: u64 = 1_763_640_000_000;

    fn replay(after: Option<MessageId>, max_shift: Option<u64>) -> Replay {
        let mut replay = Replay::new(Generator::builder().seed(1), max_shift).unwrap();
        if let Some(last) = after {
            replay.continue_after(last).unwrap();
        }
        replay
    }

    #[test]
    fn the_computed_shift_is_that_of_the_id() {
        let mut replay = replay(None, None);
        let session = SessionTag::from_u32(0).unwrap();
        // Times go forward and back, and one millisecond has more messages than fit.
        let times = [0, 5, 5, 1, 90, 89, 88].into_iter().chain(iter::repeat_n(90, 10_000)).chain([91, 92, 93, 1_000]);
        let (mut last, mut moved, mut largest) = (None, 0, 0);
        for (line, ms) in times.enumerate() {
            let id = replay.mint(session, NOON + ms, line as u64 + 1).unwrap();
            assert!(last < Some(id), "{id} after {last:?}");
            let shift = id.timestamp_ms() - (NOON + ms);
            (last, moved, largest) = (Some(id), moved + u64::from(shift > 0), largest.max(shift));
        }
        assert!(moved > 5_000);
        assert_eq!((replay.shifts().count, replay.shifts().largest_ms), (moved, largest));
    }

    #[test]
    fn a_shift_past_the_limit_is_refused_and_changes_nothing() {
        let session = SessionTag::from_u32(0).unwrap();
        let (mut refusing, mut plain) = (replay(None, Some(10)), replay(None, None));
        for replay in [&mut refusing, &mut plain] {
            replay.mint(session, NOON, 1).unwrap();
        }
        let error = refusing.mint(session, NOON - 11, 2).unwrap_err();
        assert_eq!(error, "the ID would move forward by 11 ms, to the time of line 1 (limit 10 ms)");
        assert_eq!(refusing.mint(session, NOON - 10, 3), plain.mint(session, NOON - 10, 3));
        assert_eq!(refusing.shifts().largest_ms, 10);
    }

    #[test]
    fn a_run_continues_after_the_previous_one() {
        let after = MessageId::last_at(NOON).unwrap();
        let mut replay = replay(Some(after), Some(1));
        let error = replay.mint(SessionTag::from_u32(0).unwrap(), NOON - 1, 1).unwrap_err();
        assert_eq!(error, "the ID would move forward by 2 ms, to the end of the previous run (limit 1 ms)");
        let id = replay.mint(SessionTag::from_u32(0).unwrap(), NOON, 2).unwrap();
        assert!(id > after);
        assert_eq!((id.timestamp_ms(), replay.shifts().largest_ms), (NOON + 1, 1));
    }

    /// Asserts that the messages get the same IDs in one run as in runs that end at these places.
    fn assert_cuts_change_nothing(seed: u64, times: &[u64], cuts: impl IntoIterator<Item = usize>) {
        let run = |after, times: &[u64]| {
            let mut replay = Replay::new(Generator::builder().seed(seed), None).unwrap();
            if let Some(last) = after {
                replay.continue_after(last).unwrap();
            }
            let ids: Vec<_> =
                times.iter().map(|ms| replay.mint(SessionTag::from_u32(0).unwrap(), *ms, 1).unwrap()).collect();
            (ids, replay.shifts().count)
        };
        let (all, moved) = run(None, times);
        for cut in cuts {
            let (before, after) = times.split_at(cut);
            let (first, first_moved) = run(None, before);
            let (rest, rest_moved) = run(first.last().copied(), after);
            // Not `assert_eq`: there are too many IDs to print.
            assert!([first, rest].concat() == all, "seed {seed}, cut at {cut}");
            assert_eq!(first_moved + rest_moved, moved, "seed {seed}, cut at {cut}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn random_cuts_of_random_bursts_change_no_id(
            seed: u64,
            // Bursts: when they are, relative to the burst before, and how many messages they have.
            bursts in prop::collection::vec((-3_i64..4, 1_usize..7_000), 1..6),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 8),
        ) {
            let mut ms = NOON;
            let mut times = Vec::new();
            for (step, size) in bursts {
                ms = ms.checked_add_signed(step).unwrap();
                times.extend(iter::repeat_n(ms, size));
            }
            assert_cuts_change_nothing(seed, &times, cuts.iter().map(|cut| cut.index(times.len())));
        }
    }

    #[test]
    fn ids_are_never_later_than_the_latest_message_unless_a_millisecond_is_full() {
        let mut replay = replay(None, None);
        let mut latest = 0;
        // Far back, then slowly forward again.
        for ms in [100_000, 0, 60_000, 99_999, 99_998, 100_000, 100_001, 3, 100_001] {
            latest = latest.max(NOON + ms);
            assert_eq!(
                replay.mint(SessionTag::from_u32(0).unwrap(), NOON + ms, 1).unwrap().timestamp_ms(),
                latest,
                "{ms}"
            );
        }
        assert_eq!(replay.shifts().largest_ms, 100_000);
    }

    #[test]
    fn a_run_with_another_seed_continues_in_the_same_millisecond_or_the_next() {
        for spin in [0, 1, 2_000, 4_094] {
            let after = MessageId::try_from_parts(IdParts {
                timestamp_ms: NOON,
                spin,
                session_tag: SessionTag::from_u32(0).unwrap(),
            })
            .unwrap();
            let id = replay(Some(after), None).mint(SessionTag::from_u32(0).unwrap(), NOON, 1).unwrap();
            assert!(id > after && id.timestamp_ms() <= NOON + 1, "{id} after {after}");
        }
    }

    #[test]
    fn the_end_of_time_is_an_error_and_not_a_wrap() {
        let mut replay = replay(Some(MessageId::MAX), None);
        let error = replay.mint(SessionTag::from_u32(0).unwrap(), NOON, 1).unwrap_err();
        assert_eq!(error, "too few IDs are left until the end of time (2109-05-15)");
    }
}
