//! Values through the traits of other crates. Servers are not needed: these tests read what a driver would send, or use
//! a database inside of this process. `ci/stores.sh` runs the tests with real servers.

use imid::MessageId;
use imid::message_id;

mod arbitrary;
mod postgres_types;
mod redis;
mod rusqlite;
mod schemas;
mod scylla;

/// The example of FORMAT.md.
const ID: MessageId = message_id!("EUNC-Q8QJ-22GH-T3DD");
const BYTES: [u8; 10] = *b"\x66\xa8\xab\x1a\xd0\x00\x1c\xfc\x85\x6b";
const UUID: [u8; 16] = *b"\x01\x9a\xa2\xac\x6b\x40\x70\x07\x8f\xc8\x56\xbf\xff\xff\xff\xff";
