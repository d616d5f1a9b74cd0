//! How often a lane is written.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use imid_lease::register::{DEFAULT_TIME_LIMIT, open_url};
use imid_lease::{LaneOptions, LeasedGenerator};

use crate::counting::{Counting, Counts};
use crate::{Failure, room, store};

const TIME: Duration = Duration::from_secs(30);

/// The most writes of a lane in a second.
const BAR: f64 = 0.5;

pub(crate) fn run(url: &str) -> Result<(), Failure> {
    // One lane without work, one with an ID now and then, and one that mints as fast as it can.
    let pauses =
        [("idle", None), ("1,000 IDs a second", Some(Duration::from_millis(1))), ("full speed", Some(Duration::ZERO))];
    let lanes = thread::scope(|scope| {
        let lane = |(work, pause)| scope.spawn(move || one(url, work, pause));
        let lanes: Vec<_> = pauses.into_iter().map(lane).collect();
        lanes.into_iter().map(|lane| lane.join().map_err(|_| "a thread panicked")?).collect::<Result<Vec<f64>, _>>()
    })?;
    match lanes.into_iter().find(|rate| *rate > BAR) {
        Some(rate) => Err(format!("{rate:.2} writes a second, above the bar of {BAR}").into()),
        None => Ok(()),
    }
}

fn one(url: &str, work: &str, pause: Option<Duration>) -> Result<f64, Failure> {
    let counts = Arc::<Counts>::default();
    let register = Counting { register: open_url(url, DEFAULT_TIME_LIMIT)?, counts: Arc::clone(&counts) };
    let ids = LeasedGenerator::open(register, LaneOptions::new().create_missing().space("writes"))?;
    ids.wait_until_open(Duration::from_secs(15))?;
    let before = [counts.writes(), counts.reads()];
    let (start, mut minted, mut refused) = (Instant::now(), 0_u64, 0_u64);
    while start.elapsed() < TIME {
        let Some(pause) = pause else {
            thread::sleep(TIME.saturating_sub(start.elapsed()));
            break;
        };
        match ids.generate(room()) {
            Ok(_) => minted += 1,
            // The lane has run ahead of the clock by its limit.
            Err(error) => {
                refused += 1;
                thread::sleep(error.retry_after().ok_or_else(|| error.to_string())?);
            }
        }
        if !pause.is_zero() {
            thread::sleep(pause);
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    let rate = |count: u64| Ok::<_, Failure>(f64::from(u32::try_from(count)?) / seconds);
    let (writes, reads) = (rate(counts.writes() - before[0])?, rate(counts.reads() - before[1])?);
    println!(
        "{}: a lane, {work}: {writes:.2} writes and {reads:.2} reads a second in {seconds:.0} s, horizon 10 s ({minted} IDs, \
         {refused} refused)",
        store(url)
    );
    Ok(writes)
}
