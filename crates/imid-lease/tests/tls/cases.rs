//! What holds for each store.

use std::env;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, ExitCode};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use imid_lease::register::{
    DEFAULT_TIME_LIMIT, EtcdRegister, MysqlRegister, PostgresRegister, RedisRegister, Register, Tls, ZookeeperRegister,
    open_url,
};
use imid_lease::{LaneOptions, LeasedGenerator, RegisterError, Status};

use crate::certificates::Files;
use crate::chain::chain;
use crate::store::{Store, failure, open, works};

pub(crate) fn the_right_authority_is_trusted(store: &Store) {
    works(&mut *open(&store.right_url()));
}

/// Starts the server with the right files again, also after a failed assertion.
pub(crate) struct Undo<'a>(pub(crate) &'a Store);

impl Drop for Undo<'_> {
    fn drop(&mut self) {
        self.0.start_with(Some(&self.0.files));
    }
}

/// Checks that a certificate of the server is refused for good, and why. The client of ZooKeeper does not say why.
fn is_refused(store: &Store, error: &RegisterError, words: &str) {
    if store.name != "zookeeper" {
        assert!(error.is_permanent() && chain(error).contains(words), "{error}");
    }
}

const UNTRUSTED: &str = "no trusted CA has signed the server's certificate";

pub(crate) fn another_authority_is_not_trusted(store: &Store) {
    // The second one has the name of the right one.
    for others in [Files::new(), Files::of("authority 0")] {
        is_refused(store, &failure(&store.url(&store.host(), &others, true, true)), UNTRUSTED);
    }
}

/// If it is set, the program opens this URL and ends. The authorities of the system are a setting of a process.
pub(crate) const CHILD: &str = "IMID_TLS_CHILD";

/// Reads from a register, and says why it cannot.
pub(crate) fn child(url: &str) -> ExitCode {
    match open_url(url, DEFAULT_TIME_LIMIT).and_then(|mut register| register.read("a")) {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{}", chain(&error));
            ExitCode::FAILURE
        }
    }
}

pub(crate) fn the_authorities_of_the_system_are_the_default(store: &Store) {
    let url = store.url(&store.host(), &store.files, false, true);
    let outcome = |authority: &Files| {
        let mut command = Command::new(env::current_exe().unwrap());
        // This is the file that OpenSSL would use.
        command.env("SSL_CERT_FILE", authority.path("ca.pem")).env_remove("SSL_CERT_DIR").env(CHILD, &url);
        let output = command.output().unwrap();
        (output.status.success(), String::from_utf8(output.stdout).unwrap())
    };
    assert_eq!(outcome(&store.files), (true, String::new()));
    let (works, error) = outcome(&Files::new());
    assert!(!works && (error.contains(UNTRUSTED) || store.name == "zookeeper"), "{error}");
}

pub(crate) fn a_certificate_of_another_host_is_refused(store: &Store) {
    let host = format!("localhost:{}", store.port());
    is_refused(store, &failure(&store.url(&host, &store.files, true, true)), "certificate not valid for name");
}

pub(crate) fn a_missing_certificate_of_the_client_is_an_error(store: &Store) {
    failure(&store.url(&store.host(), &store.files, true, false));
}

pub(crate) fn a_file_that_cannot_be_used_is_named(store: &Store) {
    let ([authority, _, key], right) = (store.words().1, store.right_url());
    let files = &store.files;
    let folder = tempfile::tempdir().unwrap();
    let broken = folder.path().join("broken");
    fs::write(&broken, "-----BEGIN NOTHING-----\n").unwrap();
    let (missing, broken) = (folder.path().join("missing").display().to_string(), broken.display().to_string());
    let put = |name: &str, old: &str, new: &str| {
        let url = right.replace(&format!("{name}={}", files.path(old).display()), &format!("{name}={new}"));
        assert_ne!(url, right);
        let error = failure(&url);
        assert!(!error.is_permanent(), "files can change: {error}");
        chain(&error)
    };
    let check = |error: String, words: String| assert!(error.contains(&words), "expected {words} in: {error}");
    check(put(authority, "ca.pem", &missing), format!("cannot read {missing}: No such file"));
    check(put(authority, "ca.pem", &broken), format!("expected certificates in PEM in {broken}"));
    check(put(key, "client.key", &missing), format!("cannot read {missing}: No such file"));
    check(put(key, "client.key", &folder.path().display().to_string()), "Is a directory".to_owned());
    check(put(key, "client.key", &broken), format!("expected a private key in PEM, not encrypted, in {broken}"));
    let other = files.path("server.key").display().to_string();
    check(put(key, "client.key", &other), format!("expected in {other} the key of the certificate in "));
}

/// Opens a register of the store with a URL of plain text, with settings in Rust.
fn register(store: &Store, url: &str, tls: Tls, password: Option<Arc<Mutex<String>>>) -> Box<dyn Register> {
    macro_rules! register {
        ($register:ident) => {{
            let register = $register::from_url(url).unwrap().time_limit(Duration::from_secs(60)).tls(tls);
            match password {
                Some(password) => Box::new(register.password_with(move || Ok(password.lock().unwrap().clone()))),
                None => Box::new(register),
            }
        }};
    }
    match store.name {
        "postgres" => register!(PostgresRegister),
        "mysql" => register!(MysqlRegister),
        "redis" => register!(RedisRegister),
        "etcd" => register!(EtcdRegister),
        _ => register!(ZookeeperRegister),
    }
}

/// Returns the URL without a word of TLS.
fn plain_url(store: &Store) -> String {
    let url = store.url_at(&store.host());
    url.replace("rediss://", "redis://").replace("https://", "etcd://").replace("zookeepers://", "zookeeper://")
}

fn right_tls(files: &Files) -> Tls {
    Tls::new().roots(files.path("ca.pem")).identity(files.path("client.pem"), files.path("client.key"))
}

pub(crate) fn settings_in_rust_replace_those_of_the_url(store: &Store) {
    works(&mut *register(store, &plain_url(store), right_tls(&store.files), None));
    let error = register(store, &store.right_url(), right_tls(&Files::new()), None).read("a").unwrap_err();
    is_refused(store, &error, UNTRUSTED);
}

/// Waits until the status of a lease is such.
fn wait_for(ids: &LeasedGenerator, what: &str, is_so: impl Fn(&Status) -> bool) {
    let start = Instant::now();
    while !is_so(&ids.status()) {
        assert!(start.elapsed() < Duration::from_secs(60), "not {what} after a minute: {:?}", ids.status());
        thread::sleep(Duration::from_millis(50));
    }
}

/// Opens a lease, and mints.
fn lease(register: Box<dyn Register>, space: &str) -> LeasedGenerator {
    let ids = LeasedGenerator::open(register, LaneOptions::new().create_missing().space(space)).unwrap();
    ids.wait_until_open(Duration::from_secs(60)).unwrap();
    ids
}

/// Checks that a lease has lost its connection, and renews once what has changed is known here too.
fn goes_on_after(ids: &LeasedGenerator, known: impl FnOnce()) {
    wait_for(ids, "refused", |status| status.last_error.is_some());
    assert!(!ids.status().last_error.unwrap().contains("imid-secret"));
    let renewals = ids.status().renewals;
    known();
    wait_for(ids, "renewed", |status| status.last_error.is_none() && status.renewals > renewals);
    let session = imid::SessionTag::new(imid::SessionType::GROUP, "room-42");
    ids.generate(session).unwrap();
}

pub(crate) fn changed_certificates_are_read_for_the_next_connection(store: &Store) {
    let (mine, next) = (Files::new(), Files::new());
    mine.take_from(&store.files);
    if store.name == "etcd" {
        // Its time comes on another connection.
        let mut register = open(&store.url(&store.host(), &mine, true, true));
        register.now_ms().unwrap();
        mine.take_from(&next);
        assert!(chain(&register.now_ms().unwrap_err()).contains(UNTRUSTED));
        mine.take_from(&store.files);
        register.now_ms().unwrap();
    }
    let ids = lease(open(&store.url(&store.host(), &mine, true, true)), "certificates");
    // The server has certificates of another authority, and trusts only those too.
    store.start_with(Some(&next));
    let _undo = Undo(store);
    goes_on_after(&ids, || mine.take_from(&next));
    ids.close();
}

pub(crate) fn a_changed_password_is_read_for_the_next_connection(store: &Store) {
    let change: Box<dyn Fn(&str)> = match store.name {
        "postgres" => Box::new(|new| {
            store.administer(&format!(
                "SET password_encryption = 'scram-sha-256'; ALTER ROLE imid_tls PASSWORD '{new}'"
            ));
            store.administer("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'imid_tls'");
        }),
        "mysql" => Box::new(|new| {
            store.administer(&format!("ALTER USER imid_tls@'%' IDENTIFIED BY '{new}'"));
            store.start_with(Some(&store.files));
        }),
        "redis" => Box::new(|new| {
            let client = redis::Client::open(store.plain.as_str()).unwrap();
            let mut admin = client.get_connection().unwrap();
            redis::cmd("ACL")
                .arg(&["SETUSER", "imid_tls", "on", "resetpass", "~*", "+@all"])
                .arg(format!(">{new}"))
                .exec(&mut admin)
                .unwrap();
            let _: i64 = redis::cmd("CLIENT").arg(&["KILL", "USER", "imid_tls"]).query(&mut admin).unwrap();
        }),
        _ => {
            etcd(store, "user/add", r#"{"name":"root","password":"imid-secret"}"#);
            etcd(store, "user/grant", r#"{"user":"root","role":"root"}"#);
            Box::new(|new| {
                etcd(store, "user/changepw", &format!(r#"{{"name":"root","password":"{new}"}}"#));
                etcd(store, "auth/enable", "{}");
            })
        }
    };
    let password = Arc::new(Mutex::new("imid-secret-1".to_owned()));
    let url = match store.name {
        "redis" => plain_url(store).replace("redis://:imid-secret@", "redis://imid_tls@"),
        "etcd" => plain_url(store).replace("etcd://", "etcd://root:@"),
        _ => plain_url(store).replace(":imid-secret@", "@"),
    };
    change("imid-secret-1");
    let ids = lease(register(store, &url, right_tls(&store.files), Some(Arc::clone(&password))), "password");
    if store.name == "etcd" {
        // From now on only the user may change it.
        let token = etcd_token(store, "imid-secret-1");
        let body = r#"{"name":"root","password":"imid-secret-2"}"#;
        etcd_as(store, Some(&token), "user/changepw", body);
    } else {
        change("imid-secret-2");
    }
    goes_on_after(&ids, || "imid-secret-2".clone_into(&mut password.lock().unwrap()));
    if store.name == "etcd" {
        etcd_as(store, Some(&etcd_token(store, "imid-secret-2")), "auth/disable", "{}");
        let renewals = ids.status().renewals;
        wait_for(&ids, "renewed without a user", |status| status.renewals >= renewals + 2);
    }
    ids.close();
    if store.name != "etcd" {
        change("imid-secret");
    }
}

fn etcd(store: &Store, path: &str, body: &str) {
    etcd_as(store, None, path, body);
}

/// Sends a request to the JSON gateway of etcd, in plain text.
fn etcd_as(store: &Store, token: Option<&str>, path: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", store.plain_port())).unwrap();
    let (path, len) = (path.trim_start_matches("auth/"), body.len());
    let token = token.map(|token| format!("Authorization: {token}\r\n")).unwrap_or_default();
    write!(stream, "POST /v3/auth/{path} HTTP/1.0\r\n{token}Content-Length: {len}\r\n\r\n{body}").unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    reply
}

fn etcd_token(store: &Store, password: &str) -> String {
    let reply = etcd_as(store, None, "authenticate", &format!(r#"{{"name":"root","password":"{password}"}}"#));
    reply.split('"').skip_while(|part| *part != "token").nth(2).unwrap().to_owned()
}

pub(crate) fn an_expired_certificate_is_refused(store: &Store) {
    let expired = Files::new().expired();
    store.start_with(Some(&expired));
    let _undo = Undo(store);
    is_refused(store, &failure(&store.url(&store.host(), &expired, true, true)), "certificate expired");
}

/// The password is not sent then.
pub(crate) fn a_server_without_tls_is_an_error(store: &Store) {
    let host = format!("127.0.0.1:{}", store.plain_port());
    let _undo = ["postgres", "mysql"].contains(&store.name).then(|| {
        store.start_with(None);
        Undo(store)
    });
    let mut register = open_url(&store.url(&host, &store.files, true, true), DEFAULT_TIME_LIMIT).unwrap();
    let error = chain(&register.read("a").unwrap_err());
    assert!(!error.contains("imid-secret"), "{error}");
    let words = match store.name {
        "postgres" => "server does not support TLS",
        "mysql" => "server does not have this capability",
        // They wait for more of what they take for a request, or hang up.
        "redis" => "no answer within 2s",
        "zookeeper" => "ZooKeeper at ",
        _ => "etcd at ",
    };
    assert!(error.contains(words), "{error}");
}
