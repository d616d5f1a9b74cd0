//! The next ID of a room, from its last ID and the time: arithmetic, without a generator, a clock or any state.
//!
//! Hosts that store each message in a transaction that has locked the room's row need nothing else for unique and ordered IDs: an
//! ID that sorts after the last ID of its room cannot be one that the room has. The time is that of the database, because hosts
//! would refuse or lead each other by their own clocks.
//!
//! Both steps are random. If the next stamp were the last one plus 1, a retry after a collision with a room of the same tag would
//! make the same ID again, and after the loss of the newest rows the lost IDs would come back as other messages. A step of 512
//! stamps on average carries 8 IDs per millisecond in one room before they run ahead of the time.

use core::time::Duration;

use crate::error::{AfterError, AfterKind};
use crate::id::MessageId;
use crate::layout::{SPIN_BITS, SPIN_MAX, STAMP_MAX, TIMESTAMP_MAX, TIMESTAMP_SHIFT};
use crate::session::SessionTag;

/// Width of the random part of the step past the last stamp, in bits.
const STEP_BITS: u32 = 10;

/// What [`MessageId::after_with`] needs beside the last ID, the session tag and the time.
///
/// With `std`, [`drawn`](Self::drawn) draws the random number, so that you need to set the limit only:
///
/// ```
/// use core::time::Duration;
/// use imid::AfterOptions;
///
/// let options = AfterOptions { limit: Duration::from_secs(60), ..AfterOptions::drawn() };
/// ```
// Callers write this struct as named arguments, as they do `IdParts`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AfterOptions {
    /// A random number, drawn for this call alone. Its low 22 bits count: 12 for the spin of an ID that has the time of the
    /// database, 10 for the step of one that follows the last ID.
    pub random: u32,
    /// How far the last ID may be ahead of the time, in whole milliseconds. Up to this limit IDs follow it, so a clock that was
    /// wrong closes no room.
    pub limit: Duration,
}

impl AfterOptions {
    /// The limit of [`MessageId::after`]: a day.
    pub const LIMIT: Duration = Duration::from_secs(86_400);

    /// Returns the limit of a day and a random number. Threads, processes and forked children draw different
    /// numbers. A draw takes 0.2 µs.
    #[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
    pub fn drawn() -> Self {
        Self { random: crate::seed::draw(0) as u32, limit: Self::LIMIT }
    }
}

impl MessageId {
    /// Returns an ID for the next message of a room: it sorts after `last`, the room's last ID (`None` for a room without messages),
    /// and has the time `now_ms`, in Unix milliseconds, or one after that of `last`.
    ///
    /// This makes IDs **unique and ordered on any number of hosts**, if each message is stored in a transaction that has locked
    /// its room's row. The statement that locks the row returns both arguments, so that the time is the database's:
    ///
    /// ```
    /// use imid::{MessageId, SessionTag, SessionType};
    ///
    /// /// Locks the room's row, and returns its last ID and the time of the database:
    /// ///
    /// ///     INSERT INTO rooms (name) VALUES ($1) ON CONFLICT (name) DO UPDATE SET name = excluded.name
    /// ///     RETURNING last_id, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint
    /// fn lock(room: &str) -> (Option<MessageId>, u64) {
    /// #   let _ = room;
    /// #   (MessageId::first_at(1_795_204_812_000).ok(), 1_795_204_812_345)
    ///     // ...
    /// }
    /// /// Stores the message, and the last ID of its room:
    /// ///
    /// ///     INSERT INTO messages (id, room, body) VALUES ($1, $2, $3);
    /// ///     UPDATE rooms SET last_id = $1 WHERE name = $2
    /// fn store(room: &str, id: MessageId, body: &str) {
    /// #   let _ = (room, id, body);
    ///     // ...
    /// }
    ///
    /// // BEGIN
    /// let (last, now_ms) = lock("room-42");
    /// let id = MessageId::after(last, SessionTag::new(SessionType::GROUP, "room-42"), now_ms)?;
    /// store("room-42", id, "hello");
    /// // COMMIT; show the ID to nobody before that
    /// assert!(Some(id) > last);
    /// # Ok::<(), imid::error::AfterError>(())
    /// ```
    ///
    /// The messages need a unique key on the ID: two rooms can [share a tag](crate::SessionHash), and then an ID with a probability of 1/4096
    /// if they post in the same millisecond. Repeat the transaction after such an error: the ID is another one then, because it has a random
    /// spin, or a random distance from `last` of 1 to 1,024 stamps. A room mints 8 IDs per millisecond before they run ahead of the
    /// time.
    ///
    /// # Errors
    /// - `last` is more than a day ahead of `now_ms`. [`after_with`](Self::after_with) takes your own limit.
    /// - The ID would be past 2109-05-15. If `now_ms` has microseconds, it is.
    #[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
    pub fn after(last: Option<Self>, session: SessionTag, now_ms: u64) -> Result<Self, AfterError> {
        Self::after_with(last, session, now_ms, AfterOptions::drawn())
    }

    /// Does what [`after`](Self::after) does, with your own random number and limit. Equal arguments give equal IDs.
    ///
    /// ```
    /// use imid::{AfterOptions, MessageId, SessionTag, SessionType};
    ///
    /// let room = SessionTag::new(SessionType::GROUP, "room-42");
    /// let options = AfterOptions { random: 7, limit: AfterOptions::LIMIT };
    /// let first = MessageId::after_with(None, room, 1_795_204_812_345, options)?;
    /// assert_eq!((first.timestamp_ms(), first.spin()), (1_795_204_812_345, 7));
    /// let second = MessageId::after_with(Some(first), room, 1_795_204_812_345, options)?;
    /// assert_eq!((second.timestamp_ms(), second.spin()), (1_795_204_812_345, 8));
    /// # Ok::<(), imid::error::AfterError>(())
    /// ```
    ///
    /// # Errors
    /// As for [`after`](Self::after), with the limit of the options.
    pub const fn after_with(
        last: Option<Self>,
        session: SessionTag,
        now_ms: u64,
        options: AfterOptions,
    ) -> Result<Self, AfterError> {
        if now_ms > TIMESTAMP_MAX {
            return Err(AfterError::new(AfterKind::Time { found: now_ms }));
        }
        let mut stamp = now_ms << TIMESTAMP_SHIFT | (options.random & SPIN_MAX as u32) as u64;
        if let Some(last) = last {
            let found = last.timestamp_ms().saturating_sub(now_ms);
            let limit = options.limit.as_millis();
            if found as u128 > limit {
                return Err(AfterError::new(AfterKind::Skew { max: limit as u64, found }));
            }
            let next = last.stamp() + 1 + (options.random >> SPIN_BITS & ((1 << STEP_BITS) - 1)) as u64;
            if next > stamp {
                stamp = next;
            }
        }
        if stamp > STAMP_MAX {
            return Err(AfterError::new(AfterKind::Exhausted));
        }
        Ok(Self::from_stamp(stamp, session))
    }
}
