//! etcd.

mod listed;

use std::fmt;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;
use ureq::Agent;

use self::listed::{Header, Listed, Records};
use super::hosts::{Hosts, Incomplete, User, login};
use super::password::Password;
use super::tls::Tls;
use super::worker::Deadline;
use super::{
    Access, DEFAULT_TIME_LIMIT, MOST_LIMITS, Promise, Register, RegisterError, caller, check_key, check_prefix,
    check_write,
};
use crate::options::millis;
use imid::fork::Process;

/// A register in etcd 3.4 or later. It is **strong** as the [crate's table](crate#registers) says.
///
/// The records are keys under `imid-register/`. Reads are linearizable, and a write is one transaction. A list within 10 s of
/// the previous one transfers only the records that have changed. After etcd is restored from a snapshot, no client may connect
/// until [`admin::recover`](crate::admin::recover) has run.
///
/// etcd keeps every version of a record until it is compacted: start it with `--auto-compaction-retention=1h`, or 16
/// lanes fill its default quota in about 19 days.
///
/// It uses the JSON gateway that each member has on its client port, so it needs neither gRPC nor a protobuf compiler. A member
/// that is started with `--enable-grpc-gateway=false` cannot be used.
///
/// etcd has no call that tells the time. The time of this register is the date of a reply, accurate to half a second. If it is
/// more than 2 s off the system's clock, all members in the URL are asked, and the median of their times and the system's is
/// used, so name each member in the URL: one with a wrong clock is then outvoted.
pub struct EtcdRegister {
    /// `host:port` of each member.
    members: Vec<String>,
    /// The member to ask. After an error the next one is asked.
    next: usize,
    user: Option<User>,
    /// The token that a member gave for the user and password.
    auth: Option<String>,
    tls: Option<Tls>,
    password: Option<Password>,
    time_limit: Duration,
    /// How many time limits the next call may take: more than one where a whole fleet may be waiting for an answer.
    patience: u32,
    /// Whether a lease has called.
    is_of_lease: bool,
    /// `None` before the first call, and after an error, so that the files of TLS are read again.
    agent: Option<Agent>,
    /// The base of the next list.
    listed: Option<Listed>,
    process: Process,
    access: Access,
}

/// What [`EtcdRegister::room`] found.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct EtcdRoom {
    /// Size of the database of the member that answered. Defragmentation makes it smaller, compaction does not.
    pub bytes: u64,
    /// Number of versions of all keys that are not compacted.
    pub versions: u64,
    /// Names of the alarms, such as `NOSPACE` and `CORRUPT`.
    pub alarms: Vec<String>,
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// How far the time of a member can be from the clock here before the other members are asked. A date of HTTP is right to half a
/// second, and a reply takes time.
const DOUBT_MS: u64 = 2_000;

/// The folder of the records. It is never empty, so a prefix of keys has an end.
const ROOT: &str = "imid-register/";

impl EtcdRegister {
    /// Reads a URL, such as `etcd://user:password@host1:2379,host2:2379`. Does not connect yet.
    ///
    /// `https://` (or `etcds://`) needs the feature `tls`, and checks that a member's certificate matches its host. The URL can
    /// then have etcdctl's parameters: `cacert`, a file of CAs instead of the system's, and the files `cert` and `key` of a client
    /// certificate: `https://host1:2379,https://host2:2379?cacert=/etc/ca.pem`. If etcd also has users, its JSON gateway refuses a
    /// certificate with a common name (CN).
    ///
    /// # Errors
    /// The URL is invalid, or needs the feature `tls`.
    pub fn from_url(url: &str) -> Result<Self, RegisterError> {
        let Hosts { user, addresses, path, tls } =
            Hosts::parse(url, "etcd", "etcd", &["https", "etcds"], 2379).map_err(RegisterError::of_url)?;
        if !path.is_empty() {
            return Err(RegisterError::new("cannot read the etcd URL: expected no path").of_url());
        }
        Ok(Self {
            members: addresses,
            next: 0,
            user,
            auth: None,
            tls,
            password: None,
            time_limit: DEFAULT_TIME_LIMIT,
            patience: 1,
            is_of_lease: false,
            agent: None,
            listed: None,
            process: Process::current(),
            access: Access::Write,
        })
    }

    /// Sets how long a call may take. The default is [`DEFAULT_TIME_LIMIT`].
    ///
    /// After others that failed or were answered late, and at the start of a lease, it may take up to five limits: a member that a whole
    /// fleet asks needs longer.
    #[must_use]
    pub fn time_limit(mut self, time_limit: Duration) -> Self {
        self.time_limit = time_limit;
        self
    }

    /// Connects only with TLS and these settings, which replace those of the URL.
    #[cfg(feature = "tls")]
    #[must_use]
    pub fn tls(mut self, tls: Tls) -> Self {
        self.tls = Some(tls);
        self
    }

    /// Replaces the URL's password by one that is supplied for each new etcd token, such as a mounted secret that changes. The
    /// function may block; its time counts as part of the call.
    #[must_use]
    pub fn password_with(mut self, make: impl Fn() -> std::io::Result<String> + Send + Sync + 'static) -> Self {
        self.password = Some(Password::new(make));
        self
    }

    /// Makes each write an error. Read privileges are enough.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.access = Access::Read;
        self
    }

    /// Returns how much room etcd uses: its size, how many old versions it keeps, and its alarms. A full quota (`NOSPACE`)
    /// makes each write an error until it is repaired.
    ///
    /// Asks about 30 times, each within the time limit.
    ///
    /// # Errors
    /// etcd does not answer, or the user has no right to read the records.
    pub fn room(&mut self) -> Result<EtcdRoom, RegisterError> {
        // The gateway writes 64 bits as texts, and leaves zeros out.
        #[derive(Deserialize)]
        struct Header {
            #[serde(default)]
            revision: String,
        }
        #[derive(Deserialize)]
        struct Status {
            header: Header,
            #[serde(default, rename = "dbSize")]
            size: String,
        }
        #[derive(Deserialize)]
        struct Alarms {
            #[serde(default)]
            alarms: Vec<Alarm>,
        }
        #[derive(Deserialize)]
        struct Alarm {
            #[serde(default)]
            alarm: String,
        }
        let number = |text: &str| text.parse().unwrap_or(0_u64);
        let (status, _) = self.call::<Status>(format_args!("read the size"), "maintenance/status", &json!({}))?;
        let (alarms, _) =
            self.call::<Alarms>(format_args!("read the alarms"), "maintenance/alarm", &json!({ "action": "GET" }))?;
        // The oldest version that is left lies above `compacted`, and not above `kept`.
        let revision = number(&status.header.revision);
        let (mut compacted, mut kept) = (0, revision);
        while kept.saturating_sub(compacted) > 1 {
            let middle = compacted.midpoint(kept);
            if self.has_revision(middle)? { kept = middle } else { compacted = middle }
        }
        Ok(EtcdRoom {
            bytes: number(&status.size),
            versions: revision - compacted,
            alarms: alarms.alarms.into_iter().map(|alarm| alarm.alarm).collect(),
        })
    }

    /// Returns by how many milliseconds the clock of each member in the URL is ahead of the clock here, accurate to half a
    /// second. `None` for a member that does not answer within the time limit.
    pub fn member_leads(&mut self) -> Vec<(String, Option<i64>)> {
        let asked = self.next;
        let leads = (0..self.members.len()).map(|member| {
            self.next = member;
            let (call, here_ms) = (Deadline::of(self.time_limit), unix_ms_here());
            let member_ms = self.member_ms(call, call).ok().flatten();
            let lead = member_ms.zip(here_ms).map(|(member, here)| member.cast_signed() - here.cast_signed());
            (self.members[member].clone(), lead)
        });
        let leads = leads.collect();
        self.next = asked;
        leads
    }

    /// Returns whether the records of a revision can still be read.
    fn has_revision(&mut self, revision: u64) -> Result<bool, RegisterError> {
        #[derive(Deserialize)]
        struct Reply {}
        let request = json!({ "key": encode(ROOT), "revision": revision.to_string() });
        match self.call::<Reply>(format_args!("read revision {revision}"), "kv/range", &request) {
            Ok((Reply {}, _)) => Ok(true),
            Err(error) if format!("{error:#}").contains("required revision has been compacted") => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Sends a request and returns the status and the body of the reply, and its date.
    fn post(&mut self, path: &str, body: &str, deadline: Deadline) -> Result<(u16, String, Option<u64>), Failure> {
        let agent = match &self.agent {
            Some(agent) => agent,
            None => self.agent.insert(agent(deadline, self.tls.as_ref())?),
        };
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        let mut request = agent.post(format!("{scheme}://{}/v3/{path}", self.members[self.next]));
        if let Some(auth) = &self.auth {
            request = request.header("Authorization", auth);
        }
        let left = deadline.left()?;
        // A busy member accepts a connection, and answers late. One that does not even accept is away.
        let request =
            request.config().timeout_global(Some(left)).timeout_connect(Some(left.min(self.time_limit))).build();
        let mut reply = request.content_type("application/json").send(body).map_err(|error| match error {
            // It has the error of TLS in it.
            ureq::Error::Io(error) => {
                // The member may have been restarted, and restored.
                self.listed = None;
                Failure::from(error)
            }
            error => error.into(),
        })?;
        let date = reply.headers().get("Date").and_then(|date| date.to_str().ok()).and_then(unix_ms);
        Ok((reply.status().as_u16(), reply.body_mut().read_to_string()?, date))
    }

    /// Sends a request and reads the reply.
    fn call<T: DeserializeOwned>(
        &mut self,
        what: fmt::Arguments<'_>,
        path: &str,
        request: &impl Serialize,
    ) -> Result<(T, Option<u64>), RegisterError> {
        self.patiently(|register, deadline| register.call_until(deadline, what, path, request))
    }

    /// Makes calls that together may take as long as one.
    fn patiently<T>(
        &mut self,
        calls: impl FnOnce(&mut Self, Deadline) -> Result<T, RegisterError>,
    ) -> Result<T, RegisterError> {
        // The first call of a lease may be one of a whole fleet that starts.
        if !self.is_of_lease && caller().is_some() {
            (self.is_of_lease, self.patience) = (true, MOST_LIMITS);
        }
        let deadline = Deadline::of(self.time_limit.saturating_mul(self.patience));
        let result = calls(self, deadline);
        // After an answer that came late, the member is busy with others. It may become so with the next calls of all who start together.
        let half_limits = 2 * deadline.start.elapsed().as_millis() / self.time_limit.as_millis().max(1);
        let next = match &result {
            Ok(_) => (self.patience - 1).max(1 + half_limits.min(u128::from(MOST_LIMITS)) as u32),
            Err(_) => self.patience + 1,
        };
        self.patience = next.min(MOST_LIMITS);
        result
    }

    fn call_until<T: DeserializeOwned>(
        &mut self,
        deadline: Deadline,
        what: fmt::Arguments<'_>,
        path: &str,
        request: &impl Serialize,
    ) -> Result<(T, Option<u64>), RegisterError> {
        let member = self.members[self.next].clone();
        if !self.process.is_current() {
            let context =
                format!("etcd at {member}: the parent process opened this register; a forked child must open its own");
            return Err(RegisterError::new(context));
        }
        let failed = |reason: Failure| {
            let is_refused = reason.is::<Refused>() || reason.is::<Incomplete>();
            super::tls::call_error(format!("cannot {what} in etcd at {member}"), reason, is_refused)
        };
        let result = self.try_call(deadline, path, request).map_err(failed);
        if result.is_err() {
            self.next = (self.next + 1) % self.members.len();
            if self.tls.is_some() {
                self.agent = None;
            }
        }
        result
    }

    fn try_call<T: DeserializeOwned>(
        &mut self,
        deadline: Deadline,
        path: &str,
        request: &impl Serialize,
    ) -> Result<(T, Option<u64>), Failure> {
        let body = serde_json::to_string(request)?;
        let is_new = self.auth.is_none();
        self.log_in(deadline)?;
        let (mut status, mut text, mut date) = self.post(path, &body, deadline)?;
        // A token ends after some minutes. What was refused did nothing, so it can be sent again.
        if status == 401 && !is_new && self.user.is_some() {
            self.auth = None;
            self.log_in(deadline)?;
            (status, text, date) = self.post(path, &body, deadline)?;
        }
        if status == 403 {
            return Err(Refused(refusal(status, &text)).into());
        }
        if status != 200 {
            self.auth = None;
            return Err(refusal(status, &text).into());
        }
        Ok((serde_json::from_str(&text)?, date))
    }

    /// Gets a token for the user and password, if there are any.
    fn log_in(&mut self, deadline: Deadline) -> Result<(), Failure> {
        #[derive(Deserialize)]
        struct Reply {
            token: String,
        }
        if self.auth.is_some() {
            return Ok(());
        }
        if let Some((name, password)) = login("etcd", self.user.as_ref(), self.password.as_ref(), deadline)? {
            let body = json!({ "name": name, "password": password }).to_string();
            let (status, text, _) = self.post("auth/authenticate", &body, deadline)?;
            match status {
                200 => {}
                // The user or the password is wrong.
                400..500 => return Err(Refused(refusal(status, &text)).into()),
                _ => return Err(refusal(status, &text).into()),
            }
            self.auth = Some(serde_json::from_str::<Reply>(&text)?.token);
        }
        Ok(())
    }

    /// Asks the next member for its time. Returns what its clock showed when `call` began, of which this is a part.
    fn member_ms(&mut self, call: Deadline, part: Deadline) -> Result<Option<u64>, RegisterError> {
        #[derive(Deserialize)]
        struct Reply {}
        let (what, asked) = (format_args!("read the time"), call.start.elapsed());
        let (Reply {}, date) = self.call_until(part, what, "maintenance/status", &json!({}))?;
        let read_after = (asked + call.start.elapsed()) / 2;
        Ok(date.map(|ms| ms.saturating_sub(millis(read_after))))
    }

    /// Returns the records of a request.
    fn range(
        &mut self,
        deadline: Deadline,
        what: fmt::Arguments<'_>,
        request: &impl Serialize,
    ) -> Result<Records, RegisterError> {
        #[derive(Deserialize)]
        struct Reply {
            // Only lists need it.
            #[serde(default)]
            header: Header,
            #[serde(default)]
            count: String,
            #[serde(default)]
            kvs: Vec<Pair>,
        }
        #[derive(Deserialize)]
        struct Pair {
            key: String,
            value: String,
        }
        let (reply, _) = self.call_until::<Reply>(deadline, what, "kv/range", request)?;
        let text = |encoded: &str| BASE64_STANDARD.decode(encoded).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let pairs = reply.kvs.iter().map(|pair| {
            let key = text(&pair.key)?.strip_prefix(ROOT)?.to_owned();
            Some((key, text(&pair.value)?))
        });
        let pairs = pairs.collect::<Option<_>>().ok_or_else(|| {
            RegisterError::new(format!("cannot {what} in etcd: expected a key and a value of text, found other bytes"))
        })?;
        Ok(Records { header: reply.header, count: reply.count.parse().unwrap_or(0), pairs })
    }

    /// Returns the records with a prefix. Only those are transferred that have changed since the last list, if that is recent.
    fn list_until(&mut self, deadline: Deadline, prefix: &str) -> Result<Vec<(String, String)>, RegisterError> {
        let (what, first) = (format_args!("list {prefix:?}"), format!("{ROOT}{prefix}"));
        // The end is the prefix with its last byte one greater. All bytes of keys are below 0x7f.
        let mut end = first.clone().into_bytes();
        *end.last_mut().expect("the root is not empty") += 1;
        let mut request = json!({ "key": encode(&first), "range_end": BASE64_STANDARD.encode(end) });
        let asked = Instant::now();
        if let Some(since) = self.listed.as_ref().and_then(|listed| listed.next_revision(prefix, asked)) {
            request["min_mod_revision"] = since.to_string().into();
            let changed = self.range(deadline, what, &request)?;
            if let Some(all) = self.listed.as_mut().and_then(|listed| listed.update(asked, changed)) {
                return Ok(all);
            }
            self.listed = None;
            request["min_mod_revision"] = "0".into();
        }
        let asked = Instant::now();
        let mut all = self.range(deadline, what, &request)?;
        all.pairs.sort_unstable();
        let records = all.pairs.clone();
        self.listed = Listed::new(prefix, asked, all);
        Ok(records)
    }
}

fn unix_ms_here() -> Option<u64> {
    SystemTime::now().duration_since(UNIX_EPOCH).ok().map(millis)
}

/// Returns a client. Reads the files of TLS.
#[cfg_attr(not(feature = "tls"), allow(clippy::unnecessary_wraps, reason = "the files of TLS can be wrong"))]
fn agent(deadline: Deadline, tls: Option<&Tls>) -> Result<Agent, Failure> {
    let config = Agent::config_builder()
        // A reply that sends the client elsewhere would send the user's token there.
        .max_redirects(0)
        .https_only(tls.is_some())
        // An error's body says more than its status.
        .http_status_as_error(false)
        // The proxy that the environment names is for other hosts.
        .proxy(None);
    match tls {
        #[cfg(feature = "tls")]
        Some(tls) => {
            let files = tls.files(deadline, Some("etcd"))?;
            Ok(config.tls_config(tls_config(files)?).build().into())
        }
        _ => {
            let _ = deadline;
            Ok(config.build().into())
        }
    }
}

/// Returns the settings of TLS for the client. It makes the configuration of rustls itself.
#[cfg(feature = "tls")]
fn tls_config(super::tls::Files { roots, identity, .. }: super::tls::Files) -> Result<ureq::tls::TlsConfig, Failure> {
    use ureq::tls::{Certificate, ClientCert, PrivateKey, RootCerts, TlsConfig};

    let config = TlsConfig::builder()
        .root_certs(RootCerts::from(roots.iter().map(|root| Certificate::from_der(root).to_owned())));
    let Some((certificate, key)) = identity else { return Ok(config.build()) };
    let chain = ureq::tls::parse_pem(&certificate).filter_map(|item| match item {
        Ok(ureq::tls::PemItem::Certificate(certificate)) => Some(certificate),
        _ => None,
    });
    let identity = ClientCert::new_with_certs(&chain.collect::<Vec<_>>(), PrivateKey::from_pem(&key)?);
    Ok(config.client_cert(Some(identity)).build())
}

/// The user, the password or the rights are wrong.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Refused(String);

/// Says why etcd refused a request.
fn refusal(status: u16, body: &str) -> String {
    #[derive(Deserialize)]
    struct Reply {
        error: String,
    }
    if let Ok(reply) = serde_json::from_str::<Reply>(body) {
        return format!("{} (HTTP status {status})", reply.error);
    }
    let line: String = body.lines().next().unwrap_or_default().chars().take(120).collect();
    format!("expected the JSON gateway of etcd, found HTTP status {status}: {line:?}")
}

fn encode(text: &str) -> String {
    BASE64_STANDARD.encode(text)
}

/// Reads the date of an HTTP header. It is cut to seconds, so half a second is added.
fn unix_ms(date: &str) -> Option<u64> {
    let since = httpdate::parse_http_date(date).ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(millis(since) + 500)
}

impl Register for EtcdRegister {
    fn read(&mut self, key: &str) -> Result<Option<String>, RegisterError> {
        check_key(key)?;
        let (what, request) = (format_args!("read {key:?}"), json!({ "key": encode(&format!("{ROOT}{key}")) }));
        let found = self.patiently(|register, deadline| register.range(deadline, what, &request))?;
        Ok(found.pairs.into_iter().next().map(|(_, value)| value))
    }

    fn list(&mut self, prefix: &str) -> Result<Vec<(String, String)>, RegisterError> {
        check_prefix(prefix)?;
        self.patiently(|register, deadline| register.list_until(deadline, prefix))
    }

    fn compare_and_set(&mut self, key: &str, seen: Option<&str>, value: &str) -> Result<bool, RegisterError> {
        #[derive(Deserialize)]
        struct Reply {
            // The gateway leaves `false` out.
            #[serde(default)]
            succeeded: bool,
        }
        check_write(self.access, key, seen, value)?;
        let name = encode(&format!("{ROOT}{key}"));
        let compare = match seen {
            None => json!({ "key": name, "target": "CREATE", "result": "EQUAL", "create_revision": "0" }),
            Some(seen) => json!({ "key": name, "target": "VALUE", "result": "EQUAL", "value": encode(seen) }),
        };
        let put = json!({ "request_put": { "key": name, "value": encode(value) } });
        let request = json!({ "compare": [compare], "success": [put] });
        let succeeded = self.call::<Reply>(format_args!("write {key:?}"), "kv/txn", &request)?.0.succeeded;
        if let (false, Some(seen), Some(listed)) = (succeeded, seen, &mut self.listed) {
            listed.forget(key, seen);
        }
        Ok(succeeded)
    }

    fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
        // All readings are of the time when the call begins: a silent member can make seconds pass between two of them.
        let call = Deadline::of(self.time_limit);
        let here_ms = unix_ms_here();
        let in_the_middle = |ms: u64| Some(ms.saturating_add(millis(call.start.elapsed() / 2)));
        let Some(first_ms) = self.member_ms(call, call)? else { return Ok(None) };
        let Some(here_ms) = here_ms.filter(|here| here.abs_diff(first_ms) > DOUBT_MS) else {
            return Ok(in_the_middle(first_ms));
        };
        // One of both clocks is wrong, so the other members are asked too. Those that do not answer have no vote.
        let asked = self.next;
        let mut times = vec![first_ms];
        for member in 0..self.members.len() {
            if member != asked {
                // One that is silent leaves half of the time for the others.
                let Ok(left) = call.left() else { break };
                self.next = member;
                times.extend(self.member_ms(call, Deadline::of(left / 2)).ok().flatten());
            }
        }
        self.next = asked;
        // Against a single member, the clock here decides nothing.
        if times.len() > 1 {
            times.push(here_ms);
        }
        times.sort_unstable();
        Ok(in_the_middle(times[(times.len() - 1) / 2]))
    }

    fn promise(&self) -> Promise {
        Promise::Strong
    }
}

impl fmt::Debug for EtcdRegister {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EtcdRegister").field("members", &self.members).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_silent_member_does_not_keep_the_others_from_a_vote() {
        let listen = || TcpListener::bind("127.0.0.1:0").unwrap();
        let members = [listen(), listen(), listen()];
        let url = format!("etcd://{}", members.each_ref().map(|it| it.local_addr().unwrap().to_string()).join(","));
        let [wrong, _silent, right] = members;
        for (member, date) in [(wrong, "Thu, 01 Jan 1970 00:00:00 GMT"), (right, "Thu, 29 Feb 2024 23:59:59 GMT")] {
            std::thread::spawn(move || {
                let (mut stream, _) = member.accept().unwrap();
                let (mut request, mut part) = (Vec::new(), [0; 1024]);
                while !request.ends_with(b"\r\n\r\n{}") {
                    let len = stream.read(&mut part).unwrap();
                    assert!(len > 0, "a whole request");
                    request.extend(&part[..len]);
                }
                let reply =
                    format!("HTTP/1.1 200 OK\r\nDate: {date}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{{}}");
                stream.write_all(reply.as_bytes()).unwrap();
            });
        }
        // The clock here is later than both.
        let mut register = EtcdRegister::from_url(&url).unwrap().time_limit(Duration::from_secs(6));
        let begun = Instant::now();
        let now_ms = register.now_ms().unwrap().unwrap();
        let took = begun.elapsed();
        // The silent one comes before the right one, so the reading is from the end of the call.
        assert!(took >= Duration::from_secs(2), "{took:?}");
        let expected_ms = 1_709_251_199_500 - millis(took / 2);
        assert!(now_ms.abs_diff(expected_ms) < 500, "{now_ms}, expected {expected_ms}");
    }
}
