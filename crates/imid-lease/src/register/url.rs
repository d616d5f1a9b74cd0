//! A register from a URL.

use core::time::Duration;

use super::{DEFAULT_TIME_LIMIT, Register, RegisterError};

/// Opens the register that a URL names. Does not connect yet.
///
/// | URL | register | feature |
/// | --- | --- | --- |
/// | `postgres://user:password@host:5432/database` | PostgreSQL | `postgres` |
/// | `mysql://user:password@host:3306/database` | MySQL, MariaDB | `mysql` |
/// | `redis://user:password@host:6379/0` | Redis, Valkey | `redis` |
///
/// # Errors
/// The URL cannot be understood, or the feature of its store was not compiled in.
pub fn open_url(url: &str) -> Result<Box<dyn Register>, RegisterError> {
    open_url_with_time_limit(url, DEFAULT_TIME_LIMIT)
}

/// Opens the register that a URL names, as [`open_url`] does. Each call may take this long.
///
/// # Errors
/// As for [`open_url`].
#[allow(unused_variables, reason = "without a feature, there is nothing that takes time")]
pub fn open_url_with_time_limit(url: &str, time_limit: Duration) -> Result<Box<dyn Register>, RegisterError> {
    let scheme = url.split_once(':').map_or("", |(scheme, _)| scheme);
    match scheme {
        #[cfg(feature = "postgres")]
        "postgres" | "postgresql" => Ok(Box::new(super::PostgresRegister::new(url)?.time_limit(time_limit))),
        #[cfg(not(feature = "postgres"))]
        "postgres" | "postgresql" => Err(missing(scheme, "postgres")),
        #[cfg(feature = "mysql")]
        "mysql" | "mariadb" => Ok(Box::new(super::MysqlRegister::new(url)?.time_limit(time_limit))),
        #[cfg(not(feature = "mysql"))]
        "mysql" | "mariadb" => Err(missing(scheme, "mysql")),
        #[cfg(feature = "redis")]
        "redis" | "rediss" => Ok(Box::new(super::RedisRegister::new(url)?.time_limit(time_limit))),
        #[cfg(not(feature = "redis"))]
        "redis" | "rediss" => Err(missing(scheme, "redis")),
        // The text is not repeated, because it may have a password in it.
        _ => Err(RegisterError::new("expected a URL that begins with postgres://, mysql:// or redis://")),
    }
}

#[allow(dead_code, reason = "with all features, nothing is missing")]
fn missing(scheme: &str, feature: &str) -> RegisterError {
    RegisterError::new(format!("{scheme}:// needs the feature `{feature}` of imid-lease, which was not compiled in"))
}
