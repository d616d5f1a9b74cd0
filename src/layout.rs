//! Widths, shifts, masks and maxima of the 80-bit value.
//!
//! The tables in `codec/avx2.rs` are written for these widths, and assert them.
//!
//! ```text
//!  79                            38 37        26 25  22 21                  0
//! +--------------------------------+------------+------+---------------------+
//! |  timestamp: 42 bits, Unix ms   |  spin: 12  | type |  session hash: 22   |
//! +--------------------------------+------------+------+---------------------+
//!  \_______________ stamp: 54 ________________/ \____ session tag: 26 ______/
//! ```

/// Width of the whole ID, in bits.
pub(crate) const ID_BITS: u32 = 80;
/// Width of the timestamp, in bits.
pub(crate) const TIMESTAMP_BITS: u32 = 42;
/// Width of the spin counter, in bits.
pub(crate) const SPIN_BITS: u32 = 12;
/// Width of the session type, in bits.
pub(crate) const TYPE_BITS: u32 = 4;
/// Width of the session hash, in bits.
pub(crate) const HASH_BITS: u32 = 22;
/// Width of the session tag (type and hash), the low part of an ID.
pub(crate) const TAG_BITS: u32 = TYPE_BITS + HASH_BITS;
/// Width of the stamp (timestamp and spin), the high part of an ID.
pub(crate) const STAMP_BITS: u32 = TIMESTAMP_BITS + SPIN_BITS;

/// Position of the session type inside a session tag.
pub(crate) const TYPE_SHIFT: u32 = HASH_BITS;
/// Position of the timestamp inside a stamp.
pub(crate) const TIMESTAMP_SHIFT: u32 = SPIN_BITS;
/// Position of the stamp inside an ID.
pub(crate) const STAMP_SHIFT: u32 = TAG_BITS;

/// The greatest timestamp, in Unix milliseconds: 2109-05-15T07:35:11.103Z.
pub(crate) const TIMESTAMP_MAX: u64 = (1 << TIMESTAMP_BITS) - 1;
/// The greatest spin.
pub(crate) const SPIN_MAX: u16 = (1 << SPIN_BITS) - 1;
/// The greatest session type code.
pub(crate) const TYPE_MAX: u8 = (1 << TYPE_BITS) - 1;
/// The greatest session hash.
pub(crate) const HASH_MAX: u32 = (1 << HASH_BITS) - 1;
/// The greatest session tag: type and hash all ones.
pub(crate) const TAG_MAX: u32 = (1 << TAG_BITS) - 1;
/// The greatest stamp.
pub(crate) const STAMP_MAX: u64 = (1 << STAMP_BITS) - 1;
/// The greatest ID.
pub(crate) const ID_MAX: u128 = (1 << ID_BITS) - 1;

/// Length of the byte form.
pub(crate) const BYTES: usize = ID_BITS as usize / 8;

/// Width of one text digit, in bits.
pub(crate) const DIGIT_BITS: u32 = 5;
/// Number of digits in the text form.
pub(crate) const DIGITS: usize = (ID_BITS / DIGIT_BITS) as usize;
/// Number of digits between two dashes.
pub(crate) const GROUP_DIGITS: usize = 4;
/// Number of groups in the text form.
pub(crate) const GROUPS: usize = DIGITS / GROUP_DIGITS;
/// Length of the text form: the digits, and the dashes between the groups.
pub(crate) const TEXT_LEN: usize = DIGITS + GROUPS - 1;
/// Width of one hex digit, in bits.
pub(crate) const HEX_DIGIT_BITS: u32 = 4;
/// Length of the hex form.
pub(crate) const HEX_LEN: usize = (ID_BITS / HEX_DIGIT_BITS) as usize;

const _: () = assert!(STAMP_BITS + TAG_BITS == ID_BITS, "fields fill 80 bits");
const _: () = assert!(BYTES * 8 == ID_BITS as usize, "the ID is whole bytes");
const _: () = assert!(DIGITS as u32 * DIGIT_BITS == ID_BITS, "the ID is whole digits");
const _: () = assert!(GROUPS * GROUP_DIGITS == DIGITS, "the groups are full");
const _: () = assert!(STAMP_BITS < u64::BITS, "a stamp past the last one still fits its word");
