//! Counts the instructions of a call: `cargo bench --bench instructions`. It needs valgrind on Linux.

#[path = "../../../benches/callgrind.rs"]
mod callgrind;

use callgrind::{Case, repeat};
use imid::clock::ManualClock;
use imid_snowflake::{Generator, Layout, Preset};

const CASES: [Case; 1] = [("Snowflake", |calls| {
    let clock = ManualClock::new(1_763_665_800_000);
    let ids = Generator::builder(wide()).node(1).clock(clock).build().expect("a node of 1 bit");
    repeat(calls, || ids.generate());
})];

/// A layout whose ticks have more sequence numbers than there are calls.
fn wide() -> Preset {
    let layout = Layout::builder().tick_bits(41).node_bits(1).sequence_bits(22).build();
    Preset::new(layout.expect("64 bits"))
}

fn main() {
    callgrind::main(&CASES);
}
