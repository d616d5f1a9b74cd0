//! The generator of the whole process.

use super::{GenerateError, Generator};
use crate::id::MessageId;
use crate::session::SessionTag;

/// Mints an ID that is unique within this process, from a generator of the whole process: one stripe, the system clock, the
/// default settings.
///
/// On several hosts the IDs are unique if each session belongs to one of them ([guarantees](crate#guarantees)). If any host
/// writes any session, use a [`lane`](crate::generator::Builder::lane) or the crate `imid-lease`.
///
/// It needs no set-up, is **lock-free**, and mints up to 4,096 IDs a millisecond. The IDs strictly increase over all sessions.
/// If you need more, make a `static` of your own with a striped [`Generator`].
///
/// ```
/// use imid::{SessionTag, SessionType};
///
/// let id = imid::generate(SessionTag::new(SessionType::GROUP, "room-42"))?;
/// println!("{id}");
/// # Ok::<(), imid::generator::GenerateError>(())
/// ```
///
/// # Errors
/// As for [`Generator::generate`].
#[inline(always)]
pub fn generate(session: SessionTag) -> Result<MessageId, GenerateError> {
    static IDS: Generator = Generator::new();
    IDS.generate(session)
}
