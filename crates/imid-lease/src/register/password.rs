//! Passwords that change.

use std::fmt;
use std::io;
use std::sync::Arc;

/// Makes the password of each new connection.
#[derive(Clone)]
pub(crate) struct Password(Arc<dyn Fn() -> io::Result<String> + Send + Sync>);

impl Password {
    pub(crate) fn new(make: impl Fn() -> io::Result<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(make))
    }

    /// Makes one.
    pub(crate) fn make(&self) -> io::Result<String> {
        (self.0)().map_err(|error| io::Error::new(error.kind(), format!("cannot make the password: {error}")))
    }

    /// Makes one in a thread of its own, because it may wait for a network.
    #[cfg(any(feature = "mysql", feature = "postgres", feature = "redis", feature = "zookeeper"))]
    pub(crate) async fn make_in_background(&self) -> io::Result<String> {
        let password = self.clone();
        tokio::task::spawn_blocking(move || password.make())
            .await
            .unwrap_or_else(|_| Err(io::Error::other("the function that makes the password has panicked")))
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password")
    }
}
