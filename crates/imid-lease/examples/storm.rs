//! Gateways that all post in all rooms, and crash: how many posts are refused, for how long a room is closed, and how far IDs are
//! ahead. `cargo run --release --example storm -- gateways=8 bits=4 horizon=60 restarts=all seconds=70`.
//!
//! A post locks the room, reads its last ID, mints after it and stores. `how=observe` does it in the four steps that
//! `generate_after` replaces. A crash cuts the process from the register, so that it gives nothing back, and starts it again under
//! its name. `register=URL` is a server, such as `postgres://user:password@host/database`, in place of the memory of this process; the
//! example then needs the feature of the store. `ids=FILE` writes each ID with its room, in the order of the posts: `imid check` counts duplicates and faults of order.

#![expect(clippy::cast_precision_loss, reason = "figures for people")]

use std::collections::{HashMap, HashSet};
use std::env;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use imid::clock::{Clock, ClockError, SystemClock};
use imid::{MessageId, SessionTag, SessionType};
use imid_lease::register::{DEFAULT_TIME_LIMIT, MemoryRegister, open_url};
use imid_lease::{LaneOptions, LeaseError, LeasedGenerator, Promise, Register, RegisterError};

const STRIPES: usize = 64;

/// How a post gets an ID after the room's last one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum How {
    After,
    Observe,
}

/// Which gateways are killed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Restarts {
    /// All at once, three times, 4 s apart.
    All,
    /// One after the other, one each second.
    Turn,
}

#[derive(Clone, Debug)]
struct Storm {
    gateways: usize,
    bits: u32,
    horizon: Duration,
    max_skew: Duration,
    /// The clocks of gateways differ by this much, half of them ahead and half behind.
    offset_ms: i64,
    restarts: Restarts,
    /// Between two restarts.
    every: Duration,
    how: How,
    rooms: usize,
    time: Duration,
    register: Option<String>,
    ids: Option<String>,
}

impl Default for Storm {
    fn default() -> Self {
        Self {
            gateways: 8,
            bits: 4,
            horizon: Duration::from_secs(60),
            max_skew: Duration::from_secs(5),
            offset_ms: 0,
            restarts: Restarts::All,
            every: Duration::from_secs(4),
            how: How::After,
            rooms: 20,
            time: Duration::from_secs(70),
            register: None,
            ids: None,
        }
    }
}

/// What a storm has shown.
#[derive(Debug, Default)]
struct Outcome {
    posts: u64,
    refused: u64,
    /// The longest time in which no post of a gateway in a room succeeded although it tried.
    closed: Duration,
    /// The longest time of a post that succeeded.
    longest: Duration,
    /// How far an ID was ahead of the true time.
    lead_ms: i64,
    duplicates: u64,
    disordered: u64,
    /// The first error of a refused post.
    error: Option<String>,
}

/// A register that a killed process does not reach anymore.
struct Cut {
    register: Box<dyn Register>,
    is_cut: Arc<AtomicBool>,
}

impl Cut {
    /// One round trip, of 1 ms at least.
    fn call<T>(&mut self, call: impl FnOnce(&mut dyn Register) -> T) -> Result<T, RegisterError> {
        thread::sleep(Duration::from_millis(1));
        if self.is_cut.load(Ordering::SeqCst) {
            return Err(RegisterError::new("the process is dead"));
        }
        Ok(call(&mut *self.register))
    }
}

impl Register for Cut {
    fn read(&mut self, key: &str) -> Result<Option<String>, RegisterError> {
        self.call(|register| register.read(key))?
    }

    fn list(&mut self, prefix: &str) -> Result<Vec<(String, String)>, RegisterError> {
        self.call(|register| register.list(prefix))?
    }

    fn compare_and_set(&mut self, key: &str, seen: Option<&str>, value: &str) -> Result<bool, RegisterError> {
        self.call(|register| register.compare_and_set(key, seen, value))?
    }

    fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
        Ok(None)
    }

    fn promise(&self) -> Promise {
        Promise::Strong
    }
}

/// The system's clock and an error.
#[derive(Clone)]
struct Shifted(Arc<AtomicI64>);

impl Clock for Shifted {
    fn now_ms(&self) -> Result<u64, ClockError> {
        Ok(SystemClock.now_ms()?.saturating_add_signed(self.0.load(Ordering::Relaxed)))
    }
}

/// A gateway: its generator, and what kills it.
struct Gateway {
    ids: LeasedGenerator<Shifted, STRIPES>,
    is_cut: Arc<AtomicBool>,
}

struct Room {
    tag: SessionTag,
    last: Option<MessageId>,
    stored: Vec<MessageId>,
    /// Of each gateway, since when its posts have been refused.
    closed_since: Vec<Option<Instant>>,
}

impl Storm {
    fn from_args() -> Self {
        let mut storm = Self::default();
        for argument in env::args().skip(1) {
            let (key, value) =
                argument.split_once('=').unwrap_or_else(|| panic!("expected key=value, found {argument:?}"));
            let number =
                || value.parse::<u64>().unwrap_or_else(|_| panic!("expected a number, found {value:?} at {key}"));
            match (key, value) {
                ("gateways", _) => storm.gateways = number() as usize,
                ("bits", _) => storm.bits = number() as u32,
                ("horizon", _) => storm.horizon = Duration::from_secs(number()),
                ("seconds", _) => storm.time = Duration::from_secs(number()),
                ("rooms", _) => storm.rooms = number() as usize,
                ("offset", _) => storm.offset_ms = number().cast_signed(),
                ("restarts", "all") => storm.restarts = Restarts::All,
                ("restarts", "turn") => (storm.restarts, storm.every) = (Restarts::Turn, Duration::from_secs(1)),
                ("how", "after") => storm.how = How::After,
                ("how", "observe") => storm.how = How::Observe,
                ("register", url) => storm.register = Some(url.into()),
                ("ids", file) => storm.ids = Some(file.into()),
                _ => panic!("unknown argument {argument:?}"),
            }
        }
        storm
    }

    fn open(&self, at: usize, memory: &MemoryRegister) -> Gateway {
        let is_cut = Arc::new(AtomicBool::new(false));
        let half = self.offset_ms / 2;
        let clock = Shifted(Arc::new(AtomicI64::new(if at.is_multiple_of(2) { half } else { -half })));
        let options = LaneOptions::new()
            .lane_bits(self.bits)
            .holder(format!("gateway-{at}"))
            .horizon(self.horizon)
            .max_skew(self.max_skew)
            .max_lead(self.max_skew / 5)
            .stripes::<STRIPES>()
            .clock(clock);
        let register: Box<dyn Register> = match &self.register {
            Some(url) => open_url(url, DEFAULT_TIME_LIMIT).expect("a register"),
            None => Box::new(memory.clone()),
        };
        let register = Cut { register, is_cut: Arc::clone(&is_cut) };
        Gateway { ids: LeasedGenerator::open(register, options).expect("settings that fit"), is_cut }
    }

    /// The next ID of a room, or why there is none.
    fn mint(
        &self,
        ids: &LeasedGenerator<Shifted, STRIPES>,
        last: Option<MessageId>,
        tag: SessionTag,
    ) -> Result<MessageId, String> {
        const PATIENCE: Duration = Duration::from_secs(1);
        let text = |error: LeaseError| error.to_string();
        match self.how {
            How::After => ids.generate_after_within(last, tag, PATIENCE).map_err(text),
            How::Observe => {
                if let Some(last) = last {
                    ids.observe(last).map_err(|error| error.to_string())?;
                }
                let id = ids.generate_within(tag, PATIENCE).map_err(text)?;
                if last < Some(id) { Ok(id) } else { Err("not after the last ID".into()) }
            }
        }
    }

    fn run(&self) -> Outcome {
        let memory = MemoryRegister::new();
        let gateways: Vec<_> = (0..self.gateways).map(|at| Mutex::new(self.open(at, &memory))).collect();
        for gateway in &gateways {
            let opened = gateway.lock().unwrap().ids.wait_until_open(Duration::from_secs(60));
            opened.expect("a lane for each gateway");
        }
        let room = |at| SessionTag::new(SessionType::GROUP, &format!("room-{at}"));
        let new_room =
            |at| Room { tag: room(at), last: None, stored: Vec::new(), closed_since: vec![None; self.gateways] };
        let rooms: Vec<_> = (0..self.rooms).map(|at| Mutex::new(new_room(at))).collect();
        let (outcome, ends) = (Mutex::new(Outcome::default()), Instant::now() + self.time);
        thread::scope(|scope| {
            for (at, gateway) in gateways.iter().enumerate() {
                let (outcome, rooms) = (&outcome, &rooms);
                scope.spawn(move || {
                    let mut turn = at;
                    while Instant::now() < ends {
                        thread::sleep(Duration::from_millis(20));
                        turn += 1;
                        // Until it has a lane again, a balancer sends it nothing.
                        let gateway = gateway.lock().unwrap();
                        if gateway.ids.status().lane.is_some() {
                            self.post(at, &gateway.ids, &rooms[(turn * 7 + at) % self.rooms], outcome);
                        }
                    }
                });
            }
            self.restart(&gateways, &memory, ends);
        });
        let mut outcome = outcome.into_inner().unwrap();
        self.check(rooms, &mut outcome);
        outcome
    }

    fn post(&self, at: usize, ids: &LeasedGenerator<Shifted, STRIPES>, room: &Mutex<Room>, outcome: &Mutex<Outcome>) {
        let began = Instant::now();
        let mut room = room.lock().unwrap();
        let locked = Instant::now();
        let minted = self.mint(ids, room.last, room.tag);
        let mut outcome = outcome.lock().unwrap();
        match minted {
            Ok(id) => {
                outcome.posts += 1;
                outcome.longest = outcome.longest.max(locked.elapsed());
                let now_ms = SystemClock.now_ms().expect("a clock").cast_signed();
                outcome.lead_ms = outcome.lead_ms.max(id.timestamp_ms().cast_signed() - now_ms);
                if let Some(since) = room.closed_since[at].take() {
                    outcome.closed = outcome.closed.max(since.elapsed());
                }
                room.last = Some(id);
                room.stored.push(id);
            }
            Err(error) => {
                outcome.refused += 1;
                let since = *room.closed_since[at].get_or_insert(began);
                outcome.closed = outcome.closed.max(since.elapsed());
                outcome.error.get_or_insert(error);
            }
        }
    }

    /// Kills and starts gateways until the end.
    fn restart(&self, gateways: &[Mutex<Gateway>], memory: &MemoryRegister, ends: Instant) {
        for turn in 0.. {
            thread::sleep(self.every.min(ends.saturating_duration_since(Instant::now())));
            if Instant::now() >= ends || self.restarts == Restarts::All && turn == 3 {
                return;
            }
            let killed: Vec<_> = match self.restarts {
                Restarts::All => (0..gateways.len()).collect(),
                Restarts::Turn => vec![turn % gateways.len()],
            };
            let mut locked: Vec<_> = killed.iter().map(|at| (*at, gateways[*at].lock().unwrap())).collect();
            for (_, gateway) in &locked {
                gateway.is_cut.store(true, Ordering::SeqCst);
            }
            for (at, gateway) in &mut locked {
                **gateway = self.open(*at, memory);
            }
        }
    }

    /// Counts duplicates and faults of order, and writes the IDs.
    fn check(&self, rooms: Vec<Mutex<Room>>, outcome: &mut Outcome) {
        let mut seen = HashSet::new();
        let mut by_room = HashMap::new();
        for (at, room) in rooms.into_iter().enumerate() {
            let stored = room.into_inner().unwrap().stored;
            outcome.duplicates += stored.iter().filter(|id| !seen.insert(**id)).count() as u64;
            outcome.disordered += stored.windows(2).filter(|pair| pair[0] >= pair[1]).count() as u64;
            by_room.insert(at, stored);
        }
        if let Some(path) = &self.ids {
            let mut file = BufWriter::new(File::create(path).expect("a file for the IDs"));
            for id in by_room.values().flatten() {
                writeln!(file, "{id}").expect("room on the disk");
            }
        }
    }
}

fn main() {
    let storm = Storm::from_args();
    let outcome = storm.run();
    println!(
        "{:?}: {} gateways, {} lanes, horizon {} s, restarts {:?}: {} posts, {} refused ({:.1} %), a room closed for at most {:.1?}, \
         a post took at most {:.1?}, IDs at most {:.3} s ahead, {} duplicates, {} out of order{}",
        storm.how,
        storm.gateways,
        1 << storm.bits,
        storm.horizon.as_secs(),
        storm.restarts,
        outcome.posts,
        outcome.refused,
        100.0 * outcome.refused as f64 / (outcome.posts + outcome.refused).max(1) as f64,
        outcome.closed,
        outcome.longest,
        outcome.lead_ms as f64 / 1_000.0,
        outcome.duplicates,
        outcome.disordered,
        outcome.error.map_or_else(String::new, |error| format!("; first error: {error}"))
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The law, with real threads and real time, where lanes are as many as gateways: no post is refused because an ID is too far ahead,
    /// no ID comes again or before another, and none is too far ahead. A machine that stalls can make a post late, so that is not counted.
    fn check(restarts: Restarts, every_ms: u64) {
        let storm = Storm {
            gateways: 4,
            bits: 2,
            horizon: Duration::from_secs(2),
            max_skew: Duration::from_millis(300),
            offset_ms: 200,
            restarts,
            every: Duration::from_millis(every_ms),
            rooms: 6,
            time: Duration::from_secs(3),
            ..Storm::default()
        };
        let outcome = storm.run();
        assert_eq!((outcome.duplicates, outcome.disordered), (0, 0), "{outcome:?}");
        assert!(outcome.posts > 20, "{outcome:?}");
        assert!(outcome.lead_ms <= 2_000 + 3 * 300 + 20, "{outcome:?}");
        let is_far = |error: &String| error.contains("ahead of the clock");
        assert!(!outcome.error.as_ref().is_some_and(is_far), "{outcome:?}");
    }

    #[test]
    fn a_storm_of_all_closes_no_room() {
        check(Restarts::All, 400);
    }

    #[test]
    fn a_storm_in_turn_closes_no_room() {
        check(Restarts::Turn, 150);
    }
}
