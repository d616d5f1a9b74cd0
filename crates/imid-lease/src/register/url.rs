//! A register from a URL.

use core::time::Duration;

use super::{FileRegister, Register, RegisterError};

/// How long a call of an adapter may take by default.
pub const DEFAULT_TIME_LIMIT: Duration = Duration::from_secs(2);

/// Opens the register that a URL names. A call that takes longer than `time_limit` is an error;
/// [`DEFAULT_TIME_LIMIT`] is 2 s. Does not connect to a server yet.
///
/// | URL | register | feature | with TLS (feature `tls`) | files of the CAs, the certificate and its key |
/// | --- | --- | --- | --- | --- |
/// | `postgres://user:password@host:5432/database` | PostgreSQL | `postgres` | `?sslmode=verify-full` | `sslrootcert` (or `system`), `sslcert`, `sslkey` |
/// | `mysql://user:password@host:3306/database` | MySQL, MariaDB | `mysql` | `?require_ssl=true` | `ssl-ca`, `ssl-cert`, `ssl-key` |
/// | `redis://user:password@host:6379/0` | Redis, Valkey | `redis` | `rediss://` | `cacert`, `cert`, `key` |
/// | `etcd://user:password@host1:2379,host2:2379` | etcd | `etcd` | `https://` | `cacert`, `cert`, `key` |
/// | `zookeeper://host1:2181,host2:2181/path` | ZooKeeper | `zookeeper` | `zookeepers://` | `cacert`, `cert`, `key` |
/// | `file:path` | [a file that several processes share](super::FileRegister::shared) | | | |
///
/// The files are PEM and are parameters of the URL; without them, the system's CAs are trusted. Passwords, users and paths are
/// percent-encoded.
///
/// `postgresql://`, `mariadb://`, `valkey://`, `valkeys://` and `etcds://` are other names of `postgres://`, `mysql://`,
/// `redis://`, `rediss://` and `https://`.
///
/// # Errors
/// The URL is invalid, or the feature of its store was not compiled in. The file cannot be used.
pub fn open_url(url: &str, time_limit: Duration) -> Result<Box<dyn Register>, RegisterError> {
    open(url, time_limit, false)
}

/// Opens the register that a URL names, as [`open_url`] does, to look at it. It creates no table, no file and no lock, and each
/// write is an error. A user with read privileges is enough.
///
/// # Errors
/// As for [`open_url`].
pub fn open_url_read_only(url: &str, time_limit: Duration) -> Result<Box<dyn Register>, RegisterError> {
    open(url, time_limit, true)
}

/// Returns the store that a URL names; `None` if no register has such a URL.
pub fn store_of_url(url: &str) -> Option<&'static Store> {
    let scheme = url.split_once(':')?.0;
    STORES.iter().find(|store| store.schemes.contains(&scheme))
}

/// Opens the register of a URL with a time limit, and to read only if the last argument is true.
type Open = fn(&str, Duration, bool) -> Result<Box<dyn Register>, RegisterError>;

/// A store whose URLs [`open_url`] takes. [`STORES`] has all of them.
#[derive(Debug)]
pub struct Store {
    /// Its name in lower case, such as `postgres`.
    pub name: &'static str,
    /// What its URLs begin with, without the colon. The first one is the usual one.
    pub schemes: &'static [&'static str],
    /// The feature of this crate that has its client; `None` if it needs none.
    pub feature: Option<&'static str>,
    /// What the adapter checks, to say what the store [promises](super::Register::promise).
    pub checks: &'static str,
    /// What an operator has to check, because the adapter cannot see it.
    pub cannot_see: &'static [&'static str],
    /// `None` if the feature was not compiled in.
    open: Option<Open>,
}

impl Store {
    /// Returns whether it is a server rather than a file.
    pub const fn is_server(&self) -> bool {
        self.feature.is_some()
    }

    /// Returns whether its client was compiled in.
    pub const fn is_compiled_in(&self) -> bool {
        self.open.is_some()
    }
}

macro_rules! stores {
    ($($feature:literal $register:ident $schemes:expr, $checks:literal, $cannot_see:expr;)*) => {
        /// The stores whose URLs [`open_url`] takes.
        pub static STORES: &[Store] = &[
            $(Store {
                name: $feature,
                schemes: &$schemes,
                feature: Some($feature),
                checks: $checks,
                cannot_see: &$cannot_see,
                #[cfg(feature = $feature)]
                open: Some(|url, time_limit, is_read_only| {
                    let register = super::$register::from_url(url)?.time_limit(time_limit);
                    Ok(if is_read_only { Box::new(register.read_only()) } else { Box::new(register) })
                }),
                #[cfg(not(feature = $feature))]
                open: None,
            },)*
            Store {
                name: "file",
                schemes: &["file"],
                feature: None,
                checks: "network file systems, other machines, links, the checksum",
                cannot_see: &[
                    "whether the disk keeps what it has synced",
                    "whether the disk is thrown away with a container",
                    "whether the file is copied, or restored from a backup",
                ],
                open: Some(open_file),
            },
        ];
    };
}

stores! {
    "postgres" PostgresRegister ["postgres", "postgresql"],
        "fsync, full_page_writes, synchronous_standby_names beside standbys, slots and the timeline, an unlogged table",
        [
            "whether the disk keeps what it has synced",
            "whether a failover takes the synchronous standby",
            "whether there is an asynchronous standby that is not connected and has no slot",
            "whether a backup was restored",
        ];
    "mysql" MysqlRegister ["mysql", "mariadb"],
        "innodb_flush_log_at_trx_commit, innodb_doublewrite, sync_binlog, semi-synchronous replication, Galera, group replication, the engine of the table",
        [
            "whether the disk keeps what it has synced",
            "whether MySQL has asynchronous replicas, and which replica a failover takes",
            "whether a backup was restored",
        ];
    "redis" RedisRegister ["redis", "rediss", "valkey", "valkeys"],
        "no setting, because it is always weak",
        ["which acknowledged writes were lost"];
    "etcd" EtcdRegister ["etcd", "etcds", "https"],
        "the size, the alarms",
        [
            "its quota, and whether it compacts by itself (--auto-compaction-retention)",
            "whether it syncs its log, as it does without --unsafe-no-fsync",
            "whether a snapshot was restored",
        ];
    "zookeeper" ZookeeperRegister ["zookeeper", "zookeepers"],
        "no setting",
        [
            "whether it syncs its log (forceSync), as it does by default",
            "whether members lost their disks, so that a majority has forgotten writes",
        ];
}

fn open(url: &str, time_limit: Duration, is_read_only: bool) -> Result<Box<dyn Register>, RegisterError> {
    let store = store_of_url(url).ok_or_else(unknown)?;
    match store.open {
        Some(open) => open(url, time_limit, is_read_only),
        None => Err(missing(url.split(':').next().unwrap_or_default(), store.name)),
    }
}

fn open_file(url: &str, time_limit: Duration, is_read_only: bool) -> Result<Box<dyn Register>, RegisterError> {
    let path = url.strip_prefix("file:").unwrap_or_default();
    if path.is_empty() {
        return Err(RegisterError::new("expected a path after file:").of_url());
    }
    if is_read_only {
        return Ok(Box::new(FileRegister::read_only(path)?));
    }
    Ok(Box::new(FileRegister::shared(path)?.time_limit(time_limit)))
}

/// The text is not repeated, because it may contain a password.
fn unknown() -> RegisterError {
    let servers = STORES.iter().filter(|store| store.is_server());
    let schemes = servers.map(|store| store.schemes[0]).collect::<Vec<_>>().join("://, ");
    RegisterError::new(format!("expected a URL that begins with {schemes}:// or file:")).of_url()
}

fn missing(scheme: &str, feature: &str) -> RegisterError {
    let what = format!("{scheme}:// needs the feature `{feature}` of imid-lease, which was not compiled in");
    RegisterError::new(what).of_url()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_its_store() {
        assert_eq!(store_of_url("mariadb://db/chat").map(|store| store.name), Some("mysql"));
        assert!(store_of_url("file:/var/lib/chat/ids").is_some_and(|store| !store.is_server()));
        assert!(store_of_url("http://db").is_none());
    }

    #[test]
    fn a_missing_feature_is_named() {
        let words = "etcd:// needs the feature `etcd` of imid-lease, which was not compiled in";
        assert_eq!(missing("etcd", "etcd").to_string(), words);
    }
}
