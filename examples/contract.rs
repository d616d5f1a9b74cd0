//! The driver with which `ci/contract.sh` checks this library by spec/GENERATOR.md: one call per line on standard input, and one
//! line for it on standard output.

use core::cell::RefCell;
use core::iter;
use core::time::Duration;
use std::collections::VecDeque;
use std::error::Error;
use std::io::{self, BufRead, Write};

use imid::clock::{Clock, ClockError};
use imid::generator::{GenerateError, Lane, ObserveError};
use imid::{AfterOptions, Generator, MessageId, SessionTag};

type Ids = Generator<&'static Readings>;
type Answer = Result<String, Box<dyn Error>>;

/// Shows one reading after the other, and then the last one for good. `None` is no reading.
struct Readings(RefCell<VecDeque<Option<i64>>>);

impl Clock for Readings {
    fn now_ms(&self) -> Result<u64, ClockError> {
        let mut left = self.0.borrow_mut();
        let reading = if left.len() > 1 { left.pop_front() } else { left.front().copied() };
        let ms = reading.flatten().ok_or(ClockError::unavailable())?;
        u64::try_from(ms).map_err(|_| ClockError::before_1970())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let clock: &'static Readings = Box::leak(Box::new(Readings(RefCell::default())));
    let mut ids = None;
    let (mut line, mut stdout) = (String::new(), io::stdout());
    while io::stdin().lock().read_line(&mut line)? > 0 {
        let (call, words) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        let words: Vec<&str> = words.split(' ').filter(|word| !word.is_empty()).collect();
        let answer = match call {
            "clock" => {
                let readings = words.iter().map(|word| if *word == "none" { Ok(None) } else { word.parse().map(Some) });
                *clock.0.borrow_mut() = readings.collect::<Result<_, _>>()?;
                "ok".into()
            }
            "new" => match build(clock, &words) {
                Ok(made) => {
                    ids = Some(made);
                    "ok".into()
                }
                Err(refused) => refused.to_string(),
            },
            "fork" => fork()?,
            "after" => after(&words)?,
            _ => answer(ids.as_ref().ok_or("expected `new` first")?, call, &words)?,
        };
        writeln!(stdout, "{answer}")?;
        stdout.flush()?;
        line.clear();
    }
    Ok(())
}

fn build(clock: &'static Readings, settings: &[&str]) -> Result<Ids, Box<dyn Error>> {
    let mut builder = Generator::builder();
    for setting in settings {
        let (name, value) = setting.split_once('=').ok_or("expected name=value")?;
        if name == "lane" {
            let (index, bits) = value.split_once('/').ok_or("expected index/bits")?;
            builder = builder.lane(Lane { index: index.parse()?, bits: bits.parse()? });
            continue;
        }
        let number = value.parse()?;
        builder = match name {
            "seed" => builder.seed(number),
            "max_lead" => builder.max_lead(Duration::from_millis(number)),
            "max_rollback" => builder.max_rollback(Duration::from_millis(number)),
            "max_skew" => builder.max_skew(Duration::from_millis(number)),
            "floor" => builder.floor_ms(number),
            "ceiling" => builder.ceiling_ms(number),
            _ => return Err(format!("expected a setting, found {name}").into()),
        };
    }
    builder.clock(clock).build().map_err(|error| if error.is_lane() { "refused lane".into() } else { error.into() })
}

fn after(words: &[&str]) -> Answer {
    let [last, tag, now, r, q, limit] = words else { return Err("after needs 6 words".into()) };
    let last = if *last == "none" { None } else { Some(last.parse()?) };
    let limit = Duration::from_millis(limit.parse()?);
    let options = AfterOptions { random: q.parse::<u32>()? << 12 | r.parse::<u32>()?, limit };
    let id = MessageId::after_with(last, SessionTag::from_u32(tag.parse()?)?, now.parse()?, options);
    Ok(id.map_or_else(
        |error| format!("refused {}", if error.is_skew() { "skew" } else { "end" }),
        |id| format!("ok {id}"),
    ))
}

fn answer(ids: &Ids, call: &str, words: &[&str]) -> Answer {
    let word = |at: usize| words.get(at).copied().ok_or_else(|| format!("{call} needs {} words", at + 1));
    let done = |seen: Result<(), ObserveError>| seen.map_or_else(|error| unseen(&error), |()| "ok".into());
    match call {
        "mint" => {
            let run = ids.batch(SessionTag::from_u32(word(1)?.parse()?)?, word(0)?.parse()?);
            Ok(run.map_or_else(
                |error| refused(&error),
                |run| iter::once("ok".into()).chain(run.map(|id| format!(" {id}"))).collect(),
            ))
        }
        "observe" if words.len() > 1 => {
            Ok(done(ids.observe_limited(word(0)?.parse()?, Duration::from_millis(word(1)?.parse()?))))
        }
        "observe" => Ok(done(ids.observe(word(0)?.parse::<MessageId>()?))),
        "floor" => {
            ids.raise_floor_ms(word(0)?.parse()?);
            Ok("ok".into())
        }
        "ceiling" => {
            ids.raise_ceiling_ms(word(0)?.parse()?);
            Ok("ok".into())
        }
        "close" => Ok(ids.close().map_or("none".into(), |ms| format!("ok {ms}"))),
        _ => Ok("unsupported".into()),
    }
}

fn refused(error: &GenerateError) -> String {
    let kind = match error {
        _ if error.is_run_too_long() => "run",
        _ if error.is_closed() => "closed",
        _ if error.is_forked() => "process",
        _ if error.is_clock() => "clock",
        _ if error.is_rollback() => "rollback",
        _ if error.is_ceiling() => "ceiling",
        _ if error.is_exhausted() => "end",
        _ => "overload",
    };
    error.retry_after().map_or(format!("refused {kind}"), |wait| format!("refused {kind} {}", wait.as_millis()))
}

fn unseen(error: &ObserveError) -> String {
    error.retry_after().map_or("refused clock".into(), |wait| format!("refused skew {}", wait.as_millis()))
}

/// Goes on in a forked child. The parent waits for it, and ends as it ends.
#[cfg(unix)]
#[expect(unsafe_code, reason = "fork")]
fn fork() -> Answer {
    use nix::sys::wait::{WaitStatus, waitpid};
    use nix::unistd::{ForkResult, fork};

    // SAFETY: this process has one thread.
    match unsafe { fork() }? {
        ForkResult::Child => Ok("ok".into()),
        ForkResult::Parent { child } => {
            let status = waitpid(child, None)?;
            std::process::exit(i32::from(!matches!(status, WaitStatus::Exited(_, 0))))
        }
    }
}

#[cfg(not(unix))]
fn fork() -> Answer {
    Ok("unsupported".into())
}
