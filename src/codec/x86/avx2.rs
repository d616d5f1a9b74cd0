//! Lines by AVX2, two at once, each in 128 bits of its own. The safe twin does one line after another.

use core::arch::x86_64::{
    __m128i, __m256i, _mm_cvtsi128_si32, _mm_loadu_si128, _mm_storeu_si128, _mm256_add_epi64, _mm256_adds_epu8,
    _mm256_and_si256, _mm256_blend_epi32, _mm256_blendv_epi8, _mm256_broadcastsi128_si256, _mm256_castsi256_si128,
    _mm256_cmpeq_epi8, _mm256_extracti128_si256, _mm256_loadu_si256, _mm256_madd_epi16, _mm256_maddubs_epi16,
    _mm256_movemask_epi8, _mm256_mul_epu32, _mm256_mullo_epi16, _mm256_or_si256, _mm256_set_m128i, _mm256_set1_epi8,
    _mm256_set1_epi16, _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_shuffle_epi8, _mm256_slli_epi16,
    _mm256_srli_epi16, _mm256_srli_epi64, _mm256_srli_si256, _mm256_storeu_si256, _mm256_sub_epi8, _mm256_xor_si256,
};

use super::{DIGIT_WEIGHTS, GROUP_WEIGHT, PAIR_WEIGHTS, VALUE_BYTES};
use crate::codec::alphabet::{NO_DIGIT, STANDARD};
use crate::codec::lines::LINE_LEN;
use crate::id::MessageId;

/// Lines in a step.
const STEP: usize = 2;
/// Bytes of a line's half of a register.
const HALF: usize = 16;

/// Writes the first lines, and tells how many.
#[target_feature(enable = "avx2")]
pub(super) fn encode_lines(ids: &[MessageId], separator: u8, lines: &mut [[u8; LINE_LEN]]) -> usize {
    let (ids, lines) = (ids.as_chunks().0, lines.as_chunks_mut().0);
    for (ids, [first, second]) in ids.iter().zip(&mut *lines) {
        let digits = digits(load_ids(ids));
        let (head, tail) = (head(digits), tail(digits, separator));
        store_line(_mm256_castsi256_si128(head), _mm256_castsi256_si128(tail), first);
        store_line(_mm256_extracti128_si256::<1>(head), _mm256_extracti128_si256::<1>(tail), second);
    }
    STEP * ids.len().min(lines.len())
}

/// Reads the first lines, up to one that is wrong, and tells how many.
#[target_feature(enable = "avx2")]
pub(super) fn decode_lines(lines: &[[u8; LINE_LEN]], separator: u8, ids: &mut [MessageId]) -> usize {
    let mut steps = 0;
    for ([first, second], ids) in lines.as_chunks().0.iter().zip(ids.as_chunks_mut().0) {
        let heads = _mm256_set_m128i(load_head(second), load_head(first));
        let tails = _mm256_set_m128i(load_tail(second), load_tail(first));
        let values = values(gather(heads, tails));
        if _mm256_movemask_epi8(values) != 0 || !has_gaps(tails, separator) {
            break;
        }
        store_ids(pack(values), ids);
        steps += 1;
    }
    STEP * steps
}

/// The 16 digits of each ID.
#[target_feature(enable = "avx2")]
#[inline]
fn digits(ids: __m256i) -> __m256i {
    // Each two digits from the two bytes that hold them, shifted to the top of 16 bits.
    let pairs = _mm256_shuffle_epi8(ids, both(&[8, 9, 7, 8, 6, 7, 5, 6, 3, 4, 2, 3, 1, 2, 0, 1]));
    let pairs = _mm256_mullo_epi16(pairs, _mm256_set1_epi64x(0x0040_0010_0004_0001));
    // The first digit comes down to the low byte, the second to the low end of the high byte.
    let first = _mm256_srli_epi16::<11>(pairs);
    let second = _mm256_and_si256(_mm256_slli_epi16::<2>(pairs), _mm256_set1_epi16(0x1F00));
    let values = _mm256_or_si256(first, second);
    let (low, high) = STANDARD.digits().split_at(HALF);
    // PANIC: half of 32 digits.
    let low = _mm256_shuffle_epi8(both(low.first_chunk().expect("16 digits")), values);
    let high = _mm256_shuffle_epi8(both(high.first_chunk().expect("16 digits")), values);
    // What is 16 or more has bit 4 set, and the choice is by bit 7.
    _mm256_blendv_epi8(low, high, _mm256_slli_epi16::<3>(values))
}

/// The first 16 bytes of each line.
#[target_feature(enable = "avx2")]
#[inline]
fn head(digits: __m256i) -> __m256i {
    const GAP: u8 = 0x80;
    let spread = both(&[0, 1, 2, 3, GAP, 4, 5, 6, 7, GAP, 8, 9, 10, 11, GAP, 12]);
    let dashes = both(&[0, 0, 0, 0, b'-', 0, 0, 0, 0, b'-', 0, 0, 0, 0, b'-', 0]);
    _mm256_or_si256(_mm256_shuffle_epi8(digits, spread), dashes)
}

/// The last 4 bytes of each line: three digits and the separator.
#[target_feature(enable = "avx2")]
#[inline]
fn tail(digits: __m256i, separator: u8) -> __m256i {
    _mm256_or_si256(_mm256_srli_si256::<13>(digits), _mm256_set1_epi32(i32::from_le_bytes([0, 0, 0, separator])))
}

/// The 16 digits of each line: 4 of its first 16 bytes, 12 of its last 16.
#[target_feature(enable = "avx2")]
#[inline]
fn gather(heads: __m256i, tails: __m256i) -> __m256i {
    let tails = _mm256_shuffle_epi8(tails, both(&[0, 0, 0, 0, 1, 2, 3, 4, 6, 7, 8, 9, 11, 12, 13, 14]));
    _mm256_blend_epi32::<0b0001_0001>(tails, heads)
}

/// Whether dashes and separator stand in the last 16 bytes of each line.
#[target_feature(enable = "avx2")]
#[inline]
fn has_gaps(tails: __m256i, separator: u8) -> bool {
    const GAPS: u32 = 0b1000_0100_0010_0001_1000_0100_0010_0001;
    let gaps = both(&[b'-', 0, 0, 0, 0, b'-', 0, 0, 0, 0, b'-', 0, 0, 0, 0, separator]);
    _mm256_movemask_epi8(_mm256_cmpeq_epi8(tails, gaps)).cast_unsigned() & GAPS == GAPS
}

/// The value of each digit; a byte with the top bit set where there is no digit.
#[target_feature(enable = "avx2")]
#[inline]
fn values(digits: __m256i) -> __m256i {
    // Each table holds 16 bytes' values plus one, so that 0 from all three says that there is no digit.
    const fn row(first: u8) -> [u8; HALF] {
        let (mut row, mut at) = ([0; HALF], 0);
        while at < HALF {
            let value = STANDARD.value(first + at as u8);
            row[at] = if value == NO_DIGIT { 0 } else { value + 1 };
            at += 1;
        }
        row
    }
    // A byte of another row gets its top bit set, for which a shuffle gives 0.
    let look_up = |first: u8, row: &[u8; HALF]| {
        let index = _mm256_xor_si256(digits, _mm256_set1_epi8(first.cast_signed()));
        _mm256_shuffle_epi8(both(row), _mm256_adds_epu8(index, _mm256_set1_epi8(112)))
    };
    let digit = look_up(0x30, &const { row(0x30) });
    let letter = _mm256_or_si256(look_up(0x40, &const { row(0x40) }), look_up(0x50, &const { row(0x50) }));
    _mm256_sub_epi8(_mm256_or_si256(digit, letter), _mm256_set1_epi8(1))
}

/// Puts 16 values of 5 bits together: by twos, by fours, by eights, and as the bytes of a number.
#[target_feature(enable = "avx2")]
#[inline]
fn pack(values: __m256i) -> __m256i {
    let pairs = _mm256_maddubs_epi16(values, _mm256_set1_epi16(DIGIT_WEIGHTS));
    let groups = _mm256_madd_epi16(pairs, _mm256_set1_epi32(PAIR_WEIGHTS));
    let upper = _mm256_mul_epu32(groups, _mm256_set1_epi64x(GROUP_WEIGHT));
    _mm256_shuffle_epi8(_mm256_add_epi64(upper, _mm256_srli_epi64::<32>(groups)), both(&VALUE_BYTES))
}

/// The same bytes in both halves.
#[target_feature(enable = "avx2")]
#[inline]
fn both(bytes: &[u8; HALF]) -> __m256i {
    _mm256_broadcastsi128_si256(load(bytes))
}

#[target_feature(enable = "avx2")]
#[inline]
fn load_head(line: &[u8; LINE_LEN]) -> __m128i {
    // PANIC: a line is longer than this.
    load(line.first_chunk().expect("16 bytes"))
}

#[target_feature(enable = "avx2")]
#[inline]
fn load_tail(line: &[u8; LINE_LEN]) -> __m128i {
    // PANIC: a line is longer than this.
    load(line.last_chunk().expect("16 bytes"))
}

#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn load(bytes: &[u8; HALF]) -> __m128i {
    // SAFETY: the 16 bytes are there, and need not be aligned.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

#[target_feature(enable = "avx2")]
#[inline]
fn store_line(head: __m128i, tail: __m128i, line: &mut [u8; LINE_LEN]) {
    // PANIC: a line is 16 bytes and 4.
    let (bytes, end) = line.split_first_chunk_mut::<HALF>().expect("16 bytes");
    // SAFETY: the 16 bytes are there, and need not be aligned.
    unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), head) }
    end.copy_from_slice(&_mm_cvtsi128_si32(tail).to_le_bytes());
}

#[target_feature(enable = "avx2")]
#[inline]
fn load_ids(ids: &[MessageId; STEP]) -> __m256i {
    // SAFETY: an ID is its `u128`, so two are 32 bytes.
    unsafe { _mm256_loadu_si256(ids.as_ptr().cast()) }
}

#[target_feature(enable = "avx2")]
#[inline]
fn store_ids(values: __m256i, ids: &mut [MessageId; STEP]) {
    // SAFETY: an ID is its `u128`, so two are 32 bytes; `pack` has left 0 in all but the low 80 bits of each.
    unsafe { _mm256_storeu_si256(ids.as_mut_ptr().cast(), values) }
}
