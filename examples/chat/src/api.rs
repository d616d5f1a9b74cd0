//! The HTTP interface.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::sse::{KeepAlive, Sse};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post, put};
use axum::{Json, Router};
use metrics_exporter_prometheus::PrometheusHandle;
use serde::Deserialize;
use tokio::sync::{broadcast, watch};
use utoipa::{IntoParams, OpenApi, ToSchema};

use crate::room::Room;
use crate::store::{Message, Store, Unread};
use crate::{Failure, Phase, live};

/// The most bytes of a message.
const BODY_LIMIT: usize = 4_000;
const PAGE: i64 = 50;

/// What the handlers share.
#[derive(Clone)]
pub struct Gateway {
    pub store: Arc<Store>,
    pub rooms: broadcast::Sender<String>,
    pub phase: watch::Receiver<Phase>,
    pub metrics: PrometheusHandle,
}

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Chat",
        description = "A room is `group:NAME` or `private:A:B`. The user is trusted: authenticate before this."
    ),
    paths(send, messages, search, events, read, unread, ready, metrics)
)]
struct Api;

/// Returns the routes.
pub fn router(gateway: Gateway) -> Router {
    Router::new()
        .route("/", get(|| async { Html(include_str!("page.html")) }))
        .route("/rooms/{room}/messages", post(send).get(messages))
        .route("/rooms/{room}/search", get(search))
        .route("/rooms/{room}/events", get(events))
        .route("/rooms/{room}/read", put(read))
        .route("/unread", get(unread))
        .route("/ready", get(ready))
        .route("/metrics", get(metrics))
        .route("/openapi.json", get(|| async { Json(Api::openapi()) }))
        .with_state(gateway)
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let status = match self {
            Self::Request(_) => StatusCode::BAD_REQUEST,
            Self::Stranger => StatusCode::FORBIDDEN,
            // The client sends it again, to any gateway, with the same key.
            Self::Later(_) => StatusCode::SERVICE_UNAVAILABLE,
        };
        if status.is_server_error() {
            metrics::counter!("chat_failures_total").increment(1);
            eprintln!("{self}");
        }
        (status, self.to_string()).into_response()
    }
}

#[derive(Deserialize, IntoParams)]
struct User {
    user: String,
}

/// Reads the name of a room, and checks that the user may use it.
fn admit(room: &str, user: &str) -> Result<Room, Failure> {
    let room = Room::parse(room).map_err(Failure::Request)?;
    if user.is_empty() || user.len() > 64 {
        return Err(Failure::Request(format!("expected a user of 1 to 64 bytes, found {}", user.len())));
    }
    if room.admits(user) { Ok(room) } else { Err(Failure::Stranger) }
}

#[derive(Deserialize, ToSchema)]
struct Draft {
    /// Chosen by the client, the same each time it sends this message.
    key: String,
    body: String,
}

/// Stores a message. The same key again returns the message that is stored.
#[utoipa::path(post, path = "/rooms/{room}/messages", params(("room" = String, Path), User), request_body = Draft,
    responses((status = 201, body = Message), (status = 200, body = Message, description = "known")))]
async fn send(
    State(gateway): State<Gateway>,
    Path(room): Path<String>,
    Query(User { user }): Query<User>,
    Json(draft): Json<Draft>,
) -> Result<(StatusCode, Json<Message>), Failure> {
    let room = admit(&room, &user)?;
    if draft.key.is_empty() || draft.key.len() > 100 || draft.body.len() > BODY_LIMIT {
        let (key, body) = (draft.key.len(), draft.body.len());
        return Err(Failure::Request(format!(
            "expected a key of 1 to 100 bytes and a body of at most {BODY_LIMIT}, found {key} and {body}"
        )));
    }
    let (message, is_new) = gateway.store.post(&room, &user, &draft.key, &draft.body).await?;
    metrics::counter!("chat_messages_total", "new" => is_new.to_string()).increment(1);
    Ok((if is_new { StatusCode::CREATED } else { StatusCode::OK }, Json(message)))
}

#[derive(Deserialize, IntoParams)]
struct Page {
    user: String,
    /// The page after this number, in order.
    after: Option<i64>,
    /// The page before this number, the latest first. Without both, the latest page.
    before: Option<i64>,
}

/// A page of a room.
#[utoipa::path(get, path = "/rooms/{room}/messages", params(("room" = String, Path), Page), responses((status = 200, body = [Message])))]
async fn messages(
    State(gateway): State<Gateway>,
    Path(room): Path<String>,
    Query(page): Query<Page>,
) -> Result<Json<Vec<Message>>, Failure> {
    let room = admit(&room, &page.user)?;
    Ok(Json(match (page.after, page.before) {
        (Some(after), None) => gateway.store.after(&room, after, PAGE).await?,
        (None, before) => gateway.store.before(&room, before.unwrap_or(i64::MAX), PAGE).await?,
        (Some(_), Some(_)) => return Err(Failure::Request("expected after or before, found both".to_owned())),
    }))
}

#[derive(Deserialize, IntoParams)]
struct Times {
    user: String,
    /// The first unix millisecond.
    from: u64,
    /// The last unix millisecond.
    to: u64,
}

/// The first messages of a time.
#[utoipa::path(get, path = "/rooms/{room}/search", params(("room" = String, Path), Times), responses((status = 200, body = [Message])))]
async fn search(
    State(gateway): State<Gateway>,
    Path(room): Path<String>,
    Query(times): Query<Times>,
) -> Result<Json<Vec<Message>>, Failure> {
    let room = admit(&room, &times.user)?;
    Ok(Json(gateway.store.search(&room, times.from, times.to, PAGE).await?))
}

#[derive(Deserialize, IntoParams)]
struct Start {
    user: String,
    /// The first stream begins after this number. A browser that connects again sends `Last-Event-ID`, which goes before it.
    after: Option<i64>,
}

/// Live messages, as server-sent events.
#[utoipa::path(get, path = "/rooms/{room}/events", params(("room" = String, Path), Start), responses((status = 200, content_type = "text/event-stream")))]
async fn events(
    State(gateway): State<Gateway>,
    Path(room): Path<String>,
    Query(start): Query<Start>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let room = admit(&room, &start.user)?;
    let last = match headers.get("last-event-id") {
        Some(number) => number.to_str().ok().and_then(|number| number.parse().ok()).ok_or_else(|| {
            Failure::Request(format!("expected the number of a message as Last-Event-ID, found {number:?}"))
        })?,
        None => start.after.unwrap_or(0),
    };
    // Subscribed before the first query, so no message falls between.
    let rooms = gateway.rooms.subscribe();
    let stream = live::stream(gateway.store, room, last, rooms, gateway.phase);
    Ok(Sse::new(stream).keep_alive(KeepAlive::default()).into_response())
}

#[derive(Deserialize, ToSchema)]
struct Mark {
    /// The last message that was read.
    number: i64,
}

/// Moves the marker of a reader.
#[utoipa::path(put, path = "/rooms/{room}/read", params(("room" = String, Path), User), request_body = Mark, responses((status = 204)))]
async fn read(
    State(gateway): State<Gateway>,
    Path(room): Path<String>,
    Query(User { user }): Query<User>,
    Json(mark): Json<Mark>,
) -> Result<StatusCode, Failure> {
    let room = admit(&room, &user)?;
    gateway.store.mark(&room, &user, mark.number).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// How many messages the user has not read, by room.
#[utoipa::path(get, path = "/unread", params(User), responses((status = 200, body = [Unread])))]
async fn unread(
    State(gateway): State<Gateway>,
    Query(User { user }): Query<User>,
) -> Result<Json<Vec<Unread>>, Failure> {
    Ok(Json(gateway.store.unread(&user).await?))
}

/// Whether this gateway can store messages, and will go on.
#[utoipa::path(get, path = "/ready", responses((status = 200), (status = 503)))]
async fn ready(State(gateway): State<Gateway>) -> StatusCode {
    let is_ready = *gateway.phase.borrow() == Phase::Serving && gateway.store.is_ready().await;
    if is_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }
}

/// Metrics of the gateway and of its lease, in Prometheus' format.
#[utoipa::path(get, path = "/metrics", responses((status = 200)))]
async fn metrics(State(gateway): State<Gateway>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], gateway.metrics.render())
}
