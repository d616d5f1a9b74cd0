//! A look at the register now and then, for the status: which register it is, and who else has lanes. No lease depends on
//! what it finds.

use std::time::Duration;

use crate::engine::{Listing, Moment};
use crate::record::{LaneRecord, LaneState, MetaRecord, RegisterRecord, uuid};
use crate::register::{Register, RegisterError};
use crate::space::Space;
use crate::state::Others;
use crate::telemetry::call;

/// The least time between two looks.
const LEAST_MS: u64 = 60_000;

/// The time between two looks for each record that was found, so that a process reads at most one record per second. The lanes of
/// an earlier number of lanes stay, so there can be many more of them than lanes.
const RECORD_MS: u64 = 1_000;

/// What is known of a register and of the lanes of a space in it.
#[derive(Debug)]
pub(crate) struct Survey {
    space: Space,
    register_id: Option<String>,
    identify_at_ms: u64,
    look_at_ms: u64,
    found: Option<Found>,
}

/// The lanes of a space, as they were read.
#[derive(Debug)]
struct Found {
    mono_ms: u64,
    lanes: Vec<Lane>,
    nearest_ms: Option<u64>,
}

#[derive(Debug)]
struct Lane {
    number: u16,
    is_held: bool,
    /// How far the ceiling was ahead of the clock.
    ahead_ms: u64,
}

impl Survey {
    pub(crate) fn new(space: Space) -> Self {
        Self { space, register_id: None, identify_at_ms: 0, look_at_ms: 0, found: None }
    }

    pub(crate) fn space(&self) -> &Space {
        &self.space
    }

    pub(crate) fn register_id(&self) -> Option<&str> {
        self.register_id.as_deref()
    }

    /// Takes all records of the space into account, as they were read at this time.
    pub(crate) fn note(&mut self, at: Moment, records: &Listing) {
        let (Some(lanes), Some(now_ms)) = (self.lanes(records), at.now_ms) else { return };
        let lanes = lanes.map(|(number, record)| {
            let ahead_ms = record.ceiling_ms.saturating_sub(now_ms);
            Lane { number, is_held: record.state == LaneState::Held, ahead_ms }
        });
        let lanes: Vec<_> = lanes.collect();
        self.look_at_ms = at.mono_ms + LEAST_MS.max(RECORD_MS * records.iter().count() as u64);
        self.found = Some(Found { mono_ms: at.mono_ms, lanes, nearest_ms: self.nearest_ms(now_ms, records) });
    }

    /// Returns how far the lane that is least ahead of the clock is ahead of it; `None` if no lane can ever be taken.
    fn nearest_ms(&self, now_ms: u64, records: &Listing) -> Option<u64> {
        let meta = self.meta(records)?;
        let used = records.iter().filter(|(key, _)| self.space.lane_of(key, meta.era).is_some()).count();
        let lanes = self.lanes(records)?.map(|(_, lane)| lane);
        let floors = lanes.filter(|lane| lane.state != LaneState::Closed).map(|lane| lane.ceiling_ms);
        let unused = (used < self.space.lane_count() as usize).then_some(0);
        let floor_ms = floors.chain(unused).min()?.max(meta.floor_ms);
        Some(floor_ms.saturating_sub(now_ms))
    }

    fn meta(&self, records: &Listing) -> Option<MetaRecord> {
        MetaRecord::parse(records.text(&self.space.meta_key())?).ok()
    }

    /// Returns the lanes of the space, if it was described.
    pub(crate) fn lanes<'a>(
        &'a self,
        records: &'a Listing,
    ) -> Option<impl Iterator<Item = (u16, &'a LaneRecord)> + 'a> {
        let era = self.meta(records)?.era;
        Some(records.lanes().filter_map(move |(key, lane)| Some((self.space.lane_of(key, era)?, lane))))
    }

    /// Returns how far ahead of the clock the nearest lane was.
    pub(crate) fn nearest_lane(&self) -> Option<Duration> {
        self.found.as_ref()?.nearest_ms.map(Duration::from_millis)
    }

    /// Returns what was found besides the lanes of this process, and the monotonic time of that.
    pub(crate) fn others(&self, own: &[u16]) -> Option<(Others, u64)> {
        let found = self.found.as_ref()?;
        let others = || found.lanes.iter().filter(|lane| !own.contains(&lane.number));
        let others = Others {
            lanes: others().filter(|lane| lane.is_held && lane.ahead_ms > 0).count(),
            lead: Duration::from_millis(others().map(|lane| lane.ahead_ms).max().unwrap_or(0)),
            age: Duration::ZERO,
        };
        Some((others, found.mono_ms))
    }

    /// Finds the ID of the register out, or lists the records of the space, if one of them is due. One that fails is due again
    /// after a minute. It is not an error of the lease, because a process may have no right to other records than those of its
    /// space. No call begins once the lease closes: a close waits for the one that is under way.
    pub(crate) fn look<R: Register>(
        &mut self,
        at: Moment,
        register: &mut R,
        random: u128,
        is_closing: impl Fn() -> bool,
    ) {
        let mono_ms = at.mono_ms;
        if is_closing() {
            return;
        }
        // One of them: a renewal waits for it, and each call of a silent register takes its time limit.
        if self.register_id.is_none() && self.identify_at_ms <= mono_ms {
            self.identify_at_ms = mono_ms + LEAST_MS;
            self.register_id = identify(register, random, is_closing).ok().flatten();
        } else if self.found.is_some() && self.look_at_ms <= mono_ms {
            // The first look is that of a lease that looks for a lane.
            self.look_at_ms = mono_ms + LEAST_MS;
            let prefix = self.space.prefix();
            if let Ok(records) = call(register, "list", &prefix, |register| register.list(&prefix)) {
                self.note(at, &Listing::new(records, &Listing::default()));
            }
        }
    }
}

/// Returns the ID of a register, and writes it if there is none. `None` if its record has another format, or if the lease closes.
fn identify<R: Register>(
    register: &mut R,
    random: u128,
    is_closing: impl Fn() -> bool,
) -> Result<Option<String>, RegisterError> {
    const KEY: &str = RegisterRecord::KEY;
    let drawn = RegisterRecord { register_id: uuid(random) };
    let text = match call(register, "read", KEY, |register| register.read(KEY))? {
        None if is_closing() => None,
        None if call(register, "write", KEY, |it| it.compare_and_set(KEY, None, &drawn.to_string()))? => {
            return Ok(Some(drawn.register_id));
        }
        None if is_closing() => None,
        // Another process was faster.
        None => call(register, "read", KEY, |register| register.read(KEY))?,
        text => text,
    };
    Ok(text.and_then(|text| RegisterRecord::parse(&text).ok()).map(|record| record.register_id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::register::MemoryRegister;

    const T: u64 = 1_795_204_812_345;
    const META: &str = "imid-lease/1 meta version=1 token=5b1f6c0e9d2a4477 \
         layout=imid-80 bits=4 era=2 floor=0 space=0f8fad5b-d9cb-469f-a165-70867728950e";

    fn now(mono_ms: u64) -> Moment {
        Moment { mono_ms, now_ms: Some(T + mono_ms), used_until_ms: 0 }
    }

    fn listing(register: &mut MemoryRegister) -> Listing {
        Listing::new(register.list("lanes/").unwrap(), &Listing::default())
    }

    fn put(register: &mut MemoryRegister, key: &str, value: &str) {
        let seen = register.read(key).unwrap();
        assert!(register.compare_and_set(key, seen.as_deref(), value).unwrap());
    }

    fn lane(register: &mut MemoryRegister, key: &str, ceiling_ms: u64, state: &str) {
        let record = "imid-lease/1 lane version=1 token=9f86d081884c7d65 holder=web-3 horizon=10000";
        put(register, key, &format!("{record} ceiling={ceiling_ms} {state}"));
    }

    fn seen(survey: &Survey, own: &[u16]) -> (usize, u64) {
        let others = survey.others(own).unwrap().0;
        (others.lanes, others.lead.as_millis() as u64)
    }

    #[test]
    fn lanes_of_others_are_those_of_this_era_that_are_not_its_own() {
        let (mut survey, mut register) = (Survey::new(Space::lanes(4).unwrap()), MemoryRegister::new());
        let list = |register: &mut MemoryRegister| listing(register);
        survey.note(now(0), &list(&mut register));
        assert_eq!(survey.others(&[]), None, "the space was not described yet");
        put(&mut register, "lanes/meta", META);
        survey.note(Moment { now_ms: None, ..now(0) }, &list(&mut register));
        assert_eq!(survey.others(&[]), None, "no clock");
        survey.note(now(0), &list(&mut register));
        assert_eq!(seen(&survey, &[]), (0, 0));
        lane(&mut register, "lanes/1/00003", T + 900_000, "held");
        lane(&mut register, "lanes/2/00000", T + 10_000, "held");
        lane(&mut register, "lanes/2/00001", T + 7_000, "held");
        lane(&mut register, "lanes/2/00002", T, "held");
        lane(&mut register, "lanes/2/00003", T + 8_000, "free");
        put(&mut register, "lanes/2/00004", "imid-lease/2 lane");
        survey.note(now(0), &list(&mut register));
        assert_eq!(seen(&survey, &[]), (2, 10_000), "a holder past its ceiling cannot mint");
        assert_eq!(seen(&survey, &[0]), (1, 8_000), "IDs of a lane that was given back are ahead, too");
        assert_eq!(seen(&survey, &[0, 1, 2, 3]), (0, 0));
    }

    #[test]
    fn the_nearest_lane_is_where_the_next_process_begins() {
        let (mut survey, mut register) = (Survey::new(Space::lanes(2).unwrap()), MemoryRegister::new());
        let nearest = |survey: &mut Survey, register: &mut MemoryRegister| {
            survey.note(now(0), &listing(register));
            survey.nearest_lane().map(|ahead| ahead.as_millis())
        };
        assert_eq!(nearest(&mut survey, &mut register), None, "no description");
        put(&mut register, "lanes/meta", META.replace("bits=4", "bits=2").as_str());
        for (number, ahead_ms) in [(0, 9_000), (1, 8_000), (2, 7_000)] {
            lane(&mut register, &format!("lanes/2/{number:05}"), T + ahead_ms, "held");
        }
        lane(&mut register, "lanes/1/00003", T, "free");
        lane(&mut register, "lanes/2/00004", T, "free");
        assert_eq!(nearest(&mut survey, &mut register), Some(0), "one was never used");
        put(&mut register, "lanes/2/00003", "imid-lease/2 lane");
        assert_eq!(nearest(&mut survey, &mut register), Some(7_000), "nobody can take that of another format");
        lane(&mut register, "lanes/2/00003", T - 1, "closed");
        assert_eq!(nearest(&mut survey, &mut register), Some(7_000), "nor one that is closed");
        lane(&mut register, "lanes/2/00003", T + 200, "free");
        assert_eq!(nearest(&mut survey, &mut register), Some(200));
        let floor = format!("bits=2 era=2 floor={}", T + 3_000);
        put(&mut register, "lanes/meta", META.replace("bits=4 era=2 floor=0", &floor).as_str());
        assert_eq!(nearest(&mut survey, &mut register), Some(3_000), "the floor of the space");
    }

    #[test]
    fn a_look_is_made_each_minute_or_each_second_for_a_record() {
        let (mut survey, mut register) = (Survey::new(Space::lanes(8).unwrap()), MemoryRegister::new());
        put(&mut register, "lanes/meta", META);
        survey.look(now(0), &mut register, 1, || false);
        assert_eq!(survey.others(&[]), None, "not before the first look of a lease");
        survey.note(now(0), &listing(&mut register));
        for (era, number) in (0..200).map(|number| (1 + number % 2, number)) {
            lane(&mut register, &format!("lanes/{era}/{number:05}"), T + 70_000, "held");
        }
        survey.look(now(LEAST_MS - 1), &mut register, 1, || false);
        assert_eq!(survey.others(&[]).unwrap().1, 0);
        register.set_down(true);
        survey.look(now(LEAST_MS), &mut register, 1, || false);
        assert_eq!(survey.others(&[]).unwrap().1, 0, "a call that fails changes nothing");
        register.set_down(false);
        survey.look(now(LEAST_MS + 1), &mut register, 1, || false);
        assert_eq!(survey.others(&[]).unwrap().1, 0, "and is repeated after a minute");
        survey.look(now(2 * LEAST_MS), &mut register, 1, || false);
        assert_eq!((seen(&survey, &[]), survey.others(&[]).unwrap().1), ((0, 0), 2 * LEAST_MS));
        survey.look(now(2 * LEAST_MS + 200_999), &mut register, 1, || false);
        assert_eq!(survey.others(&[]).unwrap().1, 2 * LEAST_MS);
        survey.look(now(2 * LEAST_MS + 201_000), &mut register, 1, || false);
        assert_eq!(survey.others(&[]).unwrap().1, 2 * LEAST_MS + 201_000);
    }

    #[test]
    fn a_register_has_one_id_that_is_written_once() {
        let mut register = MemoryRegister::new();
        let mut surveys = ["lanes", "workers"].map(|name| Survey::new(Space::new(name, "any", 4).unwrap()));
        register.set_down(true);
        surveys[0].look(now(0), &mut register, 1, || false);
        assert_eq!(surveys[0].register_id(), None);
        register.set_down(false);
        surveys[0].look(now(1), &mut register, 2, || false);
        assert_eq!(register.read("register").unwrap(), None, "after a failure it waits for a minute");
        surveys[0].look(now(LEAST_MS), &mut register, 3, || false);
        surveys[1].look(now(0), &mut register, 4, || false);
        let id = uuid(3);
        assert_eq!(surveys.each_ref().map(Survey::register_id), [Some(id.as_str()); 2]);
        assert_eq!(register.read("register").unwrap(), Some(format!("imid-lease/1 register id={id}")));
        // What another version wrote stays.
        let mut register = MemoryRegister::new();
        put(&mut register, "register", "imid-lease/2 register");
        let mut survey = Survey::new(Space::lanes(4).unwrap());
        survey.look(now(0), &mut register, 5, || false);
        assert_eq!(survey.register_id(), None);
        assert_eq!(register.read("register").unwrap().as_deref(), Some("imid-lease/2 register"));
    }

    #[test]
    fn a_silent_register_delays_a_renewal_by_one_call() {
        let (mut survey, mut register) = (Survey::new(Space::lanes(4).unwrap()), MemoryRegister::new());
        put(&mut register, "lanes/meta", META);
        survey.note(now(0), &listing(&mut register));
        register.set_down(true);
        // Both are due.
        survey.look(now(LEAST_MS), &mut register, 1, || false);
        register.set_down(false);
        survey.look(now(LEAST_MS + 1), &mut register, 1, || false);
        assert_eq!(survey.others(&[]).unwrap().1, LEAST_MS + 1, "the list was not tried");
    }

    /// A register in which another process writes between a read and a write.
    struct Raced(MemoryRegister);

    impl Register for Raced {
        fn read(&mut self, key: &str) -> Result<Option<String>, RegisterError> {
            self.0.read(key)
        }

        fn list(&mut self, prefix: &str) -> Result<Vec<(String, String)>, RegisterError> {
            self.0.list(prefix)
        }

        fn compare_and_set(&mut self, key: &str, seen: Option<&str>, value: &str) -> Result<bool, RegisterError> {
            let other = RegisterRecord { register_id: uuid(9) };
            self.0.compare_and_set(key, None, &other.to_string())?;
            self.0.compare_and_set(key, seen, value)
        }

        fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
            Ok(None)
        }

        fn promise(&self) -> crate::Promise {
            self.0.promise()
        }
    }

    #[test]
    fn two_processes_that_start_together_find_one_id() {
        assert_eq!(identify(&mut Raced(MemoryRegister::new()), 1, || false).unwrap(), Some(uuid(9)));
    }
}
