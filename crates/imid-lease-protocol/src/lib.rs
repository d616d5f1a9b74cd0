//! The lease protocol of [`imid-lease`](https://docs.rs/imid-lease), without I/O: no thread, no clock, no connection and no random
//! source. Whoever drives it passes in the time and the random bits.
//!
//! **Use `imid-lease`.** This crate is for your own loop or runtime, for tests, and for reading. Its interface is not stable: any 0.x
//! version can change it. The protocol itself is `spec/PROTOCOL.md` in the repository of imid.
//!
//! A process takes a lane and is granted room to mint in it:
//!
//! ```
//! use imid_lease_protocol::admin;
//! use imid_lease_protocol::engine::{Action, Config, Engine, Moment, Outcome, Reply};
//! use imid_lease_protocol::record::{Name, Space};
//! use imid_lease_protocol::register::{MemoryRegister, Register};
//!
//! // From the system, in a program.
//! let mut random = (1..).map(|n: u128| n.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835));
//! let mut random = || Ok(random.next().unwrap_or(0));
//!
//! let mut register = MemoryRegister::new();
//! let space = Space::lanes(4)?;
//! admin::create_missing(&mut register, &space, &mut random)?;
//! let name = Name::parse("web-3")?;
//! let mut engine = Engine::new(Config { space: space.clone(), name, horizon_ms: 10_000, max_skew_ms: 5_000, any_lead: false });
//! let at = Moment { mono_ms: 0, now_ms: Some(1_795_204_812_345), used_until_ms: 0 };
//! let grant = loop {
//!     match engine.poll(at, random()?) {
//!         Action::List => engine.reply(at, Reply::Listed(Ok(register.list(&space.prefix())?))),
//!         Action::Read { key } => engine.reply(at, Reply::Read(Ok(register.read(&key)?))),
//!         Action::Write { attempt, key, seen, value } => {
//!             let is_written = register.compare_and_set(&key, seen.as_deref(), &value)?;
//!             let outcome = if is_written { Outcome::Acknowledged } else { Outcome::Conflict };
//!             engine.reply(at, Reply::Written { attempt, outcome });
//!         }
//!         Action::Seal => engine.reply(at, Reply::Sealed { end_ms: 0 }),
//!         Action::Start(grant) => break grant,
//!         other => unreachable!("{other:?}"),
//!     }
//! };
//! assert_eq!(grant.ceiling_ms, 1_795_204_822_345);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Guarantees
//!
//! **Unique**: the grants of one lane do not overlap, as long as the register keeps what it has acknowledged and answers a read with the
//! latest write, and the driver does what each [`Action`](engine::Action) says, mints only under a grant, and draws random bits that no
//! other call has had, in any process. Replies may be late, lost or never come, and clocks may be wrong.
//!
//! **Repeatable**: the same calls with the same times and random bits have the same results.
//!
//! # Modules
//!
//! | module | what it has |
//! | --- | --- |
//! | [`record`] | what is in a register: the lanes of each ID space, the keys of its records, and their text |
//! | [`register`] | the trait of a store of records, and one in memory |
//! | [`engine`] | a lease as a state machine: it learns what happened, and says what to do next |
//! | [`admin`] | what an operator writes: a new space, a recovery, another number of lanes |

pub mod record;

pub mod register;

pub mod engine;

pub mod admin;
