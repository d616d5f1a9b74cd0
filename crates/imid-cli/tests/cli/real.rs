//! A real chat log, tagged and read back.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use imid::{MessageId, SessionTag, SessionType};
use imid_inspect::time::duration;
use serde_json::Value;

use crate::{imid, skip};

/// Returns the lines of the log, or `None` where it is not there.
fn chat(test: &str) -> Option<String> {
    let log = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/chat.jsonl.gz");
    let file = match File::open(&log) {
        Ok(file) => file,
        Err(error) => {
            skip(test, format_args!("../shared/data/chat.jsonl.gz: {error}"));
            return None;
        }
    };
    let mut lines = String::new();
    GzDecoder::new(file).read_to_string(&mut lines).unwrap();
    Some(lines)
}

#[test]
fn a_real_chat_log_is_tagged_in_order_and_reads_back() {
    let Some(lines) = chat("a_real_chat_log_is_tagged_in_order_and_reads_back") else { return };
    let run = imid("tag --type group --session-field topic --time-field time_ms", lines.as_str());
    assert_eq!(run.status, 0, "{}", run.err);
    let (tagged, summary) = run.err.split_once("; ").unwrap();
    assert!(tagged.starts_with("tagged 49774 lines, from "), "{}", run.err);

    let (mut texts, mut moved, mut largest) = (Vec::new(), 0, 0);
    for (line, tagged) in lines.lines().zip(run.out.lines()) {
        let (start, rest) = tagged.split_at(line.len() - 1);
        let text = &rest[",\"id\":\"".len()..][..MessageId::TEXT_LEN];
        assert_eq!(format!("{start}}}"), line);
        assert_eq!(rest, format!(",\"id\":\"{text}\"}}"));

        let message: Value = serde_json::from_str(line).unwrap();
        let id: MessageId = text.parse().unwrap();
        assert!(id.is_in(SessionTag::new(SessionType::GROUP, message["topic"].as_str().unwrap())));
        let shift = id.timestamp_ms().checked_sub(message["time_ms"].as_u64().unwrap()).unwrap();
        (moved, largest) = (moved + u64::from(shift > 0), largest.max(shift));
        texts.push(text);
    }
    let ids = if moved == 1 { "ID" } else { "IDs" };
    let expected = format!("{moved} {ids} moved forward, by at most {}, to the time of line ", duration(largest));
    let is_expected = if moved == 0 { summary == "no ID moved forward\n" } else { summary.starts_with(&expected) };
    assert!(is_expected, "{summary}, {moved}");
    assert_eq!(texts.len(), 49_774);
    assert!(texts.is_sorted_by(|a, b| a.as_bytes() < b.as_bytes()));
    assert_eq!(texts.iter().collect::<HashSet<_>>().len(), texts.len());

    let check = imid("check --json", run.out).ok();
    assert!(check.starts_with(r#"{"lines":49774,"valid":49774,"invalid":0,"blank":0,"equal":0,"lower":0,"#), "{check}");
}
