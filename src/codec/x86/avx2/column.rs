//! Columns of 10 bytes by AVX2, which turns an ID's bytes round at once.

use core::arch::x86_64::{
    __m128i, _mm_cvtsi128_si32, _mm_loadu_si128, _mm_or_si128, _mm_shuffle_epi8, _mm_storeu_si128,
};

use super::{WIDTH, ZERO, load, store};
use crate::id::MessageId;

/// IDs in a step of the writer.
const STEP: usize = 2;

/// The first 10 bytes the other way round, and 6 of 0.
const TURNED: [u8; WIDTH] = [9, 8, 7, 6, 5, 4, 3, 2, 1, 0, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO];

/// The first 6 bytes of an ID behind the 10 of another.
const BEHIND: [u8; WIDTH] = [ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, 9, 8, 7, 6, 5, 4];
/// The last 4 bytes of an ID.
const LAST: [u8; WIDTH] = [3, 2, 1, 0, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO];

/// Writes the first IDs, two at once, and tells how many: all but the last one at most.
// Each by itself, over the end of the one before it, takes as long as the safe loop.
#[target_feature(enable = "avx2")]
pub(in super::super) fn encode_column(ids: &[MessageId], column: &mut [[u8; MessageId::BYTES]]) -> usize {
    let (ids, column) = (ids.as_chunks::<STEP>().0, column.as_chunks_mut::<STEP>().0);
    for ([first, second], bytes) in ids.iter().zip(&mut *column) {
        let (first, second) = (load_id(first), load_id(second));
        // PANIC: two IDs are 16 bytes and 4.
        let (start, end) = bytes.as_flattened_mut().split_first_chunk_mut().expect("16 bytes");
        store(_mm_or_si128(_mm_shuffle_epi8(first, load(&TURNED)), _mm_shuffle_epi8(second, load(&BEHIND))), start);
        end.copy_from_slice(&_mm_cvtsi128_si32(_mm_shuffle_epi8(second, load(&LAST))).to_le_bytes());
    }
    STEP * ids.len().min(column.len())
}

/// Reads the first IDs, and tells how many: all but the last one at most.
#[target_feature(enable = "avx2")]
pub(in super::super) fn decode_column(column: &[[u8; MessageId::BYTES]], ids: &mut [MessageId]) -> usize {
    let mut done = 0;
    while let Some(bytes) = column[done..].as_flattened().first_chunk()
        && let Some(id) = ids.get_mut(done)
    {
        store_id(_mm_shuffle_epi8(load(bytes), load(&TURNED)), id);
        done += 1;
    }
    done
}

#[target_feature(enable = "avx2")]
#[inline]
fn load_id(id: &MessageId) -> __m128i {
    // SAFETY: an ID is its `u128`, so 16 bytes.
    unsafe { _mm_loadu_si128(core::ptr::from_ref(id).cast()) }
}

#[target_feature(enable = "avx2")]
#[inline]
fn store_id(value: __m128i, id: &mut MessageId) {
    // SAFETY: an ID is its `u128`, so 16 bytes; the shuffle has left 0 in all but the low 80 bits.
    unsafe { _mm_storeu_si128(core::ptr::from_mut(id).cast(), value) }
}
