//! The codec on x86-64: what the processor has is found out once, and decides from then on.
//!
//! | level | one ID | many IDs |
//! | --- | --- | --- |
//! | [`Portable`](Level::Portable) | by table | one after another |
//! | [`Avx2`](Level::Avx2) | AVX2 | two at once |
//!
//! SSE2, which every x86-64 has, was measured too: it writes no faster than the tables, and reads hardly faster.
#![allow(unsafe_code, reason = "instructions that not every processor has, and their loads and stores")]

mod avx2;
mod level;

#[cfg_attr(not(feature = "levels"), allow(unreachable_pub, reason = "public for tests and benches alone"))]
pub use level::Level;

#[cfg(any(doc, feature = "levels"))]
use super::decode::NO_TEXT;
use super::lines::LINE_LEN;
use super::portable;
use super::text::IdText;
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
    match Level::get() {
        Level::Portable => portable::encode(value, text),
        // SAFETY: at this level the processor has AVX2.
        Level::Avx2 => unsafe { avx2::one::encode(value, text) },
    }
}

/// The text on the stack.
// Each way makes the type itself: what is wrapped here, where the ways meet, is copied.
#[inline]
pub(super) fn text(value: u128) -> IdText {
    match Level::get() {
        Level::Portable => portable::text(value),
        // SAFETY: at this level the processor has AVX2.
        Level::Avx2 => unsafe { avx2::one::text(value) },
    }
}

/// The value of a text, or [`NO_TEXT`].
#[inline]
pub(super) fn decode(text: &[u8; TEXT_LEN]) -> u128 {
    match Level::get() {
        Level::Portable => portable::decode(text),
        // SAFETY: at this level the processor has AVX2.
        Level::Avx2 => unsafe { avx2::one::decode(text) },
    }
}

#[cfg(feature = "levels")]
impl Level {
    /// Whether the level in use reads a text: what a refusal takes without its diagnosis.
    pub fn reads(text: &[u8; TEXT_LEN]) -> bool {
        decode(text) != NO_TEXT
    }
}

/// Writes the first lines, and tells how many. Some of the last are left out, as in what follows.
pub(super) fn encode_lines(ids: &[MessageId], separator: u8, lines: &mut [[u8; LINE_LEN]]) -> usize {
    match Level::get() {
        Level::Portable => portable::encode_lines(ids, separator, lines),
        // SAFETY: at this level the processor has AVX2.
        Level::Avx2 => unsafe { avx2::lines::encode_lines(ids, separator, lines) },
    }
}

/// Reads the first lines, up to a step with one that is wrong, and tells how many. Some of the last are left out.
pub(super) fn decode_lines(lines: &[[u8; LINE_LEN]], separator: u8, ids: &mut [MessageId]) -> usize {
    match Level::get() {
        Level::Portable => portable::decode_lines(lines, separator, ids),
        // SAFETY: at this level the processor has AVX2.
        Level::Avx2 => unsafe { avx2::lines::decode_lines(lines, separator, ids) },
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::codec::{decode, decode_lines, encode, encode_lines, samples};
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
        assert!(Level::of_processor().force());
    }

    #[test]
    fn one_id_is_written_as_the_safe_twin_writes_it() {
        on_each_level(|level| {
            for id in samples::ids() {
                let (mut text, mut want) = ([0; TEXT_LEN], [0; TEXT_LEN]);
                super::encode(id.to_u128(), &mut text);
                encode::standard(id.to_u128(), &mut want);
                assert_eq!(text, want, "{level:?} {id:x}");
                assert_eq!(super::text(id.to_u128()).0, encode::padded(id.to_u128()), "{level:?} {id:x}");
            }
        });
    }

    #[test]
    fn one_text_is_read_as_the_safe_twin_reads_it() {
        on_each_level(|level| {
            for text in samples::texts() {
                assert_eq!(super::decode(&text), decode::standard(&text), "{level:?} {}", text.escape_ascii());
            }
        });
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

    // Else nothing but the time would show an instruction that does not do its work.
    #[test]
    fn the_instructions_leave_at_most_one_id_of_many_to_the_tables() {
        let ids = samples::ids();
        on_each_level(|level| {
            let mut lines = lines_of(&ids, b'\n');
            let mut read = vec![MessageId::MIN; ids.len()];
            let least = if level == Level::Portable { 0 } else { ids.len() - 1 };
            assert!(super::encode_lines(&ids, b'\n', &mut lines) >= least, "{level:?}");
            assert!(super::decode_lines(&lines, b'\n', &mut read) >= least, "{level:?}");
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
