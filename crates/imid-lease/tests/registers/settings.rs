//! What depends on the settings of one store.

use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use imid_lease::register::{DEFAULT_TIME_LIMIT, open_url, open_url_read_only};
use imid_lease::{LaneOptions, LeasedGenerator, Register, RegisterError};

use crate::chain::chain;
use crate::proxy::Proxy;
use crate::store::{LONG, Store, fresh_key, server};

/// Runs a command of a store's own client, and returns its output.
fn client(store: &Store, statement: &str) -> String {
    let (host, port) = store.address().split_once(':').unwrap();
    let output = match store.name {
        "postgres" => Command::new("psql").args(["-X", "-A", "-t", &store.url, "-c", statement]).output(),
        "mysql" => Command::new("mariadb")
            .args(["--no-defaults", "-h", host, "-P", port, "-u", "imid", "-pimid-secret", "imid", "-e", statement])
            .output(),
        "redis" => Command::new("redis-cli")
            .args(["-h", host, "-p", port, "-a", "imid-secret", "--no-auth-warning"])
            .args(statement.split(' '))
            .output(),
        name => panic!("no client for {name}"),
    };
    let output = output.unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{statement}: {text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// Returns what a new connection promises.
fn promise(store: &Store) -> String {
    let mut register = store.open();
    register.now_ms().unwrap();
    register.promise().to_string()
}

/// Undoes a change of a setting, also after a failed assertion.
struct Undo<'a>(&'a Store, &'a [&'a str]);

impl Drop for Undo<'_> {
    fn drop(&mut self) {
        for statement in self.1 {
            client(self.0, statement);
        }
    }
}

pub(crate) fn postgres_synchronous_commit(store: &Store) {
    client(store, "ALTER ROLE imid SET synchronous_commit = off");
    let _undo = Undo(store, &["ALTER ROLE imid RESET synchronous_commit"]);
    assert_eq!(client(store, "SHOW synchronous_commit").trim(), "off");
    let (created, updated) = (fresh_key(), fresh_key());
    store.open().compare_and_set(&updated, None, "0").unwrap();
    // The server writes such commits 3 times 200 ms later at most. A kill in between loses them.
    for round in 0..5_u32 {
        let key = format!("{created}-{round}");
        let (seen, next) = (round.to_string(), (round + 1).to_string());
        let mut register = store.open();
        assert!(register.compare_and_set(&updated, Some(&seen), &next).unwrap());
        store.server("kill");
        store.server("start");
        let mut register = store.open();
        assert_eq!(register.read(&updated).unwrap(), Some(next));
        assert!(register.compare_and_set(&key, None, "1").unwrap());
        store.server("kill");
        store.server("start");
        assert_eq!(store.open().read(&key).unwrap().as_deref(), Some("1"));
    }
}

pub(crate) fn postgres_weak(store: &Store) {
    assert_eq!(promise(store), "strong");
    {
        client(store, "ALTER SYSTEM SET fsync = off");
        let _undo = Undo(store, &["ALTER SYSTEM RESET fsync", "SELECT pg_reload_conf()", "SELECT pg_sleep(0.5)"]);
        client(store, "SELECT pg_reload_conf()");
        thread::sleep(Duration::from_millis(500));
        assert_eq!(promise(store), "weak: fsync is off, so a crash can lose acknowledged writes");
    }
    {
        client(store, "ALTER TABLE imid_register SET UNLOGGED");
        let _undo = Undo(store, &["ALTER TABLE imid_register SET LOGGED"]);
        assert_eq!(promise(store), "weak: the table imid_register is unlogged, so a crash empties it");
    }
    assert_eq!(promise(store), "strong");
}

pub(crate) fn postgres_serializable(store: &Store) {
    client(store, "ALTER ROLE imid SET default_transaction_isolation = serializable");
    let _undo = Undo(store, &["ALTER ROLE imid RESET default_transaction_isolation"]);
    crate::laws::exactly_one_of_16_connections_creates_a_record(store);
    crate::laws::increments_by_16_connections_are_all_counted(store);
}

pub(crate) fn mysql_weak(store: &Store) {
    assert_eq!(promise(store), "strong");
    client(store, "SET GLOBAL innodb_flush_log_at_trx_commit = 2");
    let _undo = Undo(store, &["SET GLOBAL innodb_flush_log_at_trx_commit = 1"]);
    assert_eq!(
        promise(store),
        "weak: innodb_flush_log_at_trx_commit is not 1, so a crash can lose acknowledged writes"
    );
}

/// There is no replica, so a commit waits until somebody kills it or switches the waiting off. MariaDB answers success to both.
pub(crate) fn mysql_semi_sync(store: &Store) {
    let set = |value: &str| client(store, &format!("SET GLOBAL rpl_semi_sync_master_{value}"));
    let key = fresh_key();
    assert!(store.open().compare_and_set(&key, None, "1").unwrap());
    set("timeout = 1000000000");
    set("wait_no_slave = ON");
    let _undo = Undo(
        store,
        &["SET GLOBAL rpl_semi_sync_master_enabled = OFF", "SET GLOBAL rpl_semi_sync_master_timeout = DEFAULT"],
    );
    let unconfirmed = "the server has acknowledged a commit that no replica has confirmed";
    for (ends, words, kept) in [
        ("kill", unconfirmed, "2"),
        ("off and on", unconfirmed, "3"),
        ("off", "semi-synchronous replication was switched off while this process was connected", "4"),
    ] {
        set("enabled = ON");
        let proxy = Proxy::new(store.address());
        let mut register = open_url(&store.url_at(&proxy.address), LONG).unwrap();
        register.now_ms().unwrap();
        assert_eq!(register.promise().to_string(), "strong");
        let written = thread::scope(|scope| {
            let seen = register.read(&key).unwrap();
            let (register, key) = (&mut register, &key);
            let writes = scope.spawn(move || register.compare_and_set(key, seen.as_deref(), kept));
            let waits = "FROM information_schema.processlist WHERE state LIKE 'Waiting for semi-sync%'";
            let waiting = || client(store, &format!("SELECT id {waits}")).lines().nth(1).map(str::to_owned);
            let id = loop {
                assert!(!writes.is_finished(), "it does not wait for a replica");
                match waiting() {
                    Some(id) => break id,
                    None => thread::sleep(Duration::from_millis(20)),
                }
            };
            if ends == "kill" {
                client(store, &format!("KILL QUERY {id}"));
            } else {
                // It is on again when the answer arrives, or not.
                proxy.hold_replies(true);
                set("enabled = OFF");
                thread::sleep(Duration::from_millis(300));
                if ends == "off and on" {
                    set("enabled = ON");
                }
                proxy.hold_replies(false);
            }
            writes.join().unwrap()
        });
        let error = chain(&written.unwrap_err());
        assert!(error.contains(words), "{ends}: {error}");
        assert_eq!(register.promise().to_string().starts_with("weak: "), ends == "off", "{}", register.promise());
        assert_eq!(register.read(&key).unwrap().as_deref(), Some(kept), "it was written here, and only here");
    }
    let mut register = store.open();
    assert!(register.compare_and_set(&key, Some("4"), "5").unwrap(), "a server without replicas is used");
    assert_eq!(register.promise().to_string(), "strong");
}

pub(crate) fn mysql_table(store: &Store) {
    let error = |create: &str| {
        client(store, &format!("CREATE DATABASE other; CREATE TABLE other.imid_register {create}"));
        let _undo = Undo(store, &["DROP DATABASE other"]);
        let url = format!("{}/other", store.url.strip_suffix("/imid").unwrap());
        chain(&open_url(&url, DEFAULT_TIME_LIMIT).unwrap().read("a").unwrap_err())
    };
    let place = format!("cannot connect to MySQL at {}", store.address());
    assert_eq!(
        error("(name varchar(128) PRIMARY KEY, value varbinary(1024) NOT NULL) ENGINE = InnoDB"),
        format!("{place}: expected varbinary in the table imid_register, found varchar(128)")
    );
    assert_eq!(
        error("(name varbinary(128) PRIMARY KEY, value varbinary(60) NOT NULL) ENGINE = InnoDB"),
        format!("{place}: expected varbinary(1024) in the table imid_register, found varbinary(60)")
    );
    for columns in [
        "name varbinary(128) NOT NULL, value varbinary(1024) NOT NULL, KEY (name)",
        "name varbinary(128) NOT NULL, value varbinary(1024) NOT NULL, PRIMARY KEY (name, value)",
        "name varbinary(128) NOT NULL, value varbinary(1024) NOT NULL, UNIQUE (name(5))",
    ] {
        assert_eq!(
            error(&format!("({columns}) ENGINE = InnoDB")),
            format!("{place}: expected a primary key of the column name in the table imid_register, found none")
        );
    }
    assert_eq!(
        error("(name varbinary(128) PRIMARY KEY, value varbinary(1024) NOT NULL) ENGINE = MyISAM"),
        format!("{place}: expected the engine InnoDB in the table imid_register, found MyISAM")
    );
}

pub(crate) fn postgres_table(store: &Store) {
    let read = |columns: &str| {
        client(store, &format!("CREATE SCHEMA other CREATE TABLE other.imid_register ({columns})"));
        let _undo = Undo(store, &["DROP SCHEMA other CASCADE"]);
        let url = format!("{}?options=-csearch_path%3Dother", store.url);
        open_url(&url, DEFAULT_TIME_LIMIT).unwrap().read("a").map_err(|error| chain(&error))
    };
    let place = format!("cannot connect to PostgreSQL at {}", store.address());
    assert_eq!(
        read(r#"key text COLLATE "C" NOT NULL, value text NOT NULL"#).unwrap_err(),
        format!("{place}: expected a primary key in the table imid_register, found none")
    );
    assert_eq!(
        read(r#"key text COLLATE "C" PRIMARY KEY, value varchar(60) NOT NULL"#).unwrap_err(),
        format!(
            "{place}: expected 128 characters in the column key and 1024 in value of the table imid_register, found value \
             character varying(60)"
        )
    );
    assert_eq!(read(r#"key varchar(128) COLLATE "C" PRIMARY KEY, value varchar(1024) NOT NULL"#), Ok(None));
}

pub(crate) fn mysql_read_only(store: &Store) {
    // The user may write nevertheless.
    let mut register = store.open();
    register.now_ms().unwrap();
    client(store, "SET GLOBAL read_only = 1");
    let _undo = Undo(store, &["SET GLOBAL read_only = 0"]);
    for error in [register.now_ms().unwrap_err(), register.read("a").unwrap_err(), store.open().read("a").unwrap_err()]
    {
        let error = chain(&error);
        assert!(error.ends_with("expected a server that takes writes, found one with read_only"), "{error}");
    }
}

pub(crate) fn mysql_bytes(store: &Store) {
    let key = fresh_key();
    client(store, &format!("INSERT INTO imid_register VALUES ('{key}', x'ff')"));
    let delete = format!("DELETE FROM imid_register WHERE name = '{key}'");
    let _undo = Undo(store, &[&delete]);
    let mut register = store.open();
    for error in [register.read(&key).unwrap_err(), register.list(&key).unwrap_err()] {
        assert!(chain(&error).contains("Couldn't convert the value"), "{error:#}");
    }
}

/// A member may send a mebibyte before the client has read it.
pub(crate) fn etcd_long_list(store: &Store) {
    const COUNT: usize = 1_100;
    let (prefix, value, mut register) = (format!("{}/", fresh_key()), "x".repeat(1_024), store.open());
    for number in 0..COUNT {
        assert!(register.compare_and_set(&format!("{prefix}{number}"), None, &value).unwrap());
    }
    let mut register = store.open_with_default_limit();
    for _ in 0..3 {
        assert_eq!(register.list(&prefix).unwrap().len(), COUNT);
    }
}

pub(crate) fn redis_weak(store: &Store) {
    assert!(promise(store).contains("the loss cannot be noticed"));
}

pub(crate) fn name(store: &Store) {
    let names = || match store.name {
        "postgres" => client(store, "SELECT application_name FROM pg_stat_activity"),
        "mysql" => client(
            store,
            "SELECT attr_value FROM performance_schema.session_connect_attrs WHERE attr_name = 'program_name'",
        ),
        _ => client(store, "CLIENT LIST").replace(' ', "\n").replace("\nname=", "\n"),
    };
    let has = |name: &str| names().lines().any(|found| found == name);
    let lease = |register: Box<dyn Register>, holder: &str| {
        let options = LaneOptions::new().create_missing().space(fresh_key().replace('/', "-")).holder(holder);
        let ids = LeasedGenerator::open(register, options).unwrap();
        ids.wait_until_open(LONG).unwrap();
        ids
    };
    let _third = lease(store.open(), "named-3");
    assert!(has("imid-lease/named-3"), "{}", names());
    let mut nameless = store.open();
    nameless.read("a").unwrap();
    assert!(has("imid-lease"), "{}", names());
    if store.name == "postgres" {
        let of_url = open_url(&format!("{}?application_name=named-5", store.url), LONG).unwrap();
        let _of_url = lease(of_url, "named-6");
        assert!(has("named-5") && !has("imid-lease/named-6"), "{}", names());
        let _long = lease(store.open(), &"h".repeat(64));
        assert!(has(&format!("imid-lease/{}", "h".repeat(52))), "{}", names());
    }
}

pub(crate) fn redis_replica(store: &Store) {
    // Port 9 is the discard service. Nothing needs to answer there.
    client(store, "REPLICAOF 127.0.0.1 9");
    let _undo = Undo(store, &["REPLICAOF NO ONE"]);
    let error = chain(&store.open().read("a").unwrap_err());
    assert!(error.ends_with("expected a server that takes writes, found a replica"), "{error}");
}

/// Nobody is the synchronous standby, so a commit waits until somebody cancels it. Then PostgreSQL answers success, and
/// warns that the standby may not have it.
pub(crate) fn postgres_warning(store: &Store) {
    let (mut register, key) = (store.open(), fresh_key());
    assert!(register.compare_and_set(&key, None, "1").unwrap());
    name_standbys(store, "nobody");
    let _undo = Undo(store, UNNAME);
    let written = write_and_wait(store, &mut *register, &key, || {
        client(store, &format!("SELECT pg_cancel_backend(pid) {WAITS}"));
    });
    let error = chain(&written.unwrap_err());
    let words = "the server answered with a warning: canceling wait for synchronous replication due to user request";
    assert!(error.ends_with(words), "{error}");
    assert_eq!(register.read(&key).unwrap().as_deref(), Some("2"), "it was written here, and perhaps only here");
}

fn name_standbys(store: &Store, names: &str) {
    client(store, &format!("ALTER SYSTEM SET synchronous_standby_names = '{names}'"));
    client(store, "SELECT pg_reload_conf()");
    thread::sleep(Duration::from_millis(500));
}

const UNNAME: &[&str] =
    &["ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()", "SELECT pg_sleep(0.5)"];

/// The commits of registers that wait for a standby.
const WAITS: &str = "FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND application_name = 'imid-lease'";

/// Writes a record while nobody is the synchronous standby. Calls `meanwhile` once the commit waits.
fn write_and_wait(
    store: &Store,
    register: &mut dyn Register,
    key: &str,
    meanwhile: impl FnOnce(),
) -> Result<bool, RegisterError> {
    thread::scope(|scope| {
        let writes = scope.spawn(|| register.compare_and_set(key, Some("1"), "2"));
        while client(store, &format!("SELECT count(*) {WAITS}")).trim() != "1" {
            assert!(!writes.is_finished(), "it does not wait for a standby");
            thread::sleep(Duration::from_millis(20));
        }
        meanwhile();
        writes.join().unwrap()
    })
}

/// Somebody who empties the setting lets the commits that wait succeed, and PostgreSQL does not warn.
pub(crate) fn postgres_emptied(store: &Store) {
    let key = fresh_key();
    assert!(store.open().compare_and_set(&key, None, "1").unwrap());
    name_standbys(store, "nobody");
    let _undo = Undo(store, UNNAME);
    let mut register = store.open();
    register.now_ms().unwrap();
    assert_eq!(register.promise().to_string(), "strong");
    let written = write_and_wait(store, &mut *register, &key, || name_standbys(store, ""));
    let words = "synchronous_standby_names was emptied while this process was connected";
    let error = chain(&written.unwrap_err());
    assert!(error.contains(words), "{error}");
    assert!(register.promise().to_string().starts_with(&format!("weak: {words}")), "{}", register.promise());
    assert_eq!(register.read(&key).unwrap().as_deref(), Some("2"), "it was written here, and perhaps only here");
    assert!(register.promise().to_string().starts_with("weak: "), "what was weak once stays weak");
    assert!(register.compare_and_set(&key, Some("2"), "3").unwrap(), "a server without standbys is used");
}

/// The same, and the setting is back before the answer arrives, so that it says nothing. The register was opened before the setting was
/// made for the first time.
pub(crate) fn postgres_emptied_for_a_moment(store: &Store) {
    let (proxy, key) = (Proxy::new(store.address()), fresh_key());
    let mut register = open_url(&store.url_at(&proxy.address), LONG).unwrap();
    assert!(register.compare_and_set(&key, None, "1").unwrap());
    name_standbys(store, "nobody");
    let _undo = Undo(store, UNNAME);
    let written = write_and_wait(store, &mut *register, &key, || {
        proxy.hold_replies(true);
        name_standbys(store, "");
        name_standbys(store, "nobody");
        proxy.hold_replies(false);
    });
    let error = chain(&written.unwrap_err());
    assert!(error.contains("the server read its settings during the write"), "{error}");
    assert_eq!(register.read(&key).unwrap().as_deref(), Some("2"), "it was written here, and perhaps only here");
}

/// A trigger keeps the old row, and the server reports that it was found and written.
pub(crate) fn trigger(store: &Store) {
    let (mut register, key) = (store.open(), fresh_key());
    assert!(register.compare_and_set(&key, None, "1").unwrap());
    let mut undo = "DROP TRIGGER keep";
    let begin = "CREATE TRIGGER keep BEFORE UPDATE ON imid_register FOR EACH ROW";
    if store.name == "postgres" {
        let function =
            "CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.value = OLD.value; RETURN NEW; END'";
        client(store, function);
        client(store, &format!("{begin} EXECUTE FUNCTION keep()"));
        undo = "DROP FUNCTION keep CASCADE";
    } else {
        client(store, &format!("{begin} SET NEW.value = OLD.value"));
    }
    let undo = [undo];
    let _undo = Undo(store, &undo);
    let error = chain(&register.compare_and_set(&key, Some("1"), "2").unwrap_err());
    assert!(error.ends_with("expected the server to keep \"2\", found that it kept \"1\""), "{error}");
    assert!(register.compare_and_set(&key, Some("1"), "1").unwrap(), "it is what was kept");
}

pub(crate) fn postgres_slot(store: &Store) {
    let mut register = store.open();
    register.now_ms().unwrap();
    assert_eq!(register.promise().to_string(), "strong");
    client(store, "SELECT pg_create_physical_replication_slot('imid_test')");
    let _undo = Undo(store, &["SELECT pg_drop_replication_slot('imid_test')"]);
    let weak = "weak: synchronous_standby_names is empty, so a failover to one of the 1 standbys can lose acknowledged \
                writes";
    // The same connection reads the settings again.
    register.now_ms().unwrap();
    assert_eq!(register.promise().to_string(), weak);
    client(store, "SELECT pg_drop_replication_slot('imid_test')");
    register.now_ms().unwrap();
    assert_eq!(register.promise().to_string(), weak, "what was weak once stays weak");
    client(store, "SELECT pg_create_physical_replication_slot('imid_test')");
}

/// A backup connects as a standby does, with a slot that ends with it.
pub(crate) fn postgres_backup(store: &Store) {
    let folder = tempfile::tempdir().unwrap();
    // Slow enough to be looked at.
    let backup = ["-X", "stream", "-c", "fast", "--no-sync", "-r", "1M", "-d", &store.url, "-D"];
    let mut backup = Command::new("pg_basebackup")
        .args(backup)
        .arg(folder.path().join("data"))
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let count = || client(store, "SELECT count(*) FROM pg_replication_slots WHERE temporary");
    while count().trim() != "1" {
        assert!(backup.try_wait().unwrap().is_none(), "the backup is over");
        thread::sleep(Duration::from_millis(20));
    }
    let senders = client(store, "SELECT count(*) FROM pg_stat_get_wal_senders()");
    let promise = promise(store);
    // The program that receives the log outlives one that is killed.
    client(store, "SELECT pg_terminate_backend(pid) FROM pg_stat_get_wal_senders()");
    backup.wait().unwrap();
    assert_eq!((senders.trim(), &*promise), ("2", "strong"));
}

/// Puts the data of the server back.
struct Restore<'a>(&'a Store);

impl Drop for Restore<'_> {
    fn drop(&mut self) {
        self.0.server("restore");
    }
}

/// The standby is asynchronous, so nobody knows whether it had all writes when it was promoted.
pub(crate) fn postgres_promoted(store: &Store) {
    let trust = |seen: Option<&str>, value: &str| {
        assert!(store.open().compare_and_set("trusted", seen, value).unwrap());
        promise(store)
    };
    assert_eq!(promise(store), "strong");
    store.server("save");
    let _restore = Restore(store);
    let mut seen = None;
    for timeline in [2, 3] {
        store.server("standby");
        server("standby", "promote");
        let weak = format!(
            "weak: synchronous_standby_names is empty and the timeline is {timeline}: this server was a standby, or was restored, \
             and may have lost acknowledged writes"
        );
        assert_eq!(promise(store), weak);
        let (others, this) = (["timeline=1", "timeline=4", "2"], format!("timeline={timeline}"));
        for other in others {
            assert_eq!(trust(seen.as_deref(), other), weak, "{other}");
            seen = Some(other.to_owned());
        }
        assert_eq!(trust(seen.as_deref(), &this), "strong");
        seen = Some(this);
    }
}

pub(crate) fn postgres_reader(store: &Store) {
    let key = fresh_key();
    store.open().compare_and_set(&key, None, "1").unwrap();
    client(store, "DROP ROLE IF EXISTS reader");
    client(store, "CREATE ROLE reader LOGIN PASSWORD 'imid-secret'");
    client(store, "GRANT SELECT ON imid_register TO reader");
    let _undo = Undo(store, &["DROP OWNED BY reader", "DROP ROLE reader"]);
    let url = store.url.replace("imid:", "reader:");
    assert_ne!(url, store.url);
    assert_eq!(open_url_read_only(&url, DEFAULT_TIME_LIMIT).unwrap().read(&key).unwrap().as_deref(), Some("1"));
}

/// Checks that a register is refused for good, and that the error says why.
fn is_permanent(url: &str, words: &str) {
    let error = open_url(url, DEFAULT_TIME_LIMIT).unwrap().read("a").unwrap_err();
    assert!(error.is_permanent() && chain(&error).contains(words), "{error}");
}

pub(crate) fn postgres_final(store: &Store) {
    let (server, _) = store.url.split_at(store.url.find(store.address()).unwrap() + store.address().len());
    is_permanent(&format!("{server}/nothing"), "database \"nothing\" does not exist");
    let error = open_url(&store.url_at("127.0.0.1:1"), DEFAULT_TIME_LIMIT).unwrap().read("a").unwrap_err();
    assert!(!error.is_permanent(), "a server can come back: {error}");
}

pub(crate) fn mysql_final(store: &Store) {
    is_permanent(&store.url.replace("imid-secret", "wrong"), "Access denied");
}

pub(crate) fn redis_final(store: &Store) {
    is_permanent(&store.url.replace("imid-secret", "wrong"), "Password authentication failed");
}
