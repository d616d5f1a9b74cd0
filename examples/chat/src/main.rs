//! One gateway of a chat: see README.md. Any number of them share one PostgreSQL.
//!
//! | variable | what |
//! | --- | --- |
//! | `DATABASE_URL` | PostgreSQL, for the messages and the leases |
//! | `CHAT_LISTEN` | the address, `127.0.0.1:8080` unless it is set |
//! | `CHAT_NAME` | the name of this gateway in the database and in metrics, `chat` unless it is set |

mod api;
mod live;
mod room;
mod store;

use std::env;
use std::fmt;
use std::future::IntoFuture;
use std::time::Duration;

use imid_lease::register::PostgresRegister;
use imid_lease::{LeasedGenerator, Options};
use metrics_exporter_prometheus::PrometheusBuilder;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{broadcast, watch};
use tokio::time::timeout;

/// How long the lease may take at the start.
const OPEN: Duration = Duration::from_secs(60);
/// How long requests have to end after the signal.
const GRACE: Duration = Duration::from_secs(10);

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

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = env::var("DATABASE_URL").map_err(|error| format!("DATABASE_URL: {error}"))?;
    let listen = env::var("CHAT_LISTEN").unwrap_or_else(|_| "127.0.0.1:8080".to_owned());
    let name = env::var("CHAT_NAME").unwrap_or_else(|_| "chat".to_owned());
    let metrics = PrometheusBuilder::new().install_recorder()?;

    let ids = LeasedGenerator::open(PostgresRegister::from_url(&url)?, Options::new().holder(&name))?;
    ids.wait_until_open_async(OPEN).await?;
    let store = store::Store::open(&url, &name, ids).await.map_err(|failure| failure.to_string())?;
    let (rooms, _) = broadcast::channel(1_024);
    tokio::spawn(live::listen(store.pool().clone(), rooms.clone()));

    let (stop, stopped) = watch::channel(false);
    let mut ended = stopped.clone();
    let router = api::router(api::Gateway { store: store.clone(), rooms, stop: stopped, metrics });
    let listener = TcpListener::bind(&listen).await?;
    println!("{name} listens on {listen}");
    let server = axum::serve(listener, router).with_graceful_shutdown(async move {
        let _ = ended.wait_for(|is_stopped| *is_stopped).await;
    });
    let server = tokio::spawn(server.into_future());

    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    // Streams end, new connections are refused, and requests that run are answered. Then the lane is free at once.
    stop.send(true)?;
    let _ = timeout(GRACE, server).await;
    store.close(GRACE).await;
    Ok(())
}
