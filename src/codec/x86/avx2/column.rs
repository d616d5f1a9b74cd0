//! Columns of 10 bytes by AVX2, one after another: an ID's 16 bytes turned round.

use core::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_shuffle_epi8, _mm_storeu_si128};

use super::{WIDTH, ZERO, load, store};
use crate::id::MessageId;

/// The low 10 bytes the other way round, and 6 of 0: an ID's high ones, or what the next ID of a column writes over.
const TURNED: [u8; WIDTH] = [9, 8, 7, 6, 5, 4, 3, 2, 1, 0, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO];

/// Writes the first IDs, and tells how many: all but the last one at most.
#[target_feature(enable = "avx2")]
pub(in super::super) fn encode_column(ids: &[MessageId], column: &mut [[u8; MessageId::BYTES]]) -> usize {
    let mut done = 0;
    while let Some(id) = ids.get(done)
        && let Some(bytes) = column[done..].as_flattened_mut().first_chunk_mut()
    {
        store(_mm_shuffle_epi8(load_id(id), load(&TURNED)), bytes);
        done += 1;
    }
    done
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
