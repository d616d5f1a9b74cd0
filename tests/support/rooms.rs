//! Sessions.

use imid::{SessionHash, SessionTag, SessionType};

pub(crate) fn room() -> SessionTag {
    SessionTag::new(SessionType::GROUP, "room-42")
}

/// Returns the group with this hash.
pub(crate) fn session(hash: u32) -> SessionTag {
    SessionTag::from_parts(SessionType::GROUP, SessionHash::from_u32(hash).unwrap())
}
