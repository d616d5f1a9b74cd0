//! Worker IDs from real stores. `ci/services.sh run redis zookeeper ... -- cargo test ...` starts the servers.

mod article;
mod skip;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use article::ARTICLE;
use imid::clock::{Clock, ClockError, SystemClock};
use imid_snowflake::Preset;
#[allow(dead_code, reason = "another test uses the rest")]
mod opened;

use imid_lease::Phase;
use imid_lease::register::{DEFAULT_TIME_LIMIT, open_url};
use imid_lease::worker_ids::{WorkerIds, WorkerOptions};
use opened::opened;

/// The system's clock, which can be set back.
#[derive(Clone, Default)]
struct Stepping(Arc<AtomicI64>);

impl Clock for Stepping {
    fn now_ms(&self) -> Result<u64, ClockError> {
        Ok(SystemClock.now_ms()?.saturating_add_signed(self.0.load(Ordering::Relaxed)))
    }
}

/// Three processes share a store. Each swaps its worker ID when its clock is set back, and a restarted one gets another.
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
    for (preset, name) in [(Preset::TWITTER, "twitter"), (Preset::LEAF, "leaf"), (ARTICLE, "article")] {
        let space = format!("test-{name}-{}", std::process::id());
        let mut minted = Vec::new();
        let mut nodes = Vec::new();
        for round in 0..2 {
            let clock = Stepping::default();
            let open = || {
                let options = WorkerOptions::new(preset).space(&space).clock(clock.clone());
                let options = options.horizon(Duration::from_secs(3)).max_skew(Duration::from_secs(2));
                WorkerIds::open(open_url(&url, DEFAULT_TIME_LIMIT).unwrap(), options).and_then(opened).unwrap()
            };
            let processes = [open(), open(), open()];
            let started = Instant::now();
            while processes.iter().any(|workers| workers.status().iter().any(|it| it.phase != Phase::Holding)) {
                assert!(started.elapsed() < Duration::from_secs(20));
                thread::sleep(Duration::from_millis(5));
            }
            let ids = processes.each_ref().map(|workers| workers.generator().unwrap());
            for back in [0, 600] {
                clock.0.fetch_sub(back, Ordering::Relaxed);
                for ids in &ids {
                    let new = (0..100).map(|_| ids.generate_within(Duration::from_secs(1)).unwrap());
                    minted.extend(new);
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
