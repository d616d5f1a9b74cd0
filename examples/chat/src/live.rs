//! Live messages. A gateway keeps the last messages of each room that somebody follows, and its streams are fed from them: so one message
//! is read once for all streams of its room, and streams of idle rooms cost the database nothing.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::response::sse::Event;
use imid::MessageId;
use sqlx::postgres::PgListener;
use tokio::sync::{mpsc, watch};
use tokio::time::{MissedTickBehavior, interval, sleep};
use tokio_stream::wrappers::ReceiverStream;

use crate::Phase;
use crate::room::Room;
use crate::store::{Message, Store};

/// How often a gateway compares all followed rooms, in one query, so a lost notification costs only time.
const PAUSE: Duration = Duration::from_secs(1);

/// The last messages of a room, in order.
type Tail = Arc<[Message]>;

/// The rooms that streams of this gateway follow.
pub struct Rooms {
    store: Arc<Store>,
    tails: Mutex<HashMap<String, watch::Sender<Tail>>>,
}

impl Rooms {
    pub fn new(store: Arc<Store>) -> Arc<Self> {
        Arc::new(Self { store, tails: Mutex::default() })
    }

    fn follow(&self, room: &Room) -> watch::Receiver<Tail> {
        let mut tails = self.tails.lock().expect("no panic");
        tails.entry(room.name.clone()).or_insert_with(|| watch::Sender::new(Arc::default())).subscribe()
    }

    /// Keeps the tails up to date, as long as the gateway lives.
    pub async fn keep(&self) {
        let (names, mut named) = mpsc::channel(1_024);
        tokio::spawn(listen(self.store.clone(), names));
        let mut check = interval(PAUSE);
        check.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let changed = tokio::select! {
                Some(name) = named.recv() => {
                    let mut changed = HashSet::from([name]);
                    while let Ok(name) = named.try_recv() {
                        changed.insert(name);
                    }
                    changed
                }
                _ = check.tick() => self.changed().await,
            };
            for name in changed {
                if self.tails.lock().expect("no panic").contains_key(&name)
                    && let Ok(tail) = self.store.tail(&name).await
                    && let Some(sender) = self.tails.lock().expect("no panic").get(&name)
                {
                    sender.send_replace(tail.into());
                }
            }
        }
    }

    /// Returns the rooms whose last message is not that of the tail. Rooms that nobody follows anymore are forgotten.
    async fn changed(&self) -> HashSet<String> {
        let (names, ids): (Vec<String>, Vec<Option<MessageId>>) = {
            let mut tails = self.tails.lock().expect("no panic");
            tails.retain(|_, tail| tail.receiver_count() > 0);
            tails.iter().map(|(name, tail)| (name.clone(), tail.borrow().last().map(|message| message.id))).unzip()
        };
        if names.is_empty() {
            return HashSet::new();
        }
        self.store.changed(&names, &ids).await.unwrap_or_default().into_iter().collect()
    }
}

/// Sends the name of each room that has a new message.
async fn listen(store: Arc<Store>, names: mpsc::Sender<String>) {
    loop {
        if let Ok(mut listener) = PgListener::connect_with(store.pool()).await
            && listener.listen("imid_chat").await.is_ok()
        {
            while let Ok(notification) = listener.recv().await {
                // If the channel is full, the next check finds the room.
                let _ = names.try_send(notification.payload().to_owned());
            }
        }
        sleep(PAUSE).await;
    }
}

/// Returns the messages of the tail after one, or `None` if the tail does not say which they are.
fn since(tail: &[Message], last: Option<MessageId>) -> Option<&[Message]> {
    match last {
        Some(last) => tail.iter().position(|message| message.id == last).map(|place| &tail[place + 1..]),
        None => tail.first().is_some_and(|first| first.number == 1).then_some(tail),
    }
}

/// Returns the messages of a room after one, as events with their ID. IDs of a room are committed in order, so a client that names the last
/// one (`Last-Event-ID`) misses nothing. If the database has lost that one, a `reset` event tells the client to start again.
pub fn stream(
    rooms: &Rooms,
    room: Room,
    after: Option<MessageId>,
    mut phase: watch::Receiver<Phase>,
) -> ReceiverStream<Result<Event, Infallible>> {
    let (events, receiver) = mpsc::channel(16);
    let mut tails = rooms.follow(&room);
    let store = rooms.store.clone();
    tokio::spawn(async move {
        metrics::gauge!("chat_streams").increment(1.0);
        let mut last = after;
        'open: while *phase.borrow() < Phase::Stopping {
            let tail = tails.borrow_and_update().clone();
            let new = match since(&tail, last) {
                Some(new) => Ok(Some(new.to_vec())),
                None => store.after(&room, last).await,
            };
            let is_away = new.is_err();
            let Some(new) = new.unwrap_or(Some(Vec::new())) else {
                let _ = events.send(Ok(Event::default().event("reset").data("lost"))).await;
                break;
            };
            let is_idle = new.is_empty();
            for message in new {
                let event = Event::default().id(message.id.to_string()).json_data(&message).expect("JSON");
                if events.send(Ok(event)).await.is_err() {
                    break 'open;
                }
                last = Some(message.id);
            }
            if is_idle {
                tokio::select! {
                    _ = tails.changed() => {}
                    () = sleep(PAUSE), if is_away => {}
                    _ = phase.changed() => {}
                    () = events.closed() => break,
                }
            }
        }
        metrics::gauge!("chat_streams").decrement(1.0);
    });
    ReceiverStream::new(receiver)
}
