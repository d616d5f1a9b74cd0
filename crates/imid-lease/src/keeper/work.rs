//! What the thread of a keeper does: it drives an engine over a register.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use imid::clock::Clock;

use super::{KeeperOwner, Terms};
use crate::admin::describe_missing;
use crate::background::{Backoff, FIRST_WAIT_MS, LONGEST_WAIT_MS};
use crate::clock::{BelievedClock, monotonic_ms};
use crate::engine::{self, Action, Engine, Listing, Moment, Outcome, Phase, Reply, Silence, Stopped};
use crate::identity::Identity;
use crate::minter::Minter;
use crate::register::{Register, RegisterError, call_for};
use crate::space::Space;
use crate::state::Start;
use crate::telemetry;

/// How often the store is asked for its time.
const STORE_TIME_MS: u64 = 10_000;

/// The same while its clock and this one differ.
const DOUBT_MS: u64 = 1_000;

/// The register, and what its calls have said.
struct Store<R> {
    register: R,
    /// The error of the last call, if it has failed.
    last_error: Option<String>,
    is_answered: bool,
    is_refused: bool,
}

impl<R: Register> Store<R> {
    /// Makes a call, and remembers its error.
    fn call<T>(
        &mut self,
        owner: &KeeperOwner,
        name: &'static str,
        key: &str,
        call: impl FnOnce(&mut R) -> Result<T, RegisterError>,
    ) -> Result<T, Silence> {
        if owner.gives_up() {
            return Err(Silence);
        }
        // A register can be the application's. A call that panics has no answer, and the lease goes on.
        let result = telemetry::call(&mut self.register, name, key, |register| {
            catch_unwind(AssertUnwindSafe(|| call(register))).unwrap_or_else(|panic| {
                // Not dropped, because that can also panic.
                std::mem::forget(panic);
                Err(RegisterError::new("the call has panicked"))
            })
        });
        let error = result.as_ref().err().map(|error| (format!("{error:#}"), error.is_permanent()));
        self.note(owner, error);
        result.map_err(|_| Silence)
    }

    /// Remembers whether a call was answered, or its error and whether that is final.
    fn note(&mut self, owner: &KeeperOwner, error: Option<(String, bool)>) {
        if error.is_some() && owner.is_closing() {
            owner.give_up();
        }
        self.is_answered |= error.is_none();
        self.is_refused = error.as_ref().is_some_and(|(_, is_permanent)| *is_permanent);
        self.last_error = error.map(|(text, _)| text);
    }
}

/// What the thread works on.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
struct Work<R, C> {
    store: Store<R>,
    clock: BelievedClock<C>,
    engine: Engine,
    minter: Box<dyn Minter>,
    told: telemetry::Told,
    /// When to ask the store for its time; `None` if it has none.
    ask_time_at_ms: Option<u64>,
    knows_store_time: bool,
    store_ahead_ms: Option<i64>,
    /// The clocks agree, or IDs have a time already, which does not jump.
    is_clock_settled: bool,
    space: Space,
    /// The space is created first, if there is none.
    creates_missing: bool,
    creation: Backoff,
    identity: Identity,
    /// When the engine goes on, on the monotonic clock.
    next_ms: u64,
    has_begun: bool,
}

/// The work for a keeper, and the keeper's end. The end is announced when this is dropped: after the register.
pub(super) struct Kept<R, C> {
    work: Work<R, C>,
    pub(super) owner: KeeperOwner,
}

impl<R: Register, C: Clock> Kept<R, C> {
    pub(super) fn new(
        register: R,
        clock: BelievedClock<C>,
        terms: Terms,
        minter: Box<dyn Minter>,
        owner: KeeperOwner,
    ) -> Self {
        Self { work: Work::new(register, clock, terms, minter), owner }
    }

    /// What the thread does, until the lease has ended.
    pub(super) fn run(mut self) {
        let ran = catch_unwind(AssertUnwindSafe(|| {
            while let Some(until_ms) = self.proceed() {
                self.owner.sleep(Duration::from_millis(until_ms.saturating_sub(monotonic_ms())));
            }
        }));
        // Its observers and its register are foreign code.
        let ended = catch_unwind(AssertUnwindSafe(move || {
            self.end(ran.err());
            drop(self);
        }));
        if let Err(panic) = ended {
            // Not dropped, because that can also panic.
            std::mem::forget(panic);
        }
    }

    pub(super) fn proceed(&mut self) -> Option<u64> {
        self.work.proceed(&self.owner)
    }

    pub(super) fn end(&mut self, panic: Option<Box<dyn Any + Send>>) {
        self.work.end(&self.owner, panic);
    }
}

impl<R: Register, C: Clock> Work<R, C> {
    fn new(register: R, clock: BelievedClock<C>, terms: Terms, minter: Box<dyn Minter>) -> Self {
        let Terms { config, creates_missing } = terms;
        let register_creates = register.creates_missing_spaces();
        Self {
            store: Store { register, last_error: None, is_answered: false, is_refused: false },
            clock,
            space: config.space.clone(),
            told: telemetry::Told::new(&config),
            engine: Engine::new(config),
            minter,
            ask_time_at_ms: Some(0),
            knows_store_time: false,
            store_ahead_ms: None,
            is_clock_settled: false,
            creates_missing: creates_missing || register_creates,
            creation: Backoff::default(),
            identity: Identity::default(),
            next_ms: 0,
            has_begun: false,
        }
    }

    /// Says that the lease has ended. After a panic the generator stops at its ceiling.
    fn end(&mut self, owner: &KeeperOwner, panic: Option<Box<dyn Any + Send>>) {
        {
            let mut state = owner.state();
            state.status.phase = Phase::Stopped;
            state.stopped.get_or_insert(Stopped::Closed);
            // What was published last can be from before a write.
            state.is_given_back &= self.engine.is_done();
        }
        if let Some(panic) = panic {
            // Already here, because what follows is foreign code. The end of the thread is also announced.
            owner.announce();
            self.record(owner);
            let text = panic.downcast_ref::<&str>().copied();
            let reason = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no text");
            self.told.panicked(reason);
            self.told.tell();
            // Not dropped, because that can also panic.
            std::mem::forget(panic);
        }
    }

    /// Publishes the state to the recorder, apart from the lock: both the recorder and the clock are foreign code that may read the
    /// status.
    fn record(&self, owner: &KeeperOwner) {
        let state = owner.state().clone();
        telemetry::record_lease(&state, || self.clock.believed_ms());
    }

    /// Lets the lease continue. Returns the monotonic time at which it wants to continue again; `None` if it has ended.
    fn proceed(&mut self, owner: &KeeperOwner) -> Option<u64> {
        if !std::mem::replace(&mut self.has_begun, true) {
            let holder = owner.state().status.holder.clone();
            call_for(&holder);
            // The first call can take long, and a process without a lane must be visible.
            self.record(owner);
        }
        self.drive(owner)
    }

    /// Does what the engine asks for until it sleeps or is done. Returns the monotonic time at which it wants to continue.
    fn drive(&mut self, owner: &KeeperOwner) -> Option<u64> {
        loop {
            // Looked at before each call, so that the end begins after the call that is under way.
            let is_closing = owner.is_closing();
            if is_closing {
                self.engine.close();
            } else if !self.engine.starts() {
                if let Some(until_ms) = self.create_missing(owner) {
                    return Some(until_ms);
                }
                // Between the seal of a generator and the start of the next one, callers wait for this thread. So it runs
                // no foreign code then that may be a caller: no register, no subscriber, no recorder.
                // Not before the first answer: a store that is away, or overloaded, is tried once at a time.
                if self.store.is_answered && self.store.last_error.is_none() {
                    self.ask_time();
                }
                if let Some(until_ms) = self.wait_for_clocks(owner) {
                    return Some(until_ms);
                }
            }
            let at = self.moment();
            let Ok(random) = crate::random::random_bits() else {
                // Without random numbers nothing can be written. The generators stop at their ceilings.
                self.store.last_error = Some("the system has no random numbers".into());
                return (!is_closing).then_some(at.mono_ms + FIRST_WAIT_MS);
            };
            let grant = self.engine.grant().filter(|_| self.engine.phase() == Phase::Holding);
            self.told.left(grant.zip(at.now_ms).map(|(grant, now)| grant.ceiling_ms.saturating_sub(now)));
            self.told.clock(|| self.clock.not_followed());
            let reply = match self.engine.poll(at, random) {
                Action::Sleep { until_ms } => {
                    // Nobody waits for this thread now.
                    self.look_around(at, owner);
                    self.next_ms = until_ms;
                    self.publish(owner);
                    self.told.tell();
                    return Some(until_ms);
                }
                Action::Done | Action::Wait => {
                    self.publish(owner);
                    self.told.tell();
                    return None;
                }
                Action::List => {
                    let prefix = self.space.prefix();
                    let listed = self.store.call(owner, "list", &prefix, |register| register.list(&prefix));
                    Reply::Listed(listed.map(Listing::new))
                }
                Action::Read { key } => {
                    Reply::Read(self.store.call(owner, "read", &key, |register| register.read(&key)))
                }
                Action::Write { attempt, key, seen, value } => {
                    let write = |register: &mut R| register.compare_and_set(&key, seen.as_deref(), &value);
                    let written = self.store.call(owner, "write", &key, write);
                    let outcome = match written {
                        Ok(true) => Outcome::Acknowledged,
                        Ok(false) => Outcome::Conflict,
                        Err(Silence) => Outcome::Unknown,
                    };
                    Reply::Written { attempt, outcome }
                }
                Action::Seal => {
                    // Published first, so that a call that finds a sealed generator knows whether another one will
                    // come.
                    self.publish(owner);
                    let end_ms = self.minter.seal();
                    if self.engine.grant().is_some() {
                        self.told.sealed(end_ms);
                    }
                    Reply::Sealed { end_ms }
                }
                Action::Start(grant) => {
                    self.minter.start(grant);
                    self.told.granted(grant);
                    self.publish(owner);
                    self.told.tell();
                    continue;
                }
                Action::Raise { ceiling_ms } => {
                    self.minter.raise(ceiling_ms);
                    self.publish(owner);
                    self.told.tell();
                    continue;
                }
            };
            // The time of the reply.
            let at = self.moment();
            self.engine.reply(at, reply);
        }
    }

    /// Creates the space, if there is none and that is wanted. Returns until when to wait after a failure.
    fn create_missing(&mut self, owner: &KeeperOwner) -> Option<u64> {
        if !self.creates_missing {
            return None;
        }
        let (space, prefix) = (self.space.clone(), self.space.prefix());
        let created = self.store.call(owner, "list", &prefix, |register| describe_missing(register, &space));
        self.creates_missing = created.is_err();
        self.creation.note(created.is_ok());
        created.err().map(|Silence| {
            self.publish(owner);
            monotonic_ms() + self.creation.wait_ms(LONGEST_WAIT_MS)
        })
    }

    fn moment(&self) -> Moment {
        Moment { mono_ms: monotonic_ms(), now_ms: self.clock.believed_ms(), used_until_ms: self.minter.used_until_ms() }
    }

    /// Looks at what the status shows and no engine needs, if the store answers.
    fn look_around(&mut self, at: Moment, owner: &KeeperOwner) {
        if self.store.is_answered && self.store.last_error.is_none() && !owner.is_closing() {
            self.identity.look(at.mono_ms, &mut self.store.register);
        }
    }

    /// Takes no lane while the store's clock and this one differ at the start. Returns when to look again.
    fn wait_for_clocks(&mut self, owner: &KeeperOwner) -> Option<u64> {
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
        let start = Start::ClocksDiffer(self.store_ahead_ms.unwrap_or(0));
        {
            let mut state = owner.state();
            (state.start, state.next_ms) = (start, until_ms);
            state.status.store_ahead_ms = self.store_ahead_ms;
        }
        owner.announce();
        self.record(owner);
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
        match telemetry::call(&mut self.store.register, "time", "", Register::now_ms) {
            Ok(Some(store_ms)) => {
                let middle_ms = before_ms.midpoint(monotonic_ms());
                let offset = engine::clock_judgement::offset(store_ms, middle_ms);
                self.store_ahead_ms = self.clock.store_ahead_ms(offset);
                self.clock.set_store(offset);
                self.knows_store_time = true;
            }
            Ok(None) => self.ask_time_at_ms = None,
            // Before the first answer, a clock that is wrong from the start is believed. So it is asked before each
            // action, but for a call that takes long: nine tenths of the time are for renewals.
            Err(_) if !self.knows_store_time => {
                let now_ms = monotonic_ms();
                self.ask_time_at_ms = Some(now_ms + (now_ms - before_ms) * 9);
            }
            Err(_) => {}
        }
    }

    fn publish(&mut self, owner: &KeeperOwner) {
        // A register of a server knows its promise from the first connection on, and a failover can change it.
        let promise = self.store.register.promise();
        let engine = &self.engine;
        // The settings of a server are not known before its first answer.
        if self.store.is_answered {
            let lane = engine.grant().map(|grant| grant.lane);
            self.told.state(lane, engine.counts().0, &promise, engine.stopped());
        }
        let used_until_ms = self.minter.used_until_ms();
        let mut published = owner.state();
        let before = published.clone();
        let (lost, renewals) = engine.counts();
        let grant = engine.grant();
        let shown = &mut published.status;
        shown.phase = engine.phase();
        shown.space_id = engine.space_id().map(str::to_owned);
        shown.register_id = self.identity.register_id().map(str::to_owned);
        shown.store_ahead_ms = self.store_ahead_ms;
        shown.held_lanes = engine.held_lanes();
        shown.promise = promise;
        shown.lane = grant.map(|grant| grant.lane);
        shown.ceiling_ms = grant.map(|grant| grant.ceiling_ms);
        shown.renewals = renewals;
        shown.lost = lost;
        shown.last_error.clone_from(&self.store.last_error);
        published.stopped = engine.stopped().cloned();
        published.next_ms = self.next_ms;
        published.next_time_out_ms = engine.next_time_out_ms();
        published.far_ahead = engine.far_ahead();
        published.start = if self.store.is_answered { Start::Answered } else { Start::Asking };
        published.is_refused = self.store.is_refused;
        published.is_given_back = engine.is_given_back();
        published.renewed_at_ms = engine.acknowledged_at_ms();
        published.attempted_at_ms = engine.attempted_at_ms();
        published.used_until_ms = used_until_ms;
        let is_changed = *published != before;
        drop(published);
        // A call that is refused wakes this thread. It must not be woken in turn if nothing is new.
        if is_changed {
            owner.announce();
        }
        self.record(owner);
    }
}
