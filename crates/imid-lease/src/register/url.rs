//! A register from a URL.

use core::time::Duration;

use super::{Access, FileRegister, Register, RegisterError};

/// Opens the register that a URL names. A call that takes longer than `time_limit` is an error;
/// [`DEFAULT_TIME_LIMIT`](super::DEFAULT_TIME_LIMIT) is 2 s. Does not connect to a server yet.
///
/// | URL | register | feature | by TLS, with the feature `tls` |
/// | --- | --- | --- | --- |
/// | `postgres://user:password@host:5432/database` | PostgreSQL | `postgres` | `?sslmode=verify-full` |
/// | `mysql://user:password@host:3306/database` | MySQL, MariaDB | `mysql` | `?require_ssl=true` |
/// | `redis://user:password@host:6379/0`, `unix:///path?db=0` | Redis, Valkey | `redis` | `rediss://` |
/// | `etcd://user:password@host1:2379,host2:2379` | etcd | `etcd` | `https://` |
/// | `zookeeper://host1:2181,host2:2181/path` | ZooKeeper | `zookeeper` | `zookeepers://` |
/// | `file:path` | [a file that several processes share](super::FileRegister::shared) | | |
///
/// `postgresql://`, `mariadb://`, `valkey://`, `valkeys://` and `etcds://` are other names of `postgres://`, `mysql://`,
/// `redis://`, `rediss://` and `https://`.
///
/// # Errors
/// The URL cannot be understood, or the feature of its store was not compiled in. The file cannot be used.
pub fn open_url(url: &str, time_limit: Duration) -> Result<Box<dyn Register>, RegisterError> {
    open(url, time_limit, Access::Write)
}

/// Opens the register that a URL names, as [`open_url`] does, to look at it. It creates no table, no file and no lock, and
/// each write is an error. A user with the rights to read is enough.
///
/// # Errors
/// As for [`open_url`].
pub fn open_url_read_only(url: &str, time_limit: Duration) -> Result<Box<dyn Register>, RegisterError> {
    open(url, time_limit, Access::Read)
}

/// Returns the store that a URL names, as its feature is called, or `file`. Returns `None` if no register has such a URL.
///
/// ```
/// use imid_lease::register::store_of_url;
///
/// assert_eq!(store_of_url("mariadb://db/chat"), Some("mysql"));
/// assert_eq!(store_of_url("file:/var/lib/chat/ids"), Some("file"));
/// assert_eq!(store_of_url("http://db"), None);
/// ```
pub fn store_of_url(url: &str) -> Option<&'static str> {
    match url.split_once(':')?.0 {
        "file" => Some("file"),
        scheme => store(scheme).map(|store| store.feature),
    }
}

fn store(scheme: &str) -> Option<&'static Store> {
    STORES.iter().find(|store| store.schemes.contains(&scheme))
}

type Open = fn(&str, Duration, Access) -> Result<Box<dyn Register>, RegisterError>;

/// The adapter of a server.
struct Store {
    schemes: &'static [&'static str],
    feature: &'static str,
    /// `None` if the feature was not compiled in.
    open: Option<Open>,
}

macro_rules! stores {
    ($($feature:literal $register:ident $schemes:expr;)*) => {
        [$(Store {
            schemes: &$schemes,
            feature: $feature,
            #[cfg(feature = $feature)]
            open: Some(|url, time_limit, access| {
                let register = super::$register::from_url(url)?.time_limit(time_limit);
                Ok(if access == Access::Read { Box::new(register.read_only()) } else { Box::new(register) })
            }),
            #[cfg(not(feature = $feature))]
            open: None,
        }),*]
    };
}

static STORES: [Store; 5] = stores! {
    "postgres" PostgresRegister ["postgres", "postgresql"];
    "mysql" MysqlRegister ["mysql", "mariadb"];
    "redis" RedisRegister ["redis", "rediss", "valkey", "valkeys", "unix", "redis+unix", "valkey+unix"];
    "etcd" EtcdRegister ["etcd", "etcds", "https"];
    "zookeeper" ZookeeperRegister ["zookeeper", "zookeepers"];
};

fn open(url: &str, time_limit: Duration, access: Access) -> Result<Box<dyn Register>, RegisterError> {
    let (scheme, rest) = url.split_once(':').unwrap_or_default();
    if let Some(store) = store(scheme) {
        return match store.open {
            Some(open) => open(url, time_limit, access),
            None => Err(missing(scheme, store.feature)),
        };
    }
    match (scheme, access) {
        ("file", _) if rest.is_empty() => Err(RegisterError::new("expected a path after file:").of_url()),
        ("file", Access::Read) => Ok(Box::new(FileRegister::read_only(rest)?)),
        ("file", Access::Write) => Ok(Box::new(FileRegister::shared(rest)?.time_limit(time_limit))),
        _ => Err(unknown()),
    }
}

/// The text is not repeated, because it may have a password in it.
fn unknown() -> RegisterError {
    let schemes = STORES.each_ref().map(|store| store.schemes[0]).join("://, ");
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
    fn a_missing_feature_is_named() {
        let words = "etcd:// needs the feature `etcd` of imid-lease, which was not compiled in";
        assert_eq!(missing("etcd", "etcd").to_string(), words);
    }
}
