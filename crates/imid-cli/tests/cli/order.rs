//! The table of `imid inspect` for several IDs.

use crate::{imid, imid_args};

/// Two IDs of different sessions.
const FIRST: &str = "EUN6-KDW2-5J2G-DUMH";
const OTHER: &str = "EMAQ-2948-WCRV-T3DD";

#[test]
fn the_table_is_sorted_by_time_with_differences_and_now() {
    let out = imid(&format!("inspect {FIRST} ZZZZ-ZZZZ-ZZZZ-ZZZZ {OTHER} {FIRST}"), "").ok();
    let lines: Vec<_> = out.lines().skip_while(|line| !line.starts_with("3  ")).collect();
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
    let out = imid("inspect", ids.as_str()).ok();
    assert!(out.contains("order   the input is strictly increasing\n"), "{out}");
    assert!(out.ends_with("session A: type 3 GROUP, hash 3966315; all IDs have it\n"), "{out}");
    // `now` is at the end, or in front of an ID that is a moment ahead.
    assert_eq!(out.lines().filter(|line| line.starts_with("   now ")).count(), 1);
}

/// The bits of a Snowflake are less than those of an ID of this century, whatever its time is.
#[test]
fn ids_of_several_systems_are_sorted_by_their_times() {
    // Of 2026-04-05, by the layout of Discord.
    let text = format!("{FIRST} after id=1490224372899840000 and {OTHER}");
    let out = imid_args(&["inspect", &text], "").ok();
    let lines: Vec<_> = out.lines().skip_while(|line| !line.starts_with("3  ")).take(3).collect();
    assert_eq!(lines[0], "3  EMAQ-2948-WCRV-T3DD  A   2024-11-19T17:37:45.755Z");
    assert_eq!(lines[1], "1  EUN6-KDW2-5J2G-DUMH  B   2025-11-20T12:00:00.000Z  +365d 18h 22m 14s");
    assert_eq!(lines[2], "2  1490224372899840000      2026-04-05T05:39:37.529Z  +135d 17h 39m 37s");
    let one = imid_args(&["inspect", &text.replace(OTHER, "")], "").ok();
    assert!(
        one.ends_with("order   the input is strictly increasing\nsession A: type 3 GROUP, hash 2484847\n"),
        "{one}"
    );
}

#[test]
fn the_table_is_for_people_and_for_several_ids() {
    assert!(!imid(&format!("inspect {FIRST}"), "").ok().contains("\norder "));
    assert!(!imid(&format!("inspect --json {FIRST} {OTHER}"), "").ok().contains("order"));
    let leaf = imid("inspect --dialect leaf 1169786042799259000 1169786042811841900", "").ok();
    assert!(leaf.contains("\nspan    3 ms\n") && !leaf.contains("session A"), "{leaf}");
    // With more IDs than a person reads there is none.
    let ids = imid("new -n 1001", "").ok();
    assert!(!imid("inspect", ids).ok().contains("\norder "));
}
