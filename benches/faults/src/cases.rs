//! The faults. A process runs one fault on one peer.

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
    /// A fork. Parent and child mint [`FORKED`] IDs each, as fast as they can.
    Fork,
    /// The same, but each mints [`PACE`] IDs per millisecond.
    ForkPaced,
    /// The same with `_Fork`, which runs no handlers.
    PlainForkPaced,
    /// Calls without a pause, for two seconds.
    Overload,
    /// The clocks of eight hosts step back 30 s while they write to one room.
    HostsBack30S,
    /// A host that mints without a pause is killed and started again, twelve times.
    Restarts,
    /// Fifty hosts answer one message from a host whose clock is 1 s ahead.
    Answers,
    /// A running host takes over the sessions of a host whose last ID is 10 s ahead.
    TakeOver,
}

/// Number of IDs that the parent mints after a fork. The child mints as many.
const FORKED: usize = 20_000;
/// IDs per millisecond of each process, in the cases of a fork at a moderate rate.
const PACE: usize = 20;
/// How long a forked child may take. The slowest peer without a fault needs 0.8 s.
const FORK_LIMIT: Duration = Duration::from_secs(5);
/// How long IDs are minted before a step.
const RUN: Duration = Duration::from_millis(200);
/// The time between two IDs before and after a step. All peers can sustain this rate, also those that read the clock for
/// each ID, which takes longer with libfaketime.
const SPACING: Duration = Duration::from_micros(10);
/// How long a generator may refuse calls until the case ends.
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

    /// Returns how often the case is run. The number of duplicates of a fork depends on how the two processes are scheduled.
    pub const fn runs(self) -> usize {
        if matches!(self, Self::Fork | Self::ForkPaced | Self::PlainForkPaced) { 5 } else { 1 }
    }

    pub const fn moves_the_clock(self) -> bool {
        matches!(self, Self::Back20Ms | Self::Back30S | Self::HostsBack30S)
    }

    /// Returns the time after which the process that runs the case is ended, because it hangs. It is longer than any peer blocks.
    pub const fn limit(self) -> Duration {
        Duration::from_secs(match self {
            // The case takes 40 s. A peer can also block for the 30 s of the step.
            Self::HostsBack30S => 120,
            Self::Back20Ms | Self::Back30S | Self::Restarts | Self::Answers | Self::TakeOver => 60,
            Self::Fork | Self::ForkPaced | Self::PlainForkPaced | Self::Overload => 20,
        })
    }

    /// Runs the case on a peer. A case of many hosts passes the number of the peer to their processes.
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

/// Steps back across the start of a second, so that generators that count in seconds see the step too.
fn back_20_ms(peer: &Peer) -> Outcome {
    let clock = FakeClock::from_env();
    let mut host = (peer.make)(Host::default());
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock past 1970");
    // Minting starts 190 ms before a full second. The next second can start earlier than that, so the one after it is used.
    thread::sleep(Duration::from_millis(u64::from(1_810 - now.subsec_millis())));
    let step = clock.prepare(-0.020);
    let ids = mint_for(&mut host, RUN);
    after_step(peer, &mut host, ids, step.take())
}

/// Steps back 30 s, into a time that has IDs already.
///
/// A service would have minted for 30 s before the step. This case does not wait for that: the clock starts 29.8 s in the
/// past. After 0.2 s of minting it jumps to the present, and 0.1 s later it steps back 30 s. So it is 0.1 s before the end
/// of the first 0.2 s.
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

/// Mints for a while before the fault. An error here is an error of this program.
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

/// Waits until [`SPACING`] has passed since the call.
fn rest(since: Instant) {
    while since.elapsed() < SPACING {
        std::hint::spin_loop();
    }
}

/// Mints after the clock has stepped, until [`RUN`] after the first ID, so that there can be duplicates.
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
    outcome.ahead = ids.last().map_or(Duration::ZERO, |&id| peer.ahead(id));
    outcome.count(&ids, peer.is_ordered);
    outcome
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic without a message".to_owned())
}

/// Forks after the generator was used, and mints in the parent and in the child at the same time.
fn forked(peer: &Peer, split: fn() -> ForkResult, pace: Option<usize>) -> Outcome {
    let mut host = (peer.make)(Host::default());
    let mut ids: Vec<_> = (0..100).map(|_| host.mint().expect("a generator that works before the fault")).collect();
    let file = NamedTempFile::new().expect("a temporary file");
    // Both processes start minting at this time. They have the same monotonic clock.
    let start = Instant::now() + Duration::from_millis(50);
    match split() {
        ForkResult::Child => {
            let minted = catch_unwind(AssertUnwindSafe(|| mint_from(start, &mut host, pace)));
            let code = i32::from(minted.is_err());
            let bytes: Vec<u8> = minted.unwrap_or_default().into_iter().flat_map(u128::to_le_bytes).collect();
            fs::write(file.path(), bytes).expect("the file of the child's IDs");
            exit_child(code)
        }
        ForkResult::Parent { child } => {
            let mut outcome = Outcome::default();
            ids.extend(mint_from(start, &mut host, pace));
            outcome.end = wait_for(child, start + FORK_LIMIT);
            let bytes = fs::read(file.path()).expect("the file of the child's IDs");
            let (theirs, _) = bytes.as_chunks();
            // Only the parent's order is checked: there is no order between the two processes.
            outcome.count(&ids, peer.is_ordered);
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
    // SAFETY: the child uses the peer, a file, and the allocator, which glibc keeps usable after a fork. It ends with
    // `_exit`. If the peer deadlocks, the parent ends the child: this is one of the faults that the case looks for.
    unsafe { fork() }.expect("a process to spare")
}

/// `_Fork` of POSIX 2024, which runs no at-fork handler and can be called from a signal handler.
#[expect(unsafe_code, reason = "the fault itself")]
fn plain_fork_now() -> ForkResult {
    unsafe extern "C" {
        fn _Fork() -> nix::libc::pid_t;
    }
    // SAFETY: as for `fork_now`. No other thread can hold a lock of the allocator: the only other threads are the clocks of
    // some peers, which do not allocate.
    let pid = unsafe { _Fork() };
    assert!(pid >= 0, "a process to spare");
    if pid == 0 { ForkResult::Child } else { ForkResult::Parent { child: Pid::from_raw(pid) } }
}

/// Ends the child. It does not run the exit handlers that the parent registered.
#[expect(unsafe_code, reason = "no safe function ends a process without its exit handlers")]
fn exit_child(code: i32) -> ! {
    // SAFETY: each exit code is valid, and no destructor of this process must run.
    unsafe { nix::libc::_exit(code) }
}

/// Mints [`FORKED`] IDs from `start` on, with `pace` IDs per millisecond, or without a pause. After a delay of the scheduler
/// it continues at its pace, without a burst.
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

/// Waits for a forked child, and kills it at the deadline.
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

/// Mints without a pause, with the default limits of each library. Sixteen calls are timed together, because reading the
/// clock takes about as long as a call.
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
    outcome.ahead = peer.ahead(last);
    outcome
}
