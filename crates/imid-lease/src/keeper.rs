//! The thread that keeps a lease: it drives an engine over a register.

#[cfg(test)]
mod tests;
mod work;

use std::time::Duration;

use imid::clock::Clock;

use crate::background::{Background, Group, Owner};
use crate::clock::BelievedClock;
use crate::engine::{Config, Phase};
use crate::error::{OpenError, OpenKind};
use crate::minter::Minter;
use crate::register::Register;
use crate::space::Space;
use crate::state::State;
use crate::wait::Changes;
use work::Kept;

/// What the thread sees of its keeper.
type KeeperOwner = Owner<State>;

/// What a lease is for.
pub(crate) struct Terms {
    pub(crate) config: Config,
    /// The space is created first, if there is none.
    pub(crate) creates_missing: bool,
}

/// The keeper of one lease, with its own register.
///
/// When it is dropped, its thread seals and releases, and no one waits for it. In a forked child it does nothing.
#[derive(Debug)]
pub(crate) struct Keeper {
    background: Background<State>,
    /// What a forked child finds. It must not wait for a lock that another thread may have held.
    in_child: State,
}

impl Keeper {
    /// Starts the thread, which looks for a lane of the space immediately. Its group announces its changes.
    pub(crate) fn start<R, C>(
        register: R,
        clock: BelievedClock<C>,
        terms: Terms,
        minter: Box<dyn Minter>,
        group: &Group,
    ) -> std::io::Result<Self>
    where
        R: Register + 'static,
        C: Clock + Send + Sync + 'static,
    {
        let (keeper, owner) = Self::new(State::new(&terms.config, register.promise()), group);
        let kept = Kept::new(register, clock, terms, minter, owner);
        // Nobody joins it: to drop the handle in a forked child would be wrong.
        std::thread::Builder::new().name("imid-lease".into()).spawn(move || kept.run())?;
        Ok(keeper)
    }

    /// Returns a keeper without a thread, and what the thread would have.
    pub(crate) fn new(state: State, group: &Group) -> (Self, KeeperOwner) {
        let in_child = state.stopped();
        let (background, owner) = Background::new(state, group.clone());
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

    /// Returns the name under which the lease is held.
    pub(crate) fn holder(&self) -> &crate::record::Name {
        &self.in_child.status.holder
    }

    /// Returns the state of the lease. In a forked child it is one that has stopped.
    pub(crate) fn state(&self) -> State {
        self.background.state().map_or_else(|| self.in_child.clone(), |state| state.clone())
    }

    /// Returns whether the lease has stopped.
    pub(crate) fn is_stopped(&self) -> bool {
        self.background.state().is_none_or(|state| state.stopped.is_some())
    }

    /// Returns whether the lease has a lane, or what is left of one.
    pub(crate) fn has_lane(&self) -> bool {
        matches!(self.state().status.phase, Phase::Holding | Phase::Lost)
    }

    /// Returns where a change of the lease is announced.
    pub(crate) fn changes(&self) -> &Changes {
        self.background.changes()
    }

    /// Waits until the lease has a lane, or the register refuses this process, for at most this time.
    pub(crate) fn wait_until_open(&self, space: &Space, time: Duration) -> Result<(), OpenError> {
        let opened = self.changes().wait(time, || self.opened(space));
        opened.unwrap_or_else(|| Err(self.state().why_not_open(space, time)))
    }

    /// Does the same in a task, without a time limit.
    pub(crate) async fn wait_until_open_async(&self, space: &Space) -> Result<(), OpenError> {
        self.changes().wait_async(|| self.opened(space)).await
    }

    /// Returns whether the lease has a lane, or why it waits for none; `None` while it waits.
    pub(crate) fn opened(&self, space: &Space) -> Option<Result<(), OpenError>> {
        if self.is_forked() {
            return Some(Err(OpenKind::Forked.into()));
        }
        let state = self.state();
        match state.status.phase {
            Phase::Holding | Phase::Lost => Some(Ok(())),
            Phase::Seeking if !state.is_vain() => None,
            Phase::Seeking | Phase::Stopped => Some(Err(state.why_not_open(space, Duration::ZERO))),
        }
    }

    /// Tells the thread to give the lane back and to end. Its generator is sealed.
    pub(crate) fn end(&self) {
        self.background.end();
    }

    /// Returns whether the lane was given back; `None` until the thread has ended.
    pub(crate) fn ended(&self) -> Option<bool> {
        let has_ended = self.background.has_ended()?;
        Some(has_ended && self.background.state().is_some_and(|state| state.is_given_back))
    }
}
