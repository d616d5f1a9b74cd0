//! One text read by SSE2, all 16 digits at once. The safe twin is [`decode::standard`](crate::codec::decode::standard).

use core::arch::x86_64::{
    __m128i, _mm_add_epi8, _mm_add_epi64, _mm_and_si128, _mm_andnot_si128, _mm_castps_si128, _mm_castsi128_ps,
    _mm_cmpeq_epi8, _mm_cmpgt_epi8, _mm_cvtsi128_si64, _mm_loadu_si128, _mm_madd_epi16, _mm_move_ss,
    _mm_movemask_epi8, _mm_mul_epu32, _mm_or_si128, _mm_set1_epi8, _mm_set1_epi16, _mm_set1_epi32, _mm_set1_epi64x,
    _mm_setr_epi8, _mm_shuffle_ps, _mm_slli_epi16, _mm_slli_si128, _mm_srli_epi16, _mm_srli_epi64, _mm_srli_si128,
    _mm_unpackhi_epi64,
};

use super::{GROUP_WEIGHT, PAIR_WEIGHTS};
use crate::codec::decode::NO_TEXT;
use crate::codec::encode::HALF_BITS;
use crate::layout::{DIGIT_BITS, TEXT_LEN};

/// The value of a text, or [`NO_TEXT`].
#[target_feature(enable = "sse2")]
#[inline]
pub(super) fn decode(text: &[u8; TEXT_LEN]) -> u128 {
    // PANIC: a text is longer than this.
    let head = load(text.first_chunk().expect("16 bytes"));
    let tail = load(text.last_chunk().expect("16 bytes"));
    let (values, wrong) = values(digits(head, tail));
    if _mm_movemask_epi8(_mm_or_si128(wrong, no_dashes(head))) != 0 {
        return NO_TEXT;
    }
    pack(values)
}

/// The 16 digits of the first 16 and the last 16 bytes of a text.
#[target_feature(enable = "sse2")]
#[inline]
fn digits(head: __m128i, tail: __m128i) -> __m128i {
    // The first group stands where it is wanted, the second a byte after that; the third stands a byte before, and the
    // fourth where it is wanted.
    let first = _mm_castsi128_ps(head);
    let second = _mm_castsi128_ps(_mm_srli_si128::<1>(head));
    let third = _mm_castsi128_ps(_mm_slli_si128::<1>(tail));
    let fourth = _mm_castsi128_ps(tail);
    let upper = _mm_shuffle_ps::<0b11_11_10_10>(third, fourth);
    _mm_castps_si128(_mm_shuffle_ps::<0b10_00_01_00>(_mm_move_ss(second, first), upper))
}

/// All bits set where a dash is missing in the first 16 bytes of a text.
#[target_feature(enable = "sse2")]
#[inline]
fn no_dashes(head: __m128i) -> __m128i {
    const D: i8 = b'-'.cast_signed();
    let dashes = _mm_setr_epi8(0, 0, 0, 0, D, 0, 0, 0, 0, D, 0, 0, 0, 0, D, 0);
    let places = _mm_setr_epi8(0, 0, 0, 0, -1, 0, 0, 0, 0, -1, 0, 0, 0, 0, -1, 0);
    _mm_andnot_si128(_mm_cmpeq_epi8(head, dashes), places)
}

#[target_feature(enable = "sse2")]
#[inline]
fn load(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: the 16 bytes are there, and need not be aligned.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

/// The value of each digit; and bytes with the top bit set where there is no digit.
#[target_feature(enable = "sse2")]
#[inline]
fn values(bytes: __m128i) -> (__m128i, __m128i) {
    let all = |byte: i8| _mm_set1_epi8(byte);
    let letter = _mm_cmpgt_epi8(bytes, all(b'A'.cast_signed() - 1));
    // 0 to 7 for the digits, 8 to 33 for the letters, in ASCII's order; 16 is I and 22 is O.
    let rank = _mm_add_epi8(bytes, all(-b'2'.cast_signed()));
    let rank = _mm_add_epi8(rank, _mm_and_si128(letter, all(b'9'.cast_signed() + 1 - b'A'.cast_signed())));
    let (i, o) = (all(16), all(22));
    let value = _mm_add_epi8(_mm_add_epi8(rank, _mm_cmpgt_epi8(rank, i)), _mm_cmpgt_epi8(rank, o));

    let between = _mm_andnot_si128(letter, _mm_cmpgt_epi8(rank, all(7)));
    let forbidden = _mm_or_si128(_mm_cmpeq_epi8(rank, i), _mm_cmpeq_epi8(rank, o));
    // The top bit is set in what is below 0, and by the addition in what is above 31.
    let outside = _mm_or_si128(value, _mm_add_epi8(value, all(127 - 31)));
    (value, _mm_or_si128(_mm_or_si128(between, forbidden), outside))
}

/// Puts 16 values of 5 bits together: by twos, by fours, by eights.
#[target_feature(enable = "sse2")]
#[inline]
fn pack(values: __m128i) -> u128 {
    let pairs = _mm_or_si128(_mm_slli_epi16::<{ DIGIT_BITS.cast_signed() }>(values), _mm_srli_epi16::<8>(values));
    let pairs = _mm_and_si128(pairs, _mm_set1_epi16((1 << (2 * DIGIT_BITS)) - 1));
    let groups = _mm_madd_epi16(pairs, _mm_set1_epi32(PAIR_WEIGHTS));
    let upper = _mm_mul_epu32(groups, _mm_set1_epi64x(GROUP_WEIGHT));
    let halves = _mm_add_epi64(upper, _mm_srli_epi64::<32>(groups));
    let high = _mm_cvtsi128_si64(halves).cast_unsigned();
    let low = _mm_cvtsi128_si64(_mm_unpackhi_epi64(halves, halves)).cast_unsigned();
    u128::from(high) << HALF_BITS | u128::from(low)
}
