//! Passwords that change.

use std::fmt;
use std::io;
use std::sync::Arc;

use super::worker::Worker;

/// Makes the password of each new connection, in a separate thread, because it may wait for a network.
pub(crate) struct Password {
    make: Arc<dyn Fn() -> io::Result<String> + Send + Sync>,
    worker: Worker<io::Result<String>>,
}

const WHAT: &str = "the function that makes the password";

impl Password {
    pub(super) fn new(make: impl Fn() -> io::Result<String> + Send + Sync + 'static) -> Self {
        Self { make: Arc::new(make), worker: Worker::default() }
    }

    pub(super) async fn make(&self) -> io::Result<String> {
        let make = Arc::clone(&self.make);
        let password = self.worker.run(WHAT, move || make()).await?;
        password.map_err(|error| io::Error::new(error.kind(), format!("cannot make the password: {error}")))
    }

    /// Says what hangs, if it does.
    pub(super) fn late(&self) -> Option<&'static str> {
        self.worker.is_late().then_some(WHAT)
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password")
    }
}
