//! Known answers: each row in every form of an ID, each pair, each text that is no ID.

use std::io::Write;
use std::path::Path;

use imid::{MessageId, Parts, Session, SessionHash, SessionType};
use serde_json::Value;

/// One ID in all its forms. `session` is the name that has this hash, where one is known.
struct Known<'a> {
    unix_ms: u64,
    spin: u16,
    code: u8,
    session: Option<&'a str>,
    hash: u32,
    hex: &'a str,
    text: &'a str,
}

/// A few rows of the table below, so that the repository stands alone.
#[rustfmt::skip]
const KNOWN: &[Known] = &[
    Known { unix_ms: 1_732_037_865_755, spin: 2_219, code: 14, session: Some("room-42"), hash: 3_966_315,
            hex: "64d1601c46e2afbc856b", text: "EMAQ-2948-WCRV-T3DD" },
    Known { unix_ms: 108_983_602_413, spin: 2_253, code: 12, session: Some(""), hash: 1_283_266,
            hex: "0657fb733b63371394c2", text: "2TDZ-QWTV-EEVK-9784" },
    Known { unix_ms: 4_186_912_404_006, spin: 4_066, code: 6, session: Some("会话-融云"), hash: 3_804_094,
            hex: "f3b5db4c89bf89ba0bbe", text: "YGUX-QM6B-RY6V-N4XY" },
    Known { unix_ms: 2_890_948_716_829, spin: 65, code: 11, session: Some("ws/5f1c0c9e-7b1e-4a5e-9a41-5f3a7a4d1c20"),
            hash: 2_918_512, hex: "a8467e2a474106ec8870", text: "P359-WCL9-A65G-T45J" },
    Known { unix_ms: 0, spin: 0, code: 0, session: None, hash: 0,
            hex: "00000000000000000000", text: "2222-2222-2222-2222" },
    Known { unix_ms: 0, spin: 0, code: 1, session: None, hash: 0,
            hex: "00000000000000400000", text: "2222-2222-2226-2222" },
    Known { unix_ms: 0, spin: 1, code: 0, session: None, hash: 0,
            hex: "00000000000004000000", text: "2222-2222-2242-2222" },
    Known { unix_ms: 1, spin: 0, code: 0, session: None, hash: 0,
            hex: "00000000004000000000", text: "2222-2222-A222-2222" },
    Known { unix_ms: 4_398_046_511_103, spin: 4_095, code: 15, session: None, hash: 4_194_303,
            hex: "ffffffffffffffffffff", text: "ZZZZ-ZZZZ-ZZZZ-ZZZZ" },
];

/// Two users, and the hash of their private conversation.
const PAIRS: &[(&str, &str, u32)] =
    &[("alice", "bob", 3_210_113), ("", "", 2_085_655), ("1001", "1002", 124_026), ("会", "话", 1_294_780)];

const INVALID: &[&str] = &[
    "",
    "2222-2222-2222-222",
    "2222-2222-2222-22222",
    "2222222222222222",
    "2222222222222222222",
    "2222_2222_2222_2222",
    "222-22222-2222-2222",
    "2222-2222-2222-2220",
    "2222-2222-2222-2221",
    "2222-22O2-2222-2222",
    "2222-2222-I222-2222",
    "2222-2222-2222-222z",
    " 222-2222-2222-2222",
    "2222-2222-2222-222\n",
    "2222-2222-2222-222é",
    "２222-2222-2222-222",
];

/// Builds the ID from every form and prints it in every form.
fn check(known: &Known) {
    let Known { unix_ms, spin, code, session, hash, hex, text } = *known;
    let value = u128::from_str_radix(hex, 16).expect("the row's hex is a number");
    let bytes: [u8; MessageId::BYTES] = value.to_be_bytes()[6..].try_into().expect("ten bytes");
    let kind = SessionType::from_u8(code).expect("the row's type is a code");
    let hash = SessionHash::from_u32(hash).expect("the row's hash has 22 bits");

    let id = MessageId::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(MessageId::from_u128(value), Ok(id), "{text}");
    assert_eq!(MessageId::try_from(value), Ok(id), "{text}");
    assert_eq!(MessageId::from_bytes(bytes), id, "{text}");
    assert_eq!(MessageId::from_hex(hex), Ok(id), "{text}");
    assert_eq!(MessageId::from_hex(&hex.to_uppercase()), Ok(id), "{text}");
    assert_eq!(
        MessageId::try_from_parts(Parts { timestamp_ms: unix_ms, spin, session: Session::from_parts(kind, hash) }),
        Ok(id),
        "{text}"
    );
    assert_eq!(MessageId::parse_bytes(text.as_bytes()), Ok(id), "{text}");
    assert_eq!(MessageId::parse_lenient(&text.to_lowercase().replace('-', "")), Ok(id), "{text}");
    assert_eq!(text.parse(), Ok(id), "{text}");

    assert_eq!(id.to_string(), text);
    assert_eq!(id.to_text().as_str(), text);
    assert_eq!(format!("{id:x}"), hex, "{text}");
    assert_eq!(format!("{id:#X}"), format!("0x{}", hex.to_uppercase()), "{text}");
    assert_eq!(id.to_u128(), value, "{text}");
    assert_eq!(id.to_bytes(), bytes, "{text}");

    assert_eq!(id.timestamp_ms(), unix_ms, "{text}");
    assert_eq!(id.since_epoch().as_millis(), u128::from(unix_ms), "{text}");
    assert_eq!(id.spin(), spin, "{text}");
    assert_eq!(id.session_type(), kind, "{text}");
    assert_eq!(id.session_hash(), hash, "{text}");
    if let Some(name) = session {
        assert_eq!(SessionHash::of(name), hash, "{name}");
        assert_eq!(id.session(), Session::new(kind, name), "{name}");
        assert!(id.is_in(Session::new(kind, name)), "{name}");
    }
}

fn check_pair(a: &str, b: &str, code: u8, hash: u32) {
    let pair = Session::pair(a, b);
    assert_eq!(pair.session_type().to_u8(), code, "{a} and {b}");
    assert_eq!(pair.hash().to_u32(), hash, "{a} and {b}");
    assert_eq!(pair, Session::pair(b, a), "{a} and {b}");
}

fn check_invalid(text: &str) {
    assert!(MessageId::parse(text).is_err(), "{text:?} was read");
}

#[test]
fn known_ids_agree_in_every_form() {
    for known in KNOWN {
        check(known);
    }
}

#[test]
fn known_pairs_have_their_hash() {
    for (a, b, hash) in PAIRS {
        check_pair(a, b, SessionType::PRIVATE.to_u8(), *hash);
    }
}

#[test]
fn texts_of_another_shape_are_refused() {
    for text in INVALID {
        check_invalid(text);
    }
}

#[test]
fn the_shared_table_agrees() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/vectors/standard.json");
    let Ok(table) = std::fs::read(&path) else {
        // Not `eprintln!`: the harness would hide it.
        writeln!(std::io::stderr(), "skipped: no {}", path.display()).expect("stderr is open");
        return;
    };
    let table: Value = serde_json::from_slice(&table).expect("the table is JSON");
    let rows = |name: &str| table[name].as_array().expect("a list of rows");
    let string = |value: &'_ Value| value.as_str().expect("a string").to_owned();
    let number = |value: &Value| value.as_u64().expect("a number");
    let small = |value: &Value| u16::try_from(number(value)).expect("16 bits");
    let code = |value: &Value| u8::try_from(number(value)).expect("8 bits");
    let hash = |value: &Value| u32::try_from(number(value)).expect("32 bits");

    for row in rows("valid") {
        check(&Known {
            unix_ms: number(&row["unix_ms"]),
            spin: small(&row["spin"]),
            code: code(&row["type"]),
            session: row["session"].as_str(),
            hash: hash(&row["hash"]),
            hex: &string(&row["hex"]),
            text: &string(&row["text"]),
        });
    }
    for row in rows("pairs") {
        check_pair(&string(&row["a"]), &string(&row["b"]), code(&row["type"]), hash(&row["hash"]));
    }
    for row in rows("invalid") {
        check_invalid(&string(row));
    }
    let counts = ["valid", "pairs", "invalid"].map(|name| rows(name).len());
    assert!(counts.iter().all(|count| *count > 0), "an empty list: {counts:?}");
}
