//! UUIDs that are not views of IDs.

use thiserror::Error;

use crate::layout::TIMESTAMP_MAX;

/// A UUID is not the view of an ID.
///
/// ```
/// use imid::{MessageId, message_id};
///
/// let mut view = message_id!("EUNC-Q8QJ-22GH-T3DD").to_uuid_bytes();
/// view[6] = 0x40;
/// let error = MessageId::from_uuid_bytes(view).unwrap_err();
/// assert_eq!(error.to_string(), "expected a UUID of version 7, found version 4");
/// assert!(error.is_version());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error(transparent)]
pub struct UuidError(UuidKind);

#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub(crate) enum UuidKind {
    #[error("expected a UUID of version 7, found version {0}")]
    Version(u8),
    #[error("expected a UUID of variant 0b10, found 0b{0:02b}")]
    Variant(u8),
    #[error("expected a timestamp of 0 to {TIMESTAMP_MAX} ms, found {0}")]
    Time(u64),
    #[error("expected a UUID that ends with 36 one bits, found {0:#011x}")]
    Tail(u64),
}

impl UuidError {
    pub(crate) const fn new(kind: UuidKind) -> Self {
        Self(kind)
    }

    /// Returns whether the version is not 7.
    pub const fn is_version(self) -> bool {
        matches!(self.0, UuidKind::Version(_))
    }

    /// Returns whether the variant is not that of RFC 9562.
    pub const fn is_variant(self) -> bool {
        matches!(self.0, UuidKind::Variant(_))
    }

    /// Returns whether the timestamp is past the last one of an ID, 2⁴² - 1 ms.
    pub const fn is_time(self) -> bool {
        matches!(self.0, UuidKind::Time(_))
    }

    /// Returns whether the last 36 bits are not all ones, as in other UUIDs of version 7.
    pub const fn is_tail(self) -> bool {
        matches!(self.0, UuidKind::Tail(_))
    }
}
