//! Authorities, and certificates that they sign.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use tempfile::TempDir;

/// A folder with the files of an authority, a server and a client: `ca.pem`, `server.pem`, `server.key`, `client.pem`,
/// `client.key`.
pub(crate) struct Files {
    folder: TempDir,
    authority: Issuer<'static, KeyPair>,
}

impl Files {
    /// Makes an authority with a name of its own, a server on 127.0.0.1, and a client.
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        Self::of(&format!("authority {}", NEXT.fetch_add(1, Ordering::Relaxed)))
    }

    /// Makes an authority with a name.
    pub(crate) fn of(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        params.distinguished_name.push(DnType::CommonName, name);
        let (folder, key) = (tempfile::tempdir().unwrap(), KeyPair::generate().unwrap());
        fs::write(folder.path().join("ca.pem"), params.self_signed(&key).unwrap().pem()).unwrap();
        let files = Self { folder, authority: Issuer::new(params, key) };
        files.sign("server", false);
        files.sign("client", false);
        files
    }

    /// Replaces the certificate of the server by one that has expired.
    pub(crate) fn expired(self) -> Self {
        self.sign("server", true);
        self
    }

    fn sign(&self, name: &str, has_expired: bool) {
        let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, name);
        params.extended_key_usages = vec![match name {
            "server" => ExtendedKeyUsagePurpose::ServerAuth,
            _ => ExtendedKeyUsagePurpose::ClientAuth,
        }];
        if has_expired {
            params.not_before = rcgen::date_time_ymd(2024, 1, 1);
            params.not_after = rcgen::date_time_ymd(2024, 2, 1);
        }
        let key = KeyPair::generate().unwrap();
        fs::write(self.path(&format!("{name}.pem")), params.signed_by(&key, &self.authority).unwrap().pem()).unwrap();
        fs::write(self.path(&format!("{name}.key")), key.serialize_pem()).unwrap();
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Replaces the files of the client and its authority by others.
    pub(crate) fn take_from(&self, others: &Self) {
        for name in ["ca.pem", "client.pem", "client.key"] {
            fs::copy(others.path(name), self.path(name)).unwrap();
        }
    }
}
