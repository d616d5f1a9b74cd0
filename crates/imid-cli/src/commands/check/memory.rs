//! An amount of memory, as an argument.

use std::str::FromStr;

use crate::report::quote;

/// A number of bytes, at least a mebibyte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Memory(usize);

impl Memory {
    const LEAST: usize = 1 << 20;

    pub(super) const fn bytes(self) -> usize {
        self.0
    }
}

impl FromStr for Memory {
    type Err = String;

    /// Reads a number of bytes such as 64M: K, M and G stand for 2^10, 2^20 and 2^30.
    fn from_str(text: &str) -> Result<Self, String> {
        let error = || format!("expected a size of at least 1M, such as 64M or 2G, found {}", quote(text));
        let (digits, shift) = match text.as_bytes() {
            [.., b'k' | b'K'] => (&text[..text.len() - 1], 10),
            [.., b'm' | b'M'] => (&text[..text.len() - 1], 20),
            [.., b'g' | b'G'] => (&text[..text.len() - 1], 30),
            _ => (text, 0),
        };
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(error());
        }
        let bytes = digits.parse::<usize>().ok().and_then(|n| n.checked_mul(1 << shift));
        bytes.filter(|bytes| *bytes >= Self::LEAST).map(Self).ok_or_else(error)
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self(64 << 20)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_has_a_unit_or_is_in_bytes() {
        for (text, bytes) in
            [("1048576", 1 << 20), ("1024k", 1 << 20), ("1M", 1 << 20), ("64m", 64 << 20), ("2G", 2 << 30)]
        {
            assert_eq!(text.parse(), Ok(Memory(bytes)), "{text}");
        }
        for text in ["", "M", "0", "1048575", "1.5M", "-1M", "+64M", "64MB", "99999999999999999999G", "é"] {
            let error = text.parse::<Memory>().unwrap_err();
            assert_eq!(error, format!("expected a size of at least 1M, such as 64M or 2G, found {text:?}"));
        }
    }
}
