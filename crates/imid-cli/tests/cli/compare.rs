//! `imid compare`.

use serde_json::Value;

use crate::{command, imid};

/// Two IDs of different sessions.
const FIRST: &str = "EUN6-KDW2-5J2G-DUMH";
const OTHER: &str = "EMAQ-2948-WCRV-T3DD";

#[test]
fn the_table_is_sorted_by_time_with_differences_and_now() {
    let out = imid(&format!("compare {FIRST} ZZZZ-ZZZZ-ZZZZ-ZZZZ {OTHER} {FIRST}"), "").ok();
    let lines: Vec<_> = out.lines().collect();
    assert_eq!(lines[0], "3  EMAQ-2948-WCRV-T3DD  A   2024-11-19T17:37:45.755Z");
    assert_eq!(lines[1], "1  EUN6-KDW2-5J2G-DUMH  B   2025-11-20T12:00:00.000Z  +365d 18h 22m 14s");
    assert_eq!(lines[2], "4  EUN6-KDW2-5J2G-DUMH  B   2025-11-20T12:00:00.000Z  equal to the ID before it");
    assert!(lines[3].starts_with("   now                      20") && lines[3].contains("Z  +"), "{out}");
    assert!(lines[4].starts_with("2  ZZZZ-ZZZZ-ZZZZ-ZZZZ  C   2109-05-15T07:35:11.103Z  +"), "{out}");
    let expected = "

span    30856d 13h 57m 25s
order   the input is not strictly increasing
session A: type 14, hash 3966315
session B: type 3 GROUP, hash 2484847
session C: type 15, hash 4194303
";
    assert!(out.ends_with(&expected[1..]), "{out}");
}

#[test]
fn the_table_says_whether_ids_have_one_session_and_are_in_order() {
    let ids = imid("new -n 3 --type group --session room-42", "").ok();
    let out = imid("compare", ids.as_str()).ok();
    assert!(out.contains("order   the input is strictly increasing\n"), "{out}");
    assert!(out.ends_with("session A: type 3 GROUP, hash 3966315; all IDs have it\n"), "{out}");
    // `now` is at the end, or in front of an ID that is a moment ahead.
    assert_eq!(out.lines().filter(|line| line.contains("now")).count(), 1);
}

#[test]
fn json_has_the_values_of_the_table() {
    let value: Value = serde_json::from_str(&imid(&format!("compare --json {FIRST} {OTHER}"), "").ok()).unwrap();
    assert_eq!((value["increasing"].as_bool(), value["same_session"].as_bool()), (Some(false), Some(false)));
    assert_eq!(value["span_ms"], 31_602_134_245_u64);
    let [first, second] = [&value["ids"][0], &value["ids"][1]];
    assert_eq!((first["number"].as_u64(), first["id"].as_str()), (Some(2), Some(OTHER)));
    assert_eq!(
        (first["since_previous_ms"].as_u64(), second["since_previous_ms"].as_u64()),
        (None, Some(31_602_134_245))
    );
    assert_eq!((second["type"].as_u64(), second["hash"].as_u64()), (Some(3), Some(2_484_847)));

    let leaf = imid("compare --json --dialect leaf 1169786042799259000 1169786042811841900", "").ok();
    let value: Value = serde_json::from_str(&leaf).unwrap();
    assert!(value["same_session"].is_null() && value["ids"][0]["type"].is_null(), "{leaf}");
    assert_eq!((value["increasing"].as_bool(), value["span_ms"].as_u64()), (Some(true), Some(3)));
}

#[test]
fn a_narrow_terminal_gets_two_lines_per_id() {
    let run = command().env("COLUMNS", "60").args(["compare", FIRST, OTHER]).output().unwrap();
    let out = String::from_utf8(run.stdout).unwrap();
    assert!(
        out.starts_with("2  EMAQ-2948-WCRV-T3DD  A\n   2024-11-19T17:37:45.755Z\n1  EUN6-KDW2-5J2G-DUMH  B\n"),
        "{out}"
    );
    assert!(out.lines().all(|line| line.chars().count() <= 60), "{out}");
}

#[test]
fn more_than_a_million_ids_are_an_error() {
    let ids = "2222-2222-2222-2222\n".repeat(1_000_001);
    assert_eq!(imid("compare --json", ids).error(1), "line 1000001: expected at most 1000000 IDs, found more");
}

#[test]
fn a_bad_id_or_none_is_an_error() {
    assert_eq!(imid("compare", "\n").error(1), "expected at least one ID, found none");
    assert!(imid(&format!("compare {FIRST} x"), "").error(1).starts_with("argument 2: \"x\" is not an ID: "));
    assert!(imid("compare", format!("{FIRST}\n\nx\n")).error(1).starts_with("line 3: \"x\" is not an ID: "));
}
