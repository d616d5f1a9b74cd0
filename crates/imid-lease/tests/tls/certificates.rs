//! Authorities, and certificates that they sign: by the program openssl, because a library compiles for longer than all other tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use tempfile::TempDir;

/// A folder with the files of an authority, a server and a client: `ca.pem`, `server.pem`, `server.key`, `client.pem`,
/// `client.key`.
pub(crate) struct Files {
    folder: TempDir,
    authority: TempDir,
}

/// What `openssl ca` needs.
const AUTHORITY: &str = "[ca]\ndefault_ca=all\n[all]\ndatabase=index\nnew_certs_dir=.\nrand_serial=yes\ndefault_md=sha256\n\
    unique_subject=no\npolicy=names\n[names]\ncommonName=supplied\n";

impl Files {
    /// Makes an authority with a name of its own, a server on 127.0.0.1, and a client.
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        Self::of(&format!("authority {}", NEXT.fetch_add(1, Ordering::Relaxed)))
    }

    /// Makes an authority with a name.
    pub(crate) fn of(name: &str) -> Self {
        let files = Self { folder: tempfile::tempdir().unwrap(), authority: tempfile::tempdir().unwrap() };
        fs::write(files.authority.path().join("conf"), AUTHORITY).unwrap();
        fs::write(files.authority.path().join("index"), "").unwrap();
        let certificate = ["-x509", "-days", "3650", "-addext", "keyUsage=critical,keyCertSign,cRLSign"];
        files.request(name, "ca.key", &files.path("ca.pem"), &certificate);
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
        let usage = if name == "server" { "serverAuth" } else { "clientAuth" };
        let extensions = format!("subjectAltName=IP:127.0.0.1\nextendedKeyUsage={usage}\n");
        fs::write(self.authority.path().join("extensions"), extensions).unwrap();
        let key = self.path(&format!("{name}.key"));
        self.request(name, key.to_str().unwrap(), Path::new("request"), &[]);
        let last = if has_expired { "20240201000000Z" } else { "20991231000000Z" };
        let arguments = ["ca", "-batch", "-notext", "-config", "conf", "-extfile", "extensions", "-keyfile", "ca.key"];
        let dates = ["-startdate", "20240101000000Z", "-enddate", last, "-in", "request"];
        let (authority, signed) = (self.path("ca.pem"), self.path(&format!("{name}.pem")));
        openssl(self.authority.path(), |command| {
            command.args(arguments).args(dates).arg("-cert").arg(authority).arg("-out").arg(signed)
        });
    }

    /// Makes a key, and a request or a certificate of this name.
    fn request(&self, name: &str, key: &str, out: &Path, more: &[&str]) {
        let arguments = ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key];
        openssl(self.authority.path(), |command| {
            command.args(arguments).args(["-subj", &format!("/CN={name}")]).args(more).arg("-out").arg(out)
        });
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

fn openssl(folder: &Path, arguments: impl FnOnce(&mut Command) -> &mut Command) {
    let mut command = Command::new("openssl");
    let output = arguments(command.current_dir(folder)).output().expect("openssl runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
