//! One register that several holders use.

use std::fmt;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use imid::fork::Process;

use super::{Promise, Register, RegisterError};
use crate::changes::lock;
use crate::options::millis;

/// A register that several holders of a process share, so that the process has one connection. Clones are the same
/// register.
///
/// ```
/// use imid_lease::register::{MemoryRegister, SharedRegister};
/// use imid_lease::{LaneOptions, LeasedGenerator};
///
/// let register = SharedRegister::new(MemoryRegister::new());
/// let messages = LeasedGenerator::open(register.clone(), LaneOptions::new().holder("chat-3"))?;
/// let events = LeasedGenerator::open(register, LaneOptions::new().space("events").holder("chat-3"))?;
/// # Ok::<(), imid_lease::OpenError>(())
/// ```
///
/// Calls take turns in the order in which they were made. A lease, the worker IDs of a process and a segment make one call
/// at a time, so **with n holders a call can take n time limits** while the store does not answer. On a slow store,
/// leases hold while their number times the time of a call is at most a tenth of the horizon, 1 s by default. Each worker ID
/// counts as a lease. [`promise`](Register::promise) and [`name`](Register::name) do not wait.
///
/// The connection has the name of the holder whose call was the first one.
///
/// After a call has panicked, and in a forked child, each call is an error.
#[derive(Clone)]
pub struct SharedRegister(Arc<Shared>);

struct Shared {
    name: &'static str,
    process: Process,
    /// The promise of the register after the last call, apart from it, so that reading it does not wait for a call.
    promise: Mutex<Promise>,
    turns: Mutex<Turns>,
    turn_ends: Condvar,
    /// Locked only by the thread whose turn it is. A mutex alone is not fair: a thread that calls again at once is faster than
    /// one that has to wake up, and a measured call waited for 757 others of 20 ms.
    register: Mutex<Named>,
}

/// Whose turn it is.
#[derive(Default)]
struct Turns {
    /// The number of the next call that is made.
    made: u64,
    /// The number of the call whose turn it is.
    now: u64,
}

struct Named {
    register: Box<dyn Register>,
    is_named: bool,
}

/// Ends the turn when it is dropped, even after a panic.
struct Turn<'a>(&'a Shared);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        lock(&self.0.turns).now += 1;
        self.0.turn_ends.notify_all();
    }
}

impl SharedRegister {
    /// Shares a register. Only its clones use it from now on.
    pub fn new(register: impl Register + 'static) -> Self {
        Self(Arc::new(Shared {
            name: register.name(),
            process: Process::current(),
            promise: Mutex::new(register.promise()),
            turns: Mutex::default(),
            turn_ends: Condvar::new(),
            register: Mutex::new(Named { register: Box::new(register), is_named: false }),
        }))
    }

    /// Makes a call when it is its turn, and passes it the time that it has waited.
    fn call<T>(&self, call: impl FnOnce(&mut Named, Duration) -> Result<T, RegisterError>) -> Result<T, RegisterError> {
        let shared = &*self.0;
        // Before any lock: another thread of the parent may have held it.
        if !shared.process.is_current() {
            let name = shared.name;
            return Err(RegisterError::new(format!("{name}: {FORKED}")));
        }
        let asked = Instant::now();
        let _turn = shared.take_turn();
        let Ok(mut named) = shared.register.lock() else {
            // The answer of that call may still come, and would be taken for the answer of this one.
            return Err(RegisterError::new(format!("{}: an earlier call has panicked", shared.name)).permanent());
        };
        let result = call(&mut named, asked.elapsed());
        *lock(&shared.promise) = named.register.promise();
        result
    }
}

const FORKED: &str = "the parent process opened this register; a forked child must open its own";

impl Shared {
    fn take_turn(&self) -> Turn<'_> {
        let mut turns = lock(&self.turns);
        let mine = turns.made;
        turns.made += 1;
        let is_mine = self.turn_ends.wait_while(turns, |turns| turns.now != mine);
        drop(is_mine.unwrap_or_else(PoisonError::into_inner));
        Turn(self)
    }
}

impl Register for SharedRegister {
    fn read(&mut self, key: &str) -> Result<Option<String>, RegisterError> {
        self.call(|named, _| named.register.read(key))
    }

    fn list(&mut self, prefix: &str) -> Result<Vec<(String, String)>, RegisterError> {
        self.call(|named, _| named.register.list(prefix))
    }

    fn compare_and_set(&mut self, key: &str, seen: Option<&str>, value: &str) -> Result<bool, RegisterError> {
        self.call(|named, _| named.register.compare_and_set(key, seen, value))
    }

    fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
        self.call(|named, waited| {
            let time_ms = named.register.now_ms()?;
            // It is the time in the middle of the call, of which the wait for the turn is a part.
            let since_ms = millis(waited / 2);
            Ok(time_ms.map(|ms| ms.saturating_sub(since_ms)))
        })
    }

    fn promise(&self) -> Promise {
        if self.0.process.is_current() { lock(&self.0.promise).clone() } else { Promise::Weak(FORKED.into()) }
    }

    fn name(&self) -> &'static str {
        self.0.name
    }

    fn set_holder(&mut self, holder: &str) {
        // The next call has the same error, and returns it.
        let _ = self.call(|named, _| {
            if !named.is_named {
                named.is_named = true;
                named.register.set_holder(holder);
            }
            Ok(())
        });
    }
}

impl fmt::Debug for SharedRegister {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedRegister").field("register", &self.0.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::register::MemoryRegister;

    #[test]
    fn turns_come_in_the_order_of_the_calls_and_one_that_calls_again_waits_for_the_others() {
        let shared = SharedRegister::new(MemoryRegister::new()).0;
        let order = Mutex::new(Vec::new());
        let first = shared.take_turn();
        thread::scope(|scope| {
            for number in 1..=5 {
                let (shared, order) = (&shared, &order);
                scope.spawn(move || {
                    let _turn = shared.take_turn();
                    lock(order).push(number);
                });
                while lock(&shared.turns).made <= number {
                    thread::yield_now();
                }
            }
            lock(&order).push(0);
            drop(first);
            let _turn = shared.take_turn();
            lock(&order).push(6);
        });
        assert_eq!(*lock(&order), [0, 1, 2, 3, 4, 5, 6]);
    }
}
