//! What wasm32-unknown-unknown must refuse, because it has no clock and no random numbers. `ci/platforms.sh wasm32` runs it in Node.

use imid::clock::{ManualClock, SystemClock};
use imid::{Generator, SessionTag};

/// Returns how many of three calls are refused as they should.
#[unsafe(no_mangle)]
extern "C" fn refused() -> usize {
    let seedless = Generator::builder().clock(ManualClock::new(0)).build().is_err_and(|error| error.is_seed());
    let clockless = |result: Result<_, imid::generator::GenerateError>| result.is_err_and(|error| error.is_clock());
    let room = SessionTag::from_u32(0).unwrap();
    [
        seedless,
        clockless(imid::generate(room)),
        clockless(Generator::builder().clock(SystemClock).seed(1).build().expect("a seed").generate(room)),
    ]
    .iter()
    .filter(|&&refused| refused)
    .count()
}
