//! A register from a URL.

use core::time::Duration;

use super::{DEFAULT_TIME_LIMIT, FileRegister, Register, RegisterError};

/// Opens the register that a URL names. Does not connect to a server yet.
///
/// | URL | register | feature |
/// | --- | --- | --- |
/// | `postgres://user:password@host:5432/database` | PostgreSQL | `postgres` |
/// | `mysql://user:password@host:3306/database` | MySQL, MariaDB | `mysql` |
/// | `redis://user:password@host:6379/0` | Redis, Valkey | `redis` |
/// | `etcd://user:password@host1:2379,host2:2379` | etcd | `etcd` |
/// | `zookeeper://host1:2181,host2:2181/path` | ZooKeeper | `zookeeper` |
/// | `file:path` | [a file that several processes share](super::FileRegister::shared) | |
///
/// No adapter speaks TLS. A URL that asks for it (`sslmode=require`, `require_ssl=true`, `rediss://`, `etcds://`) is an
/// error.
///
/// # Errors
/// The URL cannot be understood, or the feature of its store was not compiled in. The file cannot be used.
pub fn open_url(url: &str) -> Result<Box<dyn Register>, RegisterError> {
    open_url_with_time_limit(url, DEFAULT_TIME_LIMIT)
}

/// Opens the register that a URL names, as [`open_url`] does. Each call may take this long.
///
/// # Errors
/// As for [`open_url`].
pub fn open_url_with_time_limit(url: &str, time_limit: Duration) -> Result<Box<dyn Register>, RegisterError> {
    let scheme = url.split_once(':').map_or("", |(scheme, _)| scheme);
    match scheme {
        #[cfg(feature = "postgres")]
        "postgres" | "postgresql" => Ok(Box::new(super::PostgresRegister::from_url(url)?.time_limit(time_limit))),
        #[cfg(not(feature = "postgres"))]
        "postgres" | "postgresql" => Err(missing(scheme, "postgres")),
        #[cfg(feature = "mysql")]
        "mysql" | "mariadb" => Ok(Box::new(super::MysqlRegister::from_url(url)?.time_limit(time_limit))),
        #[cfg(not(feature = "mysql"))]
        "mysql" | "mariadb" => Err(missing(scheme, "mysql")),
        #[cfg(feature = "redis")]
        "redis" | "rediss" | "valkey" | "valkeys" => {
            Ok(Box::new(super::RedisRegister::from_url(url)?.time_limit(time_limit)))
        }
        #[cfg(not(feature = "redis"))]
        "redis" | "rediss" | "valkey" | "valkeys" => Err(missing(scheme, "redis")),
        #[cfg(feature = "etcd")]
        "etcd" | "etcds" => Ok(Box::new(super::EtcdRegister::from_url(url)?.time_limit(time_limit))),
        #[cfg(not(feature = "etcd"))]
        "etcd" | "etcds" => Err(missing(scheme, "etcd")),
        #[cfg(feature = "zookeeper")]
        "zookeeper" => Ok(Box::new(super::ZookeeperRegister::from_url(url)?.time_limit(time_limit))),
        #[cfg(not(feature = "zookeeper"))]
        "zookeeper" => Err(missing(scheme, "zookeeper")),
        "file" if url == "file:" => Err(RegisterError::new("expected a path after file:").of_url()),
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
