//! Law: no schedule of two processes and an operator makes the engine of a lease grant a time twice, or get stuck.
#![no_main]

use libfuzzer_sys::fuzz_target;

/// The model is the tests of the protocol.
#[path = "../../crates/imid-lease-protocol/tests/simulation/main.rs"]
#[allow(dead_code, unused_imports, reason = "the tests use the rest")]
mod model;

fuzz_target!(|schedule: &[u8]| model::bytes::play_bytes(schedule));
