//! `tag --resume`.

use std::fs;

use crate::{Ran, imid_args};

const TAG: [&str; 9] = ["tag", "--type", "group", "--session-field", "room", "--time-field", "at", "--seed", "1"];

fn tag(more: &[&str], input: &str) -> Ran {
    imid_args(&[&TAG, more].concat(), input)
}

/// Continues a run that wrote `part`.
fn resume(part: &[u8], more: &[&str], input: &str) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("part");
    fs::write(&path, part).unwrap();
    let mut ran = tag(&[more, &["--resume", path.to_str().unwrap()]].concat(), input);
    ran.err = ran.err.replace(&path.display().to_string(), "part");
    ran
}

/// Lines with odd spacing, CRLF and blank lines. Some IDs move forward, and the last millisecond has many messages.
fn lines() -> Vec<String> {
    let mut lines: Vec<_> = (0..40)
        .map(|n| format!("{{ \"room\":\"{}\", \"at\":{}}}\r\n", n % 3, 1_763_640_000_000_u64 - n * 7 % 5))
        .collect();
    lines.insert(20, "\n".into());
    lines.insert(20, " \r\n".into());
    lines.push("\n".into());
    lines
}

#[test]
fn a_run_that_is_resumed_after_any_line_is_the_whole_run() {
    let lines = lines();
    for form in [&["--id-form", "text"][..], &["--id-form", "int", "--hex-field", "h"], &["--id-field", "m.id"]] {
        let whole = tag(form, &lines.concat()).out;
        let written: Vec<_> = whole.split_inclusive('\n').collect();
        assert_eq!(written.len(), lines.len());
        for cut in 0..=lines.len() {
            let part = written[..cut].concat();
            let rest = resume(part.as_bytes(), form, &lines.concat());
            assert_eq!(rest.status, 0, "{}", rest.err);
            assert_eq!(part + &rest.out, whole, "cut after line {cut}");
        }
    }
}

#[test]
fn a_run_over_several_blocks_is_resumed_with_the_line_numbers_of_the_whole_input() {
    let line =
        |n: u64| format!("{{\"room\":\"{}\",\"at\":{},\"text\":\"{n:0100}\"}}\n", n % 9, 1_763_640_000_000 + n / 9_000);
    // The last line is bad.
    let lines = (0..12_000).map(line).collect::<String>() + "x\n";
    let whole = tag(&[], &lines);
    assert_eq!(whole.error_line(), "error: line 12001: expected a JSON object, found \"x\"");
    for cut in [1, 5_000, 11_999, 12_000] {
        let part: String = whole.out.split_inclusive('\n').take(cut).collect();
        let rest = resume(part.as_bytes(), &[], &lines);
        assert_eq!(rest.error_line(), whole.error_line());
        assert!(part + &rest.out == whole.out, "cut after line {cut}");
    }
}

#[test]
fn csv_is_resumed_after_any_record() {
    let records =
        ["room,at,text\n", "a,1763640000000,\"tea,\nplease\"\n", "\n\r\nb,1763640000000,\"\"\"\n\"\r\n", "c,5,x\n"];
    let input = records.concat() + "\n\n";
    let csv = ["--in", "csv"];
    let whole = tag(&csv, &input).out;
    for cut in 0..=records.len() {
        let part = tag(&csv, &records[..cut].concat()).out;
        assert!(whole.starts_with(&part));
        // The blank lines after the record are in the output, or some of them are.
        let blank = whole[part.len()..].bytes().take_while(|byte| b"\r\n".contains(byte)).count();
        for end in part.len()..=part.len() + blank {
            let rest = resume(&whole.as_bytes()[..end], &csv, &input);
            assert_eq!(rest.status, 0, "{}", rest.err);
            assert_eq!(whole[..end].to_owned() + &rest.out, whole, "cut after record {cut}");
        }
    }
}

#[test]
fn csv_that_is_cut_at_any_byte_is_resumed_or_the_error_says_how_many_lines_to_keep() {
    let csv = ["--in", "csv", "--id-form", "int"];
    for line_end in ["\n", "\r\n"] {
        // The header and a record have line ends in quotes.
        let records = ["\"the\nroom\",room,at", "\"tea,\r\n\nplease\",a,1763640000000\n", "\"\"\"\",b,1763640000001"];
        let input = records.map(|record| record.to_owned() + line_end).concat();
        let whole = tag(&csv, &input).out;
        for cut in 0..whole.len() {
            let mut part = &whole[..cut];
            let mut rest = resume(part.as_bytes(), &csv, &input);
            if rest.status != 0 {
                let count = rest.err.split_once("with an incomplete line; keep its whole lines: head -n ");
                let count = count.unwrap_or_else(|| panic!("{part:?}: {}", rest.err)).1.trim_end().parse().unwrap();
                assert_eq!(rest.out, "", "{part:?}");
                part = &part[..part.split_inclusive('\n').take(count).map(str::len).sum()];
                rest = resume(part.as_bytes(), &csv, &input);
            }
            assert_eq!((rest.status, part.to_owned() + &rest.out), (0, whole.clone()), "{part:?}: {}", rest.err);
        }
    }
}

#[test]
fn the_output_of_a_run_can_be_compressed() {
    let lines = lines().concat();
    let whole = tag(&[], &lines).out;
    let part: String = whole.split_inclusive('\n').take(9).collect();
    let rest = resume(&zstd::encode_all(part.as_bytes(), 1).unwrap(), &[], &lines);
    assert_eq!(part + &rest.out, whole);
}

#[test]
fn an_output_that_cannot_be_continued_is_an_error_and_nothing_is_written() {
    let lines = lines().concat();
    let whole = tag(&[], &lines).out;
    let error = |part: &[u8]| resume(part, &[], &lines).error(1);
    // A power cut leaves a part of a line.
    let part = whole.as_bytes();
    let second = whole.find('\n').unwrap() + 1;
    let incomplete = "--resume: \"part\" ends with an incomplete line; keep its whole lines: head -n ";
    for len in [1, second - 1, second + 1, part.len() - 2] {
        let count = whole[..len].matches('\n').count();
        // The last line of the whole output is blank.
        let count = if len == part.len() - 2 { 41 } else { count };
        assert_eq!(error(&part[..len]), format!("{incomplete}{count}"), "{len}");
    }
    assert_eq!(error(b"{\"a\":1}\n"), "--resume: line 1 of \"part\": field \"id\" is missing");
    assert_eq!(error(b"\n{\"id\":1}\n\n"), "--resume: line 2 of \"part\": field \"id\": expected a string, found 1");
    assert!(error(b"{\"id\":\"x\"}\n").starts_with("--resume: line 1 of \"part\": \"x\" is not an ID: "));
    assert!(error(b"\0\0\0\n").starts_with("--resume: line 1 of \"part\": expected a JSON object, found "));
    let more = whole.clone() + whole.split_inclusive('\n').next().unwrap();
    let expected = "--resume: expected at least 44 lines of input, as in the output, found 43";
    assert_eq!(error(more.as_bytes()), expected);

    let csv = |part: &str, input: &str| resume(part.as_bytes(), &["--in", "csv"], input).error(1);
    let input = "room,at\na,5\nb,6\n";
    let whole = tag(&["--in", "csv"], input).out;
    assert_eq!(csv(&whole[..whole.len() - 1], input), format!("{incomplete}2"));
    // The end of the file is inside of a quoted field.
    assert_eq!(csv("room,at,id\n\"a\n", input), format!("{incomplete}1"));
    assert_eq!(
        csv("room,at,id\na\n", input),
        "--resume: line 2 of \"part\": expected 3 fields as in the header, found 1"
    );
    for part in ["room,at\n", "room,at\na,5\n"] {
        assert_eq!(csv(part, input), "--resume: line 1 of \"part\": field \"id\" is missing in the header");
    }
    assert!(csv(&whole, "room,at\na,5\n").ends_with("expected at least 3 records of input, as in the output, found 2"));
    assert!(resume(b"", &["--keep-going"], "").err.contains("cannot be used with"));
    assert!(tag(&["--resume", "no/such/file"], "").error(1).starts_with("cannot open \"no/such/file\": "));
}
