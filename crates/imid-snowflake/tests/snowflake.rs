//! The Snowflake family: known IDs, fields, texts, bounds for a time, and layouts that a user defines.

use std::ops::Bound;
use std::time::Duration;

#[cfg(target_has_atomic = "64")]
use imid_snowflake::Preset;
use imid_snowflake::{Layout, LayoutBuilder, Snowflake, SnowflakeParts, TextForm};
use serde_json::Value;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Returns layouts with ticks of 100 µs, 100 ms and an hour, and one whose epoch is inside a millisecond.
fn other_layouts() -> [Layout; 4] {
    let layout =
        |[tick, node, sequence]: [u32; 3]| Layout::builder().tick_bits(tick).node_bits(node).sequence_bits(sequence);
    [
        layout([47, 4, 12]).tick(Duration::from_micros(100)),
        layout([39, 16, 8]).tick(ms(100)).epoch(Duration::from_secs(1_700_000_000)),
        layout([20, 22, 22]).tick(Duration::from_secs(3_600)).epoch(Duration::from_secs(1_440_000_000)),
        layout([40, 8, 16]).tick(Duration::from_micros(300)).epoch(Duration::from_nanos(1_700_000_000_123_456_789)),
    ]
    .map(|builder| builder.build().unwrap())
}

#[test]
fn known_ids_are_read_and_written() {
    let known: Value = serde_json::from_str(include_str!("data/snowflake.json")).unwrap();
    let mut count = 0;
    for (name, rows) in known.as_object().unwrap().iter().filter(|(_, rows)| rows.is_array()) {
        let layout = Layout::named(name).unwrap();
        for row in rows.as_array().unwrap() {
            let number = |field: &str| row[field].as_u64().unwrap();
            let bits: u64 = row["id"].as_str().unwrap().parse().unwrap();
            let text = row.get("hex").unwrap_or(&row["id"]).as_str().unwrap();
            let id = layout.parse(text).unwrap();
            assert_eq!((id.to_u64(), id.to_string().as_str()), (bits, text));
            assert_eq!((id.timestamp_ms(), u64::from(id.node())), (number("unix_ms"), number("node")), "{text}");
            assert_eq!(u64::from(id.sequence()), number("seq"), "{text}");
            // Discord's worker is the high part of the node, and its process the low part.
            let high = row.get("datacenter").or(row.get("worker")).filter(|_| id.datacenter().is_some());
            let low = row.get("process").or(row.get("worker")).and_then(Value::as_u64);
            assert_eq!(id.datacenter().map(u64::from), high.and_then(Value::as_u64), "{text}");
            assert_eq!(u64::from(id.worker()), low.unwrap_or(number("node")), "{text}");
            if let Some(ns) = row["unix_ns"].as_str() {
                assert_eq!(
                    (id.since_unix_epoch().as_nanos().to_string().as_str(), id.tick()),
                    (ns, number("tick") - 1_288_834_974_288)
                );
            }
            assert!(!id.is_overflowed());
            assert_eq!(layout.try_from_parts(id.parts()), Ok(id));
            assert!(layout.range(..).unwrap().contains(&id));
            count += 1;
        }
    }
    assert_eq!(count, 7);
}

#[test]
fn each_form_converts_back_to_the_same_id() {
    for layout in Layout::ALL.iter().copied().chain(other_layouts()) {
        for bits in (0..64).map(|bit| 1 << bit).chain([0, u64::MAX, 0x0123_4567_89AB_CDEF]) {
            let id = Snowflake::from_u64(bits, layout);
            assert_eq!((id.layout(), id.to_u64(), u64::from(id), i64::from(id)), (layout, bits, bits, id.to_i64()));
            assert_eq!(Snowflake::from_i64(id.to_i64(), layout), id);
            assert_eq!(Snowflake::from_bytes(id.to_bytes(), layout), id);
            assert_eq!(Snowflake::from_slice(&id.to_bytes(), layout), Ok(id));
            assert_eq!((<[u8; 8]>::from(id), id.to_bytes()), (bits.to_be_bytes(), bits.to_be_bytes()));
            #[cfg(feature = "std")]
            assert_eq!((Vec::from(id), String::from(id.to_hex())), (id.to_bytes().to_vec(), format!("{bits:016x}")));
            assert_eq!(layout.parse(&id.to_string()), Ok(id));
            let hex = format!("{bits:016x}");
            assert_eq!(hex.len(), Snowflake::HEX_LEN);
            assert_eq!(
                (id.to_hex().as_str(), format!("{id:x}"), format!("{id:#x}")),
                (&*hex, hex.clone(), format!("0x{hex}"))
            );
            assert_eq!((format!("{id:X}"), format!("{id:#X}")), (format!("{bits:016X}"), format!("0x{bits:016X}")));
            assert_eq!(Snowflake::from_hex(&hex, layout), Ok(id));
            assert_eq!(Snowflake::from_hex(&hex.to_uppercase(), layout), Ok(id));
        }
    }
}

#[test]
fn each_bit_is_in_one_field() {
    for layout in Layout::ALL.iter().copied().chain(other_layouts()) {
        for bit in 0..64 {
            let id = Snowflake::from_u64(1 << bit, layout);
            let tick_and_node = id.tick() << layout.node_bits() | u64::from(id.node());
            assert_eq!(tick_and_node << layout.sequence_bits() | u64::from(id.sequence()), 1 << bit);
            let node = u64::from(id.datacenter().unwrap_or(0)) << layout.worker_bits() | u64::from(id.worker());
            assert_eq!(node, u64::from(id.node()));
            assert_eq!(
                id.parts(),
                SnowflakeParts { timestamp_ms: id.timestamp_ms(), node: id.node(), sequence: id.sequence() }
            );
        }
    }
}

#[cfg(feature = "std")]
#[test]
fn the_time_converts_to_a_system_time() {
    let id = Layout::NSQ.parse("0632eb19de09b007").unwrap();
    assert_eq!(id.since_unix_epoch(), Duration::from_nanos(1_463_110_874_347_601_920));
    let since_1970 = id.time().duration_since(std::time::UNIX_EPOCH).unwrap();
    assert_eq!(since_1970, as_the_system_keeps_it(id.since_unix_epoch()));
    assert_eq!(id.since_unix_epoch().as_millis(), id.timestamp_ms().into());
    assert_eq!(String::from(id), "0632eb19de09b007");
}

/// Windows keeps times in steps of 100 ns.
#[cfg(feature = "std")]
fn as_the_system_keeps_it(time: Duration) -> Duration {
    let step = if cfg!(windows) { 100 } else { 1 };
    Duration::new(time.as_secs(), time.subsec_nanos() / step * step)
}

#[test]
fn the_last_tick_of_a_layout_is_in_the_year_9999_at_the_latest() {
    // The end of 9999-12-31T23:59:59.999Z.
    let latest_ns = 253_402_300_799_999_999_999_u128;
    let tick = Duration::from_micros(1_800);
    let epoch = Duration::from_nanos((latest_ns - ((1 << 47) - 1) * tick.as_nanos()) as u64);
    let layout = |epoch| Layout::builder().tick_bits(47).node_bits(5).tick(tick).epoch(epoch).build();
    let last = Snowflake::from_u64(u64::MAX, layout(epoch).unwrap());
    assert_eq!((last.since_unix_epoch().as_nanos(), last.timestamp_ms()), (latest_ns, 253_402_300_799_999));
    assert_eq!(
        layout(epoch + Duration::from_nanos(1)).unwrap_err().to_string(),
        "expected a last time of 0 to 253402300799999 ms, found 253402300800000"
    );
    #[cfg(feature = "std")]
    assert_eq!(
        last.time().duration_since(std::time::UNIX_EPOCH).unwrap(),
        as_the_system_keeps_it(last.since_unix_epoch())
    );
}

#[test]
fn a_time_that_overflows_into_the_sign_bit_is_read_and_marked() {
    // 2^41 ms after the epoch: 2080-07-10T17:30:30.209Z.
    let id = Layout::LEAF.parse("-9223372036854775808").unwrap();
    assert!(id.is_overflowed());
    assert_eq!((id.timestamp_ms(), id.node(), id.sequence()), (3_487_858_230_209, 0, 0));
    assert_eq!(Layout::LEAF.parse("9223372036854775808"), Ok(id));
    assert_eq!((id.to_i64(), id.to_string()), (i64::MIN, "-9223372036854775808".to_owned()));
    let error = Layout::LEAF.try_from_parts(id.parts()).unwrap_err();
    assert_eq!((error.min(), error.max()), (Layout::LEAF.first_ms(), Layout::LEAF.last_ms()));

    let last = Layout::LEAF.parse("-1").unwrap();
    assert_eq!((last.timestamp_ms(), last.node(), last.sequence()), (5_686_881_485_760, 1_023, 4_095));
    assert!(last > id && last.to_i64() > id.to_i64());
    for text in ["0", "9223372036854775807"] {
        assert!(!Layout::LEAF.parse(text).unwrap().is_overflowed());
    }
    assert!(!Layout::DISCORD.parse("18446744073709551615").unwrap().is_overflowed());
}

#[test]
fn a_layout_does_not_read_a_text_that_it_does_not_write() {
    #[rustfmt::skip]
    let wrong = [
        (Layout::TWITTER, "", "expected a decimal digit, found the end at 0"),
        (Layout::TWITTER, "-", "expected a decimal digit, found the end at 1"),
        (Layout::TWITTER, "-0", "expected a digit 1-9, found '0' at 1"),
        (Layout::TWITTER, "-05", "expected a digit 1-9, found '0' at 1"),
        (Layout::TWITTER, "+5", "expected a decimal digit, found '+' at 0"),
        (Layout::TWITTER, "007", "expected the end, found '0' at 1"),
        (Layout::TWITTER, "12 ", "expected a decimal digit, found ' ' at 2"),
        (Layout::TWITTER, "18446744073709551616", "expected a number of at most 64 bits, found '6' at 19"),
        (Layout::TWITTER, "184467440737095516150", "expected a number of at most 64 bits, found '0' at 20"),
        (Layout::TWITTER, "-9223372036854775809", "expected a number of at most 64 bits, found '9' at 19"),
        (Layout::DISCORD, "-1", "expected a decimal digit, found '-' at 0"),
        (Layout::NSQ, "0632eb19de09b00", "expected a hex digit in lower case, found the end at 15"),
        (Layout::NSQ, "0632eb19de09b0070", "expected the end, found '0' at 16"),
        (Layout::NSQ, "0632EB19de09b007", "expected a hex digit in lower case, found 'E' at 4"),
        (Layout::NSQ, "0632gb19de09b007", "expected a hex digit in lower case, found 'g' at 4"),
    ];
    for (layout, text, error) in wrong {
        assert_eq!(layout.parse(text).unwrap_err().to_string(), error, "{text}");
        assert_eq!(layout.parse_bytes(text.as_bytes()), layout.parse(text));
    }
    for (text, error) in [
        ("0632eb19de09b00", "expected a hex digit, found the end at 15"),
        ("0632eb19de09b0070", "expected the end, found '0' at 16"),
        ("0x32eb19de09b007", "expected a hex digit, found 'x' at 1"),
    ] {
        assert_eq!(Snowflake::from_hex(text, Layout::LEAF).unwrap_err().to_string(), error, "{text}");
    }
}

#[test]
fn the_order_is_that_of_the_bits_and_agrees_with_equality() {
    let layouts = || Layout::ALL.iter().copied().chain(other_layouts());
    let ids: Vec<_> = layouts().flat_map(|layout| [0, 1].map(|bits| Snowflake::from_u64(bits, layout))).collect();
    for (one, other) in ids.iter().flat_map(|one| ids.iter().map(move |other| (one, other))) {
        assert_eq!(one.cmp(other).is_eq(), one == other, "{one:?} {other:?}");
        assert!(one < other || one.to_u64() >= other.to_u64(), "{one:?} {other:?}");
    }
}

#[test]
fn nsq_texts_sort_by_time() {
    let texts = [0, 1, 0xA, 0x10, u64::MAX].map(|bits| Snowflake::from_u64(bits, Layout::NSQ).to_string());
    assert!(texts.is_sorted());
    assert_eq!(texts[1], "0000000000000001");
}

#[test]
fn new_ids_of_nsq_sort_before_old_ones() {
    let may_2015 = 1_430_438_400_000;
    let before = Layout::NSQ_BEFORE_2015.first_at(may_2015).unwrap();
    let since = Layout::NSQ.first_at(may_2015).unwrap();
    assert!(since.to_string() < before.to_string());
}

#[test]
fn the_bounds_of_a_time_include_its_ids_and_exclude_their_neighbours() {
    for layout in Layout::ALL.iter().copied().chain(other_layouts()) {
        let middle = layout.first_ms() + 500_000_000;
        let ends =
            [layout.first_ms()..layout.first_ms() + 30, middle..middle + 250, layout.last_ms() - 30..layout.last_ms()];
        for ms in ends.into_iter().flatten() {
            let (first, last) = (layout.first_at(ms).unwrap(), layout.last_at(ms).unwrap());
            assert!(first.timestamp_ms() >= ms || first.tick() == 0, "{first:?} {ms}");
            assert!(last.timestamp_ms() <= ms, "{last:?} {ms}");
            // The IDs next to the bounds have another time.
            if first.to_u64() > 0 && first.timestamp_ms() >= ms {
                assert!(Snowflake::from_u64(first.to_u64() - 1, layout).timestamp_ms() < ms, "{first:?} {ms}");
            }
            assert!(Snowflake::from_u64(last.to_u64() + 1, layout).timestamp_ms() > ms, "{last:?} {ms}");

            let range = layout.range(ms..=ms);
            assert_eq!(range.is_ok(), first <= last, "{layout:?} {ms}");
            if let Ok(range) = range {
                assert_eq!(range, first..=last);
                assert_eq!(layout.range((Bound::Included(ms), Bound::Excluded(ms + 1))), Ok(first..=last));
            }
        }
        // The last millisecond may have fewer ticks than others. Its ticks do not reach the sign bit.
        let end = layout.last_at(layout.last_ms()).unwrap();
        let width = layout.tick_bits() + layout.node_bits() + layout.sequence_bits();
        assert_eq!(end.to_u64(), u64::MAX >> (u64::BITS - width), "{end:?}");
        let all = layout.range(..).unwrap();
        assert_eq!((all.start().to_u64(), *all.end()), (0, end));
        assert_eq!(layout.range((Bound::Unbounded, Bound::Excluded(layout.last_ms() + 1))), Ok(all));
    }
}

#[test]
fn a_range_without_a_tick_is_refused() {
    use Bound::{Excluded, Included, Unbounded};
    let [_, tenths, ..] = other_layouts();
    let first = tenths.first_ms();
    let words = |times: (Bound<u64>, Bound<u64>)| {
        let error = tenths.range(times).unwrap_err();
        (error.to_string(), error.is_empty())
    };
    let empty = |from: u64, to: u64| (format!("expected a range in which a tick begins, found {from}..{to} ms"), true);
    assert_eq!(words((Included(first + 5), Excluded(first + 5))), empty(first + 5, first + 5));
    assert_eq!(words((Excluded(first + 5), Excluded(first + 5))), empty(first + 6, first + 5));
    assert_eq!(words((Included(first + 1), Included(first + 99))), empty(first + 1, first + 100));
    assert_eq!(words((Included(first), Excluded(0))), empty(first, 0));
    let last = tenths.last_ms();
    let outside = |found: u64| (format!("expected a time of {first} to {last} ms, found {found}"), false);
    assert_eq!(words((Included(first - 1), Unbounded)), outside(first - 1));
    assert_eq!(words((Unbounded, Included(last + 1))), outside(last + 1));
    assert_eq!(words((Excluded(u64::MAX), Unbounded)), outside(u64::MAX));
}

#[test]
fn parts_out_of_range_are_refused() {
    let layout = Layout::TWITTER;
    let id = |timestamp_ms, node, sequence| layout.try_from_parts(SnowflakeParts { timestamp_ms, node, sequence });
    let error = |ms, node, sequence| id(ms, node, sequence).unwrap_err().to_string();
    let (first, last) = (layout.first_ms(), layout.last_ms());
    assert_eq!(error(first - 1, 0, 0), format!("expected a time of {first} to {last} ms, found {}", first - 1));
    assert_eq!(error(last + 1, 0, 0), format!("expected a time of {first} to {last} ms, found {}", last + 1));
    assert_eq!(error(first, 1_024, 0), "expected a node of 0 to 1023, found 1024");
    assert_eq!(error(first, 0, 4_096), "expected a sequence number of 0 to 4095, found 4096");
    let error = id(first, 1_024, 0).unwrap_err();
    assert_eq!((error.min(), error.max(), error.found()), (0, 1_023, 1_024));
    assert_eq!(layout.first_at(0).unwrap_err(), layout.last_at(0).unwrap_err());
    assert_eq!(id(last, 1_023, 4_095).unwrap().to_i64(), i64::MAX);
}

#[test]
fn parts_make_the_same_id_if_a_tick_is_a_millisecond_or_longer() {
    for layout in Layout::ALL.iter().copied().chain(other_layouts()) {
        for tick in (0..300).chain([1 << 20, 1 << 35, u64::MAX]).map(|tick| tick.min((1 << layout.tick_bits()) - 1)) {
            let ticks = 1 << layout.node_bits() << layout.sequence_bits();
            let id = Snowflake::from_u64(tick * ticks + (2 << layout.sequence_bits()) + 3, layout);
            let again = layout.try_from_parts(id.parts()).unwrap();
            let first_tick = if layout.tick() >= ms(1) {
                id.tick()
            } else {
                // The first tick of the millisecond.
                let earlier = (0..=id.tick()).rev().map(|tick| Snowflake::from_u64(tick * ticks, layout));
                earlier.take_while(|earlier| earlier.timestamp_ms() == id.timestamp_ms()).last().unwrap().tick()
            };
            assert_eq!(again.to_u64(), id.to_u64() - (id.tick() - first_tick) * ticks, "{id:?}");
        }
    }
}

#[test]
fn the_tick_of_parts_is_the_first_that_begins_in_the_millisecond_or_the_running_one() {
    let [short, long, ..] = other_layouts();
    let tick = |layout: Layout, ms| {
        let parts = SnowflakeParts { timestamp_ms: layout.first_ms() + ms, node: 0, sequence: 0 };
        layout.try_from_parts(parts).unwrap().tick()
    };
    assert_eq!([0, 1, 7].map(|ms| tick(short, ms)), [0, 10, 70]);
    assert_eq!([0, 1, 99, 100, 101].map(|ms| tick(long, ms)), [0, 0, 0, 1, 1]);
}

#[test]
fn a_user_defined_layout_must_fill_64_bits() {
    let ours = Layout::builder;
    let error = |builder: LayoutBuilder| builder.build().unwrap_err().to_string();
    assert_eq!(error(ours().sequence_bits(11)), "expected fields of 63 to 64 bits in all, found 62");
    assert_eq!(error(ours().tick_bits(42).sequence_bits(13)), "expected fields of 63 to 64 bits in all, found 65");
    assert_eq!(error(ours().tick_bits(49).node_bits(3)), "expected a tick of 1 to 48 bits, found 49");
    assert_eq!(error(ours().tick_bits(0).node_bits(32).sequence_bits(32)), "expected a tick of 1 to 48 bits, found 0");
    assert_eq!(error(ours().node_bits(33)), "expected a node of 1 to 32 bits, found 33");
    assert_eq!(error(ours().node_bits(0)), "expected a node of 1 to 32 bits, found 0");
    assert_eq!(error(ours().worker_bits(11)), "expected a worker of 1 to 10 bits, found 11");
    assert_eq!(error(ours().worker_bits(0)), "expected a worker of 1 to 10 bits, found 0");
    assert_eq!(error(ours().sequence_bits(u32::MAX)), "expected a sequence of 0 to 32 bits, found 4294967295");
    assert_eq!(error(ours().tick(Duration::ZERO)), "expected a tick of 1 to 3600000000000 ns, found 0");
    assert_eq!(
        error(ours().tick(Duration::MAX)),
        "expected a tick of 1 to 3600000000000 ns, found 18446744073709551615"
    );
    assert_eq!(
        error(ours().epoch(Duration::MAX)),
        "expected an epoch of 0 to 18446744073709551614 ns, found 18446744073709551615"
    );
    // The tick with the sign bit set counts too.
    assert_eq!(
        error(ours().tick(Duration::from_secs(1))),
        "expected a last time of 0 to 253402300799999 ms, found 4398046511103000"
    );
    assert_eq!(
        error(ours().tick_bits(48).node_bits(16).sequence_bits(0).tick(Duration::from_secs(3_600))),
        "expected a last time of 0 to 253402300799999 ms, found 18446744073709551615"
    );
}

#[test]
fn a_layout_returns_the_settings_that_it_was_built_with() {
    let layout = Layout::builder()
        .tick_bits(40)
        .node_bits(11)
        .worker_bits(4)
        .sequence_bits(13)
        .epoch(Duration::from_nanos(1_500_000_000_000_000_001))
        .tick(Duration::from_micros(1_024))
        .text_form(TextForm::Hex)
        .build()
        .unwrap();
    assert_eq!((layout.tick_bits(), layout.node_bits(), layout.worker_bits(), layout.sequence_bits()), (40, 11, 4, 13));
    assert_eq!(layout.epoch(), Duration::from_nanos(1_500_000_000_000_000_001));
    assert_eq!(
        (layout.tick(), layout.text_form(), layout.has_sign()),
        (Duration::from_micros(1_024), TextForm::Hex, false)
    );
    assert_eq!((layout.node_max(), layout.sequence_max()), (2_047, 8_191));
    assert_eq!((layout.first_ms(), layout.name()), (1_500_000_000_000, None));
    assert_eq!(format!("{:?}", Snowflake::from_u64(5, layout)), "Snowflake(custom, 0000000000000005)");

    let plain = Layout::builder().build().unwrap();
    assert_eq!((plain.tick_bits(), plain.node_bits(), plain.worker_bits(), plain.sequence_bits()), (41, 10, 10, 12));
    assert_eq!((plain.epoch(), plain.tick(), plain.text_form()), (Duration::ZERO, ms(1), TextForm::Decimal));
    assert!(plain.has_sign());
}

#[test]
fn a_built_in_layout_is_found_by_its_name() {
    for layout in Layout::ALL {
        assert_eq!(Layout::named(layout.name().unwrap()), Some(*layout));
    }
    assert_eq!(Layout::named("frost"), None);
    assert_eq!(format!("{:?}", Layout::LEAF.parse("5").unwrap()), "Snowflake(leaf, 5)");
}

#[cfg(target_has_atomic = "64")]
#[test]
fn a_built_in_preset_is_found_by_the_name_of_its_layout() {
    for layout in Layout::ALL {
        let name = layout.name().unwrap();
        // Its ticks are used up, so it mints only with another epoch.
        let mints = *layout != Layout::ROLLBACK_38_15_10;
        assert_eq!(Preset::named(name).map(|preset| preset.layout()), mints.then_some(*layout), "{name}");
    }
    assert_eq!((Preset::named("leaf"), Preset::named("frost")), (Some(Preset::LEAF), None));
}

#[cfg(target_has_atomic = "64")]
#[test]
fn the_layout_of_the_rollback_article_has_the_epoch_that_the_user_gives() {
    let ours = Preset::rollback_38_15_10(Duration::from_secs(1_767_225_600)).unwrap().layout();
    assert_eq!((ours.tick_bits(), ours.node_bits(), ours.sequence_bits()), (38, 15, 10));
    assert_eq!((ours.first_ms(), ours.last_ms()), (1_767_225_600_000, 1_767_225_600_000 + (1 << 38) - 1));
    let error = Preset::rollback_38_15_10(Duration::MAX).unwrap_err();
    assert_eq!(error.to_string(), "expected an epoch of 0 to 18446744073709551614 ns, found 18446744073709551615");
}

#[test]
fn the_built_in_layouts_begin_and_end_at_the_documented_times() {
    // The name, the first tick and the last tick, in Unix milliseconds.
    let times = Layout::ALL.iter().map(|layout| (layout.name().unwrap(), layout.first_ms(), layout.last_ms()));
    assert_eq!(
        times.collect::<Vec<_>>(),
        [
            ("twitter", 1_288_834_974_657, 3_487_858_230_208),
            ("leaf", 1_288_834_974_657, 3_487_858_230_208),
            ("discord", 1_420_070_400_000, 5_818_116_911_103),
            ("twitter-java", 1_420_041_600_000, 3_619_064_855_551),
            ("rollback-38-15-10", 1_513_814_400_000, 1_788_692_306_943),
            ("nsq", 1_351_441_421_999, 5_963_127_440_425),
            ("nsq-before-2015", 1_288_834_974_657, 5_686_881_485_760),
        ]
    );
}

#[test]
fn an_id_with_its_layout_is_small() {
    // Exact where pointers have 64 bits; nowhere more.
    let sizes = [size_of::<Snowflake>(), size_of::<Layout>()];
    let limits = [32, 24];
    if cfg!(target_pointer_width = "64") {
        assert_eq!(sizes, limits);
    }
    assert!(sizes.iter().zip(limits).all(|(size, limit)| *size <= limit), "{sizes:?}");
}
