//! The forms of an ID: integer, bytes, text, hex and parts agree bit by bit and have the same order.

use std::borrow::Borrow;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::ops::Bound;

use imid::dialect::Dialect;
use imid::{IdParts, MessageId, SessionHash, SessionTag, SessionType, message_id};
use proptest::prelude::*;

/// The fields in the order of the format: name, lowest bit, width.
const FIELDS: [(&str, u32, u32); 4] = [("timestamp", 38, 42), ("spin", 26, 12), ("type", 22, 4), ("hash", 0, 22)];

fn parts(id: MessageId) -> [u128; 4] {
    [id.timestamp_ms().into(), id.spin().into(), id.session_type().to_u8().into(), id.session_hash().to_u32().into()]
}

fn from_parts([timestamp, spin, code, hash]: [u128; 4]) -> MessageId {
    let kind = SessionType::from_u8(code.try_into().unwrap()).unwrap();
    let hash = SessionHash::from_u32(hash.try_into().unwrap()).unwrap();
    let session = SessionTag::from_parts(kind, hash);
    MessageId::try_from_parts(IdParts {
        timestamp_ms: timestamp.try_into().unwrap(),
        spin: spin.try_into().unwrap(),
        session_tag: session,
    })
    .unwrap()
}

/// Asserts that `value`, `bytes`, `text` and `fields` are forms of one ID: each is read as the ID, and the ID is
/// written as each.
fn all_forms_are(value: u128, bytes: [u8; 10], text: &str, fields: [u128; 4]) {
    let id = MessageId::from_u128(value).expect("80 bits");
    assert_eq!(MessageId::from_bytes(bytes), id);
    assert_eq!(MessageId::from_slice(&bytes), Ok(id));
    assert_eq!(MessageId::parse(text), Ok(id));
    assert_eq!(MessageId::parse_const(text), Ok(id));
    assert_eq!(MessageId::parse_lenient(&text.to_lowercase().replace('-', "")), Ok(id));
    assert_eq!(MessageId::from_hex(&format!("{value:020x}")), Ok(id));
    assert_eq!(from_parts(fields), id);

    assert_eq!(id.to_u128(), value);
    assert_eq!(id.to_bytes(), bytes);
    assert_eq!(id.to_string(), text);
    assert_eq!(id.to_text(), text);
    assert_eq!(id.to_hex(), *format!("{value:020x}"));
    assert_eq!(format!("{id:x}"), format!("{value:020x}"));
    assert_eq!(format!("{id:X}"), format!("{value:020X}"));
    assert_eq!(parts(id), fields);
    assert_eq!(u128::from(id.session_tag().to_u32()), value % (1 << 26));
    assert_eq!(SessionTag::from_u32(id.session_tag().to_u32()), Ok(id.session_tag()));
}

/// Returns a text with one digit in all places, except for the place of `bit`.
fn text_with(rest: char, bit: u32, digit: char) -> String {
    let mut text: Vec<char> = format!("{rest}{rest}{rest}{rest}-").repeat(4).chars().take(19).collect();
    let index = 15 - bit as usize / 5;
    text[index + index / 4] = digit;
    text.into_iter().collect()
}

#[test]
fn each_bit_alone_is_set_in_every_form() {
    for bit in 0..80 {
        let mut bytes = [0; 10];
        bytes[9 - bit as usize / 8] = 1 << (bit % 8);
        let text = text_with('2', bit, ['3', '4', '6', 'A', 'J'][bit as usize % 5]);
        let inside = |low, width| (low..low + width).contains(&bit);
        let fields = FIELDS.map(|(_, low, width)| if inside(low, width) { 1 << (bit - low) } else { 0 });
        all_forms_are(1 << bit, bytes, &text, fields);
    }
}

#[test]
fn each_missing_bit_is_missing_in_every_form() {
    for bit in 0..80 {
        let mut bytes = [0xff; 10];
        bytes[9 - bit as usize / 8] ^= 1 << (bit % 8);
        let text = text_with('Z', bit, ['Y', 'X', 'V', 'R', 'H'][bit as usize % 5]);
        let fields = FIELDS.map(|(_, low, width)| {
            let full = (1 << width) - 1;
            if (low..low + width).contains(&bit) { full ^ 1 << (bit - low) } else { full }
        });
        all_forms_are(((1 << 80) - 1) ^ 1 << bit, bytes, &text, fields);
    }
}

#[test]
fn a_bit_past_the_eightieth_is_refused() {
    for bit in 80..128 {
        assert!(MessageId::from_u128(1 << bit).is_err(), "bit {bit}");
        assert!(MessageId::try_from(u128::MAX >> (127 - bit)).is_err(), "{bit} ones and one more");
    }
}

#[test]
fn numbers_that_are_too_large_for_their_field_are_refused() {
    let session = SessionTag::from_u32(0).unwrap();
    assert!(
        MessageId::try_from_parts(IdParts { timestamp_ms: (1 << 42) - 1, spin: 4_095, session_tag: session }).is_ok()
    );
    assert!(MessageId::try_from_parts(IdParts { timestamp_ms: 1 << 42, spin: 0, session_tag: session }).is_err());
    assert!(MessageId::try_from_parts(IdParts { timestamp_ms: u64::MAX, spin: 0, session_tag: session }).is_err());
    assert!(MessageId::try_from_parts(IdParts { timestamp_ms: 0, spin: 4_096, session_tag: session }).is_err());
    assert!(MessageId::try_from_parts(IdParts { timestamp_ms: 0, spin: u16::MAX, session_tag: session }).is_err());
}

#[test]
fn the_constants_have_the_bounds_and_the_lengths() {
    assert_eq!(MessageId::MIN.to_u128(), 0);
    assert_eq!(MessageId::MAX.to_u128(), 1_208_925_819_614_629_174_706_175);
    assert_eq!(MessageId::TIMESTAMP_MAX, 4_398_046_511_103);
    assert_eq!(MessageId::SPIN_MAX, 4_095);
    assert_eq!((MessageId::BYTE_LEN, MessageId::TEXT_LEN, MessageId::HEX_LEN), (10, 19, 20));
    assert_eq!(MessageId::MAX.to_string().len(), MessageId::TEXT_LEN);
    assert_eq!(size_of_val(&MessageId::MAX.to_bytes()), MessageId::BYTE_LEN);
}

#[test]
fn from_and_into_agree_with_the_named_conversions() {
    let id = message_id!("F3Z9-MB7Y-WCQH-T3DD");
    assert_eq!(u128::from(id), id.to_u128());
    assert_eq!(<[u8; 10]>::from(id), id.to_bytes());
    assert_eq!(MessageId::from(id.to_bytes()), id);
    assert_eq!(MessageId::try_from("F3Z9-MB7Y-WCQH-T3DD"), Ok(id));
    assert_eq!(MessageId::try_from(&id.to_bytes()[..]), Ok(id));
}

#[cfg(feature = "std")]
#[test]
fn owned_strings_and_bytes_convert_in_both_directions() {
    let id = message_id!("F3Z9-MB7Y-WCQH-T3DD");
    assert_eq!(MessageId::try_from(String::from(id)), Ok(id));
    assert_eq!(Vec::from(id), id.to_bytes());
    assert_eq!(MessageId::try_from(Vec::from(id)), Ok(id));
    assert_eq!(String::from(id.to_text()), "F3Z9-MB7Y-WCQH-T3DD");
    assert_eq!(String::from(id.to_hex()), "687e79a4bee2acfc856b");
    assert!(MessageId::try_from(String::new()).is_err());
    assert!(MessageId::try_from(Vec::new()).is_err());
}

#[test]
fn a_slice_is_read_as_raw_bytes_and_not_as_text() {
    for length in (0..10).chain(11..=20) {
        let error = MessageId::from_slice(&b"F3Z9-MB7Y-WCQH-T3DD\n"[..length]).unwrap_err();
        assert_eq!(error.found(), length);
    }
    assert_eq!(MessageId::from_slice(b"F3Z9-MB7Y-").map(MessageId::to_bytes), Ok(*b"F3Z9-MB7Y-"));
}

/// Asserts that a text on the stack can be used in place of a `str`.
fn is_like_str<T>(text: T, want: &str)
where
    T: AsRef<str> + Borrow<str> + Hash + ToString + PartialEq<str> + for<'a> PartialEq<&'a str>,
    str: PartialEq<T>,
    for<'a> &'a str: PartialEq<T>,
{
    fn hash(value: &(impl Hash + ?Sized)) -> u64 {
        let mut hasher = DefaultHasher::new();
        value.hash(&mut hasher);
        hasher.finish()
    }
    let (as_ref, borrowed): (&str, &str) = (text.as_ref(), text.borrow());
    assert_eq!((as_ref, borrowed, &text.to_string()[..]), (want, want, want));
    assert_eq!([text == *want, text == want, *want == text, want == text], [true; 4]);
    assert_eq!([text == *"", text == "", *"" == text, "" == text], [false; 4]);
    assert_eq!(hash(&text), hash(want), "a map that is keyed by the text is searched with a str");
}

#[test]
fn a_text_on_the_stack_is_like_str() {
    let id = message_id!("F3Z9-MB7Y-WCQH-T3DD");
    is_like_str(id.to_text(), "F3Z9-MB7Y-WCQH-T3DD");
    is_like_str(id.to_hex(), "687e79a4bee2acfc856b");
    is_like_str(Dialect::JUGGLEIM.to_text(id).unwrap(), "pb9hvkf86lyr3bmm");
    assert_eq!(id.to_text().len(), 19);
}

#[test]
fn texts_on_the_stack_have_the_order_of_str() {
    fn same<T: Ord + AsRef<str>>(texts: &[T; 4]) {
        for (a, b) in texts.iter().flat_map(|a| texts.iter().map(move |b| (a, b))) {
            assert_eq!(a.cmp(b), a.as_ref().cmp(b.as_ref()), "{} and {}", a.as_ref(), b.as_ref());
        }
    }
    let ids = [MessageId::MIN, MessageId::MAX, message_id!("F3Z9-MB7Y-WCQH-T3DD"), message_id!("2222-2222-2222-2223")];
    same(&ids.map(MessageId::to_text));
    same(&ids.map(MessageId::to_hex));
    same(&ids.map(|id| Dialect::JUGGLEIM.to_text(id).unwrap()));
    // The texts of dialects have different lengths.
    let (dashed, short) = (Dialect::STANDARD, Dialect::STANDARD.without_dashes());
    same(&[
        dashed.to_text(ids[0]).unwrap(),
        short.to_text(ids[0]).unwrap(),
        dashed.to_text(ids[1]).unwrap(),
        short.to_text(ids[1]).unwrap(),
    ]);
}

#[cfg(feature = "std")]
#[test]
fn a_text_on_the_stack_is_compared_with_a_string() {
    fn is_compared<T: PartialEq<String> + Into<String> + Copy>(text: T)
    where
        String: PartialEq<T>,
    {
        let (same, other) = (text.into(), String::new());
        assert_eq!([text == same, same == text, text == other, other == text], [true, true, false, false]);
    }
    let id = message_id!("F3Z9-MB7Y-WCQH-T3DD");
    is_compared(id.to_text());
    is_compared(id.to_hex());
    is_compared(Dialect::JUGGLEIM.to_text(id).unwrap());
}

#[cfg(feature = "std")]
#[test]
fn time_is_the_timestamp_after_1970() {
    let last = MessageId::MAX.time().duration_since(std::time::UNIX_EPOCH).expect("after 1970");
    assert_eq!(last.as_millis(), (1 << 42) - 1);
    assert_eq!(MessageId::MIN.time(), std::time::UNIX_EPOCH);
}

#[test]
fn formatting_applies_width_and_alignment() {
    let id = message_id!("F3Z9-MB7Y-WCQH-T3DD");
    assert_eq!(format!("[{id:21}]"), "[F3Z9-MB7Y-WCQH-T3DD  ]");
    assert_eq!(format!("[{id:>21}]"), "[  F3Z9-MB7Y-WCQH-T3DD]");
    assert_eq!(format!("[{id:*^21}]"), "[*F3Z9-MB7Y-WCQH-T3DD*]");
    assert_eq!(format!("{id:?}"), "MessageId(F3Z9-MB7Y-WCQH-T3DD)");
    assert_eq!(format!("{:?}", id.to_text()), "\"F3Z9-MB7Y-WCQH-T3DD\"");
    assert_eq!(format!("{id:x} {id:#x}"), "687e79a4bee2acfc856b 0x687e79a4bee2acfc856b");
    assert_eq!(format!("{id:X} {id:#X}"), "687E79A4BEE2ACFC856B 0x687E79A4BEE2ACFC856B");
    assert_eq!(format!("[{id:22x}]"), "[  687e79a4bee2acfc856b]");
    assert_eq!(format!("[{id:<22X}]"), "[687E79A4BEE2ACFC856B  ]");
    assert_eq!(format!("{:x} {:X}", MessageId::MIN, MessageId::MAX), "00000000000000000000 FFFFFFFFFFFFFFFFFFFF");
}

/// The compiler reads these.
const LITERAL: MessageId = message_id!("F3Z9-MB7Y-WCQH-T3DD");
const FROM_PARTS: MessageId = {
    let Ok(kind) = SessionType::from_u8(14) else { panic!("a code") };
    let Ok(hash) = SessionHash::from_u32(3_966_315) else { panic!("22 bits") };
    let Ok(id) = MessageId::try_from_parts(IdParts {
        timestamp_ms: 1_732_037_865_755,
        spin: 2_219,
        session_tag: SessionTag::from_parts(kind, hash),
    }) else {
        panic!("in range")
    };
    id
};
const FROM_INTEGER: u128 = match MessageId::from_u128(LITERAL.to_u128()) {
    Ok(id) => MessageId::from_bytes(id.to_bytes()).to_u128(),
    Err(_) => panic!("80 bits"),
};

#[test]
fn ids_can_be_constants() {
    assert_eq!(LITERAL.to_string(), "F3Z9-MB7Y-WCQH-T3DD");
    assert_eq!(FROM_PARTS.to_string(), "EMAQ-2948-WCRV-T3DD");
    assert_eq!(FROM_INTEGER, 0x687e_79a4_bee2_acfc_856b);
    const { assert!(FROM_PARTS.is_in(FROM_PARTS.session_tag()) && !FROM_PARTS.is_in(LITERAL.session_tag())) };
}

#[test]
fn lenient_parsing_reads_texts_that_people_type() {
    let id = message_id!("F3Z9-MB7Y-WCQH-T3DD");
    for text in [
        "F3Z9-MB7Y-WCQH-T3DD",
        "f3z9-mb7y-wcqh-t3dd",
        "f3Z9-Mb7y-WcqH-t3Dd",
        "F3Z9MB7YWCQHT3DD",
        "f3z9mb7ywcqht3dd",
        "f3z9-mb7ywcqh-t3dd",
        "f3z9mb7y-wcqht3dd",
        "  F3Z9-MB7Y-WCQH-T3DD",
        "F3Z9-MB7Y-WCQH-T3DD\r\n",
        "\t f3z9mb7ywcqht3dd \n",
        " \t\n\x0B\x0C\rf3z9mb7ywcqht3dd \t\n\x0B\x0C\r",
    ] {
        assert_eq!(MessageId::parse_lenient(text), Ok(id), "{text:?}");
    }
}

#[test]
fn lenient_parsing_refuses_other_texts() {
    for text in [
        "",
        " ",
        "-",
        "F3Z9-MB7Y-WCQH-T3D",
        "F3Z9-MB7Y-WCQH-T3DD2",
        "F3Z9-MB7Y-WCQH-T3DD-",
        "-F3Z9-MB7Y-WCQH-T3DD",
        "F3Z9--MB7Y-WCQH-T3DD",
        "F3-Z9MB-7Y-WCQH-T3DD",
        "F3Z9 MB7Y WCQH T3DD",
        "F3Z9_MB7Y_WCQH_T3DD",
        "f3z9-mb7y-wcqh-t3d0",
        "f3z9-mb7y-wcqh-t3d1",
        "f3z9-mb7y-wcqh-t3di",
        "f3z9-mb7y-wcqh-t3do",
        "F3Z9\u{2010}MB7Y\u{2010}WCQH\u{2010}T3DD",
        "F3Z9-MB7Y-WCQH-T3DD F3Z9-MB7Y-WCQH-T3DD",
    ] {
        assert!(MessageId::parse_lenient(text).is_err(), "{text:?} was read");
    }
}

#[test]
fn white_space_is_six_ascii_characters() {
    for char in (0..0x3100).chain([0xFEFF]).filter_map(char::from_u32) {
        let is_white_space = matches!(char, ' ' | '\t' | '\n' | '\x0B' | '\x0C' | '\r');
        for text in [format!("{char}f3z9mb7ywcqht3dd"), format!("f3z9mb7ywcqht3dd{char}")] {
            assert_eq!(MessageId::parse_lenient(&text).is_ok(), is_white_space, "{text:?}");
        }
    }
}

#[test]
fn only_ascii_letters_have_another_case() {
    let id = message_id!("KSZ9-MB7Y-WCQH-T3DD");
    assert_eq!(MessageId::parse_lenient("ksz9mb7ywcqht3dd"), Ok(id));
    for (name, char) in [
        ("LATIN SMALL LETTER LONG S, in upper case S", 'ſ'),
        ("LATIN SMALL LETTER DOTLESS I, in upper case I", 'ı'),
        ("LATIN CAPITAL LETTER I WITH DOT ABOVE, in lower case i and a mark", 'İ'),
        ("KELVIN SIGN, in lower case k", '\u{212A}'),
        ("FULLWIDTH LATIN CAPITAL LETTER F", 'Ｆ'),
        ("FULLWIDTH LATIN SMALL LETTER F", 'ｆ'),
        ("FULLWIDTH DIGIT TWO", '２'),
    ] {
        for at in 0..16 {
            let (before, after) = ("ksz9mb7ywcqht3dd".split_at(at).0, "ksz9mb7ywcqht3dd".split_at(at + 1).1);
            let error = MessageId::parse_lenient(&format!("{before}{char}{after}")).unwrap_err();
            assert_eq!(error.position(), at, "{name}");
        }
    }
}

#[test]
fn hex_is_read_in_either_case_and_without_a_prefix() {
    let id = message_id!("F3Z9-MB7Y-WCQH-T3DD");
    for text in ["687e79a4bee2acfc856b", "687E79A4BEE2ACFC856B", "687e79A4bEE2acFC856b"] {
        assert_eq!(MessageId::from_hex(text), Ok(id), "{text}");
    }
    for text in ["", "687e79a4bee2acfc856", "687e79a4bee2acfc856b0", "0x7e79a4bee2acfc856b", "+87e79a4bee2acfc856b"] {
        assert!(MessageId::from_hex(text).is_err(), "{text} was read");
    }
}

#[test]
fn a_millisecond_has_a_first_and_a_last_id() {
    for ms in [0, 1, 1_763_665_800_000, (1 << 42) - 2, (1 << 42) - 1] {
        let (first, last) = (MessageId::first_at(ms).unwrap(), MessageId::last_at(ms).unwrap());
        assert_eq!(parts(first), [ms.into(), 0, 0, 0]);
        assert_eq!(parts(last), [ms.into(), 4_095, 15, 4_194_303]);
        if let Ok(next) = MessageId::first_at(ms + 1) {
            assert_eq!(next.to_u128() - last.to_u128(), 1, "there is no ID between two milliseconds");
        }
    }
    assert_eq!(MessageId::first_at(0), Ok(MessageId::MIN));
    assert_eq!(MessageId::last_at(MessageId::TIMESTAMP_MAX), Ok(MessageId::MAX));
    assert!(MessageId::first_at(1 << 42).is_err());
    assert!(MessageId::last_at(1 << 42).is_err());
}

#[test]
fn a_range_of_times_has_a_first_and_a_last_id() {
    let at = |first, last| Ok(MessageId::first_at(first).unwrap()..=MessageId::last_at(last).unwrap());
    let end = 1 << 42;
    assert_eq!(MessageId::range(5..8), at(5, 7));
    assert_eq!(MessageId::range(5..=8), at(5, 8));
    assert_eq!(MessageId::range(5..6), at(5, 5));
    assert_eq!(MessageId::range(..8), at(0, 7));
    assert_eq!(MessageId::range(..=8), at(0, 8));
    assert_eq!(MessageId::range(5..), at(5, end - 1));
    assert_eq!(MessageId::range(..), Ok(MessageId::MIN..=MessageId::MAX));
    assert_eq!(MessageId::range((Bound::Excluded(5), Bound::Included(8))), at(6, 8));
    assert_eq!(MessageId::range(end - 1..end), at(end - 1, end - 1));
}

/// No ID is earlier than 1970: a range that begins there begins with the first ID, and one that ends there is empty.
#[cfg(feature = "std")]
#[test]
fn a_range_of_times_before_1970_has_no_ids() {
    use std::time::{Duration, UNIX_EPOCH};

    let at = |first, last| Ok(MessageId::first_at(first).unwrap()..=MessageId::last_at(last).unwrap());
    let (before, nano) = (|ms| UNIX_EPOCH - Duration::from_millis(ms), Duration::from_nanos(1));
    let after = |ms| UNIX_EPOCH + Duration::from_millis(ms);
    assert_eq!(MessageId::range_of(before(9)..after(5)), at(0, 4));
    assert_eq!(MessageId::range_of(before(9)..=after(5)), at(0, 5));
    assert_eq!(MessageId::range_of(before(9)..=UNIX_EPOCH), at(0, 0));
    assert_eq!(MessageId::range_of((Bound::Excluded(before(1)), Bound::Included(after(5)))), at(0, 5));
    assert_eq!(MessageId::range_of(after(5)..after(6)), at(5, 5));
    assert_eq!(MessageId::range_of(after(5)..after(6) + nano), at(5, 6));
    for empty in [
        MessageId::range_of(before(9)..before(5)),
        MessageId::range_of(before(9)..=before(5)),
        MessageId::range_of(before(5)..=before(5)),
        MessageId::range_of(..before(5)),
        MessageId::range_of(..=before(5)),
        MessageId::range_of(before(9)..UNIX_EPOCH),
        MessageId::range_of(before(9)..=UNIX_EPOCH - nano),
        MessageId::range_of((Bound::Excluded(before(9)), Bound::Included(before(5)))),
        MessageId::range_of(after(5)..before(5)),
    ] {
        assert!(empty.unwrap_err().is_empty());
    }
}

#[test]
fn a_range_without_a_millisecond_is_an_error() {
    #[expect(clippy::reversed_empty_ranges, reason = "they are the bad input")]
    let empty = [MessageId::range(5..5), MessageId::range(8..5), MessageId::range(0..0), MessageId::range(8..=5)];
    for range in empty {
        assert!(range.unwrap_err().is_empty());
    }
    assert!(MessageId::range((Bound::Excluded(5), Bound::Excluded(6))).unwrap_err().is_empty());
}

#[test]
fn a_range_past_the_last_millisecond_is_an_error() {
    let end = 1 << 42;
    for range in [
        MessageId::range(0..=end),
        MessageId::range(end..=end),
        MessageId::range(end..end),
        MessageId::range(end..),
        MessageId::range(0..end + 2),
        MessageId::range(0..u64::MAX),
        MessageId::range(u64::MAX..=u64::MAX),
        MessageId::range((Bound::Excluded(u64::MAX), Bound::Unbounded)),
    ] {
        assert!(!range.clone().unwrap_err().is_empty(), "{range:?}");
    }
}

/// Returns 80-bit values: any value, or one next to a power of two, where carries happen.
fn value() -> impl Strategy<Value = u128> {
    let near = (0_u32..=80, 0_u128..4).prop_map(|(bit, step)| ((1_u128 << bit) + step).saturating_sub(2));
    prop_oneof![0_u128..1 << 80, near.prop_map(|value| value.min((1 << 80) - 1))]
}

proptest! {
    #[test]
    fn order_is_the_same_in_every_form(a in value(), b in value()) {
        let order = a.cmp(&b);
        let (a, b) = (MessageId::from_u128(a).unwrap(), MessageId::from_u128(b).unwrap());
        prop_assert_eq!(a.cmp(&b), order);
        prop_assert_eq!(a.to_bytes().cmp(&b.to_bytes()), order);
        prop_assert_eq!(a.to_string().cmp(&b.to_string()), order);
        prop_assert_eq!(a.to_text().cmp(&b.to_text()), order);
        prop_assert_eq!(format!("{a:x}").cmp(&format!("{b:x}")), order);
        prop_assert_eq!(parts(a).cmp(&parts(b)), order);
    }

    #[test]
    fn the_next_value_is_greater_in_every_form(a in value()) {
        prop_assume!(a < (1 << 80) - 1);
        let (a, b) = (MessageId::from_u128(a).unwrap(), MessageId::from_u128(a + 1).unwrap());
        prop_assert!(a < b && a.to_bytes() < b.to_bytes() && a.to_string() < b.to_string());
    }

    #[test]
    fn a_range_holds_the_ids_of_its_times(a in value(), from in 0_u64..1 << 42, length in 1_u64..1 << 41) {
        let to = (from + length).min(1 << 42);
        let id = MessageId::from_u128(a).unwrap();
        let range = MessageId::range(from..to).unwrap();
        prop_assert_eq!(range.contains(&id), (from..to).contains(&id.timestamp_ms()));
    }
}
