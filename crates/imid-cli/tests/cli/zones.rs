//! `--time-zone`, of all commands that read or print times.

use std::time::Duration;

use imid::MessageId;
use imid_lease::register::FileRegister;
use imid_lease::{LaneOptions, LeasedGenerator};

use crate::{imid, imid_args};

/// A zone with half an hour, whose clocks change on 2025-03-09 and on 2025-11-02.
const ZONE: &str = "America/St_Johns";

/// IDs of this time in summer and of this time in winter.
const TIMES: [u64; 2] = [1_751_371_200_000, 1_764_590_400_000];
const UTC: [&str; 2] = ["2025-07-01T12:00:00.000Z", "2025-12-01T12:00:00.000Z"];
const LOCAL: [&str; 2] = ["2025-07-01T09:30:00.000-02:30", "2025-12-01T08:30:00.000-03:30"];

fn ids() -> String {
    TIMES.map(|ms| MessageId::first_at(ms).unwrap().to_string() + "\n").concat()
}

/// The commands that print times for people and as JSON.
const COMMANDS: [&str; 3] = ["inspect", "check", "stats"];

#[test]
fn each_command_prints_the_times_of_the_zone() {
    for command in COMMANDS {
        let utc = imid(command, ids()).ok();
        let local = imid(&format!("{command} --time-zone {ZONE}"), ids()).ok();
        for (utc_time, local_time) in UTC.iter().zip(LOCAL) {
            assert!(utc.contains(utc_time) && !utc.contains(local_time), "{utc}");
            assert!(local.contains(local_time), "{local}");
            // `inspect` prints the time in UTC too.
            assert_eq!(local.contains(utc_time), command == "inspect", "{local}");
        }
        let named = imid(&format!("{command} --time-zone UTC"), ids()).ok();
        assert!(named.contains(UTC[0]), "{named}");
        let error = imid(&format!("{command} --time-zone Mars/Olympus"), ids()).error(2);
        let expected = "--time-zone: expected a time zone such as Europe/Berlin, +08:00 or UTC, found \"Mars/Olympus\"";
        assert_eq!(error, expected, "{command}");
    }
}

#[test]
fn json_has_times_in_utc_in_each_zone() {
    for command in COMMANDS.into_iter().chain(["grep"]) {
        let out = imid(&format!("{command} --json --time-zone {ZONE}"), ids()).ok();
        assert!(UTC.iter().all(|time| out.contains(time)), "{out}");
        assert!(!out.contains("-02:30") && !out.contains("-03:30"), "{out}");
    }
}

#[test]
fn a_date_or_a_time_without_an_offset_is_one_of_the_zone() {
    let range = |from: &str, zone: &str| imid(&format!("range --from {from} --to 1764590400000 {zone} --json"), "");
    let zone = format!("--time-zone {ZONE}");
    for (local, utc) in [
        ("2025-07-01", "2025-07-01T02:30:00Z"),
        ("2025-07-01T09:30:00", "2025-07-01T12:00:00Z"),
        ("2025-07-01t09:30:00.25", "2025-07-01T12:00:00.25Z"),
        ("2025-11-30T08:30:00", "2025-11-30T12:00:00Z"),
        // The clocks show this time twice.
        ("2025-11-02T01:30:00", "2025-11-02T04:00:00Z"),
        // An offset, a number or a duration is the same in each zone.
        ("2025-07-01T12:00:00Z", "2025-07-01T12:00:00Z"),
        ("1751371200000", "2025-07-01T12:00:00Z"),
        ("1751371200s", "2025-07-01T12:00:00Z"),
        // The first times of the zone are of the year before.
        ("1969-12-31T21:00:00", "1970-01-01T00:30:00Z"),
    ] {
        assert_eq!(range(local, &zone).ok(), range(utc, "").ok(), "{local}");
    }
    let gap = "the clocks of America/St_Johns go forward by 1h and never show it";
    let expected = format!("--from: expected a time that exists, found \"2025-03-09T02:30:00\": {gap}");
    assert_eq!(range("2025-03-09T02:30:00", &zone).error(2), expected);
    let end = imid("range --from 0 --to 2109-05-15T13:05:11.103 --time-zone Asia/Kolkata", "").ok();
    assert_eq!(end, imid("range --from 0 --to 2109-05-15T07:35:11.103Z", "").ok());
    for (from, zone, expected) in [
        (
            "2025-07-01T09:30:00",
            "",
            "a time with its zone, such as 2024-11-19T17:37:45Z (or give --time-zone), found \"2025-07-01T09:30:00\"",
        ),
        ("1970-01-01", "--time-zone Asia/Kolkata", "a time in 1970 or later, found \"1970-01-01\""),
        ("2109-05-15T12:00:00", &zone, "a time up to 2109-05-15T07:35:11.103Z, found \"2109-05-15T12:00:00\""),
        (
            "2025-12-02",
            &zone,
            "--from before --to, found 2025-12-02T00:00:00.000-03:30 and 2025-12-01T08:30:00.000-03:30",
        ),
    ] {
        let error = range(from, zone).error(2);
        assert!(error.ends_with(&format!("expected {expected}")), "{error}");
    }
}

#[test]
fn each_command_that_chooses_ids_by_time_reads_the_times_of_the_zone() {
    let ids = ids();
    let summer = ids.lines().next().unwrap();
    let chosen = "--from 2025-07-01T09:30:00 --to 2025-07-01T09:30:00.001";
    assert_eq!(imid(&format!("grep {chosen} --time-zone {ZONE}"), ids.as_str()).ok(), format!("{summer}\n"));
    assert_eq!(imid(&format!("grep {chosen} --time-zone UTC"), ids.as_str()).status, 1);
    let out = imid(&format!("stats {chosen} --time-zone {ZONE}"), ids.as_str()).ok();
    assert!(out.contains(&format!("\nlast time   {}\n", LOCAL[0])), "{out}");
    let tag = |at: &str, zone: &str| {
        let args = format!("tag --session-field room --time-field at --seed 1 --id-form hex {zone}");
        let out = imid(&args, format!("{{\"room\":1,\"at\":\"{at}\"}}\n")).out;
        out.split_once(",\"id\":").map(|(_, id)| id.to_owned())
    };
    let zone = format!("--time-zone {ZONE}");
    assert!(tag(UTC[0], "").is_some());
    assert_eq!(tag("2025-07-01T09:30:00", &zone), tag(UTC[0], ""));
    assert_eq!(tag("2025-07-01T09:30:00", ""), None);
}

#[test]
fn the_ceilings_of_lanes_are_in_the_zone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ids");
    let url = format!("file:{}", path.display());
    let options = LaneOptions::new().lane_bits(1).horizon(Duration::from_millis(2500));
    let options = options.max_skew(Duration::from_millis(500));
    let ids = LeasedGenerator::open(FileRegister::shared(&path).unwrap(), options.max_lead(Duration::from_millis(500)))
        .unwrap();
    ids.wait_until_open(Duration::from_secs(15)).unwrap();
    ids.close();
    let lane = |args: &[&str]| {
        let args = [&["lane", args[0], "--register", &url, "--time-zone", "Asia/Kolkata"], &args[1..]].concat();
        imid_args(&args, "").ok()
    };
    assert!(lane(&["list"]).contains("+05:30, last held by "), "{}", lane(&["list"]));
    assert!(!lane(&["list", "--json"]).contains("+05:30"));
    let out = lane(&["recover", "--horizon", "3s", "--max-skew", "1s", "--above", "now"]);
    assert!(out.starts_with("all lanes of lanes are free from 20") && out.ends_with("+05:30\n"), "{out}");
}
