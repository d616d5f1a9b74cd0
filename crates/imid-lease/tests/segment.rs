//! Segments as applications use them, on a register in memory and on a table of one's own.

mod faulty;

use std::collections::HashSet;
use std::thread::sleep;
use std::time::{Duration, Instant};

use faulty::FaultyRegister;
use imid_lease::RegisterError;
use imid_lease::register::MemoryRegister;
use imid_lease::segment::{Blocks, OpenError, RegisterBlocks, Segment, leaf};

fn opened(blocks: impl Blocks + 'static) -> Result<Segment, OpenError> {
    let segment = Segment::open(blocks)?;
    segment.wait_until_open(Duration::from_secs(15)).map(|()| segment)
}

fn open(register: &FaultyRegister, step: u64) -> Segment {
    opened(RegisterBlocks::try_new(register.clone(), "orders", step).unwrap()).unwrap()
}

#[test]
fn segments_share_a_line_without_a_repeat() {
    let register = FaultyRegister::new();
    let open = || open(&register, 50);
    let segments = [open(), open()];
    let mut seen = HashSet::new();
    for _ in 0..3_000 {
        for segment in &segments {
            let number = loop {
                match segment.next() {
                    Ok(number) => break number,
                    Err(error) => sleep(error.retry_after().expect("a retry helps") / 100),
                }
            };
            assert!(seen.insert(number), "{number} repeats");
        }
    }
}

/// `IMID_OUTAGE_SECONDS` sets how long the store is gone.
#[test]
fn a_segment_survives_an_outage_of_the_store_while_its_blocks_last() {
    let seconds = std::env::var("IMID_OUTAGE_SECONDS").map_or(1, |seconds| seconds.parse().expect("seconds"));
    let register = FaultyRegister::new();
    let segment = open(&register, 1_000 * seconds);
    register.set_down(true);
    let start = Instant::now();
    let mut last = 0;
    // 900 numbers a second from a block of 1,000 for each second. A busy machine takes longer for more than half of
    // them.
    while start.elapsed() < Duration::from_secs(seconds) || last <= 500 * seconds {
        if u128::from(last) * 1_000 / 900 < start.elapsed().as_millis() {
            let number = segment.next().expect("the block lasts");
            assert_eq!(number, last + 1);
            last = number;
        } else {
            sleep(Duration::from_millis(1));
        }
    }
    println!("{last} numbers in an outage of {seconds} s");
    while segment.status().last_error.is_none() {
        assert!(start.elapsed() < Duration::from_secs(20 + seconds), "the next block was asked for");
        sleep(Duration::from_millis(1));
    }
    let error = loop {
        if let Err(error) = segment.next() {
            break error;
        }
    };
    assert_eq!(error.to_string(), "no number is left, and the store has not answered; retry in 100 ms");
    register.set_down(false);
    let again = (0..2_000).find_map(|_| segment.next().map_err(|_| sleep(Duration::from_millis(10))).ok());
    assert!(again.expect("the store answers again") > last);
}

#[test]
fn a_leaf_table_gives_the_blocks_that_leaf_gives() {
    let mut max_id = 1;
    let table = move |tag: &str, step: Option<i64>| {
        assert_eq!(tag, "order");
        max_id += step.unwrap_or(10);
        Ok(leaf::Row { max_id, step: 10 })
    };
    let segment = opened(leaf::Allocation::new("order", table)).unwrap();
    let numbers: Vec<_> = (0..10).map(|_| segment.next().unwrap()).collect();
    assert_eq!(numbers, (1..=10).collect::<Vec<_>>());
    let missing = |_: &str, _: Option<i64>| Err(RegisterError::new("the tag does not exist").finally().into());
    let error = opened(leaf::Allocation::new("none", missing)).unwrap_err();
    assert_eq!(error.to_string(), "the store has no block: the tag does not exist");
    let broken = |_: &str, _: Option<i64>| Ok(leaf::Row { max_id: -5, step: 10 });
    let error = opened(leaf::Allocation::new("none", broken)).unwrap_err();
    assert!(error.is_store() && error.to_string().contains("expected a positive step and max_id"), "{error}");
}

#[test]
fn an_error_of_an_applications_own_client_is_not_final() {
    let mut calls = 0;
    let table = move |_: &str, _: Option<i64>| {
        calls += 1;
        if calls < 3 { Err("connection reset by peer".into()) } else { Ok(leaf::Row { max_id: 11, step: 10 }) }
    };
    let segment = opened(leaf::Allocation::new("order", table)).expect("the third call succeeds");
    assert_eq!(segment.next(), Ok(1));
    // One that says so is: this waits for no time.
    let table = |_: &str, _: Option<i64>| Err(RegisterError::new("the tag does not exist").finally().into());
    let segment = Segment::open(leaf::Allocation::new("none", table)).unwrap();
    assert!(segment.wait_until_open(Duration::MAX).unwrap_err().is_store());
}

#[test]
fn a_weak_register_is_refused_at_once() {
    let started = Instant::now();
    let error = opened(RegisterBlocks::try_new(MemoryRegister::new(), "orders", 50).unwrap()).unwrap_err();
    assert!(error.to_string().contains("can lose acknowledged writes"), "{error}");
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_segment_of_a_silent_store_opens_when_the_store_answers() {
    let register = FaultyRegister::new();
    register.set_down(true);
    let segment = Segment::open(RegisterBlocks::try_new(register.clone(), "orders", 50).unwrap()).unwrap();
    assert!(segment.next().unwrap_err().retry_after().is_some());
    let error = segment.wait_until_open(Duration::from_millis(100)).unwrap_err();
    assert_eq!(error.to_string(), "the store has no block: the faulty register is set down");
    register.set_down(false);
    segment.wait_until_open(Duration::from_secs(15)).unwrap();
    assert_eq!(segment.next(), Ok(1));
}

#[test]
fn a_segment_stops_when_the_register_went_back() {
    let register = FaultyRegister::new();
    let segment = open(&register, 10);
    let snapshot = register.snapshot();
    let next = || (0..200).find_map(|_| segment.next().map_err(|_| sleep(Duration::from_millis(5))).ok());
    let mut last = 0;
    for _ in 0..100 {
        last = next().expect("the register answers");
    }
    register.restore(&snapshot);
    let error = loop {
        match segment.next() {
            Ok(number) => {
                assert!(number > last, "{number} repeats");
                last = number;
            }
            Err(error) if error.retry_after().is_none() => break error,
            Err(_) => sleep(Duration::from_millis(5)),
        }
    };
    assert!(error.is_reverted());
    assert!(segment.status().last_error.is_some_and(|error| error.starts_with("expected a block from ")));
}
