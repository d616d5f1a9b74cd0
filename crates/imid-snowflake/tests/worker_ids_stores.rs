//! Worker IDs from real stores. `ci/services.sh run redis zookeeper ... -- cargo test ...` starts the servers.

#[path = "support/article.rs"]
mod article;
#[path = "../../imid-lease/tests/support/skip.rs"]
mod skip;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use article::ARTICLE;
use imid::clock::{Clock, ClockError, SystemClock};
use imid_lease::register::{DEFAULT_TIME_LIMIT, open_url};
use imid_snowflake::worker_ids::{WorkerIds, WorkerOptions};
use imid_snowflake::{Layout, NodeSource, Preset};

/// The system's clock, until it is set to a time. It then stands, so that nothing depends on how fast the machine is.
#[derive(Clone, Default)]
struct Stopped(Arc<AtomicU64>);

impl Clock for Stopped {
    fn now_ms(&self) -> Result<u64, ClockError> {
        match self.0.load(Ordering::Relaxed) {
            0 => SystemClock.now_ms(),
            now_ms => Ok(now_ms),
        }
    }
}

fn eventually(mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < Duration::from_secs(60));
        thread::sleep(Duration::from_millis(5));
    }
}

/// Returns whether two worker IDs can mint at a time: the first one that a generator takes, and a spare one.
fn can_mint<C>(workers: &WorkerIds<C>, at_ms: u64) -> bool {
    let both = [workers.take(at_ms), workers.take(at_ms)];
    both.map(|spare| spare.map(|spare| workers.put(spare)).is_some()) == [true; 2]
}

/// Three processes share a store. Each swaps its worker ID when its clock is set back, and a restarted one repeats no ID.
fn worker_ids_from(store: &str) {
    let variable = format!("IMID_{}_URL", store.to_uppercase());
    let Ok(url) = std::env::var(&variable) else {
        return skip::skip(
            &format!("worker_ids_stores::{store}"),
            format_args!("expected {variable}, found none (see ci/services.sh)"),
        );
    };
    if let Err(error) = open_url(&url, DEFAULT_TIME_LIMIT) {
        return skip::skip(&format!("worker_ids_stores::{store}"), error);
    }
    // Of its eight worker IDs, the second round takes some of the first one's again.
    let eight = Layout::builder().tick_bits(42).node_bits(3).sequence_bits(18).build().unwrap();
    let presets = [(Preset::TWITTER, "twitter"), (Preset::LEAF, "leaf"), (ARTICLE, "article")];
    for (preset, name) in presets.into_iter().chain([(Preset::new(eight), "eight")]) {
        let space = format!("test-{name}-{}", std::process::id());
        let mut minted = Vec::new();
        let mut nodes = Vec::new();
        for round in 0..2 {
            let clock = Stopped::default();
            let open = || {
                let options = WorkerOptions::new(preset).space(&space).clock(clock.clone());
                let options = options.horizon(Duration::from_secs(120)).max_skew(Duration::from_secs(60));
                WorkerIds::open(|| open_url(&url, DEFAULT_TIME_LIMIT), options).unwrap()
            };
            let processes = [open(), open(), open()];
            // One that was drawn again has IDs up to the end of the first round.
            eventually(|| {
                let before_ms = SystemClock.now_ms().unwrap() - 600;
                processes.iter().all(|workers| can_mint(workers, before_ms))
            });
            let ids = processes.each_ref().map(|workers| workers.generator().unwrap());
            let now_ms = SystemClock.now_ms().unwrap();
            for back_ms in [0, 600] {
                clock.0.store(now_ms - back_ms, Ordering::Relaxed);
                for ids in &ids {
                    minted.extend((0..100).map(|_| ids.generate().unwrap()));
                    nodes.push(ids.node());
                }
            }
            for ids in &ids {
                assert!(ids.close().is_some(), "{store}, {name}, round {round}");
            }
        }
        // A node that the first round has given back can be drawn again in the second.
        for nodes in nodes.chunks(6) {
            assert_eq!(nodes.iter().collect::<HashSet<_>>().len(), 6, "{store}, {name}: {nodes:?}");
        }
        assert_eq!(minted.iter().map(|id| id.to_u64()).collect::<HashSet<_>>().len(), 1_200);
    }
}

#[test]
fn worker_ids_come_from_redis() {
    worker_ids_from("redis");
}

#[test]
fn worker_ids_come_from_zookeeper() {
    worker_ids_from("zookeeper");
}

#[test]
fn worker_ids_come_from_etcd() {
    worker_ids_from("etcd");
}

#[test]
fn worker_ids_come_from_postgres() {
    worker_ids_from("postgres");
}

#[test]
fn worker_ids_come_from_mysql() {
    worker_ids_from("mysql");
}
