//! The leased generator over a register in memory.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use imid::clock::{Clock, ClockError, ManualClock, SystemClock};
use imid::{IdParts, SessionTag, SessionType};
#[path = "support/faulty.rs"]
mod faulty;
#[path = "support/opened.rs"]
mod opened;

use faulty::FaultyRegister;
use imid_lease::admin::{self, FreeIf};
use imid_lease::{LaneOptions, LeaseError, LeasedGenerator, Phase, Promise, Register, RegisterError, TrustedClock};
use opened::{opened, opened_within};

const MS: Duration = Duration::from_millis(1);

fn room() -> SessionTag {
    SessionTag::new(SessionType::GROUP, "room-42")
}

/// A horizon of 1 s, so that tests are short.
fn options() -> LaneOptions {
    LaneOptions::new().horizon(1_000 * MS).max_skew(500 * MS).max_lead(200 * MS)
}

/// Waits until something is so, for 10 s at most.
fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(10), "{what}");
        thread::sleep(MS);
    }
}

#[test]
fn threads_that_mint_while_lanes_change_get_distinct_ids_in_order() {
    let register = FaultyRegister::new();
    let ids = LeasedGenerator::open(register.clone(), options().stripes::<4>()).and_then(opened).unwrap();
    let deadline = Instant::now() + Duration::from_secs(3);
    let all: Vec<Vec<_>> = thread::scope(|scope| {
        scope.spawn(|| {
            while Instant::now() < deadline {
                if let Some(lane) = ids.status().lane {
                    let _ = admin::free(&mut register.clone(), "lanes", lane, FreeIf::Forced);
                }
                thread::sleep(30 * MS);
            }
        });
        let mint = |thread: u32| {
            let session = SessionTag::from_u32(thread).unwrap();
            let mut minted = Vec::new();
            while Instant::now() < deadline {
                if let Ok(id) = ids.generate_within(session, 500 * MS) {
                    minted.push(id);
                }
                if minted.len() % 64 == 0 {
                    thread::sleep(MS);
                }
            }
            minted
        };
        let threads: Vec<_> = (0..3).map(|thread| scope.spawn(move || mint(thread / 2))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(all.iter().all(|ids| ids.is_sorted()), "a thread's IDs grow");
    let count: usize = all.iter().map(Vec::len).sum();
    let distinct: HashSet<_> = all.into_iter().flatten().collect();
    assert_eq!(distinct.len(), count);
    assert!(ids.status().lost >= 3, "{:?}", ids.status());
    assert!(count > 1_000, "{count}");
}

/// A register whose writes hang while nobody has sent the word.
struct Hangs(FaultyRegister, Arc<AtomicU32>, Receiver<()>);

impl Register for Hangs {
    fn list(&mut self, prefix: &str) -> Result<Vec<(String, String)>, RegisterError> {
        self.0.list(prefix)
    }

    fn read(&mut self, key: &str) -> Result<Option<String>, RegisterError> {
        self.0.read(key)
    }

    fn compare_and_set(&mut self, key: &str, seen: Option<&str>, value: &str) -> Result<bool, RegisterError> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.2.recv().map_err(|error| RegisterError::new("hung").caused_by(error))?;
        self.0.compare_and_set(key, seen, value)
    }

    fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
        Ok(None)
    }

    fn promise(&self) -> Promise {
        Promise::Strong
    }
}

#[test]
fn a_call_that_hangs_delays_no_other_lease_of_the_process() {
    let register = FaultyRegister::new();
    let ids = LeasedGenerator::open(register.clone(), options()).and_then(opened).unwrap();
    let (word, heard) = channel();
    let calls = Arc::new(AtomicU32::new(0));
    let hanging = LeasedGenerator::open(Hangs(register, Arc::clone(&calls), heard), options()).unwrap();
    wait_until("it hangs", || calls.load(Ordering::Relaxed) == 1);
    let renewals = ids.status().renewals;
    wait_until("renewals of the other", || ids.status().renewals > renewals + 4);
    assert!(ids.generate(room()).is_ok() && ids.close_within(10_000 * MS), "the other one also gives its lane back");
    assert_eq!((calls.load(Ordering::Relaxed), hanging.status().phase), (1, Phase::Seeking));
    drop(word);
}

/// A register whose time is what a function returns.
struct Timed<F>(FaultyRegister, F);

impl<F: FnMut(&mut FaultyRegister) -> Result<Option<u64>, RegisterError> + Send + 'static> Register for Timed<F> {
    fn read(&mut self, key: &str) -> Result<Option<String>, RegisterError> {
        self.0.read(key)
    }

    fn list(&mut self, prefix: &str) -> Result<Vec<(String, String)>, RegisterError> {
        self.0.list(prefix)
    }

    fn compare_and_set(&mut self, key: &str, seen: Option<&str>, value: &str) -> Result<bool, RegisterError> {
        self.0.compare_and_set(key, seen, value)
    }

    fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
        (self.1)(&mut self.0)
    }

    fn creates_missing_spaces(&self) -> bool {
        true
    }

    fn promise(&self) -> Promise {
        Promise::Strong
    }
}

#[test]
fn a_client_that_parks_its_thread_does_not_delay_a_close() {
    // A renewal is due after a quarter of the horizon, which is 15 minutes.
    let options = LaneOptions::new().horizon(Duration::from_secs(3_600));
    // Some clients park the thread that calls them, and use up the wakes of others.
    let parking = Timed(FaultyRegister::new(), |_: &mut FaultyRegister| {
        thread::sleep(200 * MS);
        thread::park_timeout(MS);
        Err(RegisterError::new("no time"))
    });
    let ids = LeasedGenerator::open(parking, options).and_then(opened).unwrap();
    // The thread has told of the lane, and asks for the time. It is told to end while it does.
    thread::sleep(50 * MS);
    assert!(ids.close_within(Duration::from_secs(20)));
}

#[test]
fn a_space_with_a_live_holder_is_not_recovered() {
    let mut register = imid_lease::register::MemoryRegister::new();
    let ids = LeasedGenerator::open(register.clone(), options().holder("web-3")).and_then(opened).unwrap();
    let recovery = admin::Recovery::new(1_000 * MS, 500 * MS);
    let before = admin::view(&mut register, "lanes").unwrap().meta;
    let error = admin::recover(&mut register, "lanes", recovery).unwrap_err();
    assert!(error.is_in_use(), "{error}");
    assert_eq!(error.to_string(), format!("lane {} is in use by web-3", ids.status().lane.unwrap()));
    assert_eq!(admin::view(&mut register, "lanes").unwrap().meta, before, "nothing was changed");
    // Its lane is held, and nobody renews it: as in a backup.
    let record = register.list("lanes/").unwrap();
    ids.close();
    let mut restored = imid_lease::register::MemoryRegister::new();
    for (key, text) in record {
        assert!(restored.compare_and_set(&key, None, &text).unwrap());
    }
    let floor_ms = admin::recover(&mut restored, "lanes", recovery).unwrap();
    let lanes = admin::view(&mut restored, "lanes").unwrap().lanes;
    assert!(lanes.iter().all(|lane| lane.record.clone().unwrap().unwrap().ceiling_ms == floor_ms));
}

#[test]
fn an_observed_id_holds_for_the_next_lane_too() {
    let register = FaultyRegister::new();
    let ids = LeasedGenerator::open(register.clone(), options()).and_then(opened).unwrap();
    for _ in 0..10 {
        let now = ids.generate_within(room(), 1_000 * MS).unwrap().timestamp_ms();
        let ahead = IdParts { timestamp_ms: now + 100, spin: 9, session_tag: room() };
        let seen = imid::MessageId::try_from_parts(ahead).unwrap();
        ids.observe(seen).unwrap();
        let lane = ids.status().lane.unwrap();
        let lost = ids.status().lost;
        admin::free(&mut register.clone(), "lanes", lane, FreeIf::Forced).unwrap();
        wait_until("another lane", || ids.status().lost > lost && ids.status().phase == Phase::Holding);
        assert!(ids.generate_within(room(), 1_000 * MS).unwrap() > seen);
    }
}

/// A space that was created begins a horizon and a skew ahead of the clock.
#[test]
fn a_space_that_was_created_refuses_no_call() {
    let register = FaultyRegister::new();
    // The first grant has room for two seconds at half speed, and is renewed after one: a thread can be late on a busy machine.
    let ahead = admin::Recovery::new(4_000 * MS, 500 * MS);
    admin::create(&mut register.clone(), "lanes", admin::LANES_LAYOUT, 6, ahead).unwrap();
    let ids = LeasedGenerator::open(register, options().horizon(4_000 * MS)).and_then(opened).unwrap();
    let (began, mut minted) = (Instant::now(), 0);
    while began.elapsed() < 2_500 * MS {
        ids.generate(room()).unwrap();
        minted += 1;
        thread::sleep(MS);
    }
    assert!(minted > 100, "{minted}");
}

/// A floor at the ceiling, as of another owner of the rooms. No early renewal comes for it.
#[test]
fn the_hint_of_a_used_up_call_is_the_time_of_the_next_renewal() {
    let ids = LeasedGenerator::open(FaultyRegister::new(), options().horizon(8_000 * MS)).and_then(opened).unwrap();
    ids.generate(room()).unwrap();
    // On a busy machine a renewal can come in between. The next one is two seconds away.
    let between_renewals = || {
        let before = ids.status();
        ids.raise_floor_ms(before.ceiling_ms.unwrap());
        let (refused, after) = (ids.generate(room()), ids.status());
        refused.err().filter(|_| before.renewals == after.renewals).map(|error| (before, error, after))
    };
    let (before, error, after) = (0..10).find_map(|_| between_renewals()).expect("a call that is refused");
    assert!(error.is_used_up(), "{error}");
    let hint = error.retry_after().unwrap();
    let [most, least] = [&before, &after].map(|status| (2_000 * MS).saturating_sub(status.last_renewal.unwrap()));
    assert!((least..=most + 2 * MS).contains(&(hint + MS)), "{hint:?} is not from {least:?} to {most:?}");
    wait_until("a renewal", || ids.status().renewals > before.renewals);
    ids.generate(room()).unwrap();
}

#[test]
fn a_register_that_went_back_needs_no_restart_and_a_closed_lease_does() {
    let register = FaultyRegister::new();
    let ids = LeasedGenerator::open(register.clone(), options()).and_then(opened).unwrap();
    let old = register.snapshot();
    thread::sleep(400 * MS);
    register.restore(&old);
    assert!(ids.stopped_within(Duration::from_secs(20)).unwrap().is_reverted());
    assert_eq!(ids.needs_restart_within(50 * MS), None);
    let closed = LeasedGenerator::open(FaultyRegister::new(), options()).and_then(opened).unwrap();
    closed.close();
    assert!(closed.needs_restart_within(Duration::ZERO).unwrap().is_closed());
}

#[test]
fn a_register_that_does_not_answer_stops_nobody_before_the_ceiling() {
    let register = FaultyRegister::new();
    let ids = LeasedGenerator::open(register.clone(), options()).and_then(opened).unwrap();
    thread::sleep(300 * MS);
    register.set_down(true);
    let (down, mut last) = (Instant::now(), None);
    let error: LeaseError = loop {
        match ids.generate(room()) {
            Ok(id) => last = Some(id.timestamp_ms()),
            Err(error) => break error,
        }
        thread::sleep(MS);
    };
    assert!(down.elapsed() > 600 * MS, "{:?}", down.elapsed());
    assert!(last < ids.status().ceiling_ms, "{last:?}, {:?}", ids.status());
    assert!(error.is_register() && error.retry_after().is_some(), "{error:?}");
    assert!(error.to_string().starts_with("lease has run out and the register does not answer: retry in "), "{error}");
    assert_eq!(ids.status().last_error.as_deref(), Some("the faulty register is set down"));
    register.set_down(false);
    ids.generate_within(room(), Duration::from_secs(5)).unwrap();
    assert_eq!((ids.status().phase, ids.status().lost), (Phase::Holding, 0));
}

/// The system's clock, an hour ahead or behind.
#[derive(Clone, Debug)]
struct Wrong(i64);

impl Clock for Wrong {
    fn now_ms(&self) -> Result<u64, ClockError> {
        Ok(SystemClock.now_ms()?.saturating_add_signed(self.0))
    }
}

#[test]
fn a_clock_that_is_wrong_from_the_start_is_not_believed_if_the_stores_is_trusted() {
    for wrong_ms in [-3_600_000, 3_600_000] {
        for is_down_at_first in [false, true] {
            let register = FaultyRegister::new();
            let now = || SystemClock.now_ms().unwrap();
            register.set_now_ms(Some(now()));
            register.set_down(is_down_at_first);
            let ids = thread::scope(|scope| {
                let options = options().trust(TrustedClock::Store).clock(Wrong(wrong_ms));
                let opening = scope.spawn(|| LeasedGenerator::open(register.clone(), options).and_then(opened));
                thread::sleep(300 * MS);
                register.set_down(false);
                opening.join().unwrap().unwrap()
            });
            for _ in 0..5 {
                let minted = ids.generate_within(room(), 1_000 * MS).unwrap().timestamp_ms();
                assert!(minted.abs_diff(now()) < 60_000, "{minted}, {} {wrong_ms} {is_down_at_first}", now());
                thread::sleep(10 * MS);
            }
            let ceiling_ms = ids.status().ceiling_ms.unwrap();
            assert!(ceiling_ms.abs_diff(now()) < 60_000, "{ceiling_ms}");
        }
    }
}

#[test]
fn who_starts_while_the_clocks_differ_is_told_by_how_much_and_others_go_on() {
    let now = || SystemClock.now_ms().unwrap();
    for wrong_ms in [-3_600_000_i64, 3_600_000] {
        let register = FaultyRegister::new();
        register.set_now_ms(Some(now()));
        let holder = LeasedGenerator::open(register.clone(), options()).and_then(opened).unwrap();
        register.set_now_ms(Some(now().saturating_add_signed(wrong_ms)));
        let ids = LeasedGenerator::open(register.clone(), options()).unwrap();
        let started = Instant::now();
        let error = ids.wait_until_open(Duration::from_secs(15)).unwrap_err();
        assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
        let side = if wrong_ms < 0 { "behind" } else { "ahead of" };
        let text = error.to_string();
        assert!(text.starts_with("store's clock is 3") && text.contains(side), "{text}");
        assert!(error.is_clock() && error.is_permanent() && !error.is_register());
        assert!(ids.generate(room()).unwrap_err().is_clock());
        // Whoever runs keeps to its clock, and so does who trusts it.
        let trusting =
            LeasedGenerator::open(register.clone(), options().trust(TrustedClock::Process)).and_then(opened).unwrap();
        for ids in [&holder, &trusting] {
            let minted = ids.generate_within(room(), 1_000 * MS).unwrap().timestamp_ms();
            assert!(minted.abs_diff(now()) < 60_000, "{minted}, {} {wrong_ms}", now());
        }
        let difference_ms = trusting.status().store_ahead_ms.unwrap();
        assert!((difference_ms - wrong_ms).abs() < 5_000, "{difference_ms}");
        // The clock is corrected. It stands between two calls of this.
        let started = Instant::now();
        while ids.status().phase != Phase::Holding {
            register.set_now_ms(Some(now()));
            assert!(started.elapsed() < Duration::from_secs(20));
            thread::sleep(10 * MS);
        }
    }
}

#[test]
fn lost_replies_cost_nothing_but_a_retry() {
    let register = FaultyRegister::new();
    let ids = LeasedGenerator::open(register.clone(), options()).and_then(opened).unwrap();
    for turn in 0..200 {
        if turn % 40 == 0 {
            register.lose_replies(1);
        }
        ids.generate(room()).unwrap();
        thread::sleep(10 * MS);
    }
    assert_eq!(ids.status().lost, 0);
}

#[test]
fn all_lanes_taken_is_an_error_until_one_is_given_back() {
    let register = FaultyRegister::new();
    // A lane that is not given back is taken after 20 s.
    let options = || options().lane_bits(1).horizon(20_000 * MS);
    let first = LeasedGenerator::open(register.clone(), options()).and_then(opened).unwrap();
    let second = LeasedGenerator::open(register.clone(), options()).and_then(opened).unwrap();
    let error =
        LeasedGenerator::open(register.clone(), options()).and_then(|it| opened_within(it, 1_000 * MS)).unwrap_err();
    assert!(error.is_no_lane());
    assert_eq!(error.to_string(), "no lane is free: 2 of 2 are held");
    let waiting = thread::spawn({
        let register = register.clone();
        move || {
            let ids = LeasedGenerator::open(register, options())
                .and_then(|it| opened_within(it, Duration::from_secs(15)))
                .unwrap();
            (Instant::now(), ids.generate(room()).unwrap())
        }
    });
    thread::sleep(300 * MS);
    let last = first.generate(room()).unwrap();
    let released = Instant::now();
    drop(first);
    let (taken, id) = waiting.join().unwrap();
    assert!(taken - released < 10_000 * MS, "{:?}", taken - released);
    assert!(id > last);
    assert_ne!(second.status().phase, Phase::Stopped);
}

#[test]
fn a_dead_holders_lane_is_taken_after_its_time_out() {
    let register = FaultyRegister::new();
    let ids = LeasedGenerator::open(register.clone(), options().lane_bits(0)).and_then(opened).unwrap();
    let last = ids.generate(room()).unwrap();
    // It never answers again, as if it was killed.
    let copy = FaultyRegister::new();
    copy.restore(&register.snapshot());
    register.set_down(true);
    let start = Instant::now();
    let next = LeasedGenerator::open(copy, options().lane_bits(0)).and_then(opened).unwrap();
    let took = start.elapsed();
    assert!(took >= 990 * MS, "the holder's horizon is 1 s: {took:?}");
    assert!(next.generate_within(room(), 1_000 * MS).unwrap() > last);
}

#[test]
fn a_name_gets_its_lane_back_at_once() {
    let register = FaultyRegister::new();
    let options = || options().lane_bits(0).holder("web-3");
    let ids = LeasedGenerator::open(register.clone(), options()).and_then(opened).unwrap();
    let last = ids.generate(room()).unwrap();
    // Without the name it would find no lane: the other one renews it.
    let next = LeasedGenerator::open(register.clone(), options()).and_then(opened).unwrap();
    assert!(next.generate_within(room(), 1_000 * MS).unwrap() > last);
    // The other one notices, and finds no other lane.
    wait_until("it is lost", || ids.status().phase == Phase::Lost);
    let error = loop {
        match ids.generate(room()) {
            Ok(_) => thread::sleep(MS),
            Err(error) => break error,
        }
    };
    assert!(error.is_no_lane(), "{error}");
}

#[test]
fn a_restored_register_stops_its_holders() {
    let register = FaultyRegister::new();
    let ids = LeasedGenerator::open(register.clone(), options()).and_then(opened).unwrap();
    let old = register.snapshot();
    thread::sleep(400 * MS);
    register.restore(&old);
    wait_until("it stops", || ids.status().phase == Phase::Stopped);
    let error = ids.generate(room()).unwrap_err();
    assert!(error.is_reverted() && error.retry_after().is_none());
    let text = "register went back to an earlier state: run a recovery while no process uses it, then restart";
    assert_eq!(error.to_string(), text);
    assert!(ids.batch(room(), 3).unwrap_err().is_reverted());
    assert!(ids.fill(room(), &mut []).is_ok(), "an empty run needs no lease");
    assert!(ids.observe(imid::MessageId::MIN).is_ok());
}

#[test]
fn a_closed_generator_gives_its_lane_back_and_mints_nothing() {
    let register = FaultyRegister::new();
    let ids = LeasedGenerator::open(register.clone(), options().lane_bits(0)).and_then(opened).unwrap();
    let last = ids.generate(room()).unwrap();
    ids.close();
    ids.close();
    assert!(ids.generate(room()).unwrap_err().is_closed());
    let view = admin::view(&mut register.clone(), "lanes").unwrap();
    let lane = view.lanes[0].record.clone().unwrap().unwrap();
    assert_eq!(lane.state, imid_lease::record::LaneState::Free);
    assert_eq!(lane.ceiling_ms, last.timestamp_ms() + 1, "the exact end");
    assert_eq!(ids.status().space_id, Some(view.meta.space_id));
}

#[test]
fn the_status_shows_the_register_the_space_and_how_many_lanes_were_held() {
    let register = FaultyRegister::new();
    let open = |register: &FaultyRegister, options: LaneOptions| {
        LeasedGenerator::open(register.clone(), options).and_then(opened).unwrap()
    };
    let first = open(&register, options());
    assert_eq!(first.status().held_lanes, Some(1));
    let second = open(&register, options());
    assert_eq!(second.status().held_lanes, Some(2));
    let elsewhere = open(&register, options().space("others"));
    assert_eq!(elsewhere.status().held_lanes, Some(1));

    let all = [&first, &second, &elsewhere];
    wait_until("each knows the register", || all.iter().all(|ids| ids.status().register_id.is_some()));
    let id = admin::register_id(&mut register.clone()).unwrap();
    assert_eq!(all.map(|ids| ids.status().register_id), [id.clone(), id.clone(), id]);
    assert_eq!(all.map(|ids| ids.status().space.to_string()), ["lanes", "lanes", "others"]);
    assert_ne!(first.status().space_id, elsewhere.status().space_id);

    // It is the only record that is not of a space, and what another version wrote stays.
    let keys: Vec<_> = register.clone().list("").unwrap().into_iter().map(|(key, _)| key).collect();
    assert_eq!(keys.iter().filter(|key| !key.contains('/')).collect::<Vec<_>>(), ["register"]);
    register.set("register", Some("imid-lease/2 register"));
    assert!(admin::register_id(&mut register.clone()).is_err());
    let ids = open(&register, options());
    ids.generate(room()).unwrap();
    assert_eq!(ids.status().register_id, None);
}

#[test]
fn the_last_renewal_is_not_older_than_its_lease() {
    let register = FaultyRegister::new();
    let first = LeasedGenerator::open(register.clone(), options()).and_then(opened).unwrap();
    thread::sleep(50 * MS);
    let begun = Instant::now();
    let second = LeasedGenerator::open(register, options()).and_then(opened).unwrap();
    let age = second.status().last_renewal.unwrap();
    // Times are whole milliseconds.
    assert!(age <= begun.elapsed() + MS, "{age:?}");
    drop(first);
}

/// A process may have a right to the records of its space only.
#[test]
fn a_register_that_keeps_its_id_to_itself_grants_lanes() {
    struct OfOneSpace(FaultyRegister);

    impl OfOneSpace {
        fn check(key: &str) -> Result<(), RegisterError> {
            let refused = || RegisterError::new("permission denied").permanent();
            key.starts_with("lanes/").then_some(()).ok_or_else(refused)
        }
    }

    impl Register for OfOneSpace {
        fn read(&mut self, key: &str) -> Result<Option<String>, RegisterError> {
            Self::check(key)?;
            self.0.read(key)
        }

        fn list(&mut self, prefix: &str) -> Result<Vec<(String, String)>, RegisterError> {
            Self::check(prefix)?;
            self.0.list(prefix)
        }

        fn compare_and_set(&mut self, key: &str, seen: Option<&str>, value: &str) -> Result<bool, RegisterError> {
            Self::check(key)?;
            self.0.compare_and_set(key, seen, value)
        }

        fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
            Ok(None)
        }

        fn creates_missing_spaces(&self) -> bool {
            true
        }

        fn promise(&self) -> Promise {
            Promise::Strong
        }
    }

    let register = FaultyRegister::new();
    let ids = LeasedGenerator::open(OfOneSpace(register.clone()), options()).and_then(opened).unwrap();
    wait_until("it renews", || ids.status().renewals > 2);
    let status = ids.status();
    assert_eq!((status.last_error, status.register_id), (None, None));
    // All lanes are held: the refusal is not why there is none.
    let options = || options().space("lanes");
    let _all: Vec<_> = (0..63).map(|_| LeasedGenerator::open(register.clone(), options()).and_then(opened)).collect();
    let none = LeasedGenerator::open(OfOneSpace(register.clone()), options()).unwrap();
    assert!(none.wait_until_open(1_000 * MS).unwrap_err().is_no_lane());
}

/// A close waits for one call besides its own.
#[test]
fn a_close_waits_for_one_call_of_a_look_at_the_register() {
    /// The read of the ID of the register waits for a word.
    struct Waiting {
        register: FaultyRegister,
        begun: Sender<()>,
        ends: Receiver<()>,
        of_id: Arc<AtomicU32>,
    }

    impl Register for Waiting {
        fn read(&mut self, key: &str) -> Result<Option<String>, RegisterError> {
            if key == "register" {
                self.of_id.fetch_add(1, Ordering::SeqCst);
                let _ = self.begun.send(());
                let _ = self.ends.recv();
            }
            self.register.read(key)
        }

        fn list(&mut self, prefix: &str) -> Result<Vec<(String, String)>, RegisterError> {
            self.register.list(prefix)
        }

        fn compare_and_set(&mut self, key: &str, seen: Option<&str>, value: &str) -> Result<bool, RegisterError> {
            if key == "register" {
                self.of_id.fetch_add(1, Ordering::SeqCst);
            }
            self.register.compare_and_set(key, seen, value)
        }

        fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
            Ok(None)
        }

        fn promise(&self) -> Promise {
            Promise::Strong
        }
    }

    let ((begun, has_begun), (end, ends)) = (channel(), channel());
    let (register, of_id) = (FaultyRegister::new(), Arc::new(AtomicU32::new(0)));
    admin::create_first(&mut register.clone(), "lanes", admin::LANES_LAYOUT, 6).unwrap();
    let waiting = Waiting { register: register.clone(), begun, ends, of_id: Arc::clone(&of_id) };
    let ids = LeasedGenerator::open(waiting, options()).unwrap();
    has_begun.recv_timeout(Duration::from_secs(10)).unwrap();
    assert!(!ids.close_within(MS), "a call is under way");
    end.send(()).unwrap();
    assert!(ids.close_within(Duration::from_secs(10)));
    assert_eq!(of_id.load(Ordering::SeqCst), 1, "it goes on after the close has begun");
}

#[test]
fn another_number_of_lanes_is_refused() {
    let register = FaultyRegister::new();
    let _ids = LeasedGenerator::open(register.clone(), options()).and_then(opened).unwrap();
    let error = LeasedGenerator::open(register.clone(), options().lane_bits(5)).and_then(opened).unwrap_err();
    assert!(error.is_mismatch());
    let text = "expected a register of layout imid-80 with 5 lane bits, found imid-80 with 6 lane bits";
    assert_eq!(error.to_string(), text);
    let _other =
        LeasedGenerator::open(register.clone(), options().lane_bits(5).space("others")).and_then(opened).unwrap();
    register.set("lanes/meta", Some("imid-lease/2 meta"));
    let error = LeasedGenerator::open(register.clone(), options()).and_then(opened).unwrap_err();
    assert!(error.is_mismatch());
    let text = "cannot read the register: expected a record of the format `imid-lease/1`, found \"imid-lease/2 meta\"";
    assert_eq!(error.to_string(), text);
}

#[test]
fn a_lane_of_another_format_is_left_alone() {
    let register = FaultyRegister::new();
    let options = || options().lane_bits(1);
    LeasedGenerator::open(register.clone(), options()).and_then(opened).unwrap().close();
    for lane in ["lanes/1/00000", "lanes/1/00001"] {
        register.set(lane, Some("imid-lease/2 lane"));
    }
    let error =
        LeasedGenerator::open(register.clone(), options()).and_then(|it| opened_within(it, 1_000 * MS)).unwrap_err();
    assert!(error.is_no_lane(), "{error}");
    let mut register = register;
    assert_eq!(imid_lease::Register::read(&mut register, "lanes/1/00000").unwrap().unwrap(), "imid-lease/2 lane");
}

/// The generator's own rules would follow each of these jumps: the short ones at once, the long ones after a second
/// reading.
#[test]
fn a_clock_that_jumps_is_not_followed() {
    let start = 1_795_204_812_345;
    // With the long horizon the ceiling does not stop the short jumps.
    for (horizon, jump) in
        [1_000, 60_000].into_iter().flat_map(|it| [20_000, -20_000, 3_600_000, -3_600_000_i64].map(|jump| (it, jump)))
    {
        let clock = std::sync::Arc::new(ManualClock::new(start));
        let options = options().horizon(horizon * MS).clock(clock.clone());
        let ids = LeasedGenerator::open(FaultyRegister::new(), options).and_then(opened).unwrap();
        ids.generate(room()).unwrap();
        clock.set(start.saturating_add_signed(jump));
        thread::sleep(50 * MS);
        let id = ids.generate_within(room(), 1_000 * MS).unwrap();
        assert!(id.timestamp_ms().abs_diff(start) < 10_000, "{}", id.timestamp_ms());
        let ahead = IdParts { timestamp_ms: start + 19_000, spin: 0, session_tag: room() };
        let ahead = imid::MessageId::try_from_parts(ahead).unwrap();
        assert!(ids.observe(ahead).is_err(), "an ID that is ahead of the believed time, after a jump of {jump} ms");
    }
}

#[test]
fn lanes_that_are_an_hour_ahead_are_refused_unless_they_are_accepted() {
    let register = FaultyRegister::new();
    let now_ms = SystemClock.now_ms().unwrap();
    let ahead = std::sync::Arc::new(ManualClock::new(now_ms + 3_600_000));
    let wrong = LeasedGenerator::open(register.clone(), options().lane_bits(0).clock(ahead)).and_then(opened).unwrap();
    wrong.generate(room()).unwrap();
    wrong.close();
    let ids = LeasedGenerator::open(register.clone(), options().lane_bits(0)).unwrap();
    // At once, although it could wait.
    let error = ids.wait_until_open(Duration::MAX).unwrap_err();
    assert!(error.is_clock() && error.is_permanent(), "{error}");
    let words = "expected lanes at most 3 s ahead of the clock, found ";
    let found = error.to_string();
    let rest = found.strip_prefix(words).unwrap_or_else(|| panic!("{found}"));
    let (seconds, rest) = rest.split_once(" s").unwrap();
    assert!((3_000.0..=3_600.1).contains(&seconds.parse::<f64>().unwrap()), "{found}");
    assert_eq!(rest, ": correct the clock, or accept the lead with LaneOptions::accept_far_lanes");
    let error = ids.generate(room()).unwrap_err();
    assert!(error.is_clock() && error.retry_after().is_some(), "{error}");
    drop(ids);
    let ids = LeasedGenerator::open(register, options().lane_bits(0).accept_far_lanes()).and_then(opened).unwrap();
    let id = ids.generate_within(room(), 1_000 * MS).unwrap();
    assert!(id.timestamp_ms() >= now_ms + 3_600_000);
}

/// Lane 0 of two is far ahead and nobody holds it. A process whose clock is right holds lane 1.
#[test]
fn a_free_lane_that_is_far_ahead_is_taken_if_it_is_accepted() {
    const HOUR_MS: u64 = 3_600_000;
    // The horizon of the other process explains its own lead, and not that of lane 0.
    for (ahead_ms, horizon) in [(365 * 24 * HOUR_MS, 1_000), (HOUR_MS, 60_000)] {
        let register = FaultyRegister::new();
        let now_ms = SystemClock.now_ms().unwrap();
        let ahead = std::sync::Arc::new(ManualClock::new(now_ms + ahead_ms));
        let wrong =
            LeasedGenerator::open(register.clone(), options().lane_bits(1).clock(ahead)).and_then(opened).unwrap();
        wrong.generate(room()).unwrap();
        wrong.close();
        let other = options().lane_bits(1).holder("healthy").horizon(horizon * MS);
        let other = LeasedGenerator::open(register.clone(), other).and_then(opened).unwrap();
        assert_ne!(wrong.status().lane, other.status().lane);
        let third = || options().lane_bits(1).holder("third");
        let refused = LeasedGenerator::open(register.clone(), third()).unwrap();
        let error = refused.wait_until_open(1_000 * MS).unwrap_err();
        assert!(error.is_clock() && !error.is_permanent() && !error.is_no_lane(), "{error}");
        assert!(error.to_string().contains("1 of 2 are held"), "{error}");
        let error = refused.generate(room()).unwrap_err();
        assert!(error.is_clock() && error.retry_after().is_some(), "{error}");
        refused.close();
        let third = LeasedGenerator::open(register.clone(), third().accept_far_lanes()).and_then(opened).unwrap();
        assert_eq!(third.status().lane, wrong.status().lane);
        assert!(third.generate_within(room(), 1_000 * MS).unwrap().timestamp_ms() >= now_ms + ahead_ms);
        // A near lane comes first.
        third.close();
        other.close();
        let near = LeasedGenerator::open(register, options().lane_bits(1).holder("near").accept_far_lanes());
        assert_eq!(near.and_then(opened).unwrap().status().lane, other.status().lane);
    }
}

#[test]
fn an_idle_lease_is_written_seldom() {
    let register = FaultyRegister::new();
    let ids = LeasedGenerator::open(register.clone(), options()).and_then(opened).unwrap();
    let (before, start) = (register.writes(), Instant::now());
    thread::sleep(2_000 * MS);
    let (writes, most) = (register.writes() - before, start.elapsed().as_millis() as u64 / 250 + 1);
    assert!((1..=most).contains(&writes), "one each quarter of the horizon of 1 s: {writes}");
    assert_eq!(ids.status().phase, Phase::Holding);
}

#[test]
fn a_run_that_is_too_long_is_the_generators_error() {
    let ids = LeasedGenerator::open(FaultyRegister::new(), options()).and_then(opened).unwrap();
    let error = ids.batch(room(), 10_000_000).unwrap_err();
    assert!(error.generate_error().is_some_and(imid::generator::GenerateError::is_run_too_long));
    assert_eq!(ids.batch(room(), 100).unwrap().len(), 100);
}

/// A store whose settings are not known before the first call.
struct Server(FaultyRegister, bool);

impl Register for Server {
    fn read(&mut self, key: &str) -> Result<Option<String>, RegisterError> {
        self.1 = true;
        self.0.read(key)
    }

    fn list(&mut self, prefix: &str) -> Result<Vec<(String, String)>, RegisterError> {
        self.1 = true;
        self.0.list(prefix)
    }

    fn compare_and_set(&mut self, key: &str, seen: Option<&str>, value: &str) -> Result<bool, RegisterError> {
        self.1 = true;
        self.0.compare_and_set(key, seen, value)
    }

    fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
        Ok(None)
    }

    fn creates_missing_spaces(&self) -> bool {
        true
    }

    fn promise(&self) -> Promise {
        if self.1 { Promise::Strong } else { Promise::Weak("not known yet".into()) }
    }
}

#[test]
fn the_status_has_what_a_register_promises_after_its_first_call() {
    let ids = LeasedGenerator::open(Server(FaultyRegister::new(), false), options()).and_then(opened).unwrap();
    assert_eq!(ids.status().promise, Promise::Strong);
}

#[test]
fn open_returns_at_once_and_the_lane_comes_later() {
    let register = FaultyRegister::new();
    register.set_down(true);
    let ids = LeasedGenerator::open(register.clone(), options()).unwrap();
    assert_eq!(ids.status().phase, Phase::Seeking);
    let error = ids.generate(room()).unwrap_err();
    assert!(error.is_register() && error.retry_after().is_some(), "{error}");
    let error = ids.wait_until_open(1_000 * MS).unwrap_err();
    assert!(error.is_register() && !error.is_permanent());
    assert_eq!(error.to_string(), "register did not answer in 1000 ms: the faulty register is set down");
    register.set_down(false);
    ids.wait_until_open(10_000 * MS).unwrap();
    ids.generate(room()).unwrap();
    assert!(ids.close_within(10_000 * MS));
    assert_eq!(ids.wait_until_open(MS).unwrap_err().to_string(), "lease is closed");
}

/// Before its first answer nothing is known about lanes.
#[test]
fn a_store_that_has_not_answered_yet_is_not_one_without_a_lane() {
    let register = FaultyRegister::new();
    register.set_delay(1_000 * MS);
    let ids = LeasedGenerator::open(register, options()).unwrap();
    let error = ids.generate(room()).unwrap_err();
    let words = "no lane yet, because the register has not answered: retry in ";
    assert!(error.to_string().starts_with(words), "{error}");
    let error = ids.wait_until_open(50 * MS).unwrap_err();
    assert_eq!(error.to_string(), "register did not answer in 50 ms: its first call is still under way");
}

#[test]
fn a_drop_does_not_wait_for_a_silent_store_and_a_close_ends_at_its_timeout() {
    let register = FaultyRegister::new();
    let open = || LeasedGenerator::open(register.clone(), options()).and_then(opened).unwrap();
    let (dropped, closed) = (open(), open());
    register.set_delay(3_000 * MS);
    thread::sleep(300 * MS); // A renewal is under way.
    let start = Instant::now();
    drop(dropped);
    assert!(start.elapsed() < 2_000 * MS, "{:?}", start.elapsed());
    assert!(!closed.close_within(200 * MS), "the register has not answered");
    assert!((200 * MS..2_500 * MS).contains(&start.elapsed()), "{:?}", start.elapsed());
    assert!(closed.generate(room()).unwrap_err().is_closed(), "it ends at once");
    register.set_delay(Duration::ZERO);
    assert!(closed.close_within(10_000 * MS), "the rest comes later");
}

#[test]
fn a_dropped_generator_gives_its_lane_back() {
    let register = FaultyRegister::new();
    let ids = LeasedGenerator::open(register.clone(), options().lane_bits(0)).and_then(opened).unwrap();
    let last = ids.generate(room()).unwrap();
    drop(ids);
    let is_free = || {
        let record = admin::view(&mut register.clone(), "lanes").unwrap().lanes[0].record.clone().unwrap().unwrap();
        record.state == imid_lease::record::LaneState::Free && record.ceiling_ms == last.timestamp_ms() + 1
    };
    wait_until("the lane is free, at its exact end", is_free);
}

/// An application that refuses each call for good, as a server with another password does.
struct Refuses;

impl Register for Refuses {
    fn read(&mut self, _: &str) -> Result<Option<String>, RegisterError> {
        Err(RegisterError::new("no such user").permanent())
    }

    fn list(&mut self, _: &str) -> Result<Vec<(String, String)>, RegisterError> {
        Err(RegisterError::new("no such user").permanent())
    }

    fn compare_and_set(&mut self, _: &str, _: Option<&str>, _: &str) -> Result<bool, RegisterError> {
        Err(RegisterError::new("no such user").permanent())
    }

    fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
        Err(RegisterError::new("no such user").permanent())
    }

    fn creates_missing_spaces(&self) -> bool {
        true
    }

    fn promise(&self) -> Promise {
        Promise::Strong
    }
}

#[test]
fn a_register_that_refuses_for_good_is_told_at_once() {
    let start = Instant::now();
    let error = LeasedGenerator::open(Refuses, options()).and_then(opened).unwrap_err();
    assert!(start.elapsed() < 5_000 * MS, "{:?}", start.elapsed());
    assert_eq!(error.to_string(), "register refuses this process: no such user");
    assert!(error.is_permanent() && error.is_register());
}

#[test]
fn an_id_that_is_observed_before_there_is_a_lane_holds_for_the_first_one() {
    let register = FaultyRegister::new();
    register.set_down(true);
    let ids = LeasedGenerator::open(register.clone(), options()).unwrap();
    let ahead_ms = SystemClock.now_ms().unwrap() + 300;
    let seen = IdParts { timestamp_ms: ahead_ms, spin: 4_095, session_tag: room() };
    ids.observe(imid::MessageId::try_from_parts(seen).unwrap()).unwrap();
    let far = IdParts { timestamp_ms: ahead_ms + 60_000, spin: 0, session_tag: room() };
    assert!(ids.observe(imid::MessageId::try_from_parts(far).unwrap()).is_err(), "past max_skew");
    let later = IdParts { timestamp_ms: ahead_ms + 100, spin: 0, session_tag: room() };
    let later = imid::MessageId::try_from_parts(later).unwrap();
    assert!(ids.observe_limited(later, 50 * MS).is_err(), "past the limit of the caller");
    register.set_down(false);
    ids.wait_until_open(10_000 * MS).unwrap();
    assert!(ids.generate_within(room(), 1_000 * MS).unwrap().timestamp_ms() > ahead_ms);
}

#[test]
fn an_observed_id_holds_for_the_first_lane_even_if_the_clock_steps_back() {
    let register = FaultyRegister::new();
    register.set_down(true);
    let start = 1_795_204_812_345;
    let clock = std::sync::Arc::new(ManualClock::new(start));
    // The time of a clock that is within this of the store's time is followed.
    let options = options().max_skew(5_000 * MS).horizon(10_000 * MS).clock(clock.clone());
    let ids = LeasedGenerator::open(register.clone(), options).unwrap();
    // The clock has passed the ID already.
    let seen = IdParts { timestamp_ms: start - 500, spin: 4_095, session_tag: room() };
    let seen = imid::MessageId::try_from_parts(seen).unwrap();
    ids.observe(seen).unwrap();
    register.set_down(false);
    ids.wait_until_open(10_000 * MS).unwrap();
    clock.set(start - 3_000);
    assert!(ids.generate_within(room(), 5_000 * MS).unwrap() > seen);
}

/// An error from before the end does not keep the lane.
#[test]
fn a_close_after_a_failed_renewal_gives_the_lane_back() {
    let register = FaultyRegister::new();
    let ids = LeasedGenerator::open(register.clone(), options()).and_then(opened).unwrap();
    register.set_down(true);
    wait_until("a renewal has failed", || ids.status().last_error.is_some());
    register.set_down(false);
    assert!(ids.close_within(5_000 * MS));
    let lanes = register.clone().list("lanes/1/").unwrap();
    assert!(!lanes.is_empty() && lanes.iter().all(|(_, record)| record.ends_with(" free")), "{lanes:?}");
}

/// The write was made, and its answer was lost. So the lane is held until its time-out.
#[test]
fn a_close_does_not_say_that_a_lane_is_given_back_which_may_be_held() {
    let register = FaultyRegister::new();
    let first = LeasedGenerator::open(register.clone(), options()).and_then(opened).unwrap();
    assert!(first.close_within(5_000 * MS));
    register.lose_replies(u32::MAX);
    let ids = LeasedGenerator::open(register.clone(), options()).unwrap();
    let is_held = || register.clone().list("lanes/1/").unwrap().iter().any(|(_, record)| record.ends_with(" held"));
    wait_until("a lane is taken", is_held);
    assert!(!ids.close_within(5_000 * MS), "{:?}", register.clone().list("lanes/1/"));
}
