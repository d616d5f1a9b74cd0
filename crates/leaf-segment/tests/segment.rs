//! Segments as applications use them, on a table of one's own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use leaf_segment::{Block, BlockError, Refused, Segment, SegmentError};

fn opened(segment: Result<Segment, SegmentError>) -> Result<Segment, SegmentError> {
    let segment = segment?;
    segment.wait_until_open(Duration::from_secs(15)).map(|()| segment)
}

#[test]
fn a_leaf_table_gives_the_blocks_that_leaf_gives() {
    let mut max_id = 1;
    let table = move |step: Option<i64>| {
        max_id += step.unwrap_or(10);
        Ok(Block { end: max_id, step: 10 })
    };
    let segment = opened(Segment::open(table)).unwrap();
    let numbers: Vec<_> = (0..10).map(|_| segment.next().unwrap()).collect();
    assert_eq!(numbers, (1..=10).collect::<Vec<_>>());
    let error = opened(Segment::open(no_tag)).unwrap_err();
    assert_eq!(error.to_string(), "the store has no block: the tag does not exist");
    for (end, step) in [(-5, 10), (9, 10), (10, 0), (10, -1), (i64::MIN, 1), (0, i64::MIN)] {
        let error = opened(Segment::open(move |_| Ok(Block { end, step }))).unwrap_err();
        assert!(error.is_register() && error.is_permanent(), "{error}");
        let expected = "the store has no block: expected a positive step, and numbers from 0 on, found Block { ";
        assert!(error.to_string().starts_with(expected), "{error}");
    }
    let all = opened(Segment::open(|_| Ok(Block { end: i64::MAX, step: i64::MAX }))).unwrap();
    assert_eq!((all.next(), all.next(), all.status().left), (Ok(0), Ok(1), i64::MAX.cast_unsigned() - 2));
}

fn no_tag(_: Option<i64>) -> Result<Block, BlockError> {
    Err(Refused::new("the tag does not exist").into())
}

#[test]
fn an_error_of_an_applications_own_client_is_not_final() {
    let mut calls = 0;
    let table = move |_| {
        calls += 1;
        if calls < 3 { Err("connection reset by peer".into()) } else { Ok(Block { end: 11, step: 10 }) }
    };
    let segment = opened(Segment::open(table)).expect("the third call succeeds");
    assert_eq!(segment.next(), Ok(1));
    // One that says so is: this waits for no time.
    let segment = Segment::open(no_tag).unwrap();
    assert!(segment.wait_until_open(Duration::MAX).unwrap_err().is_permanent());
}

#[test]
fn a_panic_in_the_call_for_a_block_is_told() {
    for good in [0, 1] {
        let mut calls = 0;
        let table = move |_| {
            calls += 1;
            assert!(calls <= good, "on purpose");
            Ok(Block { end: 11, step: 10 })
        };
        let segment = Segment::open(table).unwrap();
        let opened = segment.wait_until_open(Duration::from_secs(15));
        let numbers: Vec<_> = std::iter::from_fn(|| segment.next().ok()).collect();
        assert_eq!(numbers, (1..=10 * good).collect::<Vec<_>>());
        if good == 0 {
            assert!(opened.unwrap_err().is_permanent());
        }
        // The thread may be on its way to the second call.
        let give_up = Instant::now() + Duration::from_secs(15);
        while segment.next().unwrap_err().retry_after().is_some() {
            assert!(Instant::now() < give_up, "it is told to try again");
            sleep(Duration::from_millis(1));
        }
        assert!(segment.next().unwrap_err().is_closed());
        let error = segment.status().last_error;
        assert_eq!(error.as_deref(), Some("the call that fetches a block has panicked"));
    }
}

/// A table that answers once the flag is set.
fn silent_table(is_up: &Arc<AtomicBool>) -> impl FnMut(Option<i64>) -> Result<Block, BlockError> + use<> {
    let (is_up, mut end) = (Arc::clone(is_up), 1);
    move |step| {
        if !is_up.load(Ordering::Relaxed) {
            return Err("no answer".into());
        }
        end += step.unwrap_or(10);
        Ok(Block { end, step: 10 })
    }
}

#[test]
fn a_call_without_a_number_can_come_back_when_it_says() {
    let is_up = Arc::new(AtomicBool::new(false));
    let orders = Segment::open(silent_table(&is_up)).unwrap();
    let pause = orders.next().unwrap_err().retry_after().expect("waiting helps");
    sleep(pause);
    assert_eq!(orders.next().unwrap_err().retry_after(), Some(pause), "the table is silent");
    is_up.store(true, Ordering::Relaxed);
    // More than a block: the thread fetches the next one meanwhile.
    for number in 1..=200 {
        let found = loop {
            match orders.next() {
                Err(error) => sleep(error.retry_after().expect("waiting helps")),
                Ok(found) => break found,
            }
        };
        assert_eq!(found, number, "a call without a number takes none");
    }
}

#[test]
fn a_dropped_segment_ends_its_thread() {
    let is_up = Arc::new(AtomicBool::new(false));
    let orders = Segment::open(silent_table(&is_up)).unwrap();
    drop(orders);
    let started = Instant::now();
    while Arc::strong_count(&is_up) > 1 {
        assert!(started.elapsed() < Duration::from_secs(10), "the thread has its client");
        sleep(Duration::from_millis(1));
    }
}
