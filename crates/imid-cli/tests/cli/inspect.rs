use imid::MessageId;

use crate::{command, imid, imid_args};

const ID: &str = "EMAQ-2948-WCRV-T3DD";
/// The JSON of the ID after it was read from lower case without dashes.
fn lenient() -> String {
    JSON.replace(r#""form":"text""#, r#""form":"lenient text""#)
}

const JSON: &str = concat!(
    r#"{"id":"EMAQ-2948-WCRV-T3DD","dialect":"standard","timestamp_ms":1732037865755,"time":"2024-11-19T17:37:45.755Z","#,
    r#""spin":2219,"type":14,"type_name":null,"hash":3966315,"hex":"64d1601c46e2afbc856b","#,
    r#""int":"476098943286636231558507","uuid":"01934580-711b-78ab-bbc8-56bfffffffff","form":"text"}"#
);

#[test]
fn json_has_the_fields_in_their_order() {
    assert_eq!(imid(&format!("inspect --json {ID}"), "").ok(), format!("{JSON}\n"));
    let json = imid("inspect --json 2222-2222-22B2-2222", "").ok();
    let expected = concat!(
        r#"{"id":"2222-2222-22B2-2222","dialect":"standard","timestamp_ms":0,"time":"1970-01-01T00:00:00.000Z","#,
        r#""spin":4,"type":8,"type_name":"PUBLIC_SERVICE","hash":0,"hex":"00000000000012000000","#,
        r#""int":"301989888","uuid":"00000000-0000-7004-a000-000fffffffff","form":"text"}"#
    );
    assert_eq!(json, format!("{expected}\n"));
}

#[test]
fn pasted_text_is_read_from_arguments_and_from_lines() {
    for pasted in ["emaq2948wcrvt3dd", "EMAQ-2948WCRV-t3dd"] {
        assert_eq!(imid(&format!("inspect --json {pasted}"), "").ok(), format!("{}\n", lenient()));
    }
    let lines = format!("\n  {ID} \r\n\t\r\nemaq2948wcrvt3dd");
    assert_eq!(imid("inspect --json", lines).ok(), format!("{JSON}\n{}\n", lenient()));
}

#[test]
fn a_session_is_compared_by_its_hash() {
    // The exit status says whether the session matches.
    let says = |args: &str| {
        let run = imid(&format!("inspect {args} {ID}"), "");
        assert_eq!((run.status, run.err.as_str()), (i32::from(args.contains("room-43")), ""));
        run.out
    };
    let (yes, no) = (r#","session_match":true}"#, r#","session_match":false}"#);
    assert_eq!(says("--json --session room-42"), JSON.replace('}', yes) + "\n");
    assert_eq!(says("--json --session room-43"), JSON.replace('}', no) + "\n");
    assert!(says("--session room-42").contains("session  the hash matches"));
    assert!(says("--session room-43").contains("session  no match: this ID is of another session"));
    assert_eq!(says("--json --type 14 --session room-42"), JSON.replace('}', yes) + "\n");
    for (args, status) in
        [("--type 13 --session room-42", 1), ("--session room-42 --peer room-42", 1), ("--type 14", 2)]
    {
        let run = imid(&format!("inspect {args} {ID}"), "");
        assert_eq!(run.status, status, "{args}: {}", run.err);
    }
    // The types of another dialect have other names.
    let id = imid("new --dialect juggleim --type group --session room-42", "").ok();
    let run = imid("inspect --dialect juggleim --type Group --session room-42 --json", id);
    assert!(run.ok().contains(yes));

    let private = imid("new --session alice --peer bob", "").ok();
    assert!(imid("inspect --json --session bob --peer alice", private.as_str()).ok().contains(yes));
    let run = imid("inspect --json --session bob", private);
    assert!(run.status == 1 && run.out.contains(no), "{}", run.out);
}

#[test]
fn the_drawing_shows_the_bits_of_each_field() {
    let mut command = command();
    let run = command.env("TZ", "Asia/Tokyo").args(["inspect", "--bits", ID]).output().unwrap();
    let out = String::from_utf8(run.stdout).unwrap();
    let expected = "\
EMAQ-2948-WCRV-T3DD
01100100110100010110000000011100010001101110001010101111101111001000010101101011
+----------------------------------------++----------++--++--------------------+
            timestamp, Unix ms                spin    type     session hash
              1732037865755                   2219     14        3966315
UTC      2024-11-19T17:37:45.755Z
local    2024-11-20T02:37:45.755+09:00 Asia/Tokyo
age      ";
    assert!(out.starts_with(expected), "{out}");
    let expected = "
hex      64d1601c46e2afbc856b
integer  476098943286636231558507
uuid     01934580-711b-78ab-bbc8-56bfffffffff
read as  text of standard

";
    assert!(out.ends_with(expected), "{out}");
    let future = imid("inspect ZZZZ-ZZZZ-ZZZZ-ZZZZ", "").ok();
    assert!(future.contains("ahead of this machine's clock"), "{future}");
}

#[test]
fn environment_variables_set_colors() {
    let out = |name: &str| {
        String::from_utf8(command().env(name, "1").args(["inspect", "--bits", ID]).output().unwrap().stdout).unwrap()
    };
    let (plain, coloured) = (out("NO_COLOR"), out("CLICOLOR_FORCE"));
    assert!(!plain.contains('\x1b'));
    assert!(coloured.contains("\x1b[36m011001001101000101100000000111000100011011\x1b[0m"), "{coloured}");
}

#[test]
fn a_bad_id_is_reported_with_its_place_after_the_output_of_earlier_ids() {
    let run = imid(&format!("inspect --json {ID} EMAQ-2948-WCRV-T3D0 {ID}"), "");
    let expected = "error: argument 2: \"EMAQ-2948-WCRV-T3D0\" is not an ID: \
                    expected a digit 2-9 or A-Z without I and O, found '0' at 18; did you mean EMAQ-2948-WCRV-T3DD or EMAQ-2948-WCRV-T3DQ?\n";
    assert_eq!((run.status, run.out, run.err.as_str()), (1, format!("{JSON}\n"), expected));

    let run = imid("inspect --json", format!("{ID}\n\nx\n{ID}\n"));
    let expected =
        "error: line 3: \"x\" is not an ID: expected a digit 2-9 or A-Z without I and O, found the end at 1\n";
    assert_eq!((run.status, run.out, run.err.as_str()), (1, format!("{JSON}\n"), expected));
}

#[test]
fn keep_going_reports_each_bad_id_and_reads_the_others() {
    let run = imid("inspect --json --keep-going", [b"1\n\xff\n", ID.as_bytes(), b"\n"].concat());
    let expected = "error: line 1: \"1\" is not an ID: expected a digit 2-9 or A-Z without I and O, found '1' at 0\n\
                    error: line 2: expected UTF-8, found byte 0xff at 0\n";
    assert_eq!((run.status, run.out, run.err.as_str()), (1, format!("{JSON}\n"), expected));
}

/// Runs `inspect` with environment variables.
fn inspect_with(variables: &[(&str, &str)], args: &[&str]) -> String {
    let run = command().envs(variables.iter().copied()).arg("inspect").args(args).output().unwrap();
    assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).unwrap()
}

#[test]
fn the_local_time_has_the_zone_of_the_option() {
    let local = |zone: &str, id: &str| {
        let out = inspect_with(&[], &["--time-zone", zone, id]);
        out.lines().find_map(|line| line.strip_prefix("local    ")).unwrap().to_owned()
    };
    assert_eq!(local("Asia/Shanghai", ID), "2024-11-20T01:37:45.755+08:00 Asia/Shanghai");
    assert_eq!(local("America/New_York", ID), "2024-11-19T12:37:45.755-05:00 America/New_York");
    assert_eq!(local("America/New_York", "2222-2222-2222-2222"), "1969-12-31T19:00:00.000-05:00 America/New_York");
    let error = imid(&format!("inspect --time-zone Mars/Olympus {ID}"), "").error(2);
    assert!(
        error.ends_with("expected a time zone such as Europe/Berlin, +08:00 or UTC, found \"Mars/Olympus\""),
        "{error}"
    );

    // The offset changes within a file, in both directions.
    let (summer, winter) =
        (MessageId::first_at(1_720_000_000_123).unwrap(), MessageId::first_at(1_730_000_000_456).unwrap());
    let (summer, winter) = (summer.to_string(), winter.to_string());
    let out = inspect_with(&[], &["--time-zone", "America/Santiago", &summer, &winter, &summer]);
    let offsets: Vec<_> = out.lines().filter_map(|line| line.strip_prefix("local    ")).collect();
    let winter = "2024-10-27T00:33:20.456-03:00 America/Santiago";
    let summer = "2024-07-03T05:46:40.123-04:00 America/Santiago";
    assert_eq!(offsets, [summer, winter, summer]);
}

#[test]
fn a_mismatch_of_one_session_sets_the_exit_status_after_all_ids_are_shown() {
    let run = imid(&format!("inspect --format text --session room-42 2222-2222-2222-2222 {ID}"), "");
    assert_eq!((run.status, run.out, run.err.as_str()), (1, format!("2222-2222-2222-2222\n{ID}\n"), ""));
}

#[test]
fn a_text_that_is_not_an_id_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ids.txt");
    std::fs::write(&file, ID).unwrap();
    let file = file.to_str().unwrap();
    for (text, expected) in [
        ("1763640000000", "\"1763640000000\" is a time in Unix milliseconds, 2025-11-20T12:00:00.000Z, not an ID"),
        ("1763640000", "\"1763640000\" is a time in Unix seconds, 2025-11-20T12:00:00.000Z, not an ID"),
        (file, &format!("; it is a file: to read its lines, write < {file}")),
        ("id=emaq2948wcrvt3dd;", "; there is an ID at 3: EMAQ-2948-WCRV-T3DD"),
        ("id 66a8ab1ad0001cfc856b.", "; there is an ID at 3: EUNC-Q8QJ-22GH-T3DD"),
    ] {
        let error = imid_args(&["inspect", "--json", text], "").error(1);
        assert!(error.ends_with(expected), "{error}");
    }
}

/// A ticket as customers write it, with one ID.
const TICKET: &str = "Ticket 88121: customer (phone Xiaomi, IMEI 861234567890123, order 202611261234567890) lost message \
                      EUNC-Q8QJ-22GH-T3DD. trace=4bf92f3577b34da6 span=a1b2c3d4e5f6a7b8 ts=1763665800000123456\n\nHi,\nit was in \
                      room kitchen!\nThanks";

#[test]
fn a_ticket_has_the_ids_that_it_names_and_the_numbers_apart() {
    let numbers = "2 numbers could be IDs of other systems: 202611261234567890, 1763665800000123456\n";
    let argument = imid_args(&["inspect", TICKET], "").ok();
    assert!(argument.starts_with("EUNC-Q8QJ-22GH-T3DD\nUTC "), "{argument}");
    assert!(argument.ends_with(&format!("\n\n\n{numbers}")) && !argument.contains("order "), "{argument}");
    // As lines of standard input, with and without the name of the command.
    // The age grows between the two runs.
    let without_age =
        |text: String| text.lines().filter(|line| !line.starts_with("age ")).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(without_age(imid("inspect", TICKET).ok()), without_age(argument));
    let two = imid("inspect", format!("{TICKET}\nand id=euncq8qj22ght3de too")).ok();
    assert!(two.contains("\norder   the input is strictly increasing\n") && two.ends_with(numbers), "{two}");
    // A program gets an error, and a person as well if there is no ID at all.
    let error = imid_args(&["inspect", "--format", "hex", TICKET], "").error(1);
    assert!(error.ends_with("is a longer text; there is an ID at 99: EUNC-Q8QJ-22GH-T3DD"), "{error}");
    let none = imid("inspect", "Hi,\norder 202611261234567890\nThanks\n");
    assert_eq!((none.status, none.out.as_str()), (1, ""));
    assert!(none.err.starts_with("error: line 1: \"Hi,\" is not an ID: "), "{}", none.err);
    // A line that is a mistyped ID is an error.
    let error = imid("inspect", "EUNC-Q8QJ-22GH-T3D0\n").error(1);
    assert!(error.starts_with("line 1: \"EUNC-Q8QJ-22GH-T3D0\" is not an ID: "), "{error}");
}

#[test]
fn shards_are_those_of_the_session_of_an_id() {
    let new = |args: &str| imid(&format!("new {args}"), "").ok();
    let shard = |count: u32, ids: String| imid(&format!("inspect --shards {count}"), ids).ok();
    let [id, other] = [new("--type group --session room-42"), new("--type group --session room-42")];
    let line = shard(8, id.clone());
    assert_eq!(imid(&format!("inspect --shards 8 {id}"), "").ok(), line);
    assert_eq!(shard(8, format!("{id}{other}")), line.repeat(2));
    assert_eq!(shard(1, id), "0\n");
    let pair = |a: &str, b: &str| shard(1024, new(&format!("--session {a} --peer {b}")));
    assert_eq!(pair("alice", "bob"), pair("bob", "alice"));
    for session in ["--session room-42", "--type group"] {
        assert_eq!(imid(&format!("inspect --shards 8 {session} {other}"), "").status, 2, "{session}");
    }
    let error = imid("inspect --shards 8 --dialect twitter 204697221847986177", "").error(1);
    assert_eq!(error, "204697221847986177: expected an ID of the standard layout for a shard");
}

#[test]
fn names_are_read_in_any_case() {
    for args in [
        "inspect --dialect Twitter 204697221847986177",
        "inspect --format UUID EMAQ-2948-WCRV-T3DD",
        "completions BASH",
        "new --dialect RongCloud --type Group",
        "grep --dialect STANDARD -o",
        "check --in Lines",
        "inspect --id-form TEXT",
        "stats --per Day",
    ] {
        imid(args, format!("{ID}\n")).ok();
    }
}

#[test]
fn a_byte_order_mark_is_not_part_of_the_first_line() {
    let mark = "\u{feff}";
    assert_eq!(imid("inspect --json", format!("{mark}{ID}")).ok(), imid("inspect --json", ID).ok());
    assert_eq!(imid("check --json", format!("{mark}{ID}\n")).ok(), imid("check --json", format!("{ID}\n")).ok());
    assert_eq!(imid("check --json --unsorted", format!("{mark}{{\"id\":\"{ID}\"}}")).status, 0);
    let tag =
        |input: String, more: &str| imid(&format!("tag --session-field s --time-field t --seed 1 {more}"), input).out;
    let line = "{\"s\":1,\"t\":5}\n";
    assert_eq!(tag(mark.to_owned() + line, ""), tag(line.into(), ""));
    // A spreadsheet needs it.
    let table = "s,t\n1,5\n";
    assert_eq!(tag(mark.to_owned() + table, "--in csv"), mark.to_owned() + &tag(table.into(), "--in csv"));
    // Only the first one is a mark.
    assert_eq!(imid("check", format!("{mark}{mark}{ID}")).status, 1);
    assert_eq!(imid("check", format!("\n{mark}{ID}")).status, 1);
    // No ID at all is a failed check.
    assert_eq!(imid("check", mark).status, 1);
}

#[test]
fn a_table_that_is_read_as_lines_is_named() {
    for (args, input, hint) in [
        (
            "tag --session-field room",
            "room,at\na,5\n",
            "error: line 1: expected a JSON object, found \"room,at\" (for CSV, give --in csv)",
        ),
        (
            "tag --session-field room",
            "room\tat\na\t5\n",
            "error: line 1: expected a JSON object, found \"room\\tat\" (for TSV, give --in tsv)",
        ),
        (
            "check",
            "id,at\n",
            "error: line 1: \"id,at\" is not an ID: expected a digit 2-9 or A-Z without I and O, found 'i' at 0 (for CSV, give --in csv)",
        ),
        (
            "stats",
            "id,at\n",
            "error: line 1: \"id,at\" is not an ID: expected a digit 2-9 or A-Z without I and O, found 'i' at 0 (for CSV, give --in csv)",
        ),
        (
            "tag --session-field room",
            "hello, world!\n",
            "error: line 1: expected a JSON object, found \"hello, world!\"",
        ),
    ] {
        assert_eq!(imid(args, input).error_line(), hint);
    }
}

#[test]
fn digits_that_are_read_as_hex_can_be_an_integer_too() {
    let hint = "read as  hex of standard, not as an integer (--id-form int)";
    assert!(imid("inspect 12345678901234567890", "").ok().contains(hint));
    assert!(!imid("inspect 64d1601c46e2afbc856b", "").ok().contains("--id-form"));
    assert!(imid("inspect --id-form int 12345678901234567890", "").ok().contains("read as  int of standard\n"));
}

/// What the tool prints about a text: the system and the ID of each page, or each line of the list of systems, and how many
/// numbers it lists apart.
fn found(text: &str) -> (Vec<String>, usize) {
    let ran = imid_args(&["inspect", text], "");
    let lines: Vec<_> = ran.out.lines().collect();
    let system = |at: usize| {
        let read_as = lines[at..].iter().find_map(|line| line.strip_prefix("read as  "));
        read_as.and_then(|read_as| read_as.rsplit(' ').next()).unwrap_or_default()
    };
    let is_page = |at: &usize| lines.get(at + 1).is_some_and(|line| line.starts_with("UTC      "));
    let mut ids: Vec<_> = (0..lines.len()).filter(is_page).map(|at| format!("{} {}", system(at), lines[at])).collect();
    if ids.is_empty() {
        let id = text.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        let id = if id.contains('-') { id.to_uppercase() } else { id.to_owned() };
        let systems = lines.iter().filter_map(|line| line.split_once(' ')).map(|(system, _)| system);
        ids = systems.map(|system| format!("{system} {id}")).collect();
    }
    assert_eq!(ran.status, i32::from(ids.is_empty()), "{text}: {}", ran.err);
    let all = [ran.out, ran.err].concat();
    let numbers = all.split_once(" could be ").and_then(|(before, _)| before.rsplit([' ', '\n']).nth(1)?.parse().ok());
    (ids, numbers.unwrap_or(0))
}

/// The page is tested with the same file.
#[test]
fn each_pasted_text_has_the_ids_that_the_page_shows() {
    let cases: Vec<(String, Vec<String>, usize)> = serde_json::from_str(include_str!("pasted.json")).unwrap();
    assert!(cases.len() > 30);
    for (text, ids, others) in cases {
        assert_eq!(found(&text), (ids, others), "{text}");
    }
}

#[test]
fn a_word_or_a_cut_off_id_in_a_line_does_not_hide_the_ids_of_other_lines() {
    let lines = format!("stride, as a base-2 exponent\nEUNC-Q8QJ-22\n{ID}\n");
    let run = imid("inspect", lines.as_str());
    assert!(run.status == 0 && run.out.starts_with(ID), "{} {}", run.out, run.err);
    assert!(run.err.starts_with("note: line 2: \"EUNC-Q8QJ-22\" lacks the last 6 digits"), "{}", run.err);
    let error = imid("inspect", "stride, as a base-2 exponent\n").error(1);
    assert_eq!(error, "line 1: \"stride, as a base-2 exponent\" is a text of 5 words with no ID");
}
