//! Message IDs for chat backends: 80 bits that sort by time and name their conversation.
//!
//! A service **tags** each message with an ID, lets its store **order messages by the ID's text**, and **reads** the ID
//! back into time, session type and session. It needs no machine ID, no coordinator and no network.
//!
//! - One ID by the system clock takes 38 ns, of which the clock is 23; by a published clock 17 ns; in batches of 64 1.2 ns.
//! - Its text is written in 4 ns and read in 7; a million at once in 3 ns each, no more than a copy takes.
//! - Two threads on stripes of their own mint 1.9 times what one does.
//! - A clock that steps back 30 s stops nothing and repeats nothing. Of 14 other libraries 4 block or panic, and 4 lose
//!   the order or repeat IDs.
//!
//! (Xeon of 2019, 2 virtual cores; BENCHMARKS.md has the runs, and those of a quicker machine.)
//!
//! ```
//! use imid::{Generator, MessageId, Session, SessionType};
//!
//! let ids = Generator::new();
//! let room = Session::new(SessionType::GROUP, "room-42");
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
//! - **timestamp** counts milliseconds since 1970 and ends on 2109-05-15;
//! - **spin** counts the IDs of a millisecond; it starts at a seeded place and carries into the next millisecond;
//! - **type** is the kind of conversation, a code from 0 to 15 ([`SessionType`]);
//! - **session hash** is the low 22 bits of XXH3-64 of the conversation's name ([`SessionHash`]).
//!
//! Integer order, byte order and text order are the same. The text is 19 characters in four dashed groups, of digits
//! without 0, 1, O and I. The format is fixed bit by bit in FORMAT.md.
//!
//! # What is guaranteed
//!
//! Order: one generator's IDs strictly increase, over all sessions with one stripe, per session with more. After
//! [`observe`](Generator::observe) they also come after IDs from elsewhere.
//!
//! Uniqueness: inside one generator always. Across generators that share no state two IDs are equal only if they have
//! the same millisecond, spin, type and hash:
//!
//! | deployment | guarantee |
//! | --- | --- |
//! | each session is minted by one process, chosen by [`Session::shard`] | **unique**, without coordination while serving, as long as all routers agree on the count and a new owner starts past its predecessor's last stamp ([`floor`](generator::Builder::floor)) |
//! | each session is minted by one process, chosen by its *name* | two different sessions that share a hash on two hosts: 1/4096 per pair of messages in the same millisecond |
//! | any host mints for any session | one session on many hosts: 1/4096 per pair of its messages in the same millisecond |
//! | each host has its own [`lane`](generator::Builder::lane) | **unique**, as long as no two live hosts hold one lane and a lane's next holder starts past its last stamp |
//!
//! The session hash is a hint, never proof: with 2,400 sessions of one type two of them share a hash with probability
//! 1/2.
//!
//! # When the clock steps back, or too much is asked
//!
//! | event | what happens |
//! | --- | --- |
//! | the clock steps back by up to `max_rollback` (1 h) | minting goes on at once and at full rate, from the time it had reached |
//! | it steps back further | an error that says by how much and when to come back |
//! | a millisecond is full | the next ones are borrowed, up to `max_lead` (1 s) |
//! | the lead is used up | an error that says when to come back; [`generate_within`](Generator::generate_within) sleeps instead |
//! | the process forks | the child takes a new seed and starts after the last inherited stamp |
//!
//! # Choosing a generator
//!
//! | you want | take |
//! | --- | --- |
//! | no set-up | [`generate`] |
//! | strict order over all sessions, 4,096 IDs/ms | [`Generator::new`] |
//! | strict order per session, n × 4,096 IDs/ms, threads that do not contend | [`Generator::striped`] |
//! | the cheapest clock | a [`clock::TickClock`] in the [`builder`](Generator::builder) |
//! | many IDs of one session at once | [`batch`](Generator::batch), [`fill`](Generator::fill) |
//! | replies that sort after their questions across hosts | [`observe`](Generator::observe) |
//! | several hosts that write one session | [`lane`](generator::Builder::lane) |
//! | imports with times of their own | a [`clock::ManualClock`] and limits of [`Duration::MAX`](core::time::Duration::MAX) |
//!
//! # Features
//!
//! - `std` (default): the system clock, [`clock::TickClock`], seeds drawn at first use, [`generate`], waiting calls,
//!   fork detection. Without it the crate is `no_std` and needs no allocator; a clock and a seed are then the caller's
//!   to give.
//! - `juggleim`: session hashes as JuggleIM makes them; see [`dialect`].
//! - `serde`: IDs as text in JSON, as bytes in binary formats.
//!
//! IDs in other text forms, and what could have made a text, are in [`dialect`]; the 64-bit family is in [`snowflake`].
//!
//! IDs and text work on every target, generators where there are 64-bit atomics; x86-64 Linux is what is tested. Rust
//! 1.95 or later.
#![cfg_attr(not(any(feature = "std", test)), no_std)]

/// Items of what mints, which needs 64-bit atomics. Targets without them still read and write IDs.
macro_rules! cfg_minting {
    ($($item:item)*) => { $(#[cfg(target_has_atomic = "64")] $item)* };
}

mod layout;

pub mod error;

mod session;

mod id;

cfg_minting! {
    mod sync;

    mod fork;

    pub mod clock;

    mod stamp;

    #[cfg(feature = "std")]
    mod wait;

    pub mod generator;
}

pub mod codec;

pub mod snowflake;

pub mod dialect;

pub mod identify;

mod integrations;

pub use codec::IdText;
pub use id::MessageId;
pub use session::{Session, SessionHash, SessionType};

cfg_minting! {
    pub use generator::{Generator, Start};

    #[cfg(feature = "std")]
    pub use generator::generate;

    #[cfg(feature = "std")]
    pub use identify::identify;
}

// The documents' examples are tests; one module each, so that a failure names the file.
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
