//! A URL that asks for TLS is refused, so that a password never goes to the network in plain text by mistake.
#![cfg(all(feature = "etcd", feature = "mysql", feature = "postgres", feature = "redis", feature = "zookeeper"))]

use imid::snowflake::Preset;
use imid_lease::register::open_url;
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
        ("valkeys://:secret@db/0", "Redis", "valkeys://"),
        ("etcds://u:secret@db", "etcd", "etcds://"),
    ] {
        let error = open_url(url).err().unwrap().to_string();
        let expected = format!(
            "cannot read the {store} URL: `{part}` asks for TLS, which is not supported; use a tunnel or a local proxy"
        );
        assert_eq!(error, expected);
    }
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
    let refused = |error: Option<imid_lease::RegisterError>| {
        let error = error.expect("it asks for TLS").to_string();
        assert!(error.ends_with(" asks for TLS, which is not supported; use a tunnel or a local proxy"), "{error}");
    };
    refused(imid_lease::register::PostgresRegister::new("postgres://db/chat?sslmode=require").err());
    refused(imid_lease::register::MysqlRegister::new("mysql://db/chat?require_ssl=true").err());
    refused(imid_lease::register::RedisRegister::new("rediss://db").err());
    refused(imid_lease::register::EtcdRegister::new("https://db:2379").err());
    refused(imid_lease::register::EtcdRegister::new("etcds://db:2379").err());
    refused(imid_lease::register::ZookeeperRegister::new("zookeepers://db").err());
    refused(PostgresTable::new("postgres://db/shop?sslmode=require").err());
    refused(MysqlTable::new("mysql://db/shop?require_ssl=true").err());
    refused(RedisQueue::open("rediss://db", "worker-ids", RedisQueueOptions::new(Preset::LEAF)).err());
}
