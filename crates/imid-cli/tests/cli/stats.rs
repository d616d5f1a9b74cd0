use imid::{IdParts, MessageId, SessionTag, SessionType};
use serde_json::{Value, json};

use crate::{imid, imid_args};

const NOON: u64 = 1_763_640_000_000;

fn id(ms: u64, session_type: SessionType, name: &str) -> String {
    let session = SessionTag::new(session_type, name);
    MessageId::try_from_parts(IdParts { timestamp_ms: NOON + ms, spin: 7, session }).unwrap().to_string()
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

fn hash(name: &str) -> u32 {
    SessionTag::new(SessionType::default(), name).session_hash().to_u32()
}

#[test]
fn the_summary_has_types_sessions_rates_and_leads() {
    let run = imid("stats --json --time-field at", sample());
    assert_eq!((run.status, run.err.lines().count()), (1, 1));
    let mut found: Value = serde_json::from_str(&run.out).unwrap();
    let rates: Vec<_> =
        found["rates"].take().as_array().unwrap().iter().map(|rate| rate["ids_per_second"].as_f64().unwrap()).collect();
    assert_eq!(rates, [3.0, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    let expected = json!({
        "lines": 9, "valid": 7, "invalid": 1, "blank": 1,
        "first_time": "2025-11-20T12:00:00.000Z", "last_time": "2025-11-20T12:00:09.999Z",
        "ahead": { "ids": 7, "ahead": 2, "largest_ms": 1_000, "share": 2.0 / 7.0 },
        "types": [
            { "type": 1, "type_name": "PRIVATE", "ids": 2 },
            { "type": 3, "type_name": "GROUP", "ids": 5 },
        ],
        "busiest": [
            { "type": 3, "type_name": "GROUP", "hash": hash("a"), "ids": 5 },
            { "type": 1, "type_name": "PRIVATE", "hash": hash("b"), "ids": 2 },
        ],
        "busiest_max_error": 0,
        "rate_seconds": 1,
        "rates": null,
    });
    assert_eq!(found, expected);
}

#[test]
fn the_summary_for_people_has_a_chart() {
    let sample = sample().replace("x\n", "");
    let run = |utf8: bool| {
        let mut command = crate::command();
        command.env("LC_ALL", if utf8 { "C.UTF-8" } else { "C" }).args(["stats", "--time-field", "at", "--top", "1"]);
        String::from_utf8(command.write_stdin(sample.as_str()).output().unwrap().stdout).unwrap()
    };
    let expected = format!(
        "\
lines       8
valid       7
invalid     0
blank       1
first time  2025-11-20T12:00:00.000Z
last time   2025-11-20T12:00:09.999Z
ahead       2 of 7 (28.57 %), by at most 1000 ms

IDs by session type
           2   28.57 %  1 PRIVATE
           5   71.43 %  3 GROUP

Busiest sessions, of 2
           5   71.43 %  type 3 GROUP, hash {}

IDs per second, 1 s per column
         3.0  █  █
              █  █
              █  █
              █  █     ▅
              █  █     █
              most: 3.0 in the 1 s from 2025-11-20T12:00:00.000Z
",
        hash("a")
    );
    assert_eq!(run(true), expected);
    assert!(run(false).is_ascii() && run(false).contains("\n              #  #     #\n"));
}

#[test]
fn texts_and_snowflakes_have_stats_too() {
    let texts = format!("{}\n{}\r\n", id(0, SessionType::GROUP, "a"), id(1, SessionType::GROUP, "b"));
    let found: Value = serde_json::from_str(&imid("stats --json", texts.as_str()).ok()).unwrap();
    assert_eq!((&found["valid"], found["busiest"].as_array().unwrap().len()), (&json!(2), 2));
    let error = imid("stats --json --time-field at", texts.as_str()).err;
    let expected = format!("error: line 1: expected a JSON object with the field \"at\", found {:?}\n", &texts[..19]);
    assert!(error.starts_with(&expected), "{error}");

    // An error shows a value as it is in the line.
    for value in ["null", "\"null\"", "1.5"] {
        let line = format!("{{\"id\":\"2222-2222-2222-2222\",\"at\":{value}}}\n");
        let error = imid("stats --time-field at", line).err;
        assert!(error.trim_end().ends_with(&format!(", found {value}")), "{error}");
    }

    let ids = imid("new --dialect leaf --node 35 -n 5", "").ok();
    let found: Value = serde_json::from_str(&imid("stats --json --dialect leaf", ids).ok()).unwrap();
    assert_eq!((&found["busiest"], &found["types"]), (&json!([{ "node": 35, "ids": 5 }]), &json!([])));
    let empty: Value = serde_json::from_str(&imid("stats --json", "").ok()).unwrap();
    assert_eq!((&empty["lines"], &empty["rates"]), (&json!(0), &json!([])));
}

#[test]
fn the_plot_is_an_svg_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rate.svg");
    let run = imid_args(&["stats", "--plot", path.to_str().unwrap()], sample().replace("x\n", ""));
    assert_eq!(run.status, 0, "{}", run.err);
    let svg = std::fs::read_to_string(&path).unwrap();
    assert!(svg.starts_with("<!-- imid stats -->\n<svg ") && svg.trim_end().ends_with("</svg>"));
    assert!(svg.contains("IDs per second (1 s per point)") && svg.contains("2025-11-20 12:00:0"), "{svg}");
    // The line has two points for each of the 10 seconds.
    let lines = svg.split("points=\"").skip(1).map(|line| line.split('"').next().unwrap());
    let most = lines.map(|points| points.split_whitespace().count()).max();
    assert_eq!(most, Some(20));

    // It replaces its own file, but no other one.
    let own = path.to_str().unwrap();
    assert_eq!(imid_args(&["stats", "--plot", own], "").status, 0);
    let input = folder.path().join("in.svg");
    let lines = sample().replace("x\n", "");
    std::fs::write(&input, &lines).unwrap();
    let name = input.to_str().unwrap();
    let error = imid_args(&["stats", "--plot", name, name], "").error(1);
    assert_eq!(error, format!("{name:?} exists, and this command did not write it"));
    assert_eq!(std::fs::read_to_string(&input).unwrap(), lines);
    let error = imid("stats --plot in.jsonl in.jsonl", "").error(2);
    assert_eq!(error, "--plot: expected a name that ends in .svg, found \"in.jsonl\"");

    let error = imid("stats --plot no/such/folder/x.svg", "").error(1);
    assert!(error.starts_with("cannot write \"no/such/folder/x.svg\": "), "{error}");
}

#[test]
fn csv_gives_the_numbers_of_json_lines() {
    let rows = sample();
    let rows = rows.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let rows = rows.map(|row| format!("\"a, b\",{},{}", row["at"], row["id"].as_str().unwrap()));
    let csv = rows.chain(["x,1,no\n".to_owned()]).collect::<Vec<_>>().join("\n");
    let run = imid("stats --in csv --json --time-field at", format!("text,at,id\n{csv}"));
    let mut lines: Value = serde_json::from_str(&imid("stats --json --time-field at", sample()).out).unwrap();
    (lines["lines"], lines["blank"]) = (8.into(), 0.into());
    assert_eq!(serde_json::from_str::<Value>(&run.out).unwrap(), lines);
    assert_eq!(
        run.err,
        "error: line 9: \"no\" is not an ID: expected a digit 2-9 or A-Z without I and O, found 'o' at 1\n"
    );
    let wrong =
        imid("stats --in csv --json --time-field at", format!("at,id\nlate,{}\n", id(1, SessionType::GROUP, "a")));
    assert!(wrong.err.starts_with("error: line 2: field \"at\": expected "), "{}", wrong.err);
    let error = imid("stats --in csv --time-field at", "id\n").error(1);
    assert_eq!(error, "line 1: field \"at\" is missing in the header");
}
