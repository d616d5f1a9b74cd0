//! URLs that are refused, and servers that do not answer. A URL that asks for TLS is refused, so that a password never
//! goes to the network in plain text by mistake.
#![cfg(all(feature = "etcd", feature = "mysql", feature = "postgres", feature = "redis", feature = "zookeeper"))]

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use imid::snowflake::Preset;
use imid_lease::register::{open_url, open_url_with_time_limit};
use imid_lease::segment::leaf::{MysqlTable, PostgresTable};
use imid_lease::{RedisQueue, RedisQueueOptions};

#[test]
fn a_url_that_asks_for_tls_is_refused_and_the_part_that_asks_is_named() {
    for (url, store, part) in [
        ("postgres://u:secret@db/chat?sslmode=require", "PostgreSQL", "sslmode=require"),
        ("postgres://u:secret@db/chat?sslnegotiation=direct", "PostgreSQL", "sslnegotiation=direct"),
        ("mysql://u:secret@db/chat?require_ssl=true", "MySQL", "require_ssl=true"),
        ("mysql://u:secret@db/chat?require_ssl=true&verify_ca=false", "MySQL", "require_ssl=true"),
        ("rediss://:secret@db/0", "Redis", "rediss://"),
        ("mysql://u:secret@db/chat?verify_ca=true", "MySQL", "verify_ca"),
        ("mysql://u:secret@db/chat?verify_identity=true", "MySQL", "verify_identity"),
        ("valkeys://:secret@db/0", "Redis", "valkeys://"),
        ("redis://:secret@db/0?ssl=true", "Redis", "ssl"),
        ("redis://:secret@db/0?protocol=resp3&tls=true", "Redis", "tls"),
        ("etcds://u:secret@db", "etcd", "etcds://"),
    ] {
        let error = open_url(url).err().unwrap();
        let expected = format!(
            "cannot read the {store} URL: `{part}` asks for TLS, which is not supported; use a tunnel or a local proxy"
        );
        assert_eq!((error.to_string(), error.is_url()), (expected, true));
    }
}

#[test]
fn a_url_that_cannot_be_read_says_what_was_expected_and_not_the_password() {
    for (url, expected) in [
        ("db/chat", "expected a URL that begins with postgres://, mysql://, redis://, etcd://, zookeeper:// or file:"),
        ("file:", "expected a path after file:"),
        ("postgres://u:secret@db:port/chat", "cannot read the PostgreSQL URL: "),
        ("postgres://u:secret@/chat", "cannot read the PostgreSQL URL: expected a host"),
        ("mysql://u:secret@db:port/chat", "cannot read the MySQL URL: "),
        ("mariadb://u:secret@db", "cannot read the MySQL URL: expected a database, as in mysql://host/database"),
        ("mysql://u:secret@db", "cannot read the MySQL URL: expected a database, as in mysql://host/database"),
        ("redis://u:secret@db:port", "cannot read the Redis URL: "),
        ("etcd://u:secret@db/chat", "cannot read the etcd URL: expected no path"),
        ("etcd://u:secret@db:port", "cannot read the etcd URL: expected host:port"),
        ("etcd://u:secret@db?tls=true", "cannot read the etcd URL: expected no `?` and no `#`"),
        ("zookeeper://u:secret@db/chat?ssl=true", "cannot read the ZooKeeper URL: expected no `?` and no `#`"),
        ("zookeeper://secret@db", "cannot read the ZooKeeper URL: expected user:password before @"),
    ] {
        let error = open_url(url).err().unwrap();
        assert!(error.is_url(), "{url}: {error}");
        let error = error.to_string();
        assert!(error.starts_with(expected) && !error.contains("secret"), "{url}: {error}");
    }
}

#[test]
fn a_server_that_does_not_answer_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let url = format!("postgres://u:secret@{address}/chat");
    let error = open_url_with_time_limit(&url, Duration::from_millis(50)).unwrap().read("a").unwrap_err();
    assert_eq!(error.to_string(), format!("cannot connect to PostgreSQL at {address}: no answer within 50ms"));
    assert!(!error.is_url());
    let error = open_url("etcd://127.0.0.1:1").unwrap().read("a").unwrap_err().to_string();
    assert!(error.starts_with("cannot read \"a\" in etcd at 127.0.0.1:1: "), "{error}");
}

/// Something else than etcd listens there.
#[test]
fn a_value_of_etcd_that_is_not_text_is_an_error() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = thread::spawn(move || {
        let mut client = listener.accept().unwrap().0;
        let _ = client.read(&mut [0; 4096]).unwrap();
        let body = r#"{"kvs":[{"key":"/w==","value":"/w=="}]}"#;
        write!(client, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len()).unwrap();
        // Whoever closes a connection before the whole request has arrived resets it.
        let _ = client.read_to_end(&mut Vec::new());
    });
    let error = open_url(&format!("etcd://{address}")).unwrap().read("a").unwrap_err().to_string();
    server.join().unwrap();
    assert_eq!(error, "cannot read \"a\" in etcd: expected a key and a value of text, found other bytes");
}

/// What the clients themselves do not know is refused by them.
#[test]
fn an_unknown_setting_of_tls_is_refused_and_named() {
    for (url, part) in [
        ("postgres://u:secret@db/chat?sslmode=verify-full", "sslmode"),
        ("postgres://u:secret@db/chat?sslrootcert=ca.pem", "sslrootcert"),
        ("mysql://u:secret@db/chat?ssl-mode=REQUIRED", "ssl-mode"),
        ("mysql://u:secret@db/chat?ssl_ca=ca.pem", "ssl_ca"),
        ("https://u:secret@db:2379", "expected a URL that begins with"),
        ("zookeepers://u:secret@db", "expected a URL that begins with"),
    ] {
        let error = open_url(url).err().unwrap().to_string();
        assert!(error.contains(part) && !error.contains("secret"), "{url}: {error}");
    }
}

#[test]
fn each_adapter_refuses_tls_by_itself() {
    let refused_with = |error: &str| {
        assert!(error.ends_with(" asks for TLS, which is not supported; use a tunnel or a local proxy"), "{error}");
    };
    let refused = |error: Option<imid_lease::RegisterError>| refused_with(&error.expect("it asks for TLS").to_string());
    refused(imid_lease::register::PostgresRegister::from_url("postgres://db/chat?sslmode=require").err());
    refused(imid_lease::register::MysqlRegister::from_url("mysql://db/chat?require_ssl=true").err());
    refused(imid_lease::register::RedisRegister::from_url("rediss://db").err());
    refused(imid_lease::register::EtcdRegister::from_url("https://db:2379").err());
    refused(imid_lease::register::EtcdRegister::from_url("etcds://db:2379").err());
    refused(imid_lease::register::ZookeeperRegister::from_url("zookeepers://db").err());
    refused(PostgresTable::from_url("postgres://db/shop?sslmode=require").err());
    refused(MysqlTable::from_url("mysql://db/shop?require_ssl=true").err());
    let queue = RedisQueue::open("rediss://db", "worker-ids", RedisQueueOptions::new(Preset::LEAF)).unwrap_err();
    refused_with(&std::error::Error::source(&queue).expect("the error of the URL").to_string());
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
        format!("{:?}", PostgresTable::from_url(postgres).unwrap()),
        format!("{:?}", MysqlTable::from_url(mysql).unwrap()),
    ];
    for shown in shown {
        assert!(shown.contains("db:") && !shown.contains("secret"), "{shown}");
    }
}
