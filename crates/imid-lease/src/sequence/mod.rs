//! Numbers per conversation that grow by one: for gap detection, unread counts and paging.
//!
//! The numbers are in memory. What the register holds is one **bound** per section of sessions, which is written ahead
//! in steps, as in `WeChat`'s seqsvr: all numbers of a section's sessions are below its bound. With a step of 10,000
//! one write pays for at least 10,000 numbers of the busiest session, and for those of all other sessions of the
//! section.
//!
//! One process owns a section at a time. Each ownership is an **epoch**, and each number comes with it.
//!
//! ```
//! use imid::{SessionTag, SessionType};
//! use imid_lease::Sequence;
//! use imid_lease::register::FileRegister;
//! use imid_lease::sequence::SequenceOptions;
//!
//! # let folder = std::env::temp_dir().join(format!("imid-sequence-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! # let path = folder.join("register");
//! let register = FileRegister::owned(&path)?;
//! let sequence = Sequence::open(register, SequenceOptions::new("chat").holder("chat-1"))?;
//! let room = sequence.conversation(SessionTag::new(SessionType::GROUP, "room-42"), "room-42");
//! let first = sequence.next(room)?;
//! let second = sequence.next(room)?;
//! assert_eq!((first.value(), second.value()), (1, 2));
//! # drop(sequence);
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is promised
//! As long as the register keeps its word:
//! - **Never repeats**: no number of a conversation is minted twice, by any process.
//! - **Grows by one** within an epoch: the first number of each conversation in an epoch is the epoch's start, and each
//!   further number is one more.
//! - **Jumps are recorded** when an epoch begins (see below).
//! - **Never goes back** for one owner, and for a message store that refuses lower epochs. Without that check a store can
//!   see the number of a paused former owner after a greater one of its successor.
//! - **Never blocks on the network**: [`Sequence::next`] takes a lock for some nanoseconds and looks into a table. The
//!   keeper's thread calls the register. When it is too late, the caller gets an error that says when to come back.
//!
//! A number whose message is never stored leaves a gap inside an epoch, and nothing here explains it. Where that must
//! not be, take the number in the transaction that stores the message (the recipes in `recipes/`).
//!
//! # After a restart
//! The register does not know the sessions, only the section's bound. So the next owner starts **all** sessions of the
//! section at one number, the start of the new epoch, whatever each of them had reached. After a crash the start is the
//! bound: up to one and a half steps above the greatest number of the section. After an orderly close it is the
//! greatest number plus one. In both cases each session of the section jumps, the quiet ones farther than the busy
//! ones. A session that is used for the first time in an epoch starts there, too, also if it is new.
//!
//! The register keeps each jump: section, epoch, `from`, `to`. A reader that misses the numbers before `n` knows that
//! they never come if `n` is the start of a recorded epoch ([`Jumps::explains`]), or if the message says so
//! ([`Number::is_first_of_epoch`], stored with it), and the message store has accepted `n`. Several epochs can lie
//! between two messages of a quiet conversation. Their jumps follow each other without a hole.
//!
//! # What the message store does
//! It keeps the greatest epoch and number of each conversation, and accepts a message in one transaction with
//! ```sql
//! UPDATE conversation SET epoch = $2, number = $3
//! WHERE id = $1 AND (epoch < $2 OR epoch = $2 AND number < $3)
//! ```
//! If no row changes, the epoch is an old one, or a later number was faster: the sender asks for a new number.
//!
//! # Faults
//! | fault | effect |
//! | --- | --- |
//! | the owner is killed | its name takes the sections again at once, another name after the time-out; numbers go on at the bound; a recorded jump |
//! | the owner is paused, and another process takes its section | its numbers are still below its bound, so none repeats; the message store refuses its epoch; at its next write it sees the loss and mints nothing |
//! | the register is gone | minting goes on for half a step to one and a half; then an error with `retry_after` |
//! | an answer is lost or late | the keeper reads, and writes again; no bound is used before a write of it was acknowledged |
//! | a clock is wrong | none: clocks only decide how soon a silent owner's sections are taken |
//! | two processes have the same name | each start takes the other's sections: more jumps, no repeat |
//! | another count of sections | refused by the register's record |
//! | the register goes back (restored, wiped) | the owner notices at its next write, stops the section and says so. A process that knew nothing of it cannot notice: recover first (`docs/LEASES.md`) |
//! | the register loses acknowledged writes (a weak one) | refused, unless the application gives the last stored numbers ([`SequenceOptions::floor`]) |
//! | the process forks | the child gets [`SequenceError::is_forked`] and never uses the parent's connection |
//! | the machine is cloned while it runs | **both copies mint the same numbers up to the bound**, in one epoch. Then one of them loses each section. No sequence in memory can notice this |
//! | more sessions than memory should hold | the section starts a new epoch with an empty table ([`SequenceOptions::sessions_per_section`]): a recorded jump |
//!
//! # Cost
//! A session in memory costs 16 to 24 bytes, plus the old table while a section's table grows. A number costs a lock,
//! and one or two cache lines of the section's table. With a million sessions those lines come from memory.
//!
//! Each owner writes one record in each quarter of the time-out to show that it is alive, however many sections it has.
//! The records of jumps are never deleted; there is one for each section and epoch.

mod conversation;
mod engine;
mod error;
mod jumps;
mod keeper;
mod numbers;
mod options;
mod record;
#[cfg(test)]
mod simulation;
mod table;

use core::num::NonZeroU32;
use core::time::Duration;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Instant;

use imid::SessionTag;

pub use self::conversation::{Conversation, Number};
pub use self::engine::LastStored;
use self::engine::{Engine, MAX_BOUND, PAUSE_MS};
use self::error::OpenErrorKind;
pub use self::error::{OpenError, SequenceError};
pub use self::jumps::Jumps;
use self::keeper::{Keeper, Shared};
use self::numbers::NoNumber;
pub use self::options::SequenceOptions;
pub(crate) use self::options::is_name;
use self::record::Meta;
pub use self::record::{Jump, RecordError};
pub(crate) use self::record::{Keys, LineRecord};
use crate::Promise;
use crate::Register;
use crate::record::Uuid;
use crate::sync::lock;

/// Numbers per conversation, granted by a register.
#[derive(Debug)]
pub struct Sequence {
    shared: Arc<Shared>,
    sections: NonZeroU32,
    register: u128,
    time_out: Duration,
    /// Makes the keys of the table from the conversations' names.
    hasher: RandomState,
    process: u64,
    keeper: Option<JoinHandle<()>>,
}

impl Sequence {
    /// Opens a sequence, and takes the sections that are free or that this owner's name held last.
    ///
    /// Returns after the first look at all sections. Sections of other owners are taken later, in the background, when
    /// their owners are silent for the time-out.
    ///
    /// # Errors
    /// An option is out of its range. The register does not answer. The register is weak and the options have no floor.
    /// The sequence is registered with another count of sections.
    pub fn open(mut register: impl Register + 'static, options: SequenceOptions) -> Result<Self, OpenError> {
        let bits = || crate::random::bits().map_err(OpenErrorKind::Random);
        let (owner, register_id) = (bits()? as u64, bits()?);
        let config = options.config(owner)?;
        let keys = Keys::new(&options.name);
        let fresh = Meta { register: register_id, sections: options.sections };
        let meta = agree(&mut register, &keys, fresh)?;
        // A remote register knows its promise once it has connected.
        if let (Promise::Weak(reason), None) = (register.promise(), &options.floor) {
            return Err(OpenErrorKind::Weak { reason: reason.into_owned() }.into());
        }
        if meta.sections != options.sections {
            return Err(OpenErrorKind::Sections { registered: meta.sections, given: options.sections }.into());
        }
        let shared = Arc::new(Shared::new(config.sections, options.sessions_per_section));
        let mut engine = Engine::new(config, 0);
        let all = if options.claim_all { 0..options.sections.get() } else { 0..0 };
        for section in all.chain(options.claim.iter().copied()) {
            engine.claim(section, 0);
        }
        let process = imid::process::watch();
        let floor = options.floor;
        let register: Box<dyn Register> = Box::new(register);
        let mut keeper = Keeper {
            register,
            register_id: meta.register,
            name: options.name,
            engine,
            keys,
            floor,
            shared: shared.clone(),
            started: Instant::now(),
        };
        keeper.do_due_actions();
        let thread = std::thread::Builder::new().name("imid-sequence".to_owned());
        let keeper = thread.spawn(move || keeper.run()).map_err(OpenErrorKind::Thread)?;
        Ok(Self {
            shared,
            sections: options.sections,
            register: meta.register,
            time_out: options.time_out,
            hasher: RandomState::new(),
            process,
            keeper: Some(keeper),
        })
    }

    /// Returns a conversation of this sequence. Make it once per conversation and keep it.
    ///
    /// The name is what tells the conversation from others of its type: a text, or a number of the application. Two
    /// conversations with equal session and equal name share their numbers. The session alone is not enough: of 2,400
    /// sessions of one type, two share a hash with probability 1/2.
    pub fn conversation(&self, session: SessionTag, name: impl Hash) -> Conversation {
        Conversation::new(session.shard(self.sections), self.hasher.hash_one((session, name)))
    }

    /// Returns the next number of a conversation.
    ///
    /// **Never blocks on the network**: it takes the number from memory. The keeper's thread fetches the next step
    /// ahead.
    ///
    /// # Errors
    /// This process does not hold the section; the numbers below the bound are used and the register has not answered
    /// yet; the register lost a write; or this process is a forked child of the one that opened the sequence.
    #[inline]
    pub fn next(&self, conversation: Conversation) -> Result<Number, SequenceError> {
        // Before the lock: in a forked child another thread may have held it for ever.
        if self.is_forked() {
            return Err(SequenceError::forked(conversation.section()));
        }
        let Some(section) = self.shared.sections.get(conversation.section() as usize) else {
            return Err(SequenceError::no_such_section(conversation.section(), self.sections.get()));
        };
        let minted = section.numbers().next(conversation.key());
        // The section is not locked any more.
        match minted {
            Ok(minted) => {
                if let Some(wish) = minted.wish {
                    self.shared.wish(conversation.section(), wish);
                }
                Ok(Number::new(&minted))
            }
            Err(reason) => Err(self.no_number(conversation.section(), reason)),
        }
    }

    #[cold]
    fn no_number(&self, number: u32, reason: NoNumber) -> SequenceError {
        let section = &self.shared.sections[number as usize];
        // The register's answer is on its way, unless it has just failed.
        let retry_ms = if self.shared.is_failing.load(Ordering::Relaxed) { PAUSE_MS as u32 } else { 1 };
        match reason {
            _ if section.reverted.load(Ordering::Relaxed) => SequenceError::reverted(number),
            NoNumber::NotHeld => SequenceError::not_held(number, (self.time_out.as_millis() as u32 / 4).max(1)),
            NoNumber::Bound if section.numbers().bound() == MAX_BOUND => SequenceError::exhausted(number),
            NoNumber::Bound => SequenceError::bound(number, retry_ms),
            NoNumber::Full => SequenceError::full(number, retry_ms),
        }
    }

    /// Takes a section as soon as it is free, or its owner is silent for the time-out.
    ///
    /// # Errors
    /// The sequence does not have this section, or this process is a forked child of the one that opened the sequence.
    pub fn claim(&self, section: u32) -> Result<(), SequenceError> {
        self.check(section)?;
        self.shared.claim(section);
        Ok(())
    }

    /// Gives a section back, in the background. Another process can take it at once and goes on after the greatest
    /// number of the section.
    ///
    /// # Errors
    /// The sequence does not have this section, or this process is a forked child of the one that opened the sequence.
    pub fn release(&self, section: u32) -> Result<(), SequenceError> {
        self.check(section)?;
        self.shared.release(section);
        Ok(())
    }

    /// Returns whether this process is a forked child of the one that opened the sequence. A lock that another thread
    /// held at the fork is never released in it.
    fn is_forked(&self) -> bool {
        imid::process::mark() != self.process
    }

    fn check(&self, section: u32) -> Result<(), SequenceError> {
        if self.is_forked() {
            return Err(SequenceError::forked(section));
        }
        if section < self.sections.get() {
            return Ok(());
        }
        Err(SequenceError::no_such_section(section, self.sections.get()))
    }

    /// Returns the name of the process that holds a section, as it was last read from the register. `None` if it was
    /// not read yet, if no process holds the section, or if the sequence does not have it. In a
    /// forked child it is always `None`.
    pub fn holder(&self, section: u32) -> Option<String> {
        if self.is_forked() {
            return None;
        }
        lock(&self.shared.report).holders.get(section as usize)?.clone()
    }

    /// Returns the state, for operators. In a forked child the sequence holds nothing.
    pub fn status(&self) -> SequenceStatus {
        let register = Uuid::from_u128(self.register);
        if self.is_forked() { SequenceStatus::none(register) } else { self.shared.status(register) }
    }
}

/// Gives all sections back, so that their next owners need not wait for the time-out and the numbers jump less.
impl Drop for Sequence {
    fn drop(&mut self) {
        let keeper = self.keeper.take();
        if self.is_forked() {
            // The thread is not in this process, so it cannot be joined, and the handle must not be dropped.
            std::mem::forget(keeper);
        } else if let Some(keeper) = keeper {
            self.shared.close();
            let _ = keeper.join();
        }
    }
}

/// The state of a [`Sequence`], for operators.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SequenceStatus {
    /// Names the register. Processes that show different UUIDs use different registers, and their numbers can be equal.
    pub register: Uuid,
    /// How many sections this process holds.
    pub held: u32,
    /// How many sections stand still because the register lost a write of this process.
    pub reverted: u32,
    /// How many sections other processes took from this one.
    pub lost: u64,
    /// How many writes of sections' records were tried.
    pub writes: u64,
    /// How many sessions are in memory.
    pub sessions: usize,
    /// How many bytes their tables take.
    pub bytes: usize,
    /// The error of the register's last call, if it failed.
    pub last_error: Option<String>,
}

impl SequenceStatus {
    /// Returns the state of a sequence that holds nothing.
    const fn none(register: Uuid) -> Self {
        Self { register, held: 0, reverted: 0, lost: 0, writes: 0, sessions: 0, bytes: 0, last_error: None }
    }
}

/// Reads what all processes of the sequence agree on, or proposes it.
fn agree(register: &mut dyn Register, keys: &Keys, fresh: Meta) -> Result<Meta, OpenError> {
    let key = keys.meta();
    // A write without an answer may have happened, so only what is read counts.
    let mut written = Ok(false);
    for _ in 0..2 {
        if let Some(text) = register.read(&key)? {
            return text.parse().map_err(|error| OpenError::record(&key, error));
        }
        written = register.compare_and_set(&key, None, &fresh.to_string());
        if let Ok(true) = written {
            return Ok(fresh);
        }
    }
    written?;
    Err(crate::RegisterError::new(format!("{key} cannot be created, and there is no such record")).into())
}
