//! Law: what a person pastes is read or refused, and what is found in it says where it is.
#![no_main]

use imid_inspect::{Found, Pasted, STANDARD, identify, identify_text, read, read_declared, scan};
use libfuzzer_sys::fuzz_target;

const NOW_MS: u64 = 1_795_204_812_345;

fuzz_target!(|text: &str| {
    for read in identify(text, NOW_MS) {
        let _ = read.id.fit(NOW_MS);
    }
    let _ = identify_text(text, NOW_MS);
    let scan = scan(text, NOW_MS);
    let in_order = |found: &[Found]| {
        let mut end = 0;
        for Found { at, .. } in found {
            assert!(end <= at.start && at.start < at.end && text.get(at.clone()).is_some());
            end = at.end;
        }
    };
    in_order(&scan.ids);
    in_order(&scan.others);
    match read(text, NOW_MS) {
        Ok(Pasted::One(readings)) => assert!(!readings.is_empty()),
        Ok(Pasted::Text(scan)) => assert!(!scan.ids.is_empty()),
        Err(error) => assert!(!error.error.to_string().is_empty()),
    }
    if let Err(error) = read_declared(STANDARD, text, None, NOW_MS) {
        assert!(!error.error.to_string().is_empty());
    }
});
