//! The HTTP interface.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::sse::KeepAlive;
use axum::response::{Html, IntoResponse, Response, Sse};
use axum::routing::{get, post, put};
use axum::{Json, Router};
use imid::MessageId;
use serde::Deserialize;

use crate::live::{self, Gateway};
use crate::room::{Room, is_name};
use crate::store::Message;
use crate::{Failure, Phase};

/// The most bytes of a message.
const BODY_LIMIT: usize = 4_000;

/// Returns the routes.
pub fn router(gateway: Arc<Gateway>) -> Router {
    Router::new()
        .route("/", get(|| async { Html(include_str!("page.html")) }))
        .route("/rooms/{room}/messages", post(send).get(messages))
        .route("/rooms/{room}/events", get(events))
        .route("/rooms/{room}/read", put(read))
        .route("/unread", get(unread))
        .route("/live", get(|| async {}))
        .route("/ready", get(ready))
        .with_state(gateway)
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let Self(status, reason) = self;
        if status.is_client_error() {
            return (status, reason).into_response();
        }
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
    /// The stream or the unread messages begin after this message, or with the first one. `Last-Event-ID` takes precedence.
    after: Option<MessageId>,
}

type Shared = State<Arc<Gateway>>;
type Request = (Path<String>, Query<Asked>);

/// Reads the name of a room, and checks that the user may use it.
fn admit((Path(room), Query(asked)): Request) -> Result<(Room, Asked), Failure> {
    let room = Room::parse(&room).map_err(Failure::request)?;
    if !is_name(&asked.user) {
        return Err(Failure::request(format!(
            "expected a user of 1 to 64 bytes without control characters, found {:?}",
            asked.user
        )));
    }
    if !room.admits(&asked.user) {
        return Err(Failure(StatusCode::FORBIDDEN, "a private chat is for its two users".to_owned()));
    }
    Ok((room, asked))
}

#[derive(Deserialize)]
struct Draft {
    /// Chosen by the client, the same each time it sends this message.
    key: String,
    body: String,
}

/// Stores a message. The same key again returns the message that is stored.
async fn send(State(gateway): Shared, to: Request, Json(draft): Json<Draft>) -> Result<Response, Failure> {
    let (room, Asked { user, .. }) = admit(to)?;
    if draft.key.is_empty() || draft.key.len() > 100 || draft.body.len() > BODY_LIMIT {
        let (key, body) = (draft.key.len(), draft.body.len());
        return Err(Failure::request(format!(
            "expected a key of 1 to 100 bytes and a body of at most {BODY_LIMIT}, found {key} and {body}"
        )));
    }
    let (message, is_new) = gateway.store.post(&room, &user, &draft.key, &draft.body).await?;
    Ok((if is_new { StatusCode::CREATED } else { StatusCode::OK }, Json(message)).into_response())
}

/// A page of a room, the latest message first. The IDs have the time.
async fn messages(State(gateway): Shared, of: Request) -> Result<Json<Vec<Message>>, Failure> {
    let (room, page) = admit(of)?;
    let first = |ms| MessageId::range(ms..).map(|ids| *ids.start()).map_err(Failure::request);
    let from = page.from.map_or(Ok(MessageId::MIN), first)?;
    let before = page.to.map_or(Ok(page.before.unwrap_or(MessageId::MAX)), |ms| first(ms.saturating_add(1)))?;
    Ok(Json(gateway.store.page(&room, from, before).await?))
}

/// Live messages, as server-sent events. `reset` means that the database has lost the message to begin after: read the room again.
async fn events(State(gateway): Shared, of: Request, headers: HeaderMap) -> Result<Response, Failure> {
    let (room, Asked { mut after, .. }) = admit(of)?;
    if let Some(id) = headers.get("last-event-id") {
        after =
            Some(id.to_str().ok().and_then(|id| id.parse().ok()).ok_or_else(|| {
                Failure::request(format!("expected the ID of a message as Last-Event-ID, found {id:?}"))
            })?);
    }
    Ok(Sse::new(live::stream(gateway, room, after)).keep_alive(KeepAlive::default()).into_response())
}

/// Moves the marker of a reader.
async fn read(State(gateway): Shared, of: Request) -> Result<StatusCode, Failure> {
    let (room, Asked { user, after, .. }) = admit(of)?;
    if gateway.store.mark(&room, &user, after).await? {
        return Ok(StatusCode::NO_CONTENT);
    }
    Err(Failure::request(format!("expected a message of {}, found {after:?}", room.name)))
}

/// How many messages the user has not read, by room.
async fn unread(State(gateway): Shared, Query(asked): Query<Asked>) -> Result<Json<HashMap<String, i64>>, Failure> {
    Ok(Json(gateway.store.unread(&asked.user).await?.into_iter().collect()))
}

/// Whether a balancer should send requests here. It does not ask the database: if that is away, all gateways would leave the balancer
/// at the same time, and with them the open streams and the errors that say when to retry.
async fn ready(State(gateway): Shared) -> StatusCode {
    if *gateway.phase.borrow() == Phase::Serving { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }
}
