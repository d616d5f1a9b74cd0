//! An import: old messages get IDs with their own times. The IDs strictly increase in the order of the input.

use std::error::Error;
use std::time::Duration;

use imid::clock::ManualClock;
use imid::{Generator, SessionTag, SessionType};

fn main() -> Result<(), Box<dyn Error>> {
    let archive = [
        (1_565_702_306_000, "gardening", "who has seeds?"),
        (1_565_702_306_000, "gardening", "I do"),
        // This message was stored late. Its time is before that of the line above, but its ID sorts after it.
        (1_565_702_299_000, "cooking", "what is for dinner?"),
        (1_565_702_340_000, "cooking", "soup"),
    ];

    let clock = ManualClock::new(0);
    // A fixed seed makes the import repeatable. The limits are lifted, because the times are those of the archive.
    let ids =
        Generator::builder().seed(42).max_lead(Duration::MAX).max_rollback(Duration::MAX).clock(&clock).build()?;
    for (time_ms, topic, line) in archive {
        clock.set(time_ms);
        let id = ids.generate(SessionTag::new(SessionType::GROUP, topic))?;
        println!("{id}  {}  {topic}: {line}", id.timestamp_ms());
    }
    Ok(())
}
