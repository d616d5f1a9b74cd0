//! Lanes and worker IDs for [`imid`], granted by a shared register.
//!
//! A grant says: "this lane, IDs with a time below the ceiling". A process writes the ceiling to the register before it
//! uses it, by compare-and-set. The ceiling only grows. So a process that is paused, cut off, or has a wrong clock
//! mints only IDs that no other process will ever mint. Time-outs decide only how soon the lane of a dead process is
//! used again.
//!
//! One process on one host needs a file and no service:
//!
//! ```
//! use imid::{SessionTag, SessionType};
//! use imid_lease::LeasedGenerator;
//!
//! # let folder = std::env::temp_dir().join(format!("imid-lease-page-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! # let path = folder.join("ids");
//! let ids = LeasedGenerator::open_file(path)?;
//! let id = ids.generate(SessionTag::new(SessionType::GROUP, "room-42"))?;
//! # drop(ids);
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Several processes share a register: [`LeasedGenerator::open`].
//!
//! # What is promised
//!
//! **Unique**: no two IDs of one register's space are equal, while the register keeps acknowledged writes and answers
//! reads with the latest ones. The clocks of the processes, pauses, crashes, forks and the network do not matter. If
//! processes of one space use two registers, nothing notices it. An operator can compare [`Status::space_id`].
//!
//! A copy of a running machine (a cloned virtual machine) shares the lease of its original until the ceiling, so both
//! can mint the same IDs for that time: at most the horizon. A third process can mint them too, if the original gives
//! its lane back. Then one of them loses the lane, or finds that the register does not have what it wrote, and stops.
//!
//! **Ordered** as [`imid::Generator`] promises, also when the lane changes.
//!
//! # Registers
//!
//! | register | strong if | otherwise |
//! | --- | --- | --- |
//! | [`register::FileRegister`] | the disk keeps what it has synced | refused: network file systems, wrong checksums, files of another machine. [`Status::is_new_register`] shows a file that was created anew |
//! | `PostgresRegister` (feature `postgres`), `MysqlRegister` (`mysql`: MySQL and MariaDB) | one primary with durable commits, or synchronous fail-over | weak; the adapters check the settings that they can see |
//! | `EtcdRegister` (`etcd`) | always; after a restore use `--bump-revision` | |
//! | `ZookeeperRegister` (`zookeeper`) | always | |
//! | `RedisRegister` (`redis`: Redis and Valkey) | never | weak: a crash or a fail-over loses acknowledged writes, and nobody can notice it |
//! | [`register::MemoryRegister`] | for tests | weak: it ends with its process |
//!
//! [`Status::promise`] says which it is. On a weak register IDs can come twice after it has lost a write: run
//! [`admin::recover`] before any process uses it again.
//!
//! # What each fault does
//!
//! | fault | what happens |
//! | --- | --- |
//! | the register does not answer | minting goes on up to the ceiling, for three quarters of the horizon at least; then an error with [`retry_after`](LeaseError::retry_after) |
//! | a reply is lost | the record is read, and the write is tried again |
//! | a process is paused, and its lane is taken | it uses what is left below its ceiling, and takes another lane |
//! | a process is killed | its lane can be taken after the time-out, or at once by a process of the same name ([`holder`](Options::holder)). The next IDs of the lane come after the ceiling, up to the horizon ahead of the clock |
//! | a clock jumps by more than [`max_skew`](Options::max_skew) | the jump is not followed. Where the store has no time of its own, a jump forward is believed after a minute |
//! | a process starts with a wrong clock | the store's time is used, if it has one. Else the IDs have the wrong time, and are unique |
//! | a process forks | the child mints nothing, and does not use its parent's connection |
//! | the register is restored from a backup | its processes notice at the next renewal, and mint nothing any more. Run [`admin::recover`] while none runs |
//! | the number of lanes is changed ([`admin::resize`]) | processes with the old number notice at the next renewal, and mint nothing any more |
//!
//! # Cost
//!
//! An idle or busy lease is written once in each quarter of the horizon: 0.4 writes per second with the default of 10
//! s. A lane that is lost leaves about half a kilobyte, and 128 bytes a stripe, until the generator is dropped. A
//! leased generator adds a load and two compares to the time to mint; see `benches/leased.rs`.

mod space;

pub mod record;

pub mod register;

mod random;

mod sync;

mod backoff;

mod background;

mod engine;

pub mod admin;

mod clock;

mod status;

mod error;

mod options;

mod keeper;

#[cfg(feature = "metrics")]
pub mod metrics;

mod generator;

mod worker_ids;

#[cfg(feature = "redis")]
mod redis_queue;

mod wait;

pub mod segment;

pub use error::{LeaseError, OpenError};
pub use generator::LeasedGenerator;
pub use options::{Options, OptionsError};
#[cfg(feature = "redis")]
pub use redis_queue::{RedisQueue, RedisQueueOptions, RedisQueueStatus};
pub use register::{Promise, Register, RegisterError};
pub use segment::Segment;
pub use status::{Phase, Status};
pub use worker_ids::{WorkerClock, WorkerIds, WorkerOptions};

// The code of the page for operators is a test, where the features that it uses are on.
#[cfg(all(doctest, feature = "mysql", feature = "postgres"))]
mod documents {
    #[doc = include_str!("../../../docs/LEASES.md")]
    mod leases {}
    #[doc = include_str!("../../../docs/DEPLOY.md")]
    mod deploy {}
}

// The engine is private, so its model is a part of the library's own tests.
#[cfg(test)]
#[path = "../tests/simulation/mod.rs"]
mod simulation;
