//! The rows of spec/dialects.json that are 64-bit IDs. A program without this library writes them.

use imid_snowflake::{Layout, TextForm};
use serde_json::Value;

fn rows(member: &str) -> Vec<Value> {
    let file: Value = serde_json::from_str(include_str!("../../../spec/dialects.json")).expect("the file is JSON");
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

fn layout(row: &Value, key: &str) -> Layout {
    Layout::named(text(row, key)).unwrap_or_else(|| panic!("no layout for {row}"))
}

#[test]
fn the_file_has_the_built_in_layouts() {
    let rows = rows("layouts");
    assert_eq!(rows.len(), Layout::ALL.len());
    for (row, known) in rows.iter().zip(Layout::ALL) {
        let layout = layout(row, "name");
        assert_eq!(layout, *known, "the order is that of ties");
        assert_eq!(layout.epoch().as_nanos().to_string(), text(row, "epoch_ns"));
        assert_eq!(layout.tick().as_nanos(), u128::from(number(row, "tick_ns")));
        assert_eq!(layout.text_form(), if text(row, "form") == "hex" { TextForm::Hex } else { TextForm::Decimal });
    }
}

#[test]
fn ids_have_their_fields() {
    for row in rows("snowflakes") {
        let id = layout(&row, "layout").parse(text(&row, "text")).unwrap_or_else(|error| panic!("{row}: {error}"));
        assert_eq!(id.to_string(), text(&row, "text"));
        assert_eq!(id.to_hex().as_str(), text(&row, "hex"));
        assert_eq!(id.since_unix_epoch().as_nanos().to_string(), text(&row, "ns"), "{row}");
        assert_eq!(id.timestamp_ms(), number(&row, "timestamp"), "{row}");
        assert_eq!(u64::from(id.node()), number(&row, "node"), "{row}");
        assert_eq!(u64::from(id.sequence()), number(&row, "sequence"), "{row}");
        assert_eq!(id.datacenter().map(u64::from), row["datacenter"].as_u64(), "{row}");
        assert_eq!(u64::from(id.worker()), row["worker"].as_u64().unwrap_or(number(&row, "node")), "{row}");
    }
}

#[test]
fn other_texts_are_refused_at_their_position() {
    for row in rows("snowflakes_refused") {
        let Err(error) = layout(&row, "layout").parse(text(&row, "input")) else { panic!("{row} was read") };
        assert_eq!(error.position() as u64, number(&row, "position"), "{row}");
    }
}
