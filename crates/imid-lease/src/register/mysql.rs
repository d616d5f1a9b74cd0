//! MySQL and MariaDB.

mod semi_sync;

use std::collections::HashMap;

use mysql_async::prelude::{FromValue, Queryable};
use mysql_async::{Conn, Error, Opts, OptsBuilder, Row, UrlError};

use super::query::{Words, check_rest};
use super::remote::{Failure, Remote, Server, Settings, Weakness, promise, remote_register};
#[cfg(feature = "tls")]
use super::tls::Files;
use super::tls::{Tls, check_feature};
use super::{MAX_KEY_LEN, MAX_VALUE_LEN, Promise, RegisterError};
use semi_sync::{SWITCHED_OFF, SemiSync};

remote_register! {
    /// A register in MySQL 5.7 or later, or in MariaDB 10.3 or later.
    ///
    /// The records are rows of the InnoDB table `imid_register`. The first call creates it. A user that may not create tables needs
    /// an existing one, with the privileges to select, insert and update:
    ///
    /// ```sql
    /// CREATE TABLE imid_register (name varbinary(128) PRIMARY KEY, value varbinary(1024) NOT NULL) ENGINE = InnoDB;
    /// ```
    ///
    /// A table with text columns, shorter ones, no primary key, or another engine is refused, and so is a read-only server. One that
    /// becomes read-only is refused within 10 s, also if the user may still write.
    ///
    /// **Weak** if `innodb_flush_log_at_trx_commit` is not 1, if `innodb_doublewrite` is off or `DETECT_ONLY`, if the binary log is on
    /// and `sync_binlog` is not 1, and on a node of a Galera cluster or a member of a replication group, whose commits may be in
    /// memory only.
    ///
    /// A failover to an asynchronous replica can lose acknowledged writes. Therefore, a MariaDB server with replicas is also
    /// weak while semi-synchronous replication is off, and so is a server that has waited for a replica for too long. While it
    /// is on, the counter of commits that no replica has confirmed is read before and after each write: if it has grown, as
    /// after a `KILL QUERY`, the outcome of the write is unknown. It does not see asynchronous replicas of MySQL, nor replicas
    /// that are not connected, and a replica that became the primary looks like any other server.
    ///
    /// A server accepts 151 connections by default (`max_connections`). The table `session_connect_attrs` of the performance schema shows `imid-lease/HOLDER` as the connection's `program_name` (on
    /// MariaDB with `performance_schema=ON` only).
    MysqlRegister, Mysql
}

impl MysqlRegister {
    /// Reads a URL, such as `mysql://user:password@host:3306/database?require_ssl=true`. Does not connect yet.
    ///
    /// With the feature `tls`, the URL can have the settings of the crate `mysql_async`: `require_ssl=true` encrypts, and checks
    /// that the certificate of the server is for the host, always. The CAs are the system's, or those in the file `ssl-ca`.
    /// `ssl-cert` and `ssl-key` are the files of a client certificate. Without `require_ssl=true` the connection is plain text.
    ///
    /// # Errors
    /// The URL is invalid, names no database, or needs the feature `tls`.
    pub fn from_url(url: &str) -> Result<Self, RegisterError> {
        let (options, place, tls) = Mysql::parse(url).map_err(RegisterError::of_url)?;
        Ok(Self(Remote::new(Mysql { options }, place, tls)))
    }
}

/// Where a server is, and how to connect to it.
pub(super) struct Mysql {
    options: Opts,
}

impl Mysql {
    /// Reads a URL.
    fn parse(url: &str) -> Result<(Opts, String, Option<Tls>), RegisterError> {
        let mysql = url.strip_prefix("mariadb://").map(|rest| format!("mysql://{rest}"));
        let mut words = Words::split("MySQL", mysql.as_deref().unwrap_or(url))?;
        check_rest(&words)?;
        let tls = take_tls(&mut words)?;
        let options = Opts::from_url(&words.url()).map_err(|error| match error {
            // It names only what it knows.
            UrlError::InvalidParamValue { param, .. } => words.wrong(&format!("another value of `{param}`")),
            // The name may be a part of a password.
            UrlError::UnknownParameter { .. } | UrlError::FeatureRequired { .. } => {
                words.wrong("no settings but those of the crate `mysql_async`, such as `require_ssl` and `ssl-ca`")
            }
            _ => words.wrong("mysql://user:password@host:port/database"),
        })?;
        // Nothing of TLS was left to the client.
        if options.ssl_opts().is_some() {
            return Err(words.wrong("`require_ssl` once"));
        }
        if options.db_name().is_none_or(str::is_empty) {
            return Err(words.wrong("a database, as in mysql://host/database"));
        }
        let place = format!("MySQL at {}:{}", options.ip_or_hostname(), options.tcp_port());
        let options = OptsBuilder::from_opts(options)
            // An update counts the rows that it found. By default it counts those that it changed.
            .client_found_rows(true)
            // By default the client moves to a socket of the server's machine, where a proxy on it may be meant.
            .prefer_socket(false)
            .setup(SETUP.map(str::to_owned).to_vec());
        Ok((options.into(), place, tls))
    }

    /// Connects to a server that takes writes.
    async fn connect(&self, settings: &Settings) -> Result<Conn, Failure> {
        let mut options =
            OptsBuilder::from_opts(self.options.clone()).connect_attribute("program_name", settings.connection_name());
        if let Some(password) = settings.make_password().await? {
            options = options.pass(Some(password));
        }
        #[cfg(feature = "tls")]
        if let Some(tls) = &settings.tls {
            options = options.ssl_opts(ssl_options(tls.files(true).await?));
        }
        let mut conn = Conn::new(options).await?;
        check_writes(&mut conn).await?;
        Ok(conn)
    }
}

/// Refuses a server that is read-only. It takes the writes of a user with enough privileges all the same.
async fn check_writes(conn: &mut Conn) -> Result<(), Failure> {
    let read_only: Option<String> = conn.query_first("SELECT @@global.read_only").await?;
    if read_only.is_some_and(|read_only| is_off(&read_only)) {
        Ok(())
    } else {
        Err("expected a server that takes writes, found one with read_only".into())
    }
}

/// Returns whether a setting is off. `read_only` is a number, and a word from MariaDB 12.1 on.
fn is_off(setting: &str) -> bool {
    ["0", "OFF"].contains(&setting)
}

/// Returns a column of a row. What the client converts by itself panics where it has another type.
fn column<T: FromValue>(row: &Row, index: usize) -> Result<T, Failure> {
    Ok(row.get_opt(index).ok_or("expected a column, found none")??)
}

/// Takes the TLS parameters out of a URL. `None` is plain text.
fn take_tls(words: &mut Words) -> Result<Option<Tls>, RegisterError> {
    let is_required = match words.take("require_ssl")?.as_deref() {
        None | Some("false") => false,
        Some("true") => true,
        Some(_) => return Err(words.wrong("`require_ssl` true or false")),
    };
    let files = Tls::from_words(words, ["ssl-ca", "ssl-cert", "ssl-key"])?;
    // They are always checked.
    let is_checked = words.take_if("verify_ca", "true")? | words.take_if("verify_identity", "true")?;
    for name in ["verify_ca", "verify_identity"] {
        if words.take(name)?.is_some() {
            return Err(words.wrong(&format!("`{name}=true`, because the certificate is always checked")));
        }
    }
    if words.take("built_in_roots")?.is_some() {
        return Err(words.wrong("`ssl-ca`, or nothing for the system's CAs, and no `built_in_roots`"));
    }
    if !is_required {
        // The client ignores the others.
        let is_asked = is_checked || files.is_some();
        return if is_asked { Err(words.wrong("`require_ssl=true` with other settings of TLS")) } else { Ok(None) };
    }
    check_feature("MySQL", "require_ssl=true")?;
    Ok(Some(files.unwrap_or_default()))
}

/// Returns the settings of TLS for the client. It makes the configuration of rustls itself.
#[cfg(feature = "tls")]
fn ssl_options(Files { roots, identity, .. }: Files) -> mysql_async::SslOpts {
    use mysql_async::ClientIdentity;

    mysql_async::SslOpts::default()
        .with_disable_built_in_roots(true)
        .with_root_certs(roots.iter().map(|root| root.to_vec().into()).collect())
        .with_client_identity(identity.map(|(certificate, key)| ClientIdentity::new(certificate.into(), key.into())))
}

/// A default of the server could show writes that are not committed, leave transactions open, or repeat an hour.
const SETUP: [&str; 3] = [
    "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
    "SET SESSION autocommit = 1",
    "SET SESSION time_zone = '+00:00'",
];

const CREATE: &str = "CREATE TABLE IF NOT EXISTS imid_register (name varbinary(128) PRIMARY KEY, \
    value varbinary(1024) NOT NULL) ENGINE = InnoDB";

/// No table has this name.
const NO_TABLE: u16 = 1146;
/// Access denied to a database, access denied to a user, unknown database, no right to a table, no such table.
const REFUSED: [u16; 5] = [1044, 1045, 1049, 1142, NO_TABLE];
/// A unique key has this value already.
const DUPLICATE_KEY: u16 = 1062;
/// The statement lost against another one and wrote nothing: a deadlock, or (from MariaDB 11.6 on) a row that changed.
const LOST: [u16; 2] = [1213, 1020];

/// A connection, and how its server replicated when that was read last.
pub(super) struct Connection {
    client: Conn,
    replication: SemiSync,
}

impl Connection {
    /// Reads how the server replicates, if commits have waited for a replica until now.
    async fn begin(&mut self) -> Result<SemiSync, Failure> {
        let before = self.replication;
        if before.is_on {
            self.replication = SemiSync::read(&mut self.client).await?;
            // It was switched off since the last write.
            if !self.replication.is_on {
                return Err(Weakness(SWITCHED_OFF).into());
            }
        }
        Ok(self.replication)
    }

    /// Refuses the answer of a write that no replica has confirmed.
    async fn end(&mut self, before: SemiSync) -> Result<(), Failure> {
        if before.is_on {
            self.replication = SemiSync::read(&mut self.client).await?;
        }
        SemiSync::check(before, self.replication)
    }
}

impl Server for Mysql {
    type Connection = Connection;

    async fn connect(&self, settings: &Settings) -> Result<(Connection, Promise), Failure> {
        let mut conn = Self::connect(self, settings).await?;
        match check_table(&mut conn).await {
            Err(failure) if !settings.is_read_only && is_no_table(&failure) => {
                conn.query_drop(CREATE).await?;
                check_table(&mut conn).await?;
            }
            checked => checked?,
        }
        let promise = promise_of(&mut conn).await?;
        let replication = SemiSync::read(&mut conn).await?;
        Ok((Connection { client: conn, replication }, promise))
    }

    /// The user, the password, the database or the rights are wrong.
    fn is_permanent(failure: &Failure) -> bool {
        matches!(failure.downcast_ref(), Some(Error::Server(error)) if REFUSED.contains(&error.code))
    }

    async fn promise(conn: &mut Connection) -> Result<Option<Promise>, Failure> {
        // A failover makes the old primary read-only.
        check_writes(&mut conn.client).await?;
        if !conn.replication.is_on {
            conn.replication = SemiSync::read(&mut conn.client).await?;
        }
        promise_of(&mut conn.client).await.map(Some)
    }

    async fn read(conn: &mut Connection, key: &str) -> Result<Option<String>, Failure> {
        let row: Option<Row> = conn.client.exec_first("SELECT value FROM imid_register WHERE name = ?", (key,)).await?;
        row.map(|row| column(&row, 0)).transpose()
    }

    async fn list(conn: &mut Connection, prefix: &str) -> Result<Vec<(String, String)>, Failure> {
        let query = "SELECT name, value FROM imid_register WHERE LEFT(name, ?) = ?";
        let rows: Vec<Row> = conn.client.exec(query, (prefix.len(), prefix)).await?;
        rows.iter().map(|row| Ok((column(row, 0)?, column(row, 1)?))).collect()
    }

    async fn compare_and_set(
        conn: &mut Connection,
        key: &str,
        seen: Option<&str>,
        value: &str,
    ) -> Result<bool, Failure> {
        let before = conn.begin().await?;
        let written = match seen {
            None => conn.client.exec_drop("INSERT INTO imid_register (name, value) VALUES (?, ?)", (key, value)).await,
            Some(seen) => {
                let update = "UPDATE imid_register SET value = ? WHERE name = ? AND value = ?";
                conn.client.exec_drop(update, (value, key, seen)).await
            }
        };
        match written {
            Ok(()) => {
                let is_written = conn.client.affected_rows() == 1;
                // The affected rows are those that were found.
                let is_kept = conn.client.info().contains("Changed: 0") && seen != Some(value);
                conn.end(before).await?;
                match seen {
                    // A trigger.
                    Some(seen) if is_written && is_kept => {
                        Err(format!("expected the server to keep {value:?}, found that it kept {seen:?}").into())
                    }
                    _ => Ok(is_written),
                }
            }
            Err(Error::Server(error)) if error.code == DUPLICATE_KEY || LOST.contains(&error.code) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    async fn now_ms(conn: &mut Connection) -> Result<Option<u64>, Failure> {
        Ok(conn.client.query_first("SELECT CAST(UNIX_TIMESTAMP(SYSDATE(3)) * 1000 AS UNSIGNED)").await?)
    }
}

/// The columns of the table, and how many bytes they hold at least.
const COLUMNS: [(&str, usize); 2] = [("name", MAX_KEY_LEN), ("value", MAX_VALUE_LEN)];

/// Refuses a table that does not compare bytes, or that can lose writes. Queries of the information schema would be
/// shorter, but they can open all tables of a server.
async fn check_table(conn: &mut Conn) -> Result<(), Failure> {
    let wrong = |expected: &str, found: String| -> Result<(), Failure> {
        Err(format!("expected {expected} in the table imid_register, found {found}").into())
    };
    for column in conn.query::<Row, _>("SHOW COLUMNS FROM imid_register").await? {
        let text = |name| column.get_opt::<String, _>(name).and_then(Result::ok).unwrap_or_default();
        let (name, data_type) = (text("Field"), text("Type"));
        let Some((_, least)) = COLUMNS.into_iter().find(|(column, _)| *column == name) else { continue };
        let length = data_type.strip_prefix("varbinary(").and_then(|rest| rest.strip_suffix(')')?.parse().ok());
        match length {
            None => return wrong("varbinary", data_type),
            // A server that is not strict cuts values off.
            Some(length) if length < least => return wrong(&format!("varbinary({least})"), data_type),
            Some::<usize>(_) => {}
        }
    }
    let mut indexes: HashMap<String, Vec<(String, bool)>> = HashMap::new();
    for column in conn.query::<Row, _>("SHOW INDEX FROM imid_register WHERE Non_unique = 0").await? {
        let text = |name| column.get_opt::<String, _>(name).and_then(Result::ok);
        let part = (text("Column_name").unwrap_or_default(), text("Sub_part").is_some());
        indexes.entry(text("Key_name").unwrap_or_default()).or_default().push(part);
    }
    // Without it, each of two processes that create a record succeeds.
    if !indexes.into_values().any(|columns| columns == [("name".to_owned(), false)]) {
        return wrong("a primary key of the column name", "none".into());
    }
    match engine(conn, r"imid\_register").await? {
        Some(engine) if engine.eq_ignore_ascii_case("InnoDB") => Ok(()),
        engine => wrong("the engine InnoDB", engine.unwrap_or_else(|| "none".into())),
    }
}

/// Returns the engine of a table.
async fn engine(conn: &mut Conn, table: &str) -> Result<Option<String>, Failure> {
    let status: Option<Row> = conn.query_first(format!("SHOW TABLE STATUS LIKE '{table}'")).await?;
    Ok(status.and_then(|status| status.get_opt::<String, _>("Engine")?.ok()))
}

fn is_no_table(failure: &Failure) -> bool {
    matches!(failure.downcast_ref(), Some(Error::Server(error)) if error.code == NO_TABLE)
}

/// Reads the settings that make commits durable.
async fn promise_of(conn: &mut Conn) -> Result<Promise, Failure> {
    let settings: Vec<(String, String)> = conn
        .query(
            "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('innodb_flush_log_at_trx_commit', 'innodb_doublewrite', \
             'log_bin', 'sync_binlog', 'wsrep_on', 'group_replication_group_name')",
        )
        .await?;
    let mut weaknesses = weaknesses_of(&settings.into_iter().collect());
    weaknesses.extend(SemiSync::read(conn).await?.weakness());
    Ok(promise(&weaknesses))
}

fn weaknesses_of(settings: &HashMap<String, String>) -> Vec<String> {
    let is = |name: &str, value: &str| settings.get(name).is_some_and(|found| found.eq_ignore_ascii_case(value));
    let mut weaknesses = Vec::new();
    if !is("innodb_flush_log_at_trx_commit", "1") {
        weaknesses.push("innodb_flush_log_at_trx_commit is not 1, so a crash can lose acknowledged writes".into());
    }
    if is("innodb_doublewrite", "OFF") || is("innodb_doublewrite", "DETECT_ONLY") {
        weaknesses.push("innodb_doublewrite does not keep pages, so a crash can damage them".into());
    }
    if is("log_bin", "ON") && !is("sync_binlog", "1") {
        weaknesses.push("sync_binlog is not 1, so a crash can lose acknowledged writes".into());
    }
    if is("wsrep_on", "ON") {
        weaknesses.push("this is a node of a Galera cluster, whose nodes can answer with old records".into());
    }
    if settings.get("group_replication_group_name").is_some_and(|name| !name.is_empty()) {
        weaknesses.push("this is a member of a replication group, whose members can answer with old records".into());
    }
    weaknesses
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns how a server with safe settings, but for these, is weak.
    fn weaknesses(more: &[(&str, &str)]) -> Vec<String> {
        let settings = [&[("innodb_flush_log_at_trx_commit", "1"), ("innodb_doublewrite", "ON")], more].concat();
        weaknesses_of(&settings.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    #[test]
    fn pages_are_safe_if_they_are_written_twice() {
        let weak = "innodb_doublewrite does not keep pages, so a crash can damage them";
        for (setting, is_weak) in
            [("ON", false), ("DETECT_AND_RECOVER", false), ("fast", false), ("OFF", true), ("DETECT_ONLY", true)]
        {
            let expected: &[_] = if is_weak { &[weak] } else { &[] };
            assert_eq!(weaknesses(&[("innodb_doublewrite", setting)]), expected, "{setting}");
        }
    }

    #[test]
    fn read_only_is_a_number_or_a_word() {
        assert!(["0", "OFF"].into_iter().all(is_off));
        assert!(!["1", "ON", "NO_LOCK", "NO_LOCK_NO_ADMIN"].into_iter().any(is_off));
    }

    #[test]
    fn a_member_of_a_cluster_with_several_writers_is_weak() {
        assert_eq!(weaknesses(&[("wsrep_on", "OFF"), ("group_replication_group_name", "")]), [""; 0]);
        let group = "this is a member of a replication group, whose members can answer with old records";
        assert_eq!(weaknesses(&[("group_replication_group_name", "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa")]), [group]);
        let galera = "this is a node of a Galera cluster, whose nodes can answer with old records";
        assert_eq!(weaknesses(&[("wsrep_on", "ON")]), [galera]);
    }
}
