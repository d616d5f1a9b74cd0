//! The queue over a list in memory that loses answers.

use std::collections::VecDeque;
use std::sync::Mutex;

use imid::clock::SystemClock;

use super::*;

/// A list in memory that can be down, and can lose answers.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Store>>);

#[derive(Default)]
struct Store {
    list: VecDeque<String>,
    is_down: bool,
    /// It is down after the next pop.
    goes_down: bool,
    lost_answers: u32,
    pushes: u32,
    /// How often its time was asked for.
    asked: u32,
    /// How long a pop takes to reach the store.
    pop_delay: Duration,
    popped_at_ms: u64,
}

impl Memory {
    fn new(texts: &[&str]) -> Self {
        let list = texts.iter().map(ToString::to_string).collect();
        Self(Arc::new(Mutex::new(Store { list, ..Store::default() })))
    }

    fn texts(&self) -> Vec<String> {
        self.0.lock().unwrap().list.iter().cloned().collect()
    }

    /// Calls, and loses the answer.
    fn call<T>(&self, call: impl FnOnce(&mut Store) -> T) -> Result<T, ListError> {
        let mut store = self.0.lock().unwrap();
        if store.is_down {
            return Err(ListError::NotDone("down".into()));
        }
        let answer = call(&mut store);
        if store.lost_answers > 0 {
            store.lost_answers -= 1;
            return Err(ListError::Unknown("no answer".into()));
        }
        Ok(answer)
    }
}

impl List for Memory {
    fn pop(&mut self) -> Result<Option<String>, ListError> {
        let delay = self.0.lock().unwrap().pop_delay;
        thread::sleep(delay);
        self.call(|store| {
            store.popped_at_ms = SystemClock.now_ms().unwrap();
            store.is_down = store.goes_down;
            store.list.pop_front()
        })
    }

    fn push(&mut self, text: &str) -> Result<(), ListError> {
        self.call(|store| {
            store.pushes += 1;
            store.list.push_back(text.to_owned());
        })
    }

    fn now_ms(&mut self) -> Result<u64, ListError> {
        let mut store = self.0.lock().unwrap();
        store.asked += 1;
        if store.is_down { Err(ListError::NotDone("down".into())) } else { Ok(SystemClock.now_ms().unwrap()) }
    }
}

fn open_within(memory: &Memory, time: Duration) -> Result<RedisQueue, QueueError> {
    let queue = RedisQueue::open(memory.clone(), Preset::TWITTER)?;
    queue.wait_until_open(time).map(|()| queue)
}

fn open(memory: &Memory) -> RedisQueue {
    open_within(memory, Duration::from_secs(20)).unwrap()
}

/// Returns the error of a list without a worker ID. The thread finds it long before the time is over.
fn refused(texts: &[&str]) -> QueueError {
    open_within(&Memory::new(texts), Duration::from_secs(1)).unwrap_err()
}

fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < Duration::from_secs(10), "{what}");
        thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_worker_id_comes_from_the_front_and_goes_to_the_back() {
    let memory = Memory::new(&["5", "6", "7"]);
    let queue = open(&memory);
    let ids = queue.generator(SystemClock).unwrap();
    assert_eq!(ids.generate().unwrap().node(), 5);
    eventually("the next one is popped", || memory.texts() == ["7"]);
    ids.close();
    eventually("the first one is pushed", || memory.texts() == ["7", "5"]);
    drop((ids, queue));
    // A drop does not wait.
    eventually("the others are pushed", || memory.texts() == ["7", "5", "6"]);
}

#[test]
fn a_worker_id_that_a_generator_has_when_the_queue_is_closed_is_counted_as_lost() {
    let memory = Memory::new(&["5", "6"]);
    let queue = open(&memory);
    let ids = queue.generator(SystemClock).unwrap();
    eventually("the next one is popped", || memory.texts().is_empty());
    assert!(!queue.close_within(Duration::from_secs(20)), "a generator has one");
    let lost = |in_use| RedisQueueStatus { spare: 0, in_use, lost: 1, last_error: None };
    assert_eq!((queue.status(), memory.texts()), (lost(1), vec!["6".to_owned()]));
    ids.close();
    assert_eq!(queue.status(), lost(0), "it is counted once");
    assert_eq!(format!("{queue:?}"), format!("RedisQueue {{ status: {:?}, .. }}", queue.status()));
}

/// Until the pop, another process may have used the worker ID.
#[test]
fn a_worker_id_is_used_only_for_times_after_its_pop() {
    let memory = Memory::new(&["5"]);
    memory.0.lock().unwrap().pop_delay = Duration::from_millis(50);
    let queue = open(&memory);
    let spare = queue.take(u64::MAX).unwrap();
    let popped_at_ms = memory.0.lock().unwrap().popped_at_ms;
    assert!(spare.used_until_ms >= popped_at_ms, "{spare:?}, popped at {popped_at_ms}");
}

#[test]
fn an_answer_that_is_missing_loses_a_worker_id_and_doubles_none() {
    let memory = Memory::new(&["5", "6", "7", "8"]);
    memory.0.lock().unwrap().lost_answers = 1;
    let queue = open(&memory);
    let ids = queue.generator(SystemClock).unwrap();
    assert_eq!((ids.node(), queue.status().lost), (6, 1));
    eventually("the next one is popped", || memory.texts() == ["8"]);
    ids.generate().unwrap();
    memory.0.lock().unwrap().lost_answers = 1;
    ids.close();
    eventually("it is pushed, without an answer", || queue.status().lost == 2);
    drop(ids);
    assert!(!queue.close_within(Duration::from_secs(20)), "two were lost");
    assert_eq!(memory.texts(), ["8", "6", "7"]);
}

#[test]
fn a_worker_id_that_cannot_be_pushed_is_kept_and_pushed_later() {
    let memory = Memory::new(&["5", "6"]);
    let queue = open(&memory);
    let ids = queue.generator(SystemClock).unwrap();
    eventually("the next one is popped", || memory.texts().is_empty());
    ids.generate().unwrap();
    memory.0.lock().unwrap().is_down = true;
    ids.close();
    eventually("it has failed", || queue.status().last_error.is_some());
    memory.0.lock().unwrap().is_down = false;
    // The thread clears its error after the push.
    let status = RedisQueueStatus { spare: 1, in_use: 0, lost: 0, last_error: None };
    eventually("it is pushed", || memory.texts() == ["5"] && queue.status() == status);
}

#[test]
fn a_list_without_worker_ids_is_an_error_that_says_so() {
    let queue = RedisQueue::open(Memory::default(), Preset::TWITTER).unwrap();
    eventually("it is said", || queue.status().last_error.as_deref() == Some("the list is empty"));
    let error = refused(&[]);
    assert_eq!((error.to_string().as_str(), error.is_no_worker_id()), ("no worker ID is in the list", true));
    for text in ["1024", "-1", "web-3"] {
        let why = format!("expected a worker ID of 0 to 1023 in the list, found {text:?}");
        let error = refused(&[text]);
        assert_eq!((error.to_string(), error.is_list()), (format!("cannot use the list of worker IDs: {why}"), true));
    }
    let memory = Memory::new(&["web-3", "5"]);
    let queue = open(&memory);
    let ids = queue.generator(SystemClock).unwrap();
    assert_eq!(ids.node(), 5);
    let error = queue.generator(SystemClock).unwrap_err();
    assert!(error.retry_after().is_some() && error.is_no_worker_id(), "{error:?}");
    ids.close();
    assert!(queue.close_within(Duration::from_secs(20)));
    assert!(queue.generator(SystemClock).unwrap_err().is_closed());
    drop((ids, queue));
    assert_eq!(memory.texts(), ["web-3", "5"]);
}

#[test]
fn without_a_worker_id_the_error_says_that_redis_does_not_answer_until_it_does() {
    let memory = Memory::new(&["5"]);
    let queue = open(&memory);
    let ids = queue.generator(SystemClock).unwrap();
    memory.0.lock().unwrap().is_down = true;
    eventually("a call has failed", || queue.status().last_error.as_deref() == Some("down"));
    let error = queue.generator(SystemClock).unwrap_err();
    assert!(error.is_list() && error.retry_after().is_some(), "{error:?}");
    // Longer than the end of a closed queue may take. The wait doubles with each failure.
    memory.0.lock().unwrap().asked = 0;
    thread::sleep(Duration::from_millis(1_100));
    assert!(memory.0.lock().unwrap().asked < 20);
    memory.0.lock().unwrap().list.push_back("6".to_owned());
    memory.0.lock().unwrap().is_down = false;
    eventually("the other one is popped", || queue.status().spare == 1);
    assert_eq!(queue.generator(SystemClock).unwrap().node(), 6);
    drop(ids);
}

#[test]
fn a_queue_with_a_spare_worker_id_asks_for_nothing() {
    let memory = Memory::new(&["5", "6"]);
    let queue = open(&memory);
    memory.0.lock().unwrap().asked = 0;
    thread::sleep(Duration::from_millis(200));
    assert!(memory.0.lock().unwrap().asked < 20);
    drop(queue);
}

#[test]
fn a_worker_id_that_was_popped_when_redis_went_down_is_counted_as_lost() {
    let memory = Memory::new(&["5"]);
    memory.0.lock().unwrap().goes_down = true;
    let queue = RedisQueue::open(memory.clone(), Preset::TWITTER).unwrap();
    eventually("it is popped", || memory.texts().is_empty());
    assert!(!queue.close_within(Duration::from_secs(20)), "nobody can use it");
    assert_eq!(queue.status().lost, 1);
}

#[test]
fn a_worker_id_that_was_used_ahead_of_the_stores_time_is_not_pushed_before_it() {
    let memory = Memory::new(&["5"]);
    let queue = open(&memory);
    let ids = queue.generator(SystemClock).unwrap();
    let now_ms = SystemClock.now_ms().unwrap();
    queue.put(SpareNode { node: 5, used_until_ms: now_ms + 400 });
    drop(ids);
    eventually("it is pushed", || memory.0.lock().unwrap().pushes == 1);
    assert!(SystemClock.now_ms().unwrap() > now_ms + 400);
    eventually("it is popped again", || queue.status().spare == 1 && memory.texts().is_empty());
    // A long time ahead, it is given up at the end.
    let ids = queue.generator(SystemClock).unwrap();
    queue.put(SpareNode { node: 5, used_until_ms: now_ms + 3_600_000 });
    drop(ids);
    assert!(!queue.close_within(Duration::from_secs(20)));
    assert_eq!((memory.texts().len(), queue.status().lost), (0, 1));
}

#[test]
fn a_worker_id_that_no_generator_has_used_stays_and_one_that_is_twice_in_the_list_is_known() {
    let memory = Memory::new(&["5", "6", "6", "7"]);
    let queue = open(&memory);
    let first = queue.take(u64::MAX).unwrap();
    eventually("the next one is popped", || queue.status().spare == 1);
    queue.put(SpareNode { used_until_ms: 0, ..first });
    queue.put(first);
    queue.put(SpareNode { node: 9, used_until_ms: 0 });
    assert_eq!((queue.status().spare, queue.status().in_use), (2, 0), "one was put back, once");
    let spare = queue.take(u64::MAX).unwrap();
    assert_eq!(spare.node, 6);
    assert_eq!(queue.take(u64::MAX), Some(first), "it can have been used until its pop");
    let expected = "worker ID 6 was in the list while this process had it";
    // The next attempt pops the one after it, and clears the error.
    eventually("the second one is found", || {
        let error = queue.status().last_error;
        error.as_deref().is_some_and(|error| error == expected)
    });
    eventually("another one is popped", || queue.status().spare == 1);
    assert_eq!(queue.take(u64::MAX).unwrap().node, 7);
    assert!(memory.texts().is_empty());
}

#[test]
fn a_panic_of_the_list_closes_the_queue_and_says_so() {
    struct Panics;
    impl List for Panics {
        fn pop(&mut self) -> Result<Option<String>, ListError> {
            panic!("on purpose")
        }

        fn push(&mut self, _: &str) -> Result<(), ListError> {
            Ok(())
        }

        fn now_ms(&mut self) -> Result<u64, ListError> {
            Ok(1_700_000_000_000)
        }
    }
    let queue = RedisQueue::open(Panics, Preset::TWITTER).unwrap();
    eventually("it is said", || queue.status().last_error.as_deref() == Some("a call of the list has panicked"));
    assert!(queue.generator(SystemClock).unwrap_err().is_closed());
    assert!(queue.close_within(Duration::from_secs(20)), "nothing was popped");
}
