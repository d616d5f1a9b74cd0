//! The forms of IDs: each one is read and written, and IDs of other kinds are named.

use std::fmt::Write;

use imid::dialect::Dialect;
use imid::{MessageId, message_id};
use imid_snowflake::Layout;
use proptest::prelude::*;

use crate::{imid, imid_args};

const ID: MessageId = message_id!("EUNC-Q8QJ-22GH-T3DD");

/// The forms of [`ID`]: what the tool prints with `--format`.
const FORMS: [(&str, &str); 4] = [
    ("text", "EUNC-Q8QJ-22GH-T3DD"),
    ("hex", "66a8ab1ad0001cfc856b"),
    ("int", "484792763652715801511275"),
    ("uuid", "019aa2ac-6b40-7007-8fc8-56bfffffffff"),
];

#[test]
fn each_form_is_read_and_written_in_each_form() {
    let texts = FORMS.map(|(_, text)| text).join("\n");
    for (to, expected) in FORMS {
        assert_eq!(imid(&format!("inspect --format {to}"), texts.as_str()).ok(), format!("{expected}\n").repeat(4));
        let given = imid(&format!("inspect --id-form {to} --format text --keep-going"), texts.as_str());
        // No text is of two forms.
        assert_eq!((given.out, given.err.lines().count()), (format!("{ID}\n"), 3), "{to}: {}", given.err);
    }
    let json = imid("inspect --json", texts).ok();
    for (line, (form, _)) in json.lines().zip(FORMS) {
        assert!(line.contains(r#""id":"EUNC-Q8QJ-22GH-T3DD""#), "{line}");
        assert!(line.contains(r#""uuid":"019aa2ac-6b40-7007-8fc8-56bfffffffff""#), "{line}");
        assert!(line.ends_with(&format!("\"form\":\"{form}\"}}")), "{line}");
    }
}

#[test]
fn variants_of_a_form_are_read() {
    for (text, form) in [
        ("euncq8qj22ght3dd", "lenient text"),
        ("EUNC-Q8QJ22GHT3DD", "lenient text"),
        ("66A8AB1AD0001CFC856B", "hex"),
        ("0x66a8ab1ad0001cfc856b", "hex"),
        ("0X66A8AB1AD0001CFC856B", "hex"),
        (r"\x66a8ab1ad0001cfc856b", "hex"),
        ("019AA2AC-6B40-7007-8FC8-56BFFFFFFFFF", "uuid"),
        ("019aa2ac6b4070078fc856bfffffffff", "uuid"),
        ("{019aa2ac-6b40-7007-8fc8-56bfffffffff}", "uuid"),
        ("urn:uuid:019aa2ac-6b40-7007-8fc8-56bfffffffff", "uuid"),
        (" 484792763652715801511275 ", "int"),
    ] {
        let json = imid_args(&["inspect", "--json", text], "").ok();
        assert!(json.contains(&ID.to_string()) && json.contains(&format!("\"form\":\"{form}\"")), "{json}");
        assert!(imid_args(&["inspect", text], "").ok().contains(&format!("\nread as  {form} of standard\n")), "{text}");
        // The same from standard input.
        assert_eq!(imid("inspect --format text", format!("{text}\r\n")).ok(), format!("{ID}\n"), "{text}");
    }
}

#[test]
fn only_standard_ids_have_a_uuid_view() {
    let error = imid("inspect --dialect leaf --id-form uuid", "").error(2);
    assert_eq!(error, "--id-form uuid: only 80-bit IDs of the standard layout have a UUID view");
    assert_eq!(imid(&format!("inspect --json --format hex {ID}"), "").status, 2);
}

#[test]
fn a_dash_stands_for_standard_input() {
    for command in ["inspect --json", "inspect --shards 8"] {
        let read = |args: &str, input: &str| imid(&format!("{command} {args}"), input).ok();
        assert_eq!(read("-", "2222-2222-2222-2222\n\n"), read("2222-2222-2222-2222", ""), "{command}");
        for args in ["- -", "- 2222-2222-2222-2222", "2222-2222-2222-2222 -"] {
            let run = imid(&format!("{command} {args}"), "2222-2222-2222-2222\n");
            assert_eq!(run.out, "", "{command} {args}");
            assert_eq!(run.error(2), "-: expected no other IDs with it, because it stands for standard input");
        }
    }
}

#[test]
fn ids_of_other_schemes_have_the_same_forms() {
    let rongcloud = Dialect::RONGCLOUD.parse("BUFE-A62U-32C4-01I2").unwrap();
    let juggleim = Dialect::JUGGLEIM.parse("pb9hvkf86lyr3bmm").unwrap();
    let juggleim = MessageId::try_from(juggleim).unwrap().to_uuid().to_string();
    for (dialect, text, forms) in [
        (
            "rongcloud",
            "BUFE-A62U-32C4-01I2",
            vec![("hex", "5f9ee5185e1898400642"), ("int", "451555909484156257568322")],
        ),
        ("rongcloud", "BUFE-A62U-32C4-01I2", vec![("uuid", "017e7b94-6178-7626-8400-642fffffffff")]),
        ("juggleim", "pb9hvkf86lyr3bmm", vec![("uuid", &juggleim)]),
        ("rongcloud-v1", "5DO1-7OBR-12LJ-ECGG", vec![("hex", "2b7013e17b08ab373210")]),
        ("twitter", "204697221847986177", vec![("hex", "02d73b09eac23001"), ("int", "204697221847986177")]),
        ("nsq", "0632eb19de09b007", vec![("hex", "0632eb19de09b007"), ("int", "446677809394987015")]),
    ] {
        for (form, expected) in forms {
            let written = imid(&format!("inspect --dialect {dialect} --format {form} {text}"), "").ok();
            assert_eq!(written, format!("{expected}\n"), "{dialect} {form}");
            let read =
                imid(&format!("inspect --dialect {dialect} --id-form {form} --format text {}", written.trim()), "");
            assert_eq!(read.ok(), format!("{text}\n"), "{dialect} {form}");
        }
    }
    let uuid = imid("inspect --dialect rongcloud --format uuid BUFE-A62U-32C4-01I2", "").ok();
    assert_eq!(uuid.trim(), MessageId::try_from(rongcloud).unwrap().to_uuid().to_string());
    for dialect in ["rongcloud-v1", "twitter"] {
        let error = imid(&format!("inspect --dialect {dialect} --format uuid 5"), "").error(2);
        assert_eq!(error, "--format uuid: only 80-bit IDs of the standard layout have a UUID view");
    }
}

#[test]
fn negative_snowflakes_are_integers() {
    for (text, hex) in [("-1", "ffffffffffffffff"), ("-9223372036854775808", "8000000000000000")] {
        assert_eq!(imid(&format!("inspect --dialect leaf --format hex {text}"), "").ok(), format!("{hex}\n"));
        let int = imid(&format!("inspect --dialect leaf --id-form hex --format int {hex}"), "").ok();
        assert_eq!(int, format!("{text}\n"));
        assert_eq!(Layout::LEAF.parse(text).unwrap().to_i64(), text.parse::<i64>().unwrap());
    }
}

#[test]
fn uuids_and_ulids_are_named() {
    for (text, expected) in [
        ("550e8400-e29b-41d4-a716-446655440000", "is a UUID of version 4 (random), not an ID"),
        ("550e8400e29b41d4a716446655440000", "is a UUID of version 4 (random), not an ID"),
        ("00000000-0000-0000-0000-000000000000", "is the nil UUID, not an ID"),
        ("ffffffff-ffff-ffff-ffff-ffffffffffff", "is a UUID of an unknown variant, not an ID"),
        ("c232ab00-9414-11ec-b3c8-9f6bdeced846", "is a UUID of version 1, not an ID"),
        (
            "0190163d-8694-739b-aea5-966c26f8ad91",
            "is a UUID of version 7 of 2024-06-14T10:14:09.300Z, not the view of an ID: \
             expected a UUID that ends with 36 one bits, found 0xc26f8ad91",
        ),
        ("01ARZ3NDEKTSV4RRFFQ69G5FAV", "is a ULID of 2016-07-30T23:54:10.259Z, not an ID"),
        ("01arz3ndektsv4rrffq69g5fav", "is a ULID of 2016-07-30T23:54:10.259Z, not an ID"),
        // The last ULID is of the year 10889, which RFC 3339 cannot write.
        ("7ZZZZZZZZZZZZZZZZZZZZZZZZZ", "is a ULID, not an ID"),
    ] {
        assert_eq!(imid(&format!("inspect {text}"), "").error(1), format!("argument 1: {text:?} {expected}"));
    }
    // The first digit of a ULID is at most 7, and U is not a digit.
    for text in ["81ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FAU"] {
        assert!(imid(&format!("inspect {text}"), "").error(1).contains("is not an ID: expected a digit 2-9"));
    }
}

#[test]
fn a_text_with_something_around_it_is_read() {
    let id = "EMAQ-2948-WCRV-T3DD";
    for text in [
        "\"EMAQ-2948-WCRV-T3DD\",",
        "'EMAQ-2948-WCRV-T3DD'",
        "`emaq-2948-wcrv-t3dd`",
        "<EMAQ-2948-WCRV-T3DD>;",
        "[EMAQ-2948-WCRV-T3DD]",
        "(EMAQ-2948-WCRV-T3DD).",
        "“EMAQ-2948-WCRV-T3DD”",
        "\u{200b}EMAQ-2948-WCRV-T3DD",
        "EMAQ–2948–WCRV–T3DD",
        "EMAQ 2948 WCRV T3DD",
        "emaq_2948_wcrv_t3dd",
        "- EMAQ-2948-WCRV-T3DD",
        "\t \"EMAQ-2948-WCRV-T3DD\",\r",
    ] {
        assert_eq!(imid("inspect --format text", text).ok(), format!("{id}\n"), "{text}");
        assert!(imid("inspect --json", text).ok().contains("\"form\":\"lenient text\""), "{text}");
    }
    let uuid = "\"019AA2AC-6B40-7007-8FC8-56BFFFFFFFFF\",";
    assert_eq!(imid("inspect --format text", uuid).ok(), "EUNC-Q8QJ-22GH-T3DD\n");
}

#[test]
fn an_id_inside_of_a_text_is_named() {
    for (text, hint) in [
        ("2025-11-20T12:00:00Z INFO message sent: EMAQ-2948-WCRV-T3DD ok", "there is an ID at 40: EMAQ-2948-WCRV-T3DD"),
        ("é {\"id\":\"EMAQ-2948-WCRV-T3DD\"}", "there is an ID at 9: EMAQ-2948-WCRV-T3DD"),
        ("from=BUFE-A62U-32C4-01I2", "there is an ID at 5: BUFE-A62U-32C4-01I2, of rongcloud"),
    ] {
        let error = imid("inspect --json", text).error(1);
        assert!(error.ends_with(&format!("; {hint}")), "{error}");
    }
}

#[test]
fn a_text_of_another_scheme_gets_the_hint_to_identify_it() {
    // A program that asks for a form must not get an ID of another system.
    let hint = |text: &str| imid(&format!("inspect --format text {text}"), "").error(1);
    assert_eq!(
        hint("BUFE-A62U-32C4-01I2"),
        "argument 1: \"BUFE-A62U-32C4-01I2\" is an ID of rongcloud (2022-01-21T07:40:28.920Z); to use it, give --dialect rongcloud"
    );
    assert!(hint("204697221847986177").starts_with(
        "argument 1: \"204697221847986177\" can be an ID of discord (2016-07-18T20:33:40.779Z) or of twitter-java ("
    ));
    assert!(
        hint("0e1ac0d4168a6000").ends_with("is an ID of nsq (2020-11-16T11:19:52.766Z); to use it, give --dialect nsq")
    );
    // Each short number is a Snowflake of the first minutes after an epoch.
    assert!(hint("123").ends_with("found '1' at 0"));
}

#[test]
fn a_character_that_another_program_put_in_is_named() {
    for (text, expected) in [
        ("EMAQ-2948—WCRV", "a digit 2-9 or A-Z without I and O, found '—' (U+2014 em dash) at 9"),
        ("EMAQ\u{a0}2948", "a digit 2-9 or A-Z without I and O, found '\\u{a0}' (U+00A0 no-break space) at 4"),
        (
            "“EMAQ-2948-WCRV-T3D”",
            "lacks the last digit of an ID of 2024-11-19T17:37:45.755Z; imid range --prefix prints its bounds",
        ),
        ("ÉMAQ-2948-WCRV-T3DD", "a digit 2-9 or A-Z without I and O, found 'É' (U+00C9) at 0"),
        (r"\x64d1601c46e2afbc856–", "expected a hex digit, found '–' (U+2013 en dash) at 21"),
        ("0x12", "expected a hex digit, found the end at 4"),
    ] {
        let error = imid_args(&["inspect", text], "").error(1);
        assert!(error.ends_with(expected), "{error}");
    }
    // Positions do not count the white space that the error does not show.
    let error = imid_args(&["inspect", "  EMAQ-2948-WCRV-T3D0 "], "").error(1);
    assert!(
        error.contains("\"EMAQ-2948-WCRV-T3D0\"")
            && error.ends_with("found '0' at 18; did you mean EMAQ-2948-WCRV-T3DD or EMAQ-2948-WCRV-T3DQ?"),
        "{error}"
    );
}

#[test]
fn an_option_with_another_dash_is_named() {
    let run = imid("new –n 3", "");
    assert_eq!(run.status, 2);
    let note = "note: \"–n\" starts with '–' (U+2013 en dash), not with '-'\n";
    assert!(run.err.starts_with("error: unexpected argument '–n' found\n") && run.err.ends_with(note), "{}", run.err);
}

#[test]
fn a_number_past_the_bits_of_an_id_is_an_error() {
    let error = |args: &str| imid(&format!("inspect --id-form int {args}"), "").error(1);
    for number in ["1208925819614629174706176", &"9".repeat(60)] {
        let expected = format!("\"{number}\" is not an ID: expected a number from 0 to 1208925819614629174706175");
        assert!(error(number).ends_with(&expected), "{number}");
    }
    assert!(error("--dialect leaf 18446744073709551616").contains("expected a number of at most 64 bits"));
    assert!(error("12x").ends_with("\"12x\" is not an ID: expected a decimal number"));
}

#[test]
fn new_prints_each_format() {
    for (format, length) in [("text", 19), ("hex", 20), ("uuid", 36)] {
        let out = imid(&format!("new -n 3 --format {format}"), "").ok();
        assert!(out.lines().count() == 3 && out.lines().all(|line| line.len() == length), "{out}");
        let texts = imid("inspect --format text", out).ok();
        assert!(crate::ids(&texts).is_sorted_by(|a, b| a < b));
    }
    let json = imid("new -n 2 --json --type group", "").ok();
    assert!(json.lines().count() == 2 && json.lines().all(|line| line.contains("\"type_name\":\"GROUP\"")), "{json}");
}

#[test]
fn ids_of_other_systems_are_listed_with_their_text() {
    let expected = "\
CPEN-GH7K-ECA4-98EU
rongcloud         2025-09-23T09:21:49.009Z  spin 3269, type 1 PRIVATE, hash 303582, ends 2109-05-15
standard          2016-06-18T20:04:03.909Z  spin 2212, type 0, hash 2333082, ends 2109-05-15

09e5a1420fbfffff
nsq               2018-06-23T04:56:17.276Z  node 1023, sequence 4095, ends 2158-12-18
nsq-before-2015   2016-03-24T23:59:59.999Z  node 1023, sequence 4095, ends 2150-03-18

";
    assert_eq!(imid("inspect CPEN-GH7K-ECA4-98EU 09e5a1420fbfffff", "").ok(), expected);
    assert_eq!(imid("CPEN-GH7K-ECA4-98EU 09e5a1420fbfffff", "").ok(), expected);
    assert_eq!(imid("inspect", "CPEN-GH7K-ECA4-98EU\n\n 09e5a1420fbfffff\r\n").ok(), expected);
    let run = imid("inspect --json --keep-going", "x\n09e5a1420fbfffff\n");
    assert_eq!((run.status, run.out.lines().count()), (1, 2));
    assert!(run.err.starts_with("error: line 1: \"x\" is not an ID: "), "{}", run.err);
    assert!(run.out.lines().all(|line| line.ends_with(r#","input":"09e5a1420fbfffff"}"#)), "{}", run.out);
}

#[test]
fn a_command_that_people_try_is_pointed_to_the_right_one() {
    for command in ["decode", "show", "find", "parse"] {
        let run = imid(&format!("{command} EUNC-Q8QJ-22GH-T3DD"), "");
        assert_eq!(run.status, 2);
        assert!(run.err.contains("note: to see what an ID is: imid inspect ID, or imid ID; "), "{}", run.err);
    }
    // A text without an ID is a wrong command, and a wrong ID is not.
    assert!(imid("inspec", "").err.contains("'inspect'"));
    assert!(imid("EUNC-Q8QJ-22GH-T3D0", "").error(1).starts_with("argument 1: \"EUNC-Q8QJ-22GH-T3D0\" is not an ID: "));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    /// One run reads many IDs, so that the test is fast.
    #[test]
    fn random_ids_pass_through_each_form(values in prop::collection::vec(0..1_u128 << 80, 200)) {
        let texts = values.iter().fold(String::new(), |mut texts, value| {
            writeln!(texts, "{}", MessageId::from_u128(*value).unwrap()).unwrap();
            texts
        });
        for form in ["hex", "int", "uuid"] {
            let written = imid(&format!("inspect --dialect standard --format {form}"), texts.as_str()).ok();
            let read = imid(&format!("inspect --id-form {form} --format text"), written).ok();
            prop_assert_eq!(&read, &texts, "{}", form);
        }
        // A time of our years makes the form unmistakable.
        let recent = values.iter().fold(String::new(), |mut texts, value| {
            let id = MessageId::from_u128(1_763_640_000_000 << 38 | value & ((1 << 38) - 1)).unwrap();
            writeln!(texts, "{id}").unwrap();
            texts
        });
        for form in ["hex", "int", "uuid"] {
            let written = imid(&format!("inspect --format {form}"), recent.as_str()).ok();
            prop_assert_eq!(&imid("inspect --format text", written).ok(), &recent, "{}", form);
        }
    }
}

#[test]
fn each_command_reads_each_form_that_the_tool_writes() {
    for dialect in ["standard", "rongcloud", "juggleim", "twitter", "leaf", "nsq"] {
        let texts = if ["standard", "rongcloud", "juggleim"].contains(&dialect) {
            imid(&format!("new -n 3 --dialect {dialect} --type group --session room-42"), "").ok()
        } else {
            imid(&format!("range --from -1h --to now --dialect {dialect}"), "").ok()
        };
        // Each form, also in lower and upper case.
        let mut lines = String::new();
        for form in ["text", "hex", "int", "uuid"] {
            let convert = imid(&format!("inspect --dialect {dialect} --format {form}"), texts.as_str());
            if form == "uuid" && convert.status == 2 {
                continue;
            }
            let written = convert.ok();
            lines += &[written.to_lowercase(), written.to_uppercase(), written].concat();
        }
        let expected = texts.repeat(lines.lines().count() / texts.lines().count());
        let json = lines.lines().fold(String::new(), |json, id| json + "{\"id\":\"" + id + "\"}\n");
        let table = format!("id\n{lines}");
        assert_eq!(imid(&format!("inspect --format text --dialect {dialect}"), lines.as_str()).ok(), expected);
        if dialect == "standard" {
            assert_eq!(
                imid("inspect --shards 8", lines.as_str()).ok(),
                imid("inspect --shards 8", expected.as_str()).ok()
            );
        }
        for command in ["check --unsorted --json", "stats --json"] {
            let found = |args: &str, input: &str| imid(&format!("{command} --dialect {dialect} {args}"), input).out;
            let expected = found("", &expected);
            assert!(expected.contains("\"invalid\":0,"), "{expected}");
            for (args, input) in [("", &lines), ("", &json), ("--in csv", &table)] {
                assert_eq!(found(args, input), expected, "{command} {args} {dialect}: {input}");
            }
        }
    }
    // What `tag` writes.
    let messages = "{\"s\":1,\"t\":1763640000000}\n{\"s\":2,\"t\":1763640000001}\n";
    let expected = imid("tag --session-field s --time-field t --seed 1", messages).out;
    for form in ["hex", "int", "uuid"] {
        let tagged = imid(&format!("tag --session-field s --time-field t --seed 1 --id-form {form}"), messages).out;
        for command in ["check --json", "stats --json"] {
            assert_eq!(imid(command, tagged.as_str()).ok(), imid(command, expected.as_str()).ok(), "{tagged}");
        }
    }
}

#[test]
fn what_people_paste_is_read_or_named() {
    let read = |text: &str| {
        let ran = imid_args(&["inspect", "--format", "text", text], "");
        assert_eq!((ran.status, ran.out), (0, format!("{ID}\n")), "{text}: {}", ran.err);
    };
    for text in [
        "euncq8qj22ght3dd",
        "\"EUNC-Q8QJ-22GH-T3DD\",",
        "**EUNC-Q8QJ-22GH-T3DD**",
        "<#EUNC-Q8QJ-22GH-T3DD>",
        "EUNC\u{2013}Q8QJ\u{2013}22GH\u{2013}T3DD",
        "EUNC Q8QJ 22GH T3DD",
        "0x66A8AB1AD0001CFC856B",
        "X'66A8AB1AD0001CFC856B'",
        "66 a8 ab 1a d0 00 1c fc 85 6b",
        "66:A8:AB:1A:D0:00:1C:FC:85:6B",
        "484,792,763,652,715,801,511,275",
        "{019AA2AC-6B40-7007-8FC8-56BFFFFFFFFF}",
        "ZqirGtAAHPyFaw==",
        "\"ZqirGtAAHPyFaw==\",",
    ] {
        read(text);
    }
    for text in [
        "\"id\":\"EUNC-Q8QJ-22GH-T3DD\",",
        "https://chat.example/m/EUNC-Q8QJ-22GH-T3DD?x=1",
        "INFO sent id=EUNCQ8QJ22GHT3DD room=7",
        "{\"id80\":\"66a8ab1ad0001cfc856b\"}",
        " 7 | \\x66a8ab1ad0001cfc856b | kitchen",
        "MessageId(EUNC-Q8QJ-22GH-T3DD)",
    ] {
        let error = imid_args(&["inspect", "--json", text], "").error(1);
        assert!(error.contains("; there is an ID at ") && error.ends_with(": EUNC-Q8QJ-22GH-T3DD"), "{error}");
        // A person gets its page, with or without the name of the command.
        for args in [&["inspect", text][..], &[text]] {
            assert!(imid_args(args, "").ok().starts_with("EUNC-Q8QJ-22GH-T3DD\n"), "{args:?}");
        }
    }
    for text in [
        "484792763652715801511275n",
        "ＥＵＮＣ－Ｑ８ＱＪ－２２ＧＨ－Ｔ３ＤＤ",
        "b'EUNC-Q8QJ-22GH-T3DD'",
        "b'f\\xa8\\xab\\x1a\\xd0\\x00\\x1c\\xfc\\x85k'",
        "[102, 168, 171, 26, 208, 0, 28, 252, 133, 107]",
        "[102, -88, -85, 26, -48, 0, 28, -4, -123, 107]",
    ] {
        read(text);
    }
    // What is refused says what would help.
    for (text, help) in [
        (
            "EUNC-Q8QJ-22G…",
            "lacks the last 5 digits of an ID of 2025-11-20T19:10:00.000Z; imid range --prefix prints its bounds",
        ),
        (
            "eunc-q8qj",
            "lacks the last 8 digits of an ID from 2025-11-20T19:10:00.000Z to 2025-11-20T19:10:00.003Z; imid range --prefix prints its bounds",
        ),
        ("EUNC-Q0QJ-22GH-T3DD", "found '0' at 6; did you mean EUNC-QDQJ-22GH-T3DD or EUNC-QQQJ-22GH-T3DD?"),
        ("EUNC-Q8QJ-22GHT-T3DD", "; did you mean EUNC-Q8QJ-2GHT-T3DD?"),
        ("ZqirGtAAHPyFaw", "; did you mean ZqirGtAAHPyFaw==?"),
        (
            "{\"room\":\"a\"}",
            "JSON with no ID: expected an ID, or a member such as \"id\" that has one (jq -r .id prints it)",
        ),
        ("https://chat.example/rooms/7", "a link with no ID: expected an ID in its path or after id="),
        ("[102, 168, 171]", "3 bytes, not an ID: expected 10, or the 16 of a UUID view"),
        ("66a8ab1ad0001cfc856", "19 hex digits, not an ID: expected 20, or the 32 of a UUID view"),
        ("hello, my message has not arrived", "a text of 6 words with no ID"),
    ] {
        let error = imid_args(&["inspect", text], "").error(1);
        assert!(error.ends_with(help), "{error}");
    }
    // Base 64 of other bytes, and numbers that are no IDs.
    for text in ["AAAAAAAAAAAAAA==", "aGVsbG8gd29ybGQ=", "1,234,567", "deadbeef deadbeef"] {
        assert_eq!(imid_args(&["inspect", text], "").status, 1, "{text}");
    }
}
