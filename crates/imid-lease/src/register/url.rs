//! A register from a URL.

use core::time::Duration;

use super::{Access, DEFAULT_TIME_LIMIT, FileRegister, Register, RegisterError};

/// Opens the register that a URL names. Does not connect to a server yet.
///
/// | URL | register | feature | by TLS, with the feature `tls` |
/// | --- | --- | --- | --- |
/// | `postgres://user:password@host:5432/database` | PostgreSQL | `postgres` | `?sslmode=verify-full` |
/// | `mysql://user:password@host:3306/database` | MySQL, MariaDB | `mysql` | `?require_ssl=true` |
/// | `redis://user:password@host:6379/0` | Redis, Valkey | `redis` | `rediss://` |
/// | `etcd://user:password@host1:2379,host2:2379` | etcd | `etcd` | `https://` |
/// | `zookeeper://host1:2181,host2:2181/path` | ZooKeeper | `zookeeper` | `zookeepers://` |
/// | `file:path` | [a file that several processes share](super::FileRegister::shared) | | |
///
/// # Errors
/// The URL cannot be understood, or the feature of its store was not compiled in. The file cannot be used.
pub fn open_url(url: &str) -> Result<Box<dyn Register>, RegisterError> {
    open(url, DEFAULT_TIME_LIMIT, Access::Write)
}

/// Opens the register that a URL names, as [`open_url`] does. Each call may take this long.
///
/// # Errors
/// As for [`open_url`].
pub fn open_url_with_time_limit(url: &str, time_limit: Duration) -> Result<Box<dyn Register>, RegisterError> {
    open(url, time_limit, Access::Write)
}

/// Opens the register that a URL names to look at it. It creates no table, no file and no lock, and each write is an
/// error. A user with the rights to read is enough.
///
/// # Errors
/// As for [`open_url`].
pub fn open_url_read_only(url: &str) -> Result<Box<dyn Register>, RegisterError> {
    open(url, DEFAULT_TIME_LIMIT, Access::Read)
}

fn open(url: &str, time_limit: Duration, access: Access) -> Result<Box<dyn Register>, RegisterError> {
    /// Sets the time limit and the access of an adapter.
    #[allow(unused_macros, reason = "each feature of a server uses it")]
    macro_rules! adapter {
        ($register:ident) => {{
            let register = super::$register::from_url(url)?.time_limit(time_limit);
            Ok(if access == Access::Read { Box::new(register.read_only()) } else { Box::new(register) })
        }};
    }

    let scheme = url.split_once(':').map_or("", |(scheme, _)| scheme);
    match scheme {
        #[cfg(feature = "postgres")]
        "postgres" | "postgresql" => adapter!(PostgresRegister),
        #[cfg(not(feature = "postgres"))]
        "postgres" | "postgresql" => Err(missing(scheme, "postgres")),
        #[cfg(feature = "mysql")]
        "mysql" | "mariadb" => adapter!(MysqlRegister),
        #[cfg(not(feature = "mysql"))]
        "mysql" | "mariadb" => Err(missing(scheme, "mysql")),
        #[cfg(feature = "redis")]
        "redis" | "rediss" | "valkey" | "valkeys" => adapter!(RedisRegister),
        #[cfg(not(feature = "redis"))]
        "redis" | "rediss" | "valkey" | "valkeys" => Err(missing(scheme, "redis")),
        #[cfg(feature = "etcd")]
        "etcd" | "etcds" | "https" => adapter!(EtcdRegister),
        #[cfg(not(feature = "etcd"))]
        "etcd" | "etcds" | "https" => Err(missing(scheme, "etcd")),
        #[cfg(feature = "zookeeper")]
        "zookeeper" | "zookeepers" => adapter!(ZookeeperRegister),
        #[cfg(not(feature = "zookeeper"))]
        "zookeeper" | "zookeepers" => Err(missing(scheme, "zookeeper")),
        "file" if url == "file:" => Err(RegisterError::new("expected a path after file:").of_url()),
        "file" if access == Access::Read => Ok(Box::new(FileRegister::read_only(&url["file:".len()..])?)),
        "file" => Ok(Box::new(FileRegister::shared(&url["file:".len()..])?.time_limit(time_limit))),
        // The text is not repeated, because it may have a password in it.
        _ => Err(RegisterError::new(
            "expected a URL that begins with postgres://, mysql://, redis://, etcd://, zookeeper:// or file:",
        )
        .of_url()),
    }
}

#[allow(dead_code, reason = "with all features, nothing is missing")]
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
