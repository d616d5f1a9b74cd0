//! etcd.

mod dial;
mod grpc;
mod login;
mod messages;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use prost::Message;

use self::dial::Dial;
use self::grpc::{Client, Refused};
use self::login::{Logins, WrongLogin};
use self::messages::{
    AlarmResponse, AuthenticateRequest, KeyValue, RangeRequest, RangeResponse, ResponseHeader, StatusResponse,
    TxnRequest, TxnResponse,
};
use super::hosts::{Hosts, Incomplete, User, login};
use super::remote::{Aside, Failure, Remote, Server, Settings, remote_register};
use super::{Promise, RegisterError};

remote_register! {
    /// A register in etcd 3.4 or later. It is **strong** as the [crate's table](crate#registers) says.
    ///
    /// The records are keys under `imid-register/`. Reads are linearizable, and a write is one transaction. After etcd is restored
    /// from a snapshot, no client may connect until [`admin::recover`](crate::admin::recover) has run.
    ///
    /// etcd keeps every version of a record until it is compacted: start it with `--auto-compaction-retention=1h`, or 16
    /// lanes fill its default quota in about 19 days.
    ///
    /// After an error, the next member in the URL is asked. Connections have no names.
    ///
    /// etcd has no call that tells the time. The time of this register is the date of a reply of HTTP, accurate to half a second, for
    /// which it opens another connection every 10 s, for a moment; if that fails, the first one stays open.
    ///
    /// With users, each register logs in once, and keeps its token over connections until etcd refuses it. A login costs etcd about
    /// 60 ms of a processor (bcrypt at its default cost), so a fleet of 200 that starts together, or whose etcd restarts, takes 12 s of
    /// one. Client certificates (`--client-cert-auth`) cost nothing, and so does a lower `--bcrypt-cost` when the users are made.
    EtcdRegister, Etcd
}

/// What [`room`] found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EtcdRoom {
    /// Size of the database of the member that answered. Defragmentation makes it smaller, compaction does not.
    pub bytes: u64,
    /// Names of the alarms, such as `NOSPACE` and `CORRUPT`.
    pub alarms: Vec<String>,
}

/// The folder of the records. It is never empty, so a prefix of keys has an end.
const ROOT: &str = "imid-register/";

impl EtcdRegister {
    /// Reads a URL, such as `etcd://user:password@host1:2379,host2:2379`. Does not connect yet. While etcd's authentication is disabled,
    /// the user is ignored.
    ///
    /// `https://` (or `etcds://`) needs the feature `tls`, and checks that a member's certificate matches its host. The URL can
    /// then have etcdctl's parameters: `cacert`, a file of CAs instead of the system's, and the files `cert` and `key` of a client
    /// certificate: `https://host1:2379,https://host2:2379?cacert=/etc/ca.pem`.
    ///
    /// # Errors
    /// The URL is invalid, or needs the feature `tls`.
    pub fn from_url(url: &str) -> Result<Self, RegisterError> {
        let Hosts { user, addresses, path, tls } =
            Hosts::parse(url, "etcd", "etcd", &["https", "etcds"], 2379).map_err(RegisterError::of_url)?;
        if !path.is_empty() {
            return Err(RegisterError::new("cannot read the etcd URL: expected no path").of_url());
        }
        let place = format!("etcd at {}", addresses.join(","));
        Ok(Self(Remote::new(
            Etcd { members: addresses, next: AtomicUsize::new(0), user, logins: Arc::default() },
            place,
            tls,
        )))
    }
}

/// Returns how much room etcd uses: its size and its alarms. A full quota (`NOSPACE`) makes each write an error until it is repaired.
///
/// # Errors
/// etcd does not answer, or the user has no right to ask.
pub fn room(register: &mut EtcdRegister) -> Result<EtcdRoom, RegisterError> {
    let status = register.0.call(format_args!("read the size"), async |connection| {
        connection.call::<StatusResponse>("Maintenance/Status", &()).await
    })?;
    // Without a word, the request asks for the alarms of all members.
    let alarms = register.0.call(format_args!("read the alarms"), async |connection| {
        connection.call::<AlarmResponse>("Maintenance/Alarm", &()).await
    })?;
    let name = |alarm: i32| match alarm {
        1 => "NOSPACE".into(),
        2 => "CORRUPT".into(),
        other => format!("{other}"),
    };
    Ok(EtcdRoom {
        bytes: u64::try_from(status.db_size).unwrap_or(0),
        alarms: alarms.alarms.into_iter().map(|member| name(member.alarm)).collect(),
    })
}

pub(super) struct Etcd {
    /// `host:port` of each member.
    members: Vec<String>,
    /// The member with which the next connection is tried first.
    next: AtomicUsize,
    user: Option<User>,
    logins: Arc<Logins>,
}

pub(super) struct Connection {
    dial: Dial,
    logins: Arc<Logins>,
    /// `host:port` of the one that it is a connection to.
    member: String,
    client: Client,
    login: Option<AuthenticateRequest>,
}

impl Connection {
    async fn call<T: Message + Default>(&mut self, method: &str, request: &impl Message) -> Result<T, Failure> {
        let is_unknown =
            |failure: &Failure| matches!(code(failure), Some(Refused::UNAUTHENTICATED | Refused::INVALID_ARGUMENT));
        match self.client.call(method, request).await {
            // A token ends after some minutes, and when users are changed. What was refused did nothing, so it can be sent again.
            Err(failure) if is_unknown(&failure) && self.login.is_some() => {
                self.log_in().await?;
                self.client.call(method, request).await
            }
            // etcd needs a user: the requests are right.
            Err(failure) if is_unknown(&failure) => Err(WrongLogin(failure).into()),
            result => result,
        }
    }

    /// Gets a token for the user and password, if there are any.
    async fn log_in(&mut self) -> Result<(), Failure> {
        if let Some(login) = &self.login {
            self.client.token = self.logins.log_in(&self.dial, &self.member, login).await?;
        }
        Ok(())
    }
}

/// Refuses a reply that no etcd sends: each has the revision of the store, which is at least 1. Without this, an empty message of a
/// proxy would be an empty store.
fn check(header: Option<&ResponseHeader>) -> Result<(), Failure> {
    match header {
        Some(header) if header.revision > 0 => Ok(()),
        _ => Err("expected a reply with the revision of etcd, found none".into()),
    }
}

/// Returns the status with which a member has refused a call.
fn code(failure: &Failure) -> Option<u32> {
    failure.downcast_ref().map(|Refused { code, .. }| *code)
}

fn name_of(key: &str) -> String {
    format!("{ROOT}{key}")
}

impl Server for Etcd {
    type Connection = Connection;

    async fn connect(&self, settings: &Settings) -> Result<(Connection, Promise), Failure> {
        let login = login("etcd", self.user.as_ref(), settings.password.as_ref()).await?;
        let login = login.map(|(name, password)| AuthenticateRequest { name: name.into(), password });
        let dial = Dial::new(settings);
        let member = self.members[self.next.fetch_add(1, Ordering::Relaxed) % self.members.len()].clone();
        let client = dial.client(&member).await?;
        let logins = Arc::clone(&self.logins);
        let mut connection = Connection { dial, logins, member, client, login };
        connection.client.token = self.logins.token();
        if connection.client.token.is_none() {
            connection.log_in().await?;
        }
        Ok((connection, Promise::Strong))
    }

    fn is_permanent(failure: &Failure) -> bool {
        failure.is::<WrongLogin>() || failure.is::<Incomplete>() || code(failure) == Some(Refused::PERMISSION_DENIED)
    }

    async fn read(connection: &mut Connection, key: &str) -> Result<Option<String>, Failure> {
        let found: RangeResponse = connection.call("KV/Range", &RangeRequest::of_key(name_of(key))).await?;
        check(found.header.as_ref())?;
        Ok(found.pairs.into_iter().next().map(|pair| pair.value))
    }

    async fn list(connection: &mut Connection, prefix: &str) -> Result<Vec<(String, String)>, Failure> {
        let found: RangeResponse = connection.call("KV/Range", &RangeRequest::of_prefix(name_of(prefix))).await?;
        check(found.header.as_ref())?;
        let record = |KeyValue { key, value }: KeyValue| Some((key.strip_prefix(ROOT)?.to_owned(), value));
        Ok(found.pairs.into_iter().filter_map(record).collect())
    }

    async fn compare_and_set(
        connection: &mut Connection,
        key: &str,
        seen: Option<&str>,
        value: &str,
    ) -> Result<bool, Failure> {
        let request = TxnRequest::compare_and_put(name_of(key), seen, value);
        let reply: TxnResponse = connection.call("KV/Txn", &request).await?;
        check(reply.header.as_ref())?;
        Ok(reply.succeeded)
    }

    async fn now_ms(connection: &mut Connection) -> Result<Option<u64>, Failure> {
        // A process without a file descriptor or a port left must not lose the connection that it has.
        let limit = connection.dial.time_limit / 2;
        Ok(Some(connection.dial.unix_ms(&connection.member, limit).await.map_err(Aside)?))
    }
}
