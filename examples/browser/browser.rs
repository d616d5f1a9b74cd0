//! Mints and reads IDs in a browser. imid.mjs calls it. WebAssembly passes only numbers, so texts pass byte by byte.

use std::sync::LazyLock;

use imid::clock::{Clock, ClockError};
use imid::{Generator, MessageId, SessionTag, SessionType};

#[link(wasm_import_module = "js")]
unsafe extern "C" {
    /// Returns the milliseconds since 1970: `Date.now()`.
    safe fn now() -> f64;
    /// Returns 64 random bits: `crypto.getRandomValues`.
    safe fn seed() -> u64;
    /// Returns a byte of the text of the call, or -1 after the last.
    safe fn read(at: usize) -> i32;
    safe fn write(byte: u8);
}

struct DateNow;

impl Clock for DateNow {
    fn now_ms(&self) -> Result<u64, ClockError> {
        Ok(now() as u64)
    }
}

static IDS: LazyLock<Generator<DateNow>> =
    LazyLock::new(|| Generator::builder().clock(DateNow).seed(seed()).build().expect("settings that fit, and a seed"));

fn text() -> Vec<u8> {
    (0..).map_while(|at| u8::try_from(read(at)).ok()).collect()
}

/// Returns the time of an ID in milliseconds since 1970 and writes the ID, or returns -1 and writes the error.
fn answer(result: Result<MessageId, impl ToString>) -> f64 {
    let time = result.as_ref().map_or(-1.0, |id| id.timestamp_ms() as f64);
    result.map_or_else(|error| error.to_string(), |id| id.to_string()).bytes().for_each(|byte| write(byte));
    time
}

/// Mints an ID for the group that the text names.
#[unsafe(no_mangle)]
extern "C" fn mint() -> f64 {
    answer(IDS.generate(SessionTag::new(SessionType::GROUP, &String::from_utf8_lossy(&text()))))
}

/// Reads the ID in the text.
#[unsafe(no_mangle)]
extern "C" fn parse() -> f64 {
    answer(MessageId::parse_bytes(&text()))
}
