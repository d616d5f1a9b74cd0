//! A chat room: tag messages, store them by the ID's text, read the latest page and a span of time back.

use std::collections::BTreeMap;
use std::error::Error;

use imid::{Generator, MessageId, SessionTag, SessionType};

static IDS: Generator = Generator::new();

/// Stores a message. Any store that orders text can take the place of the map: its order is the order of the messages.
fn post(store: &mut BTreeMap<String, String>, room: SessionTag, line: &str) -> Result<MessageId, Box<dyn Error>> {
    let id = IDS.generate(room)?;
    store.insert(id.to_string(), line.to_owned());
    Ok(id)
}

fn main() -> Result<(), Box<dyn Error>> {
    let room = SessionTag::new(SessionType::GROUP, "room-42");
    let mut store = BTreeMap::new();
    post(&mut store, room, "hello")?;
    post(&mut store, room, "is anybody here?")?;
    let last = post(&mut store, room, "yes")?;

    println!("The two messages before {last}, the latest first:");
    for (id, line) in store.range(..last.to_string()).rev().take(2) {
        println!("{id}  {line}");
    }

    // The bounds of a minute, as SQL's `BETWEEN` takes them.
    let minute = last.timestamp_ms() / 60_000 * 60_000;
    let scan = MessageId::range(minute..minute + 60_000)?;
    let found = store.range(scan.start().to_string()..=scan.end().to_string()).count();
    println!("{found} of {} messages in the minute of {last}", store.len());
    Ok(())
}
