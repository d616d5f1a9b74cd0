//! What only PostgreSQL has.

use std::env;
use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use imid::{SessionTag, SessionType};
use imid_lease::{LaneOptions, LeasedGenerator};

use crate::cases::Undo;
use crate::certificates::Files;
use crate::chain::chain;
use crate::skip;
use crate::store::{Store, failure, open, works};

/// Returns how the connections of a user are encrypted, by name.
fn encrypted(store: &Store, name: &str) -> String {
    let query = format!(
        "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = '{name}' ORDER BY 1"
    );
    store.administer(&query).trim().to_owned()
}

/// Returns a URL of the user that may connect in any way.
fn any_way(store: &Store, settings: &str) -> String {
    format!("{}?{settings}", store.plain)
}

pub(crate) fn each_mode_checks_what_it_says(store: &Store) {
    let (here, name) = (format!("127.0.0.1:{}", store.port()), format!("localhost:{}", store.port()));
    let (files, others) = (&store.files, &Files::new());
    let mode = |mode: &str, host: &str, authority: Option<&Files>| {
        let url = store.plain.replace(&format!("127.0.0.1:{}", store.plain_port()), host);
        let roots = authority.map(|files| format!("&sslrootcert={}", files.path("ca.pem").display()));
        format!("{url}?sslmode={mode}{}", roots.unwrap_or_default())
    };
    for (word, host, authority, expected) in [
        ("require", &here, Some(files), None),
        ("require", &name, Some(files), None),
        ("require", &here, Some(others), Some("UnknownIssuer")),
        // The system trusts others.
        ("require", &here, None, Some("cannot connect")),
        ("verify-ca", &name, Some(files), None),
        ("verify-ca", &name, Some(others), Some("UnknownIssuer")),
        ("verify-full", &here, Some(files), None),
        ("verify-full", &name, Some(files), Some("certificate not valid for name \"localhost\"")),
        ("verify-full", &here, None, Some("cannot connect")),
    ] {
        let url = mode(word, host, authority);
        match expected {
            None => works(&mut *open(&url)),
            Some(words) => {
                let error = failure(&url);
                assert!(error.is_permanent() && chain(&error).contains(words), "{url}: {error}");
            }
        }
    }
}

pub(crate) fn prefer_encrypts_if_the_server_can(store: &Store) {
    let mut register = open(&any_way(store, "application_name=prefer-1"));
    works(&mut *register);
    assert_eq!(encrypted(store, "prefer-1"), "t");
    let mut register = open(&any_way(store, "sslmode=disable&application_name=prefer-2"));
    works(&mut *register);
    assert_eq!(encrypted(store, "prefer-2"), "f");
    store.start_with(None);
    let _undo = Undo(store);
    let mut register = open(&any_way(store, "sslmode=prefer&application_name=prefer-3"));
    works(&mut *register);
    assert_eq!(encrypted(store, "prefer-3"), "f");
}

pub(crate) fn channel_binding_can_be_required(store: &Store) {
    works(&mut *open(&format!("{}&channel_binding=require", store.right_url())));
    // This user's password is an MD5 hash, which proves nothing about the server.
    let error = chain(&failure(&any_way(store, "channel_binding=require")));
    assert!(error.contains("channel binding"), "{error}");
}

pub(crate) fn several_hosts_may_be_named(store: &Store) {
    let hosts = format!("127.0.0.1:1,{}", store.host());
    works(&mut *open(&store.url(&hosts, &store.files, true, true)));
    let error = failure(&store.url(&hosts, &Files::new(), true, true));
    assert!(error.is_permanent(), "{error}");
}

/// The second of two registers gets the server's connection of the first one, which knows no prepared statement of it.
pub(crate) fn a_pooler_in_transaction_mode_is_no_obstacle(store: &Store) {
    let authority = store.files.path("ca.pem").display().to_string();
    let config = |port: u16, path: &dyn Fn(&str) -> String| {
        fs::write(path("users"), "\"imid\" \"imid-secret\"\n").unwrap();
        for name in ["server.pem", "server.key"] {
            fs::copy(store.files.path(name), path(name)).unwrap();
        }
        format!(
            "[databases]\npostgres = host=127.0.0.1 port={server} dbname=postgres\n[pgbouncer]\nlisten_addr = 127.0.0.1\n\
             listen_port = {port}\nunix_socket_dir =\nauth_type = md5\nauth_file = {users}\npool_mode = transaction\n\
             default_pool_size = 1\nignore_startup_parameters = extra_float_digits\n\
             client_tls_sslmode = require\nclient_tls_cert_file = {cert}\nclient_tls_key_file = {key}\n\
             server_tls_sslmode = verify-full\nserver_tls_ca_file = {authority}\n",
            server = store.plain_port(),
            users = path("users"),
            cert = path("server.pem"),
            key = path("server.key"),
        )
    };
    through("a_pooler_in_transaction_mode_is_no_obstacle", "pgbouncer", &[], store, config, |port| {
        let url = format!("{}?sslmode=verify-full&sslrootcert={authority}", store.plain)
            .replace(&store.plain_port().to_string(), &port.to_string());
        let mut registers = [open(&url), open(&url), open(&url)];
        for _ in 0..20 {
            for register in &mut registers {
                works(&mut **register);
                register.now_ms().unwrap();
                register.list("tls/").unwrap();
            }
        }
        leases("pooler", &url);
        // The pooler would let a client in without TLS if it did not ask for it.
        let error = chain(&failure(&url.split('?').next().map(|url| format!("{url}?sslmode=disable")).unwrap()));
        assert!(error.contains("SSL required"), "{error}");
    });
}

/// `HAProxy` in its TCP mode sees neither the password nor the certificates, so that of the client and the binding to the
/// channel reach the server.
pub(crate) fn a_proxy_that_passes_bytes_on_is_no_obstacle(store: &Store) {
    let config = |port: u16, _: &dyn Fn(&str) -> String| {
        format!(
            "defaults\n  mode tcp\n  timeout connect 10s\n  timeout client 1m\n  timeout server 1m\n\
             listen postgres\n  bind 127.0.0.1:{port}\n  server one 127.0.0.1:{}\n",
            store.plain_port()
        )
    };
    through("a_proxy_that_passes_bytes_on_is_no_obstacle", "haproxy", &["-db", "-f"], store, config, |port| {
        let host = format!("127.0.0.1:{port}");
        let url = format!("{}&channel_binding=require", store.url(&host, &store.files, true, true));
        works(&mut *open(&url));
        leases("proxy", &url);
        let error = failure(&store.url(&host, &Files::new(), true, true));
        assert!(error.is_permanent(), "{error}");
    });
}

/// Takes a lane, mints and renews it.
fn leases(holder: &str, url: &str) {
    let options = LaneOptions::new()
        .create_missing()
        .space(format!("tls-{holder}"))
        .holder(holder)
        .horizon(Duration::from_secs(8));
    let ids = LeasedGenerator::open(open(url), options).unwrap();
    ids.wait_until_open(Duration::from_secs(60)).unwrap();
    let start = Instant::now();
    while ids.status().renewals < 2 {
        ids.generate_within(SessionTag::new(SessionType::GROUP, "room-42"), Duration::from_secs(60)).unwrap();
        assert!(start.elapsed() < Duration::from_secs(60), "{:?}", ids.status());
        thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(ids.status().lost, 0);
    assert!(ids.close_within(Duration::from_secs(60)));
}

/// Starts a program of Debian with a configuration, works through its port, and stops it. Its configuration can name files in
/// its folder.
fn through(
    test: &str,
    program: &str,
    arguments: &[&str],
    store: &Store,
    config: impl FnOnce(u16, &dyn Fn(&str) -> String) -> String,
    work: impl FnOnce(u16),
) {
    let found = ["/usr/sbin", "/usr/bin"].map(|folder| format!("{folder}/{program}"));
    let Some(path_of_program) = found.into_iter().find(|path| fs::exists(path).unwrap()) else {
        skip::skip(&format!("tls::postgres::{test}"), format!("{program} is not installed"));
        return;
    };
    let folder = tempfile::tempdir_in(env::var("IMID_SERVICES").unwrap()).unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    fs::write(path("config"), config(port, &path)).unwrap();
    // PgBouncer refuses root. Another user must reach its files and the authority.
    let mut command = Command::new("setpriv");
    let is_root = fs::metadata("/proc/self").is_ok_and(|it| std::os::unix::fs::MetadataExt::uid(&it) == 0);
    if is_root {
        let status = Command::new("chmod").args(["-R", "a+rX"]).args([folder.path(), store.files.folder()]).status();
        assert!(status.unwrap().success());
        command.args(["--reuid", "postgres", "--regid", "postgres", "--clear-groups", &path_of_program]);
    } else {
        command = Command::new(path_of_program);
    }
    let log = fs::File::create(path("log")).unwrap();
    let mut between = command.args(arguments).arg(path("config")).stdout(Stdio::null()).stderr(log).spawn().unwrap();
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let start = Instant::now();
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(start.elapsed() < Duration::from_secs(10), "{program} does not answer");
            thread::sleep(Duration::from_millis(20));
        }
        work(port);
    }));
    between.kill().unwrap();
    between.wait().unwrap();
    assert!(outcome.is_ok(), "{}", fs::read_to_string(path("log")).unwrap());
}
