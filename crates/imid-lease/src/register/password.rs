//! Passwords that change.

use std::fmt;
use std::io;
use std::sync::Arc;

use super::worker::Worker;

/// Makes the password of each new connection, in a thread of its own, because it may wait for a network.
pub(crate) struct Password {
    make: Arc<dyn Fn() -> io::Result<String> + Send + Sync>,
    worker: Worker<io::Result<String>>,
}

const WHAT: &str = "the function that makes the password";

impl Password {
    pub(crate) fn new(make: impl Fn() -> io::Result<String> + Send + Sync + 'static) -> Self {
        Self { make: Arc::new(make), worker: Worker::default() }
    }

    /// Makes one.
    #[cfg(any(feature = "mysql", feature = "postgres", feature = "redis", feature = "zookeeper"))]
    pub(crate) async fn make(&self) -> io::Result<String> {
        let make = Arc::clone(&self.make);
        self.worker.run(WHAT, move || make()).await?.map_err(|error| failed(&error))
    }

    /// Makes one, or gives up after a time.
    #[cfg(feature = "etcd")]
    pub(crate) fn make_within(&self, limit: std::time::Duration) -> io::Result<String> {
        let make = Arc::clone(&self.make);
        self.worker.run_within(limit, WHAT, move || make())?.map_err(|error| failed(&error))
    }
}

fn failed(error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot make the password: {error}"))
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password")
    }
}
