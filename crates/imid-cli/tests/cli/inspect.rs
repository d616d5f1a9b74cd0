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
    let run = command.env("TZ", "Asia/Tokyo").args(["inspect", ID]).output().unwrap();
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
        String::from_utf8(command().env(name, "1").args(["inspect", ID]).output().unwrap().stdout).unwrap()
    };
    let (plain, coloured) = (out("NO_COLOR"), out("CLICOLOR_FORCE"));
    assert!(!plain.contains('\x1b'));
    assert!(coloured.contains("\x1b[36m011001001101000101100000000111000100011011\x1b[0m"), "{coloured}");
}

#[test]
fn a_bad_id_is_reported_with_its_place_after_the_output_of_earlier_ids() {
    let run = imid(&format!("inspect --json {ID} EMAQ-2948-WCRV-T3D0 {ID}"), "");
    let expected = "error: argument 2: \"EMAQ-2948-WCRV-T3D0\" is not an ID: \
                    expected a digit 2-9 or A-Z without I and O, found '0' at 18; IDs have no '0': is it D or Q?\n";
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
        ("key 66a8ab1ad0001cfc856b.", "; there is an ID at 4: EUNC-Q8QJ-22GH-T3DD"),
    ] {
        let error = imid_args(&["inspect", "--json", text], "").error(1);
        assert!(error.ends_with(expected), "{error}");
    }
}

#[test]
fn an_id_of_another_system_is_noted() {
    // As the text of a standard ID, it is of 2062.
    let run = imid("inspect pb9hvkf86lyr3bmm", "");
    assert!(run.status == 0 && run.out.starts_with("PB9H-VKF8-6LYR-3BMM\n"), "{}", run.err);
    let note = "note: argument 1: --dialect juggleim reads it as pb9hvkf86lyr3bmm, 2026-11-20T17:00:00.123Z\n";
    assert_eq!(run.err, note);
    for quiet in ["pb9hvkf86lyr3bmm --dialect juggleim", ID, "2222-2222-2222-2222", "pb9hvkf86lyr3bmm --json"] {
        imid(&format!("inspect {quiet}"), "").ok();
    }
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
    imid("check", mark).ok();
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
