use imid::dialect::Dialect;
use imid::{MessageId, SessionType};

use crate::{imid, imid_args};

/// Real IDs of three schemes, with their fields.
const RONGCLOUD: &str = concat!(
    r#"{"id":"BUFE-A62U-32C4-01I2","dialect":"rongcloud","timestamp_ms":1642750828920,"time":"2022-01-21T07:40:28.920Z","#,
    r#""spin":1574,"type":1,"type_name":"PRIVATE","hash":1602,"hex":"5f9ee5185e1898400642","#,
    r#""int":"451555909484156257568322","uuid":"017e7b94-6178-7626-8400-642fffffffff","form":"text"}"#
);
const RONGCLOUD_V1: &str = concat!(
    r#"{"id":"5DO1-7OBR-12LJ-ECGG","dialect":"rongcloud-v1","timestamp_ms":1492511558616,"time":"2017-04-18T10:32:38.616Z","#,
    r#""spin":null,"type":8,"type_name":"PUBLIC_SERVICE","hash":2872521232,"hex":"2b7013e17b08ab373210","#,
    r#""int":"205129226661083856974352","form":"text"}"#
);
const NSQ: &str = concat!(
    r#"{"id":"0632eb19de09b007","dialect":"nsq","timestamp_ms":1463110874347,"time":"2016-05-13T03:41:14.347Z","#,
    r#""node":155,"sequence":7,"hex":"0632eb19de09b007","int":"446677809394987015","form":"text"}"#
);

#[test]
fn inspect_reads_ids_of_the_given_dialect() {
    let json = |args: &str| imid(&format!("inspect --json --dialect {args}"), "").ok();
    assert_eq!(json("rongcloud BUFE-A62U-32C4-01I2"), format!("{RONGCLOUD}\n"));
    assert_eq!(
        json("rongcloud bufea62u32c401i2"),
        format!("{}\n", RONGCLOUD.replace(r#""text""#, r#""lenient text""#))
    );
    assert_eq!(json("rongcloud-v1 5DO1-7OBR-12LJ-ECGG"), format!("{RONGCLOUD_V1}\n"));
    assert_eq!(json("nsq 0632eb19de09b007"), format!("{NSQ}\n"));
    let lines = imid("inspect --json --dialect leaf", " 1169786042799259000\n\n5\n").ok();
    assert_eq!(lines.matches(r#""dialect":"leaf""#).count(), 2);
    for negative in ["-1", "-- -1"] {
        assert!(json(&format!("leaf {negative}")).contains(r#""id":"-1","dialect":"leaf""#), "{negative}");
    }
    assert!(json("leaf -1").contains(r#""overflowed":true"#));
}

#[test]
fn tag_mints_in_a_dialect_with_its_hash_its_text_and_its_names_of_types() {
    let line = "{\"to\":\"24\",\"kind\":\"group\",\"at\":1642750828920}\n";
    for (dialect, type_code) in [("rongcloud", 3), ("juggleim", 2), ("standard", 3)] {
        for (args, input) in [("", line.to_owned()), ("--in csv", "to,kind,at\n24,group,1642750828920\n".to_owned())] {
            let tag = |more: &str| {
                let args = format!("tag --dialect {dialect} --session-field to --time-field at --seed 1 {args} {more}");
                imid(&args, input.as_str())
            };
            let tagged = tag("--type-field kind").out;
            assert_eq!(tagged, tag("--type GROUP").out);
            let last = tagged.trim_end().rsplit(['"', ',']).find(|text| text.len() > 9).unwrap();
            let fields = imid(&format!("inspect --json --dialect {dialect} --session 24 {last}"), "").ok();
            let expected = format!("\"type\":{type_code},\"type_name\":\"GROUP\"");
            assert!(fields.contains(&expected) && fields.contains("\"session_match\":true"), "{fields}");
            // The next run comes after it.
            assert!(tag(&format!("--after {last}")).out > tagged || dialect == "juggleim");
        }
    }
    let error = imid("tag --dialect rongcloud --session-field to --peer-field from", "").error(2);
    assert!(error.starts_with("--peer-field works only with the standard dialect: "), "{error}");
    let error = imid("tag --dialect rongcloud-v1 --session-field to", "").error(2);
    assert_eq!(error, "--dialect: expected one of rongcloud, standard, juggleim, found \"rongcloud-v1\"");
    let error = imid("tag --dialect rongcloud --session-field to --after EUN6-KDW2-5J2G-DUMZ", "").error(2);
    assert!(error.starts_with("--after: \"EUN6-KDW2-5J2G-DUMZ\" is not an ID: "), "{error}");
}

#[test]
fn inspect_compares_sessions_with_the_hash_of_the_dialect() {
    let says = |args: &str| imid(&format!("inspect --json --dialect {args}"), "").ok();
    assert!(says("rongcloud --session 24 BUFE-A62U-32C4-01I2").contains(r#""session_match":true"#));
    let other = imid("inspect --json --dialect rongcloud --session 25 BUFE-A62U-32C4-01I2", "");
    assert!(other.status == 1 && other.out.contains(r#""session_match":false"#), "{}", other.out);
    assert!(says("rongcloud-v1 --session testing 5DO1-7OBR-12LJ-ECGG").contains(r#""session_match":true"#));
    let error = imid("inspect --dialect nsq --session x 0632eb19de09b007", "").error(2);
    assert_eq!(error, "a Snowflake has no session: --type, --session and --peer work only with message IDs");
    let error = imid("inspect --dialect rongcloud --session x --peer y BUFE-A62U-32C4-01I2", "").error(2);
    assert!(error.starts_with("--peer works only with the standard dialect: "));
}

#[test]
fn inspect_names_the_character_that_is_not_in_the_dialect() {
    let error = imid("inspect --dialect rongcloud BUFE-A62U-32C4-01IW", "").error(1);
    assert_eq!(error, "argument 1: \"BUFE-A62U-32C4-01IW\" is not an ID: expected a digit 0-9 or A-V, found 'W' at 18");
    let error = imid("inspect --dialect twitter 2046972218479861x7", "").error(1);
    assert_eq!(error, "argument 1: \"2046972218479861x7\" is not an ID: expected a decimal digit, found 'x' at 16");
}

#[test]
fn the_drawing_shows_the_bits_of_a_snowflake() {
    let out = imid("inspect --bits --dialect twitter 204697221847986177", "").ok();
    let expected = "\
204697221847986177
0000001011010111001110110000100111101010110000100011000000000001
+----------------------------------------++--------++----------+
                   tick                      node     sequence
               48803620779                    35         1
UTC      2012-05-21T22:16:35.436Z
";
    assert!(out.starts_with(expected), "{out}");
    assert!(out.ends_with("\nnode     35 (datacenter 1, worker 3)\nsequence 1\nhex      02d73b09eac23001\nread as  text of twitter\n\n"), "{out}");
}

#[test]
fn the_drawing_shows_a_layout_without_a_spin() {
    let out = imid("inspect --bits --dialect rongcloud-v1 5DO1-7OBR-12LJ-ECGG", "").ok();
    let widths = format!("+{}++---++{}+", "-".repeat(41), "-".repeat(30));
    assert!(out.contains(&widths), "{out}");
    assert!(out.contains("\ntype     8 PUBLIC_SERVICE\nhash     2872521232\n"), "{out}");
}

#[test]
fn inspect_prints_one_object_per_candidate_the_best_first() {
    let lines = |text: &str| imid(&format!("inspect --json {text}"), "").ok();
    for (known, text) in [
        (RONGCLOUD, "BUFE-A62U-32C4-01I2"),
        (RONGCLOUD_V1, "5DO1-7OBR-12LJ-ECGG"),
        // This one could also be of March 2014, before NSQ changed its tick.
        (NSQ, "0632eb19de09b007"),
    ] {
        let input = format!(",\"plausible\":true,\"input\":\"{text}\"}}\n");
        let found = lines(text);
        assert!(found.starts_with(&known.replace('}', &input)), "{found}");
        assert_eq!(found.lines().count(), if known == NSQ { 2 } else { 1 });
    }
    let both = lines("CPEN-GH7K-ECA4-98EU");
    let both: Vec<_> = both.lines().collect();
    assert!(both[0].contains(r#""dialect":"rongcloud","timestamp_ms":1758619309009,"#), "{}", both[0]);
    assert!(both[1].contains(r#""dialect":"standard","timestamp_ms":1466280243909,"#), "{}", both[1]);
    assert!(both.iter().all(|line| line.ends_with(r#","plausible":true,"input":"CPEN-GH7K-ECA4-98EU"}"#)));
}

/// One real ID of RongCloud in eight has only digits that imid's IDs have, too.
const OF_TWO: &str = "CPEN-GH7K-ECA4-98EU";

#[test]
fn a_text_of_two_systems_has_both_readings_and_is_not_converted() {
    let expected = "\
rongcloud         2025-09-23T09:21:49.009Z  spin 3269, type 1 PRIVATE, hash 303582, ends 2109-05-15
standard          2016-06-18T20:04:03.909Z  spin 2212, type 0, hash 2333082, ends 2109-05-15
";
    for args in [
        &["inspect", OF_TWO][..],
        &[OF_TWO],
        &["inspect", "cpen-gh7k-eca4-98eu"],
        &["inspect", "\"CPENGH7KECA498EU\","],
    ] {
        assert_eq!(imid_args(args, "").ok().replace(", from lenient text", ""), expected, "{args:?}");
    }
    assert_eq!(imid("inspect", format!("{OF_TWO}\n")).ok(), format!("{OF_TWO}\n{expected}\n"));
    // The same best reading in a longer text.
    let inside = imid_args(&["inspect", &format!("lost {OF_TWO} today")], "").ok();
    assert!(inside.contains("UTC      2025-09-23T09:21:49.009Z\n") && inside.contains("of rongcloud\n"), "{inside}");

    let refused = "can be an ID of rongcloud (2025-09-23T09:21:49.009Z) or of standard (2016-06-18T20:04:03.909Z): \
                   name one with --dialect";
    for args in ["--format hex", "--format text", "--shards 8", "--session room-42", "--shards 8 --keep-going"] {
        let run = imid(&format!("inspect {args} {OF_TWO}"), "");
        assert_eq!((run.status, run.out.as_str()), (1, ""), "{args}");
        assert_eq!(run.err, format!("error: argument 1: \"{OF_TWO}\" {refused}\n"), "{args}");
    }
    let declared = |args: &str| imid(&format!("inspect {args} --format hex {OF_TWO}"), "").ok();
    assert_eq!(declared("--dialect rongcloud"), "665d7844f4731444a1de\n");
    assert_ne!(declared("--dialect standard"), declared("--dialect rongcloud"));
    assert_eq!(declared("--dialect standard"), declared("--id-form text"));
    // What is read as stored IDs is declared, and means what its dialect says.
    for command in ["check --json", "stats --json"] {
        assert!(imid(command, format!("{OF_TWO}\n")).ok().contains("2016-06-18T20:04:03.909Z"), "{command}");
    }
    assert_eq!(imid(&format!("grep -c --id {OF_TWO}"), format!("{OF_TWO}\n")).ok(), "1\n");
    // What is left of one has both times.
    let error = imid("inspect CPEN-GH7K-ECA4", "").error(1);
    let both = "an ID rongcloud of 2025-09-23T09:21:49.009Z or of 2016-06-18T20:04:03.909Z";
    assert!(error.ends_with(both), "{error}");
    // JuggleIM's, which as ours would be of 2062.
    let juggleim = imid("inspect pb9hvkf86lyr3bmm", "").ok();
    assert!(juggleim.contains("\nread as  text of juggleim\n"), "{juggleim}");
    let error = imid("inspect --format hex pb9hvkf86lyr3bmm", "").error(1);
    assert!(
        error.ends_with("is an ID of juggleim (2026-11-20T17:00:00.123Z); to use it, give --dialect juggleim"),
        "{error}"
    );
}

#[test]
fn new_mints_ids_of_the_given_dialect() {
    let text = imid("new --dialect rongcloud --type tempgroup --session 24", "").ok();
    let id = Dialect::RONGCLOUD.parse(text.trim_end()).unwrap();
    let session = Dialect::RONGCLOUD.session_tag(SessionType::CHATROOM, "24").unwrap();
    assert!(MessageId::try_from(id).unwrap().is_in(session));

    let text = imid("new --dialect juggleim --type group --session room-42", "").ok();
    let id = Dialect::JUGGLEIM.parse(text.trim_end()).unwrap();
    assert_eq!((id.type_code(), id.session_hash()), (2, 4_135_797));

    let error = imid("new --dialect juggleim --type ultra_group", "").error(2);
    let expected = "--type: expected a code from 0 to 15 or one of PRIVATE, GROUP, CHATROOM, SYSTEM, GROUP_CAST, BROADCAST, \
                    found \"ultra_group\"";
    assert_eq!(error, expected);
    for read_only in ["rongcloud-v1", "leaf"] {
        let error = imid(&format!("new --dialect {read_only}"), "").error(2);
        let expected = "--dialect: expected one of rongcloud, standard, juggleim, found ";
        assert_eq!(error, format!("{expected}{read_only:?}"));
    }
}

#[test]
fn check_compares_values_and_prints_texts() {
    // JuggleIM's texts sort in another order.
    let (early, late) = (MessageId::first_at(1_000).unwrap(), MessageId::first_at(4_000_000_000_000).unwrap());
    let (early, late) = (Dialect::JUGGLEIM.to_text(early).unwrap(), Dialect::JUGGLEIM.to_text(late).unwrap());
    assert!(*late < *early);
    assert!(imid("check --dialect juggleim", format!("{early}\n{late}\n")).ok().contains("lower       0"));
    let ran = imid("check --dialect juggleim", format!("{late}\n{early}\nAAAA\n"));
    let expected = format!(
        "error: line 2: {early} is lower than the ID before it, {late}\n\
         error: line 3: \"AAAA\" is not an ID: expected a digit 2-9 or a-z without i and o, found the end at 4\n"
    );
    assert_eq!((ran.status, ran.err), (1, expected));
}

#[test]
fn check_reads_snowflakes_as_json_numbers_and_strings() {
    let lines = "{\"id\":204697221847986177}\n{\"id\":\"474971393852182528\"}\n";
    let summary = imid("check --json --unsorted --dialect twitter", lines.repeat(2)).out;
    assert!(summary.contains(r#""valid":4,"invalid":0"#) && summary.contains(r#""duplicates":2"#), "{summary}");
    assert!(summary.contains(r#""first_time":"2012-05-21T22:16:35.436Z","last_time":"2014-06-06T17:49:39.493Z""#));
    let ran = imid("check --dialect twitter", "{\"id\":1.5}\n");
    assert_eq!(ran.err, "error: line 1: \"1.5\" is not an ID: expected a decimal digit, found '.' at 1\n");
    // A message ID cannot be a JSON number.
    let ran = imid("check --dialect rongcloud", "{\"id\":5}\n");
    assert_eq!(ran.err, "error: line 1: field \"id\": expected a string, found 5\n");
}

#[test]
fn an_unknown_dialect_is_an_error_that_lists_the_known_ones() {
    let ran = imid("inspect --dialect klingon x", "");
    assert_eq!(ran.status, 2);
    assert!(ran.err.contains("rongcloud-v1") && ran.err.contains("nsq"), "{}", ran.err);
    // Layouts that no system mints are read by name, and not listed.
    let help = imid("inspect --help", "").ok();
    for dead in ["rollback-38-15-10", "nsq-before-2015"] {
        assert!(!ran.err.contains(dead) && !help.contains(dead), "{dead}");
        let json = imid(&format!("inspect --json --dialect {dead} 09e5a1420fbfffff"), "");
        assert!(json.out.contains(dead) || json.err.contains("decimal"), "{} {}", json.out, json.err);
    }
}

#[test]
fn a_message_has_the_id_as_the_output_has_it() {
    let ran = imid("tag --dialect rongcloud --type private --session-field to --in csv", "to\nuser9\n\"");
    let (_, id) = ran.out.trim_end().rsplit_once(',').unwrap();
    assert!(ran.err.ends_with(&format!("; the output ends with line 2, which has the ID {id}\n")), "{}", ran.err);
}
