//! Worker IDs of Snowflake generators, over a register in memory and in a file.

#[path = "../../imid-lease/tests/support/faulty.rs"]
mod faulty;
#[path = "../../imid-lease/tests/support/folder.rs"]
mod folder;

use std::collections::HashSet;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use faulty::FaultyRegister;
use folder::Folder;
use imid::clock::{Clock, ClockError, SystemClock};
use imid_lease::register::FileRegister;
use imid_lease::{OpenError, Phase};
use imid_snowflake::worker_ids::{LeasedSnowflakes, WorkerIds, WorkerOptions};
use imid_snowflake::{GenerateError, Layout, NodeSource, Preset, Snowflake};

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// The system's clock with an offset that all clones share.
#[derive(Clone, Debug, Default)]
struct Shifted(Arc<AtomicI64>);

impl Shifted {
    /// A clock in the time of each built-in layout: 300 days ago.
    fn past() -> Self {
        Self(Arc::new(AtomicI64::new(-300 * 86_400_000)))
    }

    fn step(&self, ms: i64) {
        self.0.fetch_add(ms, Ordering::Relaxed);
    }
}

impl Clock for Shifted {
    fn now_ms(&self) -> Result<u64, ClockError> {
        Ok(SystemClock.now_ms()?.saturating_add_signed(self.0.load(Ordering::Relaxed)))
    }
}

/// A layout with two worker IDs.
fn two() -> Preset {
    Preset::new(Layout::builder().tick_bits(42).node_bits(1).sequence_bits(20).build().unwrap())
}

/// Short times, so that a test does not take long.
fn short(preset: Preset) -> WorkerOptions<Shifted> {
    WorkerOptions::new(preset).clock(Shifted::past()).horizon(ms(1_200)).max_skew(ms(1_000))
}

type Ids = LeasedSnowflakes<Shifted>;

/// Opens worker IDs, each with its own connection to a register.
fn open(register: &FaultyRegister, options: WorkerOptions<Shifted>) -> Result<WorkerIds<Shifted>, OpenError> {
    WorkerIds::open(|| Ok(register.clone()), options)
}

/// Waits until there is a worker ID.
fn opened(workers: WorkerIds<Shifted>) -> Result<WorkerIds<Shifted>, OpenError> {
    opened_within(workers, ms(15_000))
}

fn opened_within(workers: WorkerIds<Shifted>, timeout: Duration) -> Result<WorkerIds<Shifted>, OpenError> {
    workers.wait_until_open(timeout).map(|()| workers)
}

/// Waits until a condition holds.
fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < Duration::from_secs(20), "{what}");
        thread::sleep(ms(5));
    }
}

/// Returns a generator. On a busy machine a renewal can come late, and then there is no worker ID for a moment.
fn generator(workers: &WorkerIds<Shifted>) -> Ids {
    let started = Instant::now();
    loop {
        match workers.generator() {
            Ok(ids) => return ids,
            Err(error) => {
                assert!(error.retry_after().is_some() && started.elapsed() < Duration::from_secs(20), "{error}");
            }
        }
        thread::sleep(ms(1));
    }
}

/// Waits until all leases hold a worker ID.
fn hold_all(workers: &WorkerIds<Shifted>) {
    eventually("all leases hold", || workers.status().iter().all(|status| status.phase == Phase::Holding));
}

#[test]
fn each_preset_has_worker_ids_that_no_other_process_has() {
    for preset in Preset::ALL {
        let register = FaultyRegister::new();
        let mut nodes = HashSet::new();
        let processes: Vec<_> = (0..4).map(|_| open(&register, short(*preset)).and_then(opened).unwrap()).collect();
        let ids: Vec<Ids> = processes.iter().map(generator).collect();
        for ids in &ids {
            let id = ids.generate_within(ms(1_000)).unwrap();
            assert_eq!(id.layout(), preset.layout());
            nodes.insert(id.node());
        }
        for workers in &processes {
            hold_all(workers);
            nodes.extend(workers.status().iter().filter_map(|status| status.lane).map(u32::from));
        }
        assert_eq!(nodes.len(), 8, "{:?}", preset.layout());
    }
}

#[test]
fn the_rollback_articles_generator_swaps_its_worker_id_from_a_register() {
    let options = short(Preset::rollback_38_15_10(Layout::ROLLBACK_38_15_10.epoch()).unwrap());
    let clock = Shifted::past();
    let workers = open(&FaultyRegister::new(), options.clock(clock.clone())).and_then(opened).unwrap();
    hold_all(&workers);
    let ids = generator(&workers);
    let mut minted = vec![ids.generate().unwrap()];
    // The article waits for up to 15 ms.
    clock.step(-10);
    minted.push(ids.generate_within(ms(1_000)).unwrap());
    assert_eq!(minted[0].node(), minted[1].node());
    clock.step(-500);
    minted.push(ids.generate().unwrap());
    assert_ne!(minted[2].node(), minted[0].node());
    assert!(minted[2].timestamp_ms() < minted[1].timestamp_ms());
    // The first one is spare again, but its IDs are ahead of the clock.
    clock.step(-200);
    assert!(ids.generate_within(ms(100)).unwrap_err().is_rollback());
    eventually("the clock has caught up", || ids.generate().map(|id| minted.push(id)).is_ok());
    let distinct: HashSet<_> = minted.iter().map(|id| id.to_u64()).collect();
    assert_eq!(distinct.len(), minted.len());
}

/// The spare one was used until a moment ago, by another process or this one. A call that may wait does.
#[test]
fn a_call_with_time_waits_for_a_worker_id_that_can_mint() {
    let register = FaultyRegister::new();
    let clock = Shifted::past();
    let hold_one = || open(&register, short(two()).spares(0).clock(clock.clone())).and_then(opened).unwrap();
    // Both worker IDs have IDs up to now.
    for workers in [hold_one(), hold_one()] {
        let ids = generator(&workers);
        ids.generate().unwrap();
        ids.close();
        workers.close();
    }
    let workers = open(&register, short(two()).clock(clock.clone())).and_then(opened).unwrap();
    hold_all(&workers);
    let ids = generator(&workers);
    ids.generate_within(ms(20_000)).unwrap();
    clock.step(-600);
    assert!(ids.generate().unwrap_err().is_rollback());
    ids.generate_within(ms(20_000)).unwrap();

    // The same for a ceiling, until all leases have stopped.
    register.set_down(true);
    eventually("the ceiling is reached", || ids.generate().is_err_and(GenerateError::is_ceiling));
    thread::scope(|scope| {
        let waiting = scope.spawn(|| ids.generate_within(ms(20_000)));
        register.set_down(false);
        waiting.join().unwrap().unwrap();
    });
    workers.close();
    let started = Instant::now();
    eventually("it ends", || ids.generate().is_err_and(GenerateError::is_ceiling));
    assert!(ids.generate_within(Duration::from_secs(3_600)).is_err_and(GenerateError::is_ceiling));
    assert!(started.elapsed() < Duration::from_secs(60));
}

#[test]
fn minting_goes_on_until_the_ceiling_while_the_register_is_down_and_again_after_it() {
    let register = FaultyRegister::new();
    let workers = open(&register, short(Preset::TWITTER)).and_then(opened).unwrap();
    hold_all(&workers);
    let ids = generator(&workers);
    register.set_down(true);
    let started = Instant::now();
    let mut error = None;
    let mut last = 0;
    eventually("the ceiling is reached", || {
        match ids.generate_within(ms(100)) {
            Ok(id) => last = id.timestamp_ms(),
            Err(refusal) => error = Some(refusal),
        }
        error.is_some()
    });
    let error = error.unwrap();
    assert!(error.is_ceiling(), "{error}");
    assert!(started.elapsed() > ms(600), "{:?}", started.elapsed());
    // At the ceiling of a worker ID the generator takes the other one, so the last ID is below the later ceiling.
    let ceiling = workers.status().iter().filter_map(|status| status.ceiling_ms).max();
    assert!(Some(last) < ceiling, "{last} {ceiling:?}");
    register.set_down(false);
    eventually("minting goes on", || ids.generate().is_ok());
}

/// Another process holds the record, for example because an operator has freed it by force.
#[test]
fn a_worker_id_that_was_lost_is_swapped_and_none_of_its_ids_is_at_the_ceiling() {
    let register = FaultyRegister::new();
    let workers = open(&register, short(Preset::LEAF)).and_then(opened).unwrap();
    hold_all(&workers);
    let ids = generator(&workers);
    let lost = ids.generate().unwrap();
    let key = format!("workers/1/{:05}", lost.node());
    let record = imid_lease::Register::read(&mut register.clone(), &key).unwrap().unwrap();
    let ceiling: u64 = record.split_once("ceiling=").unwrap().1.split(' ').next().unwrap().parse().unwrap();
    let token = record.split_once("token=").unwrap().1.split(' ').next().unwrap();
    register.set(&key, Some(&record.replace(token, "00000000deadbeef").replace("version=", "version=9")));
    let mut minted = vec![lost];
    eventually("the worker ID is swapped", || {
        minted.extend(ids.generate_within(ms(50)));
        ids.node() != lost.node()
    });
    let under_lost = minted.iter().filter(|id| id.node() == lost.node());
    assert!(under_lost.clone().count() > 1);
    assert!(under_lost.into_iter().all(|id| id.timestamp_ms() < ceiling), "{ceiling}");
    assert_eq!(workers.status().iter().map(|status| status.lost).sum::<u64>(), 1);
    assert!(minted.is_sorted_by(|a, b| a.tick() <= b.tick()));
}

#[test]
fn a_process_without_a_worker_id_is_told_how_many_are_held() {
    let register = FaultyRegister::new();
    let first = open(&register, short(two())).and_then(opened).unwrap();
    hold_all(&first);
    let error = open(&register, short(two())).and_then(|it| opened_within(it, ms(1_000))).unwrap_err();
    assert!(error.is_no_lane(), "{error}");
    assert_eq!(error.to_string(), "no lane is free: 2 of 2 are held");
    let error = open(&register, short(Preset::LEAF)).and_then(opened).unwrap_err();
    assert!(error.is_mismatch(), "{error}");
    // Each generator needs a worker ID of its own.
    let ids = [generator(&first), generator(&first)];
    assert_ne!(ids[0].node(), ids[1].node());
    assert!(first.generator().unwrap_err().is_no_lane());
    drop((first, ids));
    open(&register, short(two())).and_then(|it| opened_within(it, ms(5_000))).unwrap();
}

/// Unlike a lane, a worker ID that is far ahead cannot be accepted.
#[test]
fn worker_ids_that_are_far_ahead_are_an_error_that_names_no_setting() {
    let register = FaultyRegister::new();
    let ahead = Shifted::past();
    ahead.step(3_600_000);
    let options = short(two()).clock(ahead);
    let wrong = open(&register, options).and_then(opened).unwrap();
    let both = [generator(&wrong), generator(&wrong)];
    for ids in both {
        ids.generate_within(ms(500)).unwrap();
    }
    assert!(wrong.close_within(ms(20_000)));
    let workers = open(&register, short(two())).unwrap();
    let error = workers.wait_until_open(Duration::MAX).unwrap_err();
    assert!(error.is_clock() && error.to_string().ends_with(" s: correct the clock"), "{error}");
    let error = workers.generator().unwrap_err();
    assert_eq!(error.to_string(), "worker IDs are too far ahead of the clock: correct the clock");
}

/// The end of a closed generator is exact, so the next process does not wait.
#[test]
fn the_next_process_starts_after_the_last_id_of_a_closed_generator() {
    let folder = Folder::new();
    let path = folder.path("workers");
    let clock = Shifted::past();
    let mut minted = Vec::new();
    for _ in 0..4 {
        let options = short(two()).spares(0).clock(clock.clone());
        let workers = WorkerIds::open(|| FileRegister::owned(&path), options).and_then(opened).unwrap();
        let ids = generator(&workers);
        minted.extend((0..2_000).map(|_| ids.generate_within(ms(500)).unwrap()));
        ids.close();
        workers.close();
        assert!(ids.generate().unwrap_err().is_closed());
        assert!(workers.generator().unwrap_err().is_closed());
    }
    assert_eq!(minted.iter().map(|id| id.to_u64()).collect::<HashSet<_>>().len(), minted.len());
}

/// The same within a tick of a second, and within one of 2^20 ns, which is not a whole number of milliseconds: the next
/// process mints from the next tick on.
#[test]
fn a_worker_id_changes_hands_within_a_tick_of_any_length() {
    let mut waits = 0;
    for (tick, tick_bits, rounds) in [(Duration::from_secs(1), 31, 4), (Duration::from_nanos(1 << 20), 41, 200)] {
        let layout = Layout::builder()
            .tick_bits(tick_bits)
            .node_bits(1)
            .sequence_bits(62 - tick_bits)
            .tick(tick)
            .build()
            .unwrap();
        let register = FaultyRegister::new();
        let mut minted: Vec<Snowflake> = Vec::new();
        let options = || short(Preset::new(layout)).horizon(ms(4_000)).spares(0);
        // One of two worker IDs is taken all the time.
        let _other = open(&register, options()).and_then(opened).unwrap();
        for _ in 0..rounds {
            let workers = open(&register, options()).and_then(opened).unwrap();
            // Until the next tick, no worker ID is spare.
            let ids = loop {
                match workers.generator() {
                    Ok(ids) => break ids,
                    Err(error) => thread::sleep(error.retry_after().unwrap().min(ms(1))),
                }
                waits += 1;
            };
            minted.extend((0..3).map(|_| ids.generate_within(ms(3_000)).unwrap()));
            ids.close();
            workers.close();
        }
        assert!(minted.is_sorted_by(|a, b| a.to_u64() < b.to_u64()), "{tick:?}");
    }
    // A slow machine needs more than the short tick for each process.
    assert!(waits > 0, "no process came within a tick");
}

/// Nobody closes the generator, so a thread of it could still be about to mint.
#[test]
fn worker_ids_that_are_closed_before_their_generator_end_at_the_ceiling() {
    let register = FaultyRegister::new();
    let workers = open(&register, short(two()).spares(0)).and_then(opened).unwrap();
    let ids = generator(&workers);
    let id = ids.generate().unwrap();
    let ceiling = workers.status()[0].ceiling_ms.unwrap();
    workers.close();
    // A generator asks for its ceiling once in each tick.
    eventually("it ends", || ids.generate().is_err_and(GenerateError::is_ceiling));
    let record = register.clone();
    let record = imid_lease::Register::read(&mut { record }, &format!("workers/1/{:05}", id.node())).unwrap().unwrap();
    let end: u64 = record.split_once("ceiling=").unwrap().1.split(' ').next().unwrap().parse().unwrap();
    assert!(record.ends_with(" free") && end >= ceiling, "{record}, {ceiling}");
}

#[test]
fn a_register_that_went_back_ends_all_worker_ids() {
    let register = FaultyRegister::new();
    let workers = open(&register, short(Preset::TWITTER)).and_then(opened).unwrap();
    hold_all(&workers);
    let before = register.snapshot();
    let ids = generator(&workers);
    ids.generate().unwrap();
    let renewals = || workers.status().iter().map(|status| status.renewals).min();
    let known = renewals();
    eventually("each lease is renewed", || renewals() > known);
    register.restore(&before);
    eventually("it is noticed", || ids.generate_within(ms(20)).is_err_and(GenerateError::is_ceiling));
    eventually("all have stopped", || workers.status().iter().all(|status| status.phase == Phase::Stopped));
    assert!(workers.generator().unwrap_err().is_reverted());
    thread::sleep(ms(300));
    assert!(ids.generate().unwrap_err().is_ceiling());
}

/// Random processes over four worker IDs: they come and go, their clocks step, the register is down, loses replies and
/// is slow. No ID comes twice.
#[test]
fn no_id_comes_twice_whatever_clocks_and_register_do() {
    let layout = Layout::builder().tick_bits(42).node_bits(2).sequence_bits(20).build().unwrap();
    let preset = Preset::new(layout);
    let register = FaultyRegister::new();
    let is_done = AtomicBool::new(false);
    let run = |seed: u64| {
        let mut random = seed;
        let mut next = move |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % below
        };
        let mut minted: Vec<Snowflake> = Vec::new();
        let (mut opened, mut swaps) = (0, 0);
        while !is_done.load(Ordering::Relaxed) {
            let clock = Shifted::past();
            clock.step(next(400).cast_signed() - 200);
            let options = short(preset).horizon(ms(500)).max_skew(ms(450));
            let options = options.spares(next(2) as u8).clock(clock.clone());
            let workers = open(&register, options).unwrap();
            let Ok(workers) = opened_within(workers, ms(700)) else { continue };
            opened += 1;
            let Ok(ids) = workers.generator() else { continue };
            for _ in 0..next(4_000) {
                if next(100) == 0 {
                    clock.step(next(600).cast_signed() - 300);
                }
                if let Ok(id) = ids.generate() {
                    swaps += u32::from(minted.last().is_some_and(|last| last.node() != id.node()));
                    minted.push(id);
                } else {
                    thread::sleep(ms(next(3)));
                }
                if is_done.load(Ordering::Relaxed) {
                    break;
                }
            }
            match next(3) {
                0 => _ = ids.close(),
                1 => workers.close(),
                _ => {}
            }
        }
        (minted, opened, swaps)
    };
    let results = thread::scope(|scope| {
        let threads: Vec<_> = (1..=4).map(|seed| scope.spawn(move || run(seed * 7_919))).collect();
        for turn in 0..60_u64 {
            register.set_down(turn % 10 == 7 || turn % 10 == 8);
            register.lose_replies(u32::from(turn % 3 == 0) * 2);
            register.set_delay(ms(if turn % 7 == 2 { 30 } else { 0 }));
            thread::sleep(ms(100));
        }
        register.set_down(false);
        is_done.store(true, Ordering::Relaxed);
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    let all: Vec<_> = results.iter().flat_map(|(minted, ..)| minted.iter().map(|id| id.to_u64())).collect();
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
    let (opened, swaps) = results.iter().fold((0, 0), |sums, (_, opened, swaps)| (sums.0 + opened, sums.1 + swaps));
    assert!(all.len() > 1_000 && opened > 8 && swaps > 4, "{} IDs, {opened} processes, {swaps} swaps", all.len());
    println!("{} IDs, {opened} processes, {swaps} swaps", all.len());
}

#[test]
fn nobody_mints_under_a_worker_id_that_is_spare() {
    let workers = open(&FaultyRegister::new(), short(Preset::TWITTER)).and_then(opened).unwrap();
    hold_all(&workers);
    let now_ms = Shifted::past().now_ms().unwrap();
    let (first, second) = (workers.take(now_ms).unwrap(), workers.take(now_ms).unwrap());
    assert_eq!(workers.take(now_ms), None);
    assert!(workers.ceiling_ms(first.node) > now_ms && workers.ceiling_ms(second.node) > now_ms);
    workers.put(second);
    assert_eq!(workers.ceiling_ms(second.node), 0);
    assert!(workers.take(now_ms).is_some_and(|again| again == second));
}

/// Kubernetes kills a pod 30 s after it has told it to stop.
#[test]
fn sixteen_worker_ids_on_a_silent_store_are_closed_within_two_calls() {
    let register = FaultyRegister::new();
    let options = || short(Preset::TWITTER).spares(15);
    let workers = open(&register, options()).unwrap();
    hold_all(&workers);
    let dropped = open(&register, options()).unwrap();
    hold_all(&dropped);
    // As long as the time limit of a call.
    register.set_delay(ms(3_000));
    register.set_down(true);
    let started = Instant::now();
    drop(dropped);
    assert!(started.elapsed() < ms(2_000), "{:?}", started.elapsed());
    assert!(!workers.close_within(Duration::from_secs(60)));
    // The call that was under way, and one of the release, at the same time for all of them.
    assert!(started.elapsed() < ms(9_000), "{:?}", started.elapsed());
    assert!(workers.generator().unwrap_err().is_closed());
}

/// Tasks need no runtime.
#[test]
fn async_calls_wait_for_the_register() {
    struct Unpark(thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut calls = pin!(async {
        let register = FaultyRegister::new();
        register.set_down(true);
        let workers = open(&register, short(Preset::LEAF)).unwrap();
        let later = thread::spawn(move || {
            thread::sleep(ms(50));
            register.set_down(false);
        });
        workers.wait_until_open_async().await.unwrap();
        later.join().unwrap();
        generator(&workers).close();
        assert!(workers.close_async().await);
    });
    while calls.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
        thread::park();
    }
}
