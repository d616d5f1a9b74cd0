//! IDs and texts with which the tests try every reader and writer.

use std::vec::Vec;

use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::alphabet::STANDARD;
use super::encode::{dashed, digits};
use crate::id::MessageId;
use crate::layout::{ID_BITS, ID_MAX, TEXT_LEN};

/// Returns the least and the greatest ID, each bit alone, each bit missing, and random IDs.
pub(super) fn ids() -> Vec<MessageId> {
    let bits = (0..ID_BITS).flat_map(|bit| [1 << bit, ID_MAX ^ 1 << bit]);
    let random = (0..1_000).map(|seed| xxh3_128_with_seed(b"id", seed) & ID_MAX);
    [0, ID_MAX].into_iter().chain(bits).chain(random).map(MessageId::from_value).collect()
}

/// Returns the texts of [`ids`], three texts with every byte at every place, and random bytes.
// The first of the three is all zeros. In a text with other digits, their bits could hide a wrong digit.
pub(super) fn texts() -> Vec<[u8; TEXT_LEN]> {
    let text = |id: &MessageId| dashed(&digits(&STANDARD, id.to_u128()));
    let mut texts: Vec<_> = ids().iter().map(text).collect();
    for one in [MessageId::MIN, crate::message_id!("F3Z9-MB7Y-WCQH-T3DD"), MessageId::MAX].iter().map(text) {
        for at in 0..TEXT_LEN {
            texts.extend((0..=u8::MAX).map(|byte| {
                let mut text = one;
                text[at] = byte;
                text
            }));
        }
    }
    texts.extend((0..1_000).map(|seed| {
        let bytes: Vec<u8> = (0..2).flat_map(|half| xxh3_128_with_seed(&[half], seed).to_ne_bytes()).collect();
        *bytes.first_chunk().expect("32 bytes")
    }));
    texts
}
