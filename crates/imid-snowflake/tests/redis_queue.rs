//! The rollback article's queue on a real Redis list. `ci/services.sh run redis -- cargo test ...` starts the server.

#[path = "support/article.rs"]
mod article;
#[path = "../../imid-lease/tests/support/skip.rs"]
mod skip;

use std::collections::HashSet;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use article::ARTICLE;
use imid::clock::{Clock, ClockError, SystemClock};
use imid_snowflake::NodeSource;
use imid_snowflake::redis_queue::{QueueError, RedisList, RedisQueue};
use redis::{Connection, cmd};

/// The URL of the server; `None`, with a message, if there is none.
fn url(test: &str) -> Option<String> {
    let url = std::env::var("IMID_REDIS_URL").ok();
    if url.is_none() {
        skip::skip(&format!("redis_queue::{test}"), "expected IMID_REDIS_URL, found none (see ci/services.sh)");
    }
    url
}

/// A list of its own, with these worker IDs.
fn list(url: &str, key: &str, nodes: std::ops::Range<u32>) -> Connection {
    let mut connection = redis::Client::open(url).unwrap().get_connection().unwrap();
    cmd("DEL").arg(key).exec(&mut connection).unwrap();
    cmd("RPUSH").arg(key).arg(nodes.collect::<Vec<_>>()).exec(&mut connection).unwrap();
    connection
}

fn nodes(connection: &mut Connection, key: &str) -> Vec<u32> {
    cmd("LRANGE").arg(key).arg(0).arg(-1).query(connection).unwrap()
}

fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < Duration::from_secs(20), "{what}");
        thread::sleep(Duration::from_millis(2));
    }
}

/// The system's clock, which can be set back.
#[derive(Default)]
struct Stepping(AtomicI64);

impl Clock for &Stepping {
    fn now_ms(&self) -> Result<u64, ClockError> {
        Ok(SystemClock.now_ms()?.saturating_add_signed(self.0.load(Ordering::Relaxed)))
    }
}

fn open(url: &str, key: &str) -> Result<RedisQueue, QueueError> {
    let client = redis::Client::open(url).unwrap();
    let limit = Duration::from_secs(2);
    let list = RedisList::new(key, move || {
        let connection = client.get_connection_with_timeout(limit)?;
        connection.set_read_timeout(Some(limit))?;
        Ok(connection)
    });
    let queue = RedisQueue::open(list, ARTICLE)?;
    queue.wait_until_open(Duration::from_secs(2)).map(|()| queue)
}

#[test]
fn the_articles_generator_swaps_its_worker_id_through_the_list() {
    let Some(url) = url("the_articles_generator_swaps_its_worker_id_through_the_list") else { return };
    let key = "imid-test:article";
    let mut connection = list(&url, key, 10..14);
    let queue = open(&url, key).unwrap();
    let clock = Stepping::default();
    let ids = queue.generator(&clock).unwrap();
    eventually("one is popped ahead", || nodes(&mut connection, key) == [12, 13]);
    thread::sleep(Duration::from_millis(300));
    let mut minted = vec![ids.generate().unwrap()];
    // The article waits for up to 15 ms.
    clock.0.fetch_sub(10, Ordering::Relaxed);
    minted.push(ids.generate_within(Duration::from_secs(1)).unwrap());
    clock.0.fetch_sub(100, Ordering::Relaxed);
    minted.push(ids.generate().unwrap());
    assert_eq!(minted.iter().map(|id| id.node()).collect::<Vec<_>>(), [10, 10, 11]);
    assert!(minted[2].timestamp_ms() < minted[1].timestamp_ms());
    eventually("the first one is at the back", || nodes(&mut connection, key) == [13, 10]);
    // The next spare one was popped a moment ago, and nobody knows who has used it before.
    clock.0.fetch_sub(5_000, Ordering::Relaxed);
    assert!(ids.generate().unwrap_err().is_rollback());
    clock.0.fetch_add(5_000, Ordering::Relaxed);
    eventually("the clock has caught up", || ids.generate().map(|id| minted.push(id)).is_ok());
    ids.close();
    assert!(queue.close_within(Duration::from_secs(20)));
    let left = nodes(&mut connection, key);
    assert_eq!(left.iter().collect::<HashSet<_>>(), HashSet::from([&10, &11, &12, &13]));
    assert_eq!((left.len(), queue.status().lost, queue.take(u64::MAX)), (4, 0, None));
    assert_eq!(minted.iter().map(|id| id.to_u64()).collect::<HashSet<_>>().len(), minted.len());
}

/// Eight processes over one list, whose clocks step back again and again.
#[test]
fn processes_that_share_a_list_never_mint_one_id_twice() {
    let Some(url) = url("processes_that_share_a_list_never_mint_one_id_twice") else { return };
    let key = "imid-test:shared";
    let mut connection = list(&url, key, 0..40);
    let run = |process: u64| {
        let queue = open(&url, key).unwrap();
        let clock = Stepping::default();
        let ids = queue.generator(&clock).unwrap();
        let (mut minted, mut used) = (Vec::new(), HashSet::new());
        let started = Instant::now();
        while started.elapsed() < Duration::from_secs(3) {
            // Back by 20 to 52 ms and forward again, each 200 ms. Never ahead of the server's clock.
            let turn = (started.elapsed().as_millis() as u64 + process * 11) / 100;
            let behind = if turn.is_multiple_of(2) { 0 } else { 20 + turn % 5 * 8 };
            clock.0.store(-behind.cast_signed(), Ordering::Relaxed);
            match ids.generate() {
                Ok(id) => {
                    used.insert(id.node());
                    minted.push(id.to_u64());
                    if minted.len() % 100 == 0 {
                        thread::sleep(Duration::from_millis(1));
                    }
                }
                Err(_) => thread::sleep(Duration::from_millis(1)),
            }
        }
        ids.close();
        assert!(queue.close_within(Duration::from_secs(20)));
        (minted, used.len())
    };
    let results: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|process| scope.spawn(move || run(process))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let all: Vec<_> = results.iter().flat_map(|(minted, _)| minted).collect();
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
    let used: usize = results.iter().map(|(_, used)| used).sum();
    assert!(all.len() > 8_000 && used > 16, "{} IDs under {used} worker IDs", all.len());
    let mut left = nodes(&mut connection, key);
    left.sort_unstable();
    assert_eq!(left, (0..40).collect::<Vec<_>>());
    println!("{} IDs under {used} worker IDs", all.len());
}

#[test]
fn a_key_that_is_not_a_list_and_a_server_that_is_not_there_are_errors() {
    let error = open("redis://127.0.0.1:1", "x").unwrap_err().to_string();
    assert!(error.starts_with("cannot use the list of worker IDs: ") && error.contains("refused"), "{error}");
    let Some(url) = url("a_key_that_is_not_a_list_and_a_server_that_is_not_there_are_errors") else { return };
    let mut connection = list(&url, "imid-test:text", 0..1);
    cmd("SET").arg("imid-test:text").arg("x").exec(&mut connection).unwrap();
    let error = open(&url, "imid-test:text").unwrap_err();
    assert!(error.is_list() && error.to_string().contains("WRONGTYPE"), "{error}");
}
