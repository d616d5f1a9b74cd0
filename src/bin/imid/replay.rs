//! Minting for messages that bring their own times.

use std::time::Duration;

use imid::clock::{ManualClock, SystemClock};
use imid::error::BuildError;
use imid::generator::Builder;
use imid::{Generator, MessageId, Session};

/// Mints by the times of messages: strictly increasing in the order in which they come.
///
/// A message that is earlier than one before it gets an ID that is moved forward, to the time that was reached.
pub(crate) struct Replay {
    generator: Generator<ManualClock>,
    max_shift: Option<u64>,
    /// The earliest time that the next ID can have, and the line that brought it; line 0 is the former run.
    earliest: u64,
    latest_line: u64,
    shifts: Shifts,
}

/// How often IDs were moved forward, and by how much at most.
#[derive(Clone, Copy, Default)]
pub(crate) struct Shifts {
    pub(crate) count: u64,
    pub(crate) largest_ms: u64,
}

impl Replay {
    /// By the settings of a builder but for the limits, which are lifted: time goes as the messages do.
    ///
    /// `after` is the last ID of a former run, and `max_shift` how far an ID may be moved forward, in milliseconds.
    pub(crate) fn new(
        builder: Builder<SystemClock, 1>,
        after: Option<MessageId>,
        max_shift: Option<u64>,
    ) -> Result<Self, BuildError> {
        let lifted = builder.max_lead(Duration::MAX).max_rollback(Duration::MAX);
        Ok(Self {
            generator: lifted.clock(ManualClock::new(0)).build()?,
            max_shift,
            // NOTE: as `Builder::floor` has it, new IDs come in a later millisecond.
            earliest: after.map_or(0, |id| id.timestamp_ms() + 1),
            latest_line: 0,
            shifts: Shifts::default(),
        })
    }

    /// Mints for the message of a line, by its time in unix milliseconds.
    ///
    /// What cannot be minted changes nothing: the limit is looked at before the generator sees the time.
    pub(crate) fn mint(&mut self, session: Session, unix_ms: u64, line: u64) -> Result<MessageId, String> {
        let shift = self.earliest.saturating_sub(unix_ms);
        if let Some(max) = self.max_shift.filter(|max| shift > *max) {
            let cause = match self.latest_line {
                0 => "the end of the former run".into(),
                line => format!("the time of line {line}"),
            };
            return Err(format!("expected to move the ID forward by at most {max} ms, found {shift} ms, to {cause}"));
        }
        self.generator.clock().set(unix_ms);
        let id = self.generator.generate(session).map_err(|error| error.to_string())?;
        if shift == 0 {
            self.latest_line = line;
        } else {
            self.shifts.count += 1;
            self.shifts.largest_ms = self.shifts.largest_ms.max(shift);
        }
        self.earliest = id.timestamp_ms() + u64::from(id.spin() == MessageId::SPIN_MAX);
        Ok(id)
    }

    pub(crate) fn shifts(&self) -> Shifts {
        self.shifts
    }
}

#[cfg(test)]
mod tests {
    use std::iter;

    use super::*;

    const NOON: u64 = 1_763_640_000_000;

    fn replay(after: Option<MessageId>, max_shift: Option<u64>) -> Replay {
        let builder = Generator::builder().seed(1);
        Replay::new(after.map_or(builder.clone(), |id| builder.floor(id)), after, max_shift).unwrap()
    }

    #[test]
    fn the_shift_foretold_is_the_shift_of_the_id() {
        let mut replay = replay(None, None);
        let session = Session::default();
        // Forward, back, and far more than a millisecond holds.
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
        let session = Session::default();
        let (mut refusing, mut plain) = (replay(None, Some(10)), replay(None, None));
        for replay in [&mut refusing, &mut plain] {
            replay.mint(session, NOON, 1).unwrap();
        }
        let error = refusing.mint(session, NOON - 11, 2).unwrap_err();
        assert_eq!(error, "expected to move the ID forward by at most 10 ms, found 11 ms, to the time of line 1");
        assert_eq!(refusing.mint(session, NOON - 10, 3), plain.mint(session, NOON - 10, 3));
        assert_eq!(refusing.shifts().largest_ms, 10);
    }

    #[test]
    fn a_run_goes_on_after_the_one_before() {
        let after = MessageId::last_at(NOON).unwrap();
        let mut replay = replay(Some(after), Some(1));
        let error = replay.mint(Session::default(), NOON - 1, 1).unwrap_err();
        assert_eq!(error, "expected to move the ID forward by at most 1 ms, found 2 ms, to the end of the former run");
        let id = replay.mint(Session::default(), NOON, 2).unwrap();
        assert!(id > after);
        assert_eq!((id.timestamp_ms(), replay.shifts().largest_ms), (NOON + 1, 1));
    }

    #[test]
    fn the_end_of_time_is_an_error_and_not_a_wrap() {
        let mut replay = replay(Some(MessageId::MAX), None);
        let error = replay.mint(Session::default(), NOON, 1).unwrap_err();
        assert_eq!(error, "expected a stamp before the last one of time, found none left");
    }
}
