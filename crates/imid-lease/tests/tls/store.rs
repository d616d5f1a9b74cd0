//! The servers that `ci/services.sh` started, with TLS.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use imid_lease::RegisterError;
use imid_lease::register::{Register, open_url};

use crate::certificates::Files;
use crate::chain::chain;

/// A server under test. Its clients need a certificate.
pub(crate) struct Store {
    pub(crate) name: &'static str,
    /// The URL of the server in plain text, for its administrator.
    pub(crate) plain: String,
    pub(crate) files: Files,
}

impl Store {
    /// Turns TLS of a server on, or says why the store cannot be tested.
    pub(crate) fn from_env(name: &'static str) -> Result<Self, String> {
        let variable = format!("IMID_{}_URL", name.to_uppercase());
        let plain = env::var(&variable).map_err(|_| format!("{variable} is not set; ci/tls.sh starts the servers"))?;
        let store = Self { name, plain, files: Files::new() };
        match name {
            "postgres" => {
                let role = "SET password_encryption = 'scram-sha-256'; \
                     CREATE ROLE imid_tls LOGIN SUPERUSER PASSWORD 'imid-secret'";
                store.administer(role);
            }
            "mysql" => {
                store.administer("CREATE USER imid_tls@'%' IDENTIFIED BY 'imid-secret' REQUIRE X509");
                store.administer("GRANT ALL PRIVILEGES ON *.* TO imid_tls@'%'");
            }
            _ => {}
        }
        store.start_with(Some(&store.files));
        Ok(store)
    }

    /// Starts the server again, with TLS if there are files.
    pub(crate) fn start_with(&self, files: Option<&Files>) {
        let script = env::var("IMID_SERVICES_SH").expect("ci/services.sh sets IMID_SERVICES_SH");
        let mut command = Command::new("bash");
        command.args([&script, "server", self.name, "tls"]).args(files.map(Files::folder));
        let status = command.status().unwrap();
        assert!(status.success(), "{script} server {} tls: {status}", self.name);
    }

    /// Returns the port in the plain URL.
    pub(crate) fn plain_port(&self) -> u16 {
        let rest = self.plain.split_once("://").unwrap().1;
        let address = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest).split('/').next().unwrap();
        address.rsplit_once(':').unwrap().1.parse().unwrap()
    }

    /// Returns the port that has TLS.
    pub(crate) fn port(&self) -> u16 {
        match self.name {
            "postgres" | "mysql" => self.plain_port(),
            name => {
                let folder = env::var("IMID_SERVICES").unwrap();
                fs::read_to_string(Path::new(&folder).join(name).join("tls_port")).unwrap().trim().parse().unwrap()
            }
        }
    }

    /// Returns the URL of a host and port without settings.
    pub(crate) fn url_at(&self, host: &str) -> String {
        match self.name {
            "postgres" => format!("postgres://imid_tls:imid-secret@{host}/postgres"),
            "mysql" => format!("mysql://imid_tls:imid-secret@{host}/imid"),
            "redis" => format!("rediss://:imid-secret@{host}/0"),
            "etcd" => format!("https://{host}"),
            _ => format!("zookeepers://{host}/tls"),
        }
    }

    /// Returns the setting that asks for TLS, and the names of the three files.
    pub(crate) fn words(&self) -> (&'static str, [&'static str; 3]) {
        match self.name {
            "postgres" => ("sslmode=verify-full", ["sslrootcert", "sslcert", "sslkey"]),
            "mysql" => ("require_ssl=true", ["ssl-ca", "ssl-cert", "ssl-key"]),
            _ => ("", ["cacert", "cert", "key"]),
        }
    }

    /// Returns the URL with settings: whether to name the authority, and whether the certificate.
    pub(crate) fn url(&self, host: &str, files: &Files, names_authority: bool, names_certificate: bool) -> String {
        let (word, [authority, certificate, key]) = self.words();
        let mut settings = vec![word.to_owned()];
        if names_authority {
            settings.push(format!("{authority}={}", files.path("ca.pem").display()));
        }
        if names_certificate {
            settings.push(format!("{certificate}={}", files.path("client.pem").display()));
            settings.push(format!("{key}={}", files.path("client.key").display()));
        }
        settings.retain(|setting| !setting.is_empty());
        format!("{}?{}", self.url_at(host), settings.join("&"))
    }

    /// Returns the address with TLS.
    pub(crate) fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port())
    }

    /// Returns the URL with which a client connects.
    pub(crate) fn right_url(&self) -> String {
        self.url(&self.host(), &self.files, true, true)
    }

    /// Runs a statement as the administrator, in plain text.
    pub(crate) fn administer(&self, statement: &str) -> String {
        let port = self.plain_port().to_string();
        let output = match self.name {
            "postgres" => {
                let url = format!("{}?sslmode=disable", self.plain);
                Command::new("psql").args(["-X", "-A", "-t", &url, "-c", statement]).output()
            }
            "mysql" => Command::new("mariadb")
                .args(["--no-defaults", "-h", "127.0.0.1", "-P", &port, "-u", "imid", "-pimid-secret", "imid", "-e"])
                .arg(statement)
                .output(),
            name => panic!("no client for {name}"),
        };
        let output = output.unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{statement}: {text}{}", String::from_utf8_lossy(&output.stderr));
        text
    }
}

/// Opens a register. Its calls have time, because a busy machine can be slow.
pub(crate) fn open(url: &str) -> Box<dyn Register> {
    open_url(url, Duration::from_secs(60)).unwrap()
}

/// Writes a record and reads it.
pub(crate) fn works(register: &mut dyn Register) {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let key = format!("tls/{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    assert!(register.compare_and_set(&key, None, "1").unwrap());
    assert_eq!(register.read(&key).unwrap().as_deref(), Some("1"));
}

/// Returns why a URL cannot be used.
pub(crate) fn failure(url: &str) -> RegisterError {
    let error = open(url).read("a").expect_err(url);
    assert!(!chain(&error).contains("imid-secret"), "the password is in: {error}");
    error
}
