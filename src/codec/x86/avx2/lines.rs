//! Two lines at once by AVX2.

use core::arch::x86_64::{
    __m128i, __m256i, _mm_cvtsi128_si32, _mm256_add_epi8, _mm256_add_epi64, _mm256_and_si256, _mm256_blend_epi32,
    _mm256_broadcastsi128_si256, _mm256_castsi256_si128, _mm256_extracti128_si256, _mm256_loadu_si256,
    _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_min_epu8, _mm256_mul_epu32, _mm256_or_si256, _mm256_set_m128i,
    _mm256_set1_epi8, _mm256_set1_epi16, _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_setr_epi32, _mm256_shuffle_epi8,
    _mm256_slli_epi16, _mm256_sllv_epi32, _mm256_srli_epi16, _mm256_srli_epi64, _mm256_storeu_si256, _mm256_subs_epu8,
    _mm256_testz_si256, _mm256_xor_si256,
};

use super::super::{DIGIT_WEIGHTS, GROUP_WEIGHT, PAIR_WEIGHTS, VALUE_BYTES};
use super::{
    HEAD, HEAD_DASHES, LAST, LAST_DIGIT, Offsets, PAIRS, SECOND, TAIL, TAIL_DASHES, TAIL_GAPS, TO_DIGIT, TO_TOP,
    TO_VALUE, WIDTH, load, load_head, load_tail, store,
};
use crate::codec::lines::LINE_LEN;
use crate::id::MessageId;

/// Lines in a step.
const STEP: usize = 2;

/// Writes the first lines, and tells how many.
#[target_feature(enable = "avx2")]
pub(in super::super) fn encode_lines(ids: &[MessageId], separator: u8, lines: &mut [[u8; LINE_LEN]]) -> usize {
    let (ids, lines) = (ids.as_chunks().0, lines.as_chunks_mut().0);
    for (ids, [first, second]) in ids.iter().zip(&mut *lines) {
        let digits = digits(load_ids(ids));
        let (head, tail) = (head(digits), tail(digits, separator));
        store_line(_mm256_castsi256_si128(head), _mm256_castsi256_si128(tail), first);
        store_line(_mm256_extracti128_si256::<1>(head), _mm256_extracti128_si256::<1>(tail), second);
    }
    STEP * ids.len().min(lines.len())
}

/// Reads the first lines, up to a step with one that is wrong, and tells how many.
#[target_feature(enable = "avx2")]
pub(in super::super) fn decode_lines(lines: &[[u8; LINE_LEN]], separator: u8, ids: &mut [MessageId]) -> usize {
    let mut steps = 0;
    for ([first, second], ids) in lines.as_chunks().0.iter().zip(ids.as_chunks_mut().0) {
        let ([first @ .., first_end], [second @ .., second_end]) = (first, second);
        let heads = _mm256_set_m128i(load_head(second), load_head(first));
        let tails = _mm256_set_m128i(load_tail(second), load_tail(first));
        let digits = _mm256_blend_epi32::<0b0001_0001>(_mm256_shuffle_epi8(tails, both(&TAIL)), heads);
        let values = TO_VALUE.add_in_both(digits);
        let again = _mm256_min_epu8(TO_DIGIT.add_in_both(values), _mm256_set1_epi8(LAST_DIGIT));
        let no_dashes = _mm256_and_si256(_mm256_xor_si256(tails, both(&TAIL_DASHES)), both(&TAIL_GAPS));
        let wrong = _mm256_or_si256(_mm256_xor_si256(again, digits), no_dashes);
        if _mm256_testz_si256(wrong, wrong) == 0 || *first_end != separator || *second_end != separator {
            break;
        }
        store_ids(pack(values), ids);
        steps += 1;
    }
    STEP * steps
}

/// The 16 digits of each ID, in the order of [`PAIRS`].
#[target_feature(enable = "avx2")]
#[inline]
fn digits(ids: __m256i) -> __m256i {
    let [a, b, c, d] = TO_TOP;
    let to_top = _mm256_setr_epi32(a, b, c, d, a, b, c, d);
    let pairs = _mm256_sllv_epi32(_mm256_shuffle_epi8(ids, both(&PAIRS)), to_top);
    // The first digit comes down to the low byte, the second to the low end of the high byte.
    let first = _mm256_srli_epi16::<11>(pairs);
    let second = _mm256_and_si256(_mm256_slli_epi16::<2>(pairs), _mm256_set1_epi16(SECOND));
    TO_DIGIT.add_in_both(_mm256_or_si256(first, second))
}

/// The first 16 bytes of each line.
#[target_feature(enable = "avx2")]
#[inline]
fn head(digits: __m256i) -> __m256i {
    _mm256_or_si256(_mm256_shuffle_epi8(digits, both(&HEAD)), both(&HEAD_DASHES))
}

/// The last 3 digits of each line, and the separator.
#[target_feature(enable = "avx2")]
#[inline]
fn tail(digits: __m256i, separator: u8) -> __m256i {
    let last = _mm256_shuffle_epi8(digits, _mm256_set1_epi32(i32::from_le_bytes(LAST)));
    _mm256_or_si256(last, _mm256_set1_epi32(i32::from_le_bytes([0, 0, 0, separator])))
}

impl Offsets {
    #[target_feature(enable = "avx2")]
    #[inline]
    fn add_in_both(&self, bytes: __m256i) -> __m256i {
        let class = _mm256_subs_epu8(bytes, _mm256_set1_epi8(self.zero));
        let class = _mm256_min_epu8(class, _mm256_set1_epi8(self.last));
        _mm256_add_epi8(bytes, _mm256_shuffle_epi8(both(&self.by_class), class))
    }
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
fn both(bytes: &[u8; WIDTH]) -> __m256i {
    _mm256_broadcastsi128_si256(load(bytes))
}

#[target_feature(enable = "avx2")]
#[inline]
fn store_line(head: __m128i, tail: __m128i, line: &mut [u8; LINE_LEN]) {
    // PANIC: a line is 16 bytes and 4.
    let (bytes, end) = line.split_first_chunk_mut().expect("16 bytes");
    store(head, bytes);
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
