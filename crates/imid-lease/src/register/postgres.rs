//! PostgreSQL.

use std::error::Error;
use std::future::poll_fn;
use std::mem;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_postgres::config::{Host, SslMode, SslNegotiation, TargetSessionAttrs};
use tokio_postgres::error::{Severity, SqlState};
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::types::Type;
use tokio_postgres::{AsyncMessage, Client, Config, NoTls, Row, Socket};

use super::query::Words;
use super::remote::{Failure, Remote, Server, Settings, Weakness, promise, remote_register};
use super::tls::{Check, Tls, check_feature};
use super::{MAX_KEY_LEN, MAX_VALUE_LEN, Promise, RegisterError};
use crate::wait::lock;

remote_register! {
    /// A register in PostgreSQL 11 or later.
    ///
    /// The records are rows of the table `imid_register`, in the first schema of the search path. The first call creates it. A user
    /// that may not create tables needs an existing one, with the privileges to select, insert and update:
    ///
    /// ```sql
    /// CREATE TABLE imid_register (key text COLLATE "C" PRIMARY KEY, value text NOT NULL);
    /// ```
    ///
    /// Each write is one statement, which sets `synchronous_commit` for itself, whatever the session's default. No statement is
    /// prepared and no setting is kept, so a connection pooler may sit in between. A standby is refused.
    ///
    /// A write that the server answers with a warning counts as unanswered: PostgreSQL warns, and reports success, if the wait for
    /// a synchronous standby is canceled. If `synchronous_standby_names` is emptied during it, it reports success without a
    /// warning, so after each write that waits for a standby, the setting is read again, and also when the server last read its
    /// settings. A value that a trigger has changed counts as unanswered as well.
    ///
    /// **Weak** with `fsync` or `full_page_writes` off, and with an unlogged table. Also weak while `synchronous_standby_names` is
    /// empty if there are standbys, physical replication slots, or a timeline above 1: a failover to an asynchronous standby can
    /// lose acknowledged writes, or has lost some. An operator who has made sure that none are missing, or has
    /// [recovered](crate::admin::recover) each space, writes the record `trusted` with the value `timeline=3`, for the timeline that
    /// the weakness names: `INSERT INTO imid_register VALUES ('trusted', 'timeline=3') ON CONFLICT (key) DO UPDATE SET value =
    /// excluded.value`. The next promotion starts another timeline. The settings are read every 10 s, and a register that was once
    /// weak stays weak for its process. A standby that is not connected and has no slot cannot be seen: give each standby a slot
    /// (`primary_slot_name`). Fence the old primary after a failover, and have the proxy's health check require a synchronous standby.
    ///
    /// PostgreSQL accepts 97 connections by default (`max_connections` is 100, of which 3 are for superusers), for all applications, and
    /// needs 5 to 6 ms of processor time for each new one. For more, raise `max_connections`, or use `PgBouncer` in transaction mode with
    /// `server_login_retry=1`; the certificate that counts is its own.
    PostgresRegister, Postgres
}

impl PostgresRegister {
    /// Reads a URL, such as `postgres://user:password@host:5432/database?sslmode=verify-full`. Does not connect yet.
    ///
    /// The libpq options that the crate `tokio-postgres` supports can follow. `?application_name=chat` names the connection;
    /// without it, the name is `imid-lease/HOLDER`, of which PostgreSQL shows the first 63 characters. If the URL names several
    /// hosts before its path, they are tried in their order, each for an equal part of the time limit, and the one that takes
    /// writes is used, unless `target_session_attrs` says otherwise. `load_balance_hosts` does not change this order.
    ///
    /// With the feature `tls`, the URL can have libpq's `sslmode`, `sslrootcert` (a file, or `system`), `sslcert`, `sslkey` and
    /// `channel_binding`:
    ///
    /// | `sslmode` | the connection is | the certificate of the server |
    /// | --- | --- | --- |
    /// | `disable` | plain text | |
    /// | `prefer`, the default | encrypted if the server can, else plain text | is not checked, so an attacker in between can read and change everything |
    /// | `require` | encrypted | is signed by a CA in `sslrootcert`; without it, as for `verify-full` |
    /// | `verify-ca` | encrypted | is signed by a CA in `sslrootcert`, which must be a file |
    /// | `verify-full` | encrypted | is signed by a CA in `sslrootcert`, or a system CA, and matches the host |
    ///
    /// libpq checks nothing for `require` without `sslrootcert`. `sslrootcert=system` alone means `verify-full`, as in libpq.
    /// `channel_binding=require` also proves that the server knows the password.
    ///
    /// # Errors
    /// The URL is invalid, or needs the feature `tls`.
    pub fn from_url(url: &str) -> Result<Self, RegisterError> {
        let (servers, tls) = Postgres::parse(url).map_err(RegisterError::of_url)?;
        let places: Vec<_> = servers.iter().map(place_of).collect();
        Ok(Self(Remote::new(Postgres { servers }, format!("PostgreSQL at {}", places.join(",")), tls)))
    }
}

/// Where servers are, and how to connect to the one that takes writes.
pub(super) struct Postgres {
    /// One for each server, without the TLS settings and the password, which each connection adds.
    servers: Vec<Config>,
}

impl Postgres {
    /// Reads a URL.
    fn parse(url: &str) -> Result<(Vec<Config>, Option<Tls>), RegisterError> {
        let mut words = Words::split("PostgreSQL", url)?;
        // The client also reads `host=db sslmode=require`, which the code below does not see.
        let Some((scheme @ ("postgres" | "postgresql"), rest)) = words.rest.split_once("://") else {
            return Err(words.wrong("postgres://user:password@host:port/database"));
        };
        // The client ends the password at the first one.
        if rest.matches('@').count() > 1 {
            return Err(words.wrong("each `@` in the user, the password and the database as %40"));
        }
        let (user, after) = rest.split_at(rest.find('@').map_or(0, |at| at + 1));
        let (hosts, database) = after.split_at(after.find('/').unwrap_or(after.len()));
        let urls: Vec<_> = hosts.split(',').map(|host| format!("{scheme}://{user}{host}{database}")).collect();
        let tls = take_tls(&mut words)?;
        // The client tries all servers in turn as well, but one that hangs would use up the time of the others.
        let is_one = urls.len() == 1;
        let mut servers = Vec::with_capacity(urls.len());
        for url in urls {
            words.rest = url;
            servers.push(parse_server(&words, is_one)?);
        }
        Ok((servers, tls))
    }

    /// Connects to a server that takes writes. Returns its settings as well, and those of the table.
    async fn connect(&self, settings: &Settings) -> Result<(Connection, Row), Failure> {
        #[cfg(feature = "tls")]
        let encryption = encryption(settings.tls.as_ref()).await?;
        #[cfg(not(feature = "tls"))]
        let encryption = ();
        let password = settings.make_password().await?;
        let count = self.servers.len();
        // One that accepts a connection and then hangs leaves time for the others, and for the call. The call limits the time of a
        // single one.
        let parts = if count == 1 { 1 } else { u32::try_from(count + 1)? };
        let part = if count == 1 { Duration::MAX } else { settings.call_limit / parts };
        let mut failure = Failure::from("expected a host");
        for server in &self.servers {
            let mut config = server.clone();
            if config.get_application_name().is_none() {
                config.application_name(settings.connection_name());
            }
            if let Some(password) = &password {
                config.password(password);
            }
            config.ssl_mode(match &settings.tls {
                None => SslMode::Disable,
                Some(tls) if tls.check == Check::Nothing => SslMode::Prefer,
                Some(_) => SslMode::Require,
            });
            // A server that a whole fleet connects to is slow to greet, and not to accept. A host that does not even do that is away.
            if settings.call_limit > settings.time_limit && config.get_connect_timeout().is_none() {
                config.connect_timeout(settings.time_limit / parts);
            }
            match timeout(part, open_writer(&config, &encryption)).await {
                Ok(Ok(opened)) => return Ok(opened),
                Ok(Err(error)) => failure = error,
                Err(_) => failure = format!("no answer from {} within {part:?}", place_of(server)).into(),
            }
        }
        Err(failure)
    }
}

/// Reads what the client understands of a URL. A name or a value may be a part of a password, so only the name of a known setting is
/// repeated.
fn parse_by_client(words: &Words) -> Result<Config, RegisterError> {
    words.url().parse::<Config>().map_err(|error| {
        let is_known = error.source().is_some_and(|cause| cause.to_string().starts_with("invalid value for option"));
        if is_known {
            return RegisterError::new("cannot read the PostgreSQL URL").caused_by(error);
        }
        words.wrong(&format!("no settings but those of the crate `tokio-postgres`, sslmode, {}", WORDS.join(", ")))
    })
}

/// Reads the URL of one server.
fn parse_server(words: &Words, is_only_one: bool) -> Result<Config, RegisterError> {
    let mut server = parse_by_client(words)?;
    if matches!(server.get_ssl_negotiation(), SslNegotiation::Direct) {
        return Err(words.wrong("`sslnegotiation=postgres`"));
    }
    // It is the default: nothing of TLS was left to the client.
    if server.get_ssl_mode() != SslMode::Prefer {
        return Err(words.wrong("`sslmode` once"));
    }
    let (addresses, ports) = (server.get_hostaddrs().to_vec(), server.get_ports().len());
    if addresses.len() > 1 || !is_only_one && !addresses.is_empty() {
        return Err(words.wrong("`hostaddr` of one host"));
    }
    match (server.get_hosts(), &addresses[..]) {
        ([_], _) => {}
        // The certificate of the server is for its address then. The client cannot use TLS without a name.
        ([], [address]) => _ = server.host(address.to_string()),
        _ => return Err(words.wrong("a host, or several ones before the path")),
    }
    if ports > 1 {
        return Err(words.wrong("one port for each host"));
    }
    if !is_only_one && server.get_target_session_attrs() == TargetSessionAttrs::Any {
        server.target_session_attrs(TargetSessionAttrs::ReadWrite);
    }
    Ok(server)
}

/// Returns how to encrypt; `None` for plain text.
#[cfg(feature = "tls")]
async fn encryption(tls: Option<&Tls>) -> Result<Encryption, Failure> {
    let Some(tls) = tls else { return Ok(None) };
    match tls.files(false).await {
        Ok(files) => Ok(Some(tokio_postgres_rustls::MakeRustlsConnect::new((*files.config).clone()))),
        // Without a crypto provider it cannot encrypt.
        Err(_) if tls.check == Check::Nothing => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(feature = "tls")]
type Encryption = Option<tokio_postgres_rustls::MakeRustlsConnect>;
#[cfg(not(feature = "tls"))]
type Encryption = ();

/// Connects to a server, and makes sure that it takes writes.
async fn open_writer(config: &Config, encryption: &Encryption) -> Result<(Connection, Row), Failure> {
    #[cfg(feature = "tls")]
    let opened = match encryption {
        None => open(config, NoTls).await,
        Some(tls) => match open(config, tls.clone()).await {
            // As libpq does.
            Err(failure) if config.get_ssl_mode() == SslMode::Prefer && super::tls::failure_of(&*failure).is_some() => {
                open(config, NoTls).await
            }
            opened => opened,
        },
    };
    #[cfg(not(feature = "tls"))]
    let ((), opened) = (*encryption, open(config, NoTls).await);
    let connection = opened?;
    let found = settings_of(&connection).await?;
    if found.try_get(9)? {
        return Err("expected a server that takes writes, found a standby".into());
    }
    Ok((Connection { is_synchronous: is_synchronous(&found)?, ..connection }, found))
}

/// Takes the TLS parameters out of a URL; the client knows only some of them. `None` is plain text.
fn take_tls(words: &mut Words) -> Result<Option<Tls>, RegisterError> {
    let mode = words.take("sslmode")?;
    let is_system = words.take_if("sslrootcert", "system")?;
    let files = Tls::from_words(words, WORDS)?;
    if is_system && files.as_ref().is_some_and(Tls::has_roots) {
        return Err(words.wrong("`sslrootcert` once"));
    }
    let mode = mode.as_deref().unwrap_or(if is_system { "verify-full" } else { "prefer" });
    let check = match mode {
        "disable" | "prefer" | "verify-ca" if is_system => {
            return Err(words.wrong("`sslmode=verify-full` with `sslrootcert=system`"));
        }
        "disable" | "prefer" if files.is_some() => {
            let expected = "`sslmode` require, verify-ca or verify-full with `sslrootcert`, `sslcert` and `sslkey`";
            return Err(words.wrong(expected));
        }
        "disable" => return Ok(None),
        "prefer" if cfg!(not(feature = "tls")) => return Ok(None),
        "prefer" => Check::Nothing,
        "require" | "verify-ca" if files.as_ref().is_some_and(Tls::has_roots) => Check::Authority,
        // Anyone can get a certificate from a system CA, so the host counts.
        "require" | "verify-full" => Check::Host,
        "verify-ca" => return Err(words.wrong("`sslrootcert` with `sslmode=verify-ca`, or `sslmode=verify-full`")),
        _ => return Err(words.wrong("`sslmode` disable, prefer, require, verify-ca or verify-full")),
    };
    if check != Check::Nothing {
        let part = if is_system { "sslrootcert=system".to_owned() } else { format!("sslmode={mode}") };
        check_feature("PostgreSQL", &part)?;
    }
    let mut tls = files.unwrap_or_default();
    tls.check = check;
    Ok(Some(tls))
}

const WORDS: [&str; 3] = ["sslrootcert", "sslcert", "sslkey"];

/// Returns where the one server of a configuration is.
fn place_of(server: &Config) -> String {
    let port = server.get_ports().first().unwrap_or(&5432);
    match &server.get_hosts()[0] {
        Host::Tcp(name) => format!("{name}:{port}"),
        #[cfg(unix)]
        Host::Unix(folder) => format!("{}/.s.PGSQL.{port}", folder.display()),
    }
}

/// Creates the table. Comparisons by "C" are comparisons of bytes.
const CREATE: &str =
    r#"CREATE TABLE IF NOT EXISTS imid_register (key text COLLATE "C" PRIMARY KEY, value text NOT NULL)"#;

// The condition of a write is true, and makes the commit of its statement wait for the disk, and for the standbys that
// `synchronous_standby_names` demands. `remote_apply` is stronger still. Each also returns whether commits wait for a standby, and the
// server's time in Unix microseconds.
const INSERT: &str = "INSERT INTO imid_register (key, value) SELECT $1, $2 WHERE set_config('synchronous_commit', \
    CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true) IS NOT NULL \
    ON CONFLICT (key) DO NOTHING RETURNING value, current_setting('synchronous_standby_names') <> '', \
    (extract(epoch FROM clock_timestamp()) * 1000000)::bigint";
const UPDATE: &str = "UPDATE imid_register SET value = $3 WHERE key = $1 AND value COLLATE \"C\" = $2 AND set_config('synchronous_commit', \
    CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true) IS NOT NULL \
    RETURNING value, current_setting('synchronous_standby_names') <> '', \
    (extract(epoch FROM clock_timestamp()) * 1000000)::bigint";

/// The second column is when the server last read its settings.
const IS_SYNCHRONOUS: &str = "SELECT current_setting('synchronous_standby_names') <> '', \
    (extract(epoch FROM pg_conf_load_time()) * 1000000)::bigint";

const READ: &str = "SELECT value FROM imid_register WHERE key = $1";

/// The key of the record in which an operator trusts a timeline. The next promotion starts another one.
const TRUSTED: &str = "trusted";

const EMPTIED: &str = "synchronous_standby_names was emptied while this process was connected, so commits that waited for a \
    standby were acknowledged without one";

/// A base backup is not a standby, and neither is its temporary slot. The timeline is in the first eight digits of the name of a log
/// file, which a standby has not. Functions stand where views would double what a new connection costs the server. One query: each is
/// a round trip more for each process of a fleet that connects together.
const SETTINGS: &str = "SELECT current_setting('fsync'), current_setting('full_page_writes'), \
    current_setting('synchronous_standby_names'), \
    (SELECT count(*) FROM pg_stat_get_wal_senders() AS sender, pg_stat_get_activity(sender.pid) AS activity \
        WHERE activity.application_name IS DISTINCT FROM 'pg_basebackup'), \
    (SELECT relpersistence = 'u' FROM pg_class WHERE oid = to_regclass($1)), \
    (SELECT count(*) FROM pg_get_replication_slots() WHERE slot_type = 'physical' AND NOT temporary), \
    CASE WHEN NOT pg_is_in_recovery() THEN ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint END, \
    (SELECT count(*) FILTER (WHERE indisunique AND indisvalid AND indnkeyatts = 1 AND indpred IS NULL AND indexprs IS NULL) > 0 \
        FROM pg_index WHERE indrelid = to_regclass($1)), \
    (SELECT string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attnum) FROM pg_attribute \
        WHERE attrelid = to_regclass($1) AND (attname = 'key' AND atttypmod BETWEEN 0 AND 131 \
        OR attname = 'value' AND atttypmod BETWEEN 0 AND 1027)), \
    pg_is_in_recovery()";

/// A connection, and the last warning of its server.
pub(super) struct Connection {
    client: Client,
    warning: Arc<Mutex<Option<String>>>,
    /// Whether commits waited for a standby when the settings were read last.
    is_synchronous: bool,
}

impl Connection {
    /// Refuses the answer of a write that should have waited for a standby and may not have: if `synchronous_standby_names` is
    /// emptied, the commits that wait succeed without a warning, and it can be set again by now.
    async fn check_wait(&mut self, has_waited: bool, began_us: i64) -> Result<(), Failure> {
        if !has_waited && !self.is_synchronous {
            return Ok(());
        }
        let settings = self.client.query_typed_one(IS_SYNCHRONOUS, &[]).await?;
        self.is_synchronous = settings.try_get(0)?;
        if !self.is_synchronous {
            return Err(Weakness(EMPTIED).into());
        }
        if settings.try_get::<_, i64>(1)? > began_us {
            return Err("the server read its settings during the write, and may not have waited for a standby".into());
        }
        Ok(())
    }

    /// Refuses the answer of a write that came with a warning. Call it after a write.
    fn end(&self) -> Result<(), Failure> {
        match lock(&self.warning).take() {
            Some(warning) => Err(format!("the server answered with a warning: {warning}").into()),
            None => Ok(()),
        }
    }
}

impl Server for Postgres {
    type Connection = Connection;

    async fn connect(&self, settings: &Settings) -> Result<(Connection, Promise), Failure> {
        let (connection, mut found) = Self::connect(self, settings).await?;
        if !settings.is_read_only && !has_table(&found)? {
            match connection.client.execute_typed(CREATE, &[]).await {
                // Another client created the table at the same time.
                Err(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => {}
                created => _ = created?,
            }
            found = settings_of(&connection).await?;
        }
        let promise = promise_of_register(&connection, &found).await?;
        Ok((connection, promise))
    }

    /// The user, the password, the database or the rights are wrong, or a table does not exist.
    fn is_permanent(failure: &Failure) -> bool {
        let code = failure.downcast_ref::<tokio_postgres::Error>().and_then(tokio_postgres::Error::code);
        let refused = [
            SqlState::INVALID_AUTHORIZATION_SPECIFICATION,
            SqlState::INVALID_PASSWORD,
            SqlState::INVALID_CATALOG_NAME,
            SqlState::INSUFFICIENT_PRIVILEGE,
            SqlState::UNDEFINED_TABLE,
        ];
        code.is_some_and(|code| refused.contains(code))
    }

    async fn promise(connection: &mut Connection) -> Result<Option<Promise>, Failure> {
        let found = settings_of(connection).await?;
        let was_synchronous = mem::replace(&mut connection.is_synchronous, is_synchronous(&found)?);
        if was_synchronous && !connection.is_synchronous {
            return Ok(Some(Promise::Weak(EMPTIED.into())));
        }
        promise_of_register(connection, &found).await.map(Some)
    }

    async fn read(connection: &mut Connection, key: &str) -> Result<Option<String>, Failure> {
        let row = connection.client.query_typed_opt(READ, &[(&key, Type::TEXT)]).await?;
        Ok(row.map(|row| row.try_get(0)).transpose()?)
    }

    async fn list(connection: &mut Connection, prefix: &str) -> Result<Vec<(String, String)>, Failure> {
        let query = "SELECT key, value FROM imid_register WHERE starts_with(key, $1)";
        let rows = connection.client.query_typed(query, &[(&prefix, Type::TEXT)]).await?;
        rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
    }

    async fn compare_and_set(
        connection: &mut Connection,
        key: &str,
        seen: Option<&str>,
        value: &str,
    ) -> Result<bool, Failure> {
        *lock(&connection.warning) = None;
        let written = match seen {
            None => connection.client.query_typed_opt(INSERT, &[(&key, Type::TEXT), (&value, Type::TEXT)]).await,
            Some(seen) => {
                connection
                    .client
                    .query_typed_opt(UPDATE, &[(&key, Type::TEXT), (&seen, Type::TEXT), (&value, Type::TEXT)])
                    .await
            }
        };
        match written {
            Ok(row) => {
                connection.end()?;
                let Some(row) = row else { return Ok(false) };
                connection.check_wait(row.try_get(1)?, row.try_get(2)?).await?;
                match row.try_get::<_, &str>(0)? {
                    kept if kept == value => Ok(true),
                    // A trigger.
                    kept => Err(format!("expected the server to keep {value:?}, found that it kept {kept:?}").into()),
                }
            }
            // Where transactions are serializable by default, the one that loses ends in this way. It wrote nothing.
            Err(error)
                if [Some(&SqlState::T_R_SERIALIZATION_FAILURE), Some(&SqlState::T_R_DEADLOCK_DETECTED)]
                    .contains(&error.code()) =>
            {
                Ok(false)
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn now_ms(connection: &mut Connection) -> Result<Option<u64>, Failure> {
        let query = "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
        let ms: i64 = connection.client.query_typed_one(query, &[]).await?.try_get(0)?;
        Ok(Some(u64::try_from(ms)?))
    }
}

/// Connects to a server.
async fn open<T>(config: &Config, tls: T) -> Result<Connection, Failure>
where
    T: MakeTlsConnect<Socket>,
    T::Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    T::TlsConnect: Send,
    <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
{
    let (client, mut connection) = config.connect(tls).await?;
    let warning = Arc::default();
    let client = Connection { client, warning: Arc::clone(&warning), is_synchronous: false };
    // The task ends with the connection. Its error is also that of the call. A warning comes before the answer.
    tokio::spawn(async move {
        while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
            if let AsyncMessage::Notice(notice) = message
                && notice.parsed_severity() == Some(Severity::Warning)
            {
                *lock(&warning) = Some(notice.message().to_owned());
            }
        }
    });
    Ok(client)
}

/// Returns what the table of the registers promises with these settings.
async fn promise_of_register(connection: &Connection, settings: &Row) -> Result<Promise, Failure> {
    let trusted: Option<String> = if has_table(settings)? && timeline_without_standbys(settings)?.is_some() {
        let row = connection.client.query_typed_opt(READ, &[(&TRUSTED, Type::TEXT)]).await?;
        row.map(|row| row.try_get(0)).transpose()?
    } else {
        None
    };
    promise_by(settings, trusted.as_deref())
}

/// Returns the timeline of a server that was a standby or was restored, unless its commits wait for a standby.
fn timeline_without_standbys(settings: &Row) -> Result<Option<i64>, Failure> {
    let timeline: Option<i64> = settings.try_get(6)?;
    let is_synchronous = is_synchronous(settings)?;
    Ok(timeline.filter(|timeline| *timeline > 1 && !is_synchronous))
}

/// Reads the settings that make the commits of the table durable.
async fn settings_of(connection: &Connection) -> Result<Row, Failure> {
    Ok(connection.client.query_typed_one(SETTINGS, &[(&"imid_register", Type::TEXT)]).await?)
}

fn has_table(settings: &Row) -> Result<bool, Failure> {
    Ok(settings.try_get::<_, Option<bool>>(4)?.is_some())
}

/// Returns whether commits wait for a standby.
fn is_synchronous(settings: &Row) -> Result<bool, Failure> {
    Ok(!settings.try_get::<_, &str>(2)?.is_empty())
}

/// Returns what settings promise. `trusted` is an operator's record that a timeline has lost nothing.
fn promise_by(row: &Row, trusted: Option<&str>) -> Result<Promise, Failure> {
    if has_table(row)? && !row.try_get::<_, bool>(7)? {
        return Err("expected a primary key in the table imid_register, found none".into());
    }
    if let Some(found) = row.try_get::<_, Option<&str>>(8)? {
        let expected = format!("{MAX_KEY_LEN} characters in the column key and {MAX_VALUE_LEN} in value");
        return Err(format!("expected {expected} of the table imid_register, found {found}").into());
    }
    let mut weaknesses = Vec::new();
    for (column, setting) in ["fsync", "full_page_writes"].into_iter().enumerate() {
        if row.try_get::<_, &str>(column)? != "on" {
            weaknesses.push(format!("{setting} is off, so a crash can lose acknowledged writes"));
        }
    }
    if !is_synchronous(row)? {
        let (standbys, slots): (i64, i64) = (row.try_get(3)?, row.try_get(5)?);
        if standbys.max(slots) > 0 {
            weaknesses.push(format!(
                "synchronous_standby_names is empty, so a failover to one of the {} standbys can lose acknowledged writes",
                standbys.max(slots)
            ));
        }
    }
    if let Some(timeline) = timeline_without_standbys(row)?
        && trusted != Some(&*format!("timeline={timeline}"))
    {
        weaknesses.push(format!(
            "synchronous_standby_names is empty and the timeline is {timeline}: this server was a standby, or was restored, and may \
             have lost acknowledged writes"
        ));
    }
    // NULL: there is no table yet, and a register to read only does not make one.
    if row.try_get::<_, Option<bool>>(4)? == Some(true) {
        weaknesses.push("the table imid_register is unlogged, so a crash empties it".into());
    }
    Ok(promise(&weaknesses))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_several_hosts_the_one_that_takes_writes_is_meant() {
        let target = |url: &str| Postgres::parse(url).unwrap().0[0].get_target_session_attrs();
        assert_eq!(target("postgres://u@standby,primary/chat"), TargetSessionAttrs::ReadWrite);
        assert_eq!(target("postgres://u@h/chat"), TargetSessionAttrs::Any);
    }
}
