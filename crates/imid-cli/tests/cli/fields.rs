//! The lines that `tag` reads, and their fields.

use imid::{SessionTag, SessionType};

use crate::tag::{tagged_ids, untagged};
use crate::{imid, imid_args};

/// Returns the error for one line.
fn refusal(args: &str, line: &str) -> String {
    let error = imid(&format!("tag --session-field s {args}"), line).error(1);
    error.strip_prefix("line 1: ").unwrap().to_owned()
}

#[test]
fn a_session_is_a_string_or_an_integer() {
    for value in ["1.0", "1e3", "-0", "null", "true", r#"{"a":"b"}"#, "[1]"] {
        let expected = format!("field \"s\": expected a string or an integer, found {value}");
        assert_eq!(refusal("", &format!("{{\"s\":{value}}}")), expected);
    }
    assert_eq!(refusal("", r#"{"s":"\ud800"}"#), r#"field "s": expected valid Unicode, found "\ud800""#);
    let tagged = imid("tag --session-field s", "{\"s\":-18446744073709551617}").ok();
    assert!(tagged_ids(&tagged)[0].is_in(SessionTag::new(SessionType::MIN, "-18446744073709551617")));
}

#[test]
fn a_value_in_an_error_is_one_line_of_plain_text_and_shortened() {
    let refused = |value: &str| refusal("", &format!("{{\"s\":{value}}}"));
    let expected = "field \"s\": expected a string or an integer, found ";
    assert_eq!(refused("[1,\r2,\"\u{9b}31m\u{7f}\"]"), format!(r#"{expected}[1,\r2,"\u{{9b}}31m\u{{7f}}"]"#));
    let long = format!("[{}]", "1,".repeat(40) + "1");
    assert_eq!(refused(&long), format!("{expected}{}...", &long[..60]));
}

#[test]
fn a_field_must_occur_once_and_in_the_outermost_object() {
    assert_eq!(refusal("", "{}"), "field \"s\" is missing");
    assert_eq!(refusal("", r#"{"a":{"s":1}}"#), "field \"s\" is missing");
    assert_eq!(refusal("", r#"{"s":1,"\u0073":1}"#), "field \"s\" occurs more than once");
    assert_eq!(refusal("--peer-field p", r#"{"s":1}"#), "field \"p\" is missing");
    assert_eq!(refusal("--type-field t", r#"{"s":1}"#), "field \"t\" is missing");
    assert_eq!(refusal("--time-field t", r#"{"s":1}"#), "field \"t\" is missing");
}

#[test]
fn a_type_is_a_code_or_a_name() {
    for value in ["16", "-1", "3.0", "null", "\"grup\"", "\"\""] {
        let error = refusal("--type-field t", &format!("{{\"s\":1,\"t\":{value}}}"));
        assert!(error.starts_with("field \"t\": expected a code from 0 to 15 or one of PRIVATE, "), "{error}");
    }
}

#[test]
fn a_time_is_unix_milliseconds_or_rfc_3339() {
    for value in ["-1", "1e-3", "null", "\"now\"", "\"\"", "18446744073709551616"] {
        let error = refusal("--time-field t", &format!("{{\"s\":1,\"t\":{value}}}"));
        let expected =
            "field \"t\": expected Unix milliseconds or a time from 1970 on such as 2024-11-19T17:37:45.755Z, found ";
        assert!(error.starts_with(expected), "{error}");
    }
    for text in ["2025-11-20T12Z", "20251120T120005Z", "2025-11-20T12:00:05+1", "2025-11-20T12:00:05Z[Europe/Berlin]"] {
        let error = refusal("--time-field t", &format!("{{\"s\":1,\"t\":\"{text}\"}}"));
        let expected = "field \"t\": expected Unix milliseconds or a time from 1970 on such as";
        assert_eq!(error, format!("{expected} 2024-11-19T17:37:45.755Z, found \"{text}\""));
    }
    // Unix time has no leap seconds, and begins in 1970.
    for text in ["2016-12-31T23:59:60Z", "2016-12-31T23:59:60", "1969-12-31T23:59:59.9999Z"] {
        let error = refusal("--time-field t --time-zone UTC", &format!("{{\"s\":1,\"t\":\"{text}\"}}"));
        let expected =
            "field \"t\": expected Unix milliseconds or a time from 1970 on such as 2024-11-19T17:37:45.755Z";
        assert_eq!(error, format!("{expected}, found \"{text}\""));
    }
    let error = refusal("--time-field t", r#"{"s":1,"t":4398046511104}"#);
    assert_eq!(error, "field \"t\": expected a timestamp of 0 to 4398046511103 ms, found 4398046511104");
}

#[test]
fn a_time_field_accepts_each_form_of_rfc_3339() {
    for text in ["2025-11-20T12:00:05.5Z", "2025-11-20t12:00:05.500999z", "2025-11-20 17:30:05.500+05:30"] {
        let run = imid("tag --session-field s --time-field t", format!("{{\"s\":1,\"t\":\"{text}\"}}"));
        assert_eq!((run.status, tagged_ids(&run.out)[0].timestamp_ms()), (0, 1_763_640_005_500), "{text}");
    }
}

#[test]
fn a_line_that_is_not_a_json_object_is_an_error() {
    assert_eq!(refusal("", "[]"), "expected a JSON object, found \"[]\"");
    assert_eq!(refusal("", "\u{feff}\u{feff}{}"), "expected a JSON object, found \"\\u{feff}{}\"");
    assert_eq!(refusal("", "\u{a0}{}"), "expected a JSON object, found \"\\u{a0}{}\"");
    assert_eq!(refusal("", "\x0c{}"), "expected a JSON object, found \"\\u{c}{}\"");
    assert_eq!(refusal("", "{\"s\":1\n"), "invalid JSON: EOF while parsing an object at 6");
    assert_eq!(refusal("", "{\"s\":1}{}"), "invalid JSON: trailing characters at 7");
    assert_eq!(refusal("", "{\"s\":01}"), "invalid JSON: invalid number at 6");
    assert_eq!(
        refusal("", "{\"s\":\"\t\"}"),
        "invalid JSON: control character (\\u0000-\\u001F) found while parsing a string at 5"
    );
    let run = imid("tag --session-field s", b"{\"s\":\"\xff\"}".as_slice());
    assert_eq!(run.error(1), "line 1: expected UTF-8, found byte 0xff at 6");
}

#[test]
fn a_deeply_nested_line_is_read_like_any_other() {
    let deep = format!("{{\"a\":{}{},\"s\":1}}", "[".repeat(1_000_000), "]".repeat(1_000_000));
    assert_eq!(untagged(&imid("tag --session-field s", deep.as_str()).ok()), deep);
}

#[test]
fn a_name_with_dots_is_a_field_or_a_path() {
    let session = |name: &str| SessionTag::new(SessionType::MIN, name);
    let lines = "{\"message\":{\"room\":\"a\",\"x.y\":{\"z\":7}},\"message.room\":\"b\"}\n{\"x\":{\"room\":1},\"message\":{\"room\":\"c\"}}\n";
    let tagged = imid("tag --session-field message.room", lines).ok();
    assert_eq!(untagged(&tagged), lines);
    assert_eq!(tagged_ids(&tagged).iter().map(|id| id.session_tag()).collect::<Vec<_>>(), [session("b"), session("c")]);

    let error = |field: &str, line: &str| imid(&format!("tag --session-field {field}"), line).error(1);
    assert_eq!(error("m.r", r#"{"m":{"s":1}}"#), "line 1: field \"m.r\" is missing");
    assert_eq!(error("m.r", r#"{"m":[{"r":1}]}"#), "line 1: field \"m.r\" is missing");
    assert_eq!(error("m.r", r#"{"m":{"r":1,"\u0072":2}}"#), "line 1: field \"m.r\": \"r\" in it occurs more than once");
    assert_eq!(error("m.r", r#"{"m":{"r":1},"m":{}}"#), "line 1: field \"m.r\": \"m\" in it occurs more than once");
    assert_eq!(
        error("m.r", r#"{"m":{"r":null}}"#),
        "line 1: field \"m.r\": expected a string or an integer, found null"
    );
}

#[test]
fn a_template_makes_a_session_name_from_several_fields() {
    let line = r#"{"app":"shop","room":42,"m":{"x":"é"}}"#;
    let tagged = imid("tag --session-field {app}:{room}/{m.x}{{}}", line).ok();
    assert!(tagged_ids(&tagged)[0].is_in(SessionTag::new(SessionType::MIN, "shop:42/é{}")));
    assert_eq!(imid("tag --session-field {app}:{b}", line).error(1), "line 1: field \"b\" is missing");
    let error = imid("tag --session-field {app", line).error(2);
    assert!(error.ends_with("expected fields in braces, such as {app}:{room}, found \"{\" at 0"), "{error}");
}

#[test]
fn a_value_that_is_not_a_string_is_shown_without_quotes() {
    for value in ["null", "-1", "1.5", "true", "[]"] {
        for (args, field) in [("--time-field t", "t"), ("--type-field t", "t")] {
            let error = refusal(args, &format!("{{\"s\":1,\"{field}\":{value}}}"));
            assert!(error.ends_with(&format!(", found {value}")), "{error}");
        }
    }
    assert!(refusal("--time-field t", "{\"s\":1,\"t\":\"null\"}").ends_with(", found \"null\""));
}

#[test]
fn a_path_can_be_longer_than_the_stack_is_deep() {
    let depth = 3_000;
    let line = format!("{}{{\"r\":1}}{}\n", "{\"d\":".repeat(depth), "}".repeat(depth));
    let tagged = imid_args(&["tag", "--session-field", &format!("{}r", "d.".repeat(depth))], line);
    assert_eq!((tagged.status, tagged.err.as_str()), (0, ""));
    assert_eq!(tagged_ids(&tagged.out).len(), 1);
}

#[test]
fn a_time_of_another_unit_is_an_error_unless_the_unit_is_given() {
    let line = |time: &str| format!("{{\"s\":1,\"t\":{time}}}\n");
    let tag = |args: &str, time: &str| imid(&format!("tag --session-field s --time-field t {args}"), line(time));
    let error = tag("", "1763640000").error(1);
    assert_eq!(
        error,
        "line 1: field \"t\": expected Unix milliseconds (for seconds, give --time-unit s), found 1763640000"
    );
    let error = tag("", "\"1763640000.123456\"").error(1);
    assert!(error.ends_with("(for seconds, give --time-unit s), found \"1763640000.123456\""), "{error}");
    let error = tag("", "1.5").error(1);
    assert!(error.ends_with("(for a fraction, give --time-unit), found 1.5"), "{error}");
    for (args, time) in [
        ("--time-unit s", "1763640000.123"),
        ("--time-unit s", "\"1763640000.123456\""),
        ("--time-unit us", "1763640000123456"),
        ("--time-unit ns", "1763640000123456789"),
        ("--time-zone Europe/Berlin", "\"2025-11-20T13:00:00.123\""),
        ("--time-zone Europe/Berlin", "\"2025-11-20T12:00:00.123Z\""),
    ] {
        let run = tag(args, time);
        let id = serde_json::from_str::<serde_json::Value>(&run.out).unwrap()["id"].as_str().unwrap().to_owned();
        assert_eq!(id.parse::<imid::MessageId>().unwrap().timestamp_ms(), 1_763_640_000_123, "{args} {time}");
    }
    assert_eq!(tag("--any-time", "5").status, 0);
    assert!(imid("tag --session-field s --time-unit s", "").err.contains("--time-field"));
}
