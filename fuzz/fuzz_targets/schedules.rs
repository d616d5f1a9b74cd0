//! Law: no schedule of two processes and an operator makes the engine of a lease grant a time twice, or get stuck.
#![no_main]

#[cfg(not(imid_model))]
compile_error!("this target needs RUSTFLAGS=\"--cfg imid_model\"; ci/fuzz.sh sets it");

use libfuzzer_sys::fuzz_target;

fuzz_target!(|schedule: &[u8]| imid_lease::play_bytes(schedule));
