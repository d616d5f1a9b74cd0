//! The cases in which each host is a process of its own.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::cases::ahead;
use crate::clock::FakeClock;
use crate::outcome::Outcome;
use crate::peers::{Host, PEERS};

/// How a process that is one host is called: this, what it does, the numbers of the peer and of the host, and the floor.
pub const HOST: &str = "--host";

/// Mints an ID per millisecond for [`STEPPED`].
const PACED: &str = "paced";
/// Mints as fast as it can until it is killed.
const OVERLOADED: &str = "overloaded";
/// In place of a floor.
const NO_FLOOR: &str = "-";

const HOSTS: usize = 8;
/// How long the hosts of the step mint.
const STEPPED: Duration = Duration::from_secs(40);
/// How long before the step.
const BEFORE_THE_STEP: Duration = Duration::from_secs(5);
/// Of how many IDs one is the room's.
const ROOM_EVERY: u32 = 100;
const KILLS: usize = 12;
/// How long a host lives that is killed.
const LIFE: Duration = Duration::from_millis(300);
/// Of the IDs of the restarts, one of this many is kept.
const SAMPLE: usize = 16;

/// What a host does, in its process. Its IDs go to standard output.
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
        // A refusal is no duplicate: the next millisecond comes.
        minted.extend(ids.mint().ok());
        // What the scheduler held up is not made up for: a burst would be another case.
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
        // What has not been written when the host is killed was never stored.
        if kept.len() == 64 {
            write(&kept);
            kept.clear();
        }
    }
}

/// One of [`SAMPLE`], by a mix of all bits.
fn is_kept(id: u128) -> bool {
    let folded = (id as u64 ^ (id >> 64) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((folded >> 40) as usize).is_multiple_of(SAMPLE)
}

fn write(ids: &[u128]) {
    let bytes: Vec<u8> = ids.iter().flat_map(|id| id.to_le_bytes()).collect();
    let mut out = std::io::stdout().lock();
    // The reader is gone only when the case is over.
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
        outcome.fell |= PEERS[peer].rises && !ids.is_sorted_by(|a, b| a < b);
        outcome.ahead = outcome.ahead.max(ids.last().map_or(Duration::ZERO, |id| ahead(&PEERS[peer], *id)));
        minted.extend(ids);
    }
    let fell = outcome.fell;
    outcome.count(&minted, false);
    outcome.fell = fell;
    outcome
}

/// A host at full speed is killed and started again, twelve times; each start gets the greatest ID that was stored.
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
        last_ahead = ids.last().map_or(Duration::ZERO, |id| ahead(&PEERS[peer], *id));
        minted.extend(ids);
    }
    // Whether IDs rise over a restart is not asked: no library promises it.
    outcome.count(&minted, false);
    outcome.ahead = last_ahead;
    outcome
}
