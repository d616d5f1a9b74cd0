//! The crypto provider of TLS: none, one or two that are compiled in, and that of the process. `ci/features.sh` runs this
//! without a provider and with one, and `ci/leases.sh` with two.
#![cfg(all(
    feature = "etcd",
    feature = "mysql",
    feature = "postgres",
    feature = "redis",
    feature = "tls",
    feature = "zookeeper"
))]

#[path = "support/chain.rs"]
mod chain;

use std::net::TcpListener;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use chain::chain;
use imid_lease::register::open_url;
use rustls::crypto::CryptoProvider;

const FEATURES: &str = "the feature `tls-ring` or `tls-aws-lc-rs` of imid-lease, or call \
                        `rustls::crypto::CryptoProvider::install_default` at the start of the program";

/// Any authority, so that the machine needs none.
const AUTHORITY: &str = "\
-----BEGIN CERTIFICATE-----\n\
MIIBhTCCASugAwIBAgIUC7nLoosZdZbzyWa/P4dmcDAocHAwCgYIKoZIzj0EAwIw\n\
FzEVMBMGA1UEAwwMYW4gYXV0aG9yaXR5MCAXDTI2MTEyODAyMzUxNloYDzIxMjYx\n\
MTA0MDIzNTE2WjAXMRUwEwYDVQQDDAxhbiBhdXRob3JpdHkwWTATBgcqhkjOPQIB\n\
BggqhkjOPQMBBwNCAARN89Z/xcsca0tQ/wirNmktxmZFUE/4WVXKQ7JzA0xS4wXw\n\
wYkrKyEkD/brWLciwZ6sWHxqdgcVP+nuE4mspGiPo1MwUTAdBgNVHQ4EFgQUb4kT\n\
ZAa7bWKku9hPv6pw1qY1XyMwHwYDVR0jBBgwFoAUb4kTZAa7bWKku9hPv6pw1qY1\n\
XyMwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiEAkMl4gwUgzzhh\n\
deIn0A7cMA7/eHbdBOt5UuDq9o7MfRYCICYOCXEyuZRX6yrTBirI/ac5+n/aC4pJ\n\
8R3LA4gGrRiU\n\
-----END CERTIFICATE-----\n";

/// Returns why each register cannot connect to a server that hangs up.
fn errors() -> Vec<String> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || listener.incoming().for_each(drop));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ca.pem");
    std::fs::write(&path, AUTHORITY).unwrap();
    let path = path.display();
    [
        format!("mysql://u:p@{address}/chat?require_ssl=true&ssl-ca={path}"),
        format!("postgres://u:p@{address}/chat?sslmode=verify-full&sslrootcert={path}"),
        format!("rediss://:p@{address}/0?cacert={path}"),
        format!("https://{address}?cacert={path}"),
        format!("zookeepers://{address}?cacert={path}"),
    ]
    .iter()
    .map(|url| chain(&open_url(url, Duration::from_secs(20)).unwrap().read("a").unwrap_err()))
    .collect()
}

#[test]
fn tls_needs_one_provider_and_never_panics() {
    let expected = match (cfg!(feature = "tls-ring"), cfg!(feature = "tls-aws-lc-rs")) {
        (false, false) => Some("TLS has no crypto provider: turn on "),
        (true, true) => Some("TLS has two crypto providers: turn off "),
        _ => None,
    };
    for error in errors() {
        match expected {
            Some(words) => assert!(error.ends_with(&format!("{words}{FEATURES}")), "{error}"),
            None => assert!(!error.contains("provider"), "{error}"),
        }
    }
    // The clients of two stores know only the provider of the process.
    assert_eq!(CryptoProvider::get_default().is_some(), expected.is_none());
    if expected.is_some() {
        // That of the process is used, whatever is compiled in. The client of ZooKeeper brings this one.
        rustls::crypto::aws_lc_rs::default_provider().install_default().unwrap();
        let chosen = Arc::clone(CryptoProvider::get_default().unwrap());
        for error in errors() {
            assert!(!error.contains("provider"), "{error}");
        }
        assert!(Arc::ptr_eq(&chosen, CryptoProvider::get_default().unwrap()));
    }
}
