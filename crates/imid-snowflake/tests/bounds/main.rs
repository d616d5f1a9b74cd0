//! The bounds of a Snowflake generator: floor, ceiling and end, of the generator and of nodes that are granted for a
//! time.
#![cfg(all(feature = "std", target_has_atomic = "64"))]

mod ceiling;
mod close;
mod floor;
mod nodes;
mod paused;
#[path = "../../../../tests/support/time.rs"]
mod time;

use std::time::Duration;

use imid::clock::{Clock, ManualClock};
use imid_snowflake::{Builder, GenerateError, Generator, Layout, NoSpareNodes, NodeSource, Preset, Snowflake};

use self::time::T;

const HOUR: u64 = 3_600_000;

/// The preset of the rollback article, with its own epoch: its time is over, but not for a clock that shows an earlier one.
const ROLLBACK: Preset = match Preset::rollback_38_15_10(Layout::ROLLBACK_38_15_10.epoch()) {
    Ok(preset) => preset,
    Err(_) => panic!("63 bits"),
};

/// The presets of the originals, and layouts with ticks of 10 ms (Sonyflake), 1 s (uid-generator) and 300 ns, with an
/// epoch inside of a millisecond.
fn presets() -> Vec<Preset> {
    let built = |builder: imid_snowflake::LayoutBuilder| Preset::new(builder.build().unwrap());
    let sonyflake = Layout::builder().tick_bits(39).sequence_bits(8).node_bits(16);
    let sonyflake = sonyflake.epoch(Duration::from_secs(1_409_529_600)).tick(Duration::from_millis(10));
    let uid = Layout::builder().tick_bits(28).node_bits(22).sequence_bits(13);
    let uid = uid.epoch(Duration::from_secs(1_600_000_000)).tick(Duration::from_secs(1));
    let short = Layout::builder().tick_bits(48).node_bits(10).sequence_bits(5);
    let short = short.epoch(Duration::new(1_763_660_000, 999_999_999)).tick(Duration::from_nanos(300));
    let mut presets = Preset::ALL.to_vec();
    presets.extend([built(sonyflake), built(uid), built(short)]);
    presets
}

fn builder(preset: Preset, clock: &ManualClock) -> Builder<&ManualClock, NoSpareNodes> {
    Generator::builder(preset).node(3).clock(clock)
}

/// A time in the last tick of a layout, or `None` if no millisecond begins in it.
fn last_ms(layout: Layout) -> Option<u64> {
    let at_end =
        |ms: &u64| Generator::builder(Preset::new(layout)).node(3).clock(ManualClock::new(*ms)).build().unwrap();
    let last = |ms: &u64| at_end(ms).generate().is_ok_and(|id| id.tick() == (1 << layout.tick_bits()) - 1);
    (layout.last_ms()..=layout.last_ms() + 1).find(last)
}

/// Mints all IDs that there are before `until`, millisecond by millisecond. Returns them and the last error.
fn drain<S: NodeSource>(ids: &Generator<&ManualClock, S>, until: u64) -> (Vec<Snowflake>, GenerateError) {
    let mut minted = Vec::new();
    loop {
        match ids.generate() {
            Ok(id) => minted.push(id),
            Err(error) if ids.clock().now_ms().unwrap() >= until => return (minted, error),
            Err(_) => ids.clock().advance(Duration::from_millis(1)),
        }
    }
}
