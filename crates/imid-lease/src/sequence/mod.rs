//! Numbers per conversation that grow by one.
// (docs below)

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

use core::num::NonZeroU32;
use core::time::Duration;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Instant;

use imid::Session;

pub use self::conversation::{Conversation, Number};
pub use self::engine::LastStored;
use self::engine::{Engine, MAX_BOUND, PAUSE_MS};
use self::error::OpenErrorKind;
pub use self::error::{NextError, OpenError};
pub use self::jumps::Jumps;
use self::keeper::{Keeper, Shared};
use self::numbers::Short;
pub use self::options::SequenceOptions;
pub(crate) use self::options::check_name;
use self::record::Meta;
pub use self::record::{Jump, RecordError};
pub(crate) use self::record::{Keys, LineRecord};
use crate::Promise;
use crate::Register;
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
        let (identity, register_id) = (bits()?, bits()?);
        let (owner, seed) = (identity as u64, (identity >> 64) as u64);
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
        let shared = Arc::new(Shared::new(config.sections, seed, options.sessions_per_section));
        let mut engine = Engine::new(config, 0);
        let all = if options.claim_all { 0..options.sections.get() } else { 0..0 };
        for section in all.chain(options.claim.iter().copied()) {
            engine.claim(section, 0);
        }
        let process = imid::process::watch();
        let floor = options.floor;
        let register: Box<dyn Register> = Box::new(register);
        let mut keeper = Keeper { register, engine, keys, floor, shared: shared.clone(), started: Instant::now() };
        keeper.settle();
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
    pub fn conversation(&self, session: Session, name: impl Hash) -> Conversation {
        Conversation::new(session.shard(self.sections), self.hasher.hash_one((session, name)))
    }

    /// Returns the next number of a conversation.
    ///
    /// **Never blocks on the network**: it takes the number from memory. The keeper's thread fetches the next step ahead.
    ///
    /// # Errors
    /// This process does not hold the section; the numbers below the bound are used and the register has not answered
    /// yet; the register lost a write; or this process is a forked child of the one that opened the sequence.
    #[inline]
    pub fn next(&self, conversation: Conversation) -> Result<Number, NextError> {
        // Before the lock: in a forked child another thread may have held it for ever.
        if imid::process::mark() != self.process {
            return Err(NextError::forked(conversation.section()));
        }
        let Some(section) = self.shared.sections.get(conversation.section() as usize) else {
            return Err(NextError::no_such_section(conversation.section(), self.sections.get()));
        };
        let minted = section.numbers().next(conversation.key());
        match minted {
            Ok(minted) => {
                if let Some(wish) = minted.wish {
                    self.shared.wish(section, wish);
                }
                Ok(Number::new(&minted))
            }
            Err(short) => Err(self.short(conversation.section(), short)),
        }
    }

    #[cold]
    fn short(&self, number: u32, short: Short) -> NextError {
        let section = &self.shared.sections[number as usize];
        // The register's answer is on its way, unless it has just failed.
        let retry_ms = if self.shared.is_failing.load(Ordering::Relaxed) { PAUSE_MS as u32 } else { 1 };
        match short {
            _ if section.went_back.load(Ordering::Relaxed) => NextError::went_back(number),
            Short::NotHeld => NextError::not_held(number, (self.time_out.as_millis() as u32 / 4).max(1)),
            Short::Bound if section.numbers().bound() == MAX_BOUND => NextError::exhausted(number),
            Short::Bound => NextError::bound(number, retry_ms),
            Short::Full => NextError::full(number, retry_ms),
        }
    }

    /// Takes a section as soon as it is free, or its owner is silent for the time-out.
    ///
    /// # Panics
    /// The sequence does not have this section.
    pub fn claim(&self, section: u32) {
        assert!(section < self.sections.get(), "section {section} of {}", self.sections);
        self.shared.claim(section);
    }

    /// Gives a section back, in the background. Another process can take it at once and goes on after the greatest
    /// number of the section.
    ///
    /// # Panics
    /// The sequence does not have this section.
    pub fn release(&self, section: u32) {
        assert!(section < self.sections.get(), "section {section} of {}", self.sections);
        self.shared.release(section);
    }

    /// Returns the name of a section's owner, as the register had it last.
    pub fn holder(&self, section: u32) -> Option<String> {
        lock(&self.shared.report).holders.get(section as usize)?.clone()
    }

    /// Returns what operators should see.
    pub fn status(&self) -> SequenceStatus {
        let report = lock(&self.shared.report).clone();
        let mut status = SequenceStatus {
            register: self.register,
            held: 0,
            went_back: 0,
            lost: report.lost,
            writes: report.writes,
            sessions: 0,
            bytes: 0,
            error: report.error,
        };
        for section in &self.shared.sections {
            let numbers = section.numbers();
            let (sessions, bytes) = numbers.memory();
            status.held += u32::from(numbers.epoch() != 0);
            status.went_back += u32::from(section.went_back.load(Ordering::Relaxed));
            status.sessions += sessions;
            status.bytes += bytes;
        }
        status
    }
}

/// Gives all sections back, so that their next owners need not wait for the time-out and the numbers jump less.
impl Drop for Sequence {
    fn drop(&mut self) {
        // A forked child has no keeper, and must not use its parent's connection.
        if imid::process::mark() == self.process
            && let Some(keeper) = self.keeper.take()
        {
            self.shared.close();
            let _ = keeper.join();
        }
    }
}

/// The state of a [`Sequence`], for operators.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SequenceStatus {
    /// The random ID of the register. Processes that show different IDs use different registers, and their numbers can
    /// be equal.
    pub register: u128,
    /// How many sections this process holds.
    pub held: u32,
    /// How many sections stand still because the register lost a write of this process.
    pub went_back: u32,
    /// How many sections other processes took from this one.
    pub lost: u64,
    /// How many writes of sections' records were tried.
    pub writes: u64,
    /// How many sessions are in memory.
    pub sessions: usize,
    /// How many bytes their tables take.
    pub bytes: usize,
    /// The error of the register's last call, if it failed.
    pub error: Option<String>,
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
