//! Lines by AVX-512 with VBMI, three at once: 60 of a register's 64 bytes. The safe twin does one line after another.
//!
//! The first line of a step is one ID's text, so the same tables serve for that.

use core::arch::x86_64::{
    __m128i, __m512i, _mm_cvtsi128_si32, _mm_set_epi64x, _mm_storeu_si128, _mm256_castsi256_si128,
    _mm256_extracti128_si256, _mm256_mask_mov_epi8, _mm256_multishift_epi64_epi8, _mm256_permutexvar_epi8,
    _mm256_set1_epi8, _mm256_zextsi128_si256, _mm512_add_epi64, _mm512_broadcast_i32x4, _mm512_castsi512_si256,
    _mm512_loadu_si512, _mm512_madd_epi16, _mm512_maddubs_epi16, _mm512_mask_cmpneq_epi8_mask, _mm512_mask_mov_epi8,
    _mm512_mask_storeu_epi64, _mm512_movepi8_mask, _mm512_mul_epu32, _mm512_multishift_epi64_epi8, _mm512_or_si512,
    _mm512_permutex2var_epi8, _mm512_permutexvar_epi8, _mm512_set1_epi8, _mm512_set1_epi16, _mm512_set1_epi32,
    _mm512_set1_epi64, _mm512_shuffle_epi8, _mm512_srli_epi64, _mm512_storeu_si512,
};

use super::{DIGIT_WEIGHTS, GROUP_WEIGHT, PAIR_WEIGHTS, VALUE_BYTES, avx2};
use crate::codec::alphabet::{RADIX, STANDARD};
use crate::codec::encode::is_dash;
use crate::codec::lines::LINE_LEN;
use crate::codec::text::{IdText, PADDED_LEN};
use crate::id::MessageId;
use crate::layout::{DIGIT_BITS, DIGITS, GROUP_DIGITS, TEXT_LEN};

/// Bytes of a register.
const WIDTH: usize = 64;
/// Lines in a step.
const STEP: usize = 3;
/// IDs that fill a register.
const IDS: usize = WIDTH / ID_WIDTH;
const ID_WIDTH: usize = size_of::<MessageId>();

/// The dashes of a step's lines, a bit for each byte.
const DASHES: u64 = columns(false);
/// The separators of a step's lines, a bit for each byte.
const SEPARATORS: u64 = columns(true);

/// Where each ID's digits stand in its step's lines. What is left over is a digit, too.
static DIGIT_PLACES: [u8; WIDTH] = {
    let mut places = [0; WIDTH];
    let mut digit = 0;
    while digit < STEP * DIGITS {
        let in_line = digit % DIGITS;
        places[digit] = (digit / DIGITS * LINE_LEN + in_line + in_line / GROUP_DIGITS) as u8;
        digit += 1;
    }
    places
};

/// The digits twice, since a register takes its index from 6 bits.
static TWICE: [u8; WIDTH] = {
    let mut twice = [0; WIDTH];
    let mut at = 0;
    while at < WIDTH {
        twice[at] = STANDARD.digits()[at % RADIX];
        at += 1;
    }
    twice
};

/// The value of each ASCII byte; the top bit is set where it is no digit.
static VALUES: [[u8; WIDTH]; 2] = {
    let mut values = [[0; WIDTH]; 2];
    let mut byte = 0;
    while byte < 2 * WIDTH {
        values[byte / WIDTH][byte % WIDTH] = STANDARD.value(byte as u8);
        byte += 1;
    }
    values
};

static WRITE: Write = Write::new();

/// How the bits of a step's IDs come to the digits' places.
struct Write {
    /// Each 8 bytes of text have a window of 8 bytes with all the bits of their digits.
    windows: [u8; WIDTH],
    /// Where in its window each digit begins, in bits.
    shifts: [u8; WIDTH],
}

impl Write {
    const fn new() -> Self {
        let (mut windows, mut shifts) = ([0; WIDTH], [0; WIDTH]);
        let mut start = 0;
        while start < WIDTH {
            // From the last digit to the first, so that a window holds the bytes of an ID in their order.
            let (mut at, mut used) = (start + 8, start);
            while at > start {
                at -= 1;
                let (line, column) = (at / LINE_LEN, at % LINE_LEN);
                if line == STEP || column == TEXT_LEN || is_dash(column) {
                    continue;
                }
                let bit = DIGIT_BITS as usize * (DIGITS - 1 - (column - column / (GROUP_DIGITS + 1)));
                let (low, high) = (line * ID_WIDTH + bit / 8, line * ID_WIDTH + (bit + DIGIT_BITS as usize - 1) / 8);
                if used == start || windows[used - 1] as usize != low {
                    windows[used] = low as u8;
                    used += 1;
                }
                shifts[at] = ((used - 1 - start) * 8 + bit % 8) as u8;
                if high > low {
                    windows[used] = high as u8;
                    used += 1;
                }
            }
            assert!(used <= start + 8, "the bits of 8 bytes of text fit a window");
            start += 8;
        }
        Self { windows, shifts }
    }
}

const fn columns(separators: bool) -> u64 {
    let (mut mask, mut at) = (0, 0);
    while at < STEP * LINE_LEN {
        let is_separator = at % LINE_LEN == TEXT_LEN;
        if is_separator == separators && (is_separator || is_dash(at % LINE_LEN)) {
            mask |= 1 << at;
        }
        at += 1;
    }
    mask
}

/// Writes one ID's text.
#[target_feature(enable = "avx512vbmi,avx512vl")]
pub(super) fn encode(value: u128, text: &mut [u8; TEXT_LEN]) {
    let (head, [a, b, c, _]) = one(value);
    // PANIC: a text is longer than this.
    let (bytes, end) = text.split_first_chunk_mut().expect("16 bytes");
    store(head, bytes);
    end.copy_from_slice(&[a, b, c]);
}

/// One ID's text on the stack.
#[target_feature(enable = "avx512vbmi,avx512vl")]
pub(super) fn text(value: u128) -> IdText {
    let (head, tail) = one(value);
    let mut text = [0; PADDED_LEN];
    // PANIC: a padded text is longer than this.
    let (bytes, end) = text.split_first_chunk_mut().expect("16 bytes");
    store(head, bytes);
    end.copy_from_slice(&tail);
    IdText(text)
}

/// One ID's text and a dash after it: 16 bytes and 4.
#[target_feature(enable = "avx512vbmi,avx512vl")]
#[inline]
fn one(value: u128) -> (__m128i, [u8; 4]) {
    // A register's lower half holds the first line; the bytes that its windows name are the ID's.
    let id = _mm256_zextsi128_si256(_mm_set_epi64x((value >> u64::BITS) as i64, value as i64));
    let windows = _mm256_permutexvar_epi8(_mm512_castsi512_si256(load(&WRITE.windows)), id);
    let digits = _mm256_multishift_epi64_epi8(_mm512_castsi512_si256(load(&WRITE.shifts)), windows);
    let text = _mm256_permutexvar_epi8(digits, _mm512_castsi512_si256(load(&TWICE)));
    let text = _mm256_mask_mov_epi8(text, (DASHES | SEPARATORS) as u32, _mm256_set1_epi8(b'-'.cast_signed()));
    (_mm256_castsi256_si128(text), _mm_cvtsi128_si32(_mm256_extracti128_si256::<1>(text)).to_le_bytes())
}

/// Writes the first lines, and tells how many. The last three at most are left out.
#[target_feature(enable = "avx512vbmi,avx512vl")]
pub(super) fn encode_lines(ids: &[MessageId], separator: u8, lines: &mut [[u8; LINE_LEN]]) -> usize {
    let gaps = gaps(separator);
    let mut done = 0;
    // One line more than is used, since whole registers are loaded and stored; the next step writes it again.
    while let Some(ids) = ids[done..].first_chunk()
        && let Some(lines) = lines[done..].as_flattened_mut().first_chunk_mut()
    {
        let windows = _mm512_permutexvar_epi8(load(&WRITE.windows), load_ids(ids));
        let digits = _mm512_multishift_epi64_epi8(load(&WRITE.shifts), windows);
        let text = _mm512_permutexvar_epi8(digits, load(&TWICE));
        store_lines(_mm512_mask_mov_epi8(text, DASHES | SEPARATORS, gaps), lines);
        done += STEP;
    }
    done
}

/// Reads the first lines, up to a step with one that is wrong, and tells how many. The last three at most are left out.
#[target_feature(enable = "avx512vbmi,avx512vl")]
pub(super) fn decode_lines(lines: &[[u8; LINE_LEN]], separator: u8, ids: &mut [MessageId]) -> usize {
    let gaps = gaps(separator);
    let mut done = 0;
    while let Some(bytes) = lines[done..].as_flattened().first_chunk()
        && let Some(ids) = ids[done..].first_chunk_mut()
    {
        let bytes = load(bytes);
        let digits = _mm512_permutexvar_epi8(load(&DIGIT_PLACES), bytes);
        let values = _mm512_permutex2var_epi8(load(&VALUES[0]), digits, load(&VALUES[1]));
        // Values of bytes that are no digits have the top bit set, and so have bytes past ASCII, which alias others.
        let wrong = _mm512_movepi8_mask(_mm512_or_si512(values, bytes));
        if wrong | _mm512_mask_cmpneq_epi8_mask(DASHES | SEPARATORS, bytes, gaps) != 0 {
            break;
        }
        store_ids(pack(values), ids);
        done += STEP;
    }
    done
}

/// What stands between the digits of a step's lines.
#[target_feature(enable = "avx512vbmi,avx512vl")]
#[inline]
fn gaps(separator: u8) -> __m512i {
    let (dash, separator) = (_mm512_set1_epi8(b'-'.cast_signed()), _mm512_set1_epi8(separator.cast_signed()));
    _mm512_mask_mov_epi8(dash, SEPARATORS, separator)
}

/// Puts 16 values of 5 bits together: by twos, by fours, by eights, and as the bytes of a number.
#[target_feature(enable = "avx512vbmi,avx512vl")]
#[inline]
fn pack(values: __m512i) -> __m512i {
    let pairs = _mm512_maddubs_epi16(values, _mm512_set1_epi16(DIGIT_WEIGHTS));
    let groups = _mm512_madd_epi16(pairs, _mm512_set1_epi32(PAIR_WEIGHTS));
    let upper = _mm512_mul_epu32(groups, _mm512_set1_epi64(GROUP_WEIGHT));
    _mm512_shuffle_epi8(
        _mm512_add_epi64(upper, _mm512_srli_epi64::<32>(groups)),
        _mm512_broadcast_i32x4(avx2::load(&VALUE_BYTES)),
    )
}

#[target_feature(enable = "avx512vbmi,avx512vl")]
#[inline]
fn load(bytes: &[u8; WIDTH]) -> __m512i {
    // SAFETY: the 64 bytes are there, and need not be aligned.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

#[target_feature(enable = "avx512vbmi,avx512vl")]
#[inline]
fn load_ids(ids: &[MessageId; IDS]) -> __m512i {
    // SAFETY: an ID is its `u128`, so four are 64 bytes.
    unsafe { _mm512_loadu_si512(ids.as_ptr().cast()) }
}

#[target_feature(enable = "avx512vbmi,avx512vl")]
#[inline]
fn store_lines(lines: __m512i, bytes: &mut [u8; WIDTH]) {
    // SAFETY: the 64 bytes are there, and need not be aligned.
    unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), lines) }
}

#[target_feature(enable = "avx512vbmi,avx512vl")]
#[inline]
fn store_ids(values: __m512i, ids: &mut [MessageId; STEP]) {
    const ALL: u8 = (1 << (2 * STEP)) - 1;
    // SAFETY: an ID is its `u128`, so three are the 6 words that are stored; `pack` has left 0 in all but the low 80
    // bits of each.
    unsafe { _mm512_mask_storeu_epi64(ids.as_mut_ptr().cast(), ALL, values) }
}

#[target_feature(enable = "avx512vbmi,avx512vl")]
#[inline]
fn store(bytes: __m128i, text: &mut [u8; ID_WIDTH]) {
    // SAFETY: the 16 bytes are there, and need not be aligned.
    unsafe { _mm_storeu_si128(text.as_mut_ptr().cast(), bytes) }
}
