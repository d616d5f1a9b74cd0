//! TLS settings of the adapters: which CAs they trust, and which certificate they present.

use std::error::Error;
use std::path::PathBuf;

#[cfg(all(feature = "mysql", feature = "tls"))]
pub(crate) use self::config::Files;
#[cfg(all(feature = "postgres", feature = "tls"))]
pub(crate) use self::config::failure_of;
use super::RegisterError;
use super::query::Words;

/// Which CAs a connection trusts, and which certificate it presents to a server that asks for one.
///
/// Without [`roots`](Self::roots) these are the system's CAs: the files that OpenSSL would use, `SSL_CERT_FILE` and `SSL_CERT_DIR`
/// included. The certificate must match the host in the URL. Files are PEM and are read for each new connection,
/// so renewed certificates need no restart. Managed databases use their own CAs: download the provider's file and name it, here or in the
/// URL, as in `?sslmode=verify-full&sslrootcert=/etc/rds/global-bundle.pem`. Otherwise the error is `no trusted CA has signed the
/// server's certificate`.
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
/// It needs the feature `tls` and a rustls crypto provider: the one installed for the process
/// (`rustls::crypto::CryptoProvider::install_default`), or else that of the feature `tls-ring` or `tls-aws-lc-rs`. Without a
/// provider, or with both features and none installed, every call returns an error. The clients of MySQL and ZooKeeper use
/// only the installed provider, so the feature installs its own. If your program installs one, do so before you open a register.
#[derive(Clone, Debug, Default)]
pub struct Tls {
    /// A file with the trusted CAs; `None` for the system's.
    roots: Option<PathBuf>,
    /// The files of the certificate and the key.
    identity: Option<(PathBuf, PathBuf)>,
    pub(super) check: Check,
    #[cfg(feature = "tls")]
    reader: self::config::Reader,
}

/// What is checked about a server's certificate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Check {
    /// A CA has signed it, and it matches the host.
    #[default]
    Host,
    /// A CA has signed it.
    #[allow(dead_code, reason = "two stores have a word for it")]
    Authority,
    /// Nothing.
    #[allow(dead_code, reason = "two stores have a word for it")]
    Nothing,
}

impl Tls {
    /// Trusts the system's CAs, and has no certificate.
    pub fn new() -> Self {
        Self::default()
    }

    /// Trusts only the CAs in a file.
    #[must_use]
    pub fn roots(mut self, path: impl Into<PathBuf>) -> Self {
        self.roots = Some(path.into());
        self
    }

    /// Presents a certificate to a server that asks for one: a file with the certificate chain, and a file with its key (PKCS#8,
    /// PKCS#1 or SEC1, not encrypted).
    #[must_use]
    pub fn identity(mut self, certificate: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        self.identity = Some((certificate.into(), key.into()));
        self
    }

    /// Takes the parameters for the CA file, the certificate and its key out of a URL. Returns `None` if there are none.
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

/// Returns the error of a call of a client.
#[allow(unused_mut, reason = "TLS says more")]
pub(super) fn call_error(
    mut context: String,
    failure: Box<dyn Error + Send + Sync>,
    mut is_permanent: bool,
) -> RegisterError {
    #[cfg(feature = "tls")]
    {
        let words;
        (is_permanent, words) = self::config::diagnose(is_permanent, &*failure);
        if let Some(words) = words {
            context = format!("{context}: {words}");
        }
    }
    let error = RegisterError::new(context).caused_by(failure);
    if is_permanent { error.permanent() } else { error }
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
