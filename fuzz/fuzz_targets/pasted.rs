//! Law: what a person pastes is read or refused, and what is found in it says where it is.
#![no_main]

use imid_inspect::{CutOff, STANDARD, identify, identify_near, identify_text, read_pasted, scan};
use libfuzzer_sys::fuzz_target;

const NOW_MS: u64 = 1_795_204_812_345;

fuzz_target!(|text: &str| {
    for read in identify(text, NOW_MS) {
        let _ = read.id.fit(NOW_MS);
    }
    let (_, _) = (identify_text(text, NOW_MS), identify_near(text, NOW_MS, NOW_MS));
    let mut end = 0;
    for found in scan(text, NOW_MS) {
        assert!(end <= found.at.start && found.at.start < found.at.end && text.get(found.at.clone()).is_some());
        end = found.at.end;
    }
    if let Err(error) = read_pasted(STANDARD, text, None, NOW_MS) {
        assert!(!error.error.to_string().is_empty());
    }
    let _ = CutOff::read(text, NOW_MS);
});
