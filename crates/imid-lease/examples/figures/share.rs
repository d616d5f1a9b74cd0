//! Leases that share a register whose calls are slow.

use std::thread;
use std::time::{Duration, Instant};

use imid::clock::{Clock, SystemClock};
use imid_lease::register::{MemoryRegister, SharedRegister};
use imid_lease::{LaneOptions, LeasedGenerator, Promise, Register, RegisterError};

use crate::{Failure, room};

/// The number of leases, and how long each call takes in milliseconds.
const CASES: [(usize, u64); 9] =
    [(1, 100), (4, 100), (16, 100), (1, 500), (4, 500), (8, 500), (1, 1000), (3, 1000), (4, 1000)];

const RUN: Duration = Duration::from_secs(60);

/// A register in memory whose calls take time.
struct Slow(MemoryRegister, Duration);

impl Slow {
    fn answering(&mut self) -> &mut MemoryRegister {
        thread::sleep(self.1);
        &mut self.0
    }
}

impl Register for Slow {
    fn read(&mut self, key: &str) -> Result<Option<String>, RegisterError> {
        self.answering().read(key)
    }

    fn list(&mut self, prefix: &str) -> Result<Vec<(String, String)>, RegisterError> {
        self.answering().list(prefix)
    }

    fn compare_and_set(&mut self, key: &str, seen: Option<&str>, value: &str) -> Result<bool, RegisterError> {
        self.answering().compare_and_set(key, seen, value)
    }

    fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
        self.answering();
        Ok(SystemClock.now_ms().ok())
    }

    fn promise(&self) -> Promise {
        self.0.promise()
    }
}

/// Mints with each lease for a minute. Fails if one is refused although one call of each of them takes at most a second in all.
pub(crate) fn run() -> Result<(), Failure> {
    let failures = thread::scope(|scope| {
        let cases = CASES.map(|(leases, call_ms)| scope.spawn(move || share(leases, call_ms)));
        cases.into_iter().find_map(|case| case.join().expect("a case does not panic").err())
    });
    failures.map_or(Ok(()), Err)
}

fn share(leases: usize, call_ms: u64) -> Result<(), Failure> {
    let register = SharedRegister::new(Slow(MemoryRegister::new(), Duration::from_millis(call_ms)));
    let open = |lease| {
        let options = LaneOptions::new().create_missing().lane_bits(5).holder(format!("share-{lease}"));
        LeasedGenerator::open(register.clone(), options)
    };
    let all = (0..leases).map(open).collect::<Result<Vec<_>, _>>()?;
    for ids in &all {
        ids.wait_until_open(RUN)?;
    }
    let (mut calls, mut refused, mut least_left) = (0_u64, 0_u64, Duration::MAX);
    let start = Instant::now();
    while start.elapsed() < RUN {
        for ids in &all {
            calls += 1;
            refused += u64::from(ids.generate(room()).is_err());
            least_left = least_left.min(ids.status().time_left);
        }
        thread::sleep(Duration::from_millis(20));
    }
    println!(
        "{leases:2} leases, {call_ms:4} ms a call: {refused} of {calls} refused, least time left {least_left:.1?}"
    );
    if refused > 0 && leases as u64 * call_ms <= 1_000 {
        return Err(format!("{leases} leases with calls of {call_ms} ms were refused {refused} times").into());
    }
    Ok(())
}
