//! When each worker started, minted and was refused, by the clock of the machine.

use std::collections::HashMap;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufRead, Write};
use std::path::Path;
use std::process;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The lines of one worker: an event, and its Unix time in milliseconds.
pub(crate) struct Diary(File);

impl Diary {
    pub(crate) fn create(folder: &Path, name: &str) -> io::Result<Self> {
        let path = folder.join(format!("{name}-{}-{}.diary", process::id(), now_ms()));
        let mut diary = Self(File::options().create_new(true).append(true).open(path)?);
        diary.write("started")?;
        Ok(diary)
    }

    /// Writes an event.
    pub(crate) fn write(&mut self, event: &str) -> io::Result<()> {
        self.0.write_all(format!("{event} {}\n", now_ms()).as_bytes())
    }
}

fn now_ms() -> u64 {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// The events of one process.
struct Process {
    name: String,
    events: Vec<(String, u64)>,
}

impl Process {
    fn times(&self, event: &str) -> impl DoubleEndedIterator<Item = u64> {
        self.events.iter().filter(move |(name, _)| name == event).map(|(_, ms)| *ms)
    }
}

/// Reads the events of each process. A line that was cut by a kill is left out.
fn read(folder: &Path) -> io::Result<Vec<Process>> {
    let mut processes = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        if path.extension().is_some_and(|extension| extension == "diary") {
            // Before its PID and time.
            let name = stem.rsplitn(3, '-').last().unwrap_or_default().to_owned();
            let text = fs::read_to_string(&path)?;
            let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
            let event = |line: &str| {
                let (event, time) = line.trim_end().split_once(' ')?;
                Some((event.to_owned(), time.parse().ok()?))
            };
            processes.push(Process { name, events: whole.filter_map(event).collect() });
        }
    }
    processes.sort_by_key(|process| process.times("started").next());
    Ok(processes)
}

/// Returns the longest time between two of these times, from a beginning to an end.
fn longest_pause(sorted_ms: &[u64], from: u64, to: u64) -> u64 {
    let inside = sorted_ms.iter().copied().filter(|ms| (from..to).contains(ms));
    let (longest, last) = inside.fold((0, from), |(longest, last), ms| (longest.max(ms - last), ms));
    longest.max(to.saturating_sub(last))
}

/// Returns the sorted times of an event.
fn times(processes: &[Process], event: &str) -> Vec<u64> {
    let mut times: Vec<_> = processes.iter().flat_map(|process| process.times(event)).collect();
    times.sort_unstable();
    times
}

pub(crate) fn pauses(folder: &Path) -> io::Result<()> {
    let processes = read(folder)?;
    let [minted, refused, ended] = ["minted", "refused", "ended"].map(|event| times(&processes, event));
    let mut marks = Vec::new();
    for line in io::stdin().lock().lines() {
        let line = line?;
        let mark = line.split_once(' ').and_then(|(ms, name)| Some((ms.parse::<u64>().ok()?, name.to_owned())));
        marks.push(mark.ok_or_else(|| io::Error::other(format!("expected MILLISECONDS NAME, found {line:?}")))?);
    }
    for pair in marks.windows(2) {
        let ((from, name), (to, _)) = (&pair[0], &pair[1]);
        let pause = longest_pause(&minted, *from, *to);
        let refusals = refused.iter().filter(|ms| (from..to).contains(ms)).count();
        let pause = Duration::from_millis(pause).as_secs_f64();
        let ended = ended.iter().filter(|ms| (from..to).contains(ms)).count();
        println!("{name}: {pause:.1} s without an ID, {refusals} calls refused, {ended} leases ended");
    }
    Ok(())
}

pub(crate) fn starts(folder: &Path) -> io::Result<()> {
    let processes = read(folder)?;
    let mut last_of = HashMap::new();
    let (mut starts, mut changes) = (Vec::new(), Vec::new());
    for process in &processes {
        let (Some(started), Some(first), Some(last)) =
            (process.times("started").next(), process.times("minted").next(), process.times("minted").next_back())
        else {
            continue;
        };
        starts.push(first.saturating_sub(started));
        if let Some(before) = last_of.insert(&process.name, last) {
            changes.push(first.saturating_sub(before));
        }
    }
    println!("from the start of a process to its first ID: {}", Spread(starts));
    if !changes.is_empty() {
        println!("from the last ID of a name to the first ID of its next process: {}", Spread(changes));
    }
    Ok(())
}

/// Times in milliseconds, shown by their median and range.
struct Spread(Vec<u64>);

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        match (sorted.first(), sorted.last()) {
            (Some(least), Some(greatest)) => {
                let median = sorted[sorted.len() / 2];
                write!(f, "{median} ms ({least} to {greatest}) in {} cases", sorted.len())
            }
            _ => f.write_str("no cases"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Spread, longest_pause};

    #[test]
    fn a_pause_is_cut_at_both_ends() {
        let minted = [50, 100, 130, 400, 900];
        assert_eq!(longest_pause(&minted, 100, 500), 270);
        assert_eq!(longest_pause(&minted, 60, 100), 40);
        assert_eq!(longest_pause(&minted, 390, 700), 300);
        assert_eq!(longest_pause(&minted, 910, 1000), 90);
    }

    #[test]
    fn a_spread_is_of_sorted_times() {
        assert_eq!(Spread(vec![30, 10, 20]).to_string(), "20 ms (10 to 30) in 3 cases");
        assert_eq!(Spread(Vec::new()).to_string(), "no cases");
    }
}
