//! Live messages: one connection of each gateway listens for rooms that have new messages, and wakes the streams.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::response::sse::Event;
use sqlx::PgPool;
use sqlx::postgres::PgListener;
use tokio::sync::{broadcast, mpsc, watch};
use tokio::time::{sleep, timeout};
use tokio_stream::wrappers::ReceiverStream;

use crate::Phase;
use crate::room::Room;
use crate::store::Store;

/// A stream looks once in this time even if nobody wakes it, so a lost notification costs only time.
const PAUSE: Duration = Duration::from_secs(1);
const PAGE: i64 = 200;

/// Sends the name of each room that has new messages, until the gateway ends.
pub async fn listen(pool: PgPool, rooms: broadcast::Sender<String>) {
    loop {
        if let Ok(mut listener) = PgListener::connect_with(&pool).await
            && listener.listen("imid_chat").await.is_ok()
        {
            while let Ok(notification) = listener.recv().await {
                // Without a stream there is no receiver.
                let _ = rooms.send(notification.payload().to_owned());
            }
        }
        sleep(PAUSE).await;
    }
}

/// Returns the messages of a room after a number, as events with the number as their ID. Numbers have no gaps and are committed in
/// order, so a client that names the last one (`Last-Event-ID`) misses nothing.
pub fn stream(
    store: Arc<Store>,
    room: Room,
    after: i64,
    mut rooms: broadcast::Receiver<String>,
    mut phase: watch::Receiver<Phase>,
) -> ReceiverStream<Result<Event, Infallible>> {
    let (events, receiver) = mpsc::channel(16);
    tokio::spawn(async move {
        metrics::gauge!("chat_streams").increment(1.0);
        let mut last = after;
        'open: while *phase.borrow() < Phase::Stopping {
            // If the database does not answer, the stream waits for it.
            let messages = store.after(&room, last, PAGE).await.unwrap_or_default();
            let is_whole = messages.len() < PAGE as usize;
            for message in messages {
                let event = Event::default().id(message.number.to_string()).json_data(&message).expect("JSON");
                if events.send(Ok(event)).await.is_err() {
                    break 'open;
                }
                last = message.number;
            }
            if is_whole {
                tokio::select! {
                    _ = timeout(PAUSE, woken(&mut rooms, room.name())) => {}
                    _ = phase.changed() => {}
                    () = events.closed() => break,
                }
            }
        }
        metrics::gauge!("chat_streams").decrement(1.0);
    });
    ReceiverStream::new(receiver)
}

/// Waits until the room has new messages. A receiver that lags behind may have missed them.
async fn woken(rooms: &mut broadcast::Receiver<String>, room: &str) {
    while matches!(rooms.recv().await, Ok(name) if name != room) {}
}
