//! No byte of a message is lost or changed, whatever the message is.

use std::fmt::Write;

use imid::MessageId;

use crate::random::Random;
use crate::{command, imid};

struct Tagged {
    out: Vec<u8>,
    err: String,
}

fn tag(args: &str, input: &[u8]) -> Tagged {
    let ran = command().args(args.split(' ')).write_stdin(input).output().unwrap();
    Tagged { out: ran.stdout, err: String::from_utf8(ran.stderr).unwrap() }
}

/// Returns the numbers of the lines that were reported.
fn reported(err: &str) -> Vec<usize> {
    let numbers = err.lines().filter_map(|line| line.strip_prefix("error: line ")?.split(':').next()?.parse().ok());
    numbers.collect()
}

/// Removes the member that `tag` added.
fn without_id(line: &[u8]) -> Vec<u8> {
    let member =
        b",\"id\":\"".iter().chain([b'_'; MessageId::TEXT_LEN].iter()).chain(b"\"").copied().collect::<Vec<_>>();
    let start = line.windows(7).rposition(|window| window == b",\"id\":\"").expect("a line has an ID");
    assert!(line[start + 7..][..MessageId::TEXT_LEN].iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-'));
    [&line[..start], &line[start + member.len()..]].concat()
}

#[test]
fn sixty_thousand_mutated_lines_lose_no_byte() {
    let mut random = Random(1);
    let mut input = Vec::new();
    for n in 0..60_000 {
        let text = random.one_of(&["hi", "\\u00e9 \\\"x\\\"", "日本", "\u{2028}", "a\\\\", "", "🍵 \u{7f}"]);
        let space = random.one_of(&["", " ", "\t", "  "]);
        let extra = random.one_of(&["", ",\"n\":1e400", ",\"o\":{\"s\":[1,{}]}", ",\"\\u0061\":null", ",\"f\":-0.0"]);
        let end = random.one_of(&["\n", "\n", "\n", "\r\n", " \n", "\n\n"]);
        let mut line =
            format!("{space}{{{space}\"s\":{space}\"{n}\"{space},\"t\":\"{text}\"{extra}{space}}}{end}").into_bytes();
        // Some lines get a byte that is wrong, doubled or missing.
        let at = random.below(line.len() as u64 - 2) as usize;
        match random.below(6) {
            0 => line[at] = random.below(256) as u8,
            1 => line.insert(at, line[at]),
            2 => drop(line.remove(at)),
            _ => {}
        }
        input.extend(line);
    }
    input.truncate(input.len() - 1);
    // A mark at the start is not a part of the first line.
    let few = input.split_inclusive(|byte| *byte == b'\n').take(100).map(<[u8]>::len).sum();
    for (start, input) in [("", &input[..]), ("\u{feff}", &input[..few])] {
        let tagged = tag("tag --session-field s --keep-going", &[start.as_bytes(), input].concat());
        let bad = reported(&tagged.err);
        let lines = input.split(|byte| *byte == b'\n').count();
        assert!((lines / 60..lines * 2 / 3).contains(&bad.len()), "{} bad lines of {lines}", bad.len());
        let mut bad = bad.into_iter().peekable();
        let mut written = tagged.out.split_inclusive(|byte| *byte == b'\n');
        for (index, line) in input.split_inclusive(|byte| *byte == b'\n').enumerate() {
            if bad.next_if_eq(&(index + 1)).is_some() {
                continue;
            }
            let tagged = written.next().expect("a line that is not reported is written");
            let kept = if line.trim_ascii().is_empty() { tagged.to_vec() } else { without_id(tagged) };
            assert_eq!(kept, line, "line {}", index + 1);
        }
        assert!(written.next().is_none() && bad.next().is_none());
    }
}

/// Returns random CSV with a header, and the number of its records.
fn random_csv(random: &mut Random, delimiter: char, records: usize) -> String {
    let d = delimiter;
    let line_end = random.one_of(&["\n", "\r\n"]);
    let mut csv = format!("{}room{d}at{d}\"the \"\"text\"\"\"{line_end}", random.one_of(&["", "\u{feff}"]));
    for n in 0..records {
        let quoted_delimiter = format!("\"{d}{d}\"");
        let text = random.one_of(&[
            "",
            "plain",
            "\"\"",
            "\"a \"\"b\"\" c\"",
            "\"two\nlines\"",
            "\"two\r\nlines\r\n\"",
            "5\" disk",
            "é \u{feff}",
            " x ",
            &quoted_delimiter,
        ]);
        let room = random.one_of(&["room", "\"room\"", "\"a\nb\""]);
        let blank = random.one_of(&["", "", "", line_end]);
        write!(csv, "{blank}{room}{d}1763640{n:06}{d}{text}{line_end}").unwrap();
    }
    if random.below(2) == 0 {
        csv.truncate(csv.len() - line_end.len());
    }
    csv
}

#[test]
fn csv_keeps_every_byte_and_each_record_gets_the_id_of_its_fields() {
    let mut random = Random(2);
    for round in 0..12 {
        let (name, delimiter) = if round % 2 == 0 { ("csv", ',') } else { ("ssv", ';') };
        let input = random_csv(&mut random, delimiter, 3_000);
        let args = format!(
            "tag --in {name} --session-field room --time-field at --seed 1 --id-field id,hex --id-form text,hex"
        );
        let run = imid(&args, input.as_str());
        let summary =
            "tagged 3000 lines, from 2025-11-20T12:00:00.000Z to 2025-11-20T12:00:02.999Z; no ID moved forward\n";
        assert_eq!((run.status, run.err.as_str()), (0, summary));

        // The other reader is the crate csv.
        let read = |text: &str| {
            let mut reader =
                csv::ReaderBuilder::new().has_headers(false).delimiter(delimiter as u8).from_reader(text.as_bytes());
            reader.records().map(Result::unwrap).collect::<Vec<_>>()
        };
        let (before, after) = (read(&input), read(&run.out));
        assert_eq!((before.len(), after.len()), (3_001, 3_001));
        assert_eq!((&after[0][3], &after[0][4]), ("id", "hex"));
        let (mut plain, mut rest) = (String::new(), run.out.as_str());
        for (before, after) in before.iter().zip(&after) {
            assert_eq!(before.iter().collect::<Vec<_>>(), after.iter().take(3).collect::<Vec<_>>());
            let added = format!("{delimiter}{}{delimiter}{}", &after[3], &after[4]);
            let (kept, others) = rest.split_once(&added).unwrap();
            plain += kept;
            rest = others;
        }
        assert!(plain + rest == input, "round {round}");
        for record in &after[1..] {
            let id: MessageId = record[3].parse().unwrap();
            assert_eq!(id.to_hex().as_str(), &record[4]);
            assert_eq!(id.timestamp_ms().to_string(), record[1]);
            assert!(id.is_in(imid::SessionTag::new(imid::SessionType::MIN, &record[0])));
        }
    }
}

#[test]
fn a_bad_record_of_csv_is_named_by_its_first_line() {
    let csv = "room,at\n\"a\nb\",1\nx,1,2\n\n\ny,z\nw,5\n";
    let run = imid("tag --in csv --session-field room --time-field at --any-time --keep-going", csv);
    let expected = "error: line 4: expected 2 fields as in the header, found 3\nerror: line 7: field \"at\": expected ";
    assert!(run.err.starts_with(expected), "{}", run.err);
    assert_eq!((run.status, run.out.lines().count()), (1, 6));

    // A record that is left out takes its own line end with it, and not that of the record before.
    let run = imid("tag --in csv --session-field room --keep-going", "room,at\r\na,1\r\nx\r\nb,2\r\n");
    let line_ends = run.out.matches("\r\n").count();
    assert_eq!(
        (run.status, line_ends, run.out.lines().count(), run.out.ends_with("\r\n")),
        (1, 3, 3, true),
        "{}",
        run.out
    );

    let error = |args: &str, csv: &str| imid(&format!("tag --in csv --session-field room {args}"), csv).error(1);
    assert_eq!(error("", "a,b\n1,2\n"), "line 1: field \"room\" is missing in the header, which has \"a\", \"b\"");
    assert_eq!(error("", "\n\na,b\n1,2\n"), "line 3: field \"room\" is missing in the header, which has \"a\", \"b\"");
    assert_eq!(error("", "room,room\n1,2\n"), "line 1: field \"room\" occurs more than once in the header");
    assert_eq!(
        error("--time-field at", "room\n1\n"),
        "line 1: field \"at\" is missing in the header, which has \"room\""
    );
    assert_eq!(error("", "room,id\n1,2\n"), "line 1: field \"id\" already exists");
    let not_utf_8 = imid("tag --in csv --session-field room", b"room,a\xff\n1,2\n").error(1);
    assert_eq!(not_utf_8, "line 1: field 2 of the header: expected UTF-8, found byte 0xff at 1");
    assert_eq!(imid("tag --in csv --session-field room", "").ok(), "");
    assert_eq!(imid("tag --in csv --session-field room --id-field a\"b", "room\n").ok(), "room,\"a\"\"b\"\n");
    // A template of CSV fields.
    let out = imid("tag --in csv --session-field {room}:{at}", "room,at\na,1\n").ok();
    let id: MessageId = out.lines().nth(1).unwrap().rsplit(',').next().unwrap().parse().unwrap();
    assert!(id.is_in(imid::SessionTag::new(imid::SessionType::MIN, "a:1")));
}

#[test]
fn blank_lines_before_a_bad_record_are_copied() {
    let csv = "\n\nroom,at\n\r\nkitchen,1763640000000\n\n\nbad\n\nhall,1763640000001\n\n";
    let run = imid("tag --in csv --session-field room --time-field at --seed 1 --keep-going", csv);
    assert_eq!(run.status, 1);
    let blanks_and_rooms: Vec<_> = run.out.lines().map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(blanks_and_rooms, ["", "", "room", "", "kitchen", "", "", "", "hall", ""]);
}

#[test]
fn tsv_keeps_every_byte_and_each_record_gets_the_id_of_its_unescaped_fields() {
    let mut random = Random(3);
    // Fields as databases write them, and what they stand for.
    let rooms = [
        ("a", "a"),
        ("", ""),
        ("\"hi\"", "\"hi\""),
        ("\"", "\""),
        ("C:\\\\x", "C:\\x"),
        ("\\t\\n", "\t\n"),
        ("\\\tx\\\n", "\tx\n"),
    ];
    for round in 0..12 {
        let line_end = random.one_of(&["\n", "\r\n"]);
        let mut input = format!("{}text\troom\tat{line_end}", random.one_of(&["", "\u{feff}"]));
        let mut expected = Vec::new();
        for n in 0..3_000 {
            let text = random.one_of(&[
                "",
                "\"",
                "\"to be",
                "question\"",
                "\"a\" b",
                "\"\"",
                "C:\\x",
                "\\\\",
                "\\N",
                "\\.",
                "a\\\n\\\tb",
                "\rx",
                "é",
            ]);
            let (room, name) = random.one_of(&rooms);
            write!(input, "{text}\t{room}\t1763640{n:06}{line_end}").unwrap();
            expected.push((name, 1_763_640_000_000 + n));
        }
        if random.below(2) == 0 {
            input.truncate(input.len() - line_end.len());
        }
        let run = imid("tag --in tsv --session-field room --time-field at --seed 1", input.as_str());
        assert!(run.status == 0 && run.err.starts_with("tagged 3000 lines"), "round {round}: {}", run.err);
        let (header, mut rest) = run.out.split_once("\tid").unwrap();
        let mut plain = header.to_owned();
        for (name, ms) in expected {
            let (before, after) = rest.split_once(&format!("{ms}\t")).unwrap();
            let (id, after) = after.split_at(MessageId::TEXT_LEN);
            let id: MessageId = id.parse().unwrap();
            assert_eq!(id.timestamp_ms(), ms);
            assert!(id.is_in(imid::SessionTag::new(imid::SessionType::MIN, name)), "{name:?}");
            write!(plain, "{before}{ms}").unwrap();
            rest = after;
        }
        assert!(plain + rest == input, "round {round}");
    }
}

#[test]
fn the_tsv_of_a_spreadsheet_is_refused() {
    let expected = "expected TSV as databases write it, found quotes as in the TSV of a spreadsheet, which is not read (save the table as CSV)";
    for (table, line) in [
        ("\"room\"\t\"text\"\n\"a\"\t\"x\"\n", 1),
        ("room\ttext\na\tx\na\t\"two\nlines\"\n", 3),
        ("room\ttext\na\t\"two\n\nlines\nmore\"\nb\tx\n", 2),
        ("room\ttext\na\t\"a\ttab\"\n", 2),
        ("text\troom\n\"two\nlines\"\ta\n", 2),
        ("room\ttext\r\na\t\"two\nlines\"\r\n", 2),
        ("room\ttext\n\"a, b\"\tx\n", 2),
        ("room\ttext\n\"say \"\"hi\"\"\"\tx\n", 2),
    ] {
        for options in ["", "--keep-going"] {
            let run = imid(&format!("tag --in tsv --session-field room {options}"), table);
            let problem = run.error_line().strip_prefix(&format!("error: line {line}: ")).unwrap_or_default();
            assert!(run.status == 1 && problem.contains(expected), "{table:?}: {}", run.err);
        }
        let run = imid("check --in tsv --id-field room", table);
        assert!(run.status == 1 && run.err.contains(expected), "{table:?}: {}", run.err);
    }
}

/// The `\r` is of the line end, and no escape.
#[test]
fn a_field_of_tsv_that_ends_with_a_backslash_is_an_error_with_each_line_end() {
    for line_end in ["\n", "\r\n"] {
        let table = format!("text\troom{line_end}a\tC:\\{line_end}b\tx{line_end}");
        let run = imid("tag --in tsv --session-field room", table.as_str());
        assert!(run.status == 1 && run.err.starts_with("error: line 2: "), "{table:?}: {}", run.err);
    }
}

#[test]
fn a_missing_value_is_not_the_name_of_a_session() {
    for (table, found) in [
        ("tsv room\tat\n\\N\t5\n", "\\N"),
        ("tsv room\tat\nNULL\t5\n", "NULL"),
        ("csv room,at\n,5\n", "an empty field (an empty text is written \"\")"),
        ("csv room,at\n\\N,5\n", "\\N"),
    ] {
        let (kind, table) = table.split_once(' ').unwrap();
        let run = imid(&format!("tag --in {kind} --session-field room"), table);
        assert_eq!(run.error_line(), format!("error: line 2: field \"room\" is missing: found {found}"), "{table}");
    }
    for table in ["tsv room\tat\n\t5\n", "csv room,at\n\"\",5\n", "csv room,at\nNULL,5\n", "csv room,at\n\"\\N\",5\n"] {
        let (kind, table) = table.split_once(' ').unwrap();
        assert_eq!(imid(&format!("tag --in {kind} --session-field room"), table).status, 0, "{table}");
    }
}
