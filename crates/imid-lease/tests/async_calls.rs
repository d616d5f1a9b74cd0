//! The async calls in each kind of runtime, and without one: they need no timer of it, lose nothing when a future is
//! dropped, and a busy runtime makes no lease late.

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

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
fn a_task_that_waits_for_the_keeper_is_polled_seldom() {
    let register = FaultyRegister::new();
    register.set_delay(300 * MS);
    let ids = lease(&register);
    let (start, mut polls) = (Instant::now(), 0);
    let mut call = pin!(ids.generate_async(room(), LONG));
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
    assert!(ids.wait_until_open_async(20 * MS).await.is_err_and(|error| !error.is_permanent()));
    assert!(ids.generate_async(room(), Duration::ZERO).await.unwrap_err().retry_after().is_some());
    let later = up_later(&register);
    let id = ids.generate_async(room(), LONG).await.unwrap();
    assert!(id < ids.generate_async(room(), LONG).await.unwrap());
    later.join().unwrap();

    assert!(is_lane(&register, " held"));
    assert!(ids.close_async(LONG).await);
    assert!(is_lane(&register, " free"));
    assert!(ids.generate_async(room(), LONG).await.unwrap_err().is_closed());
    #[cfg(feature = "worker-ids")]
    each_call_of_worker_ids().await;
}

/// Lets the register answer a moment later.
fn up_later(register: &FaultyRegister) -> thread::JoinHandle<()> {
    let register = register.clone();
    thread::spawn(move || {
        thread::sleep(50 * MS);
        register.set_down(false);
    })
}

#[cfg(feature = "worker-ids")]
async fn each_call_of_worker_ids() {
    use imid_lease::worker_ids::{WorkerIds, WorkerOptions};
    let register = FaultyRegister::new();
    register.set_down(true);
    let workers = WorkerIds::open(|| Ok(register.clone()), WorkerOptions::new(imid_snowflake::Preset::LEAF)).unwrap();
    assert!(workers.wait_until_open_async(20 * MS).await.is_err_and(|error| !error.is_permanent()));
    let later = up_later(&register);
    workers.wait_until_open_async(LONG).await.unwrap();
    later.join().unwrap();
    let snowflakes = workers.generator().unwrap();
    let mut last = snowflakes.generate_async(LONG).await.unwrap();
    // More than a millisecond has, so the task must wait for the next one.
    for _ in 0..10_000 {
        let next = snowflakes.generate_async(LONG).await.unwrap();
        assert!(last < next);
        last = next;
    }
    snowflakes.close();
    assert!(workers.close_async(LONG).await);
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
        ids.wait_until_open_async(LONG).await.unwrap();
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
        assert!(poll_once(pin!(ids.wait_until_open_async(LONG))).is_pending());
        assert!(poll_once(pin!(ids.generate_async(room(), LONG))).is_pending());
        drop(ids.close_async(LONG));
    }
    register.set_down(false);
    block_on(ids.wait_until_open_async(LONG)).unwrap();
    block_on(ids.generate_async(room(), LONG)).expect("a future of close that was never polled has closed nothing");
    // A close that has begun goes on.
    register.set_delay(20 * MS);
    assert!(poll_once(pin!(ids.close_async(LONG))).is_pending());
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
        assert!(!ids.close_async(10 * MS).await, "the call is under way");
        drop(ids);
        // The call was under way during all this.
        lets_go.send(()).expect("the thread still waits for the store");
    });
}
