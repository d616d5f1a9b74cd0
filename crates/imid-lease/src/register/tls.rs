//! TLS of the adapters: which authorities they trust, and who they say they are.

use std::path::PathBuf;

#[cfg(all(any(feature = "etcd", feature = "mysql"), feature = "tls"))]
pub(crate) use self::config::Files;
#[cfg(feature = "tls")]
pub(crate) use self::config::diagnose;
#[cfg(all(feature = "postgres", feature = "tls"))]
pub(crate) use self::config::failure_of;
use super::RegisterError;
use super::query::Words;

/// Whom a connection trusts, and with which certificate it answers a server that asks for one.
///
/// Without [`roots`](Self::roots) these are the authorities that the system trusts: the files that OpenSSL would use,
/// `SSL_CERT_FILE` and `SSL_CERT_DIR` included. The certificate must be for the host in the URL. The files are PEM.
/// They are read for each new connection (for etcd, at the first call and after an error), so new certificates need no
/// restart.
///
/// Or convert your own `rustls::ClientConfig` with `Tls::from`, which needs the feature `rustls-0_23`. PostgreSQL and Redis take
/// one. The clients of MySQL, etcd and ZooKeeper make their own, so a call is then an error.
///
/// ```no_run
/// use imid_lease::register::{PostgresRegister, Tls};
///
/// # #[cfg(feature = "postgres")]
/// let register = PostgresRegister::from_url("postgres://chat@db/chat")?
///     .tls(Tls::new().roots("/etc/db/ca.pem").identity("/etc/db/chat.pem", "/etc/db/chat.key"))
///     .password_with(|| Ok(std::fs::read_to_string("/run/secrets/db")?.trim_end().to_owned()));
/// # Ok::<(), imid_lease::RegisterError>(())
/// ```
///
/// It needs the feature `tls`, and a crypto provider of rustls: that of the process
/// (`rustls::crypto::CryptoProvider::install_default`), else the one of the feature `tls-ring` or `tls-aws-lc-rs`. Without
/// a provider, or with both features and no provider of the process, each call is an error. The clients of MySQL, etcd and
/// ZooKeeper know only the provider of the process, so the one of the feature becomes it. A program that installs its own
/// does so before it opens a register.
#[derive(Clone, Debug, Default)]
pub struct Tls {
    /// A file with the trusted authorities; `None` for those of the system.
    roots: Option<PathBuf>,
    /// The files of the certificate and the key.
    identity: Option<(PathBuf, PathBuf)>,
    pub(super) check: Check,
    #[cfg(feature = "tls")]
    own: Option<std::sync::Arc<rustls::ClientConfig>>,
    #[cfg(feature = "tls")]
    reader: self::config::Reader,
}

/// What must be right about the certificate of a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Check {
    /// An authority has signed it, and it is for the host.
    #[default]
    Host,
    /// An authority has signed it.
    #[allow(dead_code, reason = "two stores have a word for it")]
    Authority,
    /// Nothing.
    #[allow(dead_code, reason = "two stores have a word for it")]
    Nothing,
}

impl Tls {
    /// Trusts the authorities of the system, and has no certificate.
    pub fn new() -> Self {
        Self::default()
    }

    /// Trusts the authorities in a file, and no others.
    #[must_use]
    pub fn roots(mut self, path: impl Into<PathBuf>) -> Self {
        self.roots = Some(path.into());
        self
    }

    /// Sends a certificate to a server that asks for one: a file with it and the ones between it and the authority, and
    /// a file with its key (PKCS#8, PKCS#1 or SEC1, not encrypted).
    #[must_use]
    pub fn identity(mut self, certificate: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        self.identity = Some((certificate.into(), key.into()));
        self
    }

    /// Takes the words for a file of authorities, for a certificate and for its key out of the settings of a URL.
    /// Returns `None` if there is none of them.
    #[allow(dead_code, reason = "each feature of a server uses it")]
    pub(super) fn from_words(words: &mut Words, names: [&'static str; 3]) -> Result<Option<Self>, RegisterError> {
        let [roots, certificate, key] = names.map(|name| words.take(name));
        let (roots, certificate, key) = (roots?, certificate?, key?);
        if roots.is_none() && certificate.is_none() && key.is_none() {
            return Ok(None);
        }
        let mut tls = Self { roots: roots.map(PathBuf::from), ..Self::new() };
        match (certificate, key) {
            (Some(certificate), Some(key)) => tls = tls.identity(certificate, key),
            (None, None) => {}
            _ => return Err(words.wrong(&format!("both `{}` and `{}`, or none", names[1], names[2]))),
        }
        Ok(Some(tls))
    }

    #[allow(dead_code, reason = "PostgreSQL asks")]
    pub(super) const fn has_roots(&self) -> bool {
        self.roots.is_some()
    }
}

/// Refuses a URL that asks for TLS, where it is not compiled in. `part` is what asks for it.
#[allow(dead_code, reason = "each feature of a server uses it")]
pub(super) fn check_feature(store: &str, part: &str) -> Result<(), RegisterError> {
    if cfg!(feature = "tls") {
        return Ok(());
    }
    Err(RegisterError::new(format!(
        "cannot read the {store} URL: `{part}` needs the feature `tls-ring` or `tls-aws-lc-rs` of imid-lease, which was not \
         compiled in"
    )))
}

#[cfg(feature = "tls")]
mod config;
