//! Reads and writes texts with AVX2: one text in a 128-bit register, or two lines in the two lanes of a 256-bit
//! register.
//!
//! Both widths use the same steps, which `steps!` defines. Tests compare them with the safe code in
//! [`encode::padded`](super::encode::padded) and [`decode::standard`](super::decode::standard).
//!
//! SSE2, which every x86-64 processor has, was measured too. It is hardly faster than the safe code, because it cannot
//! shuffle bytes. Processors with SSSE3 but without AVX2 are old or small. AVX-512's VBMI would be faster, but most machines lack it, so
//! ordinary CI could not test it.
#![allow(unsafe_code, reason = "the instructions need a check of the processor, and load and store through pointers")]

use core::arch::x86_64::{
    __m128i, _mm_cvtsi64_si128, _mm_cvtsi128_si32, _mm_extract_epi64, _mm_insert_epi16, _mm_loadu_si128,
    _mm_srli_epi32, _mm_storeu_si128, _mm256_castsi256_si128, _mm256_extracti128_si256, _mm256_loadu_si256,
    _mm256_set_m128i, _mm256_srli_epi32, _mm256_storeu_si256,
};

use super::alphabet::{RADIX, STANDARD};
use super::decode::NO_TEXT;
use super::encode::PADDED_LEN;
#[cfg(any(test, imid_levels))]
use super::levels::avx2_is_allowed;
use super::lines::LINE_LEN;
use crate::id::MessageId;
use crate::layout::{DIGIT_BITS, DIGITS, GROUP_DIGITS, TEXT_LEN};

/// Proof that the processor has AVX2.
#[derive(Clone, Copy)]
pub(super) struct Avx2(());

#[expect(clippy::unused_self, reason = "`self` is the proof")]
impl Avx2 {
    /// Returns the proof if the processor has AVX2. Without `std`, the compilation target decides.
    #[inline]
    pub(super) fn detect() -> Option<Self> {
        #[cfg(any(test, imid_levels))]
        if !avx2_is_allowed() {
            return None;
        }
        if has_avx2() { Some(Self(())) } else { None }
    }

    /// Writes the text of an ID.
    #[inline]
    pub(super) fn encode(self, value: u128, text: &mut [u8; TEXT_LEN]) {
        // SAFETY: `self` proves that the processor has AVX2.
        unsafe { encode(value, text) }
    }

    /// Returns the text of an ID and a 0 after it.
    #[inline]
    pub(super) fn padded(self, value: u128) -> [u8; PADDED_LEN] {
        // SAFETY: `self` proves that the processor has AVX2.
        unsafe { padded(value) }
    }

    /// Returns the value of a text, or [`NO_TEXT`].
    #[inline]
    pub(super) fn decode(self, text: &[u8; TEXT_LEN]) -> u128 {
        // SAFETY: `self` proves that the processor has AVX2.
        unsafe { decode(text) }
    }

    /// Writes lines in steps of two. Returns how many: all lines that both slices have room for, or all except the
    /// last.
    pub(super) fn encode_lines(self, ids: &[MessageId], separator: u8, lines: &mut [[u8; LINE_LEN]]) -> usize {
        // SAFETY: `self` proves that the processor has AVX2.
        unsafe { encode_lines(ids, separator, lines) }
    }

    /// Reads lines in steps of two, up to the first step that has a wrong line. Returns how many it read.
    pub(super) fn decode_lines(self, lines: &[[u8; LINE_LEN]], separator: u8, ids: &mut [MessageId]) -> usize {
        // SAFETY: `self` proves that the processor has AVX2.
        unsafe { decode_lines(lines, separator, ids) }
    }
}

/// Returns whether the processor has AVX2.
///
/// std caches the answer too, but in a word of all features: five instructions for each call instead of two.
#[cfg(any(test, feature = "std"))]
#[inline]
fn has_avx2() -> bool {
    use crate::sync::{Ordering, ProcessWord};

    /// 1 once the processor is known to have AVX2.
    static IS_KNOWN: ProcessWord = ProcessWord::new(0);

    #[cold]
    fn ask() -> bool {
        let has_avx2 = std::arch::is_x86_feature_detected!("avx2");
        IS_KNOWN.store(has_avx2.into(), Ordering::Relaxed);
        has_avx2
    }
    // ORDERING: all threads find the same answer, and it guards no other memory.
    cfg!(target_feature = "avx2") || IS_KNOWN.load(Ordering::Relaxed) == 1 || ask()
}

/// Without `std`, the compilation target decides.
#[cfg(not(any(test, feature = "std")))]
fn has_avx2() -> bool {
    cfg!(target_feature = "avx2")
}

/// Bytes of a lane.
const WIDTH: usize = 16;
/// Lines in a step.
const STEP: usize = 2;
/// An index that makes a shuffle write 0.
const ZERO: u8 = 0x80;

// NOTE: the tables below are written for these widths.
const _: () = assert!(DIGIT_BITS == 5 && DIGITS == 16 && GROUP_DIGITS == 4);

/// The two bytes of an ID that hold each pair of digits. The last two pairs come first, so that the last group of a text
/// is at the low end, from where it can be stored without a shuffle.
const PAIRS: [u8; WIDTH] = [1, 2, 0, 1, 8, 9, 7, 8, 6, 7, 5, 6, 3, 4, 2, 3];
/// The factor that moves each pair to the top of its 16 bits. AVX2 cannot shift units of 16 bits by different counts.
const TO_TOP: [u8; WIDTH] = [1 << 4, 0, 1 << 6, 0, 1, 0, 1 << 2, 0, 1 << 4, 0, 1 << 6, 0, 1, 0, 1 << 2, 0];
/// How far to shift a pair down, so that its first digit is at the low end of the high byte. Its second digit is then at
/// the top of the low byte.
const SPLIT_SHIFT: i32 = (u8::BITS - DIGIT_BITS).cast_signed();
/// The bits of the two digits then.
const SPLIT: [u8; WIDTH] = repeat([(RADIX as u8 - 1) << SPLIT_SHIFT, RADIX as u8 - 1]);
/// Weights that exchange the two digits and move the second one to the low end of its byte.
const EXCHANGE: [u8; WIDTH] = repeat([1 << (u8::BITS - SPLIT_SHIFT.cast_unsigned()), 1]);

/// The first 16 bytes of a text, from digits in the order of [`PAIRS`].
const HEAD: [u8; WIDTH] = [4, 5, 6, 7, ZERO, 8, 9, 10, 11, ZERO, 12, 13, 14, 15, ZERO, 0];
/// The dashes in the first 16 bytes.
const HEAD_DASHES: [u8; WIDTH] = [0, 0, 0, 0, b'-', 0, 0, 0, 0, b'-', 0, 0, 0, 0, b'-', 0];
/// How far to shift the last 4 bytes of a text down, of which the first is the last one of [`HEAD`]. An unused byte of 0
/// follows the others.
const END_SHIFT: i32 = u8::BITS.cast_signed();

/// The last 12 digits of a text, from its last 16 bytes.
const TAIL: [u8; WIDTH] = [ZERO, ZERO, ZERO, ZERO, 2, 3, 4, 5, 7, 8, 9, 10, 12, 13, 14, 15];
/// The dashes in the last 16 bytes.
const TAIL_DASHES: [u8; WIDTH] = [0, b'-', 0, 0, 0, 0, b'-', 0, 0, 0, 0, b'-', 0, 0, 0, 0];
/// A mask of these dashes.
const TAIL_GAPS: [u8; WIDTH] = [0, 0xFF, 0, 0, 0, 0, 0xFF, 0, 0, 0, 0, 0xFF, 0, 0, 0, 0];

/// The last digit. [`TO_VALUE`] maps a greater byte to a value above 31, and [`TO_DIGIT`] would map this value back to
/// the byte. The least of the result and this digit differs from the byte.
const LAST_DIGIT: [u8; WIDTH] = repeat([STANDARD.digits()[RADIX - 1]]);
/// Maps a value to its digit. The digits are four runs of ASCII, which begin at 2, A, J and P.
const TO_DIGIT: Offsets = Offsets::new(7, 14, false);
/// Maps a digit to its value. It also maps every other byte to a value, but the digit of that value is a different
/// byte.
const TO_VALUE: Offsets = Offsets::new(b'A' - 1, 15, true);

/// Weights of the two digits in a pair.
const DIGIT_WEIGHTS: [u8; WIDTH] = repeat([RADIX as u8, 1]);
/// Weights of the two pairs in a group.
const PAIR_WEIGHTS: [u8; WIDTH] = {
    let [low, high] = ((RADIX * RADIX) as u16).to_le_bytes();
    repeat([low, high, 1, 0])
};
/// How far to shift the first group of a half up.
const GROUP_SHIFT: i32 = (DIGIT_BITS * GROUP_DIGITS as u32).cast_signed();
/// How far to shift the second group of a half down.
const HALF_SHIFT: i32 = u32::BITS.cast_signed();
/// The bytes of an ID, from two halves of 5 bytes with the high half first.
const VALUE_BYTES: [u8; WIDTH] = [8, 9, 10, 11, 12, 0, 1, 2, 3, 4, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO];

/// Fills a lane with copies of a few bytes.
const fn repeat<const N: usize>(bytes: [u8; N]) -> [u8; WIDTH] {
    let (mut lane, mut at) = ([0; WIDTH], 0);
    while at < WIDTH {
        lane[at] = bytes[at % N];
        at += 1;
    }
    lane
}

/// Maps bytes by adding an offset. The offset depends on the class of the byte. There are at most 16 classes, because a
/// shuffle looks up one of 16 bytes.
struct Offsets {
    /// The greatest byte of class 0. The next byte has class 1, and so on up to the last class.
    zero: [u8; WIDTH],
    /// The last class. It has all greater bytes.
    last: [u8; WIDTH],
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
        Self { zero: repeat([zero]), last: repeat([last]), by_class }
    }
}

/// Defines the steps for registers of one or two lanes. The intrinsics differ only in their names.
macro_rules! steps {
    ($($intrinsic:ident as $name:ident),*) => {
        pub(super) use core::arch::x86_64::{$($intrinsic as $name),*};

        use super::*;

        /// Returns the text of the ID in each lane: the first 16 bytes, and the last 4 at the low end.
        #[target_feature(enable = "avx2")]
        #[inline]
        pub(super) fn encode(ids: Lanes) -> (Lanes, Lanes) {
            let pairs = mullo_epi16(shuffle_epi8(ids, table(&PAIRS)), table(&TO_TOP));
            let split = and(srli_epi16::<SPLIT_SHIFT>(pairs), table(&SPLIT));
            let digits = map(maddubs_epi16(split, table(&EXCHANGE)), &TO_DIGIT);
            (or(shuffle_epi8(digits, table(&HEAD)), table(&HEAD_DASHES)), digits)
        }

        /// Returns the ID of the text in each lane, from its first and its last 16 bytes. `None` if a lane has no text.
        #[target_feature(enable = "avx2")]
        #[inline]
        pub(super) fn decode(head: Lanes, tail: Lanes) -> Option<Lanes> {
            let digits = blend_epi32::<FIRST_GROUP>(shuffle_epi8(tail, table(&TAIL)), head);
            let values = map(digits, &TO_VALUE);
            let again = min_epu8(map(values, &TO_DIGIT), table(&LAST_DIGIT));
            let no_dashes = and(xor(tail, table(&TAIL_DASHES)), table(&TAIL_GAPS));
            let wrong = or(xor(again, digits), no_dashes);
            if testz(wrong, wrong) == 0 { None } else { Some(pack(values)) }
        }

        /// Packs 16 values of 5 bits: first in pairs, then in groups of four, then in halves, then as the bytes of a
        /// number.
        #[target_feature(enable = "avx2")]
        #[inline]
        fn pack(values: Lanes) -> Lanes {
            let pairs = maddubs_epi16(values, table(&DIGIT_WEIGHTS));
            let groups = madd_epi16(pairs, table(&PAIR_WEIGHTS));
            // The first shift leaves bits above a half of 40 bits. `VALUE_BYTES` does not take them.
            let halves = or(slli_epi64::<GROUP_SHIFT>(groups), srli_epi64::<HALF_SHIFT>(groups));
            shuffle_epi8(halves, table(&VALUE_BYTES))
        }

        #[target_feature(enable = "avx2")]
        #[inline]
        fn map(bytes: Lanes, offsets: &Offsets) -> Lanes {
            let class = min_epu8(subs_epu8(bytes, table(&offsets.zero)), table(&offsets.last));
            add_epi8(bytes, shuffle_epi8(table(&offsets.by_class), class))
        }
    };
}

/// The steps for one text.
mod one {
    steps! {
        __m128i as Lanes, _mm_add_epi8 as add_epi8, _mm_and_si128 as and, _mm_blend_epi32 as blend_epi32,
        _mm_madd_epi16 as madd_epi16, _mm_maddubs_epi16 as maddubs_epi16, _mm_min_epu8 as min_epu8,
        _mm_mullo_epi16 as mullo_epi16, _mm_or_si128 as or, _mm_shuffle_epi8 as shuffle_epi8,
        _mm_slli_epi64 as slli_epi64, _mm_srli_epi16 as srli_epi16, _mm_srli_epi64 as srli_epi64,
        _mm_subs_epu8 as subs_epu8, _mm_testz_si128 as testz, _mm_xor_si128 as xor
    }

    const FIRST_GROUP: i32 = 0b0001;

    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn table(bytes: &[u8; WIDTH]) -> Lanes {
        load(bytes)
    }
}

/// The steps for two texts, each in its own lane.
mod two {
    use core::arch::x86_64::_mm256_broadcastsi128_si256;

    steps! {
        __m256i as Lanes, _mm256_add_epi8 as add_epi8, _mm256_and_si256 as and, _mm256_blend_epi32 as blend_epi32,
        _mm256_madd_epi16 as madd_epi16, _mm256_maddubs_epi16 as maddubs_epi16, _mm256_min_epu8 as min_epu8,
        _mm256_mullo_epi16 as mullo_epi16, _mm256_or_si256 as or, _mm256_shuffle_epi8 as shuffle_epi8,
        _mm256_slli_epi64 as slli_epi64, _mm256_srli_epi16 as srli_epi16, _mm256_srli_epi64 as srli_epi64,
        _mm256_subs_epu8 as subs_epu8, _mm256_testz_si256 as testz, _mm256_xor_si256 as xor
    }

    const FIRST_GROUP: i32 = 0b0001_0001;

    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn table(bytes: &[u8; WIDTH]) -> Lanes {
        _mm256_broadcastsi128_si256(load(bytes))
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn encode(value: u128, text: &mut [u8; TEXT_LEN]) {
    let (head, last) = one::encode(id_of(value));
    // PANIC: a text is longer than 16 bytes. Two stores that overlap are one less than 16, 2 and 1 bytes.
    store(head, text.first_chunk_mut().expect("16 bytes"));
    text[TEXT_LEN - GROUP_DIGITS..].copy_from_slice(&_mm_cvtsi128_si32(last).to_le_bytes());
}

#[target_feature(enable = "avx2")]
#[inline]
fn padded(value: u128) -> [u8; PADDED_LEN] {
    let (head, last) = one::encode(id_of(value));
    let mut text = [0; PADDED_LEN];
    store_line(head, _mm_srli_epi32::<END_SHIFT>(last), &mut text);
    text
}

#[target_feature(enable = "avx2")]
#[inline]
fn id_of(value: u128) -> __m128i {
    _mm_insert_epi16::<4>(_mm_cvtsi64_si128(value as i64), (value >> u64::BITS) as i32)
}

#[target_feature(enable = "avx2")]
#[inline]
fn decode(text: &[u8; TEXT_LEN]) -> u128 {
    let Some(id) = one::decode(load_head(text), load_tail(text)) else { return NO_TEXT };
    let (high, low) = (_mm_extract_epi64::<1>(id), _mm_extract_epi64::<0>(id));
    u128::from(high.cast_unsigned()) << u64::BITS | u128::from(low.cast_unsigned())
}

#[target_feature(enable = "avx2")]
fn encode_lines(ids: &[MessageId], separator: u8, lines: &mut [[u8; LINE_LEN]]) -> usize {
    let (ids, lines) = (ids.as_chunks().0, lines.as_chunks_mut().0);
    let separator = two::table(&end_with(separator));
    for (ids, [first, second]) in ids.iter().zip(&mut *lines) {
        let (head, last) = two::encode(load_ids(ids));
        let end = two::or(_mm256_srli_epi32::<END_SHIFT>(last), separator);
        store_line(_mm256_castsi256_si128(head), _mm256_castsi256_si128(end), first);
        store_line(_mm256_extracti128_si256::<1>(head), _mm256_extracti128_si256::<1>(end), second);
    }
    STEP * ids.len().min(lines.len())
}

#[target_feature(enable = "avx2")]
fn decode_lines(lines: &[[u8; LINE_LEN]], separator: u8, ids: &mut [MessageId]) -> usize {
    let mut steps = 0;
    for ([first, second], ids) in lines.as_chunks().0.iter().zip(ids.as_chunks_mut().0) {
        let ([first @ .., first_end], [second @ .., second_end]) = (first, second);
        let head = _mm256_set_m128i(load_head(second), load_head(first));
        let tail = _mm256_set_m128i(load_tail(second), load_tail(first));
        match two::decode(head, tail) {
            Some(values) if [first_end, second_end] == [&separator; STEP] => store_ids(values, ids),
            _ => break,
        }
        steps += 1;
    }
    STEP * steps
}

/// The byte after a text, in place of the unused byte.
const fn end_with(separator: u8) -> [u8; WIDTH] {
    repeat([0, 0, 0, separator])
}

#[target_feature(enable = "avx2")]
#[inline]
fn store_line(head: __m128i, end: __m128i, line: &mut [u8; LINE_LEN]) {
    // PANIC: a line is 16 bytes and 4.
    let (bytes, last) = line.split_first_chunk_mut().expect("16 bytes");
    store(head, bytes);
    last.copy_from_slice(&_mm_cvtsi128_si32(end).to_le_bytes());
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
    // SAFETY: the reference is to 16 bytes, and the load needs no alignment.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

#[target_feature(enable = "avx2")]
#[inline]
fn store(bytes: __m128i, text: &mut [u8; WIDTH]) {
    // SAFETY: the reference is to 16 bytes, and the store needs no alignment.
    unsafe { _mm_storeu_si128(text.as_mut_ptr().cast(), bytes) }
}

#[target_feature(enable = "avx2")]
#[inline]
fn load_ids(ids: &[MessageId; STEP]) -> two::Lanes {
    // SAFETY: an ID is its `u128`, so two of them are 32 bytes.
    unsafe { _mm256_loadu_si256(ids.as_ptr().cast()) }
}

#[target_feature(enable = "avx2")]
#[inline]
fn store_ids(values: two::Lanes, ids: &mut [MessageId; STEP]) {
    // SAFETY: an ID is its `u128`, so two of them are 32 bytes. `pack` leaves 0 in all but the low 80 bits of each.
    unsafe { _mm256_storeu_si256(ids.as_mut_ptr().cast(), values) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::{decode, encode, samples};

    /// Returns the proof. Without AVX2 nothing is tested here, as the tests of all levels note.
    fn avx2() -> Option<Avx2> {
        let avx2 = Avx2::detect();
        assert_eq!(avx2.is_some(), std::arch::is_x86_feature_detected!("avx2"));
        avx2
    }

    #[test]
    fn one_text_is_written_as_the_safe_twin_writes_it() {
        let Some(avx2) = avx2() else { return };
        for id in samples::ids() {
            let (mut text, mut want) = ([0; TEXT_LEN], [0; TEXT_LEN]);
            avx2.encode(id.to_u128(), &mut text);
            encode::standard(id.to_u128(), &mut want);
            assert_eq!(text, want, "{id:x}");
            assert_eq!(avx2.padded(id.to_u128()), encode::padded(id.to_u128()), "{id:x}");
        }
    }

    #[test]
    fn one_text_is_read_as_the_safe_twin_reads_it() {
        let Some(avx2) = avx2() else { return };
        for text in samples::texts() {
            assert_eq!(avx2.decode(&text), decode::standard(&text), "{}", text.escape_ascii());
        }
    }

    // If the safe loop did all the work, only the time would show it, so this test counts the lines.
    #[test]
    fn the_safe_loop_gets_at_most_one_line_of_many() {
        let Some(avx2) = avx2() else { return };
        let ids = samples::ids();
        for len in ids.len() - 3..=ids.len() {
            let mut lines = vec![[0; LINE_LEN]; len];
            let mut read = vec![MessageId::MIN; len];
            assert_eq!(avx2.encode_lines(&ids[..len], b'\n', &mut lines), len - len % STEP);
            assert_eq!(avx2.decode_lines(&lines, b'\n', &mut read), len - len % STEP);
        }
    }
}
