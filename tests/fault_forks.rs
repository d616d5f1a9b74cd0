//! Children that no at-fork handler sees, or sees too late: each way in which Linux copies a process.
//!
//! The process has one thread, and these tests run one after another in it, as those of `tests/fork.rs` do. A test of a
//! setting that a process cannot take back runs in a process of its own.

#[cfg(target_os = "linux")]
mod family;

#[cfg(target_os = "linux")]
mod tests {
    use core::ffi::{c_int, c_long};
    use core::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};
    use core::time::Duration;
    use std::process::Command;
    use std::time::Instant;

    use imid::clock::{Clock, ManualClock, TickClock};
    use imid::generator::{GenerateError, Lane};
    use imid::{Generator, MessageId, Session, SessionType, Start};
    use libtest_mimic::Trial;
    use nix::libc;
    use nix::unistd::{ForkResult, Pid};

    use super::family::Child;

    const T: u64 = 1_763_665_800_000;
    /// What hosts that one event moves are spread over at most, in milliseconds.
    const SPREAD: u64 = 16;
    /// Names how `madvise` is answered in a process that was started for that.
    const MADVISE: &str = "IMID_TEST_MADVISE";

    pub(super) fn all() -> Vec<Trial> {
        macro_rules! trials {
            ($($test:ident)*) => { vec![$(Trial::test(stringify!($test), || { $test(); Ok(()) })),*] };
        }
        trials! {
            every_copy_of_a_process_starts_in_the_millisecond_after_the_last_inherited
            every_copy_of_a_process_meets_its_parent_once_in_4096_pairs
            copies_of_copies_are_new_hosts_too
            siblings_do_not_march_in_step_however_they_are_made
            siblings_after_a_lead_of_1_s_start_apart
            a_set_seed_is_the_parents_alone
            no_call_before_its_first_id_makes_a_child_forget_the_fork
            an_id_of_an_at_fork_handler_that_was_registered_first_is_the_childs
            a_reading_past_all_time_is_an_error_in_every_child
            a_laned_generator_refuses_in_every_child
            a_generator_without_a_lane_goes_on_in_every_child
            a_tick_clock_goes_on_in_every_child
            a_tick_clock_is_dropped_and_started_in_every_child
            a_tick_clock_that_is_the_first_of_all_goes_on_in_every_child
            a_kernel_that_refuses_the_advice_falls_back_to_the_handler
            a_kernel_that_ignores_the_advice_falls_back_to_the_handler
        }
    }

    /// A way to copy this process.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    enum Way {
        /// `fork`, which runs the handlers.
        Fork,
        /// `_Fork` of POSIX 2024, safe in signal handlers: it runs no handler.
        PlainFork,
        /// The system call, past the C library.
        Clone,
    }

    /// Every way that this system has; after [`MADVISE`] only the one that the handler sees.
    fn ways() -> Vec<Way> {
        let mut ways = vec![Way::Fork];
        if std::env::var_os(MADVISE).is_some() {
            return ways;
        }
        if plain_fork().is_some() {
            ways.push(Way::PlainFork);
        }
        // On other processors the flags are not the first argument.
        if cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
            ways.push(Way::Clone);
        }
        ways
    }

    /// `_Fork`, where the C library has it.
    #[expect(unsafe_code, reason = "older libraries have no such symbol to link with")]
    fn plain_fork() -> Option<extern "C" fn() -> c_int> {
        // SAFETY: the name ends in a zero.
        let symbol = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"_Fork".as_ptr()) };
        // SAFETY: a null pointer is `None`; anything else has the signature of POSIX.
        unsafe { core::mem::transmute::<*mut libc::c_void, Option<extern "C" fn() -> c_int>>(symbol) }
    }

    #[expect(unsafe_code, reason = "fork")]
    fn split(way: Way) -> ForkResult {
        let pid = match way {
            Way::Fork => unreachable!("made by `Child::fork`"),
            Way::PlainFork => plain_fork().unwrap()(),
            // SAFETY: this process has one thread; in some tests there is the ticker, which holds no lock. Without flags nothing is shared. The C library of the child keeps the parent's idea of its
            // own thread, which none of these tests asks for.
            Way::Clone => c_int::try_from(unsafe {
                libc::syscall(
                    libc::SYS_clone,
                    c_long::from(libc::SIGCHLD),
                    0 as c_long,
                    0 as c_long,
                    0 as c_long,
                    0 as c_long,
                )
            })
            .unwrap(),
        };
        assert!(pid >= 0, "{way:?} failed");
        if pid == 0 { ForkResult::Child } else { ForkResult::Parent { child: Pid::from_raw(pid) } }
    }

    /// A child that hangs is ended by a signal after 20 s, and has failed then.
    #[expect(unsafe_code, reason = "alarm")]
    fn child(way: Way, work: impl FnOnce() -> Vec<MessageId>) -> Child {
        let guarded = || {
            // SAFETY: it sets a timer of this process.
            unsafe { libc::alarm(20) };
            work()
        };
        if way == Way::Fork { Child::fork(guarded) } else { Child::begin(|| split(way), guarded) }
    }

    fn room() -> Session {
        Session::new(SessionType::GROUP, "hot")
    }

    /// One ID in each of the next milliseconds of a scripted clock.
    fn walk(ids: &Generator<&ManualClock>, milliseconds: u64) -> Vec<MessageId> {
        let step = |_| {
            ids.clock().advance(Duration::from_millis(1));
            ids.generate(room()).unwrap()
        };
        (0..milliseconds).map(step).collect()
    }

    /// How many IDs two increasing lists have in common.
    fn common(a: &[MessageId], b: &[MessageId]) -> usize {
        assert!(a.is_sorted_by(|a, b| a < b) && b.is_sorted_by(|a, b| a < b));
        a.iter().filter(|id| b.binary_search(id).is_ok()).count()
    }

    fn every_copy_of_a_process_starts_in_the_millisecond_after_the_last_inherited() {
        for (way, lead) in ways().into_iter().flat_map(|way| [(way, 0), (way, 1), (way, 200)]) {
            let clock = ManualClock::new(T);
            let ids = Generator::builder().start(Start::Zero).clock(&clock).build().unwrap();
            let last = ids.batch(room(), lead * 4_096 + 1).unwrap().next_back().unwrap();
            let child = child(way, || vec![ids.generate(room()).unwrap()]);
            let later = child.ids()[0].timestamp_ms().saturating_sub(last.timestamp_ms());
            let most = 1 + SPREAD.min(lead as u64 / 4 + 1);
            assert!((1..=most).contains(&later), "{way:?}: {later} ms after the last inherited, which leads by {lead}");
            assert_eq!(ids.generate(room()).unwrap().timestamp_ms(), last.timestamp_ms(), "the parent goes on");
        }
    }

    /// 10,000 pairs of IDs of one millisecond, so 2.4 meetings; the bound is eight standard deviations away.
    fn every_copy_of_a_process_meets_its_parent_once_in_4096_pairs() {
        for way in ways() {
            let mut met = 0;
            for _ in 0..10 {
                let clock = ManualClock::new(T);
                let ids = Generator::builder().clock(&clock).build().unwrap();
                ids.generate(room()).unwrap();
                let child = child(way, || walk(&ids, 1_000));
                met += common(&walk(&ids, 1_000), &child.ids());
            }
            assert!(met < 16, "{way:?}: {met} of 10,000 IDs are the parent's");
        }
    }

    /// Each way after each other; 0.24 meetings are expected in each pair, and five are rarer than one in a million.
    fn copies_of_copies_are_new_hosts_too() {
        for (first, second) in
            ways().into_iter().flat_map(|first| ways().into_iter().map(move |second| (first, second)))
        {
            let clock = ManualClock::new(T);
            let ids = Generator::builder().clock(&clock).build().unwrap();
            ids.generate(room()).unwrap();
            let one = child(first, || {
                let mut minted = vec![ids.generate(room()).unwrap()];
                let other = child(second, || walk(&ids, 1_000));
                minted.extend(walk(&ids, 1_000));
                minted.extend(other.ids());
                minted
            });
            let parent = walk(&ids, 1_000);
            let minted = one.ids();
            let (one, other) = minted[1..].split_at(1_000);
            for (a, b) in [(&*parent, one), (one, other), (&*parent, other)] {
                assert!(common(a, b) < 6, "{first:?}, then {second:?}: {} of 1,000 in common", common(a, b));
            }
        }
    }

    /// In step they would meet in every millisecond. 32 siblings make 496 pairs, and 1,000 milliseconds 121 meetings;
    /// the pairs are nearly independent, and the bound is six standard deviations.
    fn assert_out_of_step(way: Way, ids: &Generator<&ManualClock>) {
        let children: Vec<_> = (0..32).map(|_| child(way, || walk(ids, 1_000))).collect();
        let siblings: Vec<_> = children.into_iter().map(Child::ids).collect();
        let mut met = 0;
        for (at, sibling) in siblings.iter().enumerate() {
            met += siblings[at + 1..].iter().map(|other| common(sibling, other)).sum::<usize>();
        }
        assert!((55..187).contains(&met), "{way:?}: {met} meetings, 121 expected");
    }

    fn siblings_do_not_march_in_step_however_they_are_made() {
        for way in ways() {
            for minted in [false, true] {
                let clock = ManualClock::new(T);
                let ids = Generator::builder().clock(&clock).build().unwrap();
                if minted {
                    ids.generate(room()).unwrap();
                }
                assert_out_of_step(way, &ids);
            }
        }
    }

    /// A parent at full load hands each child the same last stamp, a second ahead. 64 children over 16 milliseconds are
    /// four in each, with a standard deviation of two: six of them are 16.
    fn siblings_after_a_lead_of_1_s_start_apart() {
        for way in ways() {
            let clock = ManualClock::new(T);
            let ids = Generator::builder().clock(&clock).build().unwrap();
            while ids.batch(room(), 1_024).is_ok() {}
            let mut found = [0; 64];
            for _ in 0..64 {
                let first = child(way, || vec![ids.generate(room()).unwrap()]).ids()[0];
                found[usize::try_from(first.timestamp_ms() - (T + 1_000)).unwrap()] += 1;
            }
            assert!(*found.iter().max().unwrap() <= 16, "{way:?}: {found:?}");
            assert!(found[20..].iter().all(|count| *count == 0), "{way:?}: {found:?}");
        }
    }

    fn a_set_seed_is_the_parents_alone() {
        for way in ways() {
            let clock = ManualClock::new(T);
            let ids = Generator::builder().seed(7).clock(&clock).build().unwrap();
            ids.generate(room()).unwrap();
            assert_out_of_step(way, &ids);
        }
    }

    /// The first thing that a child does with its generator need not be to mint.
    fn no_call_before_its_first_id_makes_a_child_forget_the_fork() {
        type Call = fn(&Generator<&ManualClock>);
        let calls: [(&str, Call); 4] = [
            ("stats", |ids| _ = ids.stats()),
            ("observe the past", |ids| ids.observe(MessageId::MIN).unwrap()),
            ("observe the future", |ids| ids.observe(MessageId::last_at(T + 3).unwrap()).unwrap()),
            ("an empty batch", |ids| assert_eq!(ids.batch(room(), 0).unwrap().len(), 0)),
        ];
        for way in ways() {
            for (name, call) in calls {
                let mut met = 0;
                for _ in 0..4 {
                    let clock = ManualClock::new(T);
                    let ids = Generator::builder().clock(&clock).build().unwrap();
                    ids.generate(room()).unwrap();
                    let child = child(way, || {
                        call(&ids);
                        walk(&ids, 1_000)
                    });
                    met += common(&walk(&ids, 1_000), &child.ids());
                }
                // 4,000 pairs, one meeting expected; six standard deviations.
                assert!(met < 8, "{way:?}, {name}: {met} of 4,000 IDs are the parent's");
            }
        }
    }

    /// What the handler that is registered before all others mints in.
    static HANDLED: AtomicPtr<Generator> = AtomicPtr::new(core::ptr::null_mut());
    /// Timestamp and spin of the handler's first IDs.
    static IN_HANDLER: [AtomicU64; 100] = [const { AtomicU64::new(0) }; 100];
    static IN_HANDLER_COUNT: AtomicUsize = AtomicUsize::new(0);

    #[expect(unsafe_code, reason = "a handler has no argument")]
    extern "C" fn mint_in_handler() {
        // SAFETY: a test sets it to a generator that lives until the test has set it back.
        let Some(ids) = (unsafe { HANDLED.load(Ordering::Relaxed).as_ref() }) else { return };
        for slot in &IN_HANDLER {
            let Ok(id) = ids.generate(room()) else { return };
            slot.store((id.to_u128() >> 26) as u64, Ordering::Relaxed);
            IN_HANDLER_COUNT.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// As an application does that has a handler of its own: before the first ID, so that its handler is called first.
    #[expect(unsafe_code, reason = "pthread_atfork")]
    pub(super) fn register_a_handler_before_all_others() {
        // SAFETY: the handler lives as long as the process, and touches atomics and a generator only.
        let error = unsafe { libc::pthread_atfork(None, None, Some(mint_in_handler)) };
        assert_eq!(error, 0);
    }

    /// 100 IDs of the handler, and the parent's next 100, in the same millisecond or two: one run of 100 meets another in
    /// one of 20 cases, so ten forks with five meetings or more are rarer than one in 10⁵ where parent and child are two
    /// hosts; and the child starts in a later millisecond besides. Equal stamps would meet in all ten.
    ///
    /// Only the wiped page is sooner than the first handler.
    fn an_id_of_an_at_fork_handler_that_was_registered_first_is_the_childs() {
        if std::env::var_os(MADVISE).is_some() {
            return;
        }
        let mut forks_that_met = 0;
        for _ in 0..10 {
            let mut ids: Generator = Generator::new();
            let before = ids.generate(room()).unwrap();
            HANDLED.store(&raw mut ids, Ordering::Relaxed);
            let child = child(Way::Fork, || {
                assert_eq!(IN_HANDLER_COUNT.load(Ordering::Relaxed), IN_HANDLER.len());
                let minted = IN_HANDLER.each_ref().map(|slot| u128::from(slot.load(Ordering::Relaxed)) << 26);
                minted.map(|bits| MessageId::from_u128(bits).unwrap()).to_vec()
            });
            HANDLED.store(core::ptr::null_mut(), Ordering::Relaxed);
            let stamp = |id: MessageId| MessageId::from_u128(id.to_u128() >> 26 << 26).unwrap();
            let parent: Vec<_> = (0..100).map(|_| stamp(ids.generate(room()).unwrap())).collect();
            let child = child.ids();
            assert!(stamp(before) < child[0]);
            forks_that_met += usize::from(common(&parent, &child) > 0);
        }
        assert!(forks_that_met < 5, "in {forks_that_met} of 10 forks the handler minted its parent's IDs");
    }

    /// A generator compares one word, the reading plus a mark of the process, which is a multiple of 2⁴². In a child, which has
    /// no mark yet, some readings of a broken clock sum to the word that the parent left. They are past 2109 and give no ID.
    fn a_reading_past_all_time_is_an_error_in_every_child() {
        for way in ways() {
            let clock = ManualClock::new(T);
            let ids = Generator::builder().clock(&clock).build().unwrap();
            let published = ids.generate(room()).unwrap();
            let assert_no_time = |reading| {
                clock.set(reading);
                let minted = ids.generate(room());
                assert!(minted.is_err_and(GenerateError::is_clock), "{way:?}: {minted:?} at the reading {reading}");
            };
            let one = child(way, || {
                (1..2_000).for_each(|mark| assert_no_time((mark << 42) + T));
                Vec::new()
            });
            assert!(one.ids().is_empty());
            // After an observed ID the word holds for no reading at all.
            ids.observe(published).unwrap();
            let other = child(way, || {
                assert_no_time(u64::MAX);
                Vec::new()
            });
            assert!(other.ids().is_empty());
            assert!(published < ids.generate(room()).unwrap(), "the parent goes on");
        }
    }

    /// A lane belongs to one process: a child that minted in its parent's would repeat its IDs.
    fn a_laned_generator_refuses_in_every_child() {
        for way in ways() {
            for (index, bits) in [(0, 0), (0, 1), (3, 2), (4_095, 12)] {
                let clock = ManualClock::new(T);
                let ids = Generator::builder().lane(Lane { index, bits }).clock(&clock).build().unwrap();
                let before = ids.generate(room()).unwrap();
                let child = child(way, || {
                    let error = ids.generate(room()).expect_err("the lane is the parent's");
                    assert_eq!(error.retry_after(), None, "{error}");
                    let refused = ids.batch(room(), 3).is_err()
                        && ids.fill(room(), &mut [MessageId::MIN; 2]).is_err()
                        && ids.generate_within(room(), Duration::from_millis(10)).is_err();
                    assert!(refused);
                    clock.advance(Duration::from_secs(1));
                    assert!(ids.generate(room()).is_err(), "and does not forget it");
                    let grandchild = child(way, || {
                        assert!(ids.generate(room()).is_err(), "the lane is the grandparent's");
                        Vec::new()
                    });
                    grandchild.ids()
                });
                assert!(child.ids().is_empty());
                assert!(before < ids.generate(room()).unwrap(), "the parent goes on");
            }
        }
    }

    fn a_generator_without_a_lane_goes_on_in_every_child() {
        for way in ways() {
            let ids = Generator::new();
            let before = ids.generate(room()).unwrap();
            let child = child(way, || (0..1_000).map(|_| ids.generate(room()).unwrap()).collect());
            let child = child.ids();
            assert!(before.timestamp_ms() < child[0].timestamp_ms() && child.is_sorted_by(|a, b| a < b));
        }
    }

    /// Whether the clock moves on by 20 ms. One that stands would be waited for in vain; a thread may be starved for long.
    fn goes_on(clock: &TickClock) -> bool {
        let (began, first) = (Instant::now(), clock.now_ms().unwrap());
        while began.elapsed() < Duration::from_secs(10) {
            if clock.now_ms().unwrap() >= first + 20 {
                return true;
            }
        }
        false
    }

    fn a_tick_clock_goes_on_in_every_child() {
        for way in ways() {
            let clock = TickClock::start().unwrap();
            let ids = Generator::builder().clock(clock.clone()).build().unwrap();
            let before = ids.generate(room()).unwrap();
            let child = child(way, || {
                assert!(goes_on(&clock), "the child's clock stands");
                let grandchild = child(way, || {
                    assert!(goes_on(&clock), "the grandchild's clock stands");
                    vec![ids.generate(room()).unwrap()]
                });
                let id = ids.generate(room()).unwrap();
                let grandchild = grandchild.ids();
                vec![id, grandchild[0]]
            });
            assert!(goes_on(&clock), "the parent's clock stands");
            assert!(child.ids().iter().all(|id| before < *id));
        }
    }

    /// The child has handles of a thread that it does not have. To drop them may not wait for it, and a clock that the child
    /// starts has a thread of its own.
    fn a_tick_clock_is_dropped_and_started_in_every_child() {
        let names = || {
            let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
            let names = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok());
            names.filter(|name| name.starts_with("imid-tick")).count()
        };
        for way in ways() {
            // The C library of a raw clone may start no threads: it takes the child for its parent.
            let threads = way != Way::Clone;
            let clock = TickClock::start().unwrap();
            let work = || {
                assert_eq!(names(), 0, "a copy has the thread that copied it and no other");
                drop(clock.clone());
                assert!(goes_on(&clock));
                if threads {
                    let own = TickClock::start().unwrap();
                    assert!(goes_on(&own));
                    std::thread::sleep(Duration::from_millis(20));
                    assert_eq!(names(), 1, "a clock that the child starts has a thread");
                }
                Vec::new()
            };
            assert!(child(way, work).ids().is_empty());
            let moved = child(way, move || {
                drop(clock);
                Vec::new()
            });
            assert!(moved.ids().is_empty());
        }
    }

    /// Nothing but the clock itself has had forks noticed then. In a process of its own.
    fn a_tick_clock_that_is_the_first_of_all_goes_on_in_every_child() {
        const ALONE: &str = "IMID_TEST_ALONE";
        if std::env::var_os(ALONE).is_none() {
            let test = "a_tick_clock_that_is_the_first_of_all_goes_on_in_every_child";
            let mut command = Command::new(std::env::current_exe().unwrap());
            let run = command.args(["--exact", test]).env(ALONE, "1").output().unwrap();
            assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stdout));
            return;
        }
        let clock = TickClock::start().unwrap();
        for way in ways() {
            let work = || {
                assert!(goes_on(&clock), "the child's clock stands");
                Vec::new()
            };
            assert!(child(way, work).ids().is_empty());
        }
    }

    /// Runs the tests of forks that a handler sees in a process where `madvise` is answered so.
    fn without_the_advice(answer: &str) {
        if std::env::var_os(MADVISE).is_some() {
            return;
        }
        let run = Command::new(std::env::current_exe().unwrap()).env(MADVISE, answer).output().unwrap();
        let text = String::from_utf8_lossy(&run.stdout) + String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success(), "{text}");
        let passed = format!("test result: ok. {} passed", all().len());
        assert!(text.contains(&passed), "{text}");
    }

    fn a_kernel_that_refuses_the_advice_falls_back_to_the_handler() {
        without_the_advice("refused");
    }

    /// As user-mode emulators do: any advice is fine, and none is followed.
    fn a_kernel_that_ignores_the_advice_falls_back_to_the_handler() {
        without_the_advice("ignored");
    }

    /// Answers every `madvise` of this process from now on as [`MADVISE`] says, by a filter of system calls.
    #[expect(unsafe_code, reason = "prctl")]
    pub(super) fn answer_madvise() {
        let error = match std::env::var(MADVISE).as_deref() {
            Ok("refused") => libc::EINVAL,
            Ok("ignored") => 0,
            _ => return,
        };
        let code = |code: u32| u16::try_from(code).unwrap();
        let (load, equal, give) = (
            code(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS),
            code(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K),
            code(libc::BPF_RET | libc::BPF_K),
        );
        let call = u32::try_from(libc::SYS_madvise).unwrap();
        let mut filter = [
            // The first word of the call's description is its number.
            libc::sock_filter { code: load, jt: 0, jf: 0, k: 0 },
            libc::sock_filter { code: equal, jt: 0, jf: 1, k: call },
            libc::sock_filter { code: give, jt: 0, jf: 0, k: libc::SECCOMP_RET_ERRNO | error.unsigned_abs() },
            libc::sock_filter { code: give, jt: 0, jf: 0, k: libc::SECCOMP_RET_ALLOW },
        ];
        let program = libc::sock_fprog { len: 4, filter: filter.as_mut_ptr() };
        // SAFETY: the call takes no pointer.
        assert_eq!(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }, 0);
        // SAFETY: the program points to its four instructions, which the kernel copies.
        let set = unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) };
        assert_eq!(set, 0, "{}", std::io::Error::last_os_error());
        // SAFETY: the answer comes from the filter, whatever the arguments.
        let answered = unsafe { libc::madvise(core::ptr::null_mut(), 0, -1) };
        assert_eq!(answered, if error == 0 { 0 } else { -1 });
    }
}

fn main() {
    #[cfg(target_os = "linux")]
    {
        tests::answer_madvise();
        tests::register_a_handler_before_all_others();
    }
    let mut arguments = libtest_mimic::Arguments::from_args();
    // One thread: the main one.
    arguments.test_threads = Some(1);
    #[cfg(target_os = "linux")]
    libtest_mimic::run(&arguments, tests::all()).exit();
    #[cfg(not(target_os = "linux"))]
    libtest_mimic::run(&arguments, Vec::new()).exit();
}
