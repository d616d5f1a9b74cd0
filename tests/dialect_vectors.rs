//! The rows of spec/dialects.json that are 80-bit IDs. A program without this library writes them. The 64-bit ones are tested in
//! imid-snowflake, and the guesses in imid-inspect.

use imid::dialect::{Dialect, DialectId};
use serde_json::Value;

fn rows(member: &str) -> Vec<Value> {
    let file: Value = serde_json::from_str(include_str!("../spec/dialects.json")).expect("the file is JSON");
    let rows = file[member].as_array().expect("a list of rows").clone();
    assert!(!rows.is_empty());
    rows
}

fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key].as_str().unwrap_or_else(|| panic!("{key} is not a string in {row}"))
}

fn number(row: &Value, key: &str) -> u64 {
    row[key].as_u64().unwrap_or_else(|| panic!("{key} is not a number in {row}"))
}

fn dialect(row: &Value, key: &str) -> &'static Dialect<'static> {
    Dialect::named(text(row, key)).unwrap_or_else(|| panic!("no dialect for {row}"))
}

#[test]
fn the_file_has_the_built_in_dialects() {
    let rows = rows("dialects");
    assert_eq!(rows.len(), Dialect::ALL.len());
    for (row, known) in rows.iter().zip(Dialect::ALL) {
        let dialect = dialect(row, "name");
        assert_eq!(dialect.name(), known.name(), "the order is that of ties");
        // Each digit in each place.
        for (value, digit) in text(row, "digits").chars().enumerate() {
            let bits = (0..16).fold(0, |bits, _| bits << 5 | value as u128);
            let written = dialect.to_text(DialectId::from_u128(bits, dialect.layout()).unwrap()).unwrap();
            assert!(written.chars().filter(|char| *char != '-').all(|found| found == digit), "{written}");
            assert_eq!(written.contains('-'), row["dashes"].as_bool().unwrap());
        }
        let widths: Vec<_> = row["widths"].as_array().unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(dialect.layout().to_string(), widths.join("-"));
    }
}

#[test]
fn messages_have_their_fields() {
    for row in rows("messages") {
        let dialect = dialect(&row, "dialect");
        let id = dialect.parse(text(&row, "text")).unwrap_or_else(|error| panic!("{row}: {error}"));
        assert_eq!(id.to_hex().as_str(), text(&row, "hex"));
        assert_eq!(dialect.to_text(id).unwrap().as_str(), text(&row, "text"));
        assert_eq!(id.timestamp_ms(), number(&row, "timestamp"), "{row}");
        assert_eq!(id.spin().map(u64::from), row["spin"].as_u64(), "{row}");
        assert_eq!(u64::from(id.type_code()), number(&row, "type"), "{row}");
        assert_eq!(u64::from(id.session_hash()), number(&row, "hash"), "{row}");
        if let Some(session) = row["session"].as_str() {
            assert_eq!(dialect.hash_of(session), Some(id.session_hash()), "{row}");
        }
    }
}

#[test]
fn other_texts_are_refused_at_their_position() {
    for row in rows("messages_refused") {
        let Err(error) = dialect(&row, "dialect").parse(text(&row, "input")) else { panic!("{row} was read") };
        assert_eq!(error.position() as u64, number(&row, "position"), "{row}");
    }
}

#[test]
fn sessions_have_the_hash_of_each_dialect() {
    for row in rows("hashes") {
        let dialect = dialect(&row, "dialect");
        match dialect.hash_of(text(&row, "session")) {
            Some(hash) => assert_eq!(u64::from(hash), number(&row, "hash"), "{row}"),
            None => assert!(dialect.name() == "juggleim" && !cfg!(feature = "juggleim"), "{row}"),
        }
    }
}
