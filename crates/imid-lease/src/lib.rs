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
//! reads with the latest ones, and no running machine is cloned. The clocks of the processes, pauses, crashes, forks and
//! the network do not matter.
//!
//! **Ordered** as [`imid::Generator`] promises, even when the lane changes.
//!
//! | fault | lanes and worker IDs | segments |
//! | --- | --- | --- |
//! | the register does not answer | minting goes on up to the ceiling, for at least three quarters of the horizon; then an error with [`retry_after`](LeaseError::retry_after) | numbers go on until both blocks are used; then an error with `retry_after` |
//! | a reply is lost, or a write is late | the record is read, and the write is tried again; nothing is used before an acknowledgement | the block is skipped: a gap |
//! | a process is killed | its lane can be taken after its horizon, or at once by a process of the same name ([`holder`](Options::holder)). The next IDs of the lane come after the ceiling, up to the horizon ahead of the clock | the rest of its two blocks is skipped |
//! | a process is paused, and its lane is taken | it uses what is left below its ceiling, and takes another lane | nothing |
//! | all lanes are held | an error with `retry_after`, until one is given back, or a holder has not renewed its lane for its horizon | does not apply |
//! | a clock jumps by more than [`max_skew`](Options::max_skew) | the jump is not followed. Where the store has no time of its own, a jump forward is believed after a minute | nothing; the step may adapt to a wrong duration |
//! | a process starts with a wrong clock, or the store has one | the store's time is used, if it has one, unless more living holders of lanes agree with the process's clock. Where that is wrong, **the IDs have the wrong time**, and are unique | nothing |
//! | all lanes are further ahead of the clock than the horizon and `max_skew` explain | an error at the start ([`OpenError::is_clock`]), and a wait if others hold near ones, unless [`any_lead`](Options::any_lead) accepts it, which worker IDs do not have. This clock is behind, or one was ahead | does not apply |
//! | a process forks | the child mints nothing, and does not use its parent's connection | the same |
//! | the register is restored from a backup | its processes notice at the next renewal, and mint nothing any more. Run [`admin::recover`] while none runs | a process notices a block below its last one; **numbers of others can repeat** |
//! | a weak register loses a write, or a register is lost and replaced at once | **IDs can repeat** | refused if it says that it is weak |
//! | a running machine is cloned | **both copies mint the same IDs** up to the ceiling, at most a horizon, and so can a third process that gets the lane. Then one copy loses the lane, or finds the register changed and stops | **the rest of both blocks repeats** |
//! | processes of one space use two registers | **IDs can repeat**, and nothing notices it. An operator can compare [`Status::register_id`] | **numbers can repeat** |
//! | the number of lanes is changed ([`admin::resize`]) | processes with the old number notice at the next renewal, and mint nothing any more | does not apply |
//!
//! # Registers
//!
//! | register | strong if | otherwise |
//! | --- | --- | --- |
//! | [`register::FileRegister`] | the system is Linux or Android; the disk is local, is not thrown away with the container, and keeps what it has synced | refused: network file systems, wrong checksums, several names of one file, files of another machine. Weak outside of Linux and Android, where the file system cannot be seen |
//! | `PostgresRegister` (feature `postgres`) | there is one primary with durable commits, or fail-over is synchronous | weak, as far as the settings show it |
//! | `MysqlRegister` (`mysql`: MySQL and MariaDB) | there is one primary with durable commits, or fail-over is synchronous | weak, as far as the settings show it; an asynchronous replica that became the primary is not noticed |
//! | `EtcdRegister` (`etcd`) | it syncs its log, as it does by default, and is not restored from a snapshot without [`admin::recover`] | not noticed |
//! | `ZookeeperRegister` (`zookeeper`) | it syncs its log (`forceSync`), as it does by default | not noticed |
//! | `RedisRegister` (`redis`: Redis and Valkey) | never: a crash or a fail-over can lose acknowledged writes, and nobody can notice it | weak |
//! | [`register::MemoryRegister`] | never: it ends with its process | weak |
//!
//! [`Status::promise`] says which it is. [`Status::is_new_register`] shows a register that was empty at the start.
//!
//! Each register of a server has one connection. A process with a lease, worker IDs and segments has one in all if they are
//! opened with clones of one [`register::SharedRegister`].
//!
//! Connections are encrypted with the feature `tls-ring` or `tls-aws-lc-rs`, or `tls` in a program that has a crypto
//! provider of rustls. The URL of the store says how: [`register::open_url`].
//!
//! # Blocking and async
//!
//! Everything that mints works in memory and is safe in an async task. Constructors and drops return at once: a thread of
//! the crate talks to the store, so a busy runtime cannot delay a renewal. `wait_until_open`, `generate_within` and
//! `close_within` wait, for at most the given time. Their twins for tasks, such as
//! [`generate_async`](LeasedGenerator::generate_async), work in each async runtime. Dropping their futures loses nothing. Calls
//! of a [`Register`] and of [`admin`] wait for the store.
//!
//! # Cost
//!
//! An idle or busy lease is written once in each quarter of the horizon: 0.4 writes per second with the default of 10 s. A
//! process lists its space once a minute for [`Status::others`]. A lane that is lost keeps about 512 bytes, and 128 bytes a
//! stripe, until the generator is dropped. A leased generator adds two loads and two compares to the time to mint;
//! see `benches/leased.rs`.

mod space;

pub mod record;

pub mod register;

mod changes;

mod background;

mod engine;

pub mod admin;

mod clock;

mod error;

mod state;

mod options;

pub mod telemetry;

mod survey;

mod keeper;

mod generator;

mod worker_ids;

#[cfg(feature = "redis")]
mod redis_queue;

pub mod segment;

pub use engine::Phase;
pub use error::{LeaseError, OpenError};
pub use generator::LeasedGenerator;
pub use options::{Options, OptionsError};
#[cfg(feature = "redis")]
pub use redis_queue::{RedisQueue, RedisQueueStatus};
pub use register::{Promise, Register, RegisterError};
pub use segment::Segment;
pub use state::{Others, Status};
pub use worker_ids::{WorkerClock, WorkerIds, WorkerOptions};

// The code of the page for operators is a test, where the features that it uses are on.
#[cfg(all(doctest, feature = "mysql", feature = "postgres", feature = "tls"))]
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
