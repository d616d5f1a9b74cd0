use imid::{IdParts, MessageId, SessionTag, SessionType};
use imid_snowflake::Layout;
use serde_json::{Value, json};

use crate::imid;

const NOON: u64 = 1_763_640_000_000;

fn id(ms: u64, session_type: SessionType, name: &str) -> String {
    let session = SessionTag::new(session_type, name);
    MessageId::try_from_parts(IdParts { timestamp_ms: NOON + ms, spin: 7, session_tag: session }).unwrap().to_string()
}

/// Seven valid lines in mixed order, one that is invalid and one that is blank.
fn sample() -> String {
    let group = |ms, at: u64| format!("{{\"id\":\"{}\",\"at\":{}}}\n", id(ms, SessionType::GROUP, "a"), NOON + at);
    let private = |ms, at: u64| format!("{{\"id\":\"{}\",\"at\":{}}}\n", id(ms, SessionType::PRIVATE, "b"), NOON + at);
    [
        group(0, 0),
        group(3_000, 2_000),
        private(1, 1),
        group(3_001, 3_002),
        "x\n\n".into(),
        group(3_002, 3_001),
        private(9_999, 9_999),
        group(5, 5),
    ]
    .concat()
}

#[test]
fn the_summary_has_types_and_rates() {
    let run = imid("stats --json", sample());
    assert_eq!((run.status, run.err.lines().count()), (1, 1));
    let mut found: Value = serde_json::from_str(&run.out).unwrap();
    let rates: Vec<_> =
        found["rates"].take().as_array().unwrap().iter().map(|rate| rate["ids"].as_u64().unwrap()).collect();
    assert_eq!(rates, [3, 0, 0, 3, 0, 0, 0, 0, 0, 1]);
    let expected = json!({
        "lines": 9, "valid": 7, "invalid": 1, "blank": 1,
        "first_time": "2025-11-20T12:00:00.000Z", "last_time": "2025-11-20T12:00:09.999Z",
        "types": [
            { "type": 1, "type_name": "PRIVATE", "ids": 2 },
            { "type": 3, "type_name": "GROUP", "ids": 5 },
        ],
        "interval": "second",
        "rates": null,
    });
    assert_eq!(found, expected);
}

#[test]
fn the_summary_for_people_has_a_chart() {
    let sample = sample().replace("x\n", "");
    // The longest line has 74 columns.
    let (full, third) = ("#".repeat(39), "#".repeat(13));
    let expected = format!(
        "\
lines       8
valid       7
invalid     0
blank       1
first time  2025-11-20T12:00:00.000Z
last time   2025-11-20T12:00:09.999Z

IDs by session type
           2   28.57 %  1 PRIVATE
           5   71.43 %  3 GROUP

IDs per second
           3  2025-11-20 12:00:00  {full}
           0  2025-11-20 12:00:01
           0  2025-11-20 12:00:02
           3  2025-11-20 12:00:03  {full}
           0  2025-11-20 12:00:04
           0  2025-11-20 12:00:05
           0  2025-11-20 12:00:06
           0  2025-11-20 12:00:07
           0  2025-11-20 12:00:08
           1  2025-11-20 12:00:09  {third}
              most: 3 in the second from 2025-11-20 12:00:00
"
    );
    assert_eq!(imid("stats", sample).ok(), expected);
}

#[test]
fn texts_and_snowflakes_have_stats_too() {
    let texts = format!("{}\n{}\r\n", id(0, SessionType::GROUP, "a"), id(1, SessionType::GROUP, "b"));
    let found: Value = serde_json::from_str(&imid("stats --json", texts.as_str()).ok()).unwrap();
    assert_eq!((&found["valid"], &found["types"][0]["ids"]), (&json!(2), &json!(2)));

    // An error shows a value as it is in the line.
    for value in ["null", "1.5", "{}"] {
        let error = imid("stats", format!("{{\"id\":{value}}}\n")).err;
        assert!(error.trim_end().ends_with(&format!(", found {value}")), "{error}");
    }

    let leaf = |ms| Layout::LEAF.first_at(NOON + ms).unwrap().to_u64() | 35 << 12;
    let ids = [0, 1, 2, 3, 4].map(|ms| leaf(ms).to_string()).join("\n");
    let found: Value = serde_json::from_str(&imid("stats --json --dialect leaf", ids).ok()).unwrap();
    assert_eq!((&found["valid"], &found["types"]), (&json!(5), &json!([])));
    let empty: Value = serde_json::from_str(&imid("stats --json", "").ok()).unwrap();
    assert_eq!((&empty["lines"], &empty["rates"]), (&json!(0), &json!([])));
}

/// An ID each hour from 2020-03-10T12:00Z for six years.
fn six_years() -> String {
    let ids = (0..6 * 8_766).map(|hour| MessageId::first_at(1_583_841_600_000 + hour * 3_600_000).unwrap().to_string());
    ids.collect::<Vec<_>>().join("\n")
}

#[test]
fn years_of_ids_have_a_unit_and_round_intervals() {
    let out = imid("stats --per year --time-zone Europe/Berlin", six_years()).ok();
    let chart = out.split("\n\n").last().unwrap();
    // 2024 has a day more.
    let (full, part) = ("#".repeat(51), "#".repeat(42));
    let full_years = [(2021, 8_760), (2022, 8_760), (2023, 8_760), (2024, 8_784), (2025, 8_760)];
    let full_years = full_years.map(|(year, ids)| format!("{ids:>12}  {year}-01  {full}\n")).concat();
    let expected = format!(
        "\
IDs per year
        7115  2020-01  {part}
{full_years}        1657  2026-01  ##########
              most: 8784 in the year from 2024-01
"
    );
    assert_eq!(chart, expected);

    let json: Value = serde_json::from_str(&imid("stats --json --per year", six_years()).ok()).unwrap();
    let rates: Vec<_> = json["rates"].as_array().unwrap().iter().map(|rate| (&rate["time"], &rate["ids"])).collect();
    assert_eq!((rates.len(), &json["interval"]), (7, &json!("year")));
    assert_eq!(rates[0], (&json!("2020-01-01T00:00:00.000Z"), &json!(7_116)));
    assert_eq!(rates[1], (&json!("2021-01-01T00:00:00.000Z"), &json!(8_760)));
}

#[test]
fn a_range_of_times_is_counted_per_interval() {
    let args = "stats --from 2025-01-01 --to 2025-01-04 --per day";
    let out = imid(args, six_years()).ok();
    assert!(out.contains("\nvalid       52596\n") && out.contains("first time  2025-01-01T00:00:00.000Z"), "{out}");
    let chart = out.split("\n\n").last().unwrap();
    let bar = "#".repeat(48);
    let expected = format!(
        "\
IDs per day
          24  2025-01-01  {bar}
          24  2025-01-02  {bar}
          24  2025-01-03  {bar}
              most: 24 in the day from 2025-01-01
"
    );
    assert_eq!(chart, expected);
    // The shares are of the IDs of these times.
    assert!(out.contains("\n          72  100.00 %  0\n"), "{out}");
    let times = "--from 2025-01-01T00:00:00Z --to 2025-01-04T00:00:00Z";
    let out = imid(&format!("stats {times} --per day --time-zone Asia/Shanghai"), six_years()).ok();
    assert!(out.contains("          16  2025-01-01  #") && out.contains("           8  2025-01-04  #"), "{out}");
    let out = imid(&format!("{args} --time-zone Asia/Shanghai"), six_years()).ok();
    assert!(
        out.contains("          24  2025-01-01  #") && out.contains("first time  2025-01-01T00:00:00.000+08:00"),
        "{out}"
    );
    let error = imid("stats --from 2025-01-02 --to 2025-01-01", "").error(2);
    assert!(error.starts_with("expected --from before --to, "), "{error}");
}

#[test]
fn csv_gives_the_numbers_of_json_lines() {
    let rows = sample();
    let rows = rows.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let rows = rows.map(|row| format!("\"a, b\",{},{}", row["at"], row["id"].as_str().unwrap()));
    let csv = rows.chain(["x,1,no\n".to_owned()]).collect::<Vec<_>>().join("\n");
    let run = imid("stats --in csv --json", format!("text,at,id\n{csv}"));
    let mut lines: Value = serde_json::from_str(&imid("stats --json", sample()).out).unwrap();
    (lines["lines"], lines["blank"]) = (8.into(), 0.into());
    assert_eq!(serde_json::from_str::<Value>(&run.out).unwrap(), lines);
    assert_eq!(
        run.err,
        "error: line 9: \"no\" is not an ID: expected a digit 2-9 or A-Z without I and O, found 'o' at 1\n"
    );
    let error = imid("stats --in csv", "at\n").error(1);
    assert_eq!(error, "line 1: field \"id\" is missing in the header, which has \"at\"");
}

#[test]
fn several_files_are_counted_together() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let lines = imid("new --type group --session a -n 5", "").ok() + &imid("new --session b -n 4", "").ok();
    let (first, second) = lines.split_at(60);
    std::fs::write(path("a"), first).unwrap();
    std::fs::write(path("b.csv"), format!("id\n{second}")).unwrap();
    let ran = crate::imid_args(&["stats", "--json", &path("a"), &path("b.csv")], "");
    assert_eq!(ran.ok(), imid("stats --json", lines).ok());
    std::fs::write(path("b.csv"), "id\nx\n").unwrap();
    let ran = crate::imid_args(&["stats", "--json", &path("a"), &path("b.csv")], "");
    assert!(ran.error_line().contains("b.csv:2: \"x\" is not an ID: "), "{}", ran.err);
}

#[test]
fn a_date_is_a_day_of_the_time_zone() {
    // 16:00 UTC is midnight in Shanghai, and 23:00 UTC in Berlin.
    let ids: String = [-1, 0, 86_399_999, 86_400_000]
        .iter()
        .map(|ms| MessageId::first_at((1_763_568_000_000_i64 + ms).cast_unsigned()).unwrap().to_string() + "\n")
        .collect();
    let times = |zone: &str| {
        let args = format!("stats --json --from 2025-11-20 --to 2025-11-21 {zone}");
        let json: serde_json::Value = serde_json::from_str(&imid(&args, ids.as_str()).ok()).unwrap();
        [json["first_time"].clone(), json["last_time"].clone()]
    };
    assert_eq!(times("--time-zone Asia/Shanghai"), ["2025-11-19T16:00:00.000Z", "2025-11-20T15:59:59.999Z"]);
    assert_eq!(times(""), ["2025-11-20T15:59:59.999Z", "2025-11-20T16:00:00.000Z"]);
    let error = imid("stats --from 2025-11-21 --to 2025-11-20 --time-zone Asia/Shanghai", "").error(2);
    assert_eq!(
        error,
        "expected --from before --to, found 2025-11-21T00:00:00.000+08:00 and 2025-11-20T00:00:00.000+08:00"
    );
}

#[test]
fn the_chart_of_odd_data_says_what_it_is() {
    let drawn = |input: &str| imid("stats", input).ok();
    let tag = |times: &[u64]| {
        let lines = times.iter().map(|t| format!("{{\"s\":1,\"t\":{t}}}\n")).collect::<Vec<_>>().concat();
        imid("tag --session-field s --time-field t", lines).out
    };
    // Nothing.
    let out = drawn("\n");
    assert!(!out.contains("IDs per "), "{out}");
    // One second.
    let out = drawn(&tag(&[1_763_640_000_000; 50]));
    assert!(out.contains("IDs per second") && out.contains("most: 50 in the second"), "{out}");
    // A minute after a gap of 20 years.
    let minute: Vec<_> = (0..120).map(|n| 1_763_640_000_000 + n * 500).collect();
    let out = drawn(&tag(&[&[1_104_537_600_000][..], &minute].concat()));
    assert!(out.ends_with("most: 120 in the year from 2025-01\n"), "{out}");
}
