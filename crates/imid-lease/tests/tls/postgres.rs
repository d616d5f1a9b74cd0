//! What only PostgreSQL has.

use std::env;
use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::cases::Undo;
use crate::certificates::Files;
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
                assert!(error.is_final() && error.to_string().contains(words), "{url}: {error}");
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
    let error = failure(&any_way(store, "channel_binding=require")).to_string();
    assert!(error.contains("channel binding"), "{error}");
}

pub(crate) fn several_hosts_may_be_named(store: &Store) {
    let hosts = format!("127.0.0.1:1,{}", store.host());
    works(&mut *open(&store.url(&hosts, &store.files, true, true)));
    let error = failure(&store.url(&hosts, &Files::new(), true, true));
    assert!(error.is_final(), "{error}");
}

/// The second of two registers gets the server's connection of the first one, which knows no prepared statement of it.
pub(crate) fn a_pooler_in_transaction_mode_is_no_obstacle(store: &Store) {
    let Some(program) =
        ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"].into_iter().find(|path| fs::exists(path).unwrap())
    else {
        skip::skip("tls::postgres::a_pooler_in_transaction_mode_is_no_obstacle", "PgBouncer is not installed");
        return;
    };
    let folder = tempfile::tempdir_in(env::var("IMID_SERVICES").unwrap()).unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let (server, files) = (store.plain_port(), store.files.folder().display());
    fs::write(path("users"), "\"imid\" \"imid-secret\"\n").unwrap();
    for name in ["server.pem", "server.key"] {
        fs::copy(store.files.path(name), path(name)).unwrap();
    }
    let config = format!(
        "[databases]\npostgres = host=127.0.0.1 port={server} dbname=postgres\n[pgbouncer]\nlisten_addr = 127.0.0.1\n\
         listen_port = {port}\nunix_socket_dir =\nauth_type = md5\nauth_file = {users}\npool_mode = transaction\n\
         default_pool_size = 1\nmax_prepared_statements = 0\nignore_startup_parameters = extra_float_digits\n\
         client_tls_sslmode = require\nclient_tls_cert_file = {cert}\nclient_tls_key_file = {key}\n\
         server_tls_sslmode = verify-full\nserver_tls_ca_file = {files}/ca.pem\n",
        users = path("users"),
        cert = path("server.pem"),
        key = path("server.key"),
    );
    fs::write(path("config"), config.replace("max_prepared_statements = 0\n", "")).unwrap();
    // PgBouncer refuses root. Another user must reach its files and the authority.
    let mut command = Command::new("setpriv");
    let is_root = fs::metadata("/proc/self").is_ok_and(|it| std::os::unix::fs::MetadataExt::uid(&it) == 0);
    if is_root {
        let status = Command::new("chmod").args(["-R", "a+rX"]).args([folder.path(), store.files.folder()]).status();
        assert!(status.unwrap().success());
        command.args(["--reuid", "postgres", "--regid", "postgres", "--clear-groups", program]);
    } else {
        command = Command::new(program);
    }
    let log = fs::File::create(path("log")).unwrap();
    let mut pooler = command.arg(path("config")).stdout(Stdio::null()).stderr(log).spawn().unwrap();
    let url = format!("{}?sslmode=verify-full&sslrootcert={files}/ca.pem", store.plain)
        .replace(&server.to_string(), &port.to_string());
    let start = Instant::now();
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(start.elapsed() < Duration::from_secs(10), "{}", fs::read_to_string(path("log")).unwrap());
        thread::sleep(Duration::from_millis(20));
    }
    let outcome = std::panic::catch_unwind(|| {
        let mut registers = [open(&url), open(&url), open(&url)];
        for _ in 0..20 {
            for register in &mut registers {
                works(&mut **register);
                register.now_ms().unwrap();
                register.list("tls/").unwrap();
            }
        }
    });
    pooler.kill().unwrap();
    pooler.wait().unwrap();
    assert!(outcome.is_ok(), "{}", fs::read_to_string(path("log")).unwrap());
}
