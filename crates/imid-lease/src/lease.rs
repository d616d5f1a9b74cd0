//! A lease: its thread drives an engine over a register.

#[cfg(test)]
mod tests;

use std::time::Duration;

use imid::clock::Clock;
use imid_lease_protocol::admin::create_missing;
use imid_lease_protocol::record::RegisterRecord;

use crate::clock::{BelievedClock, monotonic_ms};
use crate::engine::{
    Action, Config, Engine, Grant, MIN_GAP_MS, Moment, Outcome, Phase, Reply, Silence, Stopped, clock_judgement,
};
use crate::handle::{Handle, Side};
use crate::options::THREAD;
use crate::register::{Register, RegisterError};
use crate::status::{Start, State};
use crate::telemetry;
use crate::wait::{Changes, catch};

/// How often the store is asked for its time.
const STORE_TIME_MS: u64 = 10_000;

/// The same while its clock and this one differ.
const DOUBT_MS: u64 = 1_000;

/// How often the ID of the register is read until it is known.
const IDENTIFY_MS: u64 = 60_000;

/// The wait before a space is created again.
const CREATE_AGAIN_MS: u64 = 1_000;

/// Mints under the grants of a lease. All calls come from the thread of the lease, and none of them may wait for a call of the lease.
pub trait Minter: Send {
    /// Returns the first Unix millisecond after the last stamp under the present grant; 0 if there is none, or if the clock has passed it.
    fn used_until_ms(&self) -> u64;

    /// Starts to mint under a grant. The one before is sealed.
    fn start(&mut self, grant: Grant);

    /// Raises the ceiling of the present grant.
    fn raise(&mut self, ceiling_ms: u64);

    /// Ends the present grant permanently, and returns the first Unix millisecond after each stamp that was minted under it, or that a
    /// call under way will return; 0 if there is none. Called again it returns the same.
    fn seal(&mut self) -> u64;
}

/// A lease, as its thread has it.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Lease<R, C> {
    engine: Engine,
    minter: Box<dyn Minter>,
    clock: BelievedClock<C>,
    /// What the handle is told.
    state: State,
    told: telemetry::Told,
    /// The space is created first, if there is none.
    creates_missing: bool,
    is_answered: bool,
    /// When to ask the store for its time; `None` if it has none.
    ask_time_at_ms: Option<u64>,
    knows_store_time: bool,
    /// The clocks agree, or IDs have a time already, which does not jump.
    is_clock_settled: bool,
    /// When to look which register it is, until that is known.
    identify_at_ms: u64,
    /// A call has failed after the end. No other one is made, because each may take as long.
    gives_up: bool,
    register: R,
    /// Dropped after the register: this announces the end.
    side: Side,
}

impl<R, C> Lease<R, C>
where
    R: Register + 'static,
    C: Clock + Send + Sync + 'static,
{
    /// Starts the thread of a lease, which looks for a lane of the space immediately. With `creates_missing` it first creates the space, if
    /// there is none.
    pub(crate) fn start(
        register: R,
        clock: BelievedClock<C>,
        config: Config,
        creates_missing: bool,
        minter: Box<dyn Minter>,
        changes: &Changes,
    ) -> std::io::Result<Handle> {
        let (handle, lease) = Self::new(register, clock, config, creates_missing, minter, changes);
        // The name tells whose lease it is, also to a register of a server, which passes it on. Nobody joins the thread: to drop its handle
        // in a forked child would be wrong.
        let name = format!("{THREAD}{}", lease.state.holder);
        std::thread::Builder::new().name(name).spawn(move || lease.run())?;
        Ok(handle)
    }

    fn new(
        register: R,
        clock: BelievedClock<C>,
        config: Config,
        creates_missing: bool,
        minter: Box<dyn Minter>,
        changes: &Changes,
    ) -> (Handle, Self) {
        let state = State::new(&config, register.promise());
        let (handle, side) = Handle::new(state.clone(), changes);
        let lease = Self {
            told: telemetry::Told::new(&config),
            engine: Engine::new(config),
            minter,
            clock,
            state,
            creates_missing: creates_missing || register.creates_missing_spaces(),
            is_answered: false,
            ask_time_at_ms: Some(0),
            knows_store_time: false,
            is_clock_settled: false,
            identify_at_ms: 0,
            gives_up: false,
            register,
            side,
        };
        (handle, lease)
    }

    /// What the thread does, until the lease has ended.
    fn run(mut self) {
        let ran = catch(|| {
            // The first call can take long, and a process without a lane must be visible.
            self.show();
            while let Some(until_ms) = self.work() {
                self.side.sleep(Duration::from_millis(until_ms.saturating_sub(monotonic_ms())));
            }
        });
        // The drop of a register is foreign code, too.
        _ = catch(move || {
            self.end(ran.err());
            drop(self);
        });
    }

    /// Does what the engine asks for until it sleeps or has ended. Returns until when it sleeps, on the monotonic clock; `None` at the end.
    fn work(&mut self) -> Option<u64> {
        loop {
            // Looked at before each call, so that the end begins after the call that is under way.
            let is_closing = self.side.is_closing();
            if is_closing {
                self.engine.close();
            } else if !self.engine.starts() {
                // Between the seal of a generator and the start of the next one, callers wait for this thread. So it runs no foreign
                // code then that may be a caller: no register, no subscriber, no recorder, no waker.
                if let Some(until_ms) = self.prepare() {
                    return Some(until_ms);
                }
            }
            let at = self.moment();
            let Ok(random) = draw() else {
                // Without random numbers nothing can be written. The generator stops at its ceiling.
                self.state.last_error = Some("the system has no random numbers".into());
                return (!is_closing).then_some(at.mono_ms + MIN_GAP_MS);
            };
            let grant = self.engine.grant().filter(|_| self.engine.phase() == Phase::Holding);
            self.told.left(grant.zip(at.now_ms).map(|(grant, now)| grant.ceiling_ms.saturating_sub(now)));
            self.told.clock(self.clock.not_followed());
            let reply = match self.engine.poll(at, random) {
                Action::List => {
                    let prefix = self.state.space.prefix();
                    Reply::Listed(self.call("list", &prefix, |register| register.list(&prefix)))
                }
                Action::Read { key } => Reply::Read(self.call("read", &key, |register| register.read(&key))),
                Action::Write { attempt, key, seen, value } => {
                    let write = |register: &mut R| register.compare_and_set(&key, seen.as_deref(), &value);
                    let outcome = match self.call("write", &key, write) {
                        Ok(true) => Outcome::Acknowledged,
                        Ok(false) => Outcome::Conflict,
                        Err(Silence) => Outcome::Unknown,
                    };
                    Reply::Written { attempt, outcome }
                }
                Action::Seal => {
                    // Published first, so that a call that finds a sealed generator knows whether another one will come.
                    self.publish();
                    let end_ms = self.minter.seal();
                    if self.engine.grant().is_some() {
                        self.told.sealed(end_ms);
                    }
                    Reply::Sealed { end_ms }
                }
                Action::Start(grant) => {
                    self.minter.start(grant);
                    self.told.granted(grant);
                    self.publish();
                    continue;
                }
                Action::Raise { ceiling_ms } => {
                    self.minter.raise(ceiling_ms);
                    self.publish();
                    continue;
                }
                Action::Sleep { until_ms } => {
                    self.identify(at.mono_ms);
                    self.state.next_ms = until_ms;
                    self.publish();
                    return Some(until_ms);
                }
                Action::Done | Action::Wait => {
                    self.publish();
                    return None;
                }
            };
            // The time of the reply.
            let at = self.moment();
            self.engine.reply(at, reply);
        }
    }

    /// Makes sure that there is a space, and that the clocks agree. Returns until when to wait for that.
    fn prepare(&mut self) -> Option<u64> {
        if self.creates_missing {
            let space = self.state.space.clone();
            let created = self.call("list", &space.prefix(), |register| create_missing(register, &space, &mut draw));
            self.creates_missing = created.is_err();
            if created.is_err() {
                self.state.next_ms = monotonic_ms() + CREATE_AGAIN_MS;
                self.publish();
                return Some(self.state.next_ms);
            }
        }
        // Not before the first answer: a store that is away, or overloaded, is tried once at a time.
        if self.is_answered && self.state.last_error.is_none() {
            self.ask_time();
        }
        let is_granted = self.engine.grant().is_some();
        if self.is_clock_settled || !self.knows_store_time && !is_granted {
            return None;
        }
        self.is_clock_settled = is_granted || !self.clock.is_in_doubt();
        if self.is_clock_settled {
            return None;
        }
        let until_ms = monotonic_ms() + DOUBT_MS;
        self.ask_time_at_ms = Some(until_ms);
        self.state.next_ms = until_ms;
        self.state.start = Start::ClocksDiffer(self.state.store_ahead_ms.unwrap_or(0));
        self.side.publish(&self.state);
        self.show();
        Some(until_ms)
    }

    /// Asks the store for its time, if it is due.
    fn ask_time(&mut self) {
        let before_ms = monotonic_ms();
        if self.ask_time_at_ms.is_none_or(|at| at > before_ms) {
            return;
        }
        self.ask_time_at_ms = Some(before_ms + STORE_TIME_MS);
        // Not noted: a store whose time cannot be read grants lanes all the same.
        match self.ask("time", "", Register::now_ms) {
            Ok(Some(store_ms)) => {
                let offset = clock_judgement::offset(store_ms, before_ms.midpoint(monotonic_ms()));
                self.state.store_ahead_ms = self.clock.store_ahead_ms(offset);
                self.clock.set_store(offset, self.engine.grant().is_some());
                self.knows_store_time = true;
            }
            Ok(None) => self.ask_time_at_ms = None,
            // Before the first answer, a clock that is wrong from the start is believed. So it is asked before each action, but for a
            // call that takes long: nine tenths of the time are for renewals.
            Err(_) if !self.knows_store_time => {
                let now_ms = monotonic_ms();
                self.ask_time_at_ms = Some(now_ms + (now_ms - before_ms) * 9);
            }
            Err(_) => {}
        }
    }

    /// Makes a call for the engine, and remembers its error.
    fn call<T>(
        &mut self,
        name: &'static str,
        key: &str,
        make: impl FnOnce(&mut R) -> Result<T, RegisterError>,
    ) -> Result<T, Silence> {
        if self.gives_up {
            return Err(Silence);
        }
        let result = self.ask(name, key, make);
        self.is_answered |= result.is_ok();
        self.state.is_refused = result.as_ref().is_err_and(RegisterError::is_permanent);
        self.state.last_error = result.as_ref().err().map(|error| format!("{error:#}"));
        result.map_err(|_| Silence)
    }

    /// Makes a call. A register can be the application's, and a recorder sees the call: one that panics has no answer, and the lease goes on.
    fn ask<T>(
        &mut self,
        name: &'static str,
        key: &str,
        make: impl FnOnce(&mut R) -> Result<T, RegisterError>,
    ) -> Result<T, RegisterError> {
        let panicked = |_| Err(RegisterError::new("the call has panicked"));
        let make = |register: &mut R| catch(|| make(register)).unwrap_or_else(panicked);
        let result = catch(|| telemetry::call(&mut self.register, name, key, make)).unwrap_or_else(panicked);
        // A refusal is an answer.
        self.gives_up |= self.side.is_closing() && result.as_ref().is_err_and(|error| !error.is_permanent());
        result
    }

    fn moment(&self) -> Moment {
        let now_ms = self.clock.believed_ms();
        Moment { mono_ms: monotonic_ms(), now_ms, used_until_ms: self.minter.used_until_ms() }
    }

    /// Looks which register it is, for the status, if the store answers and nobody waits for this thread. A failure is not an error of
    /// the lease, because a process may have no right to other records than those of its space.
    fn identify(&mut self, mono_ms: u64) {
        const KEY: &str = RegisterRecord::KEY;
        let is_known = self.state.register_id.is_some();
        let is_answering = self.is_answered && self.state.last_error.is_none();
        if is_known || !is_answering || self.side.is_closing() || self.identify_at_ms > mono_ms {
            return;
        }
        self.identify_at_ms = mono_ms + IDENTIFY_MS;
        let text = self.ask("read", KEY, |register| register.read(KEY)).ok().flatten();
        let record = text.and_then(|text| RegisterRecord::parse(&text).ok());
        self.state.register_id = record.map(|record| record.register_id);
    }

    /// Tells the handle and observers what has changed.
    fn publish(&mut self) {
        // A register of a server knows its promise from the first connection on, and a failover can change it.
        self.state.promise = self.register.promise();
        self.state.view = self.engine.view();
        self.state.start = if self.is_answered { Start::Answered } else { Start::Asking };
        self.state.used_until_ms = self.minter.used_until_ms();
        // The settings of a server are not known before its first answer.
        if self.is_answered {
            self.told.state(&self.state);
        }
        self.side.publish(&self.state);
        self.show();
    }

    /// Tells observers, which are foreign code: a recorder and a subscriber may read the status, mint, and panic.
    fn show(&mut self) {
        _ = catch(|| telemetry::record_lease(&self.state, || self.clock.believed_ms()));
        _ = catch(|| self.told.tell());
    }

    /// Says that the lease has ended. After a panic the generator stops at its ceiling.
    fn end(&mut self, panic: Option<String>) {
        self.state.view.phase = Phase::Stopped;
        self.state.view.stopped.get_or_insert(Stopped::Closed);
        // What was published last can be from before a write.
        self.state.view.is_given_back &= self.engine.is_done();
        // Already here, because what follows is foreign code. The end of the thread is also announced.
        self.side.publish(&self.state);
        if let Some(reason) = panic {
            self.told.panicked(reason);
            self.show();
        }
    }
}

/// Returns 128 random bits from the system. Never from a generator in this process: a cloned machine or process would draw the same.
pub(crate) fn draw() -> Result<u128, RegisterError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|_| RegisterError::new("the system has no random numbers"))?;
    Ok(u128::from_ne_bytes(bytes))
}
