//! Session tags and session types as signed integers, because most databases have no unsigned ones.

use thiserror::Error;

use crate::session::{SessionTag, SessionType};

/// An integer in a store is not a session tag, or not the code of a session type.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("expected {name} of 0 to {max}, found {found}")]
pub(crate) struct IntegerError {
    name: &'static str,
    max: u32,
    found: i64,
}

impl SessionTag {
    /// Returns the 26 bits as a signed integer.
    pub(crate) fn to_i32(self) -> i32 {
        self.to_u32().cast_signed()
    }

    /// Reads the 26 bits from a signed integer.
    pub(crate) fn from_signed(integer: impl Into<i64>) -> Result<Self, IntegerError> {
        let found = integer.into();
        let session = u32::try_from(found).ok().and_then(|bits| Self::from_u32(bits).ok());
        session.ok_or(IntegerError { name: "a session tag", max: Self::ONES.to_u32(), found })
    }
}

impl SessionType {
    /// Returns the code as a signed integer.
    pub(crate) fn to_i16(self) -> i16 {
        self.to_u8().into()
    }

    /// Reads the code from a signed integer.
    pub(crate) fn from_signed(integer: impl Into<i64>) -> Result<Self, IntegerError> {
        let found = integer.into();
        let session_type = u8::try_from(found).ok().and_then(|code| Self::from_u8(code).ok());
        session_type.ok_or(IntegerError { name: "a session type", max: Self::MAX.to_u8().into(), found })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_tags_are_26_bits() {
        for session in [SessionTag::ZEROS, SessionTag::ONES] {
            assert_eq!(SessionTag::from_signed(session.to_i32()), Ok(session));
        }
        for integer in [-1, 67_108_864, i64::MIN, i64::MAX, 1 << 32] {
            let error = SessionTag::from_signed(integer).unwrap_err();
            assert_eq!(error.to_string(), format!("expected a session tag of 0 to 67108863, found {integer}"));
        }
    }

    #[test]
    fn session_types_are_4_bits() {
        for session_type in [SessionType::MIN, SessionType::GROUP, SessionType::MAX] {
            assert_eq!(SessionType::from_signed(session_type.to_i16()), Ok(session_type));
        }
        for integer in [-1, 16, 256, i64::MIN, i64::MAX] {
            let error = SessionType::from_signed(integer).unwrap_err();
            assert_eq!(error.to_string(), format!("expected a session type of 0 to 15, found {integer}"));
        }
    }
}
