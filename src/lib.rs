//! Message IDs for chat backends: 80 bits that sort by time and name their conversation.
//!
//! A service **tags** each message with an ID, its store **orders messages by the ID's text**, and any reader **parses**
//! the ID back into time, session type and session hash. There is no machine ID, no coordinator and no network.
//!
//! - With the system clock, minting an ID takes 30 ns. Reading the clock takes 23 ns of them. With a
//!   [`TickClock`](clock::TickClock) minting takes 2.7 ns. In batches of 64 with the system clock it takes 1.0 ns per ID.
//! - Writing a text takes 2.5 ns. Reading it takes 3.3 ns.
//! - Two threads on two stripes mint 2.0 times as many IDs as one thread, and 1.7 times as many with a `TickClock`.
//! - If the clock steps back by 30 s, minting continues without a wait, an error or a duplicate. In the same test, 4 of
//!   14 other libraries block or panic, and 4 lose the order or repeat IDs.
//!
//! These are loops at full speed on 2 virtual cores of an AMD EPYC (Zen 5). The loops that mint are bursts, without the
//! limit `max_lead`. Sustained, a stripe mints 4,096 IDs per millisecond. BENCHMARKS.md has all results and machines.
//!
//! ```
//! use imid::{Generator, MessageId, SessionTag, SessionType};
//!
//! let ids = Generator::new();
//! let room = SessionTag::new(SessionType::GROUP, "room-42");
//! let id = ids.generate(room)?; // never blocks
//! println!("{id}"); // F3ZC-7SWG-ECQH-T3DD
//!
//! let id: MessageId = "F3ZC-7SWG-ECQH-T3DD".parse()?;
//! assert_eq!(id.timestamp_ms(), 1_795_204_812_345);
//! assert_eq!(id.session_type(), SessionType::GROUP);
//! assert!(id.is_in(room));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! # The 80 bits
//!
//! ```text
//!  79                            38 37        26 25  22 21                  0
//! +--------------------------------+------------+------+---------------------+
//! |  timestamp: 42 bits, unix ms   |  spin: 12  | type |  session hash: 22   |
//! +--------------------------------+------------+------+---------------------+
//! ```
//!
//! Where:
//! - **timestamp** is the number of milliseconds since 1970; the last one is on 2109-05-15;
//! - **spin** counts the IDs of a millisecond; it starts at a seeded value and carries into the next millisecond;
//! - **type** is the kind of conversation, a code from 0 to 15 ([`SessionType`]);
//! - **session hash** is the low 22 bits of XXH3-64 of the conversation's name ([`SessionHash`]).
//!
//! IDs have the same order as integers, as bytes and as texts. A text is 19 characters: 16 digits in four dashed groups,
//! without 0, 1, O and I. FORMAT.md fixes every bit.
//!
//! # Guarantees
//!
//! **Order**: the IDs of a generator strictly increase: over all sessions with one stripe, per session with more. After
//! [`observe`](Generator::observe) new IDs also sort after the observed ID of another host.
//!
//! **Uniqueness**: the IDs of one generator are unique. Two generators that share no state can mint equal IDs only for
//! the same millisecond, spin, type and hash:
//!
//! | deployment | guarantee |
//! | --- | --- |
//! | each session is minted by one process, chosen by [`SessionTag::shard`] | **unique**, without coordination, while all routers agree on the count and a new owner starts after its predecessor's last ID ([`floor`](generator::Builder::floor)) |
//! | each session is minted by one process, chosen by its *name* | unique under the same conditions, except between two sessions that share a hash and are minted on two hosts: equal with probability 1/4096 per pair of their messages in one millisecond |
//! | any host mints for any session | equal with probability 1/4096 per pair of messages of one session that two hosts mint in one millisecond |
//! | each host has its own [`lane`](generator::Builder::lane) | **unique**, while no two live hosts hold one lane and a lane's next holder starts after its last ID |
//!
//! The crate `imid-lease` takes lanes from a file or a store. Its IDs stay unique after a crash, on several hosts and with
//! any clock, as long as the file or the store keeps what it has confirmed.
//!
//! Two sessions can share a session hash: see [`SessionHash`].
//!
//! # Clock steps and overload
//!
//! | event | what happens |
//! | --- | --- |
//! | the clock steps back by up to `max_rollback` (1 h) | minting continues at full rate. The time of the IDs continues from the time that they had reached, at half speed until the clock has caught up |
//! | the clock steps back further | an error that says by how much, and when to retry |
//! | a millisecond is full | the next milliseconds are borrowed, up to `max_lead` (1 s) ahead of the clock |
//! | the lead is used up | an error that says when to retry; [`generate_within`](Generator::generate_within) sleeps instead |
//! | the process forks | the child takes a new seed and starts after the last ID that it inherited; a generator with a lane returns an error there |
//!
//! # Choosing a generator
//!
//! | you want | use |
//! | --- | --- |
//! | no set-up | [`generate`] |
//! | strict order over all sessions, 4,096 IDs/ms | [`Generator::new`] |
//! | strict order per session, n × 4,096 IDs/ms, threads that do not contend | [`Generator::striped`] |
//! | the fastest clock | a [`clock::TickClock`] in the [`builder`](Generator::builder) |
//! | many IDs of one session at once | [`batch`](Generator::batch), [`fill`](Generator::fill) |
//! | replies that sort after their questions across hosts | [`observe`](Generator::observe) |
//! | several hosts that write one session | [`lane`](generator::Builder::lane), or the crate `imid-lease` |
//! | after a crash, no ID that is already stored | [`floor`](generator::Builder::floor) with the greatest stored ID |
//! | after a crash, no ID that was ever minted | the crate `imid-lease` |
//! | IDs of imported messages, with their times | a [`clock::ManualClock`] and limits of [`Duration::MAX`](core::time::Duration::MAX) |
//! | 64-bit IDs as Twitter, Leaf, NSQ and others mint them | [`snowflake::Generator`] |
//!
//! [`dialect`] reads and writes the 80 bits in the text forms of RongCloud, JuggleIM and your own. [`snowflake`] reads and
//! writes 64-bit IDs. [`identify`](mod@identify) lists the dialects and layouts that could have made a text.
//!
//! # Features
//!
//! | feature | adds |
//! | --- | --- |
//! | `std` (default) | the system clock, [`clock::TickClock`], seeds drawn at first use, [`generate`], calls that wait, fork detection and conversions with `String` and `Vec`. Without it the crate is `no_std` and needs no allocator; the caller gives a clock and a seed |
//! | `juggleim` | session hashes as JuggleIM computes them ([`dialect::Dialect::JUGGLEIM`]) |
//! | `serde` | values as text in JSON and other formats that people read, as bits in binary formats |
//! | `uuid-1` | the UUID view of an ID as a `uuid::Uuid` |
//! | `sqlx-0_9`, `sqlx-postgres-0_9`, `postgres-types-0_2`, `diesel-2`, `rusqlite-0_41`, `redis-1`, `scylla-1` | IDs, sessions and session types in databases: see [`store`] |
//! | `schemars-1`, `utoipa-6` | the schemas of the JSON that `serde` writes |
//! | `arbitrary-1` | any ID, session and session type, for fuzzing |
//!
//! # Comparison
//!
//! | | imid | UUID version 7 | ULID | Snowflake (Twitter) |
//! | --- | --- | --- | --- | --- |
//! | bytes | 10 | 16 | 16 | 8 |
//! | characters | 19 | 36 | 26 | up to 19 digits |
//! | time | 42 bits of ms | 48 bits of ms | 48 bits of ms | 41 bits of ms |
//! | names the conversation | by type and 22-bit hash | no | no | no |
//! | needs a machine ID | no | no | no | yes, 10 bits |
//! | what makes it unique | the [guarantees](#guarantees) above | 74 random or counted bits | 80 random or counted bits | the machine ID |
//!
//! An ID with many random bits is the better choice if any host may write any conversation and no lane or lease is wanted.
//!
//! # Rust version and platforms
//!
//! The minimum version is Rust 1.88. The tests run on x86-64 Linux with Rust 1.95, and clippy checks that nothing newer than
//! 1.88 is used. Other targets are not tested yet. Generators need a target with 64-bit atomics. IDs and texts do not.
#![cfg_attr(not(any(feature = "std", test)), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]

// Minting needs 64-bit atomics. A target without them can still read and write IDs.

mod layout;

pub mod error;

mod times;

mod session;

mod id;

#[cfg(target_has_atomic = "64")]
mod sync;

#[cfg(target_has_atomic = "64")]
pub mod fork;

#[cfg(target_has_atomic = "64")]
pub mod clock;

#[cfg(target_has_atomic = "64")]
mod stamp;

#[cfg(all(feature = "std", target_has_atomic = "64"))]
mod wait;

#[cfg(target_has_atomic = "64")]
pub mod generator;

pub mod codec;

mod uuid_view;

pub mod store;

pub mod snowflake;

pub mod dialect;

pub mod identify;

mod integrations;

pub use codec::{HexText, IdText};
pub use id::{IdParts, MessageId};
pub use session::{SessionHash, SessionTag, SessionType};

#[cfg(target_has_atomic = "64")]
pub use generator::{Generator, Start};

#[cfg(all(feature = "std", target_has_atomic = "64"))]
pub use {generator::generate, identify::identify};

// The examples of the documents are tests. Each document has its own module, so that a failure names the document.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../README.md")]
    mod readme {}
    #[doc = include_str!("../docs/FORMAT.md")]
    mod format {}
    #[doc = include_str!("../docs/DESIGN.md")]
    mod design {}
    #[doc = include_str!("../docs/MIGRATING.md")]
    mod migrating {}
}
