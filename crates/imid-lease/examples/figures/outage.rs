//! A segment while its store is stopped for 30 s.

use std::env;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use imid_lease::register::{DEFAULT_TIME_LIMIT, open_url};
use imid_lease::segment::Segment;

use crate::Failure;

const OUTAGE: Duration = Duration::from_secs(30);

/// Numbers in a millisecond.
const RATE: u64 = 10;

pub(crate) fn run(store: &str) -> Result<(), Failure> {
    let url = env::var(format!("IMID_{}_URL", store.to_uppercase()))?;
    // Blocks that last longer than the outage, and blocks that do not.
    let (long, short) = thread::scope(|scope| {
        let [long, short] = [500_000, 50_000].map(|step| {
            let url = &url;
            scope.spawn(move || consume(url, step))
        });
        // Both blocks are there.
        thread::sleep(Duration::from_secs(6));
        server(store, "stop")?;
        let stopped = Instant::now();
        thread::sleep(OUTAGE);
        server(store, "start")?;
        println!("{store}: stopped for {:.0?}", stopped.elapsed());
        let join = |thread: thread::ScopedJoinHandle<'_, _>| thread.join().map_err(|_| "a thread panicked")?;
        Ok::<(u64, u64), Failure>((join(long)?, join(short)?))
    })?;
    if long > 0 {
        Err(format!("{long} calls were refused although the block lasts longer").into())
    } else {
        check(short)
    }
}

fn check(refused: u64) -> Result<(), Failure> {
    if refused == 0 { Err("the short block was not used up, so nothing was shown".into()) } else { Ok(()) }
}

/// Takes numbers for a minute, and returns how many calls were refused.
fn consume(url: &str, step: u32) -> Result<u64, Failure> {
    let register = open_url(url, DEFAULT_TIME_LIMIT)?;
    let segment = Segment::open_line(register, &format!("outage-{step}"), step)?;
    segment.wait_until_open(Duration::from_secs(15))?;
    let start = Instant::now();
    let (mut numbers, mut refused, mut repeats, mut gaps, mut last) = (0, 0, 0_u64, 0, 0);
    let (mut dry, mut longest) = (None, Duration::ZERO);
    while start.elapsed() < Duration::from_secs(60) {
        let due = u64::try_from(start.elapsed().as_millis())? * RATE;
        while numbers + refused < due {
            match segment.next() {
                Ok(number) => {
                    repeats += u64::from(number <= last);
                    gaps += number.saturating_sub(last + 1);
                    last = number;
                    numbers += 1;
                    longest = longest.max(dry.take().map_or(Duration::ZERO, |since: Instant| since.elapsed()));
                }
                Err(error) if error.retry_after().is_some() => {
                    dry.get_or_insert_with(Instant::now);
                    refused += 1;
                }
                Err(error) => return Err(error.into()),
            }
        }
        thread::sleep(Duration::from_millis(1));
    }
    println!(
        "a segment with a step of {step}, {} numbers a second, 60 s: {numbers} numbers, {refused} calls refused, longest time \
         without a number {:.1} s, {repeats} repeats, {gaps} numbers skipped",
        RATE * 1_000,
        longest.as_secs_f64()
    );
    if repeats > 0 { Err(format!("{repeats} numbers came again").into()) } else { Ok(refused) }
}

fn server(store: &str, action: &str) -> Result<(), Failure> {
    let script = env::var("IMID_SERVICES_SH")?;
    let status = Command::new("bash").args([&script, "server", store, action]).status()?;
    if status.success() { Ok(()) } else { Err(format!("cannot {action} {store}: {status}").into()) }
}
