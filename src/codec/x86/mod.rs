//! The codec on x86-64: what the processor has is found out once, and decides from then on.
//!
//! | level | one ID | many IDs |
//! | --- | --- | --- |
//! | [`Sse2`](Level::Sse2), which every x86-64 has | written by table, read by SSE2 | one after another |
//! | [`Avx2`](Level::Avx2) | as above | two at once |
//! | [`Vbmi`](Level::Vbmi), of AVX-512 | written by VBMI, read by SSE2 | three at once |
//!
//! What is missing was measured and gained nothing: one ID is written by AVX2 no faster than by table, and read by VBMI
//! hardly faster than by SSE2, which needs no look at the level.
#![allow(unsafe_code, reason = "instructions that not every processor has, and their loads and stores")]

mod avx2;
mod level;
mod sse2;
mod vbmi;

#[cfg_attr(not(feature = "levels"), allow(unreachable_pub, reason = "public for tests and benches alone"))]
pub use level::Level;

use super::encode;
use super::lines::LINE_LEN;
use super::text::PADDED_LEN;
use crate::id::MessageId;
use crate::layout::{DIGIT_BITS, TEXT_LEN};
/// Weights of the first and the second digit of a pair.
const DIGIT_WEIGHTS: i16 = 1 << DIGIT_BITS | 1 << u8::BITS;
/// Weights of the first and the second pair of a group.
const PAIR_WEIGHTS: i32 = 1 << (2 * DIGIT_BITS) | 1 << u16::BITS;
/// Weight of the first group of a half; the second's is 1.
const GROUP_WEIGHT: i64 = 1 << (4 * DIGIT_BITS);
/// From two halves of 5 bytes, the first one high, to the bytes of a number: the top bit stands for a 0.
const VALUE_BYTES: [u8; 16] = [8, 9, 10, 11, 12, 0, 1, 2, 3, 4, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80];

/// Writes the text.
#[inline]
pub(super) fn encode(value: u128, text: &mut [u8; TEXT_LEN]) {
    if Level::get() == Level::Vbmi {
        // SAFETY: at this level the processor has VBMI and VL.
        unsafe { vbmi::encode(value, text) }
    } else {
        *text = encode::standard(value);
    }
}

/// The text and a dash after it.
#[inline]
pub(super) fn encode_padded(value: u128) -> [u8; PADDED_LEN] {
    if Level::get() == Level::Vbmi {
        // SAFETY: at this level the processor has VBMI and VL.
        return unsafe { vbmi::encode_padded(value) };
    }
    encode::padded(value)
}

/// The value of a text, or [`NO_TEXT`](super::decode::NO_TEXT).
#[inline]
pub(super) fn decode(text: &[u8; TEXT_LEN]) -> u128 {
    // SAFETY: this module is only there where SSE2 is compiled in.
    unsafe { sse2::decode(text) }
}

/// Writes the first lines, and tells how many.
pub(super) fn encode_lines(ids: &[MessageId], separator: u8, lines: &mut [[u8; LINE_LEN]]) -> usize {
    match Level::get() {
        Level::Sse2 => 0,
        // SAFETY: at this level the processor has AVX2.
        Level::Avx2 => unsafe { avx2::encode_lines(ids, separator, lines) },
        // SAFETY: at this level the processor has VBMI and VL.
        Level::Vbmi => unsafe { vbmi::encode_lines(ids, separator, lines) },
    }
}

/// Reads the first lines, up to one that is wrong or is among the last, and tells how many.
pub(super) fn decode_lines(lines: &[[u8; LINE_LEN]], separator: u8, ids: &mut [MessageId]) -> usize {
    match Level::get() {
        Level::Sse2 => 0,
        // SAFETY: at this level the processor has AVX2.
        Level::Avx2 => unsafe { avx2::decode_lines(lines, separator, ids) },
        // SAFETY: at this level the processor has VBMI and VL.
        Level::Vbmi => unsafe { vbmi::decode_lines(lines, separator, ids) },
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::codec::{decode, decode_lines, encode_lines, samples};
    use crate::error::{Expected, LineError, ParseError};

    /// Calls a test with each level that this processor has; the others are named.
    fn on_each_level(test: impl Fn(Level)) {
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let _guard = ONE_AT_A_TIME.lock();
        for level in Level::ALL {
            if level.force() {
                assert_eq!(Level::get(), level);
                test(level);
            } else {
                std::eprintln!("not tested: this processor has no {level:?}");
            }
        }
        Level::of_processor().set();
    }

    #[test]
    fn one_id_is_written_as_the_safe_twin_writes_it() {
        on_each_level(|level| {
            for id in samples::ids() {
                let mut text = [0; TEXT_LEN];
                encode(id.to_u128(), &mut text);
                assert_eq!(text, encode::standard(id.to_u128()), "{level:?} {id:x}");
                assert_eq!(encode_padded(id.to_u128()), encode::padded(id.to_u128()), "{level:?} {id:x}");
            }
        });
    }

    #[test]
    fn one_text_is_read_as_the_safe_twin_reads_it() {
        for text in samples::texts() {
            assert_eq!(super::decode(&text), decode::standard(&text), "{}", text.escape_ascii());
        }
    }

    /// What every level is to write.
    fn lines_of(ids: &[MessageId], separator: u8) -> Vec<[u8; LINE_LEN]> {
        let line = |id: &MessageId| {
            let mut line = encode::padded(id.to_u128());
            line[TEXT_LEN] = separator;
            line
        };
        ids.iter().map(line).collect()
    }

    #[test]
    fn lines_are_written_as_the_safe_twin_writes_them() {
        let ids = samples::ids();
        on_each_level(|level| {
            for len in (0..20).chain([ids.len()]) {
                for separator in [b'\n', b',', b'-', b'A', 0, 0xFF] {
                    let mut lines = vec![[b'?'; LINE_LEN]; len + 1];
                    assert_eq!(encode_lines(&ids[..len], separator, &mut lines), len);
                    assert_eq!(lines.pop(), Some([b'?'; LINE_LEN]), "{level:?}: past the end");
                    assert_eq!(lines, lines_of(&ids[..len], separator), "{level:?}");
                    assert_eq!(encode_lines(&ids, separator, &mut lines), len, "{level:?}: less room than IDs");
                    assert_eq!(lines, lines_of(&ids[..len], separator), "{level:?}");
                }
            }
        });
    }

    /// The safe twin: what every level is to read.
    fn read_lines(lines: &[[u8; LINE_LEN]], separator: u8) -> (Vec<MessageId>, Result<usize, LineError>) {
        let mut ids = Vec::new();
        for (index, [text @ .., end]) in lines.iter().enumerate() {
            let no_separator = ParseError::new(Expected::Separator, Some(*end), TEXT_LEN);
            match MessageId::parse_bytes(text).and_then(|id| (*end == separator).then_some(id).ok_or(no_separator)) {
                Ok(id) => ids.push(id),
                Err(error) => return (ids, Err(LineError::new(index, error))),
            }
        }
        let len = ids.len();
        (ids, Ok(len))
    }

    #[test]
    fn lines_are_read_as_the_safe_twin_reads_them() {
        let ids = samples::ids();
        on_each_level(|level| {
            for len in (0..20).chain([ids.len()]) {
                for separator in [b'\n', b',', b'-', b'A', 0, 0xFF] {
                    let lines = lines_of(&ids[..len], separator);
                    let mut read = vec![MessageId::MAX; len];
                    assert_eq!(decode_lines(lines.as_flattened(), separator, &mut read), Ok(len), "{level:?}");
                    assert_eq!(read, ids[..len], "{level:?}");
                }
            }
        });
    }

    #[test]
    fn every_wrong_byte_is_found_where_it_is_and_ids_from_there_on_stay() {
        let ids = &samples::ids()[200..208];
        on_each_level(|level| {
            for (at, byte) in (0..ids.len() * LINE_LEN).flat_map(|at| (0..=u8::MAX).map(move |byte| (at, byte))) {
                let mut lines = lines_of(ids, b'\n');
                lines.as_flattened_mut()[at] = byte;
                let (mut want, result) = read_lines(&lines, b'\n');
                want.resize(ids.len(), MessageId::MAX);
                let mut read = vec![MessageId::MAX; ids.len()];
                assert_eq!(decode_lines(lines.as_flattened(), b'\n', &mut read), result, "{level:?} {byte} at {at}");
                assert_eq!(read, want, "{level:?} {byte} at {at}");
            }
        });
    }
}
