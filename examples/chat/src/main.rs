//! One gateway of a chat: see README.md. Any number of them share one PostgreSQL.
//!
//! | variable | what |
//! | --- | --- |
//! | `DATABASE_URL` | PostgreSQL |
//! | `CHAT_LISTEN` | the address, `127.0.0.1:8080` unless it is set |
//! | `CHAT_CONNECTIONS` | the most connections that it has besides the one that listens, 20 unless it is set |
//! | `CHAT_DRAIN` | how many seconds it keeps serving after SIGTERM, not ready; 5 by default |

mod api;
mod live;
mod room;
mod store;

use std::env;
use std::future::IntoFuture;
use std::str::FromStr;
use std::time::Duration;

use axum::http::StatusCode;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{sleep, timeout};

use crate::live::Gateway;
use crate::store::Store;

/// What a gateway does. It only goes forward.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Phase {
    /// It has not yet seen the database.
    Starting,
    Serving,
    /// It serves, and says that it is not ready, so that a balancer sends requests to others.
    Draining,
    Stopping,
}

/// Why a request cannot be answered: the status, and a text for the client.
#[derive(Debug)]
pub struct Failure(pub StatusCode, pub String);

impl Failure {
    /// The request is wrong, and stays wrong.
    pub fn request(reason: impl ToString) -> Self {
        Self(StatusCode::BAD_REQUEST, reason.to_string())
    }

    /// The database cannot do it now.
    pub fn later(reason: impl ToString) -> Self {
        Self(StatusCode::SERVICE_UNAVAILABLE, reason.to_string())
    }
}

impl From<sqlx::Error> for Failure {
    fn from(error: sqlx::Error) -> Self {
        // A text that PostgreSQL never takes, such as one with a NUL, or a row that is too large for it.
        let code = error.as_database_error().and_then(|error| error.code());
        let is_request = code.is_some_and(|code| ["22021", "54000"].contains(&code.as_ref()));
        if is_request { Self::request(error) } else { Self::later(error) }
    }
}

/// Reads a variable from the environment.
fn variable<T: FromStr>(name: &str, default: &str) -> Result<T, String> {
    let text = env::var(name).unwrap_or_else(|_| default.to_owned());
    text.parse().map_err(|_| format!("{name}: expected a number, found {text:?}"))
}

/// Makes the tables, says that the gateway serves, and keeps the followed rooms up to date.
async fn run(gateway: &Gateway) -> Result<(), Failure> {
    gateway.store.create_tables().await?;
    gateway.phase.send_modify(|now| *now = (*now).max(Phase::Serving));
    gateway.keep().await
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = env::var("DATABASE_URL").map_err(|error| format!("DATABASE_URL: {error}"))?;
    let listen: String = variable("CHAT_LISTEN", "127.0.0.1:8080")?;
    let connections = variable("CHAT_CONNECTIONS", "20")?;
    let drain = Duration::from_secs(variable("CHAT_DRAIN", "5")?);
    // Before anything waits: the first process of a container ignores a signal that nobody handles.
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);

    // It does not wait for the database: until that answers, requests are refused, and `/ready` says so.
    let gateway = Gateway::new(Store::new(&url, connections)?);
    let (running, mut end) = (gateway.clone(), gateway.phase.subscribe());
    tokio::spawn(async move {
        while let Err(failure) = run(&running).await {
            eprintln!("{}", failure.1);
            sleep(Duration::from_secs(1)).await;
        }
    });
    let listener = TcpListener::bind(&listen).await?;
    println!("listening on {listen}");
    let server = axum::serve(listener, api::router(gateway.clone())).with_graceful_shutdown(async move {
        let _ = end.wait_for(|phase| *phase == Phase::Stopping).await;
    });
    let server = tokio::spawn(server.into_future());

    tokio::select! {
        _ = terminate.recv() => {
            // `/ready` answers 503, and all else as before, until the balancer sends new requests to others.
            gateway.phase.send_replace(Phase::Draining);
            let _ = timeout(drain, interrupt.recv()).await;
        }
        _ = interrupt.recv() => {}
    }
    // Streams end, new connections are refused, and requests that run have 10 s to be answered.
    gateway.phase.send_replace(Phase::Stopping);
    let _ = timeout(Duration::from_secs(10), server).await;
    Ok(())
}
