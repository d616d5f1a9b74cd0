//! The incidents of docs/INCIDENTS.md: each one happens to a small model of the original, and not to imid.
//!
//! One of them forks, so they run one after another in a process that has no other thread then.
#![cfg_attr(not(unix), allow(unused))]

fn main() {
    #[cfg(unix)]
    unix::run();
}

#[cfg(unix)]
mod unix {
    use std::collections::HashSet;
    use std::error::Error;
    use std::process::exit;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;
    use std::time::{Duration, Instant};

    use imid::clock::{Clock, ManualClock};
    use imid::{Generator, IdParts, MessageId, SessionTag, SessionType};
    use imid_lease::register::MemoryRegister;
    use imid_lease::{LaneOptions, LeasedGenerator, Promise, Register, RegisterError};
    use libtest_mimic::{Arguments, Trial};
    use nix::sys::wait::{WaitStatus, waitpid};
    use nix::unistd::{ForkResult, fork};

    /// 2026-11-20T20:00:00Z.
    const EVENING_MS: u64 = 1_795_204_800_000;

    const MS: Duration = Duration::from_millis(1);

    /// How often something went wrong.
    struct Faults {
        original: usize,
        imid: usize,
    }

    /// The name of its row on the page, and the run.
    type Incident = (&'static str, fn() -> Faults);

    const INCIDENTS: [Incident; 12] = [
        // The first one, while this process has one thread.
        ("fork", a_forked_child),
        ("wrap", a_time_field_that_wrapped),
        ("end_of_time", a_layout_whose_time_ended),
        ("shared_machine_id", two_processes_with_one_machine_id),
        ("clock_order", messages_after_the_clock_was_set_back),
        ("clock_duplicates", ids_after_the_clock_was_set_back),
        ("sequence_reset", a_sequence_that_a_refused_call_reset),
        ("ran_out", worker_ids_that_ran_out),
        ("given_twice", a_worker_id_that_was_given_twice),
        ("lock", a_lock_that_had_expired),
        ("json_numbers", ids_that_json_rounded),
        ("far_future", an_id_from_the_far_future),
    ];

    pub(crate) fn run() {
        let mut arguments = Arguments::from_args();
        arguments.test_threads = Some(1);
        let trial = |(name, incident): Incident| {
            Trial::test(name, move || {
                let Faults { original, imid } = incident();
                println!("{name}: {original} in the original, {imid} in imid");
                // The page has the same numbers.
                let page = include_str!("../../../docs/INCIDENTS.md");
                let row = page.lines().find(|line| line.starts_with(&format!("| `{name}` |"))).ok_or("no row")?;
                let ends = format!("| {original} | {imid} |");
                assert!(row.ends_with(&ends), "expected a row that ends in {ends:?}, found {row:?}");
                assert!(original > 0, "the model of the original does not fail");
                assert_eq!(imid, 0);
                Ok(())
            })
        };
        libtest_mimic::run(&arguments, INCIDENTS.into_iter().map(trial).collect()).exit();
    }

    fn room() -> SessionTag {
        SessionTag::new(SessionType::GROUP, "room-42")
    }

    /// Returns how many of the values occurred before.
    fn duplicates<T: Clone + Eq + std::hash::Hash>(values: impl IntoIterator<Item = T>) -> usize {
        let mut seen = HashSet::new();
        values.into_iter().filter(|value| !seen.insert(value.clone())).count()
    }

    /// Returns how many values do not come after all values before them.
    fn out_of_order<T: Ord>(values: impl IntoIterator<Item = T>) -> usize {
        let mut greatest = None;
        let mut count = 0;
        for value in values {
            if greatest.as_ref().is_some_and(|greatest| value <= *greatest) {
                count += 1;
            } else {
                greatest = Some(value);
            }
        }
        count
    }

    /// Mints an ID of a generator of imid at each of these readings of its clock.
    fn imid_at(readings: impl IntoIterator<Item = u64>) -> Vec<MessageId> {
        let ids = Generator::builder().clock(ManualClock::new(0)).build().unwrap();
        let mint = |reading| {
            ids.clock().set(reading);
            ids.generate(room()).unwrap()
        };
        readings.into_iter().map(mint).collect()
    }

    fn a_time_field_that_wrapped() -> Faults {
        // Milliseconds times 4,096 and a counter, of which six bytes are written.
        let original = |ms: u64| format!("msg_{:012x}", (ms * 4_096 + 1) % (1 << 48));
        let wrap_ms = 26 << 36;
        // A message each 600 ms, from a minute before to a minute after.
        let readings = || (0..200).map(|n| wrap_ms - 60_000 + n * 600);
        let texts = imid_at(readings()).iter().map(MessageId::to_string).collect::<Vec<_>>();
        // The time of imid ends too. Then it refuses, and does not wrap.
        let ids = Generator::builder().clock(ManualClock::new(MessageId::MAX.timestamp_ms() + 1)).build().unwrap();
        assert!(ids.generate(room()).is_err());
        Faults { original: out_of_order(readings().map(original)), imid: out_of_order(texts) }
    }

    fn a_layout_whose_time_ended() -> Faults {
        // 28 bits of seconds since 2016-05-20 in Shanghai, 22 bits of worker and 13 of sequence, in a signed integer.
        let original = |ms: u64| ((ms / 1_000 - 1_463_673_600) << 35 | 7 << 13).cast_signed();
        let end_ms = (1_463_673_600 + (1 << 28)) * 1_000;
        let readings = || (0..200).map(|n| end_ms - 100_000 + n * 1_000);
        Faults { original: out_of_order(readings().map(original)), imid: out_of_order(imid_at(readings())) }
    }

    /// A Snowflake of the usual kind: the time, 10 bits of worker, 12 bits of sequence that begins at 0.
    #[derive(Clone)]
    struct Snowflake {
        worker: u64,
        last_ms: u64,
        sequence: u64,
    }

    impl Snowflake {
        fn new(worker: u64) -> Self {
            Self { worker, last_ms: 0, sequence: 0 }
        }

        /// Asks only whether the time is the last one.
        fn next(&mut self, now_ms: u64) -> u64 {
            self.sequence = if now_ms == self.last_ms { self.sequence + 1 } else { 0 };
            self.last_ms = now_ms;
            self.id()
        }

        /// Refuses an earlier time, after the sequence was set.
        fn next_or_refusal(&mut self, now_ms: u64) -> Option<u64> {
            self.sequence = if now_ms == self.last_ms { self.sequence + 1 } else { 0 };
            if now_ms < self.last_ms {
                return None;
            }
            self.last_ms = now_ms;
            Some(self.id())
        }

        fn id(&self) -> u64 {
            self.last_ms << 22 | self.worker << 12 | self.sequence
        }
    }

    /// Short times, so that the tests are short.
    fn options() -> LaneOptions {
        LaneOptions::new().horizon(1_000 * MS).max_skew(500 * MS).max_lead(200 * MS)
    }

    /// Opens a generator and mints an ID, which waits until there is a lane.
    fn try_open(
        register: impl Register + 'static,
        options: LaneOptions,
    ) -> Result<LeasedGenerator, Box<dyn Error + Send + Sync>> {
        let ids = LeasedGenerator::open(register, options)?;
        ids.generate_within(room(), 15_000 * MS)?;
        Ok(ids)
    }

    fn open(register: impl Register + 'static, options: LaneOptions) -> LeasedGenerator {
        try_open(register, options).expect("a lane is free, or is soon")
    }

    fn mint(ids: &LeasedGenerator, count: usize) -> Vec<MessageId> {
        (0..count).map(|_| ids.generate_within(room(), 10_000 * MS).unwrap()).collect()
    }

    fn two_processes_with_one_machine_id() -> Faults {
        // Both take the low bits of a private address, which is the same on both hosts.
        let machine_id = u64::from(u16::from_be_bytes([2, 15])) % 1_024;
        let mut processes = [Snowflake::new(machine_id), Snowflake::new(machine_id)];
        let original = (0..1_000).flat_map(|n| processes.each_mut().map(|process| process.next(EVENING_MS + n)));
        let original = duplicates(original.collect::<Vec<_>>());

        // The name is the same on both hosts too.
        let register = MemoryRegister::new();
        let processes = [0, 1].map(|_| open(register.clone(), options().holder("10.0.2.15")));
        let ids = (0..1_000).flat_map(|_| processes.each_ref().map(|process| mint(process, 1)[0]));
        Faults { original, imid: duplicates(ids.collect::<Vec<_>>()) }
    }

    fn messages_after_the_clock_was_set_back() -> Faults {
        // The original orders messages by the time of the server.
        let readings =
            || (0..50).map(|n| EVENING_MS + n * 1_000).chain((0..50).map(|n| EVENING_MS - 1_800_000 + n * 1_000));
        Faults { original: out_of_order(readings()), imid: out_of_order(imid_at(readings())) }
    }

    fn ids_after_the_clock_was_set_back() -> Faults {
        // 100 IDs in each of 10 milliseconds, twice, the second time 5 ms earlier.
        let milliseconds = (0..10).map(|n| EVENING_MS + n).chain((0..10).map(|n| EVENING_MS + 5 + n));
        let readings: Vec<_> = milliseconds.flat_map(|ms| [ms; 100]).collect();
        let mut original = Snowflake::new(7);
        Faults {
            original: duplicates(readings.iter().map(|ms| original.next(*ms)).collect::<Vec<_>>()),
            imid: duplicates(imid_at(readings)),
        }
    }

    fn a_sequence_that_a_refused_call_reset() -> Faults {
        // 100 IDs in a millisecond, one call in the millisecond before it, and 100 more in the first one.
        let readings = || [EVENING_MS; 100].into_iter().chain([EVENING_MS - 1]).chain([EVENING_MS; 100]);
        let mut original = Snowflake::new(7);
        Faults {
            original: duplicates(readings().filter_map(|ms| original.next_or_refusal(ms)).collect::<Vec<_>>()),
            imid: duplicates(imid_at(readings())),
        }
    }

    /// A register that a killed or paused process does not reach anymore.
    struct Reached(MemoryRegister, Arc<AtomicBool>);

    impl Reached {
        fn check(&mut self) -> Result<&mut MemoryRegister, RegisterError> {
            if self.1.load(Ordering::Relaxed) { Ok(&mut self.0) } else { Err(RegisterError::new("the process stands")) }
        }
    }

    impl Register for Reached {
        fn read(&mut self, key: &str) -> Result<Option<String>, RegisterError> {
            self.check()?.read(key)
        }

        fn list(&mut self, prefix: &str) -> Result<Vec<(String, String)>, RegisterError> {
            self.check()?.list(prefix)
        }

        fn compare_and_set(&mut self, key: &str, seen: Option<&str>, value: &str) -> Result<bool, RegisterError> {
            self.check()?.compare_and_set(key, seen, value)
        }

        fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
            self.check()?.now_ms()
        }

        fn creates_missing_spaces(&self) -> bool {
            true
        }

        fn promise(&self) -> Promise {
            self.0.promise()
        }
    }

    fn worker_ids_that_ran_out() -> Faults {
        // Each address gets the next number for ever. Each deployment of 8 hosts has new addresses.
        let numbers = 0..200 * 8;
        let original = numbers.filter(|number| *number > 1_023).count();

        // 8 processes are killed and replaced, three times, with 16 lanes.
        let register = MemoryRegister::new();
        let (mut refused, mut ids) = (0, Vec::new());
        for deployment in 0..4 {
            let lives = Arc::new(AtomicBool::new(true));
            let start = &|host: u32| {
                let register = Reached(register.clone(), Arc::clone(&lives));
                let name = format!("host-{deployment}-{host}");
                try_open(register, options().holder(name))
            };
            // At one moment: each has to watch a lane for a second before it can take it.
            let started = thread::scope(|scope| {
                let hosts: Vec<_> = (0..8).map(|host| scope.spawn(move || start(host))).collect();
                hosts.into_iter().map(|host| host.join().unwrap()).collect::<Vec<_>>()
            });
            refused += started.iter().filter(|process| process.is_err()).count();
            let processes: Vec<_> = started.into_iter().flatten().collect();
            ids.extend(processes.iter().flat_map(|process| mint(process, 100)));
            lives.store(false, Ordering::Relaxed);
            // A killed process drops nothing, so it gives no lane back.
            processes.into_iter().for_each(std::mem::forget);
        }
        assert_eq!(duplicates(ids), 0);
        Faults { original, imid: refused }
    }

    fn a_worker_id_that_was_given_twice() -> Faults {
        // Each host asks whether the root exists. If not, it creates its node, and keeps the worker ID that it began with.
        let mut nodes = Vec::new();
        let saw_no_root = [nodes.is_empty(), nodes.is_empty()];
        let mut processes = saw_no_root.map(|saw_no_root| {
            nodes.push(nodes.len() as u64);
            Snowflake::new(if saw_no_root { 0 } else { nodes.len() as u64 - 1 })
        });
        let original = (0..1_000).flat_map(|n| processes.each_mut().map(|process| process.next(EVENING_MS + n)));
        let original = duplicates(original.collect::<Vec<_>>());

        // 8 processes start at one moment with an empty register.
        let register = MemoryRegister::new();
        let ids = thread::scope(|scope| {
            let start = |host: u32| {
                let register = register.clone();
                scope.spawn(move || mint(&open(register, options().holder(format!("host-{host}"))), 1_000))
            };
            let hosts: Vec<_> = (0..8).map(start).collect();
            hosts.into_iter().flat_map(|host| host.join().unwrap()).collect::<Vec<_>>()
        });
        assert_eq!(ids.len(), 8_000);
        Faults { original, imid: duplicates(ids) }
    }

    fn a_lock_that_had_expired() -> Faults {
        // A holds the lock of worker 3, checks it, and is paused. The lock expires, and B takes it. Then A goes on.
        let lock_of_a = (EVENING_MS, EVENING_MS + 10_000);
        let has_lock = (lock_of_a.0..lock_of_a.1).contains(&(EVENING_MS + 9_999));
        let now_ms = EVENING_MS + 20_000;
        assert!(has_lock && now_ms >= lock_of_a.1, "B can take it");
        let (mut a, mut b) = (Snowflake::new(3), Snowflake::new(3));
        let original = duplicates((0..100).flat_map(|_| [a.next(now_ms), b.next(now_ms)]).collect::<Vec<_>>());

        // One lane, so B can only take that of A. While A is cut off it mints as long as it can.
        let register = MemoryRegister::new();
        let reaches = Arc::new(AtomicBool::new(true));
        let one_lane = || options().lane_bits(0);
        let a = open(Reached(register.clone(), Arc::clone(&reaches)), one_lane().holder("a"));
        let mut ids = mint(&a, 100);
        reaches.store(false, Ordering::Relaxed);
        let (start, mut b) = (Instant::now(), None);
        thread::scope(|scope| {
            let opening = scope.spawn(|| open(register.clone(), one_lane().holder("b")));
            while !opening.is_finished() {
                ids.extend(a.generate(room()));
            }
            b = Some(opening.join().unwrap());
        });
        let b = b.expect("B has the lane");
        assert!(start.elapsed() > 500 * MS && ids.len() > 1_000, "A went on for a while: {} IDs", ids.len());
        for _ in 0..1_000 {
            ids.extend(a.generate(room()));
            ids.extend(mint(&b, 1));
        }
        std::mem::forget(a);
        Faults { original, imid: duplicates(ids) }
    }

    fn ids_that_json_rounded() -> Faults {
        // Returns the value as JavaScript reads it: a number of 53 bits, or a text.
        let read = |json: &str| match json.strip_prefix('"') {
            Some(_) => json.to_owned(),
            None => json.parse::<f64>().unwrap().to_string(),
        };
        let mut snowflake = Snowflake::new(7);
        let numbers = (0..1_000).map(|_| read(&snowflake.next(EVENING_MS - 1_288_834_974_657).to_string()));
        let ids = imid_at([EVENING_MS; 1_000]);
        // The form of the feature `serde`.
        let texts = ids.iter().map(|id| read(&format!("\"{id}\"")));
        Faults { original: duplicates(numbers.collect::<Vec<_>>()), imid: duplicates(texts) }
    }

    /// A generator that reads its process once: the second, the process and a counter.
    #[derive(Clone)]
    struct Xid {
        process: u32,
        counter: u32,
    }

    fn a_forked_child() -> Faults {
        let mut parent = Xid { process: std::process::id(), counter: 0 };
        let second = EVENING_MS / 1_000;
        let next = |xid: &mut Xid| {
            xid.counter += 1;
            (second, xid.process, xid.counter)
        };
        next(&mut parent);
        // A child has a copy of the memory.
        let mut child = parent.clone();
        let original = duplicates((0..1_000).flat_map(|_| [next(&mut parent), next(&mut child)]).collect::<Vec<_>>());

        let ids = open(MemoryRegister::new(), options());
        mint(&ids, 100);
        // The thread of the lease holds no lock while it sleeps.
        thread::sleep(50 * MS);
        // SAFETY: the only other thread of this process sleeps, so it holds no lock that the child needs.
        #[expect(unsafe_code, reason = "fork is unsafe in a process with threads")]
        let forked = unsafe { fork() }.unwrap();
        let minted = match forked {
            // The child mints nothing with its parent's lease, so nothing can be equal.
            ForkResult::Child => {
                let minted = (0..100).filter(|_| ids.generate(room()).is_ok()).count();
                exit(i32::try_from(minted).unwrap_or(100))
            }
            ForkResult::Parent { child } => match waitpid(child, None).unwrap() {
                WaitStatus::Exited(_, minted) => usize::try_from(minted).unwrap(),
                other => panic!("{other:?}"),
            },
        };
        mint(&ids, 100);
        Faults { original, imid: minted }
    }

    fn an_id_from_the_far_future() -> Faults {
        // 2099-12-31T00:00:00Z.
        let forged_ms = 4_102_358_400_000;
        let is_far = |ms: u64| ms > EVENING_MS + 86_400_000;

        // A logical clock that follows the greatest time it has seen.
        let mut greatest = EVENING_MS.max(forged_ms);
        let original = (0..1_000).map(|n| {
            greatest = (greatest + 1).max(EVENING_MS + n);
            greatest
        });
        let original = original.filter(|ms| is_far(*ms)).count();

        let ids = Generator::builder().clock(ManualClock::new(EVENING_MS)).build().unwrap();
        let forged = IdParts { timestamp_ms: forged_ms, spin: 7, session_tag: room() };
        let refused = ids.observe(MessageId::try_from_parts(forged).unwrap()).unwrap_err();
        assert!(refused.is_skew());
        let mint = |n| {
            ids.clock().set(EVENING_MS + n);
            assert_eq!(ids.clock().now_ms(), Ok(EVENING_MS + n));
            ids.generate(room()).unwrap().timestamp_ms()
        };
        Faults { original, imid: (0..1_000).map(mint).filter(|ms| is_far(*ms)).count() }
    }
}
