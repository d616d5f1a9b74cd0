//! Schemes that could have made a text, and their order.

use std::io::Write;

use imid::dialect::Dialect;
use imid::message_id;
use imid_inspect::{Fit, Id, Pasted, Rank, Scheme, identify_text, read};
use imid_snowflake::Layout;
use proptest::prelude::*;

/// 2026-01-01T00:00:00Z.
const NOW: u64 = 1_767_225_600_000;
const YEAR: u64 = 365 * 24 * 3_600_000;

fn names(text: &str) -> Vec<&'static str> {
    identify_text(text, NOW).into_iter().map(Id::scheme_name).collect()
}

#[test]
fn the_first_candidate_of_a_real_rongcloud_id_is_its_dialect() {
    for text in ["BUFE-A62U-32C4-01I2", "CPEN-GH7K-ECA4-98EU", "BS45-NPH4-HV87-10LM", "BKV3-S94Q-43C5-4JF2"] {
        assert_eq!(names(text)[0], "rongcloud", "{text}");
    }
    // All public IDs, from 2017 to 2026.
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/vectors/rongcloud.json");
    match std::fs::read_to_string(path) {
        Ok(table) => {
            let table: serde_json::Value = serde_json::from_str(&table).unwrap();
            for (list, name) in [("v2", "rongcloud"), ("v1", "rongcloud-v1")] {
                let texts: Vec<_> =
                    table[list].as_array().unwrap().iter().map(|id| id["text"].as_str().unwrap()).collect();
                assert!(texts.len() > 5 && texts.iter().all(|text| names(text)[0] == name), "{texts:?}");
            }
        }
        Err(error) => {
            let skipped = "skipped: the_first_candidate_of_a_real_rongcloud_id_is_its_dialect";
            writeln!(std::io::stderr(), "{skipped}: {path}: {error}").unwrap();
        }
    }
    for text in ["5EGN-HLDB-K4Q4-LQ1G", "5FGT-7VA9-G4DD-4V5P", "5GFH-MKD0-SD51-BA0J", "5EGN-HLDB-K4Q4-LQ2G"] {
        assert_eq!(names(text)[0], "rongcloud-v1", "{text}");
    }
}

#[test]
fn a_standard_id_of_an_imported_message_is_possible_but_not_first() {
    // As a standard ID it would be from 2010.
    let fits =
        |text| identify_text(text, NOW).iter().map(|id| (id.scheme_name(), id.fit(NOW).rank)).collect::<Vec<_>>();
    assert_eq!(fits("BK5Q-4S75-ZJ64-3BCD"), [("standard", Rank::Imported)]);
    assert_eq!(fits("BK5Q-4S75-VJ64-3BCD"), [("rongcloud", Rank::InUse), ("standard", Rank::Imported)]);
    // RongCloud has no type 14, so this one is only ours.
    assert_eq!(fits("BK5Q-4S75-VJ7P-3BCD"), [("standard", Rank::Imported), ("rongcloud", Rank::Plausible)]);
}

/// The systems of a pasted text, in their order.
fn systems(text: &str, now: u64) -> Vec<&'static str> {
    let Ok(Pasted::One(readings)) = read(text, now) else { panic!("{text} is one ID") };
    readings.iter().map(|read| read.id.scheme_name()).collect()
}

#[test]
fn an_id_that_another_system_could_have_made_has_all_its_readings() {
    let both = ["rongcloud", "standard"];
    for text in [
        "CPEN-GH7K-ECA4-98EU",
        "cpen-gh7k-eca4-98eu",
        "CPENGH7KECA498EU",
        "\"CPEN-GH7K-ECA4-98EU\",",
        "CPEN GH7K ECA4 98EU",
    ] {
        assert_eq!(systems(text, NOW), both, "{text}");
    }
    // Only RongCloud has 0 and I; a bare word in the digits of JuggleIM would be an ID of ours of 2062.
    assert_eq!(systems("BUFE-A62U-32C4-01I2", NOW), ["rongcloud"]);
    assert_eq!(systems("5EGN-HLDB-K4Q4-LQ1G", NOW), ["rongcloud-v1"]);
    assert_eq!(systems("pb9hvkf86lyr3bmm", NOW + YEAR), ["juggleim"]);
    // Later, RongCloud's IDs have the digits of ours of 2018 and after, and the nearer time is the better guess.
    let ours = imid::MessageId::first_at(1_530_000_000_000).unwrap().to_string();
    assert_eq!(systems(&ours, NOW), ["standard"]);
    assert_eq!(systems("DDQH-Q9FR-8UUE-V3TN", NOW), ["standard"]);
    assert_eq!(systems("DDQH-Q9FR-8UUE-V3TN", NOW + 3 * YEAR), both);
}

proptest! {
    /// Every ID of imid from 2018 to two years from now is read at once, in all of its forms.
    #[test]
    fn an_id_of_our_years_has_one_reading(ms in 1_514_764_800_000..NOW + 2 * YEAR, rest in 0..1_u128 << 38) {
        let id = imid::MessageId::from_u128(u128::from(ms) << 38 | rest).unwrap();
        let (text, int) = (id.to_string(), id.to_u128().to_string());
        for text in [text.to_lowercase(), text.replace('-', ""), id.to_hex().to_string(), int, id.to_uuid().to_string(), text] {
            prop_assert_eq!(systems(&text, NOW), ["standard"], "{}", text);
        }
    }

    /// An ID of RongCloud with a type that exists is never silently one of ours: its first reading is RongCloud's.
    #[test]
    fn an_id_of_rongcloud_is_read_first_as_what_it_is(ms in 1_519_862_400_000..NOW, spin in 0..4096_u128, code in 1..=10_u128, hash in 0..1_u128 << 22) {
        let id = imid::MessageId::from_u128(u128::from(ms) << 38 | spin << 26 | code << 22 | hash).unwrap();
        let text = Dialect::RONGCLOUD.to_text(id).unwrap();
        prop_assert_eq!(systems(&text, NOW)[0], "rongcloud", "{}", text);
        prop_assert_eq!(systems(&text.to_lowercase(), NOW)[0], "rongcloud", "{}", text);
        // Any form that does not show its digits is the same in both.
        prop_assert_eq!(systems(&id.to_hex(), NOW)[0], "standard");
    }
}

#[test]
fn a_text_that_only_one_dialect_writes_has_one_candidate() {
    assert_eq!(names("F3Z9-MB7Y-WCQH-T3DD"), ["standard"]);
    assert_eq!(names("pb9hvkf86lyr3bmm"), ["juggleim"]);
    let [Id::Message { dialect, id }] = identify_text("pb9hvkf86lyr3bmm", NOW)[..] else {
        panic!("a message ID");
    };
    assert_eq!((dialect.name(), id), ("juggleim", message_id!("F3Z9-MB7Y-WCQH-T3DD").into()));
}

#[test]
fn a_standard_id_of_today_is_standard_even_if_rongcloud_has_all_its_digits() {
    // If RongCloud had made it, it would be from 2034.
    assert_eq!(names("EPSF-4V3S-2222-2222"), ["standard", "rongcloud"]);
}

#[test]
fn decimal_numbers_are_snowflakes() {
    // Nearest to now first: 2023, 2019 and January 2019.
    assert_eq!(names("1169786042799259000"), ["discord", "twitter-java", "twitter", "leaf"]);
    assert_eq!(names("175928847299117063"), ["discord", "twitter-java", "twitter", "leaf"]);
    // With the sign bit as a bit of the time, the time is after 2080.
    assert_eq!(names("9223372036854775808"), ["twitter", "leaf", "twitter-java", "discord"]);
    assert_eq!(names("-1"), ["twitter", "leaf", "twitter-java"]);
}

#[test]
fn hex_of_16_digits_is_nsq() {
    assert_eq!(names("0e1ac0d4168a6000"), ["nsq"]);
    // The old tick where its years fit: until 2016-03-24.
    assert_eq!(names("09e5a1420fbfffff"), ["nsq", "nsq-before-2015"]);
    assert_eq!(names("09e5a1420fc00000"), ["nsq"]);
    let Id::Snowflake(id) = identify_text("0632eb19de09b007", NOW)[0] else {
        panic!("a Snowflake");
    };
    assert_eq!((id.timestamp_ms(), id.node(), id.sequence()), (1_463_110_874_347, 155, 7));
}

#[test]
fn candidates_come_in_the_order_of_their_fit_and_equal_ones_in_that_of_all_names() {
    let names: Vec<_> = Scheme::all().map(Scheme::name).collect();
    for text in ["2222-2222-2222-2222", "EPSF-4V3S-2222-2222", "204697221847986177", "5", "2345678923456789"] {
        let candidates = identify_text(text, NOW);
        assert!(candidates.len() > 1);
        let place = |id: &Id| (id.fit(NOW), names.iter().position(|name| *name == id.scheme_name()));
        assert!(candidates.is_sorted_by(|a, b| place(a) < place(b)), "{text}: {candidates:?}");
        assert!(
            candidates
                .iter()
                .all(|id| id.is_plausible(NOW) != matches!(id.fit(NOW).rank, Rank::OtherTime | Rank::Implausible)),
            "{text}"
        );
    }
}

#[test]
fn the_first_candidate_for_an_id_of_today_is_its_system() {
    for now in [NOW - YEAR / 2, NOW, NOW + YEAR / 2] {
        let id = imid::MessageId::first_at(now).unwrap();
        for dialect in Dialect::ALL.iter().filter(|dialect| dialect.name() != "rongcloud-v1") {
            let id = imid::MessageId::from_u128(id.to_u128() | 1 << 22).unwrap();
            let text = dialect.to_text(id).unwrap();
            let first = identify_text(&text, now)[0];
            assert_eq!(
                (first.scheme_name(), first.fit(now)),
                (dialect.name(), Fit { rank: Rank::InUse, distance_ms: 0 }),
                "{text}"
            );
        }
        for layout in
            Layout::ALL.iter().filter(|layout| ![Layout::NSQ_BEFORE_2015, Layout::ROLLBACK_38_15_10].contains(layout))
        {
            let text = layout.first_at(now).unwrap().to_string();
            let first = identify_text(&text, now)[0];
            // These two have the same time.
            let expected = if *layout == Layout::LEAF { Layout::TWITTER } else { *layout };
            assert_eq!(Some(first.scheme_name()), expected.name(), "{text}");
        }
    }
}

#[test]
fn plausible_is_from_2005_to_two_years_from_now() {
    let plausible = |ms, now| {
        let text = imid::MessageId::first_at(ms).unwrap().to_string();
        let ids = identify_text(&text, now);
        ids.iter().find(|id| id.is_standard()).expect("its own text").is_plausible(now)
    };
    assert!(plausible(1_104_537_600_000, NOW) && !plausible(1_104_537_599_999, NOW));
    assert!(plausible(NOW + 2 * YEAR, NOW) && !plausible(NOW + 2 * YEAR + 1, NOW));
    assert!(plausible(imid::MessageId::TIMESTAMP_MAX, u64::MAX));
}

#[test]
fn a_text_that_no_dialect_or_layout_writes_has_no_candidate() {
    for text in ["", "hello", "F3Z9-MB7Y-WCQH-T3D", " 5", "+5", "-0", "007", "18446744073709551616", "0E1AC0D4168A6000"]
    {
        assert_eq!(names(text), [""; 0], "{text:?}");
    }
}

#[test]
fn the_time_of_a_candidate_is_that_of_its_layout() {
    let times: Vec<_> =
        identify_text("5EGN-HLDB-K4Q4-LQ1G", NOW).iter().map(|id| (id.scheme_name(), id.timestamp_ms())).collect();
    assert_eq!(times, [("rongcloud-v1", 1_499_141_156_189), ("rongcloud", 749_570_578_094)]);
}

#[test]
fn an_id_of_another_layout_than_its_dialect_is_written_as_hex() {
    let id = Dialect::RONGCLOUD.parse("BUFE-A62U-32C4-01I2").unwrap();
    let message = |dialect| Id::Message { dialect, id };
    assert_eq!(message(&Dialect::RONGCLOUD).to_string(), "BUFE-A62U-32C4-01I2");
    assert_eq!(message(&Dialect::RONGCLOUD_V1).to_string(), "5f9ee5185e1898400642");
    assert_eq!(format!("{:>22}", message(&Dialect::RONGCLOUD)), "   BUFE-A62U-32C4-01I2");
    let id = Id::Snowflake(Layout::builder().build().unwrap().parse("5").unwrap());
    assert_eq!((id.to_string(), id.scheme_name(), id.timestamp_ms()), ("5".into(), "custom", 0));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// A candidate writes its ID as the text that was read. A layout with a sign bit also reads the unsigned number
    /// with the same bits.
    #[test]
    fn every_candidate_is_written_as_the_text_that_was_read(
        text in prop_oneof![
            "-?[0-9]{1,20}",
            "[0-9a-f]{16}",
            "[2-9a-hj-np-z]{16}",
            "[0-9A-V]{4}(-[0-9A-V]{4}){3}",
            "[2-9A-HJ-NP-Z]{4}(-[2-9A-HJ-NP-Z]{4}){3}",
            "[0-9A-Za-z-]{15,20}",
        ]
    ) {
        let (ids, mut times) = (identify_text(&text, NOW), 0);
        for candidate in &ids {
            let written = candidate.to_string();
            let signed = text.parse::<u64>().ok().map(|bits| bits.cast_signed().to_string());
            prop_assert!(written == text || Some(&written) == signed.as_ref(), "{} for {}", written, text);
            times += usize::from(candidate.is_plausible(NOW));
        }
        prop_assert!(ids.iter().filter(|id| !id.is_standard()).take(times.saturating_sub(1)).all(|id| id.is_plausible(NOW)));
    }
}
