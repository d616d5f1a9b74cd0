//! Errors of dialects, and of IDs that do not fit a dialect.

use core::ascii;

use thiserror::Error;

use super::layout::Layout;

/// A dialect cannot be built, an ID has the wrong layout, or a dialect cannot make session tags.
///
/// ```
/// use imid::MessageId;
/// use imid::dialect::Dialect;
///
/// let error = Dialect::try_new("ours", b"0123456789ABCDEFGHIJKLMNOPQRSTU0").unwrap_err();
/// assert_eq!(error.to_string(), "expected 32 different printable ASCII digits other than '-', found '0' at 31");
///
/// let id = Dialect::RONGCLOUD_V1.parse("5EGN-HLDB-K4Q4-LQ1G")?;
/// let error = MessageId::try_from(id).unwrap_err();
/// assert!(error.is_layout());
/// assert_eq!(error.to_string(), "expected an ID of layout 42-12-4-22, found 43-0-5-32");
/// # Ok::<(), imid::error::ParseError>(())
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
    #[error("expected an ID of layout {expected}, found {found}")]
    Layout { expected: Layout, found: Layout },
    #[error("expected a dialect of layout {expected}, found {found}, which is read only")]
    ReadOnly { expected: Layout, found: Layout },
    #[error("session hash of the dialect is not known")]
    NoHash,
}

impl DialectError {
    pub(crate) const fn new(kind: DialectKind) -> Self {
        Self(kind)
    }

    /// Returns whether the ID has another layout than the dialect, or than a [`MessageId`](crate::MessageId).
    pub const fn is_layout(self) -> bool {
        matches!(self.0, DialectKind::Layout { .. })
    }

    /// Returns whether the dialect is read only: its layout is not that of a [`MessageId`](crate::MessageId).
    pub const fn is_read_only(self) -> bool {
        matches!(self.0, DialectKind::ReadOnly { .. })
    }

    /// Returns whether the dialect's session hash is unknown.
    pub const fn is_without_hash(self) -> bool {
        matches!(self.0, DialectKind::NoHash)
    }
}
