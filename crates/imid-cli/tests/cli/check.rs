use std::fmt::Write as _;

use imid::MessageId;

use crate::{Ran, command, imid};

/// Returns the text of an ID of this millisecond.
fn id(ms: u64) -> String {
    MessageId::first_at(ms).unwrap().to_string()
}

fn summary(run: &Ran) -> serde_json::Value {
    serde_json::from_str(&run.out).unwrap()
}

#[test]
fn sorted_distinct_ids_have_no_problem() {
    let run = imid("check", format!("{}\n{}\n{}", id(1), id(2), id(3)));
    assert_eq!((run.status, run.err.as_str()), (0, ""));
    let expected = "\
lines       3
valid       3
invalid     0
blank       0
equal       0
lower       0
duplicates  0
first time  1970-01-01T00:00:00.001Z
last time   1970-01-01T00:00:00.003Z
";
    assert_eq!(run.out, expected);
}

#[test]
fn crlf_blank_lines_and_json_lines_are_accepted() {
    let input =
        format!("\r\n{}\r\n\n{{\"a\":1,\"id\":\"{}\"}}\r\n  \n {{\"\\u0069d\" : \"{}\"}}\n\n", id(1), id(2), id(3));
    let expected = concat!(
        r#"{"lines":7,"valid":3,"invalid":0,"blank":4,"equal":0,"lower":0,"sorted":true,"duplicates":0,"#,
        r#""first_time":"1970-01-01T00:00:00.001Z","last_time":"1970-01-01T00:00:00.003Z"}"#
    );
    assert_eq!(imid("check --json", input).ok(), format!("{expected}\n"));
    assert_eq!(imid("check --id-field m", format!("{{\"m\":\"{}\"}}", id(1))).status, 0);
}

#[test]
fn each_problem_is_counted_and_printed_with_its_line() {
    let input = [id(5), id(5), id(4), String::new(), "x".into(), "{}".into(), r#"{"id":7}"#.into(), id(9)];
    let run = imid("check", input.join("\n"));
    assert_eq!(run.status, 1);
    let (five, four) = (id(5), id(4));
    let errors = format!(
        "error: line 2: {five} is equal to the ID before it, {five}\n\
         error: line 3: {four} is lower than the ID before it, {five}\n\
         error: line 5: \"x\" is not an ID: expected a digit 2-9 or A-Z without I and O, found the end at 1\n\
         error: line 6: field \"id\" is missing\n\
         error: line 7: field \"id\": expected a string, found 7\n"
    );
    assert_eq!(run.err, errors);
    let counts = "\
lines       8
valid       4
invalid     3
blank       1
equal       1
lower       1
duplicates  unknown: the input is not sorted (use --unsorted)
first time  1970-01-01T00:00:00.004Z
last time   1970-01-01T00:00:00.009Z
";
    assert_eq!(run.out, counts);
}

#[test]
fn each_kind_of_problem_alone_sets_the_exit_status_to_1() {
    for input in [format!("{}\n{}", id(1), id(1)), format!("{}\n{}", id(2), id(1)), "x".into(), "[]".into()] {
        assert_eq!(imid("check", input.as_str()).status, 1, "{input}");
    }
    // With --unsorted, the order is not a problem, and duplicates need not be neighbours.
    assert_eq!(imid("check --unsorted", format!("{}\n{}", id(2), id(1))).ok().lines().nth(5), Some("lower       1"));
    let run = imid("check --unsorted --json", format!("{0}\n{1}\n{0}\n{0}", id(2), id(1)));
    assert_eq!((run.status, &summary(&run)["duplicates"]), (1, &2.into()));
    assert_eq!(run.err, format!("error: {} occurs 3 times, in lines 1, 3, 4\n", id(2)));
    assert_eq!(imid("check --json", format!("{}\n{}", id(2), id(1))).out.matches("\"duplicates\":null").count(), 1);
}

#[test]
fn only_the_first_problems_are_printed() {
    let run = imid("check --json", "x\n".repeat(1_000));
    assert_eq!(run.status, 1);
    assert_eq!(summary(&run)["invalid"], 1_000);
    assert_eq!(run.err.lines().count(), 11);
    assert!(run.err.contains("line 10: \"x\" is not an ID") && !run.err.contains("line 11:"), "{}", run.err);
    assert!(run.err.ends_with("\nnote: only the first 10 problems are shown; the summary counts all of them\n"));
}

#[test]
fn a_file_is_read_and_an_unreadable_file_is_named() {
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/chat.jsonl");
    assert!(imid(&format!("check {sample}"), "").err.contains("line 1: field \"id\" is missing"));
    let missing = imid("check no/such/file", "").error(1);
    assert!(missing.starts_with("cannot open \"no/such/file\": "), "{missing}");
    let folder = imid("check .", "").error(1);
    assert!(folder.starts_with("cannot "), "{folder}");
    assert_eq!(imid("check -", id(1)).status, 0);
}

#[test]
fn lines_that_cross_the_end_of_a_block_are_read_whole() {
    // The lines have 20 and 21 bytes, so that blocks end at each place in a line.
    let mut input = String::new();
    for ms in 0..100_000 {
        input.push_str(&id(ms));
        input.push_str(if ms % 7 == 0 { "\r\n" } else { "\n" });
    }
    let run = imid("check --json --unsorted", input);
    assert_eq!(run.status, 0, "{}", run.err);
    assert_eq!(summary(&run)["valid"], 100_000);
}

#[test]
fn unsorted_input_is_checked_and_the_lines_of_duplicates_are_named() {
    let mut input = String::new();
    for n in 0..300_000_u64 {
        writeln!(input, "{}", id(n * 7_919 % 300_000)).unwrap();
    }
    for ms in [5, 5, 299_999] {
        writeln!(input, "{}", id(ms)).unwrap();
    }
    let line = |ms: u64| (0..300_000).position(|n| n * 7_919 % 300_000 == ms).unwrap() + 1;
    let expected = format!(
        "error: {} occurs 3 times, in lines {}, 300001, 300002\nerror: {} occurs 2 times, in lines {}, 300003\n",
        id(5),
        line(5),
        id(299_999),
        line(299_999)
    );
    let run = imid("check --unsorted --json", input);
    assert_eq!((run.status, run.err.as_str()), (1, expected.as_str()));
    assert_eq!(summary(&run)["duplicates"], 3);
}

#[test]
fn blank_lines_are_counted_so_that_the_sums_add_up() {
    let run = imid("check --json", format!("{}\n\n \r\nx\n{}\n\n", id(1), id(2)));
    let counts = ["lines", "valid", "invalid", "blank"].map(|name| summary(&run)[name].as_u64().unwrap());
    assert_eq!(counts, [6, 2, 1, 3]);
}

#[test]
fn each_form_that_the_tool_writes_is_read() {
    let texts = imid("new -n 5", "").ok();
    for form in ["text", "hex", "int", "uuid"] {
        let ids = imid(&format!("inspect --format {form}"), texts.as_str()).ok();
        let json: Vec<_> = ids.lines().map(|id| format!("{{\"id\":\"{id}\"}}")).collect();
        let json = json.join("\n");
        for input in [ids.clone(), ids.to_uppercase(), json.clone(), format!("id\n{ids}")] {
            let kind = if input.starts_with("id") { "--in csv" } else { "" };
            let run = imid(&format!("check --json {kind}"), input.as_str());
            assert_eq!((run.status, &summary(&run)["valid"]), (0, &5.into()), "{form}: {}", run.err);
        }
    }
    let lower = imid("check", texts.to_lowercase());
    assert_eq!(lower.status, 0, "{}", lower.err);
    let leaf = [1, 2, 3, 4, 5].map(|tick| format!("{:016x}", tick << 22 | 3 << 12)).join("\n");
    assert_eq!(imid("check --dialect leaf", leaf).status, 0);
    // A number of fewer digits can be a Snowflake.
    assert_eq!(imid("check", "5\n").status, 1);
}

#[test]
fn a_binary_format_is_an_error_with_a_hint() {
    for command in ["check", "stats", "tag --session-field room"] {
        let error = imid(command, &b"PAR1\x15\x04"[..]).error(1);
        let expected =
            "cannot read standard input: expected text, gzip or zstd, found a Parquet file: DuckDB writes its rows";
        assert!(error.starts_with(expected), "{command}: {error}");
    }
    // An ID of RongCloud, which is not the start of a table.
    assert_eq!(imid("check --dialect rongcloud", "PAR1-A62U-32C4-01I2\n").status, 0);
}

#[test]
fn csv_and_tsv_are_checked_by_rows_and_problems_name_lines() {
    let csv = format!(
        "text,m\r\n\"two\nlines\",{}\r\n\r\nx,{}\r\ny,{}\nz,nothing\nonly one\nw,{}",
        id(1),
        id(3),
        id(3),
        id(2)
    );
    let run = imid("check --in csv --id-field m --json", csv.as_str());
    let expected = [
        format!("error: line 6: {} is equal to the ID before it, {}", id(3), id(3)),
        "error: line 7: \"nothing\" is not an ID: expected a digit 2-9 or A-Z without I and O, found 'o' at 1"
            .to_owned(),
        "error: line 8: expected 2 fields as in the header, found 1".to_owned(),
        format!("error: line 9: {} is lower than the ID before it, {}", id(2), id(3)),
    ];
    assert_eq!(run.err.lines().collect::<Vec<_>>(), expected);
    let counts = summary(&run);
    assert_eq!(
        (&counts["lines"], &counts["valid"], &counts["invalid"], &counts["equal"]),
        (&6.into(), &4.into(), &2.into(), &1.into())
    );

    let tsv = csv.replace("\"two\nlines\"", "\"two\\nlines").replace(',', "\t");
    let unsorted = imid("check --in tsv --id-field m --unsorted", tsv);
    assert!(unsorted.err.contains(&format!("{} occurs 2 times, in lines 4, 5\n", id(3))), "{}", unsorted.err);

    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ids.csv");
    std::fs::write(&path, format!("id\n{}\n", id(1))).unwrap();
    let output = command().arg("check").arg(&path).output().unwrap();
    assert!(output.status.success() && output.stdout.starts_with(b"lines       1\nvalid       1\n"));

    let error = imid("check --in csv", "m\n").error(1);
    assert_eq!(error, "line 1: field \"id\" is missing in the header, which has \"m\"");
}

#[test]
fn copies_in_several_files_are_named_with_their_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (a, b, c) = (path("a"), path("b.csv"), path("c.jsonl"));
    std::fs::write(&a, format!("{}\n{}\n{}", id(1), id(3), id(5))).unwrap();
    // The record in line 4 follows one of two lines.
    std::fs::write(&b, format!("id,text\n{},\"x\ny\"\n{},z\n", id(2), id(3))).unwrap();
    std::fs::write(&c, format!("\n{{\"id\":\"{}\"}}\nx\n{{\"id\":\"{}\"}}\n", id(5), id(4))).unwrap();
    let run = |more: &[&str], input: &str| {
        let ran = crate::imid_args(&[&["check", "--json"], more].concat(), input);
        let (status, summary) = (ran.status, summary(&ran));
        (status, summary, ran.err.replace(&path(""), ""))
    };
    let (status, found, err) = run(&[&a, &b, &c], "");
    let expected = format!(
        "error: c.jsonl:3: \"x\" is not an ID: expected a digit 2-9 or A-Z without I and O, found the end at 1\n\
         error: c.jsonl:4: {} is lower than the ID before it, {}\n\
         error: {} occurs 2 times, in a:2, b.csv:4\n\
         error: {} occurs 2 times, in a:3, c.jsonl:2\n",
        id(4),
        id(5),
        id(3),
        id(5)
    );
    assert_eq!((status, err), (1, expected));
    let counts = ["lines", "valid", "invalid", "blank", "equal", "lower", "duplicates"]
        .map(|name| found[name].as_u64().unwrap());
    assert_eq!(counts, [9, 7, 1, 1, 0, 1, 2]);
    assert_eq!(
        (&found["first_time"], &found["last_time"]),
        (&"1970-01-01T00:00:00.001Z".into(), &"1970-01-01T00:00:00.005Z".into())
    );
    // The order of the files does not matter, and that of the lines does not with --unsorted.
    let (status, _, err) = run(&[&c, &a, "--unsorted"], "");
    assert_eq!((status, err.lines().count()), (1, 2), "{err}");
    assert!(err.ends_with("occurs 2 times, in c.jsonl:2, a:3\n"), "{err}");
    // Many lines are read at once.
    let many: String = (0..3_000).map(|ms| id(10 + ms) + "\n").collect();
    let (status, _, err) = run(&[&a, "-"], &many);
    assert_eq!((status, err.as_str()), (0, ""));
    let (status, _, err) = run(&["-", &a], &(many + &id(5)));
    assert_eq!(status, 1);
    let expected = format!(
        "error: standard input:3001: {} is lower than the ID before it, {}\n\
         error: {} occurs 2 times, in standard input:3001, a:3\n",
        id(5),
        id(3_009),
        id(5)
    );
    assert_eq!(err, expected);
    let ran = crate::imid_args(&["check", &a, "no/such/file"], "");
    assert!(ran.error(1).starts_with("cannot open \"no/such/file\": "));
}

#[test]
fn input_without_an_id_is_a_problem() {
    for (args, input) in [("", ""), ("", "\n\n"), ("--in csv", "id,x\n"), ("--unsorted --json", "")] {
        let run = imid(&format!("check {args}"), input);
        assert_eq!((run.status, run.err.as_str()), (1, "error: expected an ID, found none\n"), "{args} {input:?}");
        assert!(run.out.contains("valid"), "{}", run.out);
    }
}

#[test]
fn lines_of_copy_are_bytes_with_an_escaped_backslash() {
    let run = imid("check", "\\\\x66a8ab1ad0001cfc856b\n\\x66a8ab1ad0001dfc856b\n");
    assert!(run.status == 0 && run.out.starts_with("lines       2\nvalid       2\n"), "{} {}", run.out, run.err);
}
