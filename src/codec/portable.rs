//! The codec on targets without instructions of their own: tables, one ID after another.

use super::encode;
use super::lines::LINE_LEN;
use super::text::PADDED_LEN;
use crate::id::MessageId;
use crate::layout::TEXT_LEN;

pub(super) use super::decode::standard as decode;

/// Writes the text.
#[inline]
pub(super) fn encode(value: u128, text: &mut [u8; TEXT_LEN]) {
    *text = encode::standard(value);
}

/// The text and a dash after it.
#[inline]
pub(super) fn encode_padded(value: u128) -> [u8; PADDED_LEN] {
    encode::padded(value)
}

/// Writes no line: each is left to the loop for single ones.
pub(super) fn encode_lines(_: &[MessageId], _: u8, _: &mut [[u8; LINE_LEN]]) -> usize {
    0
}

/// Reads no line: each is left to the loop for single ones.
pub(super) fn decode_lines(_: &[[u8; LINE_LEN]], _: u8, _: &mut [MessageId]) -> usize {
    0
}
