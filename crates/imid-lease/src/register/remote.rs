//! What the adapters of servers share: connecting, time limits, and forks.

use std::error::Error;
use std::fmt;
use std::io;
use std::mem;
use std::panic::resume_unwind;
use std::thread;
use std::time::{Duration, Instant};

use imid::fork::Process;
use imid_lease_protocol::register::{check_key, check_prefix, check_write};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::time::timeout;

use super::tls::Tls;
use super::worker::Password;
use super::{DEFAULT_TIME_LIMIT, Promise, RegisterError};
use crate::options::{THREAD, millis};

/// How many time limits the first call of a lease may take, and one after others that have failed, if it has to connect. A
/// server that a thousand processes ask together needs longer for each of them. If they gave up and retried, it would never
/// finish.
const MOST_LIMITS: u32 = 5;

/// An error of a client, or a sentence about an answer.
pub(crate) type Failure = Box<dyn Error + Send + Sync>;

/// A failure that shows that the server can lose what it acknowledges from now on.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Weakness(pub(crate) &'static str);

/// A failure that has nothing to do with the connection, which stays open.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(crate) struct Aside(pub(crate) Failure);

/// A kind of server that keeps records, and where one is.
pub(crate) trait Server: Sync {
    type Connection: Send;
    /// Whether the client's tasks also run between calls.
    const NEEDS_THREAD: bool = false;

    /// Connects, checks that the server is one that takes writes, creates what is missing there unless the access is to
    /// read only, and reads its settings.
    async fn connect(&self, settings: &Settings) -> Result<(Self::Connection, Promise), Failure>;

    /// Returns whether the same call fails again, however often it is repeated.
    fn is_permanent(failure: &Failure) -> bool;

    /// Reads the settings again; `None` if the server has none that matter.
    async fn promise(_: &mut Self::Connection) -> Result<Option<Promise>, Failure> {
        Ok(None)
    }

    async fn read(connection: &mut Self::Connection, key: &str) -> Result<Option<String>, Failure>;
    /// Returns the records in any order.
    async fn list(connection: &mut Self::Connection, prefix: &str) -> Result<Vec<(String, String)>, Failure>;
    async fn compare_and_set(
        connection: &mut Self::Connection,
        key: &str,
        seen: Option<&str>,
        value: &str,
    ) -> Result<bool, Failure>;
    async fn now_ms(connection: &mut Self::Connection) -> Result<Option<u64>, Failure>;
}

/// How to connect, whatever the server is.
pub(crate) struct Settings {
    pub(crate) time_limit: Duration,
    /// How long the present call may take.
    pub(crate) call_limit: Duration,
    /// Each write is an error, and nothing is created.
    pub(crate) is_read_only: bool,
    /// What the URL says, or what replaces it. `None` for plain text.
    #[cfg_attr(not(feature = "tls"), allow(dead_code, reason = "a URL that needs it is refused"))]
    pub(crate) tls: Option<Tls>,
    /// Makes the password in place of the URL's.
    pub(crate) password: Option<Password>,
    /// The name of the thread of the lease that called first. `None` before one has called.
    lease: Option<String>,
}

#[allow(dead_code, reason = "ZooKeeper takes neither")]
impl Settings {
    /// Makes the password that replaces the URL's.
    pub(crate) async fn make_password(&self) -> io::Result<Option<String>> {
        match &self.password {
            Some(password) => password.make().await.map(Some),
            None => Ok(None),
        }
    }

    /// Says what has not ended in time.
    fn late(&self) -> String {
        let what = self.password.as_ref().and_then(Password::late);
        #[cfg(feature = "tls")]
        let what = what.or_else(|| self.tls.as_ref().and_then(Tls::late));
        let limit = self.call_limit;
        what.map_or_else(
            || format!("no answer within {limit:?}"),
            |what| format!("{what} has not ended within {limit:?}"),
        )
    }

    /// Returns the name of a new connection, where the server shows one and the URL has none.
    pub(crate) fn connection_name(&self) -> String {
        self.lease.clone().unwrap_or_else(|| "imid-lease".into())
    }
}

/// A server and at most one connection to it.
pub(crate) struct Remote<S: Server> {
    pub(crate) server: S,
    /// Kind, host and port, for errors.
    place: String,
    pub(crate) settings: Settings,
    /// The process that owns the connection. A forked child has copies of the sockets, and the server would take what
    /// it sends for the parent's.
    process: Process,
    /// The client's tasks run in it.
    runtime: Option<Runtime>,
    connection: Option<S::Connection>,
    /// How many time limits the next call may take if it has to connect.
    patience: u32,
    /// According to the settings of the server at the last connection.
    promise: Option<Promise>,
}

/// Returns what settings with these weaknesses promise.
#[cfg(any(feature = "mysql", feature = "postgres"))]
pub(crate) fn promise(weaknesses: &[String]) -> Promise {
    if weaknesses.is_empty() { Promise::Strong } else { Promise::Weak(weaknesses.join("; ").into()) }
}

fn new_runtime(needs_thread: bool) -> io::Result<Runtime> {
    #[cfg(feature = "zookeeper")]
    if needs_thread {
        return Builder::new_multi_thread().worker_threads(1).thread_name("imid-register").enable_all().build();
    }
    debug_assert!(!needs_thread);
    Builder::new_current_thread().thread_name("imid-register").enable_all().build()
}

impl<S: Server> Remote<S> {
    pub(crate) fn new(server: S, place: String, tls: Option<Tls>) -> Self {
        let process = Process::current();
        let (time_limit, is_read_only) = (DEFAULT_TIME_LIMIT, false);
        let settings = Settings { time_limit, call_limit: time_limit, is_read_only, tls, password: None, lease: None };
        Self { server, place, settings, process, runtime: None, connection: None, patience: 1, promise: None }
    }

    pub(crate) fn promise(&self) -> Promise {
        let unknown = || Promise::Weak("the settings of the server are not known before the first connection".into());
        self.promise.clone().unwrap_or_else(unknown)
    }

    /// Notes what the settings promise now. What was once weak stays weak: a lost write does not come back.
    fn note(promise: &mut Option<Promise>, now: Promise) {
        if !matches!(promise, Some(Promise::Weak(_))) {
            *promise = Some(now);
        }
    }

    /// Runs one operation within the time limit. Connects if there is no connection. After an error the connection is
    /// closed, because an answer that is still under way would be taken for that of the next operation; unless it is [`Aside`].
    pub(crate) fn call<T: Send>(
        &mut self,
        what: fmt::Arguments<'_>,
        operation: impl AsyncFnOnce(&mut S::Connection) -> Result<T, Failure> + Send,
    ) -> Result<T, RegisterError> {
        let Self { server, place, settings, process, runtime, connection, patience, promise } = self;
        if !process.is_current() {
            let context = format!("{place}: the parent process opened this register; a forked child must open its own");
            return Err(RegisterError::new(context));
        }
        let runtime = match runtime {
            Some(runtime) => runtime,
            None => runtime.insert(
                new_runtime(S::NEEDS_THREAD)
                    .map_err(|error| RegisterError::new("cannot create a runtime for the client").caused_by(error))?,
            ),
        };
        if settings.lease.is_none() {
            settings.lease = thread::current().name().filter(|name| name.starts_with(THREAD)).map(str::to_owned);
            // The first connection of a lease may be one of a whole fleet that starts.
            *patience = if settings.lease.is_some() { MOST_LIMITS } else { *patience };
        }
        let limits = if connection.is_some() { 1 } else { *patience };
        settings.call_limit = settings.time_limit.saturating_mul(limits);
        let mut connected = false;
        let work = async || {
            let mut open = if let Some(open) = connection.take() {
                open
            } else {
                let (open, promised) = server.connect(settings).await?;
                Self::note(promise, promised);
                open
            };
            connected = true;
            let result = operation(&mut open).await;
            if result.as_ref().err().is_none_or(|failure| failure.is::<Aside>()) {
                *connection = Some(open);
            }
            result
        };
        let run = || runtime.block_on(async { timeout(settings.call_limit, work()).await });
        // A thread that runs async tasks may not wait for a second runtime.
        let outcome = match Handle::try_current() {
            Ok(_) => thread::scope(|scope| scope.spawn(run).join()).unwrap_or_else(|panic| resume_unwind(panic)),
            Err(_) => run(),
        };
        *patience = if matches!(outcome, Ok(Ok(_))) { 1 } else { (*patience + 1).min(MOST_LIMITS) };
        let context =
            if connected { format!("cannot {what} in {place}") } else { format!("cannot connect to {place}") };
        match outcome {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(failure)) => {
                if let Some(Weakness(reason)) = failure.downcast_ref() {
                    *promise = Some(Promise::Weak((*reason).into()));
                }
                let failure = failure.downcast::<Aside>().map_or_else(|failure| failure, |aside| aside.0);
                let is_permanent = S::is_permanent(&failure);
                Err(super::tls::call_error(context, failure, is_permanent))
            }
            Err(_) => Err(RegisterError::new(format!("{context}: {}", settings.late()))),
        }
    }

    pub(super) fn read(&mut self, key: &str) -> Result<Option<String>, RegisterError> {
        check_key(key)?;
        self.call(format_args!("read {key:?}"), async |connection| S::read(connection, key).await)
    }

    pub(super) fn list(&mut self, prefix: &str) -> Result<Vec<(String, String)>, RegisterError> {
        check_prefix(prefix)?;
        let what = format_args!("list {prefix:?}");
        let mut records = self.call(what, async |connection| S::list(connection, prefix).await)?;
        records.sort_unstable();
        Ok(records)
    }

    pub(super) fn compare_and_set(
        &mut self,
        key: &str,
        seen: Option<&str>,
        value: &str,
    ) -> Result<bool, RegisterError> {
        check_write(self.settings.is_read_only, key, seen, value)?;
        let what = format_args!("write {key:?}");
        self.call(what, async |connection| S::compare_and_set(connection, key, seen, value).await)
    }

    pub(super) fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
        let begun = Instant::now();
        // Settings can change under a connection, as in a failover.
        let promised = self.call(format_args!("read the settings"), S::promise)?;
        if let Some(now) = promised {
            Self::note(&mut self.promise, now);
        }
        // To connect takes long. The time is that of the middle of both calls.
        let since_ms = millis(begun.elapsed() / 2);
        let time_ms = self.call(format_args!("read the time"), S::now_ms)?;
        Ok(time_ms.map(|ms| ms.saturating_sub(since_ms)))
    }
}

impl<S: Server> fmt::Debug for Remote<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote")
            .field("place", &self.place)
            .field("time_limit", &self.settings.time_limit)
            .field("connected", &self.connection.is_some())
            .finish_non_exhaustive()
    }
}

impl<S: Server> Drop for Remote<S> {
    fn drop(&mut self) {
        let (runtime, connection) = (self.runtime.take(), self.connection.take());
        if !self.process.is_current() {
            // A client says goodbye when it is dropped, which would close the parent's connection.
            mem::forget(connection);
            mem::forget(runtime);
        } else if let Some(runtime) = runtime {
            // Some clients start a task when they are dropped.
            let entered = runtime.enter();
            drop(connection);
            drop(entered);
            // A password, a file of TLS or the address of a host may still be waited for by a thread of the runtime.
            runtime.shutdown_background();
        }
    }
}

/// Declares the public type of an adapter, which is a [`Remote`] with a constructor from a URL.
macro_rules! remote_register {
    ($(#[$docs:meta])* $name:ident, $server:ty) => {
        $(#[$docs])*
        #[derive(Debug)]
        pub struct $name(crate::register::remote::Remote<$server>);

        impl $name {
            /// Sets how long a call may take. The default is
            /// [`DEFAULT_TIME_LIMIT`](crate::register::DEFAULT_TIME_LIMIT).
            ///
            /// A call that has to connect, after others that have failed, may take one limit more for each of them, up to five, and
            /// the first call of a lease may take five: a server to which a whole fleet connects needs longer.
            #[must_use]
            pub fn time_limit(mut self, time_limit: std::time::Duration) -> Self {
                self.0.settings.time_limit = time_limit;
                self
            }

            /// Connects only with TLS and these settings, which replace those of the URL.
            #[cfg(feature = "tls")]
            #[must_use]
            pub fn tls(mut self, tls: crate::register::Tls) -> Self {
                self.0.settings.tls = Some(tls);
                self
            }

            /// Replaces the password in the URL by one that is made for each new connection, such as a token of a cloud,
            /// or a mounted secret that changes. The function runs in a thread that may block. Its time counts as a
            /// part of the call.
            #[must_use]
            pub fn password_with(mut self, make: impl Fn() -> std::io::Result<String> + Send + Sync + 'static) -> Self {
                self.0.settings.password = Some(crate::register::worker::Password::new(make));
                self
            }

            /// Makes each write an error, and creates nothing. The rights to read are enough.
            #[must_use]
            pub fn read_only(mut self) -> Self {
                self.0.settings.is_read_only = true;
                self
            }
        }

        impl crate::register::Register for $name {
            fn read(&mut self, key: &str) -> Result<Option<String>, RegisterError> {
                self.0.read(key)
            }

            fn list(&mut self, prefix: &str) -> Result<Vec<(String, String)>, RegisterError> {
                self.0.list(prefix)
            }

            fn compare_and_set(
                &mut self,
                key: &str,
                seen: Option<&str>,
                value: &str,
            ) -> Result<bool, RegisterError> {
                self.0.compare_and_set(key, seen, value)
            }

            fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
                self.0.now_ms()
            }

            fn promise(&self) -> Promise {
                self.0.promise()
            }
        }
    };
}

pub(super) use remote_register;

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::wait::lock;

    const CONNECTS_IN: Duration = Duration::from_millis(800);
    const STANDS_AT_MS: u64 = 1_700_000_000_000;

    /// A server whose clock stands still. Notes the names of connections, and how long each attempt may take.
    #[derive(Default)]
    struct Fake {
        connects_in: Duration,
        /// It lets no one in.
        is_away: AtomicBool,
        names: Mutex<Vec<String>>,
        limits: Mutex<Vec<Duration>>,
    }

    impl Server for Fake {
        type Connection = ();

        async fn connect(&self, settings: &Settings) -> Result<((), Promise), Failure> {
            lock(&self.names).push(settings.connection_name());
            lock(&self.limits).push(settings.call_limit);
            tokio::time::sleep(self.connects_in).await;
            if self.is_away() { Err("away".into()) } else { Ok(((), Promise::Strong)) }
        }

        fn is_permanent(_: &Failure) -> bool {
            false
        }

        async fn read((): &mut (), _: &str) -> Result<Option<String>, Failure> {
            Ok(None)
        }

        async fn list((): &mut (), _: &str) -> Result<Vec<(String, String)>, Failure> {
            Ok(Vec::new())
        }

        async fn compare_and_set((): &mut (), _: &str, _: Option<&str>, _: &str) -> Result<bool, Failure> {
            Ok(false)
        }

        async fn now_ms((): &mut ()) -> Result<Option<u64>, Failure> {
            Ok(Some(STANDS_AT_MS))
        }
    }

    impl Fake {
        fn is_away(&self) -> bool {
            self.is_away.load(Ordering::Relaxed)
        }
    }

    fn remote(server: Fake) -> Remote<Fake> {
        let mut remote = Remote::new(server, "nowhere".into(), None);
        remote.settings.time_limit = Duration::from_secs(60);
        remote
    }

    #[test]
    fn connections_have_the_name_of_the_holder_that_called_first() {
        let mut remote = remote(Fake::default());
        for thread in ["worker", "imid-lease/chat-3", "imid-lease/chat-5", "worker"] {
            let call = || remote.call(format_args!("end"), async |()| Err::<(), _>("the end".into()));
            in_thread(thread, call).unwrap_err();
        }
        let named = "imid-lease/chat-3";
        assert_eq!(*lock(&remote.server.names), ["imid-lease", named, named, named]);
    }

    fn in_thread<T: Send>(name: &str, work: impl FnOnce() -> T + Send) -> T {
        let builder = thread::Builder::new().name(name.into());
        thread::scope(|scope| builder.spawn_scoped(scope, work).unwrap().join().unwrap())
    }

    /// Makes calls, of which these succeed, and returns how many time limits each attempt to connect could take.
    fn limits(remote: &mut Remote<Fake>, calls: &[bool]) -> Vec<u128> {
        for succeeds in calls {
            let call = async |(): &mut ()| if *succeeds { Ok(()) } else { Err("no".into()) };
            assert_eq!(remote.call(format_args!("try"), call).is_ok(), *succeeds && !remote.server.is_away());
        }
        let limits = std::mem::take(&mut *lock(&remote.server.limits));
        limits.iter().map(|limit| limit.as_millis() / remote.settings.time_limit.as_millis()).collect()
    }

    #[test]
    fn a_connection_may_take_longer_after_each_failure_and_the_first_one_of_a_lease_longest() {
        let mut remote = remote(Fake { is_away: AtomicBool::new(true), ..Fake::default() });
        assert_eq!(limits(&mut remote, &[true; 7]), [1, 2, 3, 4, 5, 5, 5]);
        remote.server.is_away.store(false, Ordering::Relaxed);
        assert_eq!(limits(&mut remote, &[true, true]), [5], "the second call is connected");
        // A call that is not answered may be one of too many. It loses its connection.
        assert_eq!(limits(&mut remote, &[false, false, true, false, true]), [2, 3, 2]);
        let mut remote = self::remote(Fake::default());
        assert_eq!(in_thread("imid-lease/chat-3", || limits(&mut remote, &[true, false, true])), [5, 2]);
    }

    #[test]
    fn the_time_is_that_of_the_middle_of_a_call_that_connects_first() {
        let begun = Instant::now();
        let mut remote = remote(Fake { connects_in: CONNECTS_IN, ..Fake::default() });
        let found_ms = remote.now_ms().unwrap().unwrap();
        // Half of the time before the clock was read, which is at least that of connecting, and a part of the whole.
        let [least_ms, most_ms] = [CONNECTS_IN, begun.elapsed()].map(|time| millis(time / 2));
        let before_ms = STANDS_AT_MS - found_ms;
        assert!((least_ms..=most_ms).contains(&before_ms), "{before_ms} is not from {least_ms} to {most_ms}");
    }
}
