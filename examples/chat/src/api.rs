//! The HTTP interface.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::sse::{KeepAlive, Sse};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post, put};
use axum::{Json, Router};
use imid::MessageId;
use metrics_exporter_prometheus::PrometheusHandle;
use serde::Deserialize;
use tokio::sync::watch;

use crate::room::Room;
use crate::store::{Message, Store, Unread};
use crate::{Failure, Phase, live};

/// The most bytes of a message.
const BODY_LIMIT: usize = 4_000;

/// What the handlers share.
#[derive(Clone)]
pub struct Gateway {
    pub store: Arc<Store>,
    pub rooms: Arc<live::Rooms>,
    pub phase: watch::Receiver<Phase>,
    pub metrics: PrometheusHandle,
}

/// Returns the routes for users.
pub fn router(gateway: Gateway) -> Router {
    Router::new()
        .route("/", get(|| async { Html(include_str!("page.html")) }))
        .route("/rooms/{room}/messages", post(send).get(messages))
        .route("/rooms/{room}/events", get(events))
        .route("/rooms/{room}/read", put(read))
        .route("/unread", get(unread))
        .with_state(gateway)
}

/// Returns the routes for operators and probes, which have a port of their own.
pub fn operations(gateway: Gateway) -> Router {
    Router::new()
        .route("/live", get(|| async {}))
        .route("/ready", get(ready))
        .route("/metrics", get(metrics))
        .with_state(gateway)
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let Self(status, reason) = self;
        if status.is_client_error() {
            return (status, reason).into_response();
        }
        metrics::counter!("chat_failures_total").increment(1);
        eprintln!("{reason}");
        // The client sends it again, to any gateway, with the same key.
        (status, [(header::RETRY_AFTER, "1")], reason).into_response()
    }
}

/// What the query of a request can have.
#[derive(Deserialize)]
struct Asked {
    user: String,
    /// Only messages before this one.
    before: Option<MessageId>,
    /// Only messages from this Unix millisecond on.
    from: Option<u64>,
    /// Only messages up to this Unix millisecond; `before` is then not used.
    to: Option<u64>,
    /// The stream begins after this message, or with the first one. `Last-Event-ID` takes precedence.
    after: Option<MessageId>,
}

/// Reads the name of a room, and checks that the user may use it.
fn admit(room: &str, user: &str) -> Result<Room, Failure> {
    let room = Room::parse(room).map_err(Failure::request)?;
    if user.is_empty() || user.len() > 64 || user.chars().any(char::is_control) {
        return Err(Failure::request(format!(
            "expected a user of 1 to 64 bytes without control characters, found {user:?}"
        )));
    }
    if !room.admits(user) {
        return Err(Failure(StatusCode::FORBIDDEN, "a private chat is for its two users".to_owned()));
    }
    Ok(room)
}

#[derive(Deserialize)]
struct Draft {
    /// Chosen by the client, the same each time it sends this message.
    key: String,
    body: String,
}

/// Stores a message. The same key again returns the message that is stored.
async fn send(
    State(gateway): State<Gateway>,
    Path(room): Path<String>,
    Query(Asked { user, .. }): Query<Asked>,
    Json(draft): Json<Draft>,
) -> Result<(StatusCode, Json<Message>), Failure> {
    let room = admit(&room, &user)?;
    if draft.key.is_empty() || draft.key.len() > 100 || draft.body.len() > BODY_LIMIT {
        let (key, body) = (draft.key.len(), draft.body.len());
        return Err(Failure::request(format!(
            "expected a key of 1 to 100 bytes and a body of at most {BODY_LIMIT}, found {key} and {body}"
        )));
    }
    let (message, is_new) = gateway.store.post(&room, &user, &draft.key, &draft.body).await?;
    metrics::counter!("chat_messages_total", "new" => is_new.to_string()).increment(1);
    Ok((if is_new { StatusCode::CREATED } else { StatusCode::OK }, Json(message)))
}

/// A page of a room, the latest message first. The IDs have the time.
async fn messages(
    State(gateway): State<Gateway>,
    Path(room): Path<String>,
    Query(page): Query<Asked>,
) -> Result<Json<Vec<Message>>, Failure> {
    let room = admit(&room, &page.user)?;
    let first = |ms| MessageId::range(ms..).map(|ids| *ids.start()).map_err(Failure::request);
    let from = page.from.map_or(Ok(MessageId::MIN), first)?;
    let before = page.to.map_or(Ok(page.before.unwrap_or(MessageId::MAX)), |ms| first(ms.saturating_add(1)))?;
    Ok(Json(gateway.store.page(&room, from, before).await?))
}

/// Live messages, as server-sent events. `reset` means that the database has lost the message to begin after: read the room again.
async fn events(
    State(gateway): State<Gateway>,
    Path(room): Path<String>,
    Query(start): Query<Asked>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let room = admit(&room, &start.user)?;
    let last =
        match headers.get("last-event-id") {
            Some(id) => Some(id.to_str().ok().and_then(|id| id.parse().ok()).ok_or_else(|| {
                Failure::request(format!("expected the ID of a message as Last-Event-ID, found {id:?}"))
            })?),
            None => start.after,
        };
    let stream = live::stream(&gateway.rooms, room, last, gateway.phase);
    Ok(Sse::new(stream).keep_alive(KeepAlive::default()).into_response())
}

#[derive(Deserialize)]
struct Mark {
    /// The last message that was read. Without it, the room is only added to the user's list.
    id: Option<MessageId>,
}

/// Moves the marker of a reader.
async fn read(
    State(gateway): State<Gateway>,
    Path(room): Path<String>,
    Query(Asked { user, .. }): Query<Asked>,
    Json(mark): Json<Mark>,
) -> Result<StatusCode, Failure> {
    let room = admit(&room, &user)?;
    if gateway.store.mark(&room, &user, mark.id).await? {
        return Ok(StatusCode::NO_CONTENT);
    }
    Err(Failure::request(format!("expected a message of {}, found {:?}", room.name, mark.id)))
}

/// How many messages the user has not read, by room.
async fn unread(State(gateway): State<Gateway>, Query(asked): Query<Asked>) -> Result<Json<Vec<Unread>>, Failure> {
    Ok(Json(gateway.store.unread(&asked.user).await?))
}

/// Whether a balancer should send requests here. It does not ask the database: if that is away, all gateways would leave the balancer
/// at the same time, and with them the open streams and the errors that say when to retry.
async fn ready(State(gateway): State<Gateway>) -> StatusCode {
    let is_ready = *gateway.phase.borrow() == Phase::Serving && gateway.store.is_ready();
    if is_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }
}

/// Metrics of the gateway and of its lease, in Prometheus' format.
async fn metrics(State(gateway): State<Gateway>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], gateway.metrics.render())
}
