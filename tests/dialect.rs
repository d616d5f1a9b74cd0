//! Dialects: known IDs, strictness, the 80 bits kept, and what a dialect of one's own may be.

use imid::dialect::{Dialect, Layout};
use imid::{MessageId, SessionType, message_id};

/// IDs printed in RongCloud's public SDK examples and API documents: text, time, spin, type, hash, session.
#[rustfmt::skip]
const RONGCLOUD: [(&str, u64, u16, u8, u32, &str); 13] = [
    ("BUFE-A62U-32C4-01I2", 1_642_750_828_920, 1_574, 1, 1_602, "24"),
    ("BN6D-3HBC-0PU4-1FGK", 1_611_473_032_624, 415, 1, 48_660, "114"),
    ("BKV3-S94Q-43C5-4JF0", 1_601_904_874_088, 2_102, 1, 1_199_584, "test2"),
    ("BB9U-GPNT-7IIG-001I", 1_560_409_119_732, 3_881, 4, 50, "2"),
    ("CPEN-GH7K-ECA4-98EU", 1_758_619_309_009, 3_269, 1, 303_582, "C_test_845934022"),
    ("CPEN-GFGA-KC45-CB7A", 1_758_619_301_930, 2_242, 1, 1_453_290, "D_test_845933903"),
    ("BN7P-0TOV-M7OO-1FGJ", 1_611_657_239_678, 3_196, 6, 48_659, "113"),
    ("B8FV-UKT9-TJMD-KV6A", 1_548_335_533_735, 2_875, 3, 1_735_882, "BauMbEShY"),
    ("BI24-J9K0-0007-VD72", 1_589_425_641_984, 0, 1, 4_175_074, "BzUPcKM2B"),
    ("BS45-NPH4-HV87-10LM", 1_632_648_534_162, 1_012, 1, 3_179_190, "tjw3zbMrU"),
    ("CDF1-21C2-A73B-DE0J", 1_707_119_744_521, 1_137, 10, 3_586_067, "ug01"),
    ("C1PL-LJQR-0U1B-ADFN", 1_657_008_766_316, 480, 10, 3_487_223, "testExp0309"),
    ("CSSQ-OE74-27O7-TB95", 1_773_396_878_224, 1_148, 1, 4_107_557, "i3akONcpE"),
];

/// The same from before spring 2018: text, time, type, hash, session.
const RONGCLOUD_V1: [(&str, u64, u8, u32, &str); 6] = [
    ("5EGN-HLDB-K4Q4-LQ1G", 1_499_141_156_189, 1, 877_324_336, "881916345615646720"),
    ("5FGT-7VA9-G4DD-4V5P", 1_507_778_882_124, 1, 450_002_105, "MersNRhaKwJkRV9mJR5JXY"),
    ("5CQK-MT6L-G43A-D3EE", 1_484_621_850_284, 1, 111_578_574, "user9"),
    ("5GFH-MKD0-SD51-BA0J", 1_516_003_560_711, 3, 1_242_933_267, "lipc0113"),
    ("5DO1-7OBR-12LJ-ECGG", 1_492_511_558_616, 8, 2_872_521_232, "testing"),
    ("5FAF-NQT5-4772-MAPA", 1_506_054_987_049, 1, 3_458_935_594, "user10"),
];

#[test]
fn rongcloud_ids_are_read_and_written() {
    for (text, ms, spin, code, hash, session) in RONGCLOUD {
        let id = Dialect::RONGCLOUD.parse(text).unwrap();
        assert_eq!((id.timestamp_ms(), id.spin(), id.session_type().to_u8()), (ms, spin, code), "{text}");
        assert_eq!((id.session_hash().to_u32(), Dialect::RONGCLOUD.hash(session)), (hash, Some(hash)), "{text}");
        assert_eq!(Dialect::RONGCLOUD.to_text(id).as_str(), text);
        assert!(id.is_in(Dialect::RONGCLOUD.session(SessionType::from_u8(code).unwrap(), session).unwrap()));

        let fields = Dialect::RONGCLOUD.fields(id);
        assert_eq!((fields.timestamp_ms, fields.spin, fields.type_code, fields.hash), (ms, Some(spin), code, hash));
    }
}

#[test]
fn rongcloud_ids_until_2018_are_read_and_written() {
    for (text, ms, code, hash, session) in RONGCLOUD_V1 {
        let id = Dialect::RONGCLOUD_V1.parse(text).unwrap();
        let fields = Dialect::RONGCLOUD_V1.fields(id);
        assert_eq!((fields.timestamp_ms, fields.spin, fields.type_code, fields.hash), (ms, None, code, hash), "{text}");
        assert_eq!(Dialect::RONGCLOUD_V1.hash(session), Some(hash), "{text}");
        assert_eq!(Dialect::RONGCLOUD_V1.to_text(id).as_str(), text);
    }
}

#[test]
fn rongcloud_ids_until_2018_sort_before_the_current_ones() {
    let mut old = RONGCLOUD_V1.map(|row| row.0);
    let mut current = RONGCLOUD.map(|row| row.0);
    old.sort_unstable();
    current.sort_unstable();
    let times = old.map(|text| Dialect::RONGCLOUD_V1.fields(Dialect::RONGCLOUD_V1.parse(text).unwrap()).timestamp_ms);
    assert!(times.is_sorted());
    let ids = current.map(|text| Dialect::RONGCLOUD.parse(text).unwrap());
    assert!(ids.is_sorted() && ids.map(MessageId::timestamp_ms).is_sorted());
    assert!(Dialect::RONGCLOUD_V1.parse(old[5]).unwrap() < ids[0]);
}

#[test]
fn each_bit_arrives_in_every_dialect() {
    for bit in 0..80 {
        let id = MessageId::from_u128(1 << bit).unwrap();
        for from in Dialect::ALL {
            let text = from.to_text(id);
            assert_eq!(from.parse(&text), Ok(id));
            for to in Dialect::ALL {
                let there = from.recode(&text, to).unwrap();
                assert_eq!(to.recode(&there, from).unwrap(), text);
            }
        }
        let old = Dialect::RONGCLOUD_V1.fields(id);
        let parts = u128::from(old.timestamp_ms) << 37 | u128::from(old.type_code) << 32 | u128::from(old.hash);
        assert_eq!(parts, 1 << bit);
        assert_eq!(old.spin, None);
    }
}

#[test]
fn one_id_has_these_texts() {
    let id = message_id!("F3Z9-MB7Y-WCQH-T3DD");
    let texts = Dialect::ALL.iter().map(|dialect| (dialect.name(), dialect.to_text(id).to_string()));
    let expected = [
        ("rongcloud", "D1V7-J95U-SAMF-P1BB"),
        ("rongcloud-v1", "D1V7-J95U-SAMF-P1BB"),
        ("standard", "F3Z9-MB7Y-WCQH-T3DD"),
        ("juggleim", "pb9hvkf86lyr3bmm"),
    ];
    assert!(texts.eq(expected.map(|(name, text)| (name, text.to_owned()))));
}

#[test]
fn text_order_is_time_order_where_the_digits_ascend() {
    let (early, late) = (message_id!("9222-2222-2222-2222"), message_id!("W222-2222-2222-2222"));
    for dialect in Dialect::ALL {
        let ordered = dialect.to_text(early).as_str() < dialect.to_text(late).as_str();
        assert_eq!(dialect.sorts_by_time(), ordered, "{dialect:?}");
        assert_eq!(dialect.sorts_by_time(), dialect.name() != "juggleim");
    }
}

#[test]
fn what_a_dialect_does_not_write_it_does_not_read() {
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
fn the_standard_dialect_is_that_of_the_id_itself() {
    let id = message_id!("F3Z9-MB7Y-WCQH-T3DD");
    let standard = Dialect::STANDARD;
    assert_eq!(standard.to_text(id).as_str(), id.to_text().as_str());
    let session = imid::Session::new(SessionType::GROUP, "room-42");
    assert_eq!(standard.session(SessionType::GROUP, "room-42"), Ok(session));
    assert_eq!(standard.fields(id).hash, id.session_hash().to_u32());
    for code in 0..16 {
        assert_eq!(standard.type_name(code), SessionType::from_u8(code).unwrap().name());
    }
}

#[test]
fn types_have_the_names_of_their_dialect() {
    let rongcloud = &Dialect::RONGCLOUD;
    assert_eq!((rongcloud.type_name(4), rongcloud.channel_type(4)), (Some("CHATROOM"), Some("TEMPGROUP")));
    assert_eq!((rongcloud.type_name(9), rongcloud.channel_type(9)), (Some("PUSH_SERVICE"), None));
    assert_eq!((rongcloud.type_code("tempgroup"), rongcloud.type_code("ULTRA_GROUP")), (Some(4), Some(10)));
    assert_eq!((rongcloud.type_name(13), rongcloud.type_code("GROUP_CAST")), (None, None));
    assert_eq!(Dialect::JUGGLEIM.type_code("group_cast"), Some(5));
    assert_eq!((Dialect::JUGGLEIM.type_name(2), Dialect::JUGGLEIM.type_name(7)), (Some("GROUP"), None));
}

#[cfg(feature = "juggleim")]
#[test]
fn juggleim_hashes_with_crc_32() {
    let session = Dialect::JUGGLEIM.session(SessionType::PRIVATE, "alice:bob").unwrap();
    assert_eq!(session.hash().to_u32(), 1_427_669);
    assert_eq!(Dialect::JUGGLEIM.hash("room-42"), Some(4_135_797));
}

#[cfg(not(feature = "juggleim"))]
#[test]
fn without_crc_32_juggleim_has_no_session() {
    assert_eq!(Dialect::JUGGLEIM.hash("alice:bob"), None);
    let error = Dialect::JUGGLEIM.session(SessionType::PRIVATE, "alice:bob").unwrap_err();
    assert!(error.is_without_hash());
    assert_eq!(error.to_string(), "expected a dialect with a known session hash, found juggleim");
}

#[test]
fn a_layout_of_its_own_is_read_only() {
    let error = Dialect::RONGCLOUD_V1.session(SessionType::PRIVATE, "user9").unwrap_err();
    assert!(error.is_read_only());
    assert_eq!(
        error.to_string(),
        "expected a dialect that sessions of 26 bits fit, found rongcloud-v1, which is read only"
    );
}

#[test]
fn digits_are_32_different_ascii_characters() {
    for (found, shown) in [(b'0', "'0'"), (b'-', "'-'"), (b' ', "' '"), (0xE9, "'\\xe9'"), (b'\n', "'\\n'")] {
        let mut digits = *b"0123456789ABCDEFGHIJKLMNOPQRSTUV";
        digits[31] = found;
        let error = Dialect::new("ours", &digits).unwrap_err();
        let expected = format!("expected 32 different printable ASCII digits other than '-', found {shown} at 31");
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn widths_fill_80_bits() {
    assert_eq!(Layout::new(42, 12, 4, 22), Ok(Layout::STANDARD));
    assert_eq!(Layout::new(43, 0, 5, 32), Ok(Layout::RONGCLOUD_V1));
    let error = |a, b, c, d| Layout::new(a, b, c, d).unwrap_err().to_string();
    assert_eq!(error(42, 12, 4, 21), "expected fields of 80 bits in all, found 79");
    assert_eq!(error(0, 16, 8, 32), "expected a timestamp of 1 to 63 bits, found 0");
    assert_eq!(error(64, 0, 0, 16), "expected a timestamp of 1 to 63 bits, found 64");
    assert_eq!(error(41, 17, 0, 22), "expected a spin of 0 to 16 bits, found 17");
    assert_eq!(error(42, 12, 9, 17), "expected a session type of 0 to 8 bits, found 9");
    assert_eq!(error(42, 5, 0, 33), "expected a session hash of 0 to 32 bits, found 33");
    assert_eq!(error(u32::MAX, u32::MAX, 2, 0), "expected a timestamp of 1 to 63 bits, found 4294967295");
}

#[test]
fn a_dialect_of_ones_own_works_like_the_built_in_ones() {
    let layout = Layout::new(48, 0, 8, 24).unwrap();
    let ours = Dialect::new("ours", b"0123456789ABCDEFGHJKMNPQRSTVWXYZ").unwrap();
    let ours = ours.with_layout(layout).without_dashes().with_hash(|name| name.len() as u32 | 0xAB00_0000);
    let fields = ours.fields(MessageId::MAX);
    assert_eq!(
        (fields.timestamp_ms, fields.spin, fields.type_code, fields.hash),
        ((1 << 48) - 1, None, 255, 0xFF_FFFF)
    );
    assert_eq!(ours.hash("four"), Some(4));
    assert_eq!(ours.to_text(MessageId::MAX).as_str(), "ZZZZZZZZZZZZZZZZ");
    assert!(ours.sorts_by_time());
    let error = ours.parse("0000L00000000000").unwrap_err();
    assert_eq!(error.to_string(), "expected one of the dialect's 32 digits, found 'L' at 4");
    assert_eq!(format!("{ours:?} {:>20}", ours.to_text(MessageId::MIN)), "Dialect(ours)     0000000000000000");
}

#[test]
fn dialects_are_found_by_name() {
    for dialect in Dialect::ALL {
        assert_eq!(Dialect::named(dialect.name()).map(Dialect::name), Some(dialect.name()));
    }
    assert!(Dialect::named("klingon").is_none());
}
