//! Schemes that could have made a text, and their order.

use std::io::Write;

use imid::dialect::Dialect;
use imid::message_id;
use imid_inspect::{Id, Scheme, identify_text};
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
    let path = "../shared/vectors/rongcloud.json";
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
    let fits = |text| identify_text(text, NOW).iter().map(|id| (id.scheme_name(), id.fit(NOW).0)).collect::<Vec<_>>();
    assert_eq!(fits("BK5Q-4S75-ZJ64-3BCD"), [("standard", 1)]);
    assert_eq!(fits("BK5Q-4S75-VJ64-3BCD"), [("rongcloud", 0), ("standard", 1), ("rongcloud-v1", 2)]);
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
    assert_eq!(names("EPSF-4V3S-2222-2222"), ["standard", "rongcloud", "rongcloud-v1"]);
}

#[test]
fn decimal_numbers_are_snowflakes() {
    // Nearest to now first: 2023, 2019 and January 2019.
    let (leaf, discord) = (["twitter", "leaf"], ["discord", "twitter-java"]);
    assert_eq!(names("1169786042799259000"), [&discord[..], &leaf, &["rollback-38-15-10"]].concat());
    assert_eq!(names("175928847299117063"), ["discord", "twitter-java", "twitter", "rollback-38-15-10", "leaf"]);
    // With the sign bit as a bit of the time, the time is in 2026 with 38 bits, and after 2080 with 41 bits.
    assert_eq!(names("9223372036854775808"), ["rollback-38-15-10", "twitter", "leaf", "twitter-java", "discord"]);
    assert_eq!(names("-1"), ["rollback-38-15-10", "twitter", "leaf", "twitter-java"]);
}

#[test]
fn hex_of_16_digits_is_nsq() {
    assert_eq!(names("0e1ac0d4168a6000"), ["nsq", "nsq-before-2015"]);
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
        assert!(candidates.iter().all(|candidate| candidate.is_plausible(NOW) == (candidate.fit(NOW).0 < 2)), "{text}");
    }
}

#[test]
fn the_first_candidate_for_an_id_of_today_is_its_system() {
    for now in [NOW - YEAR / 2, NOW, NOW + YEAR / 2] {
        let id = imid::MessageId::first_at(now).unwrap();
        for dialect in Dialect::ALL.iter().filter(|dialect| dialect.name() != "rongcloud-v1") {
            let text = dialect.to_text(id).unwrap();
            let first = identify_text(&text, now)[0];
            assert_eq!((first.scheme_name(), first.fit(now)), (dialect.name(), (0, 0)), "{text}");
        }
        for layout in Layout::ALL.iter().filter(|layout| **layout != Layout::NSQ_BEFORE_2015) {
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
        prop_assert!(ids.iter().take(times).all(|id| id.is_plausible(NOW)));
    }
}
