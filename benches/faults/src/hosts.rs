//! The cases with a separate process for each host.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::clock::FakeClock;
use crate::outcome::Outcome;
use crate::peers::{Host, PEERS};

/// The first argument of a process that is a host. What it does, the number of the peer, the number of the host and the floor
/// follow.
pub const HOST: &str = "--host";

/// Mints an ID per millisecond for [`STEPPED`].
const PACED: &str = "paced";
/// Mints as fast as it can until it is killed.
const OVERLOADED: &str = "overloaded";
/// The argument for no floor.
const NO_FLOOR: &str = "-";

const HOSTS: usize = 8;
/// How long the hosts of the step mint.
const STEPPED: Duration = Duration::from_secs(40);
/// How long the hosts mint before the step.
const BEFORE_THE_STEP: Duration = Duration::from_secs(5);
/// One of this many IDs belongs to the room.
const ROOM_EVERY: u32 = 100;
const KILLS: usize = 12;
/// How long a host runs until it is killed.
const LIFE: Duration = Duration::from_millis(300);
/// One of this many IDs of the restarts is kept.
const SAMPLE: usize = 16;

/// Runs a host in its process, and writes its IDs to standard output.
pub fn run(work: &str, peer: usize, index: usize, floor: &str) {
    let floor = (floor != NO_FLOOR).then(|| floor.parse().expect("an ID from the process that started this one"));
    let room_every = (work == PACED).then_some(ROOM_EVERY);
    let host = Host { index: index as u16, room_every, floor };
    if work == PACED { paced(peer, host) } else { overloaded(peer, host) }
}

fn paced(peer: usize, host: Host) {
    let mut ids = (PEERS[peer].make)(host);
    let start = Instant::now();
    let mut minted = Vec::new();
    let mut due = start;
    while start.elapsed() < STEPPED {
        // A refused call is not repeated.
        minted.extend(ids.mint().ok());
        // After a delay of the scheduler, the host continues at its pace, without a burst.
        due = (due + Duration::from_millis(1)).max(Instant::now());
        thread::sleep(due.saturating_duration_since(Instant::now()));
    }
    write(&minted);
}

fn overloaded(peer: usize, host: Host) {
    let mut ids = (PEERS[peer].make)(host);
    let mut kept = Vec::new();
    loop {
        match ids.mint() {
            Ok(id) if is_kept(id) => kept.push(id),
            Ok(_) => {}
            Err(_) => thread::sleep(Duration::from_micros(100)),
        }
        // IDs that are not written before the kill count as never stored.
        if kept.len() == 64 {
            write(&kept);
            kept.clear();
        }
    }
}

/// Returns whether an ID is in the sample, which has one of [`SAMPLE`] IDs. All bits decide, so equal IDs are treated alike.
fn is_kept(id: u128) -> bool {
    let folded = (id as u64 ^ (id >> 64) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((folded >> 40) as usize).is_multiple_of(SAMPLE)
}

fn write(ids: &[u128]) {
    let bytes: Vec<u8> = ids.iter().flat_map(|id| id.to_le_bytes()).collect();
    let mut out = std::io::stdout().lock();
    // The reader closes the pipe only after the case has ended.
    let _ = out.write_all(&bytes).and_then(|()| out.flush());
}

fn start(work: &str, peer: usize, index: usize, floor: Option<u128>) -> Child {
    let floor = floor.map_or_else(|| NO_FLOOR.to_owned(), |id| id.to_string());
    let mut command = Command::new(std::env::current_exe().expect("the path of this program"));
    command.args([HOST, work, &peer.to_string(), &index.to_string(), &floor]);
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("this program can start itself")
}

fn read(child: &mut Child) -> Vec<u128> {
    let mut bytes = Vec::new();
    child.stdout.take().expect("a pipe").read_to_end(&mut bytes).expect("a pipe that can be read");
    // A killed host may have written a part of an ID.
    bytes.as_chunks().0.iter().map(|id| u128::from_le_bytes(*id)).collect()
}

/// Eight hosts mint 1,000 IDs a second each, ten of them for one room, and all their clocks step back 30 s.
pub fn back_30_s(peer: usize) -> Outcome {
    let clock = FakeClock::from_env();
    let mut hosts: Vec<_> = (0..HOSTS).map(|index| start(PACED, peer, index, None)).collect();
    thread::sleep(BEFORE_THE_STEP);
    clock.prepare(-30.0).take();
    let readers: Vec<_> =
        hosts.drain(..).map(|mut host| thread::spawn(move || (read(&mut host), host.wait()))).collect();
    let mut minted = Vec::new();
    let mut outcome = Outcome::default();
    for reader in readers {
        let (ids, status) = reader.join().expect("a thread that reads");
        if !status.expect("a child of this process").success() {
            outcome.end = Some(crate::outcome::End::Panic("a host panicked".to_owned()));
        }
        outcome.order_lost |= PEERS[peer].is_ordered && !ids.is_sorted_by(|a, b| a < b);
        outcome.ahead = outcome.ahead.max(ids.last().map_or(Duration::ZERO, |id| PEERS[peer].ahead(*id)));
        minted.extend(ids);
    }
    let order_lost = outcome.order_lost;
    outcome.count(&minted, false);
    outcome.order_lost = order_lost;
    outcome
}

/// A host that mints without a pause is killed and started again, twelve times. It gets the greatest ID that was stored.
pub fn restarts(peer: usize) -> Outcome {
    let mut minted: Vec<u128> = Vec::new();
    let mut outcome = Outcome { sample: SAMPLE, ..Outcome::default() };
    let mut last_ahead = Duration::ZERO;
    for _ in 0..=KILLS {
        let mut host = start(OVERLOADED, peer, 0, minted.iter().max().copied());
        let mut pipe = host.stdout.take().expect("a pipe");
        let reader = thread::spawn(move || {
            let mut bytes = Vec::new();
            pipe.read_to_end(&mut bytes).expect("a pipe that can be read");
            bytes
        });
        thread::sleep(LIFE);
        host.kill().expect("a child of this process");
        host.wait().expect("a child of this process");
        let bytes = reader.join().expect("a thread that reads");
        let ids: Vec<_> = bytes.as_chunks().0.iter().map(|id| u128::from_le_bytes(*id)).collect();
        last_ahead = ids.last().map_or(Duration::ZERO, |id| PEERS[peer].ahead(*id));
        minted.extend(ids);
    }
    // The order over a restart is not checked, because no library promises it.
    outcome.count(&minted, false);
    outcome.ahead = last_ahead;
    outcome
}
