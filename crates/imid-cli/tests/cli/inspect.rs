use crate::{command, imid};

const ID: &str = "EMAQ-2948-WCRV-T3DD";
const JSON: &str = concat!(
    r#"{"id":"EMAQ-2948-WCRV-T3DD","dialect":"standard","unix_ms":1732037865755,"time":"2024-11-19T17:37:45.755Z","#,
    r#""spin":2219,"type":14,"type_name":null,"hash":3966315,"hex":"64d1601c46e2afbc856b","#,
    r#""u128":"476098943286636231558507"}"#
);

#[test]
fn json_has_the_fields_in_their_order() {
    assert_eq!(imid(&format!("inspect --json {ID}"), "").ok(), format!("{JSON}\n"));
    let json = imid("inspect --json 2222-2222-22B2-2222", "").ok();
    let expected = concat!(
        r#"{"id":"2222-2222-22B2-2222","dialect":"standard","unix_ms":0,"time":"1970-01-01T00:00:00.000Z","#,
        r#""spin":4,"type":8,"type_name":"PUBLIC_SERVICE","hash":0,"hex":"00000000000012000000","#,
        r#""u128":"301989888"}"#
    );
    assert_eq!(json, format!("{expected}\n"));
}

#[test]
fn pasted_text_is_read_from_arguments_and_from_lines() {
    for pasted in ["emaq2948wcrvt3dd", "EMAQ-2948WCRV-t3dd"] {
        assert_eq!(imid(&format!("inspect --json {pasted}"), "").ok(), format!("{JSON}\n"));
    }
    let lines = format!("\n  {ID} \r\n\t\r\nemaq2948wcrvt3dd");
    assert_eq!(imid("inspect --json", lines).ok(), format!("{JSON}\n{JSON}\n"));
}

#[test]
fn a_session_is_compared_by_its_hash() {
    let says = |args: &str| imid(&format!("inspect {args} {ID}"), "").ok();
    let (yes, no) = (r#","session_match":true}"#, r#","session_match":false}"#);
    assert_eq!(says("--json --session room-42"), JSON.replace('}', yes) + "\n");
    assert_eq!(says("--json --session room-43"), JSON.replace('}', no) + "\n");
    assert!(says("--session room-42").contains("session the hash matches"));
    assert!(says("--session room-43").contains("session the hash does not match"));

    let private = imid("new --session alice --peer bob", "").ok();
    assert!(imid("inspect --json --session bob --peer alice", private.as_str()).ok().contains(yes));
    assert!(imid("inspect --json --session bob", private).ok().contains(no));
}

#[test]
fn the_drawing_shows_the_bits_of_each_field() {
    let mut command = command();
    let run = command.env("TZ", "Asia/Tokyo").args(["inspect", ID]).output().unwrap();
    let out = String::from_utf8(run.stdout).unwrap();
    let expected = "\
EMAQ-2948-WCRV-T3DD
01100100110100010110000000011100010001101110001010101111101111001000010101101011
└────────────────────────────────────────┘└──────────┘└──┘└────────────────────┘
            timestamp, unix ms                spin    type     session hash
              1732037865755                   2219     14        3966315
UTC     2024-11-19T17:37:45.755Z
local   2024-11-20T02:37:45.755+09:00 Asia/Tokyo
age     ";
    assert!(out.starts_with(expected), "{out}");
    assert!(out.ends_with("\nhex     64d1601c46e2afbc856b\ninteger 476098943286636231558507\n\n"), "{out}");
    let future = imid("inspect ZZZZ-ZZZZ-ZZZZ-ZZZZ", "").ok();
    assert!(future.contains("ahead of this machine's clock"), "{future}");
}

#[test]
fn environment_variables_set_colours() {
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
                    expected a digit 2-9 or A-Z without I and O, found '0' at 18\n";
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
