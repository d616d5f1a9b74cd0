//! Texts by AVX2: [`one`] in 128 bits, or two [`lines`] at once in 256, each in a half of its own. Both go the same
//! way, by the tables that are here.
//!
//! The safe twins are the tables of [`encode`](crate::codec::encode) and [`decode`](crate::codec::decode).

pub(super) mod lines;
pub(super) mod one;

use core::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_storeu_si128};

use crate::codec::alphabet::{RADIX, STANDARD};
use crate::layout::TEXT_LEN;

/// Bytes of 128 bits.
const WIDTH: usize = 16;
/// A place that a shuffle fills with 0.
const ZERO: u8 = 0x80;

/// Each pair of digits from the two bytes of an ID that hold it: the first pair and the fifth, the second and the
/// sixth, and so on. Pairs at one offset in their bytes share 32 bits: no shorter lanes can AVX2 shift each by its own.
const PAIRS: [u8; WIDTH] = [8, 9, 3, 4, 7, 8, 2, 3, 6, 7, 1, 2, 5, 6, 0, 1];
/// How far each of these 32 bits is shifted, so that its pairs are at the top of 16 bits.
const TO_TOP: [i32; 4] = [0, 2, 4, 6];
/// The bits of a pair's second digit when it has come to the high byte.
const SECOND: i16 = 0x1F00;

/// The first 16 bytes of a text from digits in that order, but for the dashes.
const HEAD: [u8; WIDTH] = [0, 1, 4, 5, ZERO, 8, 9, 12, 13, ZERO, 2, 3, 6, 7, ZERO, 10];
/// The dashes of the first 16 bytes.
const HEAD_DASHES: [u8; WIDTH] = [0, 0, 0, 0, b'-', 0, 0, 0, 0, b'-', 0, 0, 0, 0, b'-', 0];
/// The last 3 digits of a text from digits in that order.
const LAST: [u8; 4] = [11, 14, 15, ZERO];

/// The last 12 digits of a text from its last 16 bytes.
const TAIL: [u8; WIDTH] = [ZERO, ZERO, ZERO, ZERO, 2, 3, 4, 5, 7, 8, 9, 10, 12, 13, 14, 15];
/// The dashes of the last 16 bytes.
const TAIL_DASHES: [u8; WIDTH] = [0, b'-', 0, 0, 0, 0, b'-', 0, 0, 0, 0, b'-', 0, 0, 0, 0];
/// All bits of their places.
const TAIL_GAPS: [u8; WIDTH] = [0, 0xFF, 0, 0, 0, 0, 0xFF, 0, 0, 0, 0, 0xFF, 0, 0, 0, 0];

/// The last digit. A byte past it has a value past 31, which [`TO_DIGIT`] would turn back into that byte.
const LAST_DIGIT: i8 = STANDARD.digits()[RADIX - 1].cast_signed();

/// From a value to its digit: the digits are four runs of ASCII, from 2, A, J and P.
const TO_DIGIT: Offsets = Offsets::new(7, 14, false);
/// From a digit to its value. Any other byte has a value, too, but that one's digit is another byte: so it is found.
const TO_VALUE: Offsets = Offsets::new(b'A' - 1, 15, true);

/// What is added to a byte, by its class, of which a shuffle knows 16.
struct Offsets {
    /// The last byte of class 0; each after it is a class of its own, up to the last class.
    zero: i8,
    /// The class of all the bytes that are left.
    last: i8,
    by_class: [u8; WIDTH],
}

impl Offsets {
    const fn new(zero: u8, last: u8, to_value: bool) -> Self {
        let (mut by_class, mut taken, mut value) = ([0; WIDTH], [false; WIDTH], 0);
        while value < RADIX {
            let digit = STANDARD.digits()[value];
            let (from, to) = if to_value { (digit, value as u8) } else { (value as u8, digit) };
            let (class, offset) = (from.saturating_sub(zero), to.wrapping_sub(from));
            let class = if class < last { class as usize } else { last as usize };
            assert!(!taken[class] || by_class[class] == offset, "a class has one offset");
            (by_class[class], taken[class]) = (offset, true);
            value += 1;
        }
        Self { zero: zero.cast_signed(), last: last.cast_signed(), by_class }
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn load_head(text: &[u8; TEXT_LEN]) -> __m128i {
    // PANIC: a text is longer than this.
    load(text.first_chunk().expect("16 bytes"))
}

#[target_feature(enable = "avx2")]
#[inline]
fn load_tail(text: &[u8; TEXT_LEN]) -> __m128i {
    // PANIC: a text is longer than this.
    load(text.last_chunk().expect("16 bytes"))
}

#[target_feature(enable = "avx2")]
#[inline]
fn load(bytes: &[u8; WIDTH]) -> __m128i {
    // SAFETY: the 16 bytes are there, and need not be aligned.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

#[target_feature(enable = "avx2")]
#[inline]
fn store(bytes: __m128i, text: &mut [u8; WIDTH]) {
    // SAFETY: the 16 bytes are there, and need not be aligned.
    unsafe { _mm_storeu_si128(text.as_mut_ptr().cast(), bytes) }
}
