//! Where leases are recorded: a store with an atomic compare-and-set.

mod file;
mod memory;

use core::error::Error;
use core::fmt;
use core::time::Duration;
use std::borrow::Cow;

pub use file::FileRegister;
pub use memory::MemoryRegister;

/// A store of small records, each under a key, with an atomic compare-and-set.
///
/// Uniqueness rests on two promises of the store. They hold for each key on its own:
/// - **Linearizable**: a compare-and-set takes effect at one moment between its call and its answer, or not at all. All
///   holders see these moments in one order. After a call without an answer the write may still take effect later.
/// - **Durable**: an acknowledged write survives the crash of the store and of its machine.
///
/// A key is 1 to 128 of the characters `a-z`, `0-9`, `-`, `_`, `.`, `:` and `/`. A value is ASCII text of 1 to 1,024
/// characters. Each write has a random token in its value, so two writes never write equal values. Comparing the values
/// therefore compares version and token.
///
/// Each call ends within the time limit that the adapter was made with. After a broken connection the next call connects
/// again.
pub trait Register: Send {
    /// Returns the value of a key, or `None` if there is no record.
    ///
    /// The value is that of the last acknowledged write, or of a later one.
    ///
    /// # Errors
    /// The store cannot be reached, or its answer cannot be understood.
    fn read(&mut self, key: &str) -> Result<Option<String>, RegisterError>;

    /// Returns all records whose keys begin with a prefix, in the order of their keys. The records need not be of one
    /// moment.
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    fn list(&mut self, prefix: &str) -> Result<Vec<(String, String)>, RegisterError>;

    /// Writes `value` if the record is still `seen`; `None` means that there is no record. Returns whether it was
    /// written.
    ///
    /// # Errors
    /// As for [`read`](Self::read). **The outcome is then unknown**: the value may have been written, or may be written
    /// later.
    fn compare_and_set(&mut self, key: &str, seen: Option<&str>, value: &str) -> Result<bool, RegisterError>;

    /// Returns the store's own time in unix milliseconds, or `None` if it has none.
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    fn now_ms(&mut self) -> Result<Option<u64>, RegisterError>;

    /// Returns whether the store keeps both promises, as far as the adapter can tell.
    fn promise(&self) -> Promise;
}

/// Whether a store can lose or reorder acknowledged writes.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Promise {
    /// It cannot, as it is set up.
    Strong,
    /// It can, for this reason. IDs can then come twice.
    Weak(Cow<'static, str>),
}

impl<R: Register + ?Sized> Register for Box<R> {
    fn read(&mut self, key: &str) -> Result<Option<String>, RegisterError> {
        (**self).read(key)
    }

    fn list(&mut self, prefix: &str) -> Result<Vec<(String, String)>, RegisterError> {
        (**self).list(prefix)
    }

    fn compare_and_set(&mut self, key: &str, seen: Option<&str>, value: &str) -> Result<bool, RegisterError> {
        (**self).compare_and_set(key, seen, value)
    }

    fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
        (**self).now_ms()
    }

    fn promise(&self) -> Promise {
        (**self).promise()
    }
}

/// How long a call of an adapter may take by default.
pub const DEFAULT_TIME_LIMIT: Duration = Duration::from_secs(2);

/// A call that the store did not answer, or whose answer cannot be understood.
#[derive(Debug)]
pub struct RegisterError {
    context: String,
    source: Option<Box<dyn Error + Send + Sync>>,
    is_another_machine: bool,
}

impl RegisterError {
    /// Returns an error that says what was tried and where, such as `cannot connect to 127.0.0.1:5432`.
    pub fn new(context: impl Into<String>) -> Self {
        Self { context: context.into(), source: None, is_another_machine: false }
    }

    /// Adds the error of the client library.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    fn of_another_machine(mut self) -> Self {
        self.is_another_machine = true;
        self
    }

    /// Whether a [`FileRegister`] was refused because another machine wrote the file.
    pub const fn is_another_machine(&self) -> bool {
        self.is_another_machine
    }
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Strong => f.write_str("strong"),
            Self::Weak(reason) => write!(f, "weak: {reason}"),
        }
    }
}

impl fmt::Display for RegisterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.context)?;
        self.source.as_ref().map_or(Ok(()), |source| write!(f, ": {source}"))
    }
}

impl Error for RegisterError {}
