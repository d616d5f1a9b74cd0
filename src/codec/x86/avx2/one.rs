//! One text by AVX2.

use core::arch::x86_64::{
    __m128i, _mm_add_epi8, _mm_add_epi64, _mm_and_si128, _mm_blend_epi32, _mm_cvtsi128_si32, _mm_extract_epi64,
    _mm_madd_epi16, _mm_maddubs_epi16, _mm_min_epu8, _mm_mul_epu32, _mm_or_si128, _mm_set_epi64x, _mm_set1_epi8,
    _mm_set1_epi16, _mm_set1_epi32, _mm_set1_epi64x, _mm_setr_epi32, _mm_shuffle_epi8, _mm_slli_epi16, _mm_sllv_epi32,
    _mm_srli_epi16, _mm_srli_epi64, _mm_subs_epu8, _mm_testz_si128, _mm_xor_si128,
};

use super::super::{DIGIT_WEIGHTS, GROUP_WEIGHT, PAIR_WEIGHTS, VALUE_BYTES};
use super::{
    HEAD, HEAD_DASHES, LAST, LAST_DIGIT, Offsets, PAIRS, SECOND, TAIL, TAIL_DASHES, TAIL_GAPS, TO_DIGIT, TO_TOP,
    TO_VALUE, load, load_head, load_tail, store,
};
use crate::codec::decode::NO_TEXT;
use crate::codec::text::{IdText, PADDED_LEN};
use crate::layout::TEXT_LEN;

/// Writes an ID's text.
#[target_feature(enable = "avx2")]
#[inline]
pub(in super::super) fn encode(value: u128, text: &mut [u8; TEXT_LEN]) {
    let digits = digits(value);
    // PANIC: a text is longer than this.
    let (bytes, end) = text.split_first_chunk_mut().expect("16 bytes");
    store(head(digits), bytes);
    let [a, b, c, _] = tail(digits);
    end.copy_from_slice(&[a, b, c]);
}

/// An ID's text on the stack.
#[target_feature(enable = "avx2")]
#[inline]
pub(in super::super) fn text(value: u128) -> IdText {
    let digits = digits(value);
    let mut text = [0; PADDED_LEN];
    // PANIC: a padded text is longer than this.
    let (bytes, end) = text.split_first_chunk_mut().expect("16 bytes");
    store(head(digits), bytes);
    end.copy_from_slice(&tail(digits));
    IdText(text)
}

/// The value of a text, or [`NO_TEXT`].
#[target_feature(enable = "avx2")]
#[inline]
pub(in super::super) fn decode(text: &[u8; TEXT_LEN]) -> u128 {
    let (head, tail) = (load_head(text), load_tail(text));
    let digits = _mm_blend_epi32::<0b0001>(_mm_shuffle_epi8(tail, load(&TAIL)), head);
    let values = TO_VALUE.add(digits);
    let again = _mm_min_epu8(TO_DIGIT.add(values), _mm_set1_epi8(LAST_DIGIT));
    let no_dashes = _mm_and_si128(_mm_xor_si128(tail, load(&TAIL_DASHES)), load(&TAIL_GAPS));
    let wrong = _mm_or_si128(_mm_xor_si128(again, digits), no_dashes);
    if _mm_testz_si128(wrong, wrong) == 0 { NO_TEXT } else { pack(values) }
}

/// The 16 digits of an ID, in the order of [`PAIRS`].
#[target_feature(enable = "avx2")]
#[inline]
fn digits(value: u128) -> __m128i {
    let id = _mm_set_epi64x((value >> u64::BITS) as i64, value as i64);
    let [a, b, c, d] = TO_TOP;
    let pairs = _mm_sllv_epi32(_mm_shuffle_epi8(id, load(&PAIRS)), _mm_setr_epi32(a, b, c, d));
    // The first digit comes down to the low byte, the second to the low end of the high byte.
    let first = _mm_srli_epi16::<11>(pairs);
    let second = _mm_and_si128(_mm_slli_epi16::<2>(pairs), _mm_set1_epi16(SECOND));
    TO_DIGIT.add(_mm_or_si128(first, second))
}

/// The first 16 bytes of the text.
#[target_feature(enable = "avx2")]
#[inline]
fn head(digits: __m128i) -> __m128i {
    _mm_or_si128(_mm_shuffle_epi8(digits, load(&HEAD)), load(&HEAD_DASHES))
}

/// The last 3 digits of the text, and a dash.
#[target_feature(enable = "avx2")]
#[inline]
fn tail(digits: __m128i) -> [u8; 4] {
    let last = _mm_shuffle_epi8(digits, _mm_set1_epi32(i32::from_le_bytes(LAST)));
    let last = _mm_add_epi8(last, _mm_set1_epi32(i32::from_le_bytes([0, 0, 0, b'-'])));
    _mm_cvtsi128_si32(last).to_le_bytes()
}

impl Offsets {
    #[target_feature(enable = "avx2")]
    #[inline]
    fn add(&self, bytes: __m128i) -> __m128i {
        let class = _mm_min_epu8(_mm_subs_epu8(bytes, _mm_set1_epi8(self.zero)), _mm_set1_epi8(self.last));
        _mm_add_epi8(bytes, _mm_shuffle_epi8(load(&self.by_class), class))
    }
}

/// Puts 16 values of 5 bits together: by twos, by fours, by eights, and as the bytes of a number.
#[target_feature(enable = "avx2")]
#[inline]
fn pack(values: __m128i) -> u128 {
    let pairs = _mm_maddubs_epi16(values, _mm_set1_epi16(DIGIT_WEIGHTS));
    let groups = _mm_madd_epi16(pairs, _mm_set1_epi32(PAIR_WEIGHTS));
    let upper = _mm_mul_epu32(groups, _mm_set1_epi64x(GROUP_WEIGHT));
    let value = _mm_shuffle_epi8(_mm_add_epi64(upper, _mm_srli_epi64::<32>(groups)), load(&VALUE_BYTES));
    let (high, low) = (_mm_extract_epi64::<1>(value), _mm_extract_epi64::<0>(value));
    u128::from(high.cast_unsigned()) << u64::BITS | u128::from(low.cast_unsigned())
}
