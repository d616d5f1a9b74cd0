//! What a process costs that holds a lane and does nothing. Reads `/proc`, so it needs Linux.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use imid_lease::register::{DEFAULT_TIME_LIMIT, open_url};
use imid_lease::{LaneOptions, LeasedGenerator};

use crate::{Failure, store};

const TIME: Duration = Duration::from_secs(60);

/// What the kernel has counted for this process.
struct Usage {
    cpu: Duration,
    wake_ups: u64,
    memory_kb: u64,
    threads: u64,
    sockets: usize,
}

pub(crate) fn run(url: &str) -> Result<(), Failure> {
    let without = usage()?;
    let ids =
        LeasedGenerator::open(open_url(url, DEFAULT_TIME_LIMIT)?, LaneOptions::new().create_missing().space("idle"))?;
    ids.wait_until_open(Duration::from_secs(15))?;
    // What opening has cost is not counted.
    thread::sleep(Duration::from_secs(5));
    let (start, before) = (Instant::now(), usage()?);
    thread::sleep(TIME);
    let (seconds, after) = (start.elapsed().as_secs_f64(), usage()?);
    println!(
        "{}: an idle lane: {:.2} ms of CPU and {:.1} wake-ups a second in {seconds:.0} s, {} threads, {} sockets, {} kB of memory \
         more than before it was opened",
        store(url),
        after.cpu.saturating_sub(before.cpu).as_secs_f64() * 1e3 / seconds,
        f64::from(u32::try_from(after.wake_ups - before.wake_ups)?) / seconds,
        after.threads - without.threads,
        after.sockets - without.sockets,
        after.memory_kb.saturating_sub(without.memory_kb),
    );
    Ok(())
}

fn usage() -> Result<Usage, Failure> {
    let (mut cpu, mut wake_ups, mut threads) = (Duration::ZERO, 0, 0);
    for task in fs::read_dir("/proc/self/task")? {
        let task = task?.path();
        // The first word is the time on a processor, in nanoseconds.
        let schedule = fs::read_to_string(task.join("schedstat"))?;
        cpu += Duration::from_nanos(schedule.split(' ').next().ok_or("schedstat is empty")?.parse()?);
        // A thread that waits and then runs again has switched once.
        wake_ups += field(&fs::read_to_string(task.join("status"))?, "voluntary_ctxt_switches:")?;
        threads += 1;
    }
    let sockets = fs::read_dir("/proc/self/fd")?.filter_map(|file| fs::read_link(file.ok()?.path()).ok());
    let sockets = sockets.filter(|path| path.to_string_lossy().starts_with("socket:")).count();
    let memory_kb = field(&fs::read_to_string("/proc/self/status")?, "VmRSS:")?;
    Ok(Usage { cpu, wake_ups, memory_kb, threads, sockets })
}

/// Returns the number in a line of `/proc/PID/status`.
fn field(status: &str, name: &str) -> Result<u64, Failure> {
    let line = status.lines().find_map(|line| line.strip_prefix(name)).ok_or_else(|| format!("no {name} in /proc"))?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}
