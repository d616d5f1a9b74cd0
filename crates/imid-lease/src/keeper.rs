//! The thread that keeps leases: it drives engines over a register.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use imid::clock::Clock;

use crate::background::{Background, FIRST_WAIT_MS, Owner};
use crate::changes::{Changes, within};
use crate::clock::{BelievedClock, monotonic_ms};
use crate::engine::clock_judgement::Holders;
use crate::engine::{self, Action, Config, Engine, Grant, Listing, Moment, Outcome, Phase, Reply, Silence, Stopped};
use crate::error::{OpenError, OpenKind};
use crate::register::{Register, RegisterError};
use crate::space::Space;
use crate::state::{Start, State};
use crate::survey::Survey;
use crate::telemetry;

/// How often the store is asked for its time.
const STORE_TIME_MS: u64 = 10_000;

/// Mints under the grants of one engine. All calls come from the keeper's thread.
pub(crate) trait Tenant: Send {
    /// Returns the first unix millisecond after the last stamp of the running generator; 0 if there is none.
    fn used_until_ms(&self) -> u64;

    /// Returns the least ceiling with which a call that was refused since the last look would have succeeded; 0 if there is none.
    fn wanted_ms(&self) -> u64 {
        0
    }

    /// Returns the same of a call that wants more than any lane is known to be granted; 0 if there is none.
    fn asked_ms(&self) -> u64 {
        0
    }

    /// Starts to mint under a grant. The generator before is sealed.
    fn start(&mut self, grant: Grant);

    /// Raises the ceiling of the running generator.
    fn raise(&mut self, ceiling_ms: u64);

    /// Ends the running generator for ever, and returns the first unix millisecond after each stamp that it has minted
    /// or that a call under way will return; 0 if there is none. Called again it returns the same.
    fn seal(&mut self) -> u64;
}

/// What the thread sees of its keeper.
type KeeperOwner = Owner<Vec<State>>;

/// One lease of a keeper.
pub(crate) struct Lease {
    pub(crate) config: Config,
    pub(crate) tenant: Box<dyn Tenant>,
}

/// The keeper of one register.
///
/// When it is dropped, its thread seals and releases, and nobody waits for it. In a forked child it does nothing.
#[derive(Debug)]
pub(crate) struct Keeper {
    background: Background<Vec<State>>,
    /// What a forked child finds. It must not wait for a lock that another thread may have held.
    in_child: Vec<State>,
}

impl Keeper {
    /// Starts the thread. Each lease looks for a lane of the space at once.
    pub(crate) fn start<R, C>(
        register: R,
        clock: BelievedClock<C>,
        space: Space,
        leases: Vec<Lease>,
    ) -> std::io::Result<Self>
    where
        R: Register + 'static,
        C: Clock + Send + Sync + 'static,
    {
        let promise = register.promise();
        let states: Vec<_> = leases.iter().map(|lease| State::new(&lease.config, promise.clone())).collect();
        let in_child = states.iter().map(State::stopped).collect();
        let running = leases.into_iter().map(|lease| Running {
            told: telemetry::Told::new(&lease.config),
            engine: Engine::new(lease.config),
            tenant: lease.tenant,
            is_new_register: false,
        });
        let mut work = Work {
            store: Store { register, last_error: None, is_answered: false, is_refused: false, gives_up: false },
            clock,
            leases: running.collect(),
            ask_time_at_ms: Some(0),
            knows_store_time: false,
            store_ahead_ms: None,
            has_judged_store: false,
            holders: Holders::default(),
            survey: Survey::new(space),
            listing: Listing::default(),
        };
        let background = Background::start("imid-lease", states, move |owner| work.run(owner))?;
        Ok(Self { background, in_child })
    }

    /// Makes the thread check at once whether a generator needs a higher ceiling.
    pub(crate) fn wake(&self) {
        self.background.wake();
    }

    /// Returns whether this process is a forked child of the one that started the thread.
    pub(crate) fn is_forked(&self) -> bool {
        self.background.is_forked()
    }

    /// Returns the name under which the first lease is held.
    pub(crate) fn holder(&self) -> &crate::record::Name {
        &self.in_child[0].status.holder
    }

    /// Returns the state of a lease. In a forked child it is one that has stopped.
    pub(crate) fn state(&self, lease: usize) -> State {
        self.background.state().map_or_else(|| self.in_child[lease].clone(), |states| states[lease].clone())
    }

    /// Returns whether a lease has stopped.
    pub(crate) fn is_stopped(&self, lease: usize) -> bool {
        self.background.state().is_none_or(|states| states[lease].stopped.is_some())
    }

    /// Returns where a change of a lease is announced.
    pub(crate) fn changes(&self) -> &Changes {
        self.background.changes()
    }

    /// Returns a look that breaks when a lease has a lane, when the register refuses this process, or after this time.
    pub(crate) fn until_open<'a>(
        &'a self,
        lease: usize,
        space: &'a Space,
        time: Duration,
    ) -> impl FnMut() -> ControlFlow<Result<(), OpenError>, Instant> + 'a {
        let mut until_known = within(time, move || {
            let state = self.state(lease);
            let is_known = state.is_refused || state.far_ahead.is_some_and(|far| far.are_all);
            (state.status.phase != Phase::Seeking || is_known).then_some(state)
        });
        move || {
            until_known().map_break(|found| {
                if self.is_forked() {
                    return Err(OpenKind::Forked.into());
                }
                let state = found.unwrap_or_else(|| self.state(lease));
                match state.status.phase {
                    Phase::Holding | Phase::Lost => Ok(()),
                    Phase::Seeking | Phase::Stopped => Err(state.why_not_open(space, time)),
                }
            })
        }
    }

    /// Tells the thread to give all lanes back and to end, and waits for at most this time. Returns whether it has done
    /// both. The caller has sealed all generators.
    pub(crate) fn close_within(&self, time: Duration) -> bool {
        self.background.end();
        self.background.has_ended_within(time) && self.is_given_back()
    }

    /// Does the same in a task.
    pub(crate) async fn close_async(&self, time: Duration) -> bool {
        self.background.end();
        self.background.has_ended_within_async(time).await && self.is_given_back()
    }

    fn is_given_back(&self) -> bool {
        self.background.state().is_some_and(|states| states.iter().all(|state| state.is_given_back))
    }
}

/// One lease of the thread.
struct Running {
    engine: Engine,
    tenant: Box<dyn Tenant>,
    is_new_register: bool,
    told: telemetry::Told,
}

/// The register, and what its calls have said.
struct Store<R> {
    register: R,
    /// The error of the last call, if it has failed.
    last_error: Option<String>,
    is_answered: bool,
    is_refused: bool,
    /// A call has failed while the thread ends. No other one is made, because each may take as long.
    gives_up: bool,
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
        if self.gives_up {
            return Err(Silence);
        }
        let result = telemetry::call(&mut self.register, name, key, call);
        self.gives_up = result.is_err() && owner.is_closing();
        self.is_answered |= result.is_ok();
        self.is_refused = result.as_ref().is_err_and(RegisterError::is_final);
        self.last_error = result.as_ref().err().map(ToString::to_string);
        result.map_err(|_| Silence)
    }
}

/// What the thread works on.
struct Work<R, C> {
    store: Store<R>,
    clock: BelievedClock<C>,
    leases: Vec<Running>,
    /// When to ask the store for its time; `None` if it has none.
    ask_time_at_ms: Option<u64>,
    knows_store_time: bool,
    store_ahead_ms: Option<i64>,
    /// Whether nothing is left to find out about the store's time: it is near the clock, the holders of lanes have voted, or
    /// IDs may have a time already, which does not jump.
    has_judged_store: bool,
    /// Watched until then.
    holders: Holders,
    /// Of the space of all leases.
    survey: Survey,
    /// The records as they were listed last. Those that have not changed are kept once for all leases.
    listing: Listing,
}

impl<R: Register, C: Clock> Work<R, C> {
    /// Works until all leases have ended. If that panics, all generators stop at their ceilings.
    fn run(&mut self, owner: &KeeperOwner) {
        let ended = catch_unwind(AssertUnwindSafe(|| self.keep(owner)));
        for (state, running) in owner.state().iter_mut().zip(&self.leases) {
            state.status.phase = Phase::Stopped;
            state.stopped.get_or_insert(Stopped::Closed);
            // What was published last can be from before a write.
            state.is_given_back &= running.engine.is_done();
        }
        if let Err(panic) = ended {
            // Here already, because what follows is foreign code. The end of the thread is announced, too.
            owner.announce();
            self.tell_of_panic(owner, panic.as_ref());
            // Not dropped: that can panic, too.
            std::mem::forget(panic);
        }
    }

    fn tell_of_panic(&mut self, owner: &KeeperOwner, panic: &(dyn std::any::Any + Send)) {
        for lease in 0..self.leases.len() {
            // Apart from the clock, which is foreign code: it may read the status, which locks this.
            let state = owner.state()[lease].clone();
            telemetry::record_lease(&state, || self.clock.believed_ms());
        }
        for running in &mut self.leases {
            let text = panic.downcast_ref::<&str>().copied();
            let reason = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no text");
            running.told.panicked(reason);
            running.told.tell();
        }
    }

    fn keep(&mut self, owner: &KeeperOwner) {
        let holder = owner.state().first().map(|state| state.status.holder.clone());
        if let Some(holder) = holder {
            self.store.register.set_holder(holder.as_str());
        }
        // The first call can take long, and a process without a lane is to be seen.
        for lease in 0..self.leases.len() {
            let state = owner.state()[lease].clone();
            telemetry::record_lease(&state, || self.clock.believed_ms());
        }
        loop {
            let mut next_ms = None;
            for lease in 0..self.leases.len() {
                if let Some(at_ms) = self.drive(lease, owner) {
                    next_ms = Some(next_ms.map_or(at_ms, |next: u64| next.min(at_ms)));
                }
            }
            let Some(next_ms) = next_ms else { return };
            let left_ms = next_ms.saturating_sub(monotonic_ms());
            if left_ms > 0 {
                owner.sleep(Duration::from_millis(left_ms));
            }
        }
    }

    /// Does what an engine asks for until it sleeps; returns until when. `None` if it is done.
    fn drive(&mut self, lease: usize, owner: &KeeperOwner) -> Option<u64> {
        loop {
            // Looked at before each call, so that the end begins after the call that is under way.
            let is_closing = owner.is_closing();
            if is_closing {
                self.leases[lease].engine.close();
            } else if !self.leases[lease].engine.starts() {
                // Between the seal of a generator and the start of the next one, callers wait for this thread. So it runs
                // no foreign code then that may be a caller: no register, no subscriber, no recorder.
                // Not before the first answer: a store that is away, or overloaded, is tried once at a time.
                if self.store.is_answered && self.store.last_error.is_none() {
                    self.ask_time();
                }
                self.judge_store(lease, owner);
            }
            let at = self.moment(lease);
            let Ok(random) = crate::record::random_bits() else {
                // Without random numbers nothing can be written. The generators stop at their ceilings.
                self.store.last_error = Some("the system has no random numbers".into());
                return (!is_closing).then_some(at.mono_ms + FIRST_WAIT_MS);
            };
            let running = &mut self.leases[lease];
            let grant = running.engine.grant().filter(|_| running.engine.phase() == Phase::Holding);
            running.told.left(grant.zip(at.now_ms).map(|(grant, now)| grant.ceiling_ms.saturating_sub(now)));
            running.told.clock(|| self.clock.not_followed());
            let reply = match running.engine.poll(at, random) {
                Action::Sleep { until_ms } => {
                    // Nobody waits for this thread now.
                    self.look_around(at, random, owner);
                    self.publish(lease, owner);
                    self.leases[lease].told.tell();
                    return Some(until_ms);
                }
                Action::Done | Action::Wait => {
                    self.publish(lease, owner);
                    self.leases[lease].told.tell();
                    return None;
                }
                Action::List => {
                    let prefix = running.engine.prefix();
                    let listed = self.store.call(owner, "list", &prefix, |register| register.list(&prefix));
                    if let Ok(records) = &listed {
                        self.survey.note(at, records);
                    }
                    let listed = listed.map(|records| Listing::new(records, &self.listing));
                    self.listing = listed.clone().unwrap_or_default();
                    Reply::Listed(listed)
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
                    self.leases[lease].is_new_register |=
                        seen.is_none() && key.ends_with("/meta") && outcome == Outcome::Acknowledged;
                    Reply::Written { attempt, outcome }
                }
                Action::Seal => {
                    // Published first, so that a call that finds a sealed generator knows whether another one will
                    // come.
                    self.publish(lease, owner);
                    let end_ms = self.leases[lease].tenant.seal();
                    if self.leases[lease].engine.grant().is_some() {
                        self.leases[lease].told.sealed(end_ms);
                    }
                    Reply::Sealed { end_ms }
                }
                Action::Start(grant) => {
                    running.tenant.start(grant);
                    self.listing = Listing::default();
                    running.told.granted(grant);
                    self.publish(lease, owner);
                    self.leases[lease].told.tell();
                    continue;
                }
                Action::Raise { ceiling_ms } => {
                    running.tenant.raise(ceiling_ms);
                    self.publish(lease, owner);
                    self.leases[lease].told.tell();
                    continue;
                }
            };
            // The time of the reply.
            let at = self.moment(lease);
            self.leases[lease].engine.reply(at, reply);
        }
    }

    fn moment(&self, lease: usize) -> Moment {
        Moment {
            mono_ms: monotonic_ms(),
            now_ms: self.clock.believed_ms(),
            used_until_ms: self.leases[lease].tenant.used_until_ms(),
            wanted_ms: self.leases[lease].tenant.wanted_ms(),
            asked_ms: self.leases[lease].tenant.asked_ms(),
        }
    }

    /// Looks at what the status shows and no engine needs, if the store answers.
    fn look_around(&mut self, at: Moment, random: u128, owner: &KeeperOwner) {
        if self.store.is_answered && self.store.last_error.is_none() {
            self.survey.look(at, &mut self.store.register, random, || owner.is_closing());
        }
    }

    /// Lets the holders of lanes decide whose clock is right, where the store's time and the clock differ at the start. Watches
    /// them until they have.
    fn judge_store(&mut self, lease: usize, owner: &KeeperOwner) {
        let is_granted = self.leases.iter().any(|it| it.engine.grant().is_some());
        if self.has_judged_store || !self.knows_store_time && !is_granted {
            return;
        }
        let prefix = self.leases[lease].engine.prefix();
        self.has_judged_store = is_granted || !self.clock.is_in_doubt();
        while !self.has_judged_store && !owner.is_closing() {
            let asked_ms = monotonic_ms();
            let Ok(records) = self.store.call(owner, "list", &prefix, |register| register.list(&prefix)) else {
                // The lease goes on and comes back here. A store that fails now and then must not keep it from a lane.
                self.holders.miss();
                return;
            };
            self.holders.see(asked_ms, monotonic_ms(), self.survey.lanes(&records).into_iter().flatten());
            self.has_judged_store = self.clock.hear(&self.holders);
            let next_ms = monotonic_ms() + engine::first_wait_ms(self.survey.space());
            for state in owner.state().iter_mut() {
                (state.start, state.next_ms) = (Start::Judging, next_ms);
            }
            // Calls that find no worker ID wake this thread.
            while !self.has_judged_store && !owner.is_closing() && monotonic_ms() < next_ms {
                owner.sleep(Duration::from_millis(next_ms.saturating_sub(monotonic_ms())));
            }
        }
    }

    /// Asks the store for its time, if it is due.
    fn ask_time(&mut self) {
        let before_ms = monotonic_ms();
        if self.store.gives_up || self.ask_time_at_ms.is_none_or(|at| at > before_ms) {
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
            // action.
            Err(_) if !self.knows_store_time => self.ask_time_at_ms = Some(before_ms),
            Err(_) => {}
        }
    }

    fn publish(&mut self, lease: usize, owner: &KeeperOwner) {
        // A register of a server knows its promise from the first connection on, and a fail-over can change it.
        let promise = self.store.register.promise();
        let Running { engine, told, .. } = &mut self.leases[lease];
        // The settings of a server are not known before its first answer.
        if self.store.is_answered {
            let lane = engine.grant().map(|grant| grant.lane);
            told.state(lane, engine.counts().0, &promise, engine.stopped());
        }
        let used_until_ms = self.leases[lease].tenant.used_until_ms();
        let own = self.leases.iter().filter(|it| it.engine.phase() != Phase::Lost);
        let own: Vec<_> = own.filter_map(|it| it.engine.grant()).map(|grant| grant.lane).collect();
        let others = self.survey.others(&own);
        let Running { engine, is_new_register, .. } = &self.leases[lease];
        let mut states = owner.state();
        let published = &mut states[lease];
        let before = published.clone();
        let (lost, renewals) = engine.counts();
        let grant = engine.grant();
        let shown = &mut published.status;
        shown.phase = engine.phase();
        shown.space_id = engine.space_id().map(str::to_owned);
        shown.register_id = self.survey.register_id().map(str::to_owned);
        shown.store_ahead_ms = self.store_ahead_ms;
        shown.others = others.map(|(others, _)| others);
        shown.nearest_lane = self.survey.nearest_lane();
        shown.is_new_register = *is_new_register;
        shown.promise = promise;
        shown.lane = grant.map(|grant| grant.lane);
        shown.ceiling_ms = grant.map(|grant| grant.ceiling_ms);
        shown.renewals = renewals;
        shown.lost = lost;
        shown.last_error.clone_from(&self.store.last_error);
        published.stopped = engine.stopped().cloned();
        published.next_ms = engine.next_ms();
        published.next_time_out_ms = engine.next_time_out_ms();
        published.held_by_others = engine.held_by_others();
        published.far_ahead = engine.far_ahead();
        published.start = if self.store.is_answered { Start::Answered } else { Start::Asking };
        published.is_refused = self.store.is_refused;
        published.is_given_back = engine.is_given_back();
        published.renewed_at_ms = engine.acknowledged_at_ms();
        published.used_until_ms = used_until_ms;
        published.follows_ms = engine.follows_ms();
        published.granted_ms = engine.granted_ms();
        published.answered_ms = engine.answered_ms();
        published.surveyed_at_ms = others.map_or(0, |(_, at_ms)| at_ms);
        let recorded = published.clone();
        let is_changed = recorded != before;
        drop(states);
        // A call that is refused wakes this thread. It must not be woken in turn if nothing is new.
        if is_changed {
            owner.announce();
        }
        // A recorder is foreign code: it may read the status.
        telemetry::record_lease(&recorded, || self.clock.believed_ms());
    }
}
