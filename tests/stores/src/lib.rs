//! The servers of the tests, and the IDs that they store.

pub mod follow;
pub mod pack;
#[path = "../../support/random.rs"]
mod random;

use std::env;
use std::io::{self, Write};

use imid::{MessageId, message_id};

use self::random::Random;

/// The example of FORMAT.md.
pub const EXAMPLE: MessageId = message_id!("EUNC-Q8QJ-22GH-T3DD");

/// Reports that a test is skipped. libtest would capture `eprintln!`.
pub fn skip(test: &str, reason: &str) {
    // One write, so that no other process splits the line.
    let line = format!("skipped: {test}: {reason}\n");
    io::stderr().write_all(line.as_bytes()).expect("standard error can be written");
}

/// Returns the URL of a server from the environment. Without it, says that the test is skipped.
pub fn url(variable: &str, test: &str) -> Option<String> {
    let url = env::var(variable).ok().filter(|url| !url.is_empty());
    if url.is_none() {
        skip(test, &format!("{variable} is not set"));
    }
    url
}

/// Returns distinct IDs in random order: 0, each bit alone, all bits, bytes that signed or padded comparisons sort wrongly, and
/// `IMID_ROWS` random IDs.
pub fn ids() -> Vec<MessageId> {
    let rows = env::var("IMID_ROWS").map_or(20_000, |rows| rows.parse().expect("IMID_ROWS is a number"));
    let mut ids: Vec<u128> = (0..80).map(|bit| 1 << bit).collect();
    ids.extend([0, (1 << 80) - 1, EXAMPLE.to_u128()]);
    ids.extend((0..10).flat_map(|byte| [0x7f_u128, 0x81, 0x20, 0xff].map(|value| value << (8 * byte))));
    let mut random = Random(2026_u64);
    ids.extend((0..rows).map(|_| (u128::from(random.next()) << 64 | u128::from(random.next())) >> 48));
    ids.sort_unstable();
    ids.dedup();
    // Fisher-Yates.
    for at in (1..ids.len()).rev() {
        let other = random.next() % (at as u64 + 1);
        ids.swap(at, usize::try_from(other).expect("an index"));
    }
    ids.into_iter().map(|value| MessageId::from_u128(value).expect("80 bits")).collect()
}

/// Returns the IDs in ascending order.
pub fn sorted(ids: &[MessageId]) -> Vec<MessageId> {
    let mut sorted = ids.to_vec();
    sorted.sort_unstable();
    sorted
}

/// Asserts that the IDs are equal, and says how many differ and where the first difference is.
#[track_caller]
pub fn assert_same(found: &[MessageId], wanted: &[MessageId], what: &str) {
    assert_eq!(found.len(), wanted.len(), "{what}");
    let differences = found.iter().zip(wanted).filter(|(a, b)| a != b).count();
    let first = found.iter().zip(wanted).position(|(a, b)| a != b);
    assert_eq!(differences, 0, "{what}: the first difference is at {first:?}");
}
