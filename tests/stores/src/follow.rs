//! A follower of new messages that reads again, way (b) of docs/STORES.md ("Cursors").

use std::collections::HashSet;
use std::time::{Duration, UNIX_EPOCH};

use imid::MessageId;

/// Where a follower is. Save `last_read_ms` with what you have done; 0 reads everything.
#[derive(Default)]
pub struct Follower {
    /// When the last complete read began.
    pub last_read_ms: u64,
    /// When the current read began, and the last ID that it has seen.
    pub reading: Option<(u64, MessageId)>,
    pub known: HashSet<MessageId>,
}

/// Returns messages that are new, at most `limit`. `window` is the longest transaction and the skew of the clocks together.
pub async fn follow(
    db: &sqlx::PgPool,
    follower: &mut Follower,
    window: Duration,
    limit: i64,
) -> Result<Vec<MessageId>, Box<dyn std::error::Error>> {
    let window_ms = u64::try_from(window.as_millis())?;
    let first = *MessageId::range(follower.last_read_ms.saturating_sub(window_ms)..)?.start();
    let now_ms = u64::try_from(UNIX_EPOCH.elapsed()?.as_millis())?;
    let (began_ms, from) = follower.reading.unwrap_or((now_ms, first));
    // One more row, because the first one was seen by the query before.
    let select = sqlx::query_scalar("SELECT id FROM messages WHERE id >= $1 ORDER BY id LIMIT $2 + 1");
    let mut new: Vec<MessageId> = select.bind(from).bind(limit).fetch_all(db).await?;
    if let Some(last) = new.last().filter(|_| new.len() as i64 > limit) {
        follower.reading = Some((began_ms, *last));
    } else {
        (follower.reading, follower.last_read_ms) = (None, began_ms);
        follower.known.retain(|id| *id >= first);
    }
    new.retain(|id| follower.known.insert(*id));
    Ok(new)
}
