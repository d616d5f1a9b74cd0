//! Logins, and the token that they get.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use http::HeaderValue;
use tokio::runtime::Builder;
use tokio::time::timeout;

use super::code;
use super::dial::Dial;
use super::grpc::Refused;
use super::messages::{AuthenticateRequest, AuthenticateResponse};
use crate::register::remote::Failure;
use crate::register::worker::Worker;
use crate::wait::lock;

/// How long a login may take. Each costs etcd about 60 ms of a processor (bcrypt), and a fleet logs in at once.
const LIMIT: Duration = Duration::from_secs(60);

/// The longest wait before the first repetition, and before any.
const FIRST_WAIT_MS: u64 = 250;
const LONGEST_WAIT_MS: u64 = 8_000;

/// The user or the password is wrong or missing.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(super) struct WrongLogin(pub(super) Failure);

/// The token of a user, which outlives connections.
///
/// A login goes on when the call that has asked for it gives up, and the next call waits for the same one. If each call began its own,
/// a fleet would keep etcd busy with logins that nobody waits for.
#[derive(Default)]
pub(super) struct Logins {
    token: Mutex<Option<HeaderValue>>,
    /// How many logins in a row have failed.
    failures: AtomicU32,
    worker: Worker<Result<Option<HeaderValue>, Failure>>,
}

impl Logins {
    /// Returns the token of the last login, if there was one.
    pub(super) fn token(&self) -> Option<HeaderValue> {
        lock(&self.token).clone()
    }

    /// Returns a new token; `None` while authentication is disabled.
    pub(super) async fn log_in(
        &self,
        dial: &Dial,
        member: &str,
        request: &AuthenticateRequest,
    ) -> Result<Option<HeaderValue>, Failure> {
        let (dial, member, request, wait) = (dial.clone(), member.to_owned(), request.clone(), self.wait()?);
        let log_in = move || {
            thread::sleep(wait);
            let runtime = Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(async { timeout(LIMIT, authenticate(&dial, &member, &request)).await? })
        };
        let made = self.worker.run("the login", log_in).await?;
        match &made {
            Ok(token) => {
                self.failures.store(0, Ordering::Relaxed);
                lock(&self.token).clone_from(token);
            }
            Err(_) => _ = self.failures.fetch_add(1, Ordering::Relaxed),
        }
        made
    }

    /// Returns how long the next login waits, by chance: logins that have failed together must not come back together.
    fn wait(&self) -> Result<Duration, Failure> {
        let failures = self.failures.load(Ordering::Relaxed);
        if failures == 0 {
            return Ok(Duration::ZERO);
        }
        let longest_ms = (FIRST_WAIT_MS << (failures - 1).min(16)).min(LONGEST_WAIT_MS);
        Ok(Duration::from_millis(getrandom::u64()? % (longest_ms + 1)))
    }
}

async fn authenticate(
    dial: &Dial,
    member: &str,
    request: &AuthenticateRequest,
) -> Result<Option<HeaderValue>, Failure> {
    let mut client = dial.client(member).await?;
    match client.call::<AuthenticateResponse>("Auth/Authenticate", request).await {
        Ok(reply) => {
            let mut token = HeaderValue::from_str(&reply.token)?;
            token.set_sensitive(true);
            Ok(Some(token))
        }
        // Somebody has disabled authentication. The lease continues, as etcd's own clients do.
        Err(failure) if code(&failure) == Some(Refused::FAILED_PRECONDITION) => Ok(None),
        Err(failure) if code(&failure) == Some(Refused::INVALID_ARGUMENT) => Err(WrongLogin(failure).into()),
        Err(failure) => Err(failure),
    }
}
