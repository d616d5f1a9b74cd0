//! Measures what leases take on real stores. `figures.sh` runs it; see there.
//!
//! ```text
//! figures take-over URL   the time until a lane that was given back, or whose holder was killed, mints again
//! figures writes URL      how often a lane is written
//! figures idle URL        what a lane costs that is not used
//! figures slow            what many leases of one process do on a slow store
//! figures fleet URL PROCESSES BITS SECONDS  many processes with a connection each; crates/imid-lease/fleets.sh runs it
//! figures hold URL SPACE  takes the only lane of a space, says so, and waits to be killed
//! ```

mod counting;
mod fleet;
mod idle;
mod slow;
mod take_over;
mod writes;

use std::env;
use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use imid::{SessionTag, SessionType};

type Failure = Box<dyn Error + Send + Sync>;

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let result = match arguments[..] {
        ["take-over", url] => take_over::run(url),
        ["writes", url] => writes::run(url),
        ["idle", url] => idle::run(url),
        ["slow"] => slow::run(),
        ["fleet", url, count, bits, seconds] => fleet::run(url, count, bits, seconds),
        ["hold", url, space] => take_over::hold(url, space),
        _ => Err("expected take-over URL, writes URL, idle URL, slow, or fleet URL PROCESSES BITS SECONDS".into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("figures: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Fails if a figure is above its bar.
fn check(what: &str, found: Duration, bar: Duration) -> Result<(), Failure> {
    if found > bar { Err(format!("{what} took {found:.1?}, above the bar of {bar:.1?}").into()) } else { Ok(()) }
}

fn room() -> SessionTag {
    SessionTag::new(SessionType::GROUP, "room-42")
}

/// Returns the name of the store of a URL.
fn store(url: &str) -> &str {
    url.split(':').next().unwrap_or(url)
}
