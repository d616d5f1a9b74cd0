//! One register that several holders use.

use std::collections::VecDeque;
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
/// Calls take turns in the order in which they were made, and one list answers all calls that wait for the same one. A lease, the worker IDs of a process and a segment make one call
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
    /// Locked only by the thread whose turn it is. A mutex alone is not fair: a thread that calls again at once is faster than
    /// one that has to wake up, and a measured call waited for 757 others of 20 ms.
    register: Mutex<Named>,
}

/// Who waits for a turn.
#[derive(Default)]
struct Turns {
    /// How many calls were made.
    #[cfg(test)]
    made: u64,
    is_taken: bool,
    waiting: VecDeque<Arc<Waiter>>,
}

/// A call that waits. Each is woken alone: of a thousand that are woken together, one has its turn.
struct Waiter {
    /// The prefix, if it is a list. A list that another call makes, and that begins now, answers it too.
    prefix: Option<String>,
    state: Mutex<Wait>,
    changed: Condvar,
}

enum Wait {
    Queued,
    /// It is its turn.
    Turn,
    /// Another call has listed the same.
    Listed(Listed),
}

type Listed = Result<Arc<Vec<(String, String)>>, RegisterError>;

struct Named {
    register: Box<dyn Register>,
    is_named: bool,
}

/// Ends the turn when it is dropped, even after a panic.
struct Turn<'a>(&'a Shared);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut turns = lock(&self.0.turns);
        match turns.waiting.pop_front() {
            Some(next) => next.tell(Wait::Turn),
            None => turns.is_taken = false,
        }
    }
}

/// The calls that one list answers. Those that were not answered, because it has panicked, are errors.
struct Companions(Vec<Arc<Waiter>>, &'static str);

impl Drop for Companions {
    fn drop(&mut self) {
        for waiter in self.0.drain(..) {
            waiter.tell(Wait::Listed(Err(panicked(self.1))));
        }
    }
}

fn panicked(name: &str) -> RegisterError {
    RegisterError::new(format!("{name}: an earlier call has panicked")).permanent()
}

impl Waiter {
    fn tell(&self, what: Wait) {
        *lock(&self.state) = what;
        self.changed.notify_one();
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
            register: Mutex::new(Named { register: Box::new(register), is_named: false }),
        }))
    }

    /// Makes a call when it is its turn, and passes it the time that it has waited.
    fn call<T>(&self, call: impl FnOnce(&mut Named, Duration) -> Result<T, RegisterError>) -> Result<T, RegisterError> {
        self.check_process()?;
        let asked = Instant::now();
        match self.0.take_turn(None) {
            Ok(turn) => self.call_in(&turn, |named| call(named, asked.elapsed())),
            Err(_) => Err(panicked(self.0.name)),
        }
    }

    /// Refuses a call of a forked child. Before any lock: another thread of the parent may have held it.
    fn check_process(&self) -> Result<(), RegisterError> {
        if self.0.process.is_current() { Ok(()) } else { Err(RegisterError::new(format!("{}: {FORKED}", self.0.name))) }
    }

    fn call_in<T>(
        &self,
        _: &Turn<'_>,
        call: impl FnOnce(&mut Named) -> Result<T, RegisterError>,
    ) -> Result<T, RegisterError> {
        // The answer of a call that has panicked may still come, and would be taken for the answer of this one.
        let Ok(mut named) = self.0.register.lock() else { return Err(panicked(self.0.name)) };
        let result = call(&mut named);
        *lock(&self.0.promise) = named.register.promise();
        result
    }

    /// Lists records for this call, and for all that wait to list the same.
    fn list_for_all(&self, turn: &Turn<'_>, prefix: &str) -> Listed {
        let is_same = |waiter: &Arc<Waiter>| waiter.prefix.as_deref() == Some(prefix);
        let mut companions = {
            let mut turns = lock(&self.0.turns);
            let (same, others) = turns.waiting.drain(..).partition(is_same);
            turns.waiting = others;
            let same: VecDeque<_> = same;
            Companions(same.into(), self.0.name)
        };
        let listed = self.call_in(turn, |named| named.register.list(prefix)).map(Arc::new);
        for waiter in companions.0.drain(..) {
            waiter.tell(Wait::Listed(match &listed {
                Ok(records) => Ok(Arc::clone(records)),
                Err(error) => Err(error.copy()),
            }));
        }
        listed
    }
}

const FORKED: &str = "the parent process opened this register; a forked child must open its own";

impl Shared {
    /// Waits for a turn; `Err` if another call has listed the records of this prefix meanwhile.
    fn take_turn(&self, prefix: Option<&str>) -> Result<Turn<'_>, Listed> {
        let mut turns = lock(&self.turns);
        #[cfg(test)]
        {
            turns.made += 1;
        }
        if !turns.is_taken {
            turns.is_taken = true;
            return Ok(Turn(self));
        }
        let waiter =
            Waiter { prefix: prefix.map(Into::into), state: Mutex::new(Wait::Queued), changed: Condvar::new() };
        let waiter = Arc::new(waiter);
        turns.waiting.push_back(Arc::clone(&waiter));
        drop(turns);
        let state = waiter.changed.wait_while(lock(&waiter.state), |state| matches!(state, Wait::Queued));
        match std::mem::replace(&mut *state.unwrap_or_else(PoisonError::into_inner), Wait::Turn) {
            Wait::Listed(listed) => Err(listed),
            _ => Ok(Turn(self)),
        }
    }
}

impl Register for SharedRegister {
    fn read(&mut self, key: &str) -> Result<Option<String>, RegisterError> {
        self.call(|named, _| named.register.read(key))
    }

    fn list(&mut self, prefix: &str) -> Result<Vec<(String, String)>, RegisterError> {
        self.check_process()?;
        let listed = match self.0.take_turn(Some(prefix)) {
            Ok(turn) => self.list_for_all(&turn, prefix),
            Err(listed) => listed,
        };
        listed.map(|records| Arc::try_unwrap(records).unwrap_or_else(|records| (*records).clone()))
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
        let first = shared.take_turn(None).map_err(drop).unwrap();
        thread::scope(|scope| {
            for number in 1..=5 {
                let (shared, order) = (&shared, &order);
                scope.spawn(move || {
                    let _turn = shared.take_turn(None);
                    lock(order).push(number);
                });
                while lock(&shared.turns).made <= number {
                    thread::yield_now();
                }
            }
            lock(&order).push(0);
            drop(first);
            let _turn = shared.take_turn(None);
            lock(&order).push(6);
        });
        assert_eq!(*lock(&order), [0, 1, 2, 3, 4, 5, 6]);
    }

    /// A register that counts its lists, each of which waits for a word.
    struct Counted(MemoryRegister, std::sync::mpsc::Receiver<()>, Arc<std::sync::atomic::AtomicU32>);

    impl Register for Counted {
        fn read(&mut self, key: &str) -> Result<Option<String>, RegisterError> {
            self.0.read(key)
        }

        fn list(&mut self, prefix: &str) -> Result<Vec<(String, String)>, RegisterError> {
            self.2.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            self.1.recv().expect("on purpose");
            self.0.list(prefix)
        }

        fn compare_and_set(&mut self, key: &str, seen: Option<&str>, value: &str) -> Result<bool, RegisterError> {
            self.0.compare_and_set(key, seen, value)
        }

        fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
            Ok(None)
        }

        fn promise(&self) -> Promise {
            self.0.promise()
        }
    }

    #[test]
    fn one_list_answers_all_that_wait_for_it_and_no_call_that_came_later() {
        for panics in [false, true] {
            let (end, ends) = std::sync::mpsc::channel();
            let lists = Arc::default();
            let mut register = MemoryRegister::new();
            register.compare_and_set("a/1", None, "1").unwrap();
            let shared = SharedRegister::new(Counted(register, ends, Arc::clone(&lists)));
            let made = |count| {
                while lock(&shared.0.turns).made < count {
                    thread::yield_now();
                }
            };
            thread::scope(|scope| {
                let list = |prefix: &'static str| {
                    let mut shared = shared.clone();
                    scope.spawn(move || {
                        shared.list(prefix).map(|records| records.len()).map_err(|error| error.is_final())
                    })
                };
                let first = list("a/");
                made(1);
                let waiting = [list("a/"), list("a/"), list("b/")];
                made(4);
                if panics {
                    drop(end);
                    assert!(first.join().is_err());
                } else {
                    (0..3).for_each(|_| end.send(()).unwrap());
                    assert_eq!(first.join().unwrap(), Ok(1));
                }
                let [a, same, b] = waiting.map(|call| call.join().unwrap());
                assert_eq!(
                    (a, same, b),
                    if panics { (Err(true), Err(true), Err(true)) } else { (Ok(1), Ok(1), Ok(0)) }
                );
            });
            // The first one, one for two that waited, and that of another prefix.
            assert_eq!(lists.load(std::sync::atomic::Ordering::Relaxed), if panics { 1 } else { 3 });
        }
    }
}
