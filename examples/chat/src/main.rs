//! One gateway of a chat: see README.md. Any number of them share one PostgreSQL.
//!
//! | variable | what |
//! | --- | --- |
//! | `DATABASE_URL` | PostgreSQL, for the messages and the leases |
//! | `CHAT_LISTEN` | the address for users, `127.0.0.1:8080` unless it is set |
//! | `CHAT_OPERATIONS` | the address of `/live`, `/ready` and `/metrics`, `127.0.0.1:9090` unless it is set |
//! | `CHAT_NAME` | the name of this gateway in the database and in metrics, `chat` unless it is set |
//! | `CHAT_CONNECTIONS` | the most connections of its pool, 20 unless it is set; the lease has one more |
//! | `CHAT_DRAIN` | how many seconds it keeps serving after SIGTERM, not ready; 5 by default |
//! | `CHAT_MUST_EXIST` | `true`: it exits if the register does not exist. Unless it is set, the first gateway creates it |

mod api;
mod live;
mod room;
mod store;

use std::env;
use std::future::IntoFuture;
use std::mem::replace;
use std::process::ExitCode;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use imid_lease::register::PostgresRegister;
use imid_lease::{LaneOptions, LeasedGenerator};
use metrics_exporter_prometheus::PrometheusBuilder;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

/// How long requests have to end once no new one is accepted, and how long the lane then.
const GRACE: Duration = Duration::from_secs(10);

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

    /// The database or the lease cannot do it now.
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

/// Reads a setting that is on or off, and off unless it is set.
fn flag(name: &str) -> Result<bool, String> {
    let text: String = variable(name, "false")?;
    text.parse().map_err(|_| format!("{name}: expected true or false, found {text:?}"))
}

/// Makes the tables, says that the gateway serves, and keeps the followed rooms up to date.
async fn start(store: Arc<store::Store>, rooms: Arc<live::Rooms>, phase: watch::Sender<Phase>) {
    while let Err(failure) = store.create_tables().await {
        eprintln!("tables: {}", failure.1);
        sleep(Duration::from_secs(1)).await;
    }
    phase.send_if_modified(|now| *now == Phase::Starting && replace(now, Phase::Serving) == Phase::Starting);
    rooms.keep().await;
}

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let url = env::var("DATABASE_URL").map_err(|error| format!("DATABASE_URL: {error}"))?;
    let (listen, operations): (String, String) =
        (variable("CHAT_LISTEN", "127.0.0.1:8080")?, variable("CHAT_OPERATIONS", "127.0.0.1:9090")?);
    let (name, connections): (String, u32) = (variable("CHAT_NAME", "chat")?, variable("CHAT_CONNECTIONS", "20")?);
    if connections < 2 {
        return Err(format!("CHAT_CONNECTIONS: expected at least 2, one of which listens, found {connections}").into());
    }
    let drain = Duration::from_secs(variable("CHAT_DRAIN", "5")?);
    let metrics = PrometheusBuilder::new().install_recorder()?;
    // Before anything waits: the first process of a container ignores a signal that nobody handles.
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);

    let mut options = LaneOptions::new().holder(&name);
    if flag("CHAT_MUST_EXIST")? {
        options = options.must_exist();
    }
    // Neither waits for the database: until it answers and grants a lane, requests are refused, and `/ready` says so.
    let ids = LeasedGenerator::open(PostgresRegister::from_url(&url)?, options)?;
    let store = store::Store::new(&url, &name, connections, ids)?;
    let rooms = live::Rooms::new(store.clone());
    let (phase, phases) = watch::channel(Phase::Starting);
    let mut end = phases.clone();
    tokio::spawn(start(store.clone(), rooms.clone(), phase.clone()));
    let gateway = api::Gateway { store: store.clone(), rooms, phase: phases, metrics };
    let operations = axum::serve(TcpListener::bind(&operations).await?, api::operations(gateway.clone()));
    tokio::spawn(operations.into_future());
    let listener = TcpListener::bind(&listen).await?;
    println!("{name} listens on {listen}");
    let server = axum::serve(listener, api::router(gateway)).with_graceful_shutdown(async move {
        let _ = end.wait_for(|phase| *phase == Phase::Stopping).await;
    });
    let server = tokio::spawn(server.into_future());

    let mut code = ExitCode::SUCCESS;
    tokio::select! {
        _ = terminate.recv() => {
            // `/ready` answers 503, and all else as before, until the balancer sends new requests to others.
            phase.send_replace(Phase::Draining);
            let _ = timeout(drain, interrupt.recv()).await;
        }
        _ = interrupt.recv() => {}
        error = store.stopped() => {
            eprintln!("the lease has stopped: {error}");
            code = ExitCode::FAILURE;
        }
    }
    // Streams end, new connections are refused, and requests that run are answered. Then the lane is free immediately.
    phase.send_replace(Phase::Stopping);
    let _ = timeout(GRACE, server).await;
    store.close(GRACE).await;
    Ok(code)
}
