//! What a dialect cannot be, and what it cannot do.

use core::ascii;

use thiserror::Error;

use crate::layout::ID_BITS;

/// A dialect cannot be defined so, or has no session of this kind.
///
/// ```
/// use imid::dialect::Dialect;
///
/// let error = Dialect::new("ours", b"0123456789ABCDEFGHIJKLMNOPQRSTU0").unwrap_err();
/// assert_eq!(error.to_string(), "expected 32 different printable ASCII digits other than '-', found '0' at 31");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error(transparent)]
pub struct DialectError(DialectKind);

#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub(crate) enum DialectKind {
    #[error(
        "expected 32 different printable ASCII digits other than '-', found '{}' at {at}",
        ascii::escape_default(*.found)
    )]
    Digit { at: usize, found: u8 },
    #[error("expected fields of {ID_BITS} bits in all, found {found}")]
    Sum { found: u32 },
    #[error("expected {what} of {min} to {max} bits, found {found}")]
    Width { what: &'static str, min: u32, max: u32, found: u32 },
    #[error("expected a dialect with a known session hash, found {name}")]
    NoHash { name: &'static str },
    #[error("expected a dialect that sessions of 26 bits fit, found {name}, which is read only")]
    ReadOnly { name: &'static str },
}

impl DialectError {
    pub(crate) const fn new(kind: DialectKind) -> Self {
        Self(kind)
    }

    /// Whether the dialect is read only: its fields are not those of a [`MessageId`](crate::MessageId).
    pub const fn is_read_only(self) -> bool {
        matches!(self.0, DialectKind::ReadOnly { .. })
    }

    /// Whether the dialect's session hash is not known here.
    pub const fn is_without_hash(self) -> bool {
        matches!(self.0, DialectKind::NoHash { .. })
    }
}
