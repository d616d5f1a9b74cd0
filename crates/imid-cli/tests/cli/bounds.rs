//! The command `range`, and the shard of `inspect`.

use std::num::NonZeroU32;

use imid::{IdParts, MessageId, SessionTag, SessionType};

use crate::{ids, imid, imid_args};

#[test]
fn a_range_is_half_open_in_both_forms_of_time() {
    let expected = "EMA8-W2J2-2222-2222\nEMAV-H89Z-ZZZZ-ZZZZ\n";
    assert_eq!(imid("range --from 2024-11-19T00:00:00Z --to 2024-11-20T01:00:00+01:00", "").ok(), expected);
    assert_eq!(imid("range --from 1731974400000 --to 1732060800000", "").ok(), expected);
    let ids = MessageId::range(1_731_974_400_000..1_732_060_800_000).unwrap();
    assert_eq!(expected, format!("{}\n{}\n", ids.start(), ids.end()));
}

#[test]
fn a_range_can_have_all_times() {
    assert_eq!(
        imid("range --from 0 --to 4398046511104 --json", "").ok(),
        concat!(
            r#"{"first":"2222-2222-2222-2222","last":"ZZZZ-ZZZZ-ZZZZ-ZZZZ","from_ms":0,"to_ms":4398046511104,"#,
            r#""first_hex":"00000000000000000000","last_hex":"ffffffffffffffffffff","#,
            r#""first_uuid":"00000000-0000-7000-8000-000fffffffff","last_uuid":"03ffffff-ffff-7fff-bfff-ffffffffffff"}"#,
            "\n"
        )
    );
}

#[test]
fn a_range_without_a_millisecond_or_with_a_wrong_time_is_an_error() {
    let error = |from: &str, to: &str| imid(&format!("range --from {from} --to {to}"), "").error(2);
    let expected = "expected --from before --to, found 1970-01-01T00:00:00.005Z and 1970-01-01T00:00:00.005Z";
    assert_eq!(error("5", "5"), expected);
    assert_eq!(error("6", "5"), expected.replacen("005Z", "006Z", 1));
    for number in ["9999999999999999", "4398046511105", "18446744073709551615", "99999999999s"] {
        let expected = format!("expected a time up to 2109-05-15T07:35:11.103Z, found {number:?}");
        assert!(error(number, "5").ends_with(&expected) && error("0", number).ends_with(&expected), "{number}");
    }
    assert!(error("1969-12-31T23:59:59.9999Z", "5").contains("expected a time in 1970 or later"));
    assert!(error("2016-12-31T23:59:60Z", "5").contains("expected a second from 00 to 59"));
    for (wrong, expected) in [
        ("tomorrow", "a time such as 2025-11-20 12:00, "),
        ("1e-3", "a time such as 2025-11-20 12:00, "),
        ("11/19/2024", "a time such as 2025-11-20 12:00, "),
        ("2024-11-19T00:00:00", "a time with its zone, such as 2024-11-19T17:37:45Z (or give --time-zone), "),
        ("2024-11-19T17Z", "a time such as 2025-11-20 12:00, "),
        ("20241119T000000Z", "a time such as 2025-11-20 12:00, "),
        ("-5", "a duration from now such as -1h or +90m"),
        ("2024-02-30", "a date such as 2025-11-20"),
        ("99999999999999999999", "a time up to 2109-05-15T07:35:11.103Z"),
        ("9999-12-31T23:59:59Z", "a time up to 2109-05-15T07:35:11.103Z"),
        ("2109-05-16", "a time up to 2109-05-15T07:35:11.103Z"),
    ] {
        let error = error(wrong, "5");
        assert!(error.contains(&format!("expected {expected}")), "{error}");
        assert!(error.ends_with(&format!("found {wrong:?}")), "{error}");
    }
}

#[test]
fn a_range_can_have_dates_and_durations() {
    let day = imid("range --from 2024-11-19 --to 2024-11-20", "").ok();
    assert_eq!(day, imid("range --from 1731974400000 --to 1732060800000", "").ok());
    let now = ids(&imid("new", "").ok())[0];
    let hour = ids(&imid("range --from -1h --to +1h", "").ok());
    assert!(hour[0] < now && now < hour[1] && hour[1].timestamp_ms() - hour[0].timestamp_ms() < 7_200_100);

    // Both times are of the same moment.
    for (from, to) in [("-1h", "now"), ("now", "+1h")] {
        let range = imid(&format!("range --from {from} --to {to} --json"), "").ok();
        let range: serde_json::Value = serde_json::from_str(&range).unwrap();
        assert_eq!(range["to_ms"].as_u64().unwrap() - range["from_ms"].as_u64().unwrap(), 3_600_000);
    }
    assert!(imid("range --from now --to now", "").error(2).starts_with("expected --from before --to"));

    // A number is milliseconds, and one that looks like seconds is refused.
    let error = imid("range --from 1731974400 --to now", "").error(2);
    assert_eq!(error, "--from: expected Unix milliseconds, found 1731974400; for Unix seconds, write 1731974400s");
    assert_eq!(imid("range --from 1731974400s --to 1732060800s", "").ok(), day);
}

#[test]
fn a_range_can_be_a_day() {
    let day = imid("range --from 2024-11-19 --to 2024-11-20", "").ok();
    assert_eq!(imid("range --day 2024-11-19", "").ok(), day);
    // A day of 25 hours.
    let local = imid("range --day 2025-10-26 --time-zone Europe/Berlin", "").ok();
    assert_eq!(local, imid("range --from 2025-10-25T22:00Z --to 2025-10-26T23:00Z", "").ok());
    let fixed = imid("range --day 2025-10-26 --time-zone -03:30", "").ok();
    assert_eq!(fixed, imid("range --from 2025-10-26T03:30Z --to 2025-10-27T03:30Z", "").ok());
    for zone in ["UTC", "Asia/Tokyo", "-11:00"] {
        // Midnight can pass between two runs.
        let is_equal = || {
            let days = ["--day yesterday", "--from yesterday --to today"];
            let [day, times] = days.map(|times| imid(&format!("range {times} --time-zone {zone}"), "").ok());
            day == times
        };
        assert!(is_equal() || is_equal(), "{zone}");
    }
    let last = ids(&imid("range --day today", "").ok())[1];
    assert!(last > ids(&imid("new", "").ok())[0]);
    let error = imid("range --from 2024-11-19 --to 2024-11-19", "").error(2);
    assert!(error.ends_with("; a date is its first millisecond, so the day ends before --to 2024-11-20"), "{error}");
    for args in ["--day 2024-11-19 --to 2024-11-20", "--day 19.11.2024", "--day 2024-11-31", "--from 2024-11-19", ""] {
        assert_eq!(imid(&format!("range {args}"), "").status, 2, "{args}");
    }
}

#[test]
fn a_range_has_all_ids_that_begin_with_a_text() {
    for (dialect, id) in [
        ("standard", "EUNC-Q8QJ-22GH-T3DD"),
        ("rongcloud", "BUFE-A62U-32C4-01I2"),
        ("rongcloud-v1", "5DO1-7OBR-12LJ-ECGG"),
        ("juggleim", "nwyk4bdfmb3gqd8k"),
    ] {
        let hex = |text: &str| imid(&format!("inspect --format hex --dialect {dialect} {text}"), "").ok();
        for len in 1..=id.len() {
            let run = imid(&format!("range --prefix {} --format hex --dialect {dialect}", &id[..len]), "").ok();
            let (first, last) = run.trim_end().split_once('\n').unwrap();
            let [first, whole, last] =
                [first, hex(id).trim_end(), last].map(|hex| u128::from_str_radix(hex, 16).unwrap());
            let bits = 80 - 5 * id[..len].replace('-', "").len();
            assert_eq!((first, last), (whole >> bits << bits, whole | ((1 << bits) - 1)), "{dialect} {}", &id[..len]);
        }
    }
    let expected = "EUNC-Q8QJ-22G2-2222\nEUNC-Q8QJ-22GZ-ZZZZ\n";
    for text in ["EUNC-Q8QJ-22G", "eunc-q8qj-22g\u{2026}", "EUNCQ8QJ22G...", "EUNC-Q8QJ-22G*"] {
        assert_eq!(imid_args(&["range", "--prefix", text], "").ok(), expected, "{text}");
    }
    let json = imid("range --prefix EUNC-Q8QJ --json", "").ok();
    assert!(json.contains(r#""from_ms":1763665800000,"to_ms":1763665800004,"#), "{json}");
    let error = |args: &str| imid(&format!("range --prefix {args}"), "").error(2);
    assert_eq!(
        error("EUNO"),
        "--prefix: \"EUNO\" is not the beginning of an ID: expected a digit 2-9 or A-Z without I and O, found 'O' at 3"
    );
    for (text, expected) in [("EUNC-Q80J", "found '0' at 7"), ("EUN-CQ8Q", "found '-' at 3")] {
        assert!(error(text).ends_with(&format!("expected a digit 2-9 or A-Z without I and O, {expected}")), "{text}");
    }
    assert_eq!(
        error("EUNC-Q8QJ-22GH-T3DDX"),
        "--prefix: expected 1 to 16 digits of an ID, found \"EUNC-Q8QJ-22GH-T3DDX\""
    );
    assert_eq!(
        imid_args(&["range", "--prefix=..."], "").error(2),
        "--prefix: expected 1 to 16 digits of an ID, found \"...\""
    );
    assert!(error("2046 --dialect twitter").starts_with("--prefix works only with 80-bit IDs"));
}

#[test]
fn a_range_has_the_ids_of_a_dialect_or_a_layout() {
    let range = |args: &str| imid(&format!("range --from 2025-11-20T12:00Z --to 2025-11-20T13:00Z {args}"), "");
    let standard = imid("range --from 2025-11-20T12:00Z --to 2025-11-20T13:00Z --format hex", "").ok();
    for dialect in ["standard", "rongcloud", "rongcloud-v1", "juggleim", "discord", "twitter", "nsq"] {
        let hex = range(&format!("--dialect {dialect} --format hex")).ok();
        assert_eq!(hex == standard, !["rongcloud-v1", "discord", "twitter", "nsq"].contains(&dialect), "{dialect}");
        let first = hex.lines().next().unwrap();
        let fields = imid(&format!("inspect --json --dialect {dialect} --id-form hex {first}"), "").ok();
        let time = if dialect == "nsq" { "2025-11-20T12:00:00.00" } else { "2025-11-20T12:00:00.000Z" };
        assert!(fields.contains(time), "{dialect}: {fields}");
    }
    assert_eq!(range("--dialect discord").ok(), "1441035347558400000\n1441050447052799999\n");
    let error = range("--dialect juggleim").error(2);
    assert_eq!(error, "--dialect juggleim: its texts do not sort by time; give --format hex, int or uuid");
    assert!(range("--dialect discord --format uuid").error(2).starts_with("--format uuid: only 80-bit IDs"));
}

#[test]
fn a_range_can_end_after_the_last_time() {
    let last = imid("range --from 2109-05-15T07:35:11.103Z --to 2109-05-15T07:35:11.104Z", "").ok();
    assert!(last.ends_with("\nZZZZ-ZZZZ-ZZZZ-ZZZZ\n"), "{last}");
}

#[test]
fn a_range_can_be_written_in_each_form() {
    let range = |format: &str| imid(&format!("range --from 0 --to 1 --format {format}"), "").ok();
    assert_eq!(range("hex"), "00000000000000000000\n00000000003fffffffff\n");
    assert_eq!(range("int"), "0\n274877906943\n");
    assert_eq!(range("uuid"), "00000000-0000-7000-8000-000fffffffff\n00000000-0000-7fff-bfff-ffffffffffff\n");
}

#[test]
fn the_shard_of_an_id_is_that_of_its_session() {
    let room = SessionTag::new(SessionType::GROUP, "room-42");
    let id = MessageId::try_from_parts(IdParts { timestamp_ms: 5, spin: 6, session_tag: room }).unwrap();
    for n in [1, 2, 8, 1_000, u32::MAX] {
        let shard = format!("{}\n", room.shard(NonZeroU32::new(n).unwrap()));
        let minted = imid("new --type group --session room-42", "").ok();
        assert_eq!(imid(&format!("inspect --shards {n}"), minted).ok(), shard);
        assert_eq!(imid(&format!("inspect --shards {n} {id} {id}"), "").ok(), shard.repeat(2));
    }
}

#[test]
fn conditions_of_sql_are_printed_for_each_kind_of_column() {
    let sql = |args: &str| imid(&format!("range --day 2025-11-20 --format sql {args}"), "").ok();
    let bounds = |form: &str| imid(&format!("range --day 2025-11-20 --format {form}"), "").ok();
    let condition = |form: &str, before: &str, after: &str| {
        let bounds = bounds(form);
        let (first, last) = bounds.trim_end().split_once('\n').unwrap();
        format!("id BETWEEN {before}{first}{after} AND {before}{last}{after} -- ")
    };
    let expected = [
        condition("text", "'", "'") + "text",
        condition("hex", "'\\x", "'::bytea") + "PostgreSQL: bytea",
        condition("hex", "x'", "'") + "MariaDB, MySQL: binary(10); SQLite: blob",
        condition("hex", "unhex('", "')") + "ClickHouse: FixedString(10), DuckDB: blob",
        condition("uuid", "'", "'") + "uuid",
    ];
    assert_eq!(sql("").lines().collect::<Vec<_>>(), expected);
    // The texts of JuggleIM do not sort by time, and a Snowflake is a number.
    assert!(!sql("--dialect juggleim").contains("text"));
    let snowflakes = imid("range --day 2025-11-20 --dialect discord", "").ok();
    let expected = format!("id BETWEEN {} -- bigint\n", snowflakes.trim_end().replace('\n', " AND "));
    assert_eq!(sql("--dialect discord"), expected);
}
