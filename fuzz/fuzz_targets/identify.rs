//! Law: `identify` returns exactly the dialects and layouts that would write a text, each with the ID that it would
//! write, in the documented order. The order is computed here from calendar years, without `Candidate::fit`.
#![no_main]

use std::ops::Range;

use imid::MessageId;
use imid::dialect::{Dialect, DialectId};
use imid_inspect::identify::{Candidate, identify_at};
use imid_snowflake::{Layout, Snowflake};
use imid_fuzz::{Change, changed, points_at_the_fault};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    now_ms: u64,
    written: Written,
    changes: [Change<'a>; 2],
}

#[derive(Arbitrary, Debug)]
enum Written {
    Message { id: [u8; MessageId::BYTE_LEN], dialect: u8 },
    Snowflake { bits: u64, layout: u8 },
}

/// The dialects and layouts, in the order of candidates with equal times: the form of their texts, and the years in which their
/// systems made IDs, without the last one.
const WRITERS: [(&str, Form, Range<u64>); Dialect::ALL.len() + Layout::ALL.len()] = [
    ("rongcloud", Form::Dashed(BASE32_HEX), 2018..NO_END),
    ("rongcloud-v1", Form::Dashed(BASE32_HEX), 2013..2019),
    ("standard", Form::Dashed(b"23456789ABCDEFGHJKLMNPQRSTUVWXYZ"), 2025..NO_END),
    ("juggleim", Form::Bare(b"abcdefghjklmnpqrstuvwxyz23456789"), 2023..NO_END),
    ("twitter", Form::Signed, 2010..NO_END),
    ("leaf", Form::Signed, 2017..NO_END),
    ("discord", Form::Unsigned, 2015..NO_END),
    ("twitter-java", Form::Signed, 2015..NO_END),
    ("rollback-38-15-10", Form::Signed, 0..0),
    ("nsq", Form::Hex, 2015..NO_END),
    ("nsq-before-2015", Form::Hex, 2012..2016),
];
const NO_END: u64 = u64::MAX;
const BASE32_HEX: &[u8; 32] = b"0123456789ABCDEFGHIJKLMNOPQRSTUV";

enum Form {
    Dashed(&'static [u8; 32]),
    Bare(&'static [u8; 32]),
    Signed,
    Unsigned,
    Hex,
}

impl Form {
    /// Returns the value of a text of this form.
    fn value(&self, text: &str) -> Option<u128> {
        let signed = |text: &str| text.parse().ok().filter(|bits: &i64| bits.to_string() == text);
        let unsigned = |text: &str| text.parse().ok().filter(|bits: &u64| bits.to_string() == text);
        match self {
            Self::Dashed(digits) => {
                let groups: Vec<_> = text.split('-').collect();
                let four = groups.len() == 4 && groups.iter().all(|group| group.len() == 4);
                four.then(|| Self::Bare(digits).value(&groups.concat()))?
            }
            Self::Bare(digits) => {
                let digit = |byte| digits.iter().position(|digit| *digit == byte);
                let values: Option<Vec<_>> = text.bytes().map(digit).collect();
                let values = values.filter(|values| values.len() == 16)?;
                Some(values.into_iter().fold(0, |value, digit| 32 * value + digit as u128))
            }
            Self::Signed => signed(text).map(i64::cast_unsigned).or_else(|| unsigned(text)).map(u128::from),
            Self::Unsigned => unsigned(text).map(u128::from),
            Self::Hex => {
                let bits = u64::from_str_radix(text, 16).ok().filter(|bits| format!("{bits:016x}") == text);
                bits.map(u128::from)
            }
        }
    }
}

fuzz_target!(|input: Input| {
    let text = match input.written {
        Written::Message { id, dialect } => {
            let dialect = &Dialect::ALL[usize::from(dialect) % Dialect::ALL.len()];
            text_of(dialect, id)
        }
        Written::Snowflake { bits, layout } => {
            let layout = Layout::ALL[usize::from(layout) % Layout::ALL.len()];
            Snowflake::from_u64(bits, layout).to_string()
        }
    };
    if let Ok(text) = str::from_utf8(&changed(text.as_bytes(), &input.changes)) {
        all_are_named(text, input.now_ms);
        errors_point_at_the_fault(text);
    }
});

fn text_of(dialect: &Dialect, id: [u8; MessageId::BYTE_LEN]) -> String {
    dialect.to_text(DialectId::from_bytes(id, dialect.layout())).expect("an ID of the dialect's layout").to_string()
}

fn all_are_named(text: &str, now_ms: u64) {
    let candidates: Vec<_> = identify_at(text, now_ms).collect();
    let rank = |name| WRITERS.iter().position(|(writer, ..)| *writer == name).expect("a writer of the list");
    let places: Vec<_> = candidates
        .iter()
        .map(|candidate| {
            let (rank, ms) = (rank(candidate.name()), candidate.timestamp_ms());
            (group(ms, now_ms, &WRITERS[rank].2), ms.abs_diff(now_ms), rank)
        })
        .collect();
    assert!(places.is_sorted_by(|a, b| a < b), "{places:?}");

    let mut read: Vec<_> = candidates.iter().map(|candidate| (candidate.name(), value(candidate))).collect();
    read.sort_by_key(|(name, _)| rank(name));
    let wanted = WRITERS.iter().filter_map(|(name, form, _)| Some((*name, form.value(text)?)));
    assert_eq!(read, wanted.collect::<Vec<_>>());
}

/// Returns 0 for a time in the years of a system, 1 for another one from 2005 to two years from now, and 2 for the rest.
fn group(ms: u64, now_ms: u64, years: &Range<u64>) -> u8 {
    const TWO_YEARS: u128 = 2 * 365 * 86_400_000;
    let is_plausible = ms >= start_of(2005) && u128::from(ms) <= u128::from(now_ms) + TWO_YEARS;
    match (is_plausible, years.contains(&year(ms))) {
        (true, true) => 0,
        (true, false) => 1,
        (false, _) => 2,
    }
}

/// Returns the first millisecond of a year from 1970 on.
fn start_of(year: u64) -> u64 {
    (1970..year).map(days).sum::<u64>() * 86_400_000
}

/// Returns the year of a time.
fn year(ms: u64) -> u64 {
    let (mut year, mut left) = (1970, ms / 86_400_000);
    while left >= days(year) {
        left -= days(year);
        year += 1;
    }
    year
}

/// Returns the days of a year.
fn days(year: u64) -> u64 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    if is_leap { 366 } else { 365 }
}

/// Returns the value, computed from the fields.
fn value(candidate: &Candidate) -> u128 {
    match candidate {
        Candidate::Message { dialect, id } => {
            let layout = dialect.layout();
            assert_eq!((id.layout(), MessageId::try_from(*id).is_ok()), (layout, layout.is_standard()));
            let stamp = u128::from(id.timestamp_ms()) << layout.spin_bits() | u128::from(id.spin().unwrap_or(0));
            (stamp << layout.type_bits() | u128::from(id.type_code())) << layout.hash_bits()
                | u128::from(id.session_hash())
        }
        Candidate::Snowflake(id) => {
            lies_within_its_time(*id);
            let layout = id.layout();
            (u128::from(id.tick()) << layout.node_bits() | u128::from(id.node())) << layout.sequence_bits()
                | u128::from(id.sequence())
        }
        other => panic!("a candidate of a new kind: {other}"),
    }
}

fn lies_within_its_time(id: Snowflake) {
    let (layout, ms) = (id.layout(), id.timestamp_ms());
    match (layout.first_at(ms), layout.last_at(ms)) {
        (Ok(first), Ok(last)) => {
            assert!(first <= id && id <= last);
            assert_eq!(layout.range(ms..=ms), Ok(first..=last));
            assert_eq!(layout.try_from_parts(id.parts()), Ok(id));
        }
        _ => assert!(id.is_overflowed()),
    }
}

fn errors_point_at_the_fault(text: &str) {
    for dialect in Dialect::ALL {
        if let Err(error) = dialect.parse(text) {
            let example = text_of(dialect, [0; MessageId::BYTE_LEN]);
            points_at_the_fault(error, text, &example, |text| dialect.parse(text).is_ok());
        }
    }
    for layout in Layout::ALL {
        if let Err(error) = layout.parse(text) {
            let example = Snowflake::from_u64(2, *layout).to_string();
            points_at_the_fault(error, text, &example, |text| layout.parse(text).is_ok());
        }
    }
}
