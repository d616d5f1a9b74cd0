use std::io::Write;

use imid::{MessageId, SessionTag, SessionType};

use crate::{Ran, ids, imid, imid_args};

/// An invented chat with unusual but valid JSON: odd spacing, escapes, large numbers, CRLF, no line feed at the end.
const SUMMARY: &str = "tagged 11 lines, from 2025-11-20T12:00:00.000Z to 2025-11-20T12:00:06.004Z; 1 ID moved forward, by at most \
3.125 s, to the time of line 5\n";

const SAMPLE: &str = include_str!("../../../../examples/chat.jsonl");

/// Returns the IDs in the last members of tagged lines.
pub(crate) fn tagged_ids(tagged: &str) -> Vec<MessageId> {
    let texts = tagged.lines().filter_map(|line| Some(&line.rsplit_once("\"id\":\"")?.1[..MessageId::TEXT_LEN]));
    texts.map(|text| text.parse().unwrap()).collect()
}

/// Returns the lines without their IDs.
pub(crate) fn untagged(tagged: &str) -> String {
    let mut plain = tagged.to_owned();
    for id in tagged_ids(tagged) {
        plain = plain.replace(&format!(",\"id\":\"{id}\""), "").replace(&format!("\"id\":\"{id}\""), "");
    }
    plain
}

#[test]
fn the_sample_keeps_every_byte_and_each_id_reads_back() {
    let run = imid("tag --type group --session-field room --time-field at --seed 1", SAMPLE);
    assert_eq!((run.status, run.err.as_str()), (0, SUMMARY));
    assert_eq!(untagged(&run.out), SAMPLE);

    let ids = tagged_ids(&run.out);
    assert!(ids.is_sorted_by(|a, b| a < b));
    let group = |name| SessionTag::new(SessionType::GROUP, name);
    let expected = [
        (1_763_640_000_000, group("kitchen")),
        (1_763_640_000_000, group("kitchen")),
        (1_763_640_003_250, group("kitchen")),
        (1_763_640_005_125, group("42")),
        (1_763_640_005_125, group("98765432109876543210987654321")),
        (1_763_640_005_125, group("garden")),
        (1_763_640_006_000, group("garden")),
        (1_763_640_006_001, group("café 🍵")),
        (1_763_640_006_002, group("café 🍵")),
        (1_763_640_006_003, group("")),
        (1_763_640_006_004, group("garden")),
    ];
    assert_eq!(ids.iter().map(|id| (id.timestamp_ms(), id.session_tag())).collect::<Vec<_>>(), expected);
}

#[test]
fn a_seed_makes_a_run_repeatable() {
    let run = |seed: &str| imid(&format!("tag --session-field room --time-field at --seed {seed}"), SAMPLE).out;
    assert_eq!(run("7"), run("7"));
    assert_ne!(run("7"), run("8"));
}

#[test]
fn without_a_time_field_ids_have_the_present_time() {
    let before: MessageId = ids(&imid("new", "").ok())[0];
    let tagged = imid("tag --session-field room", SAMPLE).ok();
    assert_eq!(untagged(&tagged), SAMPLE);
    let ids = tagged_ids(&tagged);
    assert!(ids.is_sorted_by(|a, b| a < b));
    let first = ids[0].timestamp_ms().abs_diff(before.timestamp_ms());
    assert!(first < 60_000, "{first} ms from now");
}

#[test]
fn a_later_run_continues_after_the_previous_one() {
    let tag = |more: &str| imid(&format!("tag --session-field room --time-field at --seed 1 {more}"), SAMPLE);
    let last = *tagged_ids(&tag("").out).last().unwrap();
    let run = tag(&format!("--after {last}"));
    let next = tagged_ids(&run.out);
    assert!(last < next[0] && next.is_sorted_by(|a, b| a < b));
    assert_eq!(
        run.err,
        "tagged 11 lines, from 2025-11-20T12:00:06.004Z to 2025-11-20T12:00:06.004Z; 10 IDs moved forward, by at most 6.004 s, to the end of the previous run\n"
    );
}

#[test]
fn an_input_tagged_in_pieces_gets_the_ids_of_one_run() {
    // The last line of one piece and the first line of the other have the same millisecond.
    let lines: Vec<_> =
        (0..10).map(|n| format!("{{\"room\":{n},\"at\":{}}}\n", 1_763_640_000_000_u64 + n / 4)).collect();
    let tag = |more: &str, lines: &[String]| {
        let args = format!("tag --session-field room --time-field at --seed 1 --max-shift 0ms {more}");
        let run = imid(&args, lines.concat());
        assert_eq!(run.status, 0, "{}", run.err);
        run.out
    };
    let first = tag("", &lines[..6]);
    let last = *tagged_ids(&first).last().unwrap();
    assert_eq!(first + &tag(&format!("--after {last}"), &lines[6..]), tag("", &lines));
}

#[test]
fn a_burst_tagged_in_pieces_gets_the_ids_of_one_run() {
    // A millisecond holds at most 4,096 IDs, so the burst borrows from the next one.
    let lines: Vec<_> = (0..6_000).map(|n| format!("{{\"room\":{n},\"at\":1763640000000}}\n")).collect();
    let tag = |more: &str, lines: &[String]| {
        imid(&format!("tag --session-field room --time-field at --seed 1 {more}"), lines.concat()).out
    };
    let whole = tag("", &lines);
    for cut in [1, 4_095, 4_096, 4_097, 4_100, 5_999] {
        let first = tag("", &lines[..cut]);
        let last = *tagged_ids(&first).last().unwrap();
        // Not `assert_eq`: the output is too long to print.
        assert!(first + &tag(&format!("--after {last}"), &lines[cut..]) == whole, "cut at {cut}");
    }
}

#[test]
fn two_runs_one_after_the_other_share_no_id() {
    // More than the milliseconds of the run have room for, so the IDs go ahead of the clock.
    let lines = "{\"s\":1}\n".repeat(100_000);
    let run = || tagged_ids(&imid("tag --session-field s", lines.as_str()).ok());
    let (first, second) = (run(), run());
    assert!(first.is_sorted_by(|a, b| a < b) && first.last() < second.first());
}

#[test]
fn a_shift_past_the_limit_is_a_bad_line_and_does_not_move_other_ids() {
    let tag = |more: &str| imid(&format!("tag --session-field room --time-field at --seed 1 {more}"), SAMPLE);
    let strict = tag("--max-shift 3124ms --keep-going");
    let expected = "error: line 6: the ID would move forward by 3.125 s, to the time of line 5 (limit 3.124 s)\n\
                    tagged 10 lines, from 2025-11-20T12:00:00.000Z to 2025-11-20T12:00:06.004Z; no ID moved forward\n";
    assert_eq!((strict.status, strict.err.as_str()), (1, expected));
    // The other lines have the same IDs as without the bad line.
    let without_line_6: String = SAMPLE.split_inclusive('\n').filter(|line| !line.contains("\"seq\":6")).collect();
    let clean = imid("tag --session-field room --time-field at --seed 1", without_line_6);
    assert_eq!(strict.out, clean.out);
    assert_eq!(tag("--max-shift 3125ms").status, 0);
}

#[test]
fn a_duration_without_a_unit_or_below_zero_is_an_error_that_shows_a_duration() {
    for option in
        ["tag --session-field s --time-field t --max-shift", "lane recover --register file:x --max-skew 1s --horizon"]
    {
        for wrong in ["1000", "0", "-1", "-1s", "1h -5s", "-"] {
            let (command, name) = option.rsplit_once(' ').unwrap();
            let args: Vec<_> = command.split(' ').chain([name, wrong]).collect();
            let expected = format!("{name}: expected a duration such as 10s, 500ms or 1m30s, found {wrong:?}");
            assert_eq!(imid_args(&args, "").error(2), expected);
        }
    }
}

#[test]
fn a_peer_field_makes_private_pairs_and_leaves_other_types_alone() {
    let lines = r#"{"from":"alice","to":"bob","kind":"private"}
{"from":"bob","to":"alice","kind":1}
{"from":"alice","to":"book club","kind":"Group"}
{"to":"book club","kind":"3"}
"#;
    let tagged = imid("tag --session-field to --peer-field from --type-field kind", lines).ok();
    let sessions: Vec<_> = tagged_ids(&tagged).into_iter().map(MessageId::session_tag).collect();
    let (pair, group) = (SessionTag::pair("alice", "bob"), SessionTag::new(SessionType::GROUP, "book club"));
    assert_eq!(sessions, [pair, pair, group, group]);

    let tagged = imid("tag --session-field to --peer-field from", lines.lines().next().unwrap()).ok();
    assert!(tagged_ids(&tagged)[0].is_in(pair));
    let error = imid("tag --session-field to --peer-field from --type group", "").error(2);
    assert_eq!(error, "--type: expected PRIVATE for a session with a peer, found GROUP");
}

#[test]
fn an_existing_id_is_an_error() {
    for line in ["{\"id\":{\"old\":[1]} , \"room\":1 }\n", "{\"room\":1,\"\\u0069d\":null}\n"] {
        let error = imid("tag --session-field room", line).error(1);
        assert_eq!(error, "line 1: field \"id\" already exists (--id-field names another one)");
    }
}

#[test]
fn an_id_field_of_any_name_is_written_as_json() {
    let out = imid_args(&["tag", "--session-field", "a", "--id-field", "the \"id\"\n"], r#"{"a":1}"#).ok();
    let object: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert!(object["the \"id\"\n"].as_str().unwrap().parse::<MessageId>().is_ok());
    assert!(out.starts_with(r#"{"a":1,"the \"id\"\n":""#), "{out}");
}

#[test]
fn a_bad_line_ends_the_run_after_earlier_lines_are_written() {
    let Ran { status, out, err } = imid("tag --session-field s", "{\"s\":1}\n\n{\"s\":2}\nx\n{\"s\":3}\n");
    assert_eq!((status, err.as_str()), (1, "error: line 4: expected a JSON object, found \"x\"\n"));
    assert_eq!(untagged(&out), "{\"s\":1}\n\n{\"s\":2}\n");
}

#[test]
fn keep_going_leaves_bad_lines_out() {
    let run = imid("tag --session-field s --keep-going", "x\n{\"s\":1}\r\n{}\n{\"s\":2}");
    let expected = "error: line 1: expected a JSON object, found \"x\"\nerror: line 3: field \"s\" is missing\n";
    assert_eq!((run.status, run.err.as_str()), (1, expected));
    assert_eq!(untagged(&run.out), "{\"s\":1}\r\n{\"s\":2}");
}

#[test]
fn wrong_arguments_are_usage_errors() {
    for args in [
        "",
        "--session-field s --max-shift 5ms",
        "--session-field s --type 3 --type-field t",
        "--session-field s --after XX",
        "--session-field s --seed -1",
        "--session-field s --seed 1",
        "--session-field {s",
        "--session-field s --id-field a,b",
    ] {
        assert_eq!(imid(&format!("tag {args}"), "{\"s\":1}").status, 2, "{args}");
    }
}

/// Returns a file with this content in a new folder.
fn file(name: &str, content: &[u8]) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    (folder, path.to_str().unwrap().to_owned())
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

const TAG_SAMPLE: &str = "tag --session-field room --time-field at --seed 1";

#[test]
fn a_file_is_tagged_like_standard_input_also_if_it_is_compressed() {
    let expected = imid(TAG_SAMPLE, SAMPLE).out;
    let zstd = zstd::encode_all(SAMPLE.as_bytes(), 1).unwrap();
    for content in [SAMPLE.as_bytes(), &gzip(SAMPLE.as_bytes()), &zstd] {
        let (_folder, path) = file("chat", content);
        let args = TAG_SAMPLE.split(' ').chain([&*path]).collect::<Vec<_>>();
        assert_eq!(imid_args(&args, "").out, expected);
        assert_eq!(imid(TAG_SAMPLE, content).out, expected);
    }
}

#[test]
fn input_that_ends_early_is_an_error_that_names_the_last_line_of_the_output() {
    // A megabyte, so that much of it can be read before the end. Random names, so that it does not become tiny.
    let lines: Vec<_> = (0..20_000_u64)
        .map(|n| (n.wrapping_mul(0x9e37_79b9_7f4a_7c15), 1_763_640_000_000 + n))
        .map(|(name, ms)| format!("{{\"room\":\"{name:x}\",\"at\":{ms}}}\n"))
        .collect();
    let lines = lines.concat();
    let whole = imid(TAG_SAMPLE, lines.as_str()).out;
    let packed = gzip(lines.as_bytes());
    let run = imid(TAG_SAMPLE, &packed[..packed.len() / 2]);
    assert_eq!(run.status, 1);
    assert!(!run.out.is_empty() && whole.starts_with(&run.out) && run.out.ends_with("}\n"), "{}", run.err);
    let (count, last) = (run.out.lines().count(), tagged_ids(&run.out).pop().unwrap());
    let expected = "error: cannot read standard input: the gzip data ends early";
    assert_eq!(run.err, format!("{expected}; the output ends with line {count}, which has the ID {last}\n"));

    // A run that continues there completes the output.
    let rest: String = lines.split_inclusive('\n').skip(count).collect();
    let more =
        imid_args(&[&TAG_SAMPLE.split(' ').collect::<Vec<_>>()[..], &["--after", &last.to_string()]].concat(), rest);
    assert!(run.out + &more.out == whole);
}

#[test]
fn blank_lines_beside_lines_that_are_left_out_are_kept() {
    let lines = "{\"s\":1,\"t\":9}\n\nx\n\n\r\n{\"s\":1,\"t\":5}\n \n\n{\"s\":1,\"t\":9}\n\n";
    let run = imid("tag --session-field s --time-field t --any-time --max-shift 3ms --keep-going", lines);
    assert_eq!(untagged(&run.out), "{\"s\":1,\"t\":9}\n\n\n\r\n \n\n{\"s\":1,\"t\":9}\n\n");
    assert_eq!(run.err.lines().filter(|line| line.starts_with("error: line ")).count(), 2);
}

#[test]
fn an_id_after_which_nothing_can_be_minted_yet_is_named() {
    let error = imid("tag --session-field s --after ZZZZ-ZZZZ-ZZZZ-ZZZZ", "{\"s\":1}\n").error(1);
    assert!(error.starts_with("line 1: --after: ZZZZ-ZZZZ-ZZZZ-ZZZZ is "), "{error}");
    assert!(error.ends_with(" s ahead of the clock"), "{error}");
}

#[test]
fn the_id_is_written_in_each_form() {
    let line = "{\"room\":\"a\",\"at\":1763640000000}\n";
    let run = |more: &str| imid(&format!("{TAG_SAMPLE} {more}"), line.repeat(3)).out;
    let ids = tagged_ids(&run(""));
    for (form, text) in [
        ("text", ids.iter().map(MessageId::to_string).collect::<Vec<_>>()),
        ("hex", ids.iter().map(|id| id.to_hex().to_string()).collect()),
        ("int", ids.iter().map(|id| id.to_u128().to_string()).collect()),
        ("uuid", ids.iter().map(uuid).collect()),
    ] {
        let expected: String =
            text.iter().map(|text| line.replace("}\n", &format!(",\"id\":\"{text}\"}}\n"))).collect();
        assert_eq!(run(&format!("--id-form {form}")), expected);
    }
    let fields = "--id-field i,h,u --id-form text,hex,uuid";
    let both = run(fields);
    let first = format!(",\"i\":\"{}\",\"h\":\"{}\",\"u\":\"{}\"}}\n", ids[0], ids[0].to_hex(), uuid(&ids[0]));
    assert!(both.starts_with(&line.replace("}\n", &first)), "{both}");
    let again = imid(&format!("{TAG_SAMPLE} --id-field id,u --id-form text,uuid"), both).error(1);
    assert_eq!(again, "line 1: field \"u\" already exists (--id-field names another one)");

    let error = imid(&format!("{TAG_SAMPLE} --id-field a,b --id-form hex"), "").error(2);
    assert_eq!(error, "--id-form: expected a form for each --id-field, 2, found 1");
    let error = imid(&format!("{TAG_SAMPLE} --id-field id,id --id-form text,hex"), "").error(2);
    assert_eq!(error, "--id-field: expected different fields, found \"id\" twice");
}

/// Returns the UUID view of an ID, made from its fields.
fn uuid(id: &MessageId) -> String {
    let (ms, rest) = (
        id.timestamp_ms(),
        u64::from(id.session_type().to_u8()) << 58
            | u64::from(id.session_tag().session_hash().to_u32()) << 36
            | ((1 << 36) - 1),
    );
    let high = ms << 16 | 7 << 12 | u64::from(id.spin());
    let digits = format!("{high:016x}{:016x}", rest | 1 << 63);
    let groups = [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]];
    groups.join("-")
}

#[test]
fn times_are_read_as_databases_and_spreadsheets_write_them() {
    let rows =
        ["2025-11-20 12:00:00+00", "2025-11-20 12:00:00 UTC", "2025-11-20T20:00+0800", "1763640000000", "1.76364E+12"];
    let table = |rows: &[&str]| {
        "room,at\n".to_owned() + &rows.iter().map(|at| format!("a,{at}\n")).collect::<Vec<_>>().concat()
    };
    let run = imid("tag --in csv --session-field room --time-field at", table(&rows));
    let ids: Vec<_> = run.out.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().to_owned()).collect();
    assert!(ids.len() == 5 && ids.iter().all(|id| id.starts_with("EUN6-KDW2-")), "{}", run.err);
    let note =
        "note: 1 time has an exponent, such as \"1.76364E+12\": digits that a spreadsheet left out are read as 0\n";
    assert!(run.status == 0 && run.err.starts_with(note), "{}", run.err);
    let skipped = table(&["2025-03-30 01:30", "2025-03-30 02:30", "2025-03-30 03:30"]);
    let run = imid("tag --in csv --session-field room --time-field at --time-zone Europe/Berlin", skipped);
    let problem = "error: line 3: field \"at\": expected a time that exists, found \"2025-03-30 02:30\": the clocks of Europe/Berlin \
                   go forward by 1h and never show it";
    assert_eq!((run.status, run.out.lines().count(), run.error_line()), (1, 2, problem));
}

#[test]
fn a_table_with_semicolons_is_read_and_recognized() {
    let table = "room;at;text\nkitchen;1763640000000;\"tea; please\"\n";
    let error = imid("tag --in csv --session-field room --time-field at", table).error(1);
    let hint = "(for a table with ; between its fields, give --in ssv)";
    assert_eq!(error, format!("line 1: field \"room\" is missing in the header, which has \"room;at;text\" {hint}"));
    let run = imid("tag --in ssv --session-field room --time-field at", table);
    assert!(
        run.status == 0 && run.out.starts_with("room;at;text;id\nkitchen;1763640000000;\"tea; please\";EUN6-"),
        "{}",
        run.out
    );
    let checked = imid("check --in ssv --json", run.out).ok();
    assert!(checked.contains("\"valid\":1,"), "{checked}");
}

#[test]
fn a_time_that_no_message_has_is_an_error_and_moves_no_later_id() {
    let line = |ms: u64| format!("{{\"s\":1,\"t\":{ms}}}\n");
    let noon = 1_763_640_000_000;
    for (ms, found) in [
        (0, "which is 1970-01-01T00:00:00.000Z"),
        (45_981, "which is 1970-01-01T00:00:45.981Z"),
        (noon / 10, "which is 1975-08-04T06:00:00.000Z"),
        (4_397_000_000_000, "which is 2109-05-03T04:53:20.000Z"),
    ] {
        let lines = line(noon) + &line(ms) + &line(noon + 5);
        let run = imid("tag --session-field s --time-field t --keep-going", lines.as_str());
        let problem = format!("found \"{ms}\", {found}; --any-time allows others");
        let expected =
            format!("error: line 2: field \"t\": expected a time from 2005 to two years from now, {problem}\n");
        let summary =
            "tagged 2 lines, from 2025-11-20T12:00:00.000Z to 2025-11-20T12:00:00.005Z; no ID moved forward\n";
        assert_eq!((run.status, run.err), (1, expected + summary));
        let run = imid("tag --session-field s --time-field t --any-time", lines);
        assert_eq!((run.status, run.out.lines().count()), (0, 3), "{}", run.err);
        assert_eq!(run.err.contains("1 ID moved forward, by at most "), ms < noon || ms > noon + 5, "{}", run.err);
    }
    // From the year 2109 back: in words, and with the line that moved them.
    let run = imid("tag --session-field s --time-field t --any-time", line(4_397_000_000_000) + &line(noon));
    let moved = "1 ID moved forward, by at most 30478d 16h 53m 20s, to the time of line 1\n";
    assert!(run.err.ends_with(moved), "{}", run.err);
}

#[test]
fn an_output_whose_name_is_that_of_compressed_data_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["out.jsonl.gz", "out.csv.ZST", "out.zip", "out.parquet"] {
        let path = folder.path().join(name).to_str().unwrap().to_owned();
        let error = imid_args(&["tag", "--session-field", "s", "-o", &path], "{\"s\":1}\n").error(2);
        let end = name.rsplit('.').next().unwrap().to_lowercase();
        let hint = "to compress it, use a pipe such as | gzip";
        assert_eq!(error, format!("--output: expected a name of a text file, found .{end}: {hint}"));
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
