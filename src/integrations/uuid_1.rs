//! uuid 1: the UUID view of an ID as a `Uuid`.

use uuid::Uuid;

use crate::error::UuidError;
use crate::id::MessageId;

impl MessageId {
    /// Returns the UUID view: a UUID of version 7 with the timestamp and the spin of the ID in the usual places. Views
    /// have the order of their IDs.
    ///
    /// A view contains the bits of the ID and no random bits.
    ///
    /// ```
    /// use imid::{MessageId, message_id};
    ///
    /// let id = message_id!("EUNC-Q8QJ-22GH-T3DD");
    /// let uuid = id.to_uuid();
    /// assert_eq!(uuid.to_string(), "019aa2ac-6b40-7007-8fc8-56bfffffffff");
    /// assert_eq!(MessageId::from_uuid(uuid)?, id);
    /// # Ok::<(), imid::error::UuidError>(())
    /// ```
    #[inline]
    pub const fn to_uuid(self) -> Uuid {
        Uuid::from_bytes(self.to_uuid_bytes())
    }

    /// Returns the ID with this UUID view.
    ///
    /// # Errors
    /// Any other UUID: the version is not 7; the variant is not that of RFC 9562; the timestamp is 2⁴² ms or more; one
    /// of the last 36 bits is zero, as in almost every random UUID of version 7.
    #[inline]
    pub const fn from_uuid(uuid: Uuid) -> Result<Self, UuidError> {
        Self::from_uuid_bytes(uuid.into_bytes())
    }
}

/// Returns the UUID view, as [`MessageId::to_uuid`] does.
impl From<MessageId> for Uuid {
    #[inline]
    fn from(id: MessageId) -> Self {
        id.to_uuid()
    }
}

/// Reads the UUID view, as [`MessageId::from_uuid`] does.
impl TryFrom<Uuid> for MessageId {
    type Error = UuidError;

    #[inline]
    fn try_from(uuid: Uuid) -> Result<Self, UuidError> {
        Self::from_uuid(uuid)
    }
}
