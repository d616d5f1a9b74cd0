//! Where leases are recorded: a store with an atomic compare-and-set.

mod memory;

use core::error::Error;
use core::fmt;
use std::borrow::Cow;

pub use memory::MemoryRegister;

/// A store of small records, each under a key, with an atomic compare-and-set.
///
/// Uniqueness rests on two promises of the store, for each key separately:
/// - **Linearizable**: a compare-and-set takes effect at one moment between its call and its answer, or not at all, and all holders
///   see these moments in one order. After a call without an answer, the write may still take effect later.
/// - **Durable**: an acknowledged write survives the crash of the store and of its machine.
///
/// A key is 1 to 128 of the characters `A-Z`, `a-z`, `0-9`, `-`, `_`, `.`, `:` and `/`. A value is 1 to 1,024 characters of
/// printable ASCII. Other keys and values are errors. Each write has a random token in its value, so no two writes write equal
/// values, and comparing values compares version and token.
///
/// A forked child has copies of its parent's connections and locks. What it sends would be taken for the parent's, and the
/// parent would miss the answers. **In a forked child, each call of a register that the parent opened is an error**
/// (`imid::fork::Process` says whose it is), and dropping it there sends nothing and closes nothing: the child opens its own.
///
/// Each call returns within the adapter's time limit, or within up to five of them after calls that could not connect. After a
/// broken connection, the next call reconnects.
///
/// A server's register has one connection.
pub trait Register: Send {
    /// Returns the value of a key, or `None` if there is no record.
    ///
    /// The value is that of the last acknowledged write, or of a later one.
    ///
    /// # Errors
    /// The store cannot be reached, or its answer cannot be understood.
    fn read(&mut self, key: &str) -> Result<Option<String>, RegisterError>;

    /// Returns all records whose keys begin with a prefix, in key order. They need not be a consistent snapshot.
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

    /// Returns the store's own time in the middle of the call, in Unix milliseconds, or `None` if it has none.
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    fn now_ms(&mut self) -> Result<Option<u64>, RegisterError>;

    /// Returns whether the store keeps both promises, as far as the adapter can tell.
    ///
    /// A server's adapter reads the settings when it connects, so before the first call it has not seen them.
    fn promise(&self) -> Promise;

    /// Returns whether each lease creates its space here if there is none. By default it does not: on a server, an operator creates the
    /// space once, so that a register that was emptied or replaced is noticed.
    fn creates_missing_spaces(&self) -> bool {
        false
    }

    /// Returns the name of the adapter, for logs and metrics. By default it is that of its type, such as
    /// `PostgresRegister`.
    fn name(&self) -> &'static str {
        let path = std::any::type_name::<Self>();
        let path = path.split('<').next().unwrap_or(path);
        path.rsplit("::").next().unwrap_or(path)
    }
}

/// Says whether a store can lose or reorder acknowledged writes.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Promise {
    /// With its present settings it cannot.
    Strong,
    /// It can, for this reason. After it has lost a write, IDs can be duplicated.
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

    fn creates_missing_spaces(&self) -> bool {
        (**self).creates_missing_spaces()
    }

    fn name(&self) -> &'static str {
        (**self).name()
    }
}

/// Greatest number of characters of a key.
pub const MAX_KEY_LEN: usize = 128;

/// Greatest number of characters of a value.
pub const MAX_VALUE_LEN: usize = 1024;

/// Refuses a key that is outside the contract of [`Register`].
///
/// # Errors
/// A key that is empty, has more than 128 characters, or has another character, such as `a b`.
pub fn check_key(key: &str) -> Result<(), RegisterError> {
    if key.is_empty() {
        return Err(RegisterError::new("expected a key, found an empty text"));
    }
    check_prefix(key)
}

/// Refuses a prefix that no key can have.
///
/// # Errors
/// As for [`check_key`], but an empty prefix is that of all keys.
pub fn check_prefix(prefix: &str) -> Result<(), RegisterError> {
    if prefix.len() > MAX_KEY_LEN {
        let found = prefix.len();
        return Err(RegisterError::new(format!("expected a key of at most {MAX_KEY_LEN} characters, found {found}")));
    }
    match prefix
        .char_indices()
        .find(|(_, c)| !matches!(c, 'A'..='Z' | 'a'..='z' | '0'..='9' | '-' | '_' | '.' | ':' | '/'))
    {
        Some((at, c)) => Err(RegisterError::new(format!(
            "expected A-Z, a-z, 0-9, '-', '_', '.', ':' or '/' in a key, found {c:?} at {at}"
        ))),
        None => Ok(()),
    }
}

/// Refuses a value that is outside the contract of [`Register`].
///
/// # Errors
/// A value that is empty, has more than 1,024 characters, or has one that is not printable ASCII, such as `é`.
pub fn check_value(value: &str) -> Result<(), RegisterError> {
    if value.is_empty() || value.len() > MAX_VALUE_LEN {
        let found = value.len();
        return Err(RegisterError::new(format!("expected a value of 1 to {MAX_VALUE_LEN} characters, found {found}")));
    }
    match value.char_indices().find(|(_, c)| !matches!(c, ' '..='~')) {
        Some((at, c)) => Err(RegisterError::new(format!("expected printable ASCII in a value, found {c:?} at {at}"))),
        None => Ok(()),
    }
}

/// Refuses a write that is outside the contract of [`Register`], and each one if the register was opened to read only.
///
/// # Errors
/// As for [`check_key`] and [`check_value`].
pub fn check_write(is_read_only: bool, key: &str, seen: Option<&str>, value: &str) -> Result<(), RegisterError> {
    if is_read_only {
        return Err(RegisterError::new("this register was opened to read only").permanent());
    }
    check_key(key)?;
    check_value(value)?;
    seen.map_or(Ok(()), check_value)
}

/// The store did not answer a call, or its answer cannot be parsed.
///
/// `{}` prints what was tried and where. `{:#}` adds the causes, which are also the [sources](Error::source): the error of the client
/// library and its own causes. A client's error that only repeats its cause in its text is not one of them.
#[derive(Debug)]
pub struct RegisterError {
    context: String,
    cause: Option<Box<dyn Error + Send + Sync>>,
    /// How many errors of the client are not sources, because `context` has the words of each that its cause has not.
    skipped: usize,
    is_another_machine: bool,
    is_url: bool,
    is_permanent: bool,
}

impl RegisterError {
    /// Returns an error that says what was tried and where, such as `cannot connect to 127.0.0.1:5432`.
    pub fn new(context: impl Into<String>) -> Self {
        let context = context.into();
        Self { context, cause: None, skipped: 0, is_another_machine: false, is_url: false, is_permanent: false }
    }

    /// Adds the cause, such as the error of a client library.
    #[must_use]
    pub fn caused_by(mut self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        let cause = cause.into();
        let mut error: &dyn Error = &*cause;
        self.skipped = 0;
        while let Some((words, next)) = repeated(error) {
            if !words.is_empty() {
                self.context = format!("{}: {words}", self.context);
            }
            self.skipped += 1;
            error = next;
        }
        self.cause = Some(cause);
        self
    }

    /// Marks the error as permanent: retrying cannot help, as with a wrong password or a database that does not exist.
    #[must_use]
    pub fn permanent(mut self) -> Self {
        self.is_permanent = true;
        self
    }

    /// Marks the error as that of a register which another machine wrote, and which therefore is refused.
    #[must_use]
    pub fn of_another_machine(mut self) -> Self {
        self.is_another_machine = true;
        self
    }

    /// Marks the error as that of a URL that cannot be used.
    #[must_use]
    pub fn of_url(mut self) -> Self {
        self.is_url = true;
        self
    }

    /// Returns whether the URL cannot be used: it is invalid, or needs a feature that was not compiled in.
    pub const fn is_url(&self) -> bool {
        self.is_url
    }

    /// Returns whether the error is permanent: the same call keeps failing until someone changes the settings of this process or of
    /// the store.
    pub const fn is_permanent(&self) -> bool {
        self.is_permanent || self.is_url || self.is_another_machine
    }

    /// Returns whether the register, a file, was refused because another machine wrote it.
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
        if f.alternate() { f.write_str(&with_causes(self)) } else { f.write_str(&self.context) }
    }
}

impl Error for RegisterError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        let cause = self.cause.as_deref().map(|cause| cause as &(dyn Error + 'static));
        (0..self.skipped).fold(cause, |error, _| error.and_then(Error::source))
    }
}

/// Returns an error with its causes.
fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text = format!("{text}: {cause}");
        next = cause.source();
    }
    text
}

/// Returns the cause of an error whose text ends with that of its cause, and the words before it: some clients write `Server error:
/// ...`, and a report with all sources would have the text of the cause twice.
fn repeated(error: &dyn Error) -> Option<(String, &(dyn Error + 'static))> {
    const AFTER: [char; 5] = ['.', ')', '"', '\'', '`'];
    const BEFORE: [char; 5] = [':', '(', '"', '\'', '`'];
    let (text, cause) = (error.to_string(), error.source()?);
    let words = [with_causes(cause), cause.to_string()].into_iter().find_map(|repeated| {
        let words = text.trim_end_matches(AFTER).strip_suffix(repeated.trim_end_matches(AFTER))?.trim_end();
        let is_repeated = !repeated.is_empty() && (words.is_empty() || words.ends_with(BEFORE));
        is_repeated.then(|| words.trim_end_matches(BEFORE).trim_end_matches([':', ' ']).to_owned())
    })?;
    Some((words, cause))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An error of a client: its text, and its cause.
    #[derive(Debug, thiserror::Error)]
    #[error("{0}")]
    struct Client(&'static str, #[source] Option<Box<Client>>);

    #[test]
    fn each_text_is_in_a_report_once_and_no_word_is_lost() {
        for (texts, display, sources) in [
            (&["refused"][..], "cannot read", &["refused"][..]),
            (&["no connection", "refused"], "cannot read", &["no connection", "refused"]),
            (&["Server error: `refused.'", "refused."], "cannot read: Server error", &["refused."]),
            (&["refused", "refused"], "cannot read", &["refused"]),
            (&["io: tls (no CA)", "tls (no CA)", "no CA"], "cannot read: io: tls", &["no CA"]),
            (&["io: tls: no CA", "tls", "no CA"], "cannot read: io", &["tls", "no CA"]),
            (&["is refused", "refused"], "cannot read", &["is refused", "refused"]),
            (&["refused by it", "refused"], "cannot read", &["refused by it", "refused"]),
            (&["no words", ""], "cannot read", &["no words", ""]),
        ] {
            let client = texts.iter().rev().fold(None, |cause, text| Some(Box::new(Client(text, cause))));
            let error = RegisterError::new("cannot read").caused_by(client.unwrap());
            let mut found = Vec::new();
            let mut next = error.source();
            while let Some(source) = next {
                assert!(source.is::<Client>() || source.is::<Box<Client>>(), "the type of the client is to be found");
                found.push(source.to_string());
                next = source.source();
            }
            assert_eq!(
                (error.to_string().as_str(), found),
                (display, sources.iter().map(ToString::to_string).collect()),
                "{texts:?}"
            );
            assert_eq!(format!("{error:#}"), [&[display], sources].concat().join(": "));
        }
    }
}
