//! The guesses of spec/dialects.json. A program without this library writes them.

use imid_inspect::{Id, Scheme, identify_text};
use serde_json::Value;

fn rows(member: &str) -> Vec<Value> {
    let file: Value = serde_json::from_str(include_str!("../../../spec/dialects.json")).expect("the file is JSON");
    let rows = file[member].as_array().expect("a list of rows").clone();
    assert!(!rows.is_empty());
    rows
}

fn number(row: &Value, key: &str) -> u64 {
    row[key].as_u64().unwrap_or_else(|| panic!("{key} is not a number in {row}"))
}

fn expect(row: &Value, found: Vec<Id>) {
    let expected: Vec<_> =
        row["candidates"].as_array().expect("a list").iter().map(|name| name.as_str().unwrap()).collect();
    assert_eq!(found.into_iter().map(Id::scheme_name).collect::<Vec<_>>(), expected, "{row}");
}

#[test]
fn candidates_come_in_their_order() {
    for row in rows("identify") {
        expect(&row, identify_text(row["input"].as_str().unwrap(), number(&row, "now")));
    }
}

#[test]
fn each_scheme_has_a_row_at_either_end_of_its_period() {
    let inputs = rows("identify");
    for row in rows("periods") {
        let name = row["name"].as_str().unwrap();
        let scheme =
            Scheme::all().find(|scheme| scheme.name() == name).unwrap_or_else(|| panic!("no scheme for {row}"));
        let from = number(&row, "from");
        let times: Vec<_> = inputs
            .iter()
            .filter_map(|row| scheme.parse(row["input"].as_str().unwrap().as_bytes()))
            .map(Id::timestamp_ms)
            .collect();
        let has = |near: u64| times.iter().any(|ms| ms.abs_diff(near) <= 2);
        assert!(number(&row, "until") == 0 || has(from), "{name} has no row at {from}");
    }
}
