//! A process that mints. It reads commands from its standard input:
//!
//! - `clock N`: the clock shows N milliseconds more than the system's;
//! - `fork`: forks a child, which tries to mint;
//! - `quit`, or the end of the input: gives the lane back and ends.

use std::env;
use std::io::{self, BufRead};
use std::path::Path;
use std::process::{self, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::thread;
use std::time::Duration;

use imid::{SessionTag, SessionType};
use imid_lease::register::open_url;
use imid_lease::{LaneOptions, LeasedGenerator};
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, fork};

use crate::diary::Diary;
use crate::minter::{Minter, NoId, Refused, TIME_OUT, TestClock, lane_bits};
use crate::output::{Event, Output};
use crate::random::Random;
use crate::rivals;

/// Number of IDs that are minted at full speed, before a pause that spares the disk.
const BURST: usize = 3000;

/// The mean pause. 16 holders mint about 300,000 IDs a second together. A pause is random: the bursts of two holders of
/// one lane would otherwise keep apart.
const PAUSE: Duration = Duration::from_millis(150);

/// Commands that the worker has received.
#[derive(Default)]
pub(crate) struct Commands {
    pub(crate) quits: AtomicBool,
    forks: AtomicBool,
    /// What the clock shows more than the system's, in milliseconds.
    offset_ms: Arc<AtomicI64>,
}

pub(crate) fn run(url: &str, folder: &Path, name: &str, scheme: &str) -> io::Result<ExitCode> {
    let commands = Arc::new(Commands::default());
    let received = Arc::clone(&commands);
    thread::spawn(move || receive(&received));
    let clock = TestClock(Arc::clone(&commands.offset_ms));
    let mut diary = Diary::create(folder, name)?;
    while !commands.quits.load(Ordering::Relaxed) {
        // A file has no clock, so a process that starts with a wrong clock has to believe it, and would mint
        // an hour ahead. This wrong clock jumps while a process holds a lane or waits for one.
        if url.starts_with("file:") && commands.offset_ms.load(Ordering::Relaxed) != 0 {
            thread::sleep(Duration::from_millis(20));
            continue;
        }
        let opened = match scheme {
            "lease" => lease(url, name, clock.clone()),
            "wall-clock" => rivals::wall_clock(url, name, clock.clone()),
            "expiring-key" => rivals::expiring_key(url, name, clock.clone()),
            _ => return Err(io::Error::other(format!("expected lease, wall-clock or expiring-key, found {scheme}"))),
        };
        match opened {
            Ok(minter) => {
                mint(&*minter, &commands, folder, name, &mut diary, scheme == "lease")?;
                minter.give_back();
                if !commands.quits.load(Ordering::Relaxed) {
                    Event::Ended.count(folder)?;
                    diary.write("ended")?;
                }
                continue;
            }
            // All lanes are taken, or the store is broken. That is what the soak is for.
            Err(Refused::NoLane) => Event::NoLane.count(folder)?,
            Err(Refused::Other(reason)) => {
                Event::NoAnswer.count(folder)?;
                if env::var_os("IMID_SOAK_VERBOSE").is_some() {
                    eprintln!("worker: {reason}");
                }
            }
        }
        thread::sleep(Duration::from_millis(300));
    }
    Ok(ExitCode::SUCCESS)
}

fn lease(url: &str, name: &str, clock: TestClock) -> Result<Box<dyn Minter>, Refused> {
    let options = LaneOptions::new()
        .lane_bits(lane_bits())
        .holder(name)
        .horizon(TIME_OUT)
        .max_skew(Duration::from_secs(1))
        .max_lead(Duration::from_millis(500))
        .clock(clock)
        .create_missing();
    let register = open_url(url, Duration::from_millis(1500))?;
    let ids = LeasedGenerator::open(register, options)?;
    match ids.wait_until_open(2 * TIME_OUT) {
        Ok(()) => Ok(Box::new(ids)),
        Err(error) if error.is_no_lane() => Err(Refused::NoLane),
        Err(error) => Err(error.into()),
    }
}

/// Mints until the minter ends. The rivals are not forked: their duplicates are to come from their leases.
fn mint(
    minter: &dyn Minter,
    commands: &Commands,
    folder: &Path,
    name: &str,
    diary: &mut Diary,
    can_fork: bool,
) -> io::Result<()> {
    let mut output = Output::create(folder, name)?;
    let mut random = Random(u64::from(process::id()));
    // All workers mint for these sessions. In one lane, a second holder would soon repeat an ID.
    let sessions = ["room-1", "room-2", "room-3", "room-4"].map(|room| SessionTag::new(SessionType::GROUP, room));
    while !commands.quits.load(Ordering::Relaxed) {
        if commands.forks.swap(false, Ordering::Relaxed) && can_fork {
            mint_in_child(minter, &sessions, folder)?;
        }
        for (index, &session) in sessions.iter().cycle().take(BURST).enumerate() {
            let result = minter.mint(session);
            if index == 0 && result.is_ok() {
                diary.write("minted")?;
            }
            match result {
                Ok(id) => output.write(id)?,
                Err(NoId::Busy(wait) | NoId::Refused(wait)) => {
                    if matches!(result, Err(NoId::Refused(_))) {
                        diary.write("refused")?;
                    }
                    output.flush()?;
                    thread::sleep(wait.clamp(Duration::from_millis(1), Duration::from_millis(100)));
                    break;
                }
                Err(NoId::Ended) => return output.flush(),
            }
        }
        output.flush()?;
        thread::sleep(PAUSE * u32::try_from(random.below(100)).unwrap_or_default() / 50);
    }
    Ok(())
}

/// Forks a child that tries to mint what its parent may mint too. Whatever it mints is checked as all IDs are.
fn mint_in_child(minter: &dyn Minter, sessions: &[SessionTag], folder: &Path) -> io::Result<()> {
    let mut output = Output::create(folder, "child")?;
    // SAFETY: the child mints, writes to a file that is open, and ends without running what belongs to the parent.
    #[expect(unsafe_code, reason = "fork")]
    match unsafe { fork() }? {
        ForkResult::Parent { child } => {
            waitpid(child, None)?;
            Event::Forked.count(folder)?;
        }
        ForkResult::Child => {
            for &session in sessions.iter().cycle().take(BURST) {
                if let Ok(id) = minter.mint(session) {
                    let _ = output.write(id);
                }
            }
            let _ = output.flush();
            // Nothing is dropped, so nothing of the parent's is closed.
            let _ = nix::sys::signal::raise(nix::sys::signal::Signal::SIGKILL);
        }
    }
    Ok(())
}

fn receive(commands: &Commands) {
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        match line.split_once(' ') {
            Some(("clock", offset)) => commands.offset_ms.store(offset.parse().unwrap_or(0), Ordering::Relaxed),
            None if line == "fork" => commands.forks.store(true, Ordering::Relaxed),
            _ => break,
        }
    }
    // Also if the supervisor is gone.
    commands.quits.store(true, Ordering::Relaxed);
}
