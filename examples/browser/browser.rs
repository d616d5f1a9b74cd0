//! Mints and reads IDs in a browser. imid.mjs calls it. Texts pass through one buffer, because WebAssembly passes only numbers.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use imid::clock::{Clock, ClockError};
use imid::{Generator, MessageId, SessionTag, SessionType};

#[link(wasm_import_module = "js")]
unsafe extern "C" {
    /// Returns the milliseconds since 1970: `Date.now()`.
    safe fn now() -> f64;
    /// Returns 64 random bits: `crypto.getRandomValues`.
    safe fn seed() -> u64;
}

struct DateNow;

impl Clock for DateNow {
    fn now_ms(&self) -> Result<u64, ClockError> {
        Ok(now() as u64)
    }
}

static IDS: LazyLock<Generator<DateNow>> =
    LazyLock::new(|| Generator::builder().clock(DateNow).seed(seed()).build().expect("settings that fit, and a seed"));

static TEXT: [AtomicU8; 256] = [const { AtomicU8::new(0) }; 256];

fn take(length: usize) -> Vec<u8> {
    TEXT.iter().take(length).map(|byte| byte.load(Relaxed)).collect()
}

fn put(text: &str) -> usize {
    TEXT.iter().zip(text.bytes()).map(|(to, byte)| to.store(byte, Relaxed)).count()
}

#[unsafe(no_mangle)]
extern "C" fn buffer() -> *const AtomicU8 {
    TEXT.as_ptr()
}

/// Mints an ID for the group that is named in the buffer. Returns the length of its text, or of an error below 0.
#[unsafe(no_mangle)]
extern "C" fn mint(length: usize) -> isize {
    let name = take(length);
    match IDS.generate(SessionTag::new(SessionType::GROUP, &String::from_utf8_lossy(&name))) {
        Ok(id) => put(&id.to_text()) as isize,
        Err(error) => -(put(&error.to_string()) as isize),
    }
}

/// Returns the time of the ID in the buffer in milliseconds since 1970. After an error, returns the length of its words below 0.
#[unsafe(no_mangle)]
extern "C" fn time(length: usize) -> f64 {
    match MessageId::parse_bytes(&take(length)) {
        Ok(id) => id.timestamp_ms() as f64,
        Err(error) => -(put(&error.to_string()) as f64),
    }
}
