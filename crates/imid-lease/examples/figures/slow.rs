//! What many leases of one process do on a slow store: each has its own register, so a slow call delays one of them only.

use std::thread;
use std::time::{Duration, Instant};

use imid_lease::register::MemoryRegister;
use imid_lease::{LaneOptions, LeasedGenerator, Phase, Promise, Register, RegisterError};

use crate::{Failure, check, room};

/// Calls of the leases together, one per millisecond.
const CALLS: usize = 20_000;

/// A register in memory whose calls take a while.
struct Slow(MemoryRegister, Duration);

impl Slow {
    fn wait(&mut self) -> &mut MemoryRegister {
        thread::sleep(self.1);
        &mut self.0
    }
}

impl Register for Slow {
    fn read(&mut self, key: &str) -> Result<Option<String>, RegisterError> {
        self.wait().read(key)
    }

    fn list(&mut self, prefix: &str) -> Result<Vec<(String, String)>, RegisterError> {
        self.wait().list(prefix)
    }

    fn compare_and_set(&mut self, key: &str, seen: Option<&str>, value: &str) -> Result<bool, RegisterError> {
        self.wait().compare_and_set(key, seen, value)
    }

    fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
        self.wait().now_ms()
    }

    fn creates_missing_spaces(&self) -> bool {
        self.0.creates_missing_spaces()
    }

    fn promise(&self) -> Promise {
        self.0.promise()
    }
}

pub(crate) fn run() -> Result<(), Failure> {
    for (count, call) in [(8, Duration::from_millis(500)), (4, Duration::from_secs(1))] {
        let (leases, _) = hold(count, 4, call)?;
        let mut refused = 0;
        for ids in leases.iter().cycle().take(CALLS) {
            refused += usize::from(ids.generate(room()).is_err());
            thread::sleep(Duration::from_millis(1));
        }
        println!("{count} leases at {call:?} per call: {refused} of {CALLS} calls refused");
        if refused > 0 {
            return Err("a slow store refuses calls".into());
        }
    }
    let call = Duration::from_millis(20);
    let (_leases, took) = hold(100, 7, call)?;
    println!("a hundred leases of 128 lanes at {call:?} per call: all hold after {took:.2?}");
    check("until all hold", took, Duration::from_secs(2))
}

/// Opens leases of one space, and waits until all hold a lane.
fn hold(count: usize, bits: u32, call: Duration) -> Result<(Vec<LeasedGenerator>, Duration), Failure> {
    let (memory, start) = (MemoryRegister::new(), Instant::now());
    let open = |_| LeasedGenerator::open(Slow(memory.clone(), call), LaneOptions::new().lane_bits(bits));
    let leases: Vec<_> = (0..count).map(open).collect::<Result<_, _>>()?;
    while leases.iter().any(|ids| ids.status().phase != Phase::Holding) {
        if start.elapsed() > Duration::from_secs(120) {
            return Err("no lane after two minutes".into());
        }
        thread::sleep(Duration::from_millis(2));
    }
    Ok((leases, start.elapsed()))
}
