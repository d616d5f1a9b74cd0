//! Mints IDs in many processes under random faults, and counts the duplicates. `soak.sh` runs it; see there.
//!
//! ```text
//! soak run STORE SECONDS [SCHEME]   starts workers, breaks things, and checks the IDs
//! soak worker URL FOLDER NAME SCHEME
//! soak check FOLDER                 checks the IDs that workers wrote
//! soak texts FOLDER                 prints them, for `imid check --unsorted`
//! soak pauses FOLDER                reads lines of a Unix time in milliseconds and a name, and prints, from each to the
//!                                   next, the longest time in which no worker minted, and how many calls were refused
//!                                   and leases ended
//! soak promise URL                  connects, and prints what the register promises
//! soak starts FOLDER                prints how long each process was without a lane at its start
//! ```
//!
//! SCHEME is `lease`, or one of two rivals that must fail: `wall-clock` and `expiring-key`.

mod check;
mod diary;
mod faults;
mod minter;
mod output;
#[path = "../../tests/registers/proxy.rs"]
mod proxy;
#[path = "../../../../tests/support/random.rs"]
mod random;
mod rivals;
mod supervisor;
mod worker;

use std::env;
use std::io;
use std::process::ExitCode;

use imid_lease::register::{DEFAULT_TIME_LIMIT, Register as _, open_url};

fn promise(url: &str) -> io::Result<ExitCode> {
    let mut register = open_url(url, DEFAULT_TIME_LIMIT).map_err(io::Error::other)?;
    // The adapter reads the settings of the server when it connects.
    register.list("").map_err(io::Error::other)?;
    println!("{}", register.promise());
    Ok(ExitCode::SUCCESS)
}

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let result = match arguments[..] {
        ["run", store, seconds] => supervisor::run(store, seconds, "lease"),
        ["run", store, seconds, scheme] => supervisor::run(store, seconds, scheme),
        ["worker", url, folder, name, scheme] => worker::run(url, folder.as_ref(), name, scheme),
        ["check", folder] => check::check(folder.as_ref()).map(|found| {
            println!("{found}");
            if found.has_faults() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
        }),
        ["texts", folder] => check::texts(folder.as_ref()).map(|()| ExitCode::SUCCESS),
        ["pauses", folder] => diary::pauses(folder.as_ref()).map(|()| ExitCode::SUCCESS),
        ["promise", url] => promise(url),
        ["starts", folder] => diary::starts(folder.as_ref()).map(|()| ExitCode::SUCCESS),
        _ => Err(io::Error::other("expected run STORE SECONDS, or check, texts, pauses or starts, and FOLDER")),
    };
    result.unwrap_or_else(|error| {
        eprintln!("soak: {error}");
        ExitCode::from(2)
    })
}
