//! Sessions: names and codes of types, hashes of names, private pairs, shards.

use std::collections::HashSet;
use std::num::NonZeroU32;

use imid::{IdParts, MessageId, SessionHash, SessionTag, SessionType};
use proptest::prelude::*;

#[rustfmt::skip]
const NAMES: [(u8, &str, SessionType); 12] = [
    (1, "PRIVATE", SessionType::PRIVATE),
    (2, "DISCUSSION", SessionType::DISCUSSION),
    (3, "GROUP", SessionType::GROUP),
    (4, "CHATROOM", SessionType::CHATROOM),
    (5, "CUSTOMER_SERVICE", SessionType::CUSTOMER_SERVICE),
    (6, "SYSTEM", SessionType::SYSTEM),
    (7, "APP_PUBLIC_SERVICE", SessionType::APP_PUBLIC_SERVICE),
    (8, "PUBLIC_SERVICE", SessionType::PUBLIC_SERVICE),
    (9, "PUSH_SERVICE", SessionType::PUSH_SERVICE),
    (10, "ULTRA_GROUP", SessionType::ULTRA_GROUP),
    (11, "ENCRYPTED", SessionType::ENCRYPTED),
    (12, "RTC", SessionType::RTC),
];

fn count(shards: u32) -> NonZeroU32 {
    NonZeroU32::new(shards).expect("not zero")
}

fn shard(bits: u32, shards: u32) -> u32 {
    SessionTag::from_u32(bits).expect("26 bits").shard(count(shards))
}

/// Returns `many` sessions of one type with different names.
fn rooms(many: u32) -> impl Iterator<Item = SessionTag> {
    (0..many).map(|room| SessionTag::new(SessionType::GROUP, &format!("room-{room}")))
}

#[test]
fn twelve_codes_have_a_name() {
    for (code, name, constant) in NAMES {
        assert_eq!(constant.to_u8(), code);
        assert_eq!(constant.name(), Some(name));
        assert_eq!(constant.to_string(), name);
        assert_eq!(SessionType::from_u8(code), Ok(constant));
        assert_eq!(name.parse(), Ok(constant));
        assert_eq!(name.to_lowercase().parse(), Ok(constant));
        assert_eq!(format!("{constant:?}"), format!("SessionType({name})"));
    }
    assert_eq!(SessionType::NAMED, NAMES.map(|(_, _, constant)| constant));
}

#[test]
fn four_codes_are_free_and_print_as_numbers() {
    for code in [0, 13, 14, 15] {
        let free = SessionType::from_u8(code).expect("a code");
        assert_eq!(free.name(), None);
        assert_eq!(free.to_string(), code.to_string());
        assert_eq!(format!("[{free:>4}]"), format!("[{code:>4}]"));
    }
    assert_eq!(SessionType::MIN.to_u8(), 0);
    assert_eq!(SessionType::MAX.to_u8(), 15);
}

#[test]
fn each_code_is_read_and_other_numbers_are_refused() {
    for code in 0..=15 {
        assert_eq!(code.to_string().parse(), SessionType::from_u8(code).map_err(|_| unreachable!("a code")));
    }
    for text in ["", "+1", "-0", "00", "01", "015", "1 ", " 1", "1\n", "\u{0663}", "GROUP ", "ULTRA-GROUP"] {
        assert!(text.parse::<SessionType>().is_err(), "{text:?}");
    }
    for code in 16..=u8::MAX {
        assert!(code.to_string().parse::<SessionType>().is_err());
        assert!(SessionType::from_u8(code).is_err());
    }
}

#[test]
fn a_session_is_its_type_and_its_hash() {
    let room = SessionTag::new(SessionType::GROUP, "room-42");
    assert_eq!(room.session_type(), SessionType::GROUP);
    assert_eq!(room.session_hash(), SessionHash::of("room-42"));
    let ones = SessionHash::from_u32((1 << 22) - 1).unwrap();
    assert_eq!(SessionTag::from_parts(SessionType::MAX, ones).to_u32(), (1 << 26) - 1);
    assert_eq!(room.to_u32(), (3 << 22) + 3_966_315);
    assert_eq!(SessionTag::from_u32(room.to_u32()), Ok(room));
    assert_eq!(SessionTag::from_parts(room.session_type(), room.session_hash()), room);
    assert_ne!(SessionTag::new(SessionType::CHATROOM, "room-42"), room);
    assert_eq!(format!("{room:?}"), "SessionTag(GROUP, 3966315)");
    assert_eq!(format!("{:?}", room.session_hash()), "SessionHash(3966315)");
}

#[test]
fn values_are_formatted_in_hex_as_their_integers() {
    for bits in [0, 1, 0x0FC_856B, (1 << 26) - 1] {
        let session = SessionTag::from_u32(bits).unwrap();
        let (hash, code) = (session.session_hash(), session.session_type());
        assert_eq!(
            (session.to_u32(), format!("{session:x} {session:#010X}")),
            (bits, format!("{bits:x} {bits:#010X}"))
        );
        assert_eq!(format!("{hash:x} {hash:06X}"), format!("{0:x} {0:06X}", hash.to_u32()));
        assert_eq!(format!("{code:x} {code:#X}"), format!("{0:x} {0:#X}", code.to_u8()));
    }
}

#[test]
fn an_id_is_in_its_session_and_not_in_a_session_of_another_type_or_hash() {
    let room = SessionTag::new(SessionType::GROUP, "room-42");
    let id = MessageId::try_from_parts(IdParts { timestamp_ms: 1_763_665_800_000, spin: 7, session_tag: room })
        .expect("in range");
    assert!(id.is_in(room));
    assert!(!id.is_in(SessionTag::new(SessionType::CHATROOM, "room-42")), "another type");
    assert!(!id.is_in(SessionTag::new(SessionType::GROUP, "room-43")), "another name");
    for bit in 0..26 {
        assert!(!id.is_in(SessionTag::from_u32(room.to_u32() ^ 1 << bit).expect("26 bits")), "bit {bit}");
    }
}

#[test]
fn two_sessions_can_have_equal_hashes() {
    // The documented birthday bound: 2,400 names share a hash with probability 1/2. 20,000 names almost certainly do.
    let hashes: HashSet<SessionHash> = rooms(20_000).map(SessionTag::session_hash).collect();
    assert!((19_900..20_000).contains(&hashes.len()), "{}", hashes.len());
}

#[test]
fn both_ends_of_a_pair_make_the_same_session() {
    let pair = SessionTag::pair("alice", "bob");
    assert_eq!(pair, SessionTag::pair("bob", "alice"));
    assert_eq!(pair.session_type(), SessionType::PRIVATE);
    assert_ne!(pair, SessionTag::pair("alice", "carol"));
    assert_ne!(pair, SessionTag::new(SessionType::PRIVATE, "bob"), "the hash of one user");
    assert_ne!(SessionTag::pair("1001", "1002"), SessionTag::pair("10011", "002"), "the hash of the joined names");
}

/// The buckets are from independent implementations of the algorithm: the tests of the crates jump-consistent-hash
/// 0.1.0 and jumphash 0.1.8, and the example of the Python package jump-consistent-hash 1.1.1.
#[test]
fn shards_are_the_published_ones() {
    for (key, buckets, bucket) in [
        (0, 1, 0),
        (0, 60, 0),
        (1, 1, 0),
        (1, 6, 0),
        (1, 7, 6),
        (1, 17, 6),
        (1, 18, 17),
        (1, 60, 55),
        (2, 60, 46),
        (2, 100_001, 80_343),
        (42, 57, 43),
        (256, 1_024, 520),
        (2_201, 100_001, 22_152),
        (2_202, 100_001, 15_018),
    ] {
        assert_eq!(shard(key, buckets), bucket, "key {key} in {buckets} buckets");
    }
}

#[test]
fn a_shard_can_be_a_constant() {
    const SHARD: u32 = match (SessionTag::from_u32(256), NonZeroU32::new(1_024)) {
        (Ok(session), Some(shards)) => session.shard(shards),
        _ => panic!("in range"),
    };
    assert_eq!(SHARD, 520);
}

#[test]
fn an_id_has_the_shard_of_its_session() {
    let room = SessionTag::new(SessionType::GROUP, "room-42");
    let id = MessageId::try_from_parts(IdParts { timestamp_ms: 1_763_665_800_000, spin: 7, session_tag: room })
        .expect("in range");
    for shards in 1..100 {
        assert_eq!(id.session_tag().shard(count(shards)), room.shard(count(shards)));
    }
}

#[test]
fn sessions_spread_evenly_over_shards() {
    const SESSIONS: u32 = 100_000;
    for shards in [2, 3, 8, 10, 64, 100] {
        let mut sizes = vec![0_u32; shards as usize];
        for room in rooms(SESSIONS) {
            sizes[room.shard(count(shards)) as usize] += 1;
        }
        // Chi-squared with n - 1 degrees of freedom has mean n - 1 and variance 2 (n - 1). The bound is five standard
        // deviations above the mean.
        let mean = f64::from(SESSIONS) / f64::from(shards);
        let chi: f64 = sizes.iter().map(|size| (f64::from(*size) - mean).powi(2) / mean).sum();
        let freedom = f64::from(shards - 1);
        assert!(chi < freedom + 5.0 * (2.0 * freedom).sqrt(), "{shards} shards: chi-squared {chi}");
    }
}

#[test]
fn a_new_shard_takes_its_share_and_other_sessions_do_not_move() {
    const SESSIONS: u32 = 100_000;
    for shards in [1_u32, 2, 7, 8, 63, 99] {
        let mut moved = 0;
        for room in rooms(SESSIONS) {
            let (before, after) = (room.shard(count(shards)), room.shard(count(shards + 1)));
            if before != after {
                assert_eq!(after, shards, "{room:?} moved between old shards");
                moved += 1;
            }
        }
        let share = f64::from(SESSIONS) / f64::from(shards + 1);
        let off = (f64::from(moved) - share).abs();
        assert!(off < 5.0 * share.sqrt(), "{moved} moved to the shard after {shards}, expected about {share}");
    }
}

proptest! {
    #[test]
    fn hashes_have_22_bits_and_depend_on_the_name_alone(name: String) {
        let hash = SessionHash::of(&name);
        prop_assert!(hash.to_u32() < 1 << 22);
        prop_assert_eq!(SessionHash::from_u32(hash.to_u32()), Ok(hash));
        prop_assert_eq!(SessionTag::new(SessionType::RTC, &name).session_hash(), hash);
    }

    #[test]
    fn pairs_have_no_order(a: String, b: String) {
        prop_assert_eq!(SessionTag::pair(&a, &b), SessionTag::pair(&b, &a));
    }

    #[test]
    fn shards_are_those_of_an_independent_library(
        bits in 0_u32..1 << 26,
        shards in prop_oneof![1_u32..100, 1..=u32::MAX, Just(u32::MAX)],
    ) {
        let bucket = shard(bits, shards);
        prop_assert_eq!(bucket, jumpch::hash(bits.into(), shards));
        prop_assert!(bucket < shards);
    }
}
