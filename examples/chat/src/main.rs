//! One gateway of a chat: see README.md. Any number of them share one PostgreSQL.
//!
//! | variable | what |
//! | --- | --- |
//! | `DATABASE_URL` | PostgreSQL, for the messages and the leases |
//! | `CHAT_LISTEN` | the address, `127.0.0.1:8080` unless it is set |
//! | `CHAT_NAME` | the name of this gateway in the database and in metrics, `chat` unless it is set |
//! | `CHAT_CONNECTIONS` | the most connections of its pool, 20 unless it is set; the lease has one more |
//! | `CHAT_DRAIN` | how many seconds it goes on after SIGTERM, not ready, 5 unless it is set |

mod api;
mod live;
mod room;
mod store;

use std::env;
use std::fmt;
use std::future::IntoFuture;
use std::time::Duration;

use imid_lease::register::PostgresRegister;
use imid_lease::{LaneOptions, LeasedGenerator};
use metrics_exporter_prometheus::PrometheusBuilder;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{broadcast, watch};
use tokio::time::timeout;

/// How long the lease may take at the start.
const OPEN: Duration = Duration::from_secs(60);
/// How long requests have to end once no new one is accepted, and how long the lane then.
const GRACE: Duration = Duration::from_secs(10);

/// What a gateway does. It only goes forward.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Phase {
    Serving,
    /// It serves, and says that it is not ready, so that a balancer sends requests to others.
    Draining,
    Stopping,
}

/// Why a request cannot be answered.
#[derive(Debug)]
pub enum Failure {
    /// The request is wrong.
    Request(String),
    /// The user is not of this private chat.
    Stranger,
    /// The database or the lease cannot do it now.
    Later(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request(reason) | Self::Later(reason) => f.write_str(reason),
            Self::Stranger => f.write_str("a private chat is for its two users"),
        }
    }
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Later(error.to_string())
    }
}

/// Reads a number from the environment.
fn number(name: &str, default: u32) -> Result<u32, String> {
    let Ok(text) = env::var(name) else { return Ok(default) };
    text.parse().map_err(|_| format!("{name}: expected a number, found {text:?}"))
}

/// Ends a gateway that has no lane yet. It can be granted one in this moment.
async fn stop_early(ids: LeasedGenerator) -> Result<(), Box<dyn std::error::Error>> {
    ids.close_async(GRACE).await;
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = env::var("DATABASE_URL").map_err(|error| format!("DATABASE_URL: {error}"))?;
    let listen = env::var("CHAT_LISTEN").unwrap_or_else(|_| "127.0.0.1:8080".to_owned());
    let name = env::var("CHAT_NAME").unwrap_or_else(|_| "chat".to_owned());
    let connections = number("CHAT_CONNECTIONS", 20)?;
    if connections < 2 {
        return Err(format!("CHAT_CONNECTIONS: expected at least 2, one of which listens, found {connections}").into());
    }
    let drain = Duration::from_secs(number("CHAT_DRAIN", 5)?.into());
    let metrics = PrometheusBuilder::new().install_recorder()?;
    // Before anything waits: the first process of a container ignores a signal that nobody handles.
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);

    let ids = LeasedGenerator::open(PostgresRegister::from_url(&url)?, LaneOptions::new().holder(&name))?;
    tokio::select! {
        opened = ids.wait_until_open_async(OPEN) => opened?,
        _ = terminate.recv() => return stop_early(ids).await,
        _ = interrupt.recv() => return stop_early(ids).await,
    }
    let store = store::Store::open(&url, &name, connections, ids).await.map_err(|failure| failure.to_string())?;
    let (rooms, _) = broadcast::channel(1_024);
    tokio::spawn(live::listen(store.pool().clone(), rooms.clone()));

    let (phase, phases) = watch::channel(Phase::Serving);
    let mut end = phases.clone();
    let router = api::router(api::Gateway { store: store.clone(), rooms, phase: phases, metrics });
    let listener = TcpListener::bind(&listen).await?;
    println!("{name} listens on {listen}");
    let server = axum::serve(listener, router).with_graceful_shutdown(async move {
        let _ = end.wait_for(|phase| *phase == Phase::Stopping).await;
    });
    let server = tokio::spawn(server.into_future());

    tokio::select! {
        _ = terminate.recv() => {
            // `/ready` answers 503, and all else as before, until the balancer sends new requests to others.
            phase.send_replace(Phase::Draining);
            let _ = timeout(drain, interrupt.recv()).await;
        }
        _ = interrupt.recv() => {}
    }
    // Streams end, new connections are refused, and requests that run are answered. Then the lane is free at once.
    phase.send_replace(Phase::Stopping);
    let _ = timeout(GRACE, server).await;
    store.close(GRACE).await;
    Ok(())
}
