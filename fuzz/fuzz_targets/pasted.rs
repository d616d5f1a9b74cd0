//! Law: what a person pastes is read or refused, and what is found in it says where it is. A time is read as it is written.
#![no_main]

use imid_inspect::{CutOff, STANDARD, identify, identify_near, identify_text, read_pasted, scan, time};
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
    if let Some(ms) = time::parse_rfc3339(text) {
        let written = time::rfc3339(ms);
        assert_eq!(time::parse_rfc3339(&written), Some(ms.min(time::LAST_MS)));
    }
});
