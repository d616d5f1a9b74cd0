//! The thread that keeps leases: it drives engines over a register.

#[cfg(test)]
mod tests;
mod work;

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use imid::clock::Clock;

use crate::background::{Background, Owner};
use crate::changes::{Changes, within};
use crate::clock::BelievedClock;
use crate::engine::{Config, Grant, Phase};
use crate::error::{OpenError, OpenKind};
use crate::register::Register;
use crate::space::Space;
use crate::state::{Start, State};
use work::Kept;

/// Mints under the grants of one engine. All calls come from the keeper's thread.
pub(crate) trait Tenant: Send {
    /// Returns the first Unix millisecond after the last stamp of the running generator; 0 if there is none.
    fn used_until_ms(&self) -> u64;

    /// Starts to mint under a grant. The generator before is sealed.
    fn start(&mut self, grant: Grant);

    /// Raises the ceiling of the running generator.
    fn raise(&mut self, ceiling_ms: u64);

    /// Ends the running generator permanently, and returns the first Unix millisecond after each stamp that it has minted
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
/// When it is dropped, its thread seals and releases, and no one waits for it. In a forked child it does nothing.
#[derive(Debug)]
pub(crate) struct Keeper {
    background: Background<Vec<State>>,
    /// What a forked child finds. It must not wait for a lock that another thread may have held.
    in_child: Vec<State>,
}

impl Keeper {
    /// Starts the thread. Each lease looks for a lane of the space immediately.
    pub(crate) fn start<R, C>(
        register: R,
        clock: BelievedClock<C>,
        space: Space,
        creates_missing: bool,
        leases: Vec<Lease>,
    ) -> std::io::Result<Self>
    where
        R: Register + 'static,
        C: Clock + Send + Sync + 'static,
    {
        let promise = register.promise();
        let states: Vec<_> = leases.iter().map(|lease| State::new(&lease.config, promise.clone())).collect();
        let in_child = states.iter().map(State::stopped).collect();
        let (background, owner) = Background::new(states);
        let kept = Kept::new(register, clock, space, creates_missing, leases, owner);
        // Nobody joins it: to drop the handle in a forked child would be wrong.
        std::thread::Builder::new().name("imid-lease".into()).spawn(move || kept.run())?;
        Ok(Self { background, in_child })
    }

    /// A keeper without a thread, and what the thread would have.
    #[cfg(test)]
    pub(crate) fn without_thread(states: Vec<State>) -> (Self, KeeperOwner) {
        let in_child = states.iter().map(State::stopped).collect();
        let (background, owner) = Background::new(states);
        (Self { background, in_child }, owner)
    }

    /// Makes the thread check immediately whether a generator needs a higher ceiling.
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
            let differs = matches!(state.start, Start::ClocksDiffer(_));
            let is_known = state.is_refused || differs || state.far_ahead.is_some_and(|far| far.are_all);
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

    /// Seals all generators, tells the thread to give all lanes back and to end, and waits for at most this time. Returns whether it
    /// has done both. In a forked child it does nothing.
    pub(crate) fn close_within(&self, time: Duration, seal: impl FnOnce()) -> bool {
        self.end(seal) && self.background.has_ended_within(time) && self.is_given_back()
    }

    /// Does the same in a task.
    pub(crate) async fn close_async(&self, time: Duration, seal: impl FnOnce()) -> bool {
        self.end(seal) && self.background.has_ended_within_async(time).await && self.is_given_back()
    }

    fn end(&self, seal: impl FnOnce()) -> bool {
        if !self.is_forked() {
            seal();
            self.background.end();
        }
        !self.is_forked()
    }

    fn is_given_back(&self) -> bool {
        self.background.state().is_some_and(|states| states.iter().all(|state| state.is_given_back))
    }
}
