//! The tables of FORMAT.md agree with this library. The vectors test the formulas of FORMAT.md, because these made
//! them.

use std::collections::BTreeSet;

use imid::{MessageId, SessionType};
use serde_json::Value;

const FORMAT: &str = include_str!("../spec/FORMAT.md");
const VECTORS: &str = include_str!("../spec/vectors.json");

/// Returns the cells of the rows of the table with this head, without backticks.
fn rows(head: &str) -> Vec<Vec<String>> {
    let (_, table) = FORMAT.split_once(&format!("\n{head}\n")).unwrap_or_else(|| panic!("no table {head}"));
    let cells = |line: &str| line.trim_matches('|').split('|').map(|cell| cell.trim().replace('`', "")).collect();
    // The first line separates the head from the rows.
    let rows: Vec<_> = table.lines().skip(1).take_while(|line| line.starts_with('|')).map(cells).collect();
    assert!(!rows.is_empty(), "no rows under {head}");
    rows
}

fn number<T: std::str::FromStr<Err: std::fmt::Debug>>(cell: &str) -> T {
    cell.parse().unwrap_or_else(|error| panic!("{cell:?} is not a number: {error:?}"))
}

#[test]
fn fields_are_those_of_the_document() {
    let tops = rows("| field | bits | range | meaning |");
    let id = |bit: &str| MessageId::from_u128(1 << number::<u32>(bit)).expect("80 bits");
    let fields = |id: MessageId| {
        let session = id.session_tag();
        [
            id.timestamp_ms(),
            id.spin().into(),
            session.session_type().to_u8().into(),
            session.session_hash().to_u32().into(),
        ]
    };
    for (at, row) in tops.iter().enumerate() {
        let (top, bottom) = row[1].split_once(" to ").expect("two bits");
        let (_, greatest) = row[2].split_once(" to ").expect("two values");
        assert_eq!(fields(id(bottom))[at], 1, "{row:?}");
        assert_eq!(fields(id(top))[at], number::<u64>(greatest).div_ceil(2), "{row:?}");
        assert_eq!(fields(MessageId::MAX)[at], number::<u64>(greatest), "{row:?}");
    }
}

#[test]
fn type_names_are_those_of_the_document() {
    let mut codes = 0;
    for row in rows("| code | name | code | name |") {
        for pair in row.chunks(2) {
            let [code, name] = pair else { panic!("{row:?}") };
            let kind = SessionType::from_u8(number(code)).expect("a code");
            assert_eq!(kind.name().unwrap_or("(free)"), name);
            codes += 1;
        }
    }
    assert_eq!(codes, 16);
}

#[test]
fn the_document_explains_the_vectors_with_all_their_members() {
    let file: Value = serde_json::from_str(VECTORS).expect("the file is JSON");
    let members: BTreeSet<_> =
        file.as_object().expect("an object").keys().filter(|member| file[*member].is_array()).cloned().collect();
    let explained = rows("| member | a row |");
    assert_eq!(explained.iter().map(|row| row[0].clone()).collect::<BTreeSet<_>>(), members);
    for (row, member) in explained.iter().map(|row| (row, &row[0])) {
        for key in file[member].as_array().expect("a list of rows")[0].as_object().expect("a row").keys() {
            assert!(key == "why" || row[1].contains(&key[..]), "{member} has {key}");
        }
    }
}
