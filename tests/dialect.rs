//! Dialects: known IDs, strict reading, the 80 bits, and dialects that a user defines.

use std::collections::BTreeSet;

use imid::dialect::{Dialect, DialectId, Layout};
use imid::{MessageId, SessionTag, SessionType, message_id};
use serde_json::Value;

/// An ID printed in RongCloud's public SDK examples and API documents.
struct Known {
    text: String,
    hex: String,
    ms: u64,
    spin: Option<u64>,
    code: u8,
    hash: u32,
    session: String,
}

fn known(layout: &str) -> Vec<Known> {
    let all: Value = serde_json::from_str(include_str!("data/rongcloud.json")).unwrap();
    let known = |row: &Value| {
        let text = |field: &str| row[field].as_str().unwrap().to_owned();
        let number = |field: &str| row[field].as_u64().unwrap();
        Known {
            text: text("text"),
            hex: text("hex"),
            ms: number("unix_ms"),
            spin: row["spin"].as_u64(),
            code: number("type") as u8,
            hash: number("hash") as u32,
            session: text("session"),
        }
    };
    all[layout].as_array().unwrap().iter().map(known).collect()
}

#[test]
fn rongcloud_ids_of_both_layouts_are_read_and_written() {
    for (layout, dialect, count) in [("v2", Dialect::RONGCLOUD, 13), ("v1", Dialect::RONGCLOUD_V1, 6)] {
        let known = known(layout);
        assert_eq!(known.len(), count);
        for Known { text, hex, ms, spin, code, hash, session } in known {
            let id = dialect.parse(&text).unwrap();
            assert_eq!((id.timestamp_ms(), id.spin().map(u64::from)), (ms, spin), "{text}");
            assert_eq!(
                (id.type_code(), id.session_hash(), dialect.hash_of(&session)),
                (code, hash, Some(hash)),
                "{text}"
            );
            assert_eq!((id.to_hex().as_str(), dialect.to_text(id).unwrap().as_str()), (&*hex, &*text));
            assert_eq!(DialectId::from_hex(&hex, dialect.layout()), Ok(id));
        }
    }
}

#[test]
fn ids_of_the_standard_layout_are_message_ids_and_those_of_others_are_not() {
    for Known { text, code, session, .. } in known("v2") {
        let id = Dialect::RONGCLOUD.parse(&text).unwrap();
        let message = MessageId::try_from(id).unwrap();
        assert_eq!((message.timestamp_ms(), Some(message.spin())), (id.timestamp_ms(), id.spin()));
        assert_eq!(
            (message.session_type().to_u8(), message.session_hash().to_u32()),
            (id.type_code(), id.session_hash())
        );
        assert!(message.is_in(Dialect::RONGCLOUD.session_tag(SessionType::from_u8(code).unwrap(), &session).unwrap()));
        assert_eq!((DialectId::from(message), message.to_bytes()), (id, id.to_bytes()));
    }
    for Known { text, .. } in known("v1") {
        let error = MessageId::try_from(Dialect::RONGCLOUD_V1.parse(&text).unwrap()).unwrap_err();
        assert!(error.is_layout() && !error.is_read_only() && !error.is_without_hash());
        assert_eq!(error.to_string(), "expected an ID of layout 42-12-4-22, found 43-0-5-32");
    }
}

#[test]
fn a_dialect_does_not_write_an_id_of_another_layout() {
    let old = Dialect::RONGCLOUD_V1.parse("5EGN-HLDB-K4Q4-LQ1G").unwrap();
    let new = Dialect::RONGCLOUD.parse("BUFE-A62U-32C4-01I2").unwrap();
    let error = Dialect::RONGCLOUD.to_text(old).unwrap_err();
    assert!(error.is_layout());
    assert_eq!(error.to_string(), "expected an ID of layout 42-12-4-22, found 43-0-5-32");
    for message in
        [Dialect::RONGCLOUD_V1.to_text(new), Dialect::RONGCLOUD_V1.to_text(message_id!("F3Z9-MB7Y-WCQH-T3DD"))]
    {
        assert_eq!(message.unwrap_err().to_string(), "expected an ID of layout 43-0-5-32, found 42-12-4-22");
    }
}

#[test]
fn rongcloud_ids_until_2018_sort_before_the_current_ones() {
    let ids = |layout, dialect: Dialect| {
        let mut texts: Vec<_> = known(layout).into_iter().map(|known| known.text).collect();
        texts.sort_unstable();
        texts.iter().map(|text| dialect.parse(text).unwrap()).collect::<Vec<_>>()
    };
    let (old, new) = (ids("v1", Dialect::RONGCLOUD_V1), ids("v2", Dialect::RONGCLOUD));
    let all = [old, new].concat();
    assert!(
        all.is_sorted() && all.is_sorted_by_key(|id| id.timestamp_ms()) && all.is_sorted_by_key(|id| id.to_bytes())
    );
}

#[test]
fn each_bit_is_in_every_form_and_in_one_field() {
    for bits in (0..80).map(|bit| 1 << bit).chain([0, (1 << 80) - 1, 0x0123_4567_89AB_CDEF_0123]) {
        for layout in [Layout::STANDARD, Layout::RONGCLOUD_V1] {
            let id = DialectId::from_u128(bits, layout).unwrap();
            let stamp = u128::from(id.timestamp_ms()) << layout.spin_bits() | u128::from(id.spin().unwrap_or(0));
            let session = u128::from(id.type_code()) << layout.hash_bits() | u128::from(id.session_hash());
            assert_eq!(stamp << layout.type_bits() << layout.hash_bits() | session, bits);
            assert_eq!(id.spin().is_none(), layout.spin_bits() == 0);
            assert_eq!((id.layout(), id.to_u128()), (layout, bits));
            assert_eq!(DialectId::from_bytes(id.to_bytes(), layout), id);
            assert_eq!(DialectId::from_slice(&id.to_bytes(), layout), Ok(id));
            assert_eq!(id.to_bytes()[..], bits.to_be_bytes()[6..]);
            let hex = format!("{bits:020x}");
            assert_eq!(
                (id.to_hex().as_str(), format!("{id:x}"), format!("{id:#x}")),
                (&*hex, hex.clone(), format!("0x{hex}"))
            );
            assert_eq!((format!("{id:X}"), format!("{id:#X}")), (format!("{bits:020X}"), format!("0x{bits:020X}")));
            assert_eq!(DialectId::from_hex(&hex.to_uppercase(), layout), Ok(id));
            assert_eq!(format!("{id:?}"), format!("DialectId({layout}, {hex})"));
        }
        for dialect in Dialect::ALL {
            let id = DialectId::from_u128(bits, dialect.layout()).unwrap();
            let text = dialect.to_text(id).unwrap();
            assert_eq!((dialect.parse(&text), dialect.parse_lenient(&text)), (Ok(id), Ok(id)));
            assert_eq!(dialect.parse_bytes(text.as_bytes()), Ok(id));
        }
    }
}

#[test]
fn a_value_that_is_not_80_bits_is_refused() {
    let layout = Layout::RONGCLOUD_V1;
    let error = DialectId::from_u128(1 << 80, layout).unwrap_err();
    assert_eq!(error.to_string(), "expected an ID of 0 to 1208925819614629174706175, found 1208925819614629174706176");
    assert_eq!(DialectId::from_slice(&[0; 9], layout).unwrap_err().to_string(), "expected 10 bytes, found 9");
    assert_eq!(DialectId::from_hex("5d", layout).unwrap_err().to_string(), "expected a hex digit, found the end at 2");
}

#[test]
fn the_order_is_that_of_the_bits_and_agrees_with_equality() {
    let ids = |bits| [Layout::STANDARD, Layout::RONGCLOUD_V1].map(|layout| DialectId::from_u128(bits, layout).unwrap());
    let ids: BTreeSet<_> = [ids(0), ids(1), ids(2)].concat().into_iter().collect();
    assert_eq!(ids.len(), 6);
    assert!(ids.iter().is_sorted_by_key(|id| id.to_u128()));
}

#[cfg(feature = "std")]
#[test]
fn the_time_converts_to_a_system_time() {
    let id = Dialect::RONGCLOUD_V1.parse("5EGN-HLDB-K4Q4-LQ1G").unwrap();
    let since_1970 = id.time().duration_since(std::time::UNIX_EPOCH).unwrap();
    assert_eq!((since_1970, since_1970.as_millis()), (id.since_unix_epoch(), 1_499_141_156_189));
    let last = DialectId::from_bytes([0xFF; 10], Layout::RONGCLOUD_V1);
    assert_eq!(last.time().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis(), (1 << 43) - 1);
}

#[test]
fn an_id_has_a_different_text_in_each_dialect() {
    let id = message_id!("F3Z9-MB7Y-WCQH-T3DD");
    let texts = Dialect::ALL.iter().map(|dialect| {
        let id = DialectId::from_bytes(id.to_bytes(), dialect.layout());
        (dialect.name(), dialect.to_text(id).unwrap().to_string())
    });
    let expected = [
        ("rongcloud", "D1V7-J95U-SAMF-P1BB"),
        ("rongcloud-v1", "D1V7-J95U-SAMF-P1BB"),
        ("standard", "F3Z9-MB7Y-WCQH-T3DD"),
        ("juggleim", "pb9hvkf86lyr3bmm"),
    ];
    assert!(texts.eq(expected.map(|(name, text)| (name, text.to_owned()))));
}

#[test]
fn texts_sort_by_time_if_the_digits_ascend() {
    let (early, late) = (message_id!("9222-2222-2222-2222"), message_id!("W222-2222-2222-2222"));
    for dialect in Dialect::ALL {
        let text = |id: MessageId| dialect.to_text(DialectId::from_bytes(id.to_bytes(), dialect.layout())).unwrap();
        let ordered = text(early) < text(late);
        assert_eq!(dialect.sorts_by_time(), ordered, "{dialect:?}");
        assert_eq!(dialect.sorts_by_time(), dialect.name() != "juggleim");
    }
}

#[test]
fn a_dialect_does_not_read_a_text_that_it_does_not_write() {
    #[rustfmt::skip]
    let wrong = [
        (Dialect::RONGCLOUD, "WUFE-A62U-32C4-01I2", "expected a digit 0-9 or A-V, found 'W' at 0"),
        (Dialect::RONGCLOUD, "BUFE-A62U-32C4-01IZ", "expected a digit 0-9 or A-V, found 'Z' at 18"),
        (Dialect::RONGCLOUD, "bUFE-A62U-32C4-01I2", "expected a digit 0-9 or A-V, found 'b' at 0"),
        (Dialect::RONGCLOUD, "BUFEA62U32C401I2", "expected '-', found 'A' at 4"),
        (Dialect::RONGCLOUD, "BUFE-A62U-32C4-01I", "expected a digit 0-9 or A-V, found the end at 18"),
        (Dialect::RONGCLOUD, "BUFE-A62U-32C4-01I22", "expected the end, found '2' at 19"),
        (Dialect::RONGCLOUD_V1, "MUSD-FKDS-AAF1-09FX", "expected a digit 0-9 or A-V, found 'X' at 18"),
        (Dialect::JUGGLEIM, "pb9hvkf86lyr3bm1", "expected a digit 2-9 or a-z without i and o, found '1' at 15"),
        (Dialect::JUGGLEIM, "pb9hvkf8olyr3bmm", "expected a digit 2-9 or a-z without i and o, found 'o' at 8"),
        (Dialect::JUGGLEIM, "pb9h-vkf8-6lyr-3bmm", "expected a digit 2-9 or a-z without i and o, found '-' at 4"),
        (Dialect::JUGGLEIM, "pb9hvkf86lyr3bm\u{e9}", "expected a digit 2-9 or a-z without i and o, found '\\xc3' at 15"),
        (Dialect::STANDARD, "F3Z9-MB7Y-WC0H-T3DD", "expected a digit 2-9 or A-Z without I and O, found '0' at 12"),
    ];
    for (dialect, text, error) in wrong {
        assert_eq!(dialect.parse(text).unwrap_err().to_string(), error);
    }
}

#[test]
fn the_standard_dialect_writes_the_text_of_the_id() {
    let id = message_id!("F3Z9-MB7Y-WCQH-T3DD");
    let standard = Dialect::STANDARD;
    assert_eq!(standard.to_text(id).unwrap().as_str(), id.to_text().as_str());
    assert_eq!(standard.parse(&id.to_string()), Ok(id.into()));
    let session = SessionTag::new(SessionType::GROUP, "room-42");
    assert_eq!(standard.session_tag(SessionType::GROUP, "room-42"), Ok(session));
    for code in 0..16 {
        assert_eq!(standard.type_name(code), SessionType::from_u8(code).unwrap().name());
    }
}

#[test]
fn types_have_the_names_of_their_dialect() {
    let rongcloud = &Dialect::RONGCLOUD;
    assert_eq!((rongcloud.type_name(4), rongcloud.type_name(9)), (Some("CHATROOM"), Some("PUSH_SERVICE")));
    // The names of `channelType` are read, too, and only by RongCloud's dialects.
    assert_eq!((rongcloud.type_code("mc"), Dialect::STANDARD.type_code("mc")), (Some(7), None));
    assert_eq!((rongcloud.type_code("tempgroup"), rongcloud.type_code("ULTRA_GROUP")), (Some(4), Some(10)));
    assert_eq!((rongcloud.type_name(13), rongcloud.type_code("GROUP_CAST")), (None, None));
    assert_eq!(Dialect::JUGGLEIM.type_code("group_cast"), Some(5));
    assert_eq!((Dialect::JUGGLEIM.type_name(2), Dialect::JUGGLEIM.type_name(7)), (Some("GROUP"), None));
}

#[cfg(feature = "juggleim")]
#[test]
fn juggleim_hashes_with_crc_32() {
    let session = Dialect::JUGGLEIM.session_tag(SessionType::PRIVATE, "alice:bob").unwrap();
    assert_eq!(session.session_hash().to_u32(), 1_427_669);
    assert_eq!(Dialect::JUGGLEIM.hash_of("room-42"), Some(4_135_797));
}

#[cfg(not(feature = "juggleim"))]
#[test]
fn without_the_feature_juggleim_its_dialect_has_no_session() {
    assert_eq!(Dialect::JUGGLEIM.hash_of("alice:bob"), None);
    let error = Dialect::JUGGLEIM.session_tag(SessionType::PRIVATE, "alice:bob").unwrap_err();
    assert!(error.is_without_hash());
    assert_eq!(error.to_string(), "session hash of the dialect is not known");
}

#[test]
fn a_dialect_of_another_layout_is_read_only() {
    let error = Dialect::RONGCLOUD_V1.session_tag(SessionType::PRIVATE, "user9").unwrap_err();
    assert!(error.is_read_only() && !error.is_layout() && !error.is_without_hash());
    assert_eq!(error.to_string(), "expected a dialect of layout 42-12-4-22, found 43-0-5-32, which is read only");
}

#[test]
fn a_dialect_without_a_hash_has_no_session() {
    let ours = Dialect::try_new("ours", b"0123456789ABCDEFGHIJKLMNOPQRSTUV").unwrap();
    let error = ours.session_tag(SessionType::PRIVATE, "user9").unwrap_err();
    assert!(error.is_without_hash() && !error.is_layout() && !error.is_read_only());
    assert_eq!((error.to_string(), ours.hash_of("user9")), ("session hash of the dialect is not known".into(), None));
}

#[test]
fn digits_must_be_32_different_ascii_characters() {
    for (found, shown) in [(b'0', "0"), (b'-', "-"), (b' ', " "), (0xE9, "\\xe9"), (b'\n', "\\n")] {
        let mut digits = *b"0123456789ABCDEFGHIJKLMNOPQRSTUV";
        digits[31] = found;
        let error = Dialect::try_new("ours", &digits).unwrap_err();
        let expected = format!("expected 32 different printable ASCII digits other than '-', found '{shown}' at 31");
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn a_layout_has_its_name_and_widths() {
    for (layout, name, widths, text) in [
        (Layout::STANDARD, "standard", (42, 12, 4, 22), "42-12-4-22"),
        (Layout::RONGCLOUD_V1, "rongcloud-v1", (43, 0, 5, 32), "43-0-5-32"),
    ] {
        assert_eq!((layout.name(), layout.is_standard()), (name, name == "standard"));
        assert_eq!((layout.timestamp_bits(), layout.spin_bits(), layout.type_bits(), layout.hash_bits()), widths);
        assert_eq!((layout.to_string(), format!("[{layout:>12}]")), (text.to_owned(), format!("[{text:>12}]")));
    }
}

#[test]
fn a_user_defined_dialect_works_like_the_built_in_ones() {
    // Its names are borrowed from a text that is read at run time.
    let settings = "ours,DIRECT,ROOM".to_owned();
    let names: Vec<&str> = settings.split(',').collect();
    let types = [(1, names[1]), (2, names[2])];
    let layout = Layout::RONGCLOUD_V1;
    let ours = Dialect::try_new(names[0], b"0123456789ABCDEFGHJKMNPQRSTVWXYZ").unwrap();
    let ours = ours.with_layout(layout).without_dashes().with_type_names(&types);
    let ours = ours.with_hash(|name| name.len() as u32 | 0xAB00_0000);

    let last = DialectId::from_bytes([0xFF; 10], layout);
    assert_eq!(
        (last.timestamp_ms(), last.spin(), last.type_code(), last.session_hash()),
        ((1 << 43) - 1, None, 31, u32::MAX)
    );
    assert_eq!((ours.name(), ours.layout(), ours.hash_of("four")), ("ours", layout, Some(0xAB00_0004)));
    assert_eq!((ours.type_name(2), ours.type_code("direct")), (Some("ROOM"), Some(1)));
    assert_eq!(ours.to_text(last).unwrap(), "ZZZZZZZZZZZZZZZZ");
    assert_eq!(ours.parse("ZZZZZZZZZZZZZZZZ"), Ok(last));
    assert!(ours.sorts_by_time());
    let error = ours.parse("0000L00000000000").unwrap_err();
    assert_eq!(error.to_string(), "expected one of the dialect's 32 digits, found 'L' at 4");
    let first = ours.to_text(DialectId::from_bytes([0; 10], layout)).unwrap();
    assert_eq!(format!("{ours:?} {first:>20}"), "Dialect(ours)     0000000000000000");
}

#[test]
fn a_built_in_dialect_is_found_by_its_name() {
    let names: Vec<_> = Dialect::ALL.iter().map(Dialect::name).collect();
    assert_eq!(names, ["rongcloud", "rongcloud-v1", "standard", "juggleim"]);
    for name in names {
        assert_eq!(Dialect::named(name).map(Dialect::name), Some(name));
    }
    assert!(Dialect::named("klingon").is_none());
}

#[test]
fn an_id_with_its_layout_is_small() {
    assert!(size_of::<Dialect>() < 400, "a copy is cheap");
    // An integer of 128 bits has an alignment of 8 or 16 bytes.
    assert_eq!((size_of::<DialectId>(), size_of::<Layout>()), (16 + align_of::<u128>(), 4));
    assert!(size_of::<imid::dialect::DialectError>() <= 2 * size_of::<u64>());
}
