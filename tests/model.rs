//! Computes the format a second time, with a big integer and with products, sums and remainders instead of shifts and
//! masks.

use imid::{IdParts, MessageId, SessionHash, SessionTag, SessionType};
use proptest::prelude::*;

use self::big::Big;

/// 256 bits, so that a wrong result does not wrap to 80 bits.
mod big {
    #![allow(clippy::all, reason = "the macro's code")]
    uint::construct_uint! {
        pub struct Big(4);
    }
}

const DIGITS: &[u8; 32] = b"23456789ABCDEFGHJKLMNPQRSTUVWXYZ";

fn two_to(power: u32) -> Big {
    Big::from(2).pow(power.into())
}

/// Returns timestamp · 2³⁸ + spin · 2²⁶ + type · 2²² + hash.
fn value(timestamp: u64, spin: u16, code: u8, hash: u32) -> Big {
    Big::from(timestamp) * two_to(38) + Big::from(spin) * two_to(26) + Big::from(code) * two_to(22) + Big::from(hash)
}

/// Returns the remainders of `count` divisions by `base`, most significant first.
fn digits(mut value: Big, base: u32, count: usize) -> Vec<usize> {
    let mut digits = Vec::new();
    for _ in 0..count {
        let (quotient, remainder) = value.div_mod(base.into());
        digits.insert(0, remainder.as_usize());
        value = quotient;
    }
    assert!(value.is_zero(), "the value is longer than its digits");
    digits
}

fn text(value: Big) -> String {
    let digits = digits(value, 32, 16).into_iter().map(|digit| char::from(DIGITS[digit])).collect::<Vec<_>>();
    digits.chunks(4).map(String::from_iter).collect::<Vec<_>>().join("-")
}

fn session(code: u8, hash: u32) -> SessionTag {
    SessionTag::from_parts(SessionType::from_u8(code).unwrap(), SessionHash::from_u32(hash).unwrap())
}

prop_compose! {
    /// Returns fields with any value in their range. The ends of the range are more frequent.
    fn fields()(
        timestamp in prop_oneof![4 => 0_u64..1 << 42, 1 => Just(0), 1 => Just((1 << 42) - 1)],
        spin in prop_oneof![4 => 0_u16..1 << 12, 1 => Just(0), 1 => Just((1 << 12) - 1)],
        code in 0_u8..16,
        hash in prop_oneof![4 => 0_u32..1 << 22, 1 => Just(0), 1 => Just((1 << 22) - 1)],
    ) -> (u64, u16, u8, u32) {
        (timestamp, spin, code, hash)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_096))]

    #[test]
    fn parts_make_the_value_of_the_model((timestamp, spin, code, hash) in fields()) {
        let model = value(timestamp, spin, code, hash);
        let id = MessageId::try_from_parts(IdParts { timestamp_ms: timestamp, spin, session_tag: session(code, hash) }).unwrap();
        prop_assert_eq!(id.to_u128(), model.as_u128());
        let bytes: Vec<u8> = digits(model, 256, 10).into_iter().map(|byte| u8::try_from(byte).unwrap()).collect();
        prop_assert_eq!(id.to_bytes().to_vec(), bytes);
        prop_assert_eq!(id.to_string(), text(model));
        let hex = digits(model, 16, 20).into_iter().map(|digit| char::from(b"0123456789abcdef"[digit]));
        prop_assert_eq!(format!("{id:x}"), hex.collect::<String>());
    }

    #[test]
    fn the_model_reads_the_parts_back(bytes: [u8; 10]) {
        let model = bytes.iter().fold(Big::zero(), |value, byte| value * Big::from(256) + Big::from(*byte));
        let (rest, hash) = model.div_mod(two_to(22));
        let (rest, code) = rest.div_mod(16.into());
        let (timestamp, spin) = rest.div_mod(4_096.into());

        let id = MessageId::from_bytes(bytes);
        prop_assert_eq!(Big::from(id.timestamp_ms()), timestamp);
        prop_assert_eq!(Big::from(id.spin()), spin);
        prop_assert_eq!(Big::from(id.session_type().to_u8()), code);
        prop_assert_eq!(Big::from(id.session_hash().to_u32()), hash);
        prop_assert_eq!(Big::from(id.session_tag().to_u32()), code * two_to(22) + hash);
        prop_assert_eq!(MessageId::from_u128(model.as_u128()), Ok(id));
        prop_assert_eq!(MessageId::parse(&text(model)), Ok(id));
    }

    #[test]
    fn order_is_the_order_of_the_model(a in fields(), b in fields()) {
        let model = |(timestamp, spin, code, hash)| value(timestamp, spin, code, hash);
        let id = |(timestamp, spin, code, hash)| {
            MessageId::try_from_parts(IdParts { timestamp_ms: timestamp, spin, session_tag: session(code, hash) }).unwrap()
        };
        prop_assert_eq!(id(a).cmp(&id(b)), model(a).cmp(&model(b)));
    }

    #[test]
    fn the_bounds_of_a_time_are_those_of_the_model(timestamp in 0_u64..1 << 42) {
        let first = value(timestamp, 0, 0, 0);
        prop_assert_eq!(Big::from(MessageId::first_at(timestamp).unwrap().to_u128()), first);
        let last = first + two_to(38) - Big::one();
        prop_assert_eq!(Big::from(MessageId::last_at(timestamp).unwrap().to_u128()), last);
    }
}
