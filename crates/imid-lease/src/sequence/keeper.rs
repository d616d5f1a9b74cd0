//! The thread that drives the engine: it calls the register and hands grants to the numbers in memory.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::thread::Thread;
use std::time::{Duration, Instant};

use super::SequenceStatus;
use super::engine::{Action, Effect, Engine, LastStored, Reply};
use super::numbers::{Numbers, Wish};
use super::options::Floor;
use super::record::{Keys, RecordError, SectionRecord};
use crate::record::Uuid;
use crate::sync::lock;
use crate::{Promise, Register};

/// One section: the numbers, and what the minting threads and the keeper tell each other.
///
/// Two cache lines, since processors fetch lines in pairs: sections that are next to each other are used by different
/// threads.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Section {
    numbers: Mutex<Numbers>,
    /// A wish for the keeper.
    wish: AtomicU8,
    /// The register has lost a write of this section.
    pub(crate) reverted: AtomicBool,
}

const NO_WISH: u8 = 0;
const RAISE: u8 = 1;
const NEW_EPOCH: u8 = 2;

impl Section {
    #[inline]
    pub(crate) fn numbers(&self) -> MutexGuard<'_, Numbers> {
        lock(&self.numbers)
    }
}

/// What the keeper is asked to do.
#[derive(Debug, Clone, Copy)]
enum Command {
    Claim(u32),
    Release(u32),
}

/// What the keeper reports.
#[derive(Debug, Clone, Default)]
pub(crate) struct Report {
    pub(crate) writes: u64,
    pub(crate) lost: u64,
    pub(crate) holders: Vec<Option<String>>,
    /// The last error of the register, until it answers again.
    pub(crate) error: Option<String>,
}

/// What the minting threads share with the keeper.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) sections: Box<[Section]>,
    commands: Mutex<Vec<Command>>,
    pub(crate) report: Mutex<Report>,
    /// The last call of the register had no answer.
    pub(crate) is_failing: AtomicBool,
    closing: AtomicBool,
    thread: OnceLock<Thread>,
}

impl Shared {
    pub(crate) fn new(sections: u32, many_sessions: usize) -> Self {
        let section = |_| Section {
            numbers: Mutex::new(Numbers::new(many_sessions)),
            wish: AtomicU8::new(NO_WISH),
            reverted: AtomicBool::new(false),
        };
        Self {
            sections: (0..sections).map(section).collect(),
            commands: Mutex::default(),
            report: Mutex::new(Report { holders: vec![None; sections as usize], ..Report::default() }),
            is_failing: AtomicBool::new(false),
            closing: AtomicBool::new(false),
            thread: OnceLock::new(),
        }
    }

    /// Asks the keeper for something that the numbers in memory need.
    #[cold]
    pub(crate) fn wish(&self, section: u32, wish: Wish) {
        let wish = match wish {
            Wish::Raise => RAISE,
            Wish::NewEpoch => NEW_EPOCH,
        };
        // ORDERING: the keeper takes the numbers' lock before it uses what it knows of them.
        self.sections[section as usize].wish.fetch_max(wish, Ordering::Relaxed);
        self.wake();
    }

    /// Returns what operators should see of a sequence on this register.
    pub(crate) fn status(&self, register: Uuid) -> SequenceStatus {
        let report = lock(&self.report).clone();
        let mut status = SequenceStatus {
            lost: report.lost,
            writes: report.writes,
            last_error: report.error,
            ..SequenceStatus::none(register)
        };
        for section in &self.sections {
            let numbers = section.numbers();
            let (sessions, bytes) = numbers.memory();
            status.held += u32::from(numbers.epoch() != 0);
            status.reverted += u32::from(section.reverted.load(Ordering::Relaxed));
            status.sessions += sessions;
            status.bytes += bytes;
        }
        status
    }

    pub(crate) fn claim(&self, section: u32) {
        lock(&self.commands).push(Command::Claim(section));
        self.wake();
    }

    pub(crate) fn release(&self, section: u32) {
        lock(&self.commands).push(Command::Release(section));
        self.wake();
    }

    pub(crate) fn close(&self) {
        self.closing.store(true, Ordering::Release);
        self.wake();
    }

    fn wake(&self) {
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }
}

/// Drives the engine.
pub(crate) struct Keeper {
    pub(crate) register: Box<dyn Register>,
    #[cfg_attr(not(feature = "metrics"), expect(dead_code, reason = "for the metrics"))]
    pub(crate) register_id: u128,
    /// The name of the sequence.
    #[cfg_attr(not(feature = "metrics"), expect(dead_code, reason = "for the metrics"))]
    pub(crate) name: String,
    pub(crate) engine: Engine,
    pub(crate) keys: Keys,
    pub(crate) floor: Option<Floor>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) started: Instant,
}

impl Keeper {
    /// Runs until the sequence is closed.
    pub(crate) fn run(mut self) {
        // Set before the first wait. A wish that comes earlier is seen by the first step.
        let _ = self.shared.thread.set(std::thread::current());
        while !self.shared.closing.load(Ordering::Acquire) {
            if let Some(wait) = self.step() {
                std::thread::park_timeout(wait);
            }
        }
        self.release_all();
        self.export();
    }

    /// Publishes the metrics.
    #[cfg_attr(not(feature = "metrics"), expect(clippy::unused_self, reason = "there are no metrics"))]
    fn export(&self) {
        #[cfg(feature = "metrics")]
        crate::metrics::record_sequence(
            &self.name,
            self.engine.name(),
            &self.shared.status(Uuid::from_u128(self.register_id)),
        );
    }

    /// Does actions until there is nothing to do at once. Returns how long it then waits.
    pub(crate) fn do_due_actions(&mut self) -> Duration {
        loop {
            if let Some(wait) = self.step() {
                return wait;
            }
        }
    }

    /// Does one action, or returns how long there is nothing to do.
    fn step(&mut self) -> Option<Duration> {
        self.listen();
        let now = self.now();
        let token = match crate::random::bits() {
            Ok(bits) => bits as u64,
            Err(error) => {
                lock(&self.shared.report).error = Some(error.to_string());
                return Some(Duration::from_secs(1));
            }
        };
        match self.engine.poll(now, token) {
            Action::Wait(until) => {
                self.export();
                Some(Duration::from_millis(until.saturating_sub(now).max(1)))
            }
            action => {
                let answer = self.act(action);
                self.learn(answer);
                None
            }
        }
    }

    fn now(&self) -> u64 {
        self.started.elapsed().as_millis() as u64
    }

    /// Passes wishes and commands on to the engine.
    fn listen(&mut self) {
        for (number, section) in (0..).zip(&self.shared.sections) {
            if section.wish.load(Ordering::Relaxed) == NO_WISH {
                continue;
            }
            match section.wish.swap(NO_WISH, Ordering::Relaxed) {
                RAISE => self.engine.wish(number, Wish::Raise),
                NEW_EPOCH => self.engine.wish(number, Wish::NewEpoch),
                _ => {}
            }
        }
        let commands = std::mem::take(&mut *lock(&self.shared.commands));
        let now = self.now();
        for command in commands {
            match command {
                Command::Claim(section) => self.engine.claim(section, now),
                Command::Release(section) => self.release(section),
            }
        }
    }

    fn release(&mut self, section: u32) {
        let end = self.shared.sections[section as usize].numbers().seal();
        self.engine.release(section, end);
    }

    /// Seals all sections and gives them back. The first failure ends it: the others then wait for the time-out.
    fn release_all(&mut self) {
        for section in 0..self.shared.sections.len() as u32 {
            self.release(section);
        }
        while self.engine.is_releasing() {
            if self.step().is_some() || self.shared.is_failing.load(Ordering::Relaxed) {
                return;
            }
        }
    }

    fn act(&mut self, action: Action) -> Result<Reply, String> {
        match action {
            Action::List => {
                let records = self.register.list(&self.keys.sections()).map_err(|error| error.to_string())?;
                // Settings can change while the register is in use. What is held stays below its bound.
                if let (Promise::Weak(reason), None) = (self.register.promise(), &self.floor) {
                    return Err(format!("the register can lose acknowledged writes: {reason}"));
                }
                let sections = records.iter().filter_map(|(key, text)| Some((self.keys.section_of(key)?, text)));
                Ok(Reply::Listed(sections.map(|(section, text)| (section, text.parse().ok())).collect()))
            }
            Action::Read(section) => {
                let record = self.register.read(&self.keys.section(section)).map_err(|error| error.to_string())?;
                let record: Option<Result<SectionRecord, RecordError>> = record.map(|text| text.parse());
                Ok(Reply::Read(record.transpose().map_err(|error| error.to_string())?))
            }
            Action::Write { section, seen, record } => {
                let seen = seen.map(|seen| seen.to_string());
                let key = self.keys.section(section);
                let is_written = self.register.compare_and_set(&key, seen.as_deref(), &record.to_string());
                Ok(Reply::Written(is_written.map_err(|error| error.to_string())?))
            }
            Action::KeepJump(jump) => {
                // If there is one already, another process wrote the same: it follows from the section's record.
                let key = self.keys.jump(&jump);
                self.register.compare_and_set(&key, None, &jump.to_string()).map_err(|error| error.to_string())?;
                Ok(Reply::JumpKept)
            }
            Action::AskFloor(section) => match &mut self.floor {
                Some(floor) => floor(section).map(Reply::Floor).map_err(|error| error.to_string()),
                None => Ok(Reply::Floor(LastStored::default())),
            },
            Action::Wait(_) => Ok(Reply::Failed),
        }
    }

    /// Tells the engine what came of an action, and the numbers what follows.
    fn learn(&mut self, answer: Result<Reply, String>) {
        let (reply, error) = match answer {
            Ok(reply) => (reply, None),
            Err(error) => (Reply::Failed, Some(error)),
        };
        self.shared.is_failing.store(error.is_some(), Ordering::Relaxed);
        let effect = self.engine.reply(self.now(), reply);
        match effect {
            Some(Effect::Grant(grant)) => self.shared.sections[grant.section as usize].numbers().grant(&grant),
            Some(Effect::Seal(section)) => {
                self.shared.sections[section as usize].numbers().seal();
            }
            None => {}
        }
        for (number, section) in (0..).zip(&self.shared.sections) {
            section.reverted.store(self.engine.reverted(number), Ordering::Relaxed);
        }
        let mut report = lock(&self.shared.report);
        report.error = error;
        (report.writes, report.lost) = (self.engine.writes, self.engine.lost);
        for (number, holder) in (0..).zip(&mut report.holders) {
            // Names rarely change, and copying each of them after each write would cost more than the write.
            if holder.as_deref() != self.engine.holder(number) {
                *holder = self.engine.holder(number).map(str::to_owned);
            }
        }
    }
}
