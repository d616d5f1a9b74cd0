//! A chat room: tag messages, store them by the ID's text, read a span of time back.

use std::collections::BTreeMap;
use std::error::Error;

use imid::{Generator, MessageId, Session, SessionType};

static IDS: Generator = Generator::new();

fn main() -> Result<(), Box<dyn Error>> {
    let room = Session::new(SessionType::GROUP, "room-42");

    // Any store that orders text can be used. Its order is the order of the messages.
    let mut store = BTreeMap::new();
    for line in ["hello", "is anybody here?", "yes"] {
        store.insert(IDS.generate(room)?.to_string(), line);
    }
    for (id, line) in &store {
        println!("{id}  {line}");
    }

    // All messages of the minute of the last one, as `BETWEEN` selects them.
    let (last, _) = store.last_key_value().ok_or("three messages were stored")?;
    let minute = last.parse::<MessageId>()?.timestamp_ms() / 60_000 * 60_000;
    let scan = MessageId::range(minute..minute + 60_000)?;
    let found = store.range(scan.start().to_string()..=scan.end().to_string()).count();
    println!("{found} of {} messages in that minute", store.len());
    Ok(())
}
