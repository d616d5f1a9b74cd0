//! Live messages. A gateway keeps the last messages of each room that somebody follows, and its streams are fed from them: so one message
//! is read once for all streams of its room, and streams of idle rooms cost the database nothing.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::iter;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::response::sse::Event;
use imid::MessageId;
use sqlx::postgres::PgListener;
use tokio::sync::{mpsc, watch};
use tokio::time::{MissedTickBehavior, interval, sleep};
use tokio_stream::wrappers::ReceiverStream;

use crate::room::Room;
use crate::store::{Message, Store};
use crate::{Failure, Phase};

/// How often a gateway compares all followed rooms, in one query, so a lost notification costs only time.
const PAUSE: Duration = Duration::from_secs(1);

/// The last messages of a room, in order.
type Tail = Arc<[Message]>;

/// What a client receives.
pub type Events = ReceiverStream<Result<Event, Infallible>>;

/// What all requests share.
pub struct Gateway {
    pub store: Store,
    pub phase: watch::Sender<Phase>,
    /// The rooms that streams of this gateway follow.
    tails: Mutex<HashMap<String, watch::Sender<Tail>>>,
}

impl Gateway {
    pub fn new(store: Store) -> Arc<Self> {
        Arc::new(Self { store, phase: watch::Sender::new(Phase::Starting), tails: Mutex::default() })
    }

    fn follow(&self, room: &Room) -> watch::Receiver<Tail> {
        let mut tails = self.tails.lock().expect("no panic");
        tails.entry(room.name.clone()).or_insert_with(|| watch::Sender::new(Arc::default())).subscribe()
    }

    /// Keeps the tails up to date until the database cannot be reached.
    pub async fn keep(&self) -> Result<(), Failure> {
        let mut listener = PgListener::connect_with(&self.store.pool).await?;
        listener.listen("imid_chat").await?;
        let mut check = interval(PAUSE);
        check.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let mut changed: HashSet<String> = tokio::select! {
                named = listener.try_recv() => named?.iter().map(|named| named.payload().to_owned()).collect(),
                _ = check.tick() => self.changed().await?,
            };
            changed.extend(iter::from_fn(|| listener.next_buffered()).map(|named| named.payload().to_owned()));
            for name in changed {
                let Some(sender) = self.tails.lock().expect("no panic").get(&name).cloned() else { continue };
                sender.send_replace(self.store.tail(&name).await?.into());
            }
        }
    }

    /// Returns the rooms whose last message is not that of the tail. Rooms that nobody follows anymore are forgotten.
    async fn changed(&self) -> Result<HashSet<String>, Failure> {
        let (names, ids): (Vec<String>, Vec<Option<MessageId>>) = {
            let mut tails = self.tails.lock().expect("no panic");
            tails.retain(|_, tail| tail.receiver_count() > 0);
            tails.iter().map(|(name, tail)| (name.clone(), tail.borrow().last().map(|message| message.id))).unzip()
        };
        if names.is_empty() {
            return Ok(HashSet::new());
        }
        Ok(self.store.changed(&names, &ids).await?.into_iter().collect())
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
pub fn stream(gateway: Arc<Gateway>, room: Room, after: Option<MessageId>) -> Events {
    let (events, receiver) = mpsc::channel(16);
    let (mut tails, mut phase) = (gateway.follow(&room), gateway.phase.subscribe());
    tokio::spawn(async move {
        let mut last = after;
        while *phase.borrow() < Phase::Stopping {
            let tail = tails.borrow_and_update().clone();
            let new = match since(&tail, last) {
                Some(new) => Ok(Some(new.to_vec())),
                None => gateway.store.after(&room, last).await,
            };
            let is_away = new.is_err();
            let Some(new) = new.unwrap_or(Some(Vec::new())) else {
                let _ = events.send(Ok(Event::default().event("reset").data("lost"))).await;
                return;
            };
            for message in &new {
                let event = Event::default().id(message.id.to_string()).json_data(message).expect("JSON");
                if events.send(Ok(event)).await.is_err() {
                    return;
                }
                last = Some(message.id);
            }
            if new.is_empty() {
                tokio::select! {
                    _ = tails.changed() => {}
                    () = sleep(PAUSE), if is_away => {}
                    _ = phase.changed() => {}
                    () = events.closed() => return,
                }
            }
        }
    });
    ReceiverStream::new(receiver)
}
