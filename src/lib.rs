//! Message IDs for chat backends: 80 bits that sort by time and carry a 22-bit hash of their room.
//!
//! A service **mints** an ID for each message, its database **orders** messages by ID, and any reader **parses** an ID back into its
//! time, session type and session hash. A session is a room, a group or a private chat. Minting needs no machine ID, no coordinator and
//! no network.
//!
//! ```
//! use imid::{MessageId, SessionTag, SessionType};
//!
//! let room = SessionTag::new(SessionType::GROUP, "room-42");
//! let id = imid::generate(room)?; // never blocks
//! println!("{id}"); // F3ZC-7SWG-ECQH-T3DD
//!
//! let id: MessageId = "F3ZC-7SWG-ECQH-T3DD".parse()?;
//! assert_eq!(id.timestamp_ms(), 1_795_204_812_345);
//! assert!(id.is_in(room));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! # What you can do
//!
//! **Mint in one process per room**: [`generate`], or your own [`Generator`] with more stripes, limits or another clock. It keeps
//! the order when the clock steps, and returns an error instead of an ID that could be a duplicate.
//!
//! ```
//! use imid::{Generator, StripedGenerator};
//! # use imid::SessionTag;
//!
//! static IDS: StripedGenerator = Generator::striped(); // strict order per session, 64 × 4,096 IDs/ms
//! let id = IDS.generate(SessionTag::pair("alice", "bob"))?;
//! # assert!(id.is_in(SessionTag::pair("bob", "alice")));
//! # Ok::<(), imid::generator::GenerateError>(())
//! ```
//!
//! **Mint on several hosts that lock the room's row**: [`MessageId::after`] makes the next ID from the row's last one and the time of
//! the database, without a generator or any state.
//!
//! ```
//! # use imid::{MessageId, SessionTag, SessionType};
//! # let (room, last, now_ms) = (SessionTag::new(SessionType::GROUP, "room-42"), None, 1_795_204_812_345);
//! // SELECT last_id, <the time in ms> FROM rooms WHERE name = 'room-42' FOR UPDATE
//! let id = MessageId::after(last, room, now_ms)?;
//! # assert!(id.is_in(room));
//! # Ok::<(), imid::error::AfterError>(())
//! ```
//!
//! **Store, send and read**: as 10 bytes, 19 characters, a UUID ([`to_uuid_bytes`](MessageId::to_uuid_bytes)) or an integer, all in one
//! order. [`store`] lists the features for databases, [`message_id!`] checks a literal when you compile, and [`codec`] reads and writes
//! many IDs at once.
//!
//! ```
//! use imid::{MessageId, message_id};
//!
//! let id = message_id!("F3ZC-7SWG-ECQH-T3DD");
//! assert_eq!(MessageId::from_bytes(id.to_bytes()), id);
//! assert_eq!(id.to_text().parse(), Ok(id));
//! assert_eq!(MessageId::parse_lenient(" f3zc7swgecqht3dd ")?, id); // as a person types it
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! **Scan by time**: [`MessageId::range`] returns the first and the last ID of a time range. **Route**: [`SessionTag::shard`] tells which
//! of n processes owns a session.
//!
//! ```
//! # use core::num::NonZeroU32;
//! # use imid::{MessageId, SessionTag, SessionType};
//! let minute = MessageId::range(1_795_204_800_000..1_795_204_860_000)?;
//! let query = format!("SELECT * FROM messages WHERE id BETWEEN '{}' AND '{}'", minute.start(), minute.end());
//!
//! let processes = NonZeroU32::new(100).expect("not 0");
//! assert_eq!(SessionTag::new(SessionType::GROUP, "room-42").shard(processes), 63);
//! # Ok::<(), imid::error::TimeRangeError>(())
//! ```
//!
//! IDs of other chat systems are in [`dialect`]; 64-bit IDs such as Twitter's are in the crate `imid-snowflake`.
//!
//! # The 80 bits
//!
//! ```text
//!  79                            38 37        26 25  22 21                  0
//! +--------------------------------+------------+------+---------------------+
//! |  timestamp: 42 bits, Unix ms   |  spin: 12  | type |  session hash: 22   |
//! +--------------------------------+------------+------+---------------------+
//! ```
//!
//! Where:
//! - **timestamp** is the number of milliseconds since 1970; the last one is on 2109-05-15;
//! - **spin** counts the IDs of a millisecond; it starts at a seeded value and carries into the next millisecond;
//! - **type** is the kind of session, a code from 0 to 15 ([`SessionType`]);
//! - **session hash** is the low 22 bits of XXH3-64 of the session's name ([`SessionHash`]).
//!
//! IDs have the same order as integers, as bytes and as text. The text has 19 characters: 16 digits in four dashed groups,
//! without 0, 1, O and I. For other languages, FORMAT.md fixes every bit and GENERATOR.md the rules of minting.
//!
//! # Guarantees
//!
//! This is the authoritative list. Other pages link to it.
//!
//! **Order**: the IDs of a generator strictly increase, over all sessions with one stripe and per session with more. After
//! [`observe`](Generator::observe), new IDs sort after the observed ID of another host as well. In a room in which several
//! hosts post, [`MessageId::after`] makes an ID that sorts after the room's last one.
//!
//! **Uniqueness**: the IDs of one generator are unique. Two generators that share no state can mint equal IDs only for
//! the same millisecond, spin, type and hash:
//!
//! | deployment | guarantee |
//! | --- | --- |
//! | one process mints for each session, chosen by [`SessionTag::shard`] | **unique**, if routing is exclusive: all routers agree on the count, one process at a time owns a session, and a new owner starts after the last ID of the old one ([`floor`](generator::Builder::floor)) |
//! | one process mints for each session, chosen by its *name* (a sticky load balancer, a Kafka key) | unique under the same conditions, except between two sessions that share a hash and are on two hosts: two of their IDs of one millisecond are equal with probability 1/4096 |
//! | any host mints for any session | **not unique**: two IDs of one session that two hosts mint in one millisecond are equal with probability 1/4096 |
//! | any host mints for any session with [`MessageId::after`], in a transaction that has locked the session's row, which has its last ID; the ID has a unique key | **unique** among what is stored, and in order within each session, regardless of the hosts' clocks, if the conditions in STORES.md hold |
//! | each host has its own [`lane`](generator::Builder::lane) | **unique**, while no two live hosts hold one lane and a lane's next holder starts after its last ID |
//! | each process holds a lease of the crate `imid-lease` on a strong store | **unique** regardless of clocks, networks or pauses, as long as the store loses no acknowledged write and no running VM is cloned |
//! | a process restarts without a floor and without a lease | **not unique**: the process is a new host. It can repeat IDs that ran ahead of the clock ([how far](#how-far-ids-can-be-ahead-of-the-clock)) |
//! | a process restarts with a `floor`, the greatest stored ID, or takes over sessions with [`raise_floor`](Generator::raise_floor) | no stored ID is repeated, and all new IDs sort after it. An ID that was minted and not stored can be repeated |
//! | a process forks | the child is a new host: it takes a new seed and starts after the last ID that it inherited. A generator with a lane returns an error there. [`fork`] lists the forks it cannot detect |
//!
//! Two sessions can share a session tag, because they can share a hash: see [`SessionHash`].
//!
//! # Clock steps and overload
//!
//! | event | what happens |
//! | --- | --- |
//! | the clock steps back by up to `max_rollback` (1 h) | minting continues at full rate. The time of the IDs continues from where it was, at half speed until the clock has caught up |
//! | the clock steps back further | an error that says by how much, and when to retry |
//! | one reading of the clock is far ahead of the last one | it is believed if a second reading agrees |
//! | a millisecond is full | IDs borrow from the next milliseconds, up to `max_lead` (1 s) ahead of the clock |
//! | the lead is used up | an error that says when to retry; [`generate_within`](Generator::generate_within) sleeps instead |
//!
//! # How far IDs can be ahead of the clock
//!
//! To find all messages up to a wall-clock time, extend the scan by this much:
//!
//! | event | an ID is ahead by at most | until the clock has caught up, after |
//! | --- | --- | --- |
//! | ordinary use | 1 ms | 1 ms |
//! | overload: more than 4,096 IDs in a millisecond and stripe | `max_lead` (1 s) | the lead |
//! | the clock steps back by s, at most `max_rollback` (1 h) | s + 1 ms | 2 × s |
//! | the same, with r IDs/ms in a stripe, more than 2,048 | s + 2 ms | s / (1 - r/4096) |
//! | overload while it is behind by a step of s | s + `max_lead` | 2 × s, or the lead |
//! | the clock repeats steps forward and back, and stays within s of the true time | 3 × s | 6 × s |
//! | [`observe`](Generator::observe) of an ID that is a ahead, at most `max_skew` (5 s) | a + 21 ms | 2 × a |
//! | [`observe_limited`](Generator::observe_limited) with a limit | the limit + 21 ms | twice the limit |
//! | a [`floor`](generator::Builder::floor) that is f ahead, at most `max_rollback` (1 h) | f + 21 ms | 2 × f |
//! | a fork of a process whose IDs are p ahead | p + 21 ms | 2 × p |
//!
//! The 21 ms are the next millisecond, up to 16 ms that spread the hosts that see one event, and 4 ms (or `max_lead`, if that
//! is less) that full load may borrow. The clock needs up to 34 ms more than the last column to catch up with the first two.
//! Events of different kinds add up. Under overload, so do restarts with a floor and hand-overs by
//! [`raise_floor`](Generator::raise_floor) that are less than 30 ms apart: 1,000 of them 10 ms apart led to 8.1 s, 40 ms apart to
//! 1.02 s. `tests/faults/lead.rs` checks the rows. A fork uses the same code path as a floor.
//!
//! # Choosing a generator
//!
//! | you want | use |
//! | --- | --- |
//! | no setup | [`generate`] |
//! | strict order over all sessions, 4,096 IDs/ms | [`Generator::new`] |
//! | strict order per session, 64 × 4,096 IDs/ms, threads that do not contend | [`Generator::striped`] |
//! | the fastest clock | a [`clock::TickClock`] in the [`builder`](Generator::builder) |
//! | many IDs for one session in one call | [`batch`](Generator::batch), [`fill`](Generator::fill) |
//! | several hosts, each message stored in a transaction that has locked its room's row | [`MessageId::after`] the room's last ID |
//! | replies that sort after their questions, where any host posts in a room by lanes or leases | [`observe`](Generator::observe) |
//! | several hosts that mint for one session, without that lock | [`lane`](generator::Builder::lane), or the crate `imid-lease` |
//! | after a crash, no ID that is already stored | [`floor`](generator::Builder::floor) with the greatest stored ID |
//! | after a crash, no ID that was ever minted | the crate `imid-lease` |
//! | IDs of imported messages, with their times | a [`clock::ManualClock`] and limits of [`Duration::MAX`](core::time::Duration::MAX) |
//! | 64-bit IDs such as those of Twitter, Leaf and NSQ | the crate `imid-snowflake` |
//!
//! # Speed
//!
//! - With the system clock, minting an ID takes 30 ns, of which reading the clock takes 23. With a [`TickClock`](clock::TickClock)
//!   it takes 2.7 ns, and in batches of 64 with the system clock 1.0 ns per ID.
//! - Writing the text of an ID takes 2.5 ns, reading it 3.3 ns.
//! - Two threads on two stripes mint 2.0 times as many IDs as one thread, and 1.7 times as many with a `TickClock`.
//!
//! These are loops at full speed on 2 virtual cores of an AMD EPYC (Zen 5). The minting loops are bursts, without the limit
//! `max_lead`; sustained, a stripe mints 4,096 IDs per millisecond. BENCHMARKS.md has all results, and those of other libraries.
//!
//! # Features
//!
//! | feature | adds |
//! | --- | --- |
//! | `std` (default) | the system clock, [`clock::TickClock`], seeds drawn at first use, [`generate`], calls that wait, fork detection and conversions with `String` and `Vec`. Without it the crate is `no_std` and needs no allocator; the caller provides a clock and a seed |
//! | `juggleim` | session hashes as JuggleIM computes them ([`dialect::Dialect::JUGGLEIM`]) |
//! | `serde` | values as text in JSON and other human-readable formats, as bits in binary formats. Of formats such as MessagePack, an ID can also be read from its text |
//! | `uuid-1` | the UUID view of an ID as a `uuid::Uuid` |
//! | `sqlx-0_9`, `sqlx-postgres-0_9`, `postgres-types-0_2`, `diesel-2`, `rusqlite-0_41`, `redis-1`, `scylla-1` | IDs, session tags and session types in databases: see [`store`]. `rusqlite-0_41` links the system's SQLite; on Debian 12, also depend on `rusqlite` with `bundled` |
//! | `schemars-1`, `utoipa-6` | schemas of the JSON that `serde` writes |
//! | `arbitrary-1` | any ID, session tag and session type, for fuzzing |
//!
//! A feature whose name ends in a version is kept for at least 12 months after the feature for the next version is added. The next
//! release that may break code (a minor one before 1.0, a major one later) then removes it.
//!
//! # Comparison
//!
//! | | imid | UUID version 7 | ULID | Snowflake (Twitter) |
//! | --- | --- | --- | --- | --- |
//! | bytes | 10 | 16 | 16 | 8 |
//! | characters | 19 | 36 | 26 | up to 19 digits |
//! | time | 42 bits of ms | 48 bits of ms | 48 bits of ms | 41 bits of ms |
//! | what it reveals about the room | type and 22-bit hash | nothing | nothing | nothing |
//! | needs a machine ID | no | no | no | yes, 10 bits |
//! | what makes it unique | the [guarantees](#guarantees) above | 74 random or counted bits | 80 random or counted bits | the machine ID |
//!
//! An ID with many random bits is the better choice if any host may mint for any room, and you want neither the room's lock nor leases.
//!
//! # Rust version and platforms
//!
//! The minimum version is Rust 1.88; some features need a newer one, because their crates do. `docs/PLATFORMS.md` lists the
//! systems and processors on which the tests run. Generators need a target with 64-bit atomics; IDs and texts do not.
#![cfg_attr(not(any(feature = "std", test)), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]

// Minting needs 64-bit atomics. A target without them can still read and write IDs.

mod layout;

pub mod error;

mod session;

mod id;

#[cfg(any(feature = "std", target_has_atomic = "64"))]
mod seed;

mod after;

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

pub mod dialect;

mod integrations;

pub use after::AfterOptions;
pub use id::{IdParts, MessageId};
pub use session::{SessionHash, SessionTag, SessionType};

#[cfg(target_has_atomic = "64")]
pub use generator::{Generator, StripedGenerator};

#[cfg(all(feature = "std", target_has_atomic = "64"))]
pub use generator::generate;

// The examples of the documents are tests. Each document has its own module, so that a failure names the document.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../README.md")]
    mod readme {}
    #[doc = include_str!("../spec/FORMAT.md")]
    mod format {}
    #[doc = include_str!("../docs/DESIGN.md")]
    mod design {}
}
