//! Mints IDs in many processes under random faults, and counts the duplicates. `soak.sh` runs it; see there.
//!
//! ```text
//! soak run STORE SECONDS [SCHEME]   starts workers, breaks things, and checks the IDs
//! soak worker URL FOLDER NAME SCHEME
//! soak check FOLDER                 checks the IDs that workers wrote
//! soak texts FOLDER                 prints them, for `imid check --unsorted`
//! ```
//!
//! SCHEME is `lease`, or one of two rivals that must fail: `wall-clock` and `expiring-key`.

mod check;
mod faults;
mod output;
#[path = "../../tests/registers/proxy.rs"]
mod proxy;
mod rivals;
mod supervisor;
mod worker;

use std::env;
use std::io;
use std::process::ExitCode;

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
        _ => Err(io::Error::other("expected run STORE SECONDS, check FOLDER or texts FOLDER")),
    };
    result.unwrap_or_else(|error| {
        eprintln!("soak: {error}");
        ExitCode::from(2)
    })
}
