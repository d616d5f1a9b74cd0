//! Files that databases wrote: `ci/exports.sh --write` makes them, and compares whole ones with what the databases read back.

use std::fs;
use std::path::{Path, PathBuf};

use imid::{MessageId, SessionTag, SessionType};
use serde_json::Value;

use super::imid;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/exports")
}

/// Returns the rooms and times of the rows, which are the same in all files.
fn rows() -> Vec<(Option<String>, u64)> {
    let rows = fs::read_to_string(folder().join("rows.jsonl")).unwrap();
    let row = |line| {
        let row: Value = serde_json::from_str(line).unwrap();
        (row["room"].as_str().map(str::to_owned), row["at"].as_u64().unwrap())
    };
    rows.lines().map(row).collect()
}

#[test]
fn each_row_of_a_database_gets_the_id_of_its_room_and_no_byte_changes() {
    let (rows, mut files) = (rows(), 0);
    let missing = rows.iter().filter(|(room, _)| room.is_none()).count();
    assert!(rows.len() > 60 && missing > 2);
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let (kind, before) = match path.extension().unwrap().to_str().unwrap() {
            "tsv" => ("tsv", "\t"),
            "csv" => ("csv", ","),
            _ => ("lines", ",\"id\":\""),
        };
        let input = fs::read_to_string(&path).unwrap();
        let args = format!("tag --in {kind} --type group --session-field room --time-field at --seed 1 --keep-going");
        let run = imid(&args, input.as_str());
        let reported = run.err.lines().filter(|line| line.starts_with("error: line ")).count();
        assert_eq!((run.status, reported), (1, missing), "{}: {}", path.display(), run.err);

        // Cut out what was added. The rest is the input without the rows that are reported.
        let (mut kept, mut rest, mut written) = (String::new(), run.out.as_str(), 0);
        for (room, ms) in rows.iter().filter_map(|(room, ms)| Some((room.as_ref()?, *ms))) {
            let session = SessionTag::new(SessionType::GROUP, room);
            let is_added = |at: &usize| {
                let id = rest[at + before.len()..].get(..19).and_then(|id| id.parse::<MessageId>().ok());
                id.is_some_and(|id| id.timestamp_ms() == ms && id.session_tag() == session)
            };
            let at = rest.match_indices(before).map(|(at, _)| at).find(is_added);
            let at = at.unwrap_or_else(|| panic!("{}: no ID of {room:?} at {ms}", path.display()));
            kept += &rest[..at];
            rest = &rest[at + before.len() + 19 + usize::from(kind == "lines")..];
            written += 1;
        }
        kept += rest;
        assert_eq!(written, rows.len() - missing);
        let (mut input, mut kept) = (input.split_inclusive('\n'), kept.replacen(&format!("{before}id"), "", 1));
        let left_out = input
            .by_ref()
            .filter(|line| {
                !kept.starts_with(*line) || {
                    kept.drain(..line.len());
                    false
                }
            })
            .count();
        assert!(kept.is_empty() && left_out >= missing, "{}: {kept:?}", path.display());
        files += 1;
    }
    assert_eq!(files, 14);
}
