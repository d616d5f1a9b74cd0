//! URLs that are refused, the words for TLS, and servers that do not answer.

#[path = "support/chain.rs"]
mod chain;
#[path = "support/member.rs"]
mod member;

use std::io::{Read, Write};
use std::net::TcpListener;
#[cfg(all(feature = "tls-ring", unix))]
use std::process::Command;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use chain::chain;
use imid_lease::register::{DEFAULT_TIME_LIMIT, open_url};
use member::{Answer, counting_member, member};

/// URLs that ask for TLS, the store, and the part that asks.
const SECURE: &[(&str, &str, &str)] = &[
    ("postgres://u:secret@db/chat?sslmode=require", "PostgreSQL", "sslmode=require"),
    ("postgres://u:secret@db/chat?sslmode=verify-ca&sslrootcert=/ca.pem", "PostgreSQL", "sslmode=verify-ca"),
    (
        "postgres://u:secret@db1,db2/chat?sslmode=verify-full&channel_binding=require",
        "PostgreSQL",
        "sslmode=verify-full",
    ),
    ("postgres://u:secret@db/chat?sslrootcert=system", "PostgreSQL", "sslrootcert=system"),
    ("postgres://u@db/chat?sslmode=verify-full&sslcert=%2Fc.pem&sslkey=/k.pem", "PostgreSQL", "sslmode=verify-full"),
    ("mysql://u:secret@db/chat?require_ssl=true", "MySQL", "require_ssl=true"),
    ("mariadb://u:secret@db/chat?require_ssl=true&verify_identity=true&ssl-ca=/ca.pem", "MySQL", "require_ssl=true"),
    ("mysql://u:secret@db/chat?require_ssl=true&verify_ca=true", "MySQL", "require_ssl=true"),
    ("rediss://:secret@db/0", "Redis", "rediss://"),
    ("valkeys://user:secret@db/0?cacert=/ca.pem&cert=/c.pem&key=/k.pem", "Redis", "valkeys://"),
    ("etcds://u:secret@db", "etcd", "etcds://"),
    ("https://u:secret@db1:2379,https://db2:2379?cacert=/ca.pem", "etcd", "https://"),
    ("zookeepers://u:secret@db1,db2/chat?cacert=/ca.pem", "ZooKeeper", "zookeepers://"),
];

#[cfg(feature = "tls")]
#[test]
fn each_store_has_its_own_words_for_tls() {
    for (url, ..) in SECURE {
        assert!(open_url(url, DEFAULT_TIME_LIMIT).is_ok(), "{url}");
    }
}

/// A password never goes to the network in plain text by mistake.
#[cfg(not(feature = "tls"))]
#[test]
fn a_url_that_asks_for_tls_is_refused_and_the_part_that_asks_is_named() {
    for (url, store, part) in SECURE {
        let error = open_url(url, DEFAULT_TIME_LIMIT).err().unwrap();
        let expected = format!(
            "cannot read the {store} URL: `{part}` needs the feature `tls-ring` or `tls-aws-lc-rs` of imid-lease, which was \
             not compiled in"
        );
        assert_eq!((chain(&error), error.is_url()), (expected, true));
    }
}

#[test]
fn words_of_tls_that_contradict_each_other_are_refused() {
    let files = "`sslmode` require, verify-ca or verify-full with `sslrootcert`, `sslcert` and `sslkey`";
    let redis = "no settings but `protocol`, or rediss:// for TLS with `cacert`, `cert` and `key`";
    let encoded = "after `?` only `name=value` with `&` between them, and `?`, `@` and `&` in passwords and values as %3F, %40 \
                   and %26";
    let hash = "no `#`, and `/`, `#` and `@` in passwords and names as %2F, %23 and %40";
    for (url, expected) in [
        ("postgres://u:secret@db/chat?sslmode=allow", "`sslmode` disable, prefer, require, verify-ca or verify-full"),
        ("postgres://u:secret@db/chat?sslrootcert=/ca.pem", files),
        ("postgres://u:secret@db/chat?sslmode=disable&sslcert=/c.pem&sslkey=/k.pem", files),
        ("postgres://u:secret@db/chat?sslmode=verify-full&sslcert=/c.pem", "both `sslcert` and `sslkey`, or none"),
        (
            "postgres://u:secret@db/chat?sslmode=verify-ca",
            "`sslrootcert` with `sslmode=verify-ca`, or `sslmode=verify-full`",
        ),
        (
            "postgres://u@db/chat?sslmode=verify-ca&sslrootcert=system",
            "`sslmode=verify-full` with `sslrootcert=system`",
        ),
        ("postgres://u@db/chat?sslmode=disable&sslrootcert=system", "`sslmode=verify-full` with `sslrootcert=system`"),
        ("postgres://u:secret@db/chat?sslmode=disable&sslmode=require", "`sslmode` once"),
        ("postgres://u:secret@db/chat?sslnegotiation=direct", "`sslnegotiation=postgres`"),
        ("mysql://u:secret@db/chat?verify_ca=true", "`require_ssl=true` with other settings of TLS"),
        ("mysql://u:secret@db/chat?verify_identity=true", "`require_ssl=true` with other settings of TLS"),
        ("mysql://u:secret@db/chat?require_ssl=false&ssl-ca=/ca.pem", "`require_ssl=true` with other settings of TLS"),
        ("mysql://u:secret@db/chat?require_ssl=yes", "`require_ssl` true or false"),
        // Names that a client reads, in another form.
        ("postgres://u:secret@db/chat?ssl%6Dode=disable&sslmode=require", "`sslmode` once"),
        ("postgres://u:secret@db/chat?ssl%6Dode=no", "`sslmode` disable, prefer, require, verify-ca or verify-full"),
        ("postgres://u:secret@db/chat?sslmode=require&application_name=what?", encoded),
        ("postgres://u:secret@db/chat?application_name=what?&sslmode=require", encoded),
        ("mysql://u:secret@db/chat?require%5Fssl=yes", "`require_ssl` true or false"),
        ("mysql://u:secret@db/chat?requi\tre_ssl=true", "`require_ssl` once"),
        ("mysql://u:secret@db/chat#?require_ssl=true", hash),
        ("redis://:secret@db/0?ssl=true", redis),
        ("redis://:secret@db/0?protocol=resp3&tls=true", redis),
        ("redis://:secret@db/0?cacert=/ca.pem", redis),
        ("redis://:secret@db/0?TLS=true", redis),
        ("redis://:secret@db/0?use_tls=true", redis),
        ("redis://:secret@db/0?%73sl=true", redis),
        ("redis://:secret@db/0?secure=true", redis),
        ("redis://:secret@db/0#insecure", hash),
        ("etcd://u:secret@db?cacert=/ca.pem", "no `?` and no `#`, or https:// for TLS"),
        ("https://u:secret@db?ssl=true", "no settings but `cacert`, `cert` and `key`, and no `#`"),
        ("https://u:secret@db?cert=/c", "both `cert` and `key`, or none"),
        ("https://u:secret@db?cacert=", "a value of `cacert`"),
        ("https://u:secret@db?cacert", "a value of `cacert`"),
        ("https://u:secret@db?cacert=%ff", "a value of `cacert` in UTF-8"),
        ("https://u:secret@db?cacert=/a&%63acert=/b", "`cacert` once"),
        ("zookeeper://u:secret@db/chat?ssl=true", "no `?` and no `#`, or zookeepers:// for TLS"),
    ] {
        // Without TLS, the scheme is refused before the rest is read.
        if cfg!(not(feature = "tls")) && url.starts_with("https:") {
            continue;
        }
        let error = open_url(url, DEFAULT_TIME_LIMIT).err().unwrap_or_else(|| panic!("{url}"));
        assert!(error.is_url(), "{url}: {error}");
        let error = chain(&error);
        assert!(error.ends_with(&format!("URL: expected {expected}")) && !error.contains("secret"), "{url}: {error}");
    }
}

#[test]
fn a_url_that_cannot_be_read_says_what_was_expected_and_not_the_password() {
    for (url, expected) in [
        ("db/chat", "expected a URL that begins with postgres://, mysql://, redis://, etcd://, zookeeper:// or file:"),
        ("file:", "expected a path after file:"),
        ("postgres://u:secret@db:port/chat", "cannot read the PostgreSQL URL: "),
        ("postgres://u:secret@/chat", "cannot read the PostgreSQL URL: expected a host"),
        ("postgres://u:secret@db,/chat", "cannot read the PostgreSQL URL: expected a host"),
        ("postgres://u:secret@db/chat?host=other", "cannot read the PostgreSQL URL: expected a host"),
        ("postgres://u:secret@db/chat?port=1", "cannot read the PostgreSQL URL: expected one port for each host"),
        (
            "postgres://u:secret@a,b/chat?hostaddr=::1",
            "cannot read the PostgreSQL URL: expected `hostaddr` of one host",
        ),
        ("postgres://u:12@secret@db/chat", "cannot read the PostgreSQL URL: expected each `@` in "),
        ("postgres://u:12?secret@db/chat", "cannot read the PostgreSQL URL: expected after `?` only "),
        (
            "postgres://db/chat?password=a&bsecret=1",
            "cannot read the PostgreSQL URL: expected no settings but those of ",
        ),
        ("postgres://db/chat?password=a&&bsecret=1", "cannot read the PostgreSQL URL: expected after `?` only "),
        ("postgres://db/chat?port=secret", "cannot read the PostgreSQL URL: "),
        (
            "mysql://u:secret@db:port/chat",
            "cannot read the MySQL URL: expected mysql://user:password@host:port/database",
        ),
        ("mysql://u:12?secret@db/chat", "cannot read the MySQL URL: expected after `?` only "),
        ("mysql://u:12/secret@db/chat", "cannot read the MySQL URL: expected no `#`, and `/`, "),
        ("mysql://u:12#secret@db/chat", "cannot read the MySQL URL: expected no `#`, and `/`, "),
        ("mysql://db/chat?pool_min=secret", "cannot read the MySQL URL: expected another value of `pool_min`"),
        ("mysql://db/chat?a=b&secret=1", "cannot read the MySQL URL: expected no settings but those of "),
        ("mariadb://u:secret@db", "cannot read the MySQL URL: expected a database, as in mysql://host/database"),
        ("mysql://u:secret@db", "cannot read the MySQL URL: expected a database, as in mysql://host/database"),
        ("redis://u:secret@db:port", "cannot read the Redis URL: expected redis://user:password@host:port/database, "),
        (
            "redis://db?protocol=secret",
            "cannot read the Redis URL: expected redis://user:password@host:port/database, ",
        ),
        ("redis://u:12?secret@db", "cannot read the Redis URL: expected after `?` only "),
        ("redis://u:12/secret@db", "cannot read the Redis URL: expected no `#`, and `/`, "),
        ("etcd://u:secret@db/chat", "cannot read the etcd URL: expected no path"),
        ("etcd://u:secret@db:port", "cannot read the etcd URL: expected host:port"),
        ("etcd://u:secret@db:99999", "cannot read the etcd URL: expected host:port"),
        ("etcd://u:secret@::1", "cannot read the etcd URL: expected host:port"),
        ("etcd://u:secret@[db]:1", "cannot read the etcd URL: expected host:port"),
        ("etcd://u:secret@[::1", "cannot read the etcd URL: expected host:port"),
        ("etcd://u:secret@db]", "cannot read the etcd URL: expected host:port"),
        ("etcd://u:secret@", "cannot read the etcd URL: expected a host"),
        ("etcd://u:secret%ff@db", "cannot read the etcd URL: expected a user and a password in UTF-8"),
        ("zookeeper://:secret@db", "cannot read the ZooKeeper URL: expected a user before @"),
        (
            "zookeeper:secret@db",
            "cannot read the ZooKeeper URL: expected zookeeper://host:port or zookeepers://host:port",
        ),
    ] {
        let error = open_url(url, DEFAULT_TIME_LIMIT).err().unwrap();
        assert!(error.is_url(), "{url}: {error}");
        let error = chain(&error);
        assert!(error.starts_with(expected) && !error.contains("secret"), "{url}: {error}");
    }
}

#[test]
fn a_server_that_does_not_answer_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let url = format!("postgres://u:secret@{address}/chat");
    let error = open_url(&url, Duration::from_millis(50)).unwrap().read("a").unwrap_err();
    assert_eq!(chain(&error), format!("cannot connect to PostgreSQL at {address}: no answer within 50ms"));
    assert!(!error.is_url());
    let error = chain(&open_url("etcd://127.0.0.1:1", DEFAULT_TIME_LIMIT).unwrap().read("a").unwrap_err());
    assert!(error.starts_with("cannot connect to etcd at 127.0.0.1:1: "), "{error}");
}

/// An unknown setting may ask for TLS. Its name may be a part of a password.
#[test]
fn an_unknown_setting_is_refused_and_not_repeated() {
    let mysql = "expected no settings but those of the crate `mysql_async`, such as `require_ssl` and `ssl-ca`";
    for (url, expected) in [
        (
            "postgres://u:secret@db/chat?sslpassword=secret",
            "of the crate `tokio-postgres`, sslmode, sslrootcert, sslcert, sslkey",
        ),
        ("mysql://u:secret@db/chat?ssl-mode=REQUIRED", mysql),
        ("mysql://u:secret@db/chat?ssl_ca=ca.pem", mysql),
        ("zookeeperz://u:secret@db", "expected a URL that begins with"),
    ] {
        let error = chain(&open_url(url, DEFAULT_TIME_LIMIT).err().unwrap());
        assert!(
            error.contains(expected) && !error.contains("secret") && !error.contains("sslpassword"),
            "{url}: {error}"
        );
    }
}

#[cfg(feature = "tls")]
#[test]
fn a_setting_of_tls_that_is_left_out_is_an_error() {
    for (url, expected) in [
        ("mysql://u@db/chat?require_ssl=true&built_in_roots=true", "and no `built_in_roots`"),
        (
            "mysql://u@db/chat?require_ssl=true&verify_ca=false",
            "`verify_ca=true`, because the certificate is always checked",
        ),
        (
            "mysql://u@db/chat?verify_identity=false",
            "`verify_identity=true`, because the certificate is always checked",
        ),
        ("rediss://:secret@db/0?cacert=/ca.pem&note=ab", "no settings but `protocol`, `cacert`, `cert` and `key`"),
        ("rediss://:secret@db/0?cacert=/ca.pem&protocol=a?b", "as %3F, %40 and %26"),
    ] {
        let error = chain(&open_url(url, DEFAULT_TIME_LIMIT).err().unwrap());
        assert!(error.ends_with(expected), "{url}: {error}");
    }
}

/// Text that only the client understands, beside the words for TLS.
#[test]
fn each_client_takes_urls_of_its_store_only() {
    use imid_lease::register::{MysqlRegister, PostgresRegister, RedisRegister};
    let dsn = "host=db user=u password=secret sslmode=require";
    let errors = [
        PostgresRegister::from_url(dsn).err(),
        PostgresRegister::from_url(" postgres://u:secret@db/chat?sslmode=require").err(),
        MysqlRegister::from_url("host=db password=secret").err(),
        RedisRegister::from_url("REDISS://:secret@db/0").err(),
        RedisRegister::from_url("unix:///run/redis?pass=secret").err(),
    ];
    for error in errors {
        let error = chain(&error.expect("the text is refused"));
        assert!(error.contains(" URL: expected ") && !error.contains("secret"), "{error}");
    }
}

#[test]
fn each_client_reads_tls_by_itself() {
    let same =
        |error: Option<imid_lease::RegisterError>| assert_eq!(error.is_none(), cfg!(feature = "tls"), "{error:?}");
    same(imid_lease::register::PostgresRegister::from_url("postgres://db/chat?sslmode=require").err());
    same(imid_lease::register::MysqlRegister::from_url("mysql://db/chat?require_ssl=true").err());
    same(imid_lease::register::RedisRegister::from_url("rediss://db").err());
    same(imid_lease::register::EtcdRegister::from_url("https://db:2379").err());
    same(imid_lease::register::ZookeeperRegister::from_url("zookeepers://db").err());
}

#[test]
fn what_debug_shows_of_an_adapter_has_the_place_and_not_the_password() {
    use imid_lease::register::{EtcdRegister, MysqlRegister, PostgresRegister, RedisRegister, ZookeeperRegister};
    let postgres = "postgres://user:secret@db:5432/chat";
    let mysql = "mysql://user:secret@db:3306/chat";
    let shown = [
        format!("{:?}", PostgresRegister::from_url(postgres).unwrap()),
        format!("{:?}", MysqlRegister::from_url(mysql).unwrap()),
        format!("{:?}", RedisRegister::from_url("redis://user:secret@db:6379/0").unwrap()),
        format!("{:?}", EtcdRegister::from_url("etcd://user:secret@db:2379").unwrap()),
        format!("{:?}", ZookeeperRegister::from_url("zookeeper://user:secret@db:2181/chat").unwrap()),
    ];
    for shown in shown {
        assert!(shown.contains("db:") && !shown.contains("secret"), "{shown}");
    }
}

const LONG: Duration = Duration::from_secs(60);

/// Listens on a free port.
fn listen() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (listener, address)
}

/// Answers each connection as a PostgreSQL server without TLS that knows no user.
fn refuse_as_postgres(listener: TcpListener) {
    thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            let mut request = [0; 1024];
            if client.read(&mut request).unwrap() == 8 {
                client.write_all(b"N").unwrap();
                let _ = client.read(&mut request).unwrap();
            }
            let fields = b"SFATAL\0C28P01\0Mnobody knows you\0\0";
            client.write_all(b"E").unwrap();
            client.write_all(&u32::try_from(fields.len() + 4).unwrap().to_be_bytes()).unwrap();
            client.write_all(fields).unwrap();
        }
    });
}

#[test]
fn a_host_that_accepts_and_hangs_leaves_time_for_the_others() {
    let ((_hanging, first), (listener, second)) = (listen(), listen());
    refuse_as_postgres(listener);
    let url = format!("postgres://u:secret@{first},{second}/chat");
    let error = open_url(&url, 6 * Duration::from_secs(1)).unwrap().read("a").unwrap_err();
    assert!(error.is_permanent() && chain(&error).ends_with("nobody knows you"), "{error}");
    let url = format!("postgres://u:secret@{second},{first}/chat");
    let error = chain(&open_url(&url, 3 * Duration::from_secs(1)).unwrap().read("a").unwrap_err());
    assert!(error.ends_with(&format!("no answer from {first} within 1s")), "{error}");
}

#[test]
fn an_address_without_a_name_is_enough() {
    let (listener, address) = listen();
    refuse_as_postgres(listener);
    let port = address.rsplit_once(':').unwrap().1;
    let url = format!("postgres://u:secret@/chat?hostaddr=127.0.0.1&port={port}");
    let error = chain(&open_url(&url, LONG).unwrap().read("a").unwrap_err());
    assert!(error.ends_with("nobody knows you"), "{error}");
}

#[test]
fn a_function_of_the_password_that_panics_or_hangs_is_an_error() {
    use imid_lease::register::{EtcdRegister, PostgresRegister, Register};
    let etcd = || EtcdRegister::from_url("etcd://u@127.0.0.1:1").unwrap();
    let postgres = || PostgresRegister::from_url("postgres://u@127.0.0.1:1/chat").unwrap();
    let panicking: [Box<dyn Register>; 2] = [
        Box::new(etcd().time_limit(LONG).password_with(|| panic!("no password"))),
        Box::new(postgres().time_limit(LONG).password_with(|| panic!("no password"))),
    ];
    for mut register in panicking {
        let error = chain(&register.read("a").unwrap_err());
        assert!(error.ends_with("the function that makes the password has panicked"), "{error}");
    }
    let short = Duration::from_millis(50);
    let hanging: [Box<dyn Register>; 2] = [
        Box::new(etcd().time_limit(short).password_with(|| {
            loop {
                thread::park();
            }
        })),
        Box::new(postgres().time_limit(short).password_with(|| {
            loop {
                thread::park();
            }
        })),
    ];
    for mut register in hanging {
        let error = chain(&register.read("a").unwrap_err());
        assert!(error.contains("has not ended within ") || error.ends_with("no answer within 50ms"), "{error}");
    }
}

#[test]
fn a_password_without_a_user_and_a_user_without_a_password_are_errors() {
    use imid_lease::register::{EtcdRegister, Register, ZookeeperRegister};
    let password = || Ok("secret".to_owned());
    let mut registers: [(Box<dyn Register>, &str); 4] = [
        (Box::new(EtcdRegister::from_url("etcd://h").unwrap().password_with(password)), "as in etcd://user@host"),
        (
            Box::new(ZookeeperRegister::from_url("zookeeper://h").unwrap().password_with(password)),
            "as in zookeeper://user@host",
        ),
        (
            open_url("etcd://secret@h", DEFAULT_TIME_LIMIT).unwrap(),
            "as in etcd://user:password@host, or `password_with`",
        ),
        (
            open_url("zookeeper://secret@h", DEFAULT_TIME_LIMIT).unwrap(),
            "as in zookeeper://user:password@host, or `password_with`",
        ),
    ];
    for (register, expected) in &mut registers {
        let error = register.read("a").unwrap_err();
        assert!(error.is_permanent() && chain(&error).ends_with(*expected), "{error}");
        assert!(!chain(&error).contains("secret"), "{error}");
    }
}

/// Reads from a member of etcd that gives these answers, and says why it cannot.
fn etcd_error(answers: Vec<Answer>) -> String {
    let url = format!("etcd://{}", member(answers, String::new));
    chain(&open_url(&url, LONG).unwrap().read("a").unwrap_err())
}

#[test]
fn a_reply_that_etcd_does_not_send_is_an_error() {
    let body = |bytes: &[u8]| Answer { body: bytes.to_vec(), ..Answer::empty() };
    for (answer, words) in [
        (Answer { http_status: "307", ..Answer::empty() }, "expected gRPC, found HTTP status 307 Temporary Redirect"),
        (Answer { end: &[], ..Answer::empty() }, "expected a status of gRPC, found none"),
        (
            Answer { end: &[("grpc-status", "14"), ("grpc-message", "etcdserver: no%20leader")], ..Answer::empty() },
            "etcdserver: no leader (gRPC status 14)",
        ),
        (body(b""), "expected a message of gRPC, found 0 bytes"),
        (body(&[0, 0, 0, 0]), "expected a message of gRPC, found 4 bytes"),
        // One that is compressed, and one that is cut off.
        (body(&[1, 0, 0, 0, 0]), "expected a message of gRPC, found 5 bytes"),
        (body(&[0, 0, 0, 0, 1]), "expected a message of 1 bytes, found 0"),
        // An empty message, and one with a header that says nothing: no etcd sends them.
        (body(&[0; 5]), "expected a reply with the revision of etcd, found none"),
        (body(&[0, 0, 0, 0, 2, 0x0a, 0]), "expected a reply with the revision of etcd, found none"),
        // A pair whose value is not text.
        (body(&[0, 0, 0, 0, 8, 0x12, 6, 0x0a, 1, b'k', 0x2a, 1, 0xff]), "data is not UTF-8 encoded"),
    ] {
        let error = etcd_error(vec![answer]);
        assert!(error.starts_with("cannot read \"a\" in etcd at 127.0.0.1:"), "{error}");
        assert!(error.ends_with(words), "{error}");
    }
}

#[test]
fn a_token_that_has_ended_is_replaced_within_the_time_of_the_call() {
    // The field `token` of the reply to a login.
    let token = || Answer { body: vec![0, 0, 0, 0, 3, 0x12, 1, b't'], ..Answer::empty() };
    let after = |ms| Duration::from_millis(ms);
    let ended = |ms| Answer { end: &[("grpc-status", "16")], after: after(ms), ..Answer::empty() };
    for (wait_ms, is_in_time) in [(0, true), (1_500, false)] {
        let answers = vec![
            token(),
            Answer::empty(),
            ended(wait_ms),
            Answer { after: after(wait_ms), ..token() },
            Answer::empty(),
        ];
        let url = format!("etcd://u:secret@{}", member(answers, String::new));
        let mut register = open_url(&url, Duration::from_secs(2)).unwrap();
        assert_eq!(register.read("a").unwrap(), None);
        // Each of them has 2 s, and both take 3 s.
        assert_eq!(register.read("a").is_ok(), is_in_time);
    }
    // A change of a user ends all tokens with another status. A write, such as a release, is sent again after the login.
    let old = "etcdserver: revision of auth store is old";
    for (code, message) in [("16", "etcdserver: invalid auth token"), ("3", old)] {
        let end = Box::leak(Box::new([("grpc-status", code), ("grpc-message", message)]));
        let written = Answer { body: vec![0, 0, 0, 0, 6, 0x0a, 2, 0x18, 1, 0x10, 1], ..Answer::empty() };
        let answers = vec![token(), Answer::empty(), Answer { end, ..Answer::empty() }, token(), written];
        let url = format!("etcd://u:secret@{}", member(answers, String::new));
        let mut register = open_url(&url, LONG).unwrap();
        assert_eq!(register.read("a").unwrap(), None);
        assert!(register.compare_and_set("a", None, "x").unwrap(), "{message}");
    }
    // A new connection has the token of the last one.
    let lost = Answer { end: &[("grpc-status", "14")], ..Answer::empty() };
    let answers = vec![token(), lost, Answer::empty(), Answer { end: &[("grpc-status", "3")], ..Answer::empty() }];
    let url = format!("etcd://u:secret@{}", member(answers, String::new));
    let mut register = open_url(&url, LONG).unwrap();
    register.read("a").unwrap_err();
    assert_eq!(register.read("a").unwrap(), None, "it does not log in again");
    // A wrong password, and a user that is missing.
    for user in ["u:secret@", ""] {
        let refused = vec![Answer { end: &[("grpc-status", "3"), ("grpc-message", "wrong")], ..Answer::empty() }];
        let url = format!("etcd://{user}{}", member(refused, String::new));
        let error = open_url(&url, LONG).unwrap().read("a").unwrap_err();
        assert!(error.is_permanent() && chain(&error).ends_with(": wrong (gRPC status 3)"), "{error:#}");
    }
    // Authentication is disabled.
    let disabled = vec![Answer { end: &[("grpc-status", "9")], ..Answer::empty() }, Answer::empty()];
    let url = format!("etcd://u:secret@{}", member(disabled, String::new));
    assert_eq!(open_url(&url, LONG).unwrap().read("a").unwrap(), None);
}

/// A process that has no file descriptor left cannot open the connection on which it reads the time, and needs the one that it has.
#[test]
fn a_time_of_etcd_that_cannot_be_read_does_not_cost_the_connection() {
    let no_date: fn() -> String = String::new;
    let silence: fn() -> String = || {
        thread::sleep(LONG);
        String::new()
    };
    for (date, limit) in [(no_date, LONG), (silence, Duration::from_secs(2))] {
        let (address, connections) = counting_member(vec![Answer::empty()], date);
        let url = format!("etcd://{address}");
        let mut register = open_url(&url, limit).unwrap();
        assert_eq!(register.read("a").unwrap(), None);
        let error = register.now_ms().unwrap_err();
        assert!(error.to_string().starts_with("cannot read the time in etcd at 127.0.0.1:"), "{error}");
        assert_eq!(register.read("a").unwrap(), None);
        // The first one, and that of the time.
        assert_eq!(connections.load(Ordering::Relaxed), 2);
    }
}

/// With all features there are two providers, and then the process says which.
#[cfg(feature = "tls-ring")]
fn choose_provider() {
    // An error if the other test was faster.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// They may be replaced one after another.
#[cfg(feature = "tls-ring")]
#[test]
fn files_of_tls_that_are_missing_may_come() {
    choose_provider();
    for url in [
        "postgres://u@127.0.0.1:1/chat?sslmode=verify-full&sslrootcert=/nothing/ca.pem",
        "mysql://u@127.0.0.1:1/chat?require_ssl=true&ssl-ca=/nothing/ca.pem",
        "rediss://127.0.0.1:1?cacert=/nothing/ca.pem",
        "https://127.0.0.1:1?cacert=/nothing/ca.pem",
        "zookeepers://127.0.0.1:1?cacert=/nothing/ca.pem",
    ] {
        let error = open_url(url, LONG).unwrap().read("a").unwrap_err();
        assert!(!error.is_permanent() && chain(&error).contains("cannot read /nothing/ca.pem: "), "{url}: {error}");
    }
}

/// A file of a network can hang, as the reader of a pipe does.
#[cfg(all(feature = "tls-ring", unix))]
#[test]
fn files_of_tls_that_hang_take_no_longer_than_the_call() {
    choose_provider();
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("ca.pem");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let pipe = pipe.display();
    for url in [
        format!("postgres://u@127.0.0.1:1/chat?sslmode=verify-full&sslrootcert={pipe}"),
        format!("mysql://u@127.0.0.1:1/chat?require_ssl=true&ssl-ca={pipe}"),
        format!("rediss://127.0.0.1:1?cacert={pipe}"),
        format!("https://127.0.0.1:1?cacert={pipe}"),
        format!("zookeepers://127.0.0.1:1?cacert={pipe}"),
    ] {
        let error = chain(&open_url(&url, Duration::from_millis(50)).unwrap().read("a").unwrap_err());
        assert!(error.contains("no answer within 50ms") || error.contains("has not ended within "), "{url}: {error}");
    }
}
