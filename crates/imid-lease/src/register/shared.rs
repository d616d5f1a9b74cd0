//! One register for several holders.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use imid::fork::Process;

use super::{Promise, Register, RegisterError};
use crate::changes::lock;
use crate::clock::monotonic_ms;
use crate::engine::clock_judgement::{offset, time_of};
use crate::keeper_thread::KeeperThread;
use crate::options::millis;
use crate::record::RegisterRecord;

/// A register that several holders in a process share, so that the process has one connection. Clones are the same register.
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
/// Calls are served first come, first served. One thread keeps all leases and worker IDs that were opened with clones of one
/// `SharedRegister`; one list answers all that wait for it, and one reading of the store's time, or of the register's name, all calls
/// within a second. A lease
/// and a segment make one call at a time, so **with n holders a call can take n time limits** while the store does not answer. On a
/// slow store, leases hold while their number times the time of a call is at most a tenth of the horizon, 1 s by default. Each
/// worker ID counts as a lease. [`promise`](Register::promise) and [`name`](Register::name) do not wait.
///
/// The connection has the name of the holder that called first.
///
/// After a call has panicked, and in a forked child, every call is an error.
#[derive(Clone)]
pub struct SharedRegister(Arc<Shared>);

struct Shared {
    name: &'static str,
    creates_missing_spaces: bool,
    process: Process,
    /// The promise of the register after the last call, apart from it, so that reading it does not wait for a call.
    promise: Mutex<Promise>,
    turns: Mutex<Turns>,
    /// Locked only by the thread whose turn it is. A mutex alone is not fair: a thread that calls again immediately is faster than
    /// one that has to wake up, and a measured call waited for 757 others of 20 ms.
    register: Mutex<Kept>,
    thread: KeeperThread,
}

/// For how long one reading of the store's time answers all calls, and one of the record that names the register: a thousand leases
/// ask for the time a hundred times per second, and each of them for the record when it starts.
const FRESH_MS: u64 = 1_000;

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
#[derive(Default)]
struct Waiter {
    is_its_turn: Mutex<bool>,
    changed: Condvar,
}

/// The register, and what answers several calls.
struct Kept {
    register: Box<dyn Register>,
    /// The store's time, as its offset to the monotonic clock, and when it was read.
    time: Option<(i64, u64)>,
    /// The record that names the register, and when it was read. Nobody changes it.
    identity: Option<(String, u64)>,
}

impl Kept {
    fn read(&mut self, key: &str) -> Result<Option<String>, RegisterError> {
        if key != RegisterRecord::KEY {
            return self.register.read(key);
        }
        let asked_ms = monotonic_ms();
        if self.identity.as_ref().is_none_or(|(_, read_ms)| read_ms + FRESH_MS <= asked_ms) {
            self.identity = self.register.read(key)?.map(|text| (text, asked_ms));
        }
        Ok(self.identity.as_ref().map(|(text, _)| text.clone()))
    }
}

/// Ends the turn when it is dropped, even after a panic.
struct Turn<'a>(&'a Shared);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut turns = lock(&self.0.turns);
        match turns.waiting.pop_front() {
            Some(next) => next.begin(),
            None => turns.is_taken = false,
        }
    }
}

impl Waiter {
    fn begin(&self) {
        *lock(&self.is_its_turn) = true;
        self.changed.notify_one();
    }
}

impl SharedRegister {
    /// Shares a register. Only its clones use it from now on.
    pub fn new(register: impl Register + 'static) -> Self {
        Self(Arc::new(Shared {
            name: register.name(),
            creates_missing_spaces: register.creates_missing_spaces(),
            process: Process::current(),
            promise: Mutex::new(register.promise()),
            turns: Mutex::default(),
            register: Mutex::new(Kept { register: Box::new(register), time: None, identity: None }),
            thread: KeeperThread::default(),
        }))
    }

    /// Returns the thread that keeps all leases of this register; `None` in a forked child, where it does not run.
    pub(crate) fn thread(&self) -> Option<KeeperThread> {
        self.0.process.is_current().then(|| self.0.thread.clone())
    }

    /// Makes a call when it is its turn, and passes it the time that it has waited.
    fn call<T>(&self, call: impl FnOnce(&mut Kept, Duration) -> Result<T, RegisterError>) -> Result<T, RegisterError> {
        // Before any lock: in a forked child, another thread of the parent may have held it.
        if !self.0.process.is_current() {
            return Err(RegisterError::new(format!("{}: {FORKED}", self.0.name)));
        }
        let asked = Instant::now();
        let _turn = self.0.take_turn();
        // The answer of a call that has panicked may still come, and would be taken for the answer of this one.
        let Ok(mut kept) = self.0.register.lock() else {
            return Err(RegisterError::new(format!("{}: an earlier call has panicked", self.0.name)).permanent());
        };
        let result = call(&mut kept, asked.elapsed());
        *lock(&self.0.promise) = kept.register.promise();
        result
    }
}

const FORKED: &str = "the parent process opened this register; a forked child must open its own";

impl Shared {
    fn take_turn(&self) -> Turn<'_> {
        let mut turns = lock(&self.turns);
        #[cfg(test)]
        {
            turns.made += 1;
        }
        if std::mem::replace(&mut turns.is_taken, true) {
            let waiter = Arc::new(Waiter::default());
            turns.waiting.push_back(Arc::clone(&waiter));
            drop(turns);
            let is_its_turn = waiter.changed.wait_while(lock(&waiter.is_its_turn), |is_its_turn| !*is_its_turn);
            drop(is_its_turn.unwrap_or_else(PoisonError::into_inner));
        }
        Turn(self)
    }
}

impl Register for SharedRegister {
    fn read(&mut self, key: &str) -> Result<Option<String>, RegisterError> {
        self.call(|kept, _| kept.read(key))
    }

    fn list(&mut self, prefix: &str) -> Result<Vec<(String, String)>, RegisterError> {
        self.call(|kept, _| kept.register.list(prefix))
    }

    fn compare_and_set(&mut self, key: &str, seen: Option<&str>, value: &str) -> Result<bool, RegisterError> {
        self.call(|kept, _| kept.register.compare_and_set(key, seen, value))
    }

    fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
        self.call(|kept, waited| {
            let asked_ms = monotonic_ms();
            if kept.time.is_none_or(|(_, read_ms)| read_ms + FRESH_MS <= asked_ms) {
                kept.time = kept.register.now_ms()?.map(|time_ms| {
                    let middle_ms = asked_ms.midpoint(monotonic_ms());
                    (offset(time_ms, middle_ms), middle_ms)
                });
            }
            // It is the time in the middle of the call, of which the wait for the turn is a part.
            let middle_ms = (asked_ms - millis(waited).min(asked_ms)).midpoint(monotonic_ms());
            Ok(kept.time.map(|(offset, _)| time_of(offset, middle_ms)))
        })
    }

    fn promise(&self) -> Promise {
        if self.0.process.is_current() { lock(&self.0.promise).clone() } else { Promise::Weak(FORKED.into()) }
    }

    fn creates_missing_spaces(&self) -> bool {
        self.0.creates_missing_spaces
    }

    fn name(&self) -> &'static str {
        self.0.name
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
    use crate::record::Name;
    use crate::register::{MemoryRegister, caller};
    use crate::{LaneOptions, LeasedGenerator};

    /// A register that remembers for whom it was called.
    struct Asking(MemoryRegister, Arc<Mutex<Vec<Option<Name>>>>);

    impl Register for Asking {
        fn read(&mut self, key: &str) -> Result<Option<String>, RegisterError> {
            lock(&self.1).push(caller());
            self.0.read(key)
        }

        fn list(&mut self, prefix: &str) -> Result<Vec<(String, String)>, RegisterError> {
            lock(&self.1).push(caller());
            self.0.list(prefix)
        }

        fn compare_and_set(&mut self, key: &str, seen: Option<&str>, value: &str) -> Result<bool, RegisterError> {
            self.0.compare_and_set(key, seen, value)
        }

        fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
            self.0.now_ms()
        }

        fn creates_missing_spaces(&self) -> bool {
            true
        }

        fn promise(&self) -> Promise {
            self.0.promise()
        }
    }

    #[test]
    fn calls_are_those_of_the_holder_that_came_first() {
        let long = Duration::from_secs(60);
        let callers = Arc::<Mutex<Vec<_>>>::default();
        let shared = SharedRegister::new(Asking(MemoryRegister::new(), Arc::clone(&callers)));
        let first = LeasedGenerator::open(shared.clone(), LaneOptions::new().holder("chat-3")).unwrap();
        first.wait_until_open(long).unwrap();
        let other = LaneOptions::new().space("other").holder("chat-4");
        let other = LeasedGenerator::open(shared, other).unwrap();
        other.wait_until_open(long).unwrap();
        let callers = lock(&callers);
        assert!(callers.len() >= 2, "each lease has listed its space");
        assert!(callers.iter().all(|it| it.as_ref().is_some_and(|it| it.as_str() == "chat-3")), "{callers:?}");
    }

    /// A register that counts how often each key was read.
    #[derive(Default)]
    struct Counting(MemoryRegister, Arc<Mutex<Vec<String>>>);

    impl Register for Counting {
        fn read(&mut self, key: &str) -> Result<Option<String>, RegisterError> {
            lock(&self.1).push(key.into());
            self.0.read(key)
        }

        fn list(&mut self, prefix: &str) -> Result<Vec<(String, String)>, RegisterError> {
            self.0.list(prefix)
        }

        fn compare_and_set(&mut self, key: &str, seen: Option<&str>, value: &str) -> Result<bool, RegisterError> {
            self.0.compare_and_set(key, seen, value)
        }

        fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
            self.0.now_ms()
        }

        fn creates_missing_spaces(&self) -> bool {
            true
        }

        fn promise(&self) -> Promise {
            self.0.promise()
        }
    }

    #[test]
    fn one_reading_of_the_registers_name_answers_all_within_a_second_and_no_other_record_is_kept() {
        let (begun, read) = (Instant::now(), Arc::<Mutex<Vec<String>>>::default());
        let mut shared = SharedRegister::new(Counting(MemoryRegister::new(), Arc::clone(&read)));
        for _ in 0..2 {
            assert_eq!(shared.read("register").unwrap(), None, "somebody is about to write it");
        }
        for key in ["register", "lanes/meta"] {
            assert!(shared.compare_and_set(key, None, "first").unwrap());
        }
        for _ in 0..100 {
            assert_eq!(shared.read("register").unwrap().as_deref(), Some("first"));
            assert_eq!(shared.read("lanes/meta").unwrap().as_deref(), Some("first"));
        }
        let count = |key: &str| lock(&read).iter().filter(|it| *it == key).count() as u64;
        let seconds = begun.elapsed().as_secs();
        assert!((3..=3 + seconds).contains(&count("register")), "{} in {seconds} s", count("register"));
        assert_eq!(count("lanes/meta"), 100);
        // An hour later, as far as it knows.
        lock(&shared.0.register).identity.as_mut().unwrap().1 = 0;
        let before = count("register");
        while monotonic_ms() < FRESH_MS {
            thread::yield_now();
        }
        shared.read("register").unwrap();
        assert_eq!(count("register"), before + 1);
    }

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
