//! The session hashes of the built-in dialects. An ID contains the low bits of a hash.

use xxhash_rust::xxh3::xxh3_64;

/// Returns the standard hash: XXH3-64 (seed 0) of the UTF-8 bytes.
pub(super) fn standard(name: &str) -> u32 {
    xxh3_64(name.as_bytes()) as u32
}

/// Returns Java's `String.hashCode`: h · 31 + unit over the UTF-16 units, wrapping at 32 bits.
pub(super) fn java(name: &str) -> u32 {
    name.encode_utf16().fold(0, |hash: u32, unit| hash.wrapping_mul(31).wrapping_add(unit.into()))
}

/// Returns the CRC-32 (IEEE 802.3) of the UTF-8 bytes.
#[cfg(feature = "juggleim")]
pub(super) fn crc32(name: &str) -> u32 {
    crc32fast::hash(name.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn java_counts_utf16_units_and_wraps() {
        assert_eq!((java(""), java("24"), java("testing")), (0, 1_602, 2_872_521_232));
        // Two units: the surrogates D83D and DE00.
        assert_eq!(java("😀"), 0xD83D * 31 + 0xDE00);
    }

    #[cfg(feature = "juggleim")]
    #[test]
    fn crc_32_has_its_check_value() {
        assert_eq!(crc32("123456789"), 0xCBF4_3926);
    }
}
