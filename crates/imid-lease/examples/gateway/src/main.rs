//! A gateway that mints without the lock of a room, so it has a lease: it writes each message with its ID to a queue, here its standard
//! output. Any number of gateways share a register, which `imid lane create` makes once.
//!
//! | variable | what |
//! | --- | --- |
//! | `IMID_REGISTER` | the PostgreSQL of the leases |
//! | `GATEWAY_NAME` | its name in the register and in metrics, `gateway` unless it is set |
//! | `GATEWAY_LISTEN` | the address for users, `127.0.0.1:8080` unless it is set |
//! | `GATEWAY_OPERATIONS` | the address of `/live`, `/ready` and `/metrics`, `127.0.0.1:9090` unless it is set |
//! | `GATEWAY_DRAIN` | how many seconds it keeps serving after SIGTERM, not ready; 5 by default |

use std::env;
use std::future::IntoFuture;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use imid::{SessionTag, SessionType};
use imid_lease::register::PostgresRegister;
use imid_lease::{LaneOptions, LeasedGenerator};
use metrics_exporter_prometheus::PrometheusBuilder;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::time::timeout;

/// How long requests have to end once no new one is accepted, and how long the lane then.
const GRACE: Duration = Duration::from_secs(10);

#[derive(PartialEq, Eq)]
enum Phase {
    Serving,
    Draining,
    Stopping,
}

struct Gateway {
    ids: LeasedGenerator,
    phase: watch::Sender<Phase>,
}

/// Gives the message its ID, and puts it into the queue.
async fn send(State(gateway): State<Arc<Gateway>>, Path(room): Path<String>, body: String) -> Response {
    match gateway.ids.generate(SessionTag::new(SessionType::GROUP, &room)) {
        Ok(id) => {
            println!("{id} {room:?} {body:?}");
            (StatusCode::CREATED, id.to_string()).into_response()
        }
        Err(error) => {
            let seconds = error.retry_after().map_or(1, |pause| pause.as_secs() + 1).to_string();
            (StatusCode::SERVICE_UNAVAILABLE, [(header::RETRY_AFTER, seconds)], error.to_string()).into_response()
        }
    }
}

/// Whether it has a lane, which another gateway may not have. If only the register is away, all refuse, and none leaves the balancer.
async fn ready(State(gateway): State<Arc<Gateway>>) -> StatusCode {
    let status = gateway.ids.status();
    let is_ready = status.can_mint() || status.phase == imid_lease::Phase::Holding;
    if is_ready && *gateway.phase.borrow() == Phase::Serving { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }
}

/// Waits until only a restart helps: not while the register has gone back to an earlier state, which a new process could not notice.
async fn stopped(ids: &LeasedGenerator) {
    let error = ids.needs_restart_async().await;
    eprintln!("the lease has stopped: {error}");
}

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let variable = |name: &str, default: &str| env::var(name).unwrap_or_else(|_| default.to_owned());
    let drain = Duration::from_secs(variable("GATEWAY_DRAIN", "5").parse()?);
    // Before the lease is opened, so that its metrics are recorded.
    let metrics = PrometheusBuilder::new().install_recorder()?;
    // Before anything waits: the first process of a container ignores a signal that nobody handles.
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);

    let options = LaneOptions::new().holder(variable("GATEWAY_NAME", "gateway"));
    let ids = LeasedGenerator::open(PostgresRegister::from_url(&env::var("IMID_REGISTER")?)?, options)?;
    let gateway = Arc::new(Gateway { ids, phase: watch::Sender::new(Phase::Serving) });
    let operations = Router::new().route("/live", get(|| async {})).route("/ready", get(ready));
    let operations = operations.route("/metrics", get(async move || metrics.render())).with_state(gateway.clone());
    let operator = TcpListener::bind(variable("GATEWAY_OPERATIONS", "127.0.0.1:9090")).await?;
    tokio::spawn(axum::serve(operator, operations).into_future());
    let router = Router::new().route("/rooms/{room}/messages", post(send)).with_state(gateway.clone());
    let listener = TcpListener::bind(variable("GATEWAY_LISTEN", "127.0.0.1:8080")).await?;
    let mut end = gateway.phase.subscribe();
    let server = axum::serve(listener, router).with_graceful_shutdown(async move {
        let _ = end.wait_for(|phase| *phase == Phase::Stopping).await;
    });
    let server = tokio::spawn(server.into_future());
    let mut code = ExitCode::SUCCESS;
    tokio::select! {
        _ = terminate.recv() => {
            // `/ready` answers 503, and all else as before, until the balancer sends new requests to others.
            gateway.phase.send_replace(Phase::Draining);
            let _ = timeout(drain, interrupt.recv()).await;
        }
        _ = interrupt.recv() => {}
        () = stopped(&gateway.ids) => code = ExitCode::FAILURE,
    }
    // New connections are refused, and requests that run are answered. Then the lane is free immediately.
    gateway.phase.send_replace(Phase::Stopping);
    let _ = timeout(GRACE, server).await;
    if gateway.ids.status().lane.is_some() {
        let _ = timeout(GRACE, gateway.ids.close_async()).await;
    }
    Ok(code)
}
