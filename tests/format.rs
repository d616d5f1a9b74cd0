//! The tables of FORMAT.md: what a reader in another language is checked with is what this library does.

use std::num::NonZeroU32;

use imid::{MessageId, Session, SessionHash, SessionType};
use xxhash_rust::xxh3::xxh3_64;

const FORMAT: &str = include_str!("../docs/FORMAT.md");

/// The rows of the table with this head, cell by cell, without the marks of code.
fn rows(head: &str) -> Vec<Vec<String>> {
    let (_, table) = FORMAT.split_once(&format!("\n{head}\n")).unwrap_or_else(|| panic!("no table {head}"));
    let cells = |line: &str| line.trim_matches('|').split('|').map(|cell| cell.trim().replace('`', "")).collect();
    // The first line rules the head off.
    let rows: Vec<_> = table.lines().skip(1).take_while(|line| line.starts_with('|')).map(cells).collect();
    assert!(!rows.is_empty(), "no rows under {head}");
    rows
}

fn number<T: std::str::FromStr<Err: std::fmt::Debug>>(cell: &str) -> T {
    cell.parse().unwrap_or_else(|error| panic!("{cell:?} is no number: {error:?}"))
}

/// A name as the tables write it: `(empty)`, `a × 16`, or itself.
fn name(cell: &str) -> String {
    match cell.split_once(" × ") {
        Some((letter, times)) => letter.repeat(number(times)),
        None if cell == "(empty)" => String::new(),
        None => cell.to_owned(),
    }
}

#[test]
fn ids_are_those_of_the_document() {
    for row in rows("| text | hex | unix ms | spin | type | hash | name |") {
        let [text, hex, unix_ms, spin, code, hash, session] = &row[..] else { panic!("{row:?}") };
        let id = MessageId::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(id.to_string(), *text);
        assert_eq!(format!("{id:x}"), *hex);
        assert_eq!(id.timestamp_ms(), number::<u64>(unix_ms));
        assert_eq!(id.spin(), number::<u16>(spin));
        assert_eq!(id.session_type().to_u8(), number::<u8>(code));
        assert_eq!(id.session_hash().to_u32(), number::<u32>(hash));
        if session != "(unknown)" {
            assert_eq!(id.session_hash(), SessionHash::of(&name(session)));
        }
    }
}

#[test]
fn fields_are_those_of_the_document() {
    let tops = rows("| field | bits | range | meaning |");
    let id = |bit: &str| MessageId::from_u128(1 << number::<u32>(bit)).expect("80 bits");
    let fields = |id: MessageId| {
        let session = id.session();
        [id.timestamp_ms(), id.spin().into(), session.session_type().to_u8().into(), session.hash().to_u32().into()]
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
fn hashes_are_those_of_the_document() {
    for row in rows("| name | bytes | XXH3-64 | hash |") {
        let [cell, bytes, full, hash] = &row[..] else { panic!("{row:?}") };
        let name = name(cell);
        assert_eq!(name.len(), number::<usize>(bytes));
        assert_eq!(format!("{:016x}", xxh3_64(name.as_bytes())), *full, "{cell}");
        assert_eq!(SessionHash::of(&name).to_u32(), number::<u32>(hash), "{cell}");
    }
}

#[test]
fn pairs_are_those_of_the_document() {
    for row in rows("| a | b | 16 bytes | hash |") {
        let [a, b, bytes, hash] = &row[..] else { panic!("{row:?}") };
        let (a, b) = (name(a), name(b));
        let mut ends = [&a, &b].map(|name| xxh3_64(name.as_bytes()));
        ends.sort_unstable();
        assert_eq!(format!("{:016x}{:016x}", ends[0], ends[1]), *bytes, "{row:?}");
        assert_eq!(Session::pair(&a, &b).hash().to_u32(), number::<u32>(hash), "{row:?}");
    }
}

#[test]
fn shards_are_those_of_the_document() {
    let head = FORMAT.lines().find(|line| line.starts_with("| session | n = ")).expect("the head of the shards");
    let counts: Vec<NonZeroU32> =
        head.split("n = ").skip(1).map(|cell| number(cell.trim_end_matches([' ', '|']))).collect();
    for row in rows(head) {
        let session = Session::from_u32(number(&row[0])).expect("26 bits");
        assert_eq!(row.len(), counts.len() + 1);
        for (shards, shard) in counts.iter().zip(&row[1..]) {
            assert_eq!(session.shard(*shards), number::<u32>(shard), "{row:?} of {shards}");
        }
    }
}
