//! The command `risk`.

use std::fs;

use serde_json::Value;

use crate::{imid, imid_args};

fn json(args: &str, input: &str) -> Value {
    serde_json::from_str(&imid(&format!("risk --json {args}"), input).ok()).unwrap()
}

/// Returns the equal IDs a year of a mode.
fn per_year(forecast: &Value, mode: &str) -> f64 {
    let modes = forecast["modes"].as_array().unwrap();
    modes.iter().find(|it| it["mode"] == mode).unwrap()["equal_ids_per_year"].as_f64().unwrap()
}

fn near(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-6, "{found}, not {expected}");
}

#[test]
fn the_table_has_the_worst_way_first() {
    let expected = "\
hosts             8
messages          100,000 a second
sessions          1,000,000, the busiest with 100 messages a second

                  equal IDs                           a year     one a year at
any host          about once in 4.8 seconds        6,580,000              39/s
by session name   about once in 65 minutes             8,030           1,120/s
UUIDv7 instead    none expected in 10,000 years       8.4e-9   1,090,000,000/s
by session.shard  never, while one process at a time owns a shard
lanes             never, while no two live processes have one lane
imid-lease        never, while the store keeps what it acknowledges

Use imid-lease with 4 lane bits: 16 lanes for 8 hosts and those that replace
them. Each mints up to 256 IDs per millisecond and stripe.
";
    assert_eq!(imid("risk --hosts 8 --rate 100000 --rooms 1e6 --zipf 1.0 --busiest 100", "").ok(), expected);
}

#[test]
fn one_process_needs_nothing_and_many_processes_need_all_lanes() {
    let one = imid("risk --hosts 1 --rate 10", "").ok();
    assert!(one.contains("\nany host          never, while one process mints all IDs\n"), "{one}");
    assert!(one.ends_with(
        "\nOne process needs no coordination. imid-lease with a file also excludes\nrepeated IDs after a crash.\n"
    ));
    let many = imid("risk --hosts 4096 --rate 1e7", "").ok();
    assert!(many.contains("There are no more lanes: stop a host before its successor starts.\n"), "{many}");
    // 2,442 IDs per millisecond, of 4,096 lanes with one each: 4.88 stripes that are half full.
    assert!(many.ends_with("Use 5 stripes, so that each is at most half full.\n"), "{many}");
    let forecast = json("--hosts 9 --rate 1", "");
    assert_eq!(
        (&forecast["lane_bits"], &forecast["lanes"], &forecast["ids_per_ms"]),
        (&5.into(), &32.into(), &128.into())
    );
}

#[test]
fn sessions_and_bursts_change_the_numbers_as_the_formulas_say() {
    let year = 31_557_600.0;
    let any = |args: &str| per_year(&json(args, ""), "any");
    let two_hosts = 0.875 / 4_096.0 * year;
    near(any("--hosts 8 --rate 10"), 100.0 / 2.0 / 1_000.0 * two_hosts);
    // A session of 6 a second and two of 2, and pairs of two sessions.
    let (same, of_two) = ((36.0 + 4.0 + 4.0) / 2e3, (100.0 - 44.0) / 2e3 / 4_194_304.0);
    near(any("--hosts 8 --rate 10 --rooms 3 --busiest 6,2"), (same + of_two) * two_hosts);
    // Bursts of 20 messages over 50 ms: each has 19 / 2 partners, of which 1 in 50.3 has its millisecond.
    let in_bursts = 10.0 * 19.0 / 2.0 * (50.0 - 1.0 / 3.0) / 2_500.0;
    near(any("--hosts 8 --rate 10 --burst 20/50ms"), (0.05 + in_bursts) * two_hosts);
}

/// 100 messages, two of them with one session and millisecond for each ten, in CSV and in JSON lines.
fn history(unit_ms: u64) -> (String, String) {
    let rows: Vec<_> = (0..100_u64).map(|n| (n % 7, (1_763_640_000 + n - n % 10 / 9) * unit_ms)).collect();
    // The tenth of each ten has the time of the ninth, and gets its session.
    let rows: Vec<_> = (0..100).map(|n| if n % 10 == 9 { (rows[n - 1].0, rows[n].1) } else { rows[n] }).collect();
    let csv: Vec<_> = rows.iter().map(|(room, at)| format!("{room},{at}\n")).collect();
    let lines: Vec<_> = rows.iter().map(|(room, at)| format!("{{\"room\":{room},\"at\":{at}}}\n")).collect();
    (format!("room,at\n{}", csv.concat()), lines.concat())
}

const FIELDS: &str = "--history - --session-field room --time-field at";

#[test]
fn a_history_is_counted_whatever_its_format_and_order() {
    let (csv, lines) = history(1_001);
    let forecast = json(&format!("--hosts 8 {FIELDS}"), &lines);
    assert_eq!(forecast, json(&format!("--hosts 8 {FIELDS} --in csv"), &csv));
    let mut reversed: Vec<_> = lines.lines().rev().collect();
    reversed.push("");
    assert_eq!(forecast, json(&format!("--hosts 8 {FIELDS}"), &reversed.join("\n")));
    let found = &forecast["history"];
    assert_eq!((&found["messages"], &found["pairs_of_one_session"]), (&100.into(), &10.0.into()));
    assert_eq!(found["errors"], serde_json::json!([0.0, 0.0, 0.0]));
    // 1,001 ms apart, and the greatest number that divides all times is 1,001 ms.
    assert_eq!(found["unit_ms"], 1_001);
    near(per_year(&forecast, "any"), 10.0 / (98.0 * 1.001) * 0.875 / 4_096.0 * 31_557_600.0);
}

#[test]
fn times_in_whole_seconds_have_two_bounds() {
    let (_, lines) = history(1_000);
    let forecast = json(&format!("--hosts 8 {FIELDS}"), &lines);
    let row = &forecast["modes"][0];
    near(row["equal_ids_per_year"].as_f64().unwrap(), row["least_per_year"].as_f64().unwrap() * 1_000.0);
    let text = imid(&format!("risk --hosts 8 {FIELDS}"), lines).ok();
    assert!(
        text.contains("\nAll times are whole seconds, so the number of pairs in a millisecond cannot be\nknown."),
        "{text}"
    );
    assert!(text.contains("\n  or, at least    "), "{text}");
    assert!(text.contains("\npairs             10 of one session and one time\n"), "{text}");
}

#[test]
fn arguments_that_do_not_fit_together_are_errors() {
    for (args, expected) in [
        (
            "--rate 5 --busiest 6 --rooms 9",
            "--busiest: expected at most the 5 messages a second of all sessions, found 6",
        ),
        ("--rate 5 --busiest 1,1", "--busiest: expected at most 1 sessions, found 2"),
        (
            "--rate 5 --busiest 1 --rooms 3",
            "--busiest: expected rates that leave no other session busier than the listed ones, found 3 of 5 messages a \
             second in all sessions",
        ),
        ("--rate 5 --plot risk.png", "--plot: expected a name that ends in .svg, found \"risk.png\""),
        ("--rate 5 --burst 20/50", "--burst: expected messages and a duration such as 20/50ms, found \"20/50\""),
        ("--rate 1e13", "--rate: expected a number of messages per second from 1e-9 to 1e12, found \"1e13\""),
    ] {
        assert_eq!(imid(&format!("risk --hosts 2 {args}"), "").error(2), expected);
    }
    for args in ["--hosts 2", "--hosts 2 --history x", "--hosts 2 --rate 1 --time-field x", "--rate 1"] {
        let run = imid(&format!("risk {args}"), "");
        assert_eq!((run.status, run.out.as_str()), (2, ""), "{args}: {}", run.err);
    }
}

#[test]
fn a_bad_history_is_an_error_that_names_the_line() {
    let error = |input: &str| imid(&format!("risk --hosts 2 {FIELDS}"), input).error(1);
    assert_eq!(error(""), "expected messages of at least two different times, found fewer");
    assert_eq!(error("{\"at\":5}"), "line 1: field \"room\" is missing");
    assert_eq!(error("{\"room\":1.5,\"at\":5}"), "line 1: field \"room\": expected a string or an integer, found 1.5");
    assert!(error("\n{\"room\":1,\"at\":\"x\"}").starts_with("line 2: field \"at\": expected unix milliseconds or "));
    assert_eq!(
        error("{\"room\":1,\"at\":1763640000}"),
        "line 1: field \"at\": expected unix milliseconds (for seconds, give --time-unit s), found 1763640000"
    );
    let lines = format!("x\n{}", history(1_001).1);
    let run = imid(&format!("risk --hosts 2 {FIELDS} --keep-going"), lines);
    assert_eq!((run.status, run.error_line()), (1, "error: line 1: expected a JSON object, found \"x\""));
    assert!(run.out.contains("messages          100, "), "{}", run.out);
    let missing = imid("risk --hosts 2 --history none.jsonl --session-field a --time-field b", "").error(1);
    assert!(missing.starts_with("cannot open \"none.jsonl\": "), "{missing}");
}

#[test]
fn a_plot_replaces_only_a_plot() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("risk.svg");
    let draw = |rate: &str| {
        let path = path.to_str().unwrap();
        imid_args(&["risk", "--hosts", "8", "--rate", rate, "--rooms", "100", "--plot", path], "")
    };
    draw("10").ok();
    let first = fs::read_to_string(&path).unwrap();
    assert!(first.contains("<svg ") && first.contains("one a year") && first.contains("any host"), "{first}");
    assert!(first.contains("never: by session.shard, lanes, imid-lease"), "{first}");
    draw("10000").ok();
    assert_ne!(fs::read_to_string(&path).unwrap(), first);

    for others in ["<svg>mine</svg>", ""] {
        fs::write(&path, others).unwrap();
        let error = draw("10").error(1);
        assert!(error.ends_with("risk.svg\" exists, and this command did not write it"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), others);
    }
}
