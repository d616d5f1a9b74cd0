//! The Snowflake family: known IDs, fields, texts, bounds for a time, and layouts of one's own.

use std::time::Duration;

use imid::snowflake::{Layout, Snowflake};

/// IDs from public sources, with the time recorded beside them: layout, text, time, node, sequence number.
#[rustfmt::skip]
const KNOWN: [(&Layout, &str, u64, u32, u32); 7] = [
    (&Layout::TWITTER, "204697221847986177", 1_337_638_595_436, 35, 1),
    (&Layout::TWITTER, "474971393852182528", 1_402_076_979_493, 129, 0),
    (&Layout::DISCORD, "175928847299117063", 1_462_015_105_796, 32, 7),
    (&Layout::DISCORD, "90339695967350784", 1_441_609_061_949, 3, 0),
    (&Layout::NSQ, "0e1ac0d4168a6000", 1_605_525_592_766, 166, 0),
    (&Layout::NSQ, "0632eb19de09b007", 1_463_110_874_347, 155, 7),
    (&Layout::LEAF, "1169786042799259000", 1_567_733_700_834, 39, 3_448),
];

#[test]
fn known_ids_are_read_and_written() {
    for (layout, text, ms, node, seq) in KNOWN {
        let id = layout.parse(text).unwrap();
        assert_eq!((id.timestamp_ms(), id.node(), id.seq()), (ms, node, seq), "{text}");
        assert_eq!(id.to_string(), text);
        assert!(!id.is_overflowed());
        assert_eq!(Snowflake::from_i64(id.to_i64(), layout), id);
        assert_eq!(Snowflake::from_u64(id.to_u64(), layout), id);
        let (first, last) = (layout.first_at(ms).unwrap(), layout.last_at(ms).unwrap());
        assert!(first <= id && id <= last);
    }
}

#[test]
fn the_node_is_split_where_the_layout_says_so() {
    let split = |layout: &'static Layout, text| {
        let id = layout.parse(text).unwrap();
        (id.datacenter(), id.worker())
    };
    assert_eq!(split(&Layout::TWITTER, "204697221847986177"), (Some(1), 3));
    assert_eq!(split(&Layout::TWITTER, "474971393852182528"), (Some(4), 1));
    assert_eq!(split(&Layout::DISCORD, "175928847299117063"), (Some(1), 0));
    assert_eq!(split(&Layout::LEAF, "1169786042799259000"), (None, 39));
}

#[test]
fn the_java_port_counts_from_2015() {
    let id = Layout::TWITTER_JAVA.parse("0").unwrap();
    assert_eq!((id.timestamp_ms(), Layout::TWITTER_JAVA.first_ms()), (1_420_041_600_000, 1_420_041_600_000));
}

#[test]
fn each_bit_arrives_in_one_field() {
    for layout in Layout::ALL {
        let widths = (layout.node_max().count_ones(), layout.seq_max().count_ones());
        for bit in 0..64 {
            let id = Snowflake::from_u64(1 << bit, layout);
            let tick_and_node = id.tick() << widths.0 | u64::from(id.node());
            assert_eq!(tick_and_node << widths.1 | u64::from(id.seq()), 1 << bit);
            let node = id.datacenter().unwrap_or(0) << 5 | if id.datacenter().is_some() { id.worker() } else { 0 };
            assert!(id.datacenter().is_none() || node == id.node());
            assert_eq!(layout.parse(&id.to_string()), Ok(id));
            assert_eq!(id.to_hex().as_str(), format!("{:016x}", 1_u64 << bit));
        }
    }
}

#[test]
fn a_time_past_its_field_is_read_from_the_sign_bit_and_flagged() {
    // 2^41 ms after the epoch: 2080-07-10T17:30:30.209Z.
    let id = Layout::LEAF.parse("-9223372036854775808").unwrap();
    assert!(id.is_overflowed());
    assert_eq!((id.timestamp_ms(), id.node(), id.seq()), (3_487_858_230_209, 0, 0));
    assert_eq!(Layout::LEAF.parse("9223372036854775808"), Ok(id));
    assert_eq!((id.to_i64(), id.to_string()), (i64::MIN, "-9223372036854775808".to_owned()));

    let last = Layout::LEAF.parse("-1").unwrap();
    assert_eq!((last.timestamp_ms(), last.node(), last.seq()), (5_686_881_485_760, 1_023, 4_095));
    assert!(last > id && last.to_i64() > id.to_i64());
    assert!(!Layout::LEAF.parse("9223372036854775807").unwrap().is_overflowed());
    assert!(!Layout::DISCORD.parse("18446744073709551615").unwrap().is_overflowed());
}

#[test]
fn what_a_layout_does_not_write_it_does_not_read() {
    #[rustfmt::skip]
    let wrong = [
        (&Layout::TWITTER, "", "expected a decimal digit, found the end at 0"),
        (&Layout::TWITTER, "-", "expected a decimal digit, found the end at 1"),
        (&Layout::TWITTER, "-0", "expected a digit 1-9, found '0' at 1"),
        (&Layout::TWITTER, "-05", "expected a digit 1-9, found '0' at 1"),
        (&Layout::TWITTER, "+5", "expected a decimal digit, found '+' at 0"),
        (&Layout::TWITTER, "007", "expected the end, found '0' at 1"),
        (&Layout::TWITTER, "12 ", "expected a decimal digit, found ' ' at 2"),
        (&Layout::TWITTER, "18446744073709551616", "expected a number of at most 64 bits, found '6' at 19"),
        (&Layout::TWITTER, "184467440737095516150", "expected a number of at most 64 bits, found '0' at 20"),
        (&Layout::TWITTER, "-9223372036854775809", "expected a number of at most 64 bits, found '9' at 19"),
        (&Layout::DISCORD, "-1", "expected a decimal digit, found '-' at 0"),
        (&Layout::NSQ, "0632eb19de09b00", "expected a hex digit in lower case, found the end at 15"),
        (&Layout::NSQ, "0632eb19de09b0070", "expected the end, found '0' at 16"),
        (&Layout::NSQ, "0632EB19de09b007", "expected a hex digit in lower case, found 'E' at 4"),
        (&Layout::NSQ, "0632gb19de09b007", "expected a hex digit in lower case, found 'g' at 4"),
    ];
    for (layout, text, error) in wrong {
        assert_eq!(layout.parse(text).unwrap_err().to_string(), error, "{text}");
    }
}

#[test]
fn nsq_texts_sort_by_time() {
    let texts = [0, 1, 0xA, 0x10, u64::MAX].map(|bits| Snowflake::from_u64(bits, &Layout::NSQ).to_hex());
    assert!(texts.is_sorted());
    assert_eq!(texts[1].as_str(), "0000000000000001");
}

#[test]
fn the_change_of_nsq_sorts_new_before_old() {
    let may_2015 = 1_430_438_400_000;
    let before = Layout::NSQ_BEFORE_2015.first_at(may_2015).unwrap();
    let since = Layout::NSQ.first_at(may_2015).unwrap();
    assert!(since.to_hex() < before.to_hex());
}

#[test]
fn bounds_hold_every_id_of_a_time_and_no_other() {
    let hour = Duration::from_hours(1);
    let fast = Layout::new("fast", 47, 4, 12, 0, Duration::from_micros(100)).unwrap();
    let slow = Layout::new("slow", 39, 16, 8, 17_000_000_000, Duration::from_millis(100)).unwrap();
    let hourly = Layout::new("hourly", 20, 22, 22, 400_000, hour).unwrap();
    let layouts: [&'static Layout; 3] = [fast, slow, hourly].map(|layout| &*Box::leak(Box::new(layout)));
    for layout in Layout::ALL.iter().chain(layouts) {
        let middle = layout.first_ms() + 500_000_000;
        let ends =
            [layout.first_ms()..layout.first_ms() + 30, middle..middle + 250, layout.last_ms() - 30..layout.last_ms()];
        for ms in ends.into_iter().flatten() {
            let (first, last) = (layout.first_at(ms).unwrap(), layout.last_at(ms).unwrap());
            assert!(first.timestamp_ms() >= ms || first.tick() == 0, "{first:?} {ms}");
            assert!(last.timestamp_ms() <= ms, "{last:?} {ms}");
            // Nothing of that time lies outside: the neighbours belong to another.
            if first.to_u64() > 0 && first.timestamp_ms() >= ms {
                assert!(Snowflake::from_u64(first.to_u64() - 1, layout).timestamp_ms() < ms, "{first:?} {ms}");
            }
            assert!(Snowflake::from_u64(last.to_u64() + 1, layout).timestamp_ms() > ms, "{last:?} {ms}");
        }
        // The last millisecond may hold fewer ticks than others, and none in the sign bit.
        let end = layout.last_at(layout.last_ms()).unwrap();
        assert_eq!(end.to_u64(), u64::MAX >> (u64::BITS - layout.widths().iter().sum::<u32>()), "{end:?}");
    }
}

#[test]
fn parts_out_of_range_are_refused() {
    let error = |ms, node, seq| Layout::TWITTER.try_from_parts(ms, node, seq).unwrap_err().to_string();
    let (first, last) = (Layout::TWITTER.first_ms(), Layout::TWITTER.last_ms());
    assert_eq!(error(first - 1, 0, 0), format!("expected a time of {first} to {last} ms, found {}", first - 1));
    assert_eq!(error(last + 1, 0, 0), format!("expected a time of {first} to {last} ms, found {}", last + 1));
    assert_eq!(error(first, 1_024, 0), "expected a node of 0 to 1023, found 1024");
    assert_eq!(error(first, 0, 4_096), "expected a sequence number of 0 to 4095, found 4096");
    assert_eq!(Layout::TWITTER.first_at(0).unwrap_err(), Layout::TWITTER.last_at(0).unwrap_err());
    let id = Layout::TWITTER.try_from_parts(last, 1_023, 4_095).unwrap();
    assert_eq!(id.to_i64(), i64::MAX);
}

#[test]
fn a_layout_of_ones_own_fills_64_bits() {
    let ms = Duration::from_millis(1);
    let error =
        |tick, node, seq, epoch, length| Layout::new("ours", tick, node, seq, epoch, length).unwrap_err().to_string();
    assert_eq!(error(41, 10, 11, 0, ms), "expected fields of 64 bits, or of 63 below a sign bit, found 62");
    assert_eq!(error(42, 10, 13, 0, ms), "expected fields of 64 bits, or of 63 below a sign bit, found 65");
    assert_eq!(error(49, 3, 12, 0, ms), "expected a tick of 1 to 48 bits, found 49");
    assert_eq!(error(0, 32, 32, 0, ms), "expected a tick of 1 to 48 bits, found 0");
    assert_eq!(error(20, 33, 11, 0, ms), "expected a node of 1 to 32 bits, found 33");
    assert_eq!(error(20, 11, u32::MAX, 0, ms), "expected a sequence of 0 to 32 bits, found 4294967295");
    assert_eq!(error(42, 10, 12, 0, Duration::ZERO), "expected a tick of 1 to 3600000000000 ns, found 0");
    assert_eq!(
        error(42, 10, 12, 0, Duration::MAX),
        "expected a tick of 1 to 3600000000000 ns, found 18446744073709551615"
    );
    assert_eq!(
        error(42, 10, 12, 1 << 48, ms),
        "expected an epoch of 0 to 281474976710655 ticks, found 281474976710656"
    );
    assert_eq!(
        error(41, 10, 12, (1 << 48) - 1, Duration::from_hours(1)),
        "expected a last time of 0 to 18446744073709551614 ms, found 18446744073709551615"
    );
}

#[test]
fn layouts_are_found_by_name() {
    for layout in Layout::ALL {
        assert_eq!(Layout::named(layout.name()), Some(layout));
    }
    assert_eq!(Layout::named("frost"), None);
}
