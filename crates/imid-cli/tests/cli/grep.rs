//! IDs in logs and other text.

use std::fs;
use std::time::Duration;

use imid::{IdParts, MessageId, SessionTag, SessionType};
use serde_json::{Value, json};

use crate::{command, imid, imid_args};

const NOON: u64 = 1_763_640_000_000;

fn id(ms: u64, session_type: SessionType, name: &str) -> String {
    let session = SessionTag::new(session_type, name);
    MessageId::try_from_parts(IdParts { timestamp_ms: NOON + ms, spin: 7, session_tag: session }).unwrap().to_string()
}

/// A log of five lines. Three of them have four IDs.
fn log() -> String {
    let (a, b, c) =
        (id(0, SessionType::GROUP, "a"), id(5_000, SessionType::PRIVATE, "b"), id(9_000, SessionType::GROUP, "a"));
    format!(
        "2025-11-20T12:00:00Z start 550e8400-e29b-41d4-a716-446655440000\n\
         2025-11-20T12:00:00Z sent \"{a}\",\n\
         no ID\n\
         copy {a}->{};\n\
         last={c}",
        b.to_lowercase()
    )
}

fn lines(numbers: &[usize]) -> String {
    let log = log();
    let lines: Vec<_> = log.lines().collect();
    numbers.iter().flat_map(|number| [lines[number - 1], "\n"]).collect()
}

#[test]
fn lines_with_an_id_are_printed() {
    assert_eq!(imid("grep", log()).ok(), lines(&[2, 4, 5]));
    assert_eq!(imid("grep --count", log()).ok(), "3\n");
    assert_eq!(imid("grep -o --count", log()).ok(), "4\n");
    let (a, b, c) =
        (id(0, SessionType::GROUP, "a"), id(5_000, SessionType::PRIVATE, "b"), id(9_000, SessionType::GROUP, "a"));
    assert_eq!(imid("grep -o", log()).ok(), format!("{a}\n{a}\n{b}\n{c}\n"));
    assert_eq!(imid("grep -on", log()).ok(), format!("2:{a}\n4:{a}\n4:{b}\n5:{c}\n"));
    assert_eq!(imid("grep -n", log()).ok().lines().map(|line| &line[..2]).collect::<Vec<_>>(), ["2:", "4:", "5:"]);
    assert_eq!(imid("grep -l", log()).ok(), "(standard input)\n");
    assert_eq!((imid("grep -q", log()).ok(), imid("grep -q", "no ID\n").status), (String::new(), 1));
    // As in grep, the status says whether something was found.
    let none = imid("grep", "no ID\n");
    assert_eq!((none.status, none.out.as_str(), none.err.as_str()), (1, "", ""));
}

#[test]
fn filters_leave_ids_out() {
    for (args, expected) in [
        ("--type group", &[2, 4, 5][..]),
        ("--type private", &[4]),
        ("--session a", &[2, 4, 5]),
        ("--session b", &[4]),
        ("--type private --session a", &[]),
        ("--from 2025-11-20T12:00:05Z", &[4, 5]),
        ("--to 2025-11-20T12:00:05Z", &[2, 4]),
        ("--from 2025-11-20T12:00:01Z --to 2025-11-20T12:00:09Z", &[4]),
        ("--dialect standard", &[2, 4, 5]),
        ("--dialect juggleim", &[]),
    ] {
        let run = imid(&format!("grep {args}"), log());
        assert_eq!((run.out, run.status), (lines(expected), i32::from(expected.is_empty())), "{args}");
    }
    let error = imid("grep --dialect leaf --type group", "").error(2);
    assert!(error.starts_with("a Snowflake has no session"), "{error}");
    let error = imid("grep --from 2025-11-20 --to 2025-11-19", "").error(2);
    assert!(error.starts_with("expected --from before --to, "), "{error}");
}

#[test]
fn json_has_the_place_and_the_fields() {
    let out = imid("grep --json --type private", log()).ok();
    let mut found: Value = serde_json::from_str(&out).unwrap();
    for form in ["hex", "int", "uuid"] {
        // As in `imid inspect`.
        assert!(found[form].take().is_string());
    }
    let hash = SessionTag::new(SessionType::PRIVATE, "b").session_hash().to_u32();
    let expected = json!({
        "file": null, "line": 4, "at": 26, "id": id(5_000, SessionType::PRIVATE, "b"), "dialect": "standard",
        "timestamp_ms": NOON + 5_000, "time": "2025-11-20T12:00:05.000Z", "spin": 7, "type": 1, "type_name": "PRIVATE",
        "hash": hash, "form": "lenient text", "hex": null, "int": null, "uuid": null,
    });
    assert_eq!(found, expected);
    let found: Value =
        serde_json::from_str(&imid("grep --json --dialect twitter", "id=204697221847986177,").ok()).unwrap();
    assert_eq!((&found["at"], &found["node"], &found["sequence"]), (&json!(3), &json!(35), &json!(1)));
}

#[test]
fn several_files_are_named_and_a_missing_one_does_not_hide_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("a.log"), log()).unwrap();
    fs::write(path("b.bin"), [b"\0\xff\xfe\0", id(1, SessionType::GROUP, "a").as_bytes(), b"\xff\n\0"].concat())
        .unwrap();
    let run = imid_args(
        &["grep", "-on", "--from", "2025-11-20T12:00:09Z", &path("a.log"), &path("none"), &path("b.bin")],
        "",
    );
    assert_eq!((run.status, run.out), (2, format!("{}:5:{}\n", path("a.log"), id(9_000, SessionType::GROUP, "a"))));
    assert!(run.err.starts_with(&format!("error: cannot open {:?}: ", path("none"))), "{}", run.err);
    // A person can take the first argument for a pattern.
    let first = id(0, SessionType::GROUP, "a");
    for pattern in [first.clone(), first.to_lowercase(), "0x66a8ab1ad0001cfc856b".to_owned()] {
        let error = imid_args(&["grep", &pattern, &path("a.log")], "").error(2);
        assert_eq!(error, format!("{pattern:?} is an ID, and there is no such file; to find it, give --id {pattern}"));
        fs::write(folder.path().join(&pattern), log()).unwrap();
        assert!(command().args(["grep", "-q", &pattern]).current_dir(folder.path()).output().unwrap().status.success());
    }
    // A line of another encoding is printed as it is.
    let out = command().args(["grep", &path("b.bin")]).output().unwrap().stdout;
    assert!(out.starts_with(b"\0\xff\xfe\0") && out.ends_with(b"\xff\n"));
    let counts = imid_args(&["grep", "--count", &path("a.log"), &path("b.bin")], "").ok();
    assert_eq!(counts, format!("{}:3\n{}:1\n", path("a.log"), path("b.bin")));
}

#[test]
fn the_ids_of_many_blocks_have_the_numbers_of_their_lines() {
    let text = |n: u64| match n % 1_000 {
        0 => format!("x {} y", id(n, SessionType::GROUP, "a")),
        _ => format!("line {n} of a-b-c-d text"),
    };
    let lines: Vec<_> = (1..=40_000).map(text).collect();
    let out = imid("grep -on", lines.join("\n")).ok();
    let found = |n: u64| format!("{}:{}", n * 1_000, id(n * 1_000, SessionType::GROUP, "a"));
    let expected = (1..=40).map(found).collect::<Vec<_>>().join("\n") + "\n";
    assert_eq!(out, expected);
}

#[test]
fn one_id_is_found_in_each_of_its_forms() {
    let text = "EUNC-Q8QJ-22GH-T3DD\n";
    let dump = "\\\\x66a8ab1ad0001cfc856b,a\n484792763652715801511275\n{\"id\":\"ZqirGtAAHPyFaw==\"}\n\
                019AA2AC6B4070078FC856BFFFFFFFFF\neuncq8qj22ght3dd\nEUNC-Q8QJ-22GH-T3DE\n66a8ab1ad0001cfc856c\n";
    for id in ["EUNC-Q8QJ-22GH-T3DD", "0x66a8ab1ad0001cfc856b", "484792763652715801511275"] {
        let out = imid(&format!("grep -n --id {id}"), format!("{text}{dump}")).ok();
        let numbers: Vec<_> = out.lines().map(|line| line.split(':').next().unwrap()).collect();
        assert_eq!(numbers, ["1", "2", "3", "4", "5", "6"], "{out}");
    }
    let both = imid("grep -c --id EUNC-Q8QJ-22GH-T3DD --id EUNC-Q8QJ-22GH-T3DE", format!("{text}{dump}")).ok();
    assert_eq!(both, "8\n");
    assert_eq!(imid("grep -c --id 204697221847986177", "a 204697221847986177 b\n").ok(), "1\n");
    assert!(imid("grep --id x", "").error(2).starts_with("--id: \"x\" is not an ID: "));
}

#[test]
fn folders_are_searched_and_what_cannot_be_read_is_status_2() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::create_dir_all(path("a/b")).unwrap();
    let id = id(1, SessionType::GROUP, "a");
    for name in ["a/b/2.log", "a/1.log", "0.log"] {
        fs::write(path(name), format!("x {id}\n")).unwrap();
    }
    fs::write(path("a/none.log"), "no ID\n").unwrap();
    let out = imid_args(&["grep", "-rl", &path("")], "").ok();
    let names: Vec<_> = out.lines().map(|line| line.rsplit('/').next().unwrap()).collect();
    assert_eq!(names, ["0.log", "1.log", "2.log"], "{out}");
    assert_eq!(imid_args(&["grep", "-ro", &path("0.log")], "").ok(), format!("{}:{id}\n", path("0.log")));
    let run = imid_args(&["grep", &path("a")], "");
    assert!(run.status == 2 && run.err.ends_with(" is a folder; to search it, use -r\n"), "{}", run.err);
    assert_eq!(imid_args(&["grep", "-r", &path("none")], "").status, 2);
    // What is found is checked without a change.
    assert!(imid("check", imid_args(&["grep", "-o", &path("0.log")], "").ok()).ok().contains("valid"));
    // A named pipe, which nobody writes, has no end.
    #[cfg(unix)]
    {
        assert!(std::process::Command::new("mkfifo").arg(path("a/pipe")).status().unwrap().success());
        let ran = command().args(["grep", "-rl", &path("")]).timeout(Duration::from_secs(60)).output().unwrap();
        assert_eq!((ran.status.code(), String::from_utf8(ran.stdout).unwrap()), (Some(0), out));
    }
}

/// Dashes as word processors, URLs, HTML, mails and shells write them, and those after which a line ends.
const DASHES: [&str; 20] = [
    "\u{2010}",
    "\u{2011}",
    "\u{2012}",
    "\u{2013}",
    "\u{2014}",
    "\u{2212}",
    "\u{fe63}",
    "\u{ff0d}",
    "%2D",
    "%2d",
    "&#45;",
    "&#x2d;",
    "=2D",
    "\\-",
    "\\u002d",
    "-\n",
    "-\r\n",
    "-=\n",
    "-\n> ",
    "\u{2010}\n",
];

#[test]
fn an_id_with_other_dashes_is_found_and_its_first_line_is_printed() {
    let id = id(0, SessionType::GROUP, "a");
    let view = id.parse::<MessageId>().unwrap().to_uuid().to_string();
    for dash in DASHES {
        // Each way to write the ID, with its line number and its first line.
        let (mut input, mut places) = ("none\n".to_owned(), Vec::new());
        for text in [&id, &view] {
            let text = text.replace('-', dash);
            // The last one has only one of these dashes.
            for written in [text.clone(), text.to_lowercase().replace("\\u002d", dash), text.replacen(dash, "-", 2)] {
                let first = format!("x {written}").split('\n').next().unwrap().to_owned();
                places.push((input.lines().count() + 1, if written.contains('\n') { first } else { first + " y" }));
                input.extend(["x ", &written, " y\nz abcd-\nend\n"]);
            }
        }
        let lines = places.iter().map(|(number, line)| format!("{number}:{line}\n")).collect::<Vec<_>>().concat();
        for args in ["grep -n".to_owned(), format!("grep -n --id {id}")] {
            assert_eq!(imid(&args, input.as_str()).out, lines, "{args} {dash:?}");
        }
        let ids = places.iter().map(|(number, _)| format!("{number}:{id}\n")).collect::<Vec<_>>().concat();
        assert_eq!(imid("grep -on", input.as_str()).ok(), ids, "{dash:?}");
        let json = imid("grep --json", input.as_str()).ok();
        assert_eq!(json.lines().count(), places.len(), "{dash:?}");
        for (json, (number, _)) in json.lines().zip(&places) {
            let json: Value = serde_json::from_str(json).unwrap();
            assert_eq!((&json["line"], &json["at"], &json["id"]), (&json!(number), &json!(2), &json!(id)), "{dash:?}");
        }
        assert_eq!(imid("grep -c", input.as_str()).ok(), format!("{}\n", places.len()), "{dash:?}");
    }
    // The end of the input is no dash.
    assert_eq!(imid("grep -c", "x abcd-\nefgh-\n").out, "0\n");
    // Words that a dash joins, and IDs beside such dashes, are what they were.
    for (text, found) in [
        (format!("a \u{2013} b%2Dc {id}\n"), 1),
        (format!("abcd-\n{id}-\nabcd\n"), 1),
        (format!("{id}\u{2013}{id}\n{id}-\n{id}\n"), 4),
        ("EUNC-\nQ8QJ\n-22GH-T3DD EUNC -Q8QJ-22GH-T3DD\n".to_owned(), 0),
    ] {
        assert_eq!(imid("grep -o", text.as_str()).out.lines().count(), found, "{text:?}");
    }
}

#[test]
fn an_id_that_the_end_of_a_read_divides_is_found() {
    let text = id(0, SessionType::GROUP, "a").replacen('-', "-\n", 2);
    let input = format!("{}x {text} y\nend {text}", "a line\n".repeat(3));
    for cut in 0..=input.len() {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_imid"))
            .args(["grep", "-on"])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        std::io::Write::write_all(&mut stdin, &input.as_bytes()[..cut]).unwrap();
        std::thread::sleep(Duration::from_millis(15));
        std::io::Write::write_all(&mut stdin, &input.as_bytes()[cut..]).unwrap();
        drop(stdin);
        let out = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
        let id = id(0, SessionType::GROUP, "a");
        assert_eq!(out, format!("4:{id}\n7:{id}\n"), "{cut}");
    }
}

#[test]
fn a_line_that_is_too_long_to_print_is_searched() {
    const MAX: usize = 1 << 26;
    let ids: Vec<_> = (0..3).map(|n| id(n, SessionType::GROUP, "a")).collect();
    // Around the places where pieces end.
    for at in [MAX - 2_048 - 10] {
        let mut input = vec![b'.'; MAX + 10_000];
        for (n, id) in ids.iter().take(2).enumerate() {
            input[at + 30 * n..][..id.len()].copy_from_slice(id.as_bytes());
        }
        let input = [b"first\n", &input[..], b"\nlast ", ids[2].as_bytes(), b"\n"].concat();
        let found = |n: usize, line: u64| format!("{line}:{}\n", ids[n]);
        assert_eq!(imid("grep -on", input.as_slice()).ok(), found(0, 2) + &found(1, 2) + &found(2, 3), "{at}");
        assert_eq!(imid("grep -c", input.as_slice()).ok(), "2\n", "{at}");
        assert_eq!(imid(&format!("grep -q --id {}", ids[1]), input.as_slice()).status, 0, "{at}");
        let json = imid("grep --json", input.as_slice()).ok();
        assert!(json.lines().nth(1).unwrap().contains(&format!("\"line\":2,\"at\":{},", at + 30)), "{json}");
        let run = imid("grep", input);
        let hint = "a line of more than 67108864 bytes is not printed; -o prints its IDs";
        assert_eq!((run.status, run.out), (2, format!("last {}\n", ids[2])));
        assert_eq!(run.err, format!("error: {} at byte {at} of its line: {hint}\n", ids[0]));
    }
}

#[test]
fn ids_of_a_file_are_found_in_each_of_their_forms() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let ids: Vec<MessageId> = (0..2_000).map(|n| id(n, SessionType::GROUP, "a").parse().unwrap()).collect();
    let text = |id: &MessageId, n: usize| match n % 6 {
        0 => id.to_string(),
        1 => id.to_string().to_lowercase(),
        2 => format!("\\x{}", id.to_hex()),
        3 => id.to_u128().to_string(),
        4 => id.to_uuid().to_string(),
        _ => id.to_string().replace('-', "%2D"),
    };
    // Each second ID is searched, in another form than the one in which it is there.
    let asked: Vec<_> = ids.iter().step_by(2).enumerate().map(|(n, id)| text(id, n % 5)).collect();
    fs::write(path("ids.txt"), "\u{feff}".to_owned() + &asked.join("\r\n") + "\n\n").unwrap();
    let log: Vec<_> = ids.iter().enumerate().map(|(n, id)| format!("x={},", text(id, n / 2))).collect();
    fs::write(path("app.log"), log.join("\n")).unwrap();
    let expected = ids.iter().step_by(2).map(MessageId::to_string).collect::<Vec<_>>().join("\n") + "\n";
    assert_eq!(imid_args(&["grep", "-o", "-f", &path("ids.txt"), &path("app.log")], "").ok(), expected);
    let from_stdin = imid_args(&["grep", "-o", "-f", "-", &path("app.log")], asked.join("\n"));
    assert_eq!(from_stdin.ok(), expected);
    let both = imid_args(&["grep", "-c", "-f", &path("ids.txt"), "--id", &ids[1].to_string(), &path("app.log")], "");
    assert_eq!(both.ok(), "1001\n");

    fs::write(path("wrong.txt"), format!("{}\nx\n", ids[0])).unwrap();
    let error = imid_args(&["grep", "-f", &path("wrong.txt"), &path("app.log")], "").error(2);
    assert!(error.starts_with("--file: line 2: \"x\" is not an ID: "), "{error}");
    fs::write(path("none.txt"), "\n").unwrap();
    let error = imid_args(&["grep", "-f", &path("none.txt"), &path("app.log")], "").error(2);
    assert!(error.starts_with("--file: expected an ID, found none in "), "{error}");
    let many = imid("new -n 10001", "").ok();
    let noted = imid_args(&["grep", "-c", "-f", "-", &path("app.log")], many.as_str());
    assert!(
        noted.err.starts_with("note: these are more than 10000 IDs: their bytes are not found as lists"),
        "{}",
        noted.err
    );
    let error = imid("grep -f -", "").error(2);
    assert_eq!(error, "--file: expected a FILE to search, because the IDs are on standard input");
}
