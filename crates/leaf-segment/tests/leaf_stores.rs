//! Segments on Leaf's own table, on real servers. `ci/services.sh run postgres mysql -- cargo test ...` starts the
//! servers.

#[path = "../../imid-lease/tests/support/skip.rs"]
mod skip;

use std::collections::HashSet;
use std::process::Command;
use std::thread;
use std::time::Duration;

use leaf_segment::{Block, BlockError, NumberError, Refused, Segment, SegmentError, leaf};
use tokio::runtime::Runtime;
use tokio::time::timeout;

/// A server, and how to reach its tables.
struct Store {
    name: &'static str,
    url: String,
}

impl Store {
    /// The server that `ci/services.sh` started; `None`, with a message, if there is none.
    fn of(name: &'static str, test: &str) -> Option<Self> {
        let variable = format!("IMID_{}_URL", name.to_uppercase());
        let Ok(url) = std::env::var(&variable) else {
            skip::skip(
                &format!("leaf_stores::{test}"),
                format_args!("expected {variable}, found none (see ci/services.sh)"),
            );
            return None;
        };
        Some(Self { name, url })
    }

    /// Takes blocks as an application does, with its own client.
    fn blocks(&self, tag: &str) -> Box<dyn FnMut(Option<i64>) -> Result<Block, BlockError> + Send> {
        const LIMIT: Duration = Duration::from_secs(20);
        let runtime = Runtime::new().unwrap();
        let (url, tag) = (self.url.clone(), tag.to_owned());
        if self.name == "postgres" {
            let take = async move |step| {
                let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await?;
                tokio::spawn(connection);
                leaf::postgres::take(&client, &tag, step).await
            };
            return Box::new(move |step| runtime.block_on(async { timeout(LIMIT, take(step)).await })?);
        }
        let pool = {
            let _entered = runtime.enter();
            mysql_async::Pool::new(url.as_str())
        };
        let take = async move |step| leaf::mysql::take(&mut pool.get_conn().await?, &tag, step).await;
        Box::new(move |step| runtime.block_on(async { timeout(LIMIT, take(step)).await })?)
    }

    fn segment(&self) -> Result<Segment, SegmentError> {
        let segment = Segment::open(self.blocks("order"))?;
        segment.wait_until_open(Duration::from_secs(15)).map(|()| segment)
    }

    /// Runs statements with the store's own client, and returns the output.
    fn sql(&self, statements: &str) -> String {
        let address = self.url.rsplit_once('@').unwrap().1;
        let (host, port) = address.split('/').next().unwrap().split_once(':').unwrap();
        let output = match self.name {
            "postgres" => Command::new("psql").args(["-X", "-A", "-t", "-q", &self.url, "-c", statements]).output(),
            _ => Command::new("mariadb")
                .args(["--no-defaults", "-N", "-h", host, "-P", port, "-u", "imid", "-pimid-secret", "imid"])
                .args(["-e", statements])
                .output(),
        };
        let output = output.unwrap();
        assert!(output.status.success(), "{statements}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Leaf's own table, as its documentation has it.
    fn create_table(&self) {
        let on_update = if self.name == "mysql" { "ON UPDATE CURRENT_TIMESTAMP" } else { "" };
        self.sql(&format!(
            "DROP TABLE IF EXISTS leaf_alloc; CREATE TABLE leaf_alloc (biz_tag varchar(128) NOT NULL DEFAULT '', \
             max_id bigint NOT NULL DEFAULT 1, step int NOT NULL, description varchar(256) DEFAULT NULL, \
             update_time timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP {on_update}, PRIMARY KEY (biz_tag)); \
             INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('order', 1, 100), ('user', 5000, 10)"
        ));
    }
}

fn next(segment: &Segment) -> u64 {
    loop {
        match segment.next() {
            Ok(number) => return number,
            Err(error) => {
                let error: NumberError = error;
                thread::sleep(error.retry_after().expect("a retry helps").min(Duration::from_millis(5)));
            }
        }
    }
}

fn leafs_table(name: &'static str) {
    let Some(store) = Store::of(name, name) else { return };
    let is_permanent = |error: &BlockError| error.is::<Refused>();
    let error = store.blocks("order")(None).unwrap_err();
    assert!(is_permanent(&error), "{error}");
    let no_table = error.to_string();
    assert!(no_table.ends_with("expected the table leaf_alloc, found none"), "{no_table}");
    store.create_table();

    // One block as Leaf would take it, and one with a step of our own.
    let mut of_user = store.blocks("user");
    assert_eq!(of_user(None).unwrap(), Block { end: 5_010, step: 10 });
    assert_eq!(of_user(Some(25)).unwrap(), Block { end: 5_035, step: 10 });
    let mut of_nobody = store.blocks("nobody");
    let error = of_nobody(None).unwrap_err();
    assert!(is_permanent(&error), "{error}");
    let error = error.to_string();
    assert!(error.ends_with("expected a row of the tag \"nobody\" in leaf_alloc, found none"), "{error}");
    store.sql("INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('nobody', 1, 5)");
    assert_eq!(of_nobody(None).unwrap().end, 6, "after an error it connects again");
    assert_eq!(of_user(Some(5)).unwrap().end, 5_040);
    assert_eq!(store.sql("SELECT max_id FROM leaf_alloc WHERE biz_tag = 'user'"), "5040");

    // Processes share a tag, beside a Leaf server that takes blocks with its own statement.
    let minted: Vec<Vec<u64>> = thread::scope(|scope| {
        let leaf = scope.spawn(|| {
            let block = |_| {
                let update = "UPDATE leaf_alloc SET max_id = max_id + step WHERE biz_tag = 'order'";
                let select = "SELECT max_id - 1 FROM leaf_alloc WHERE biz_tag = 'order'";
                let out = store.sql(&format!("BEGIN; {update}; {select}; COMMIT"));
                out.lines().last().unwrap().parse::<u64>().unwrap()
            };
            (0..10).map(block).collect::<Vec<_>>()
        });
        let run = || {
            let segment = store.segment().unwrap();
            let numbers: Vec<_> = (0..3_000).map(|_| next(&segment)).collect();
            assert!(numbers.is_sorted());
            numbers
        };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(run)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).chain([leaf.join().unwrap()]).collect()
    });
    let all: HashSet<_> = minted.iter().flatten().collect();
    assert_eq!(all.len(), 4 * 3_000 + 10, "{name}: no number comes twice");
    let max_id: u64 = store.sql("SELECT max_id FROM leaf_alloc WHERE biz_tag = 'order'").parse().unwrap();
    assert!(all.iter().all(|number| (1..max_id).contains(*number)));
}

/// The statement of the documentation, for a table that went back to an earlier state.
fn a_restored_table_is_recovered(store: &Store) {
    let page = include_str!("../src/leaf/mod.rs");
    let statement = page.lines().find(|line| line.starts_with("//! UPDATE leaf_alloc")).unwrap();
    store.create_table();
    let backup = store.sql("SELECT max_id FROM leaf_alloc WHERE biz_tag = 'order'");
    let segment = store.segment().unwrap();
    let mut last = next(&segment);
    store.sql(&format!("UPDATE leaf_alloc SET max_id = {backup} WHERE biz_tag = 'order'"));
    let error = loop {
        match segment.next() {
            Ok(number) => last = number,
            Err(error) if error.retry_after().is_some() => thread::sleep(Duration::from_millis(5)),
            Err(error) => break error,
        }
    };
    assert!(error.is_reverted(), "{error}");
    drop(segment);
    store.sql(&format!("UPDATE leaf_alloc SET max_id = {backup} WHERE biz_tag = 'order'"));
    let statement = statement.trim_start_matches("//! ").replace("120000", &(last + 1).to_string());
    for _ in 0..2 {
        store.sql(&statement);
        let first = next(&store.segment().unwrap());
        assert!(first > last, "{}: {first} after {last}", store.name);
        last = first;
    }
}

#[test]
fn numbers_come_from_leafs_table_in_postgresql() {
    leafs_table("postgres");
    let Some(store) = Store::of("postgres", "postgres") else { return };
    a_restored_table_is_recovered(&store);
    store.sql("ALTER TABLE leaf_alloc SET UNLOGGED");
    let error = store.segment().unwrap_err().to_string();
    assert!(
        error.ends_with(
            "the database can lose acknowledged writes: the table leaf_alloc is unlogged, so a crash empties it"
        ),
        "{error}"
    );
}

#[test]
fn numbers_come_from_leafs_table_in_mariadb() {
    leafs_table("mysql");
    let Some(store) = Store::of("mysql", "mysql") else { return };
    a_restored_table_is_recovered(&store);
    store.sql("ALTER TABLE leaf_alloc ENGINE = MyISAM");
    let error = store.segment().unwrap_err().to_string();
    assert!(error.ends_with("expected the engine InnoDB of leaf_alloc, found MyISAM"), "{error}");
}
