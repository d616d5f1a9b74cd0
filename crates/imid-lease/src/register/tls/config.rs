//! [`Tls`] as settings of rustls.

use std::error::Error;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

use super::{Check, Tls};
use crate::register::worker::Worker;

/// The settings of TLS cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Settings {
    /// Files change, and may be seen with half of the change done.
    #[error("{0}")]
    OfFiles(String),
    /// Only the program can be wrong for good.
    #[error("{0}")]
    OfProgram(String),
}

/// The settings of TLS, as they are now. A client takes the configuration, or what it was made from.
#[cfg_attr(not(all(feature = "mysql", feature = "zookeeper")), allow(dead_code, reason = "see above"))]
pub(crate) struct Files {
    pub(crate) config: Arc<ClientConfig>,
    /// The trusted CAs.
    pub(crate) roots: Vec<CertificateDer<'static>>,
    /// The files of the certificate and the key.
    pub(crate) identity: Option<(Vec<u8>, Vec<u8>)>,
}

/// Reads the files.
pub(super) type Reader = Worker<Result<Files, Settings>>;

const WHAT: &str = "reading the files of TLS";

const PROVIDERS: &str = "or call `rustls::crypto::CryptoProvider::install_default` at the start of the program";

/// Returns the crypto provider of the process, or else the one that is compiled in.
pub(crate) fn provider() -> Result<Arc<CryptoProvider>, Settings> {
    let compiled_in: &[fn() -> CryptoProvider] = &[
        #[cfg(feature = "tls-ring")]
        rustls::crypto::ring::default_provider,
        #[cfg(feature = "tls-aws-lc-rs")]
        rustls::crypto::aws_lc_rs::default_provider,
    ];
    choose(CryptoProvider::get_default(), compiled_in)
}

fn choose(
    of_process: Option<&Arc<CryptoProvider>>,
    compiled_in: &[fn() -> CryptoProvider],
) -> Result<Arc<CryptoProvider>, Settings> {
    match (of_process, compiled_in) {
        (Some(provider), _) => Ok(Arc::clone(provider)),
        (None, [provider]) => Ok(Arc::new(provider())),
        (None, []) => Err(Settings::OfProgram(format!(
            "TLS has no crypto provider: turn on the feature `tls-ring` or `tls-aws-lc-rs` of imid-lease, {PROVIDERS}"
        ))),
        _ => Err(Settings::OfProgram(format!(
            "TLS has two crypto providers: turn off the feature `tls-ring` or `tls-aws-lc-rs` of imid-lease, {PROVIDERS}"
        ))),
    }
}

/// Makes sure that the process has a crypto provider. Some clients ask for it, and panic without one.
pub(crate) fn install_provider() -> Result<(), Settings> {
    if CryptoProvider::get_default().is_none() {
        // Another thread may have installed one in between, which is as good.
        let _ = CryptoProvider::clone(&*provider()?).install_default();
    }
    Ok(())
}

impl Tls {
    /// Reads the files in a thread, because they may be on a network. Some clients make a configuration of rustls themselves: then the
    /// settings are made sure to be right, because such a client panics.
    pub(crate) async fn files(&self, client_configures: bool) -> Result<Files, Box<dyn Error + Send + Sync>> {
        let tls = self.clone();
        Ok(self.reader.run(WHAT, move || tls.read(client_configures)).await??)
    }

    /// Says what hangs, if it does.
    pub(crate) fn late(&self) -> Option<&'static str> {
        self.reader.is_late().then_some(WHAT)
    }

    fn read(&self, client_configures: bool) -> Result<Files, Settings> {
        if client_configures {
            install_provider()?;
        }
        let provider = provider()?;
        // A client needs some, also where it checks nothing.
        let needs_roots = self.check != Check::Nothing || client_configures;
        let roots = if needs_roots { self.root_certificates()? } else { Vec::new() };
        let verifier = Arc::new(Verifier::new(self, &roots, &provider)?);
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| Settings::OfProgram(format!("the crypto provider cannot speak TLS: {error}")))?
            .dangerous()
            .with_custom_certificate_verifier(verifier);
        let Some((certificate, key)) = &self.identity else {
            return Ok(Files { config: Arc::new(builder.with_no_client_auth()), roots, identity: None });
        };
        let pem = (read(certificate)?, read(key)?);
        let config = builder
            .with_client_auth_cert(certificates_in(&pem.0, certificate)?, key_in(&pem.1, key)?)
            .map_err(|error| {
                let (certificate, key) = (certificate.display(), key.display());
                Settings::OfFiles(format!("expected in {key} the key of the certificate in {certificate}: {error}"))
            })?;
        Ok(Files { config: Arc::new(config), roots, identity: Some(pem) })
    }

    /// Returns the trusted CAs.
    fn root_certificates(&self) -> Result<Vec<CertificateDer<'static>>, Settings> {
        if let Some(path) = &self.roots {
            return certificates_in(&read(path)?, path);
        }
        let found = rustls_native_certs::load_native_certs();
        if found.certs.is_empty() {
            let errors = found.errors.first().map(|error| format!(": {error}")).unwrap_or_default();
            return Err(Settings::OfFiles(format!(
                "the system has no trusted CAs{errors}; install the package ca-certificates, or name a CA file"
            )));
        }
        // Some systems trust certificates that rustls does not understand.
        let is_understood = |root: &CertificateDer<'static>| RootCertStore::empty().add(root.clone()).is_ok();
        Ok(found.certs.into_iter().filter(is_understood).collect())
    }

    /// Says which CAs are trusted.
    fn trusted(&self) -> String {
        self.roots.as_ref().map_or_else(|| "the system's CAs".to_owned(), |path| path.display().to_string())
    }
}

#[cfg(feature = "zookeeper")]
impl Files {
    /// Returns the trusted CAs in PEM.
    pub(crate) fn roots_pem(&self) -> String {
        use base64::Engine;
        use base64::prelude::BASE64_STANDARD;

        let pem = |root: &CertificateDer<'_>| {
            format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", BASE64_STANDARD.encode(root))
        };
        self.roots.iter().map(pem).collect()
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Settings> {
    fs::read(path).map_err(|error| Settings::OfFiles(format!("cannot read {}: {error}", path.display())))
}

fn certificates_in(pem: &[u8], path: &Path) -> Result<Vec<CertificateDer<'static>>, Settings> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    all.ok()
        .filter(|all| !all.is_empty())
        .ok_or_else(|| Settings::OfFiles(format!("expected certificates in PEM in {}", path.display())))
}

fn key_in(pem: &[u8], path: &Path) -> Result<PrivateKeyDer<'static>, Settings> {
    let expected = || format!("expected a private key in PEM, not encrypted, in {}", path.display());
    PrivateKeyDer::from_pem_slice(pem).map_err(|_| Settings::OfFiles(expected()))
}

/// Checks the certificate of a server as far as wanted.
#[derive(Debug)]
struct Verifier {
    check: Check,
    /// `None` if nothing is checked.
    web_pki: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl Verifier {
    fn new(
        tls: &Tls,
        authorities: &[CertificateDer<'static>],
        provider: &Arc<CryptoProvider>,
    ) -> Result<Self, Settings> {
        let (check, provider) = (tls.check, Arc::clone(provider));
        if check == Check::Nothing {
            return Ok(Self { check, web_pki: None, provider });
        }
        let mut roots = RootCertStore::empty();
        let (added, _) = roots.add_parsable_certificates(authorities.iter().cloned());
        if added == 0 {
            return Err(Settings::OfFiles(format!("expected a CA certificate in {}", tls.trusted())));
        }
        let web_pki = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
            .build()
            .map_err(|error| Settings::OfFiles(format!("cannot trust {}: {error}", tls.trusted())))?;
        Ok(Self { check, web_pki: Some(web_pki), provider })
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(web_pki) = &self.web_pki else { return Ok(ServerCertVerified::assertion()) };
        match web_pki.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            // The name is checked last, so all the rest is right.
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if self.check == Check::Authority => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, cert, dss, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, cert, dss, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Returns what rustls says, if it is a cause of an error.
pub(crate) fn failure_of<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        // The source of an `io::Error` is that of the error in it.
        next = match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(inner) => Some(inner),
            None => error.source(),
        };
    }
    None
}

/// Returns whether a failure to connect is final: the program cannot speak TLS, or the certificate of the server is wrong. Says more of
/// it where the client does not.
pub(super) fn diagnose(is_permanent: bool, failure: &(dyn Error + 'static)) -> (bool, Option<&'static str>) {
    if let Some(settings) = failure.downcast_ref::<Settings>() {
        return (matches!(settings, Settings::OfProgram(_)), None);
    }
    match failure_of(failure) {
        // The signature is bad if another CA has the same name.
        Some(rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer | CertificateError::BadSignature)) => {
            (true, Some("no trusted CA has signed the server's certificate"))
        }
        Some(rustls::Error::InvalidCertificate(_)) => (true, None),
        _ => (is_permanent, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A provider without algorithms.
    fn empty() -> CryptoProvider {
        #[derive(Debug)]
        struct Nothing;

        impl rustls::crypto::SecureRandom for Nothing {
            fn fill(&self, _: &mut [u8]) -> Result<(), rustls::crypto::GetRandomFailed> {
                Err(rustls::crypto::GetRandomFailed)
            }
        }

        impl rustls::crypto::KeyProvider for Nothing {
            fn load_private_key(
                &self,
                _: PrivateKeyDer<'static>,
            ) -> Result<Arc<dyn rustls::sign::SigningKey>, rustls::Error> {
                Err(rustls::Error::General("no key".into()))
            }
        }

        CryptoProvider {
            cipher_suites: Vec::new(),
            kx_groups: Vec::new(),
            signature_verification_algorithms: rustls::crypto::WebPkiSupportedAlgorithms { all: &[], mapping: &[] },
            secure_random: &Nothing,
            key_provider: &Nothing,
        }
    }

    #[test]
    fn the_provider_is_that_of_the_process_or_the_only_one_that_is_compiled_in() {
        let of_process = Arc::new(empty());
        for compiled_in in [&[][..], &[empty as fn() -> _], &[empty, empty]] {
            let chosen = choose(Some(&of_process), compiled_in).unwrap();
            assert!(Arc::ptr_eq(&chosen, &of_process));
            let words = match compiled_in.len() {
                0 => "TLS has no crypto provider: turn on the feature `tls-ring` or `tls-aws-lc-rs` of imid-lease, ",
                1 => {
                    assert!(choose(None, compiled_in).is_ok());
                    continue;
                }
                _ => "TLS has two crypto providers: turn off the feature `tls-ring` or `tls-aws-lc-rs` of imid-lease, ",
            };
            let error = choose(None, compiled_in).unwrap_err().to_string();
            assert_eq!(error, format!("{words}{PROVIDERS}"));
        }
    }

    #[test]
    fn a_provider_that_cannot_speak_tls_is_an_error() {
        let tls = Tls { check: Check::Nothing, ..Tls::new() };
        let verifier = Verifier::new(&tls, &[], &Arc::new(empty())).unwrap();
        assert!(verifier.supported_verify_schemes().is_empty());
        assert!(ClientConfig::builder_with_provider(Arc::new(empty())).with_safe_default_protocol_versions().is_err());
    }
}
