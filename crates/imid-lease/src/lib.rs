//! Leases lanes of the ID space of [`imid`] to processes, so that every ID is unique regardless of clocks and networks.
//!
//! **You need this** if several processes mint before or without the lock of a room's row: in front of a queue, for a store without
//! a unique key, in several regions. If each message is stored in a transaction that locks its room, use
//! [`MessageId::after`](imid::MessageId::after) instead. If one process mints for each room, use [`imid::generate`].
//!
//! A lease says: "this lane, IDs with a time below the ceiling". A process writes the ceiling to the register, a table in a store
//! that you already run, with a compare-and-set before it uses it, and no one else lowers it. A process that is paused,
//! partitioned or wrong about the time can therefore mint only IDs that no other process will mint. Timeouts decide only how soon
//! the lane of a dead process is reused.
//!
//! # What you can do
//!
//! **Mint in one process on one host**: a file is enough.
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
//! // Before the process exits: the next one then starts immediately.
//! ids.close();
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Mint in several processes**, which share a register. An operator creates its space once, with `imid lane create` or
//! [`admin::create`], and each process opens a lease.
//!
//! ```
//! # #[cfg(feature = "postgres")]
//! # fn open() -> Result<imid_lease::LeasedGenerator, Box<dyn std::error::Error>> {
//! use std::time::Duration;
//!
//! use imid_lease::register::PostgresRegister;
//! use imid_lease::{LaneOptions, LeasedGenerator};
//!
//! let register = PostgresRegister::from_url("postgres://chat@db/chat")?;
//! let ids = LeasedGenerator::open(register, LaneOptions::new().space("production"))?;
//! ids.wait_until_open(Duration::from_secs(15))?;
//! # Ok(ids)
//! # }
//! ```
//!
//! **Answer when there is no ID**: [`generate`](LeasedGenerator::generate) never waits for the store. Its error says when to retry.
//!
//! ```
//! # use imid::SessionTag;
//! # use imid_lease::LeasedGenerator;
//! # fn post(ids: &LeasedGenerator, room: SessionTag) -> (u16, String) {
//! match ids.generate(room) {
//!     Ok(id) => (201, id.to_string()),
//!     // The store is down, say, or other processes hold all lanes.
//!     Err(error) => (503, format!("{error}")), // Retry-After: error.retry_after()
//! }
//! # }
//! ```
//!
//! **Probe, restart and stop**:
//!
//! ```
//! # use std::time::Duration;
//! # use imid_lease::{LeasedGenerator, Phase};
//! # fn serve(ids: &LeasedGenerator) {
//! // While only the store is down, a process with a lane stays ready.
//! let status = ids.status();
//! let is_ready = status.can_mint() || status.phase == Phase::Holding;
//! // On a thread for this: only a restart helps. Tasks await `needs_restart_async`.
//! if let Some(error) = ids.needs_restart_within(Duration::MAX) {
//!     eprintln!("{error}");
//! }
//! // After the last request: another process can then take the lane immediately.
//! ids.close_within(Duration::from_secs(5));
//! # }
//! ```
//!
//! **Use your own pool or another store**: implement [`Register`]. **Create, recover and resize spaces**: [`admin`]. **Watch**: [`Status`]
//! and [`telemetry`]. **Lease other numbers than lanes**: [`minter`].
//!
//! # Guarantees
//!
//! **Unique**: no two IDs of one register's space are equal, as long as the register keeps every acknowledged write, answers reads
//! with the latest one, and no running VM is cloned. Clocks, pauses, crashes, forks and network faults do not matter.
//!
//! **Ordered** as [`imid::Generator`] promises, within one process, even when the lane changes. Across processes, IDs are ordered
//! as far as their clocks agree; [`observe`](LeasedGenerator::observe) makes later IDs sort after one that you have seen.
//!
//! | fault | what happens |
//! | --- | --- |
//! | the register does not answer | minting continues up to the ceiling, for at least three quarters of the horizon; then an error with [`retry_after`](LeaseError::retry_after) |
//! | a reply is lost, or a write is late | the record is read, and the write is retried; a ceiling is not used before it is acknowledged |
//! | a process is killed | its lane can be taken after its horizon, or immediately by a process with the same name ([`holder`](LaneOptions::holder)). The lane continues after the ceiling, up to one horizon ahead of the clock |
//! | a process is paused, and its lane is taken | it uses what is left below its ceiling, then takes another lane |
//! | all lanes are held | an error with `retry_after`, until a lane is released, or its holder has not renewed it for its horizon |
//! | a clock jumps by more than [`max_skew`](LaneOptions::max_skew) | the jump is not followed. If the store has no clock, a forward jump is believed after a minute |
//! | a process starts with a wrong clock, or the store has one | an error that says by how much they differ, until they agree or [`trust`](LaneOptions::trust) names one of them. If the store has no clock or both are wrong, **the IDs have the wrong time** and are still unique |
//! | all lanes are further ahead of the clock than the horizon and `max_skew` explain: this clock is behind, or another one was ahead | an error at the start ([`OpenError::is_clock`]), unless [`accept_far_lanes`](LaneOptions::accept_far_lanes) is set; a wait if other processes hold near lanes |
//! | a process forks | the child mints nothing and does not use its parent's connection |
//! | the register is restored from a backup | its processes notice at the next renewal and stop minting permanently. Run [`admin::recover`] while none runs |
//! | a weak register loses a write, or a register is lost and replaced | **IDs can repeat** |
//! | a running VM is cloned | **both copies mint the same IDs** up to the ceiling, at most one horizon, and so can a third process that is granted the lane. Then one copy loses the lane, or finds the register changed and stops |
//! | processes of one space use two registers | **IDs can repeat**, and nothing detects it. Compare [`Status::register_id`] |
//! | the number of lanes is changed ([`admin::resize`]) | processes with the old number notice at the next renewal and stop minting |
//!
//! # Registers
//!
//! | register | strong if | otherwise |
//! | --- | --- | --- |
//! | [`register::FileRegister`] | the system is Linux or Android; the disk is local, outlives the container, and honors fsync | refused: network file systems, wrong checksums, several names of one file, files of another machine. Weak outside of Linux and Android, where the file system type cannot be determined |
//! | `PostgresRegister` (feature `postgres`) | there is one primary with durable commits, or failover is synchronous | weak, as far as the settings show it |
//! | `MysqlRegister` (`mysql`: MySQL and MariaDB) | there is one primary with durable commits, or replication is semi-synchronous | weak, as far as the settings show it; an asynchronous replica of MySQL, and one that became the primary, is not noticed |
//! | `EtcdRegister` (`etcd`) | it syncs its log, as it does by default, and is not restored from a snapshot without [`admin::recover`] | not noticed |
//! | `ZookeeperRegister` (`zookeeper`) | it syncs its log (`forceSync`), as it does by default | not noticed |
//! | `RedisRegister` (`redis`: Redis and Valkey) | never: a crash or a failover can lose acknowledged writes, and nothing can detect it | weak |
//! | [`register::MemoryRegister`] | never: it ends with its process | weak |
//!
//! [`Status::promise`] says whether a register is strong.
//!
//! Each lease has its own thread, and its register of a server its own connection.
//!
//! The feature `tls-ring` or `tls-aws-lc-rs` encrypts connections, as does `tls` in a program that installs a rustls crypto
//! provider. The store's URL says how: [`register::open_url`].
//!
//! # Blocking and async
//!
//! Everything that mints works in memory and is safe in an async task. Constructors and drops return immediately: a thread of the
//! crate talks to the store, so a busy runtime cannot delay a renewal. `wait_until_open`, `generate_within` and `close_within` wait
//! for at most the given time. Their async forms, such as [`generate_async`](LeasedGenerator::generate_async), work in every async
//! runtime. They have no time limit, because dropping their futures loses nothing: use `tokio::time::timeout`. Both forms wait for a lane
//! or a ceiling; what the generator itself refuses, as under overload, is an error with
//! [`retry_after`](LeaseError::retry_after). Calls of a [`Register`] and of [`admin`] wait for the store.
//!
//! # Cost
//!
//! A lease, idle or busy, is written once per quarter of the horizon: 0.4 writes per second with the default of 10 s. A lost lane
//! costs about 512 bytes plus 128 bytes per stripe until the generator is dropped. A leased generator adds two loads and two
//! compares to each ID; see `benches/leased.rs`.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod record;

pub mod register;

mod wait;

mod handle;

pub mod admin;

mod clock;

mod error;

mod status;

mod options;

pub mod telemetry;

mod lease;

pub mod minter;

mod leased;

pub use error::{LeaseError, OpenError};
use imid_lease_protocol::engine;
pub use imid_lease_protocol::engine::Phase;
pub use leased::LeasedGenerator;
pub use options::{LaneOptions, OptionsError, TrustedClock};
pub use register::{Promise, Register, RegisterError};
pub use status::Status;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

// The code of the page for operators is a test, where the features that it uses are on.
#[cfg(all(doctest, feature = "postgres", feature = "tls"))]
#[doc = include_str!("../../../docs/LEASES.md")]
mod leases {}
