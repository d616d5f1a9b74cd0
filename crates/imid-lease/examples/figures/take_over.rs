//! How long a lane is unused when its holder gives it back, and when its holder dies.

use std::env;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use imid_lease::register::{DEFAULT_TIME_LIMIT, open_url};
use imid_lease::{LaneOptions, LeasedGenerator};

use crate::{Failure, check, room, store};

const RELEASES: u32 = 20;

/// Holders that are killed, each in a space of its own, so that all are waited for at once.
const KILLS: u32 = 5;

/// The default of [`LaneOptions::horizon`], which is the time-out.
const TIME_OUT: Duration = Duration::from_secs(10);

/// A generator of the only lane of a space.
fn open(url: &str, space: &str) -> Result<LeasedGenerator, Failure> {
    let options = LaneOptions::new().create_missing().space(space).lane_bits(0);
    let ids = LeasedGenerator::open(open_url(url, DEFAULT_TIME_LIMIT)?, options)?;
    ids.wait_until_open(Duration::from_secs(60))?;
    Ok(ids)
}

/// Waits for the lane of a space, and returns when it has minted its first ID.
fn successor(url: &str, space: &str) -> Result<(LeasedGenerator, Instant), Failure> {
    let ids = open(url, space)?;
    ids.generate_within(room(), Duration::from_secs(5))?;
    Ok((ids, Instant::now()))
}

pub(crate) fn run(url: &str) -> Result<(), Failure> {
    let released = released(url)?;
    print("a lane that was given back", url, &released);
    let killed = killed(url)?;
    print("the lane of a killed holder", url, &killed);
    check("the lane of a killed holder", *killed.last().ok_or("no kill")?, TIME_OUT + Duration::from_secs(1))?;
    check("a lane that was given back", median(&released), Duration::from_millis(100))
}

fn released(url: &str) -> Result<Vec<Duration>, Failure> {
    let mut ids = open(url, "given-back")?;
    let mut times = Vec::new();
    for round in 0..RELEASES {
        let before = ids;
        ids = thread::scope(|scope| {
            let next = scope.spawn(|| successor(url, "given-back"));
            // The other one polls by now. The rounds end at different moments between two of its polls.
            thread::sleep(Duration::from_millis(500 + u64::from(round) * 17));
            before.generate(room())?;
            let start = Instant::now();
            before.close();
            let (ids, minted) = next.join().map_err(|_| "a thread panicked")??;
            times.push(minted - start);
            Ok::<_, Failure>(ids)
        })?;
    }
    times.sort_unstable();
    Ok(times)
}

fn killed(url: &str) -> Result<Vec<Duration>, Failure> {
    let one = |space: String, pause: Duration| -> Result<Duration, Failure> {
        let mut holder =
            Command::new(env::current_exe()?).args(["hold", url, &space]).stdout(Stdio::piped()).spawn()?;
        BufReader::new(holder.stdout.take().ok_or("no output")?).read_line(&mut String::new())?;
        thread::scope(|scope| {
            let next = scope.spawn(|| successor(url, &space));
            // The holder renews every 2.5 s. The kills come at different moments between two renewals.
            thread::sleep(Duration::from_secs(3) + pause);
            holder.kill()?;
            let start = Instant::now();
            holder.wait()?;
            let (_, minted) = next.join().map_err(|_| "a thread panicked")??;
            Ok(minted - start)
        })
    };
    let mut times = thread::scope(|scope| {
        let trial = |trial| scope.spawn(move || one(format!("killed-{trial}"), trial * Duration::from_millis(500)));
        let trials: Vec<_> = (0..KILLS).map(trial).collect();
        trials.into_iter().map(|trial| trial.join().map_err(|_| "a thread panicked")?).collect::<Result<Vec<_>, _>>()
    })?;
    times.sort_unstable();
    Ok(times)
}

/// The holder. It mints until it is killed.
pub(crate) fn hold(url: &str, space: &str) -> Result<(), Failure> {
    let ids = open(url, space)?;
    println!("held");
    io::stdout().flush()?;
    loop {
        ids.generate(room())?;
        thread::sleep(Duration::from_millis(1));
    }
}

fn median(times: &[Duration]) -> Duration {
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn print(what: &str, url: &str, times: &[Duration]) {
    let ms = |time: Option<&Duration>| time.map_or(0, Duration::as_millis);
    println!(
        "{}: {what} mints again after {} to {} ms, median {} ms, {} times",
        store(url),
        ms(times.first()),
        ms(times.last()),
        median(times).as_millis(),
        times.len()
    );
}
