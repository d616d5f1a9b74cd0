//! Law: a record of a lease is read if and only if it is written so, with numbers below 2^63, and no beginning of it is a record.
#![no_main]

use imid_fuzz::{Change, changed};
use imid_lease_protocol::record::{LaneRecord, MetaRecord, Name};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    version: u64,
    token: u64,
    name: &'a str,
    numbers: [u64; 2],
    space: u128,
    bits: u32,
    kind: u8,
    changes: [Change<'a>; 2],
}

fuzz_target!(|input: Input| {
    let Input { token, bits, .. } = input;
    // Numbers are below 2^63. Some inputs may have greater ones.
    let numbers =
        [input.version, input.numbers[0], input.numbers[1]].map(|number| number >> u8::from(input.kind < 0xF0));
    let are_valid = numbers.iter().all(|number| *number < 1 << 63);
    let [version, first, second] = numbers;
    let holder = if Name::parse(input.name).is_ok() { input.name } else { "web-3" };
    let state = ["held", "free", "closed"][usize::from(input.kind) % 3];
    let lane = format!(
        "imid-lease/1 lane version={version} token={token:016x} holder={holder} horizon={first} ceiling={second} {state}"
    );
    let digits = format!("{:032x}", input.space);
    let space = [0..8, 8..12, 12..16, 16..20, 20..32].map(|range| &digits[range]).join("-");
    let meta = format!(
        "imid-lease/1 meta version={version} token={token:016x} layout=imid-80 bits={bits} era={first} floor={second} space={space}"
    );
    assert_eq!(LaneRecord::parse(&lane).is_ok_and(|record| record.to_string() == lane), are_valid, "{lane}");
    assert_eq!(MetaRecord::parse(&meta).is_ok_and(|record| record.to_string() == meta), are_valid, "{meta}");
    for text in [&lane, &meta] {
        for end in 0..text.len() {
            assert!(!is_record(&text[..end]), "{}", &text[..end]);
        }
        if let Ok(text) = str::from_utf8(&changed(text.as_bytes(), &input.changes)) {
            is_record(text);
        }
    }
    is_record(input.name);
});

/// Returns whether a text is a record. What is read is written as it was.
fn is_record(text: &str) -> bool {
    let lane = LaneRecord::parse(text).inspect(|record| assert_eq!(record.to_string(), text));
    let meta = MetaRecord::parse(text).inspect(|record| assert_eq!(record.to_string(), text));
    assert!(lane.is_err() || meta.is_err(), "{text}");
    lane.is_ok() || meta.is_ok()
}
