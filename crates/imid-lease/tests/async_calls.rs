//! The async calls in each kind of runtime, and without one: they need no timer, lose nothing when a future is dropped, and a busy
//! runtime makes no lease late.

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

#[path = "support/faulty.rs"]
mod faulty;

use faulty::FaultyRegister;
use imid::{SessionTag, SessionType};
use imid_lease::{LaneOptions, LeasedGenerator, Promise, Register, RegisterError};

const LONG: Duration = Duration::from_secs(60);
const MS: Duration = Duration::from_millis(1);

fn room() -> SessionTag {
    SessionTag::new(SessionType::GROUP, "room-42")
}

fn lease(register: &FaultyRegister) -> LeasedGenerator {
    LeasedGenerator::open(register.clone(), LaneOptions::new().lane_bits(0).holder("web-3")).unwrap()
}

/// Returns whether the register has this word in the record of the only lane.
fn is_lane(register: &FaultyRegister, word: &str) -> bool {
    register.clone().list("lanes/1/").unwrap().iter().any(|(_, record)| record.ends_with(word))
}

/// Runs a future without any runtime.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Thread(thread::Thread);
    impl Wake for Thread {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Thread(thread::current())));
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        thread::park();
    }
}

#[test]
fn a_task_that_waits_for_the_lease_is_polled_seldom() {
    let register = FaultyRegister::new();
    register.set_delay(300 * MS);
    let ids = lease(&register);
    let (start, mut polls) = (Instant::now(), 0);
    let mut call = pin!(ids.generate_async(room()));
    let counted = std::future::poll_fn(|context| {
        polls += 1;
        call.as_mut().poll(context)
    });
    block_on(counted).unwrap();
    // A call of the register is under way nearly all the time.
    let most = start.elapsed().as_millis() / 50 + 20;
    assert!(polls <= most, "{polls} of at most {most}");
}

fn poll_once<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Each call waits for something: the store answers only later.
async fn each_call() {
    let register = FaultyRegister::new();
    register.set_down(true);
    let ids = lease(&register);
    let later = up_later(&register);
    ids.wait_until_open_async().await.unwrap();
    let id = ids.generate_async(room()).await.unwrap();
    assert!(id < ids.generate_async(room()).await.unwrap());
    later.join().unwrap();

    assert!(is_lane(&register, " held"));
    assert!(ids.close_async().await);
    assert!(is_lane(&register, " free"));
    assert!(ids.generate_async(room()).await.unwrap_err().is_closed());
}

/// Lets the register answer a moment later.
fn up_later(register: &FaultyRegister) -> thread::JoinHandle<()> {
    let register = register.clone();
    thread::spawn(move || {
        thread::sleep(50 * MS);
        register.set_down(false);
    })
}

#[test]
fn each_call_works_in_each_runtime_and_without_one() {
    use tokio::runtime::Builder;
    block_on(each_call());
    // Without a timer.
    Builder::new_current_thread().build().unwrap().block_on(each_call());
    Builder::new_current_thread().enable_all().build().unwrap().block_on(each_call());
    let many = Builder::new_multi_thread().worker_threads(2).build().unwrap();
    // Spawned, so the futures can be sent to another thread.
    many.block_on(many.spawn(each_call())).unwrap();
}

#[test]
fn a_blocked_runtime_makes_no_lease_late() {
    let options = LaneOptions::new().horizon(1_000 * MS).max_skew(300 * MS).max_lead(200 * MS);
    let register = FaultyRegister::new();
    let ids = LeasedGenerator::open(register.clone(), options).unwrap();
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        ids.wait_until_open_async().await.unwrap();
        let before = ids.status().renewals;
        // The only thread of the runtime does nothing else for two horizons: there is a renewal in each quarter.
        while ids.status().renewals < before + 8 {
            thread::sleep(MS);
        }
        ids.generate(room()).unwrap();
        assert_eq!(ids.status().lost, 0);
    });
}

#[test]
fn a_dropped_future_takes_nothing_and_stops_nothing() {
    let register = FaultyRegister::new();
    register.set_down(true);
    let ids = lease(&register);
    for _ in 0..100 {
        assert!(poll_once(pin!(ids.wait_until_open_async())).is_pending());
        assert!(poll_once(pin!(ids.generate_async(room()))).is_pending());
        drop(ids.close_async());
    }
    register.set_down(false);
    block_on(ids.wait_until_open_async()).unwrap();
    block_on(ids.generate_async(room())).expect("a future of close that was never polled has closed nothing");
    // A close that has begun goes on.
    register.set_delay(20 * MS);
    assert!(poll_once(pin!(ids.close_async())).is_pending());
    assert!(ids.generate(room()).unwrap_err().is_closed());
    assert!(ids.close_within(LONG));
    assert!(is_lane(&register, " free"));
}

/// A register whose calls do not return until the test lets them.
struct Stuck(mpsc::Sender<()>, mpsc::Receiver<()>);

impl Stuck {
    fn wait<T>(&self) -> Result<T, RegisterError> {
        _ = self.0.send(());
        _ = self.1.recv();
        Err(RegisterError::new("it was stuck"))
    }
}

impl Register for Stuck {
    fn read(&mut self, _: &str) -> Result<Option<String>, RegisterError> {
        self.wait()
    }

    fn list(&mut self, _: &str) -> Result<Vec<(String, String)>, RegisterError> {
        self.wait()
    }

    fn compare_and_set(&mut self, _: &str, _: Option<&str>, _: &str) -> Result<bool, RegisterError> {
        self.wait()
    }

    fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
        Ok(None)
    }

    fn creates_missing_spaces(&self) -> bool {
        true
    }

    fn promise(&self) -> Promise {
        Promise::Strong
    }
}

#[test]
fn a_drop_in_a_runtime_waits_for_no_call_of_the_store() {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
        let ((calls, called), (lets_go, goes)) = (mpsc::channel(), mpsc::channel());
        let ids = LeasedGenerator::open(Stuck(calls, goes), LaneOptions::new()).unwrap();
        called.recv().unwrap();
        assert!(poll_once(pin!(ids.close_async())).is_pending(), "the call is under way");
        drop(ids);
        // The call was under way during all this.
        lets_go.send(()).expect("the thread still waits for the store");
    });
}

/// What is refused until a renewal is woken by the thread of the lease: nobody has a timer.
#[test]
fn a_task_waits_without_a_timer_until_the_ceiling_is_past_a_floor_or_a_lane_is_free() {
    let options = || LaneOptions::new().lane_bits(0).horizon(1_000 * MS).max_skew(300 * MS).max_lead(200 * MS);
    let register = FaultyRegister::new();
    let ids = LeasedGenerator::open(register.clone(), options().holder("web-3")).unwrap();
    let mut floor = block_on(ids.generate_async(room())).unwrap().timestamp_ms();
    for _ in 0..3 {
        floor += 1_300;
        ids.raise_floor_ms(floor);
        assert!(ids.generate(room()).unwrap_err().is_used_up());
        assert!(block_on(ids.generate_async(room())).unwrap().timestamp_ms() >= floor);
    }
    // The lane of another process is free once its time is over, which nobody announces to this one.
    let others = FaultyRegister::new();
    let held = LeasedGenerator::open(others.clone(), options().holder("web-1")).unwrap();
    block_on(held.wait_until_open_async()).unwrap();
    let next = LeasedGenerator::open(others.clone(), options().holder("web-2")).unwrap();
    let mut call = pin!(next.generate_async(room()));
    assert!(poll_once(call.as_mut()).is_pending());
    held.close();
    block_on(call).unwrap();
}

/// A register that refuses this process for good.
struct Refuses;
impl Register for Refuses {
    fn read(&mut self, _: &str) -> Result<Option<String>, RegisterError> {
        Err(RegisterError::new("wrong password").permanent())
    }

    fn list(&mut self, _: &str) -> Result<Vec<(String, String)>, RegisterError> {
        Err(RegisterError::new("wrong password").permanent())
    }

    fn compare_and_set(&mut self, _: &str, _: Option<&str>, _: &str) -> Result<bool, RegisterError> {
        Err(RegisterError::new("wrong password").permanent())
    }

    fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
        Ok(None)
    }

    fn promise(&self) -> Promise {
        Promise::Strong
    }
}

#[test]
fn a_task_waits_for_nothing_that_is_permanent_or_that_only_the_generator_refuses() {
    let clock = Arc::new(imid::clock::ManualClock::new(1_795_204_812_345));
    let ids = LeasedGenerator::open(FaultyRegister::new(), LaneOptions::new().clock(Arc::clone(&clock))).unwrap();
    block_on(ids.wait_until_open_async()).unwrap();
    // The clock stands still, so the lead is used up.
    let refused = loop {
        if let Err(error) = block_on(ids.generate_async(room())) {
            break error;
        }
    };
    assert!(
        refused.generate_error().is_some_and(imid::generator::GenerateError::is_overload)
            && refused.retry_after().is_some()
    );
    let start = Instant::now();
    assert_eq!(ids.generate_within(room(), LONG), Err(refused), "the blocking form has the same rule");
    assert!(start.elapsed() < LONG / 2);
    ids.close();
    assert!(block_on(ids.generate_async(room())).unwrap_err().is_closed());
    assert!(block_on(ids.wait_until_open_async()).unwrap_err().is_closed());
    let ids = LeasedGenerator::open(Refuses, LaneOptions::new()).unwrap();
    assert!(block_on(ids.wait_until_open_async()).unwrap_err().is_permanent());
}

/// A waker is called by the thread of the lease. One that polls its task there may find the generator between two lanes.
#[test]
fn wakers_that_poll_at_once_or_panic_or_are_slow_end_no_lease() {
    type Task = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;
    /// Polls its task in `wake`, and then panics or takes long.
    struct Inline {
        task: std::sync::Mutex<Option<Task>>,
        is_woken: std::sync::atomic::AtomicBool,
        effect: fn(),
    }
    impl Inline {
        fn run(self: &Arc<Self>) {
            use std::sync::atomic::Ordering::SeqCst;
            self.is_woken.store(true, SeqCst);
            while self.is_woken.load(SeqCst) {
                // Another thread polls it, and looks whether it was woken after that.
                let Some(mut task) = self.task.lock().unwrap().take() else { return };
                self.is_woken.store(false, SeqCst);
                if task.as_mut().poll(&mut Context::from_waker(&Arc::clone(self).into())).is_pending() {
                    *self.task.lock().unwrap() = Some(task);
                }
            }
        }
    }
    impl Wake for Inline {
        fn wake(self: Arc<Self>) {
            self.run();
            (self.effect)();
        }
    }
    let options = LaneOptions::new().lane_bits(1).horizon(1_000 * MS).max_skew(300 * MS).max_lead(200 * MS);
    let register = FaultyRegister::new();
    register.set_down(true);
    let ids = Arc::new(LeasedGenerator::open(register.clone(), options).unwrap());
    // Each ID waits until it is taken, so the sixth one comes after the lane was freed.
    let (minted, is_minted) = mpsc::sync_channel(0);
    let effects: [fn(); 3] = [|| (), || panic!("on purpose"), || thread::sleep(50 * MS)];
    for effect in effects {
        let (ids, minted) = (Arc::clone(&ids), minted.clone());
        let task = async move {
            for _ in 0..4 {
                let id = ids.generate_async(room()).await.unwrap();
                ids.raise_floor_ms(id.timestamp_ms() + 200);
                minted.send(id).unwrap();
            }
        };
        let task = std::sync::Mutex::new(Some(Box::pin(task) as Task));
        Arc::new(Inline { task, is_woken: false.into(), effect }).run();
    }
    drop(minted);
    register.set_down(false);
    let mut found = Vec::new();
    while let Ok(id) = is_minted.recv_timeout(LONG) {
        found.push(id);
        if found.len() == 5 {
            let lane = ids.status().lane.unwrap();
            imid_lease::admin::free(&mut register.clone(), "lanes", lane, imid_lease::admin::FreeIf::Forced).unwrap();
        }
    }
    assert_eq!((found.len(), ids.status().lost), (12, 1));
    assert!(ids.close_within(LONG));
}
