//! The codec on every target: by table, one ID after another.

use super::encode::padded;
use super::lines::LINE_LEN;
use super::text::IdText;
use crate::id::MessageId;

pub(super) use super::decode::standard as decode;
pub(super) use super::encode::standard as encode;

/// The text on the stack.
#[inline]
pub(super) fn text(value: u128) -> IdText {
    IdText(padded(value))
}

/// Writes no line: each is left to the loop for single ones, as in what follows.
pub(super) fn encode_lines(_: &[MessageId], _: u8, _: &mut [[u8; LINE_LEN]]) -> usize {
    0
}

/// Reads no line.
pub(super) fn decode_lines(_: &[[u8; LINE_LEN]], _: u8, _: &mut [MessageId]) -> usize {
    0
}
