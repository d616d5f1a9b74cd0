//! The faults. Each runs in a process of its own, on one peer.

use std::any::Any;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork};
use tempfile::NamedTempFile;

use crate::clock::FakeClock;
use crate::outcome::{End, Outcome, duplicates};
use crate::peers::{Host, Ids, PEERS, Peer};
use crate::{hosts, meeting};

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Case {
    /// The clock steps back 20 ms, across the start of a second.
    Back20Ms,
    /// The clock steps back 30 s, into a time in which IDs were minted.
    Back30S,
    /// A fork; parent and child mint [`FORKED`] IDs each, as fast as they can.
    Fork,
    /// The same at [`PACE`] IDs per millisecond each.
    ForkPaced,
    /// The same by `_Fork`, which runs no handler.
    PlainForkPaced,
    /// Two seconds of calls as fast as they return.
    Overload,
    /// The clocks of eight hosts step back 30 s while they write to one room.
    HostsBack30S,
    /// Twelve kills under overload, each followed by a start.
    Restarts,
    /// Fifty hosts answer one message from a host whose clock is 1 s ahead.
    Answers,
    /// A host that is running takes over from one whose last ID is 10 s ahead.
    TakeOver,
}

/// IDs that the parent and the child of a fork mint each.
const FORKED: usize = 20_000;
/// IDs per millisecond of the fork at a modest rate.
const PACE: usize = 20;
/// How long a forked child may take: the slowest peer that works needs 0.8 s.
const FORK_LIMIT: Duration = Duration::from_secs(5);
/// How long IDs are minted before a step, and how far into the past the long step's first part reaches.
const RUN: Duration = Duration::from_millis(200);
/// The time between two IDs around a step: a rate that every layout can sustain, and about what libfaketime leaves of
/// the rate of those that read the clock each time.
const SPACING: Duration = Duration::from_micros(10);
/// When a generator that refuses is given up.
const REFUSAL_LIMIT: Duration = Duration::from_secs(50);

impl Case {
    pub const ALL: [(Self, &str); 10] = [
        (Self::Back20Ms, "clock back 20 ms"),
        (Self::Back30S, "clock back 30 s"),
        (Self::Fork, "fork, full speed"),
        (Self::ForkPaced, "fork, 20 IDs per ms"),
        (Self::PlainForkPaced, "`_Fork`, 20 IDs per ms"),
        (Self::Overload, "overload, 2 s"),
        (Self::HostsBack30S, "8 hosts of one room, clocks back 30 s"),
        (Self::Restarts, "12 kills under overload"),
        (Self::Answers, "50 hosts answer 1 s ahead"),
        (Self::TakeOver, "take-over 10 s ahead"),
    ];

    /// How often the case is run: a fork's duplicates depend on how far the two processes keep in step.
    pub const fn runs(self) -> usize {
        if matches!(self, Self::Fork | Self::ForkPaced | Self::PlainForkPaced) { 5 } else { 1 }
    }

    pub const fn moves_the_clock(self) -> bool {
        matches!(self, Self::Back20Ms | Self::Back30S | Self::HostsBack30S)
    }

    /// When the process that runs the case has hung: past the time for which any peer blocks or is waited for.
    pub const fn limit(self) -> Duration {
        Duration::from_secs(match self {
            // 40 s of it are the case; a peer that blocks for the 30 s of the step takes them on top.
            Self::HostsBack30S => 120,
            Self::Back20Ms | Self::Back30S | Self::Restarts | Self::Answers | Self::TakeOver => 60,
            Self::Fork | Self::ForkPaced | Self::PlainForkPaced | Self::Overload => 20,
        })
    }

    /// `number` is the peer's, for the processes that a case of many hosts starts.
    pub fn run(self, number: usize) -> Outcome {
        let peer = &PEERS[number];
        match self {
            Self::Back20Ms => back_20_ms(peer),
            Self::Back30S => back_30_s(peer),
            Self::Fork => forked(peer, fork_now, None),
            Self::ForkPaced => forked(peer, fork_now, Some(PACE)),
            Self::PlainForkPaced => forked(peer, plain_fork_now, Some(PACE)),
            Self::Overload => overload(peer),
            Self::HostsBack30S => hosts::back_30_s(number),
            Self::Restarts => hosts::restarts(number),
            Self::Answers => meeting::answers(peer),
            Self::TakeOver => meeting::take_over(peer),
        }
    }
}

/// The step crosses the start of a second, so that generators that count in seconds see it, too.
fn back_20_ms(peer: &Peer) -> Outcome {
    let clock = FakeClock::from_env();
    let mut host = (peer.make)(Host::default());
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock past 1970");
    // The run before the step is to begin 190 ms before a second: not the next one, which may be nearer than that.
    thread::sleep(Duration::from_millis(u64::from(1_810 - now.subsec_millis())));
    let step = clock.prepare(-0.020);
    let ids = mint_for(&mut host, RUN);
    after_step(peer, &mut host, ids, step.take())
}

/// A generator that ran for 30 s has used up the time into which the clock falls. To stand for it without the wait, the
/// clock starts 29.8 s in the past, comes to the present after 0.2 s of minting, and steps back 30 s when 0.1 s more
/// have passed: to where the next 0.1 s have been minted in.
fn back_30_s(peer: &Peer) -> Outcome {
    let clock = FakeClock::from_env();
    clock.prepare(-29.8).take();
    let mut host = (peer.make)(Host::default());
    let mut ids = mint_for(&mut host, RUN);
    clock.prepare(0.0).take();
    let step = clock.prepare(-30.0);
    ids.extend(mint_for(&mut host, RUN / 2));
    after_step(peer, &mut host, ids, step.take())
}

/// IDs for a while, before the fault: an error here is the harness's.
fn mint_for(host: &mut Ids, time: Duration) -> Vec<u128> {
    let start = Instant::now();
    let mut ids = Vec::new();
    while start.elapsed() < time {
        let call = Instant::now();
        ids.push(host.mint().expect("a generator that works before the fault"));
        rest(call);
    }
    ids
}

/// Holds the rate at one ID per [`SPACING`].
fn rest(since: Instant) {
    while since.elapsed() < SPACING {
        std::hint::spin_loop();
    }
}

/// Mints on after the clock has stepped: until the first ID and a little longer, so that duplicates have time to come.
fn after_step(peer: &Peer, host: &mut Ids, mut ids: Vec<u128>, start: Instant) -> Outcome {
    let mut outcome = Outcome::default();
    let mut first = None;
    while first.is_none_or(|first: Instant| first.elapsed() < RUN) && start.elapsed() < REFUSAL_LIMIT {
        let call = Instant::now();
        match catch_unwind(AssertUnwindSafe(|| host.mint())) {
            Ok(Ok(id)) => {
                ids.push(id);
                first.get_or_insert_with(Instant::now);
            }
            Ok(Err(_)) => {
                outcome.errors += 1;
                thread::sleep(Duration::from_millis(1));
            }
            Err(panic) => {
                outcome.end = Some(End::Panic(message(panic.as_ref())));
                break;
            }
        }
        outcome.longest_call = outcome.longest_call.max(call.elapsed());
        rest(call);
    }
    outcome.outage = first.unwrap_or_else(Instant::now) - start;
    outcome.ahead = ids.last().map_or(Duration::ZERO, |&id| ahead(peer, id));
    outcome.count(&ids, peer.rises);
    outcome
}

/// How far an ID's time is ahead of the clock; zero where it is not.
pub fn ahead(peer: &Peer, id: u128) -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock past 1970");
    Duration::from_millis((peer.unix_ms)(id)).saturating_sub(now)
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic without words".to_owned())
}

/// Parent and child of one fork mint at the same time, from a generator that was in use before it.
fn forked(peer: &Peer, split: fn() -> ForkResult, pace: Option<usize>) -> Outcome {
    let mut host = (peer.make)(Host::default());
    let mut ids: Vec<_> = (0..100).map(|_| host.mint().expect("a generator that works before the fault")).collect();
    let file = NamedTempFile::new().expect("a temporary file");
    // Far enough away for both to be there: the monotonic clock is the same in both processes.
    let start = Instant::now() + Duration::from_millis(50);
    match split() {
        ForkResult::Child => {
            let minted = catch_unwind(AssertUnwindSafe(|| mint_from(start, &mut host, pace)));
            let code = i32::from(minted.is_err());
            let bytes: Vec<u8> = minted.unwrap_or_default().into_iter().flat_map(u128::to_le_bytes).collect();
            fs::write(file.path(), bytes).expect("the file that brings the IDs back");
            exit_child(code)
        }
        ForkResult::Parent { child } => {
            let mut outcome = Outcome::default();
            ids.extend(mint_from(start, &mut host, pace));
            outcome.end = wait_for(child, start + FORK_LIMIT);
            let bytes = fs::read(file.path()).expect("the file that brings the IDs back");
            let (theirs, _) = bytes.as_chunks();
            // The order is each process's own: only the parent's is looked at.
            outcome.count(&ids, peer.rises);
            ids.extend(theirs.iter().map(|&id| u128::from_le_bytes(id)));
            outcome.minted = ids.len();
            outcome.duplicates = duplicates(&ids);
            outcome.at_least = outcome.duplicates;
            outcome
        }
    }
}

#[expect(unsafe_code, reason = "the fault itself")]
fn fork_now() -> ForkResult {
    // SAFETY: the child calls the peer, the allocator (which glibc keeps usable over a fork) and a file, and leaves by
    // `_exit`. A peer that deadlocks there is what this case is to find; the parent ends it.
    unsafe { fork() }.expect("a process to spare")
}

/// `_Fork` of POSIX 2024, which runs no at-fork handler and can be called from a signal handler.
#[expect(unsafe_code, reason = "the fault itself")]
fn plain_fork_now() -> ForkResult {
    unsafe extern "C" {
        fn _Fork() -> nix::libc::pid_t;
    }
    // SAFETY: as for `fork_now`; the process has no second thread that could hold the allocator's locks, apart from those
    // of some peers' clocks, which do not allocate.
    let pid = unsafe { _Fork() };
    assert!(pid >= 0, "a process to spare");
    if pid == 0 { ForkResult::Child } else { ForkResult::Parent { child: Pid::from_raw(pid) } }
}

/// Ends the child without the parent's exit handlers.
#[expect(unsafe_code, reason = "the only exit that runs no handler of the parent's")]
fn exit_child(code: i32) -> ! {
    // SAFETY: any code is valid, and nothing of this process is needed any more.
    unsafe { nix::libc::_exit(code) }
}

/// [`FORKED`] IDs from `start` on, at `pace` per millisecond if there is one. What the scheduler held up is not made up for: a
/// burst would be another case.
fn mint_from(start: Instant, host: &mut Ids, pace: Option<usize>) -> Vec<u128> {
    let burst = pace.unwrap_or(FORKED);
    let mut ids = Vec::with_capacity(FORKED);
    let mut due = start;
    while ids.len() < FORKED {
        while Instant::now() < due {
            std::hint::spin_loop();
        }
        let goal = FORKED.min(ids.len() + burst);
        while ids.len() < goal {
            match host.mint() {
                Ok(id) => ids.push(id),
                Err(_) => thread::sleep(Duration::from_millis(1)),
            }
        }
        due = (due + Duration::from_millis(1)).max(Instant::now());
    }
    ids
}

/// Waits for a forked child, and ends it if it is not done in time.
fn wait_for(child: Pid, deadline: Instant) -> Option<End> {
    loop {
        match waitpid(child, Some(WaitPidFlag::WNOHANG)).expect("a child of this process") {
            WaitStatus::StillAlive if Instant::now() < deadline => thread::sleep(Duration::from_millis(1)),
            WaitStatus::StillAlive => {
                kill(child, Signal::SIGKILL).expect("a child of this process");
                waitpid(child, None).expect("a child of this process");
                return Some(End::ChildHang(FORK_LIMIT));
            }
            WaitStatus::Exited(_, 0) => return None,
            _ => return Some(End::ChildPanic),
        }
    }
}

/// The limits as each library ships them. Calls are timed by sixteens, since a reading of the clock costs as much as one
/// of them.
fn overload(peer: &Peer) -> Outcome {
    let time = Duration::from_secs(2);
    let mut host = (peer.make)(Host::default());
    let mut outcome = Outcome::default();
    let mut last = 0;
    let start = Instant::now();
    let mut call = start;
    while call - start < time {
        for _ in 0..16 {
            match host.mint() {
                Ok(id) => {
                    last = id;
                    outcome.minted += 1;
                }
                Err(_) => outcome.errors += 1,
            }
        }
        let end = Instant::now();
        outcome.longest_call = outcome.longest_call.max(end - call);
        call = end;
    }
    outcome.measured = Some(start.elapsed());
    outcome.ahead = ahead(peer, last);
    outcome
}
