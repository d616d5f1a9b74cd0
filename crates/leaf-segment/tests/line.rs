//! Lines of numbers in a register.

#[path = "../../imid-lease/tests/support/faulty.rs"]
mod faulty;

use std::collections::HashSet;
use std::thread::sleep;
use std::time::{Duration, Instant};

use faulty::FaultyRegister;
use imid_lease::register::MemoryRegister;
use leaf_segment::{Segment, SegmentError, recover_line};

fn opened(segment: Result<Segment, SegmentError>) -> Result<Segment, SegmentError> {
    let segment = segment?;
    segment.wait_until_open(Duration::from_secs(15)).map(|()| segment)
}

fn open(register: &FaultyRegister, step: u32) -> Segment {
    opened(Segment::open_line(register.clone(), "orders", step)).unwrap()
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
    let segment = open(&register, 1_000 * u32::try_from(seconds).unwrap());
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
    assert_eq!(error.to_string(), "no number is left, and the store has not answered: retry in 100 ms");
    register.set_down(false);
    let again = (0..2_000).find_map(|_| segment.next().map_err(|_| sleep(Duration::from_millis(10))).ok());
    assert!(again.expect("the store answers again") > last);
}

#[test]
fn a_line_whose_register_was_restored_is_recovered_above_all_its_numbers() {
    let register = FaultyRegister::new();
    let before = open(&register, 10);
    assert_eq!(before.next(), Ok(1));
    let backup = register.snapshot();
    let after = open(&register, 1_000);
    let handed_out = after.next().unwrap();
    drop((before, after));
    register.restore(&backup);
    let mut admin = register.clone();
    assert_eq!(recover_line(&mut admin, "orders", handed_out + 1).unwrap(), handed_out + 1);
    assert_eq!(open(&register, 10).next(), Ok(handed_out + 1));
    let next = recover_line(&mut admin, "orders", 1).unwrap();
    assert!(next > handed_out + 1, "it does not go back");
    assert_eq!(recover_line(&mut admin, "new", 7).unwrap(), 7);
    assert!(recover_line(&mut admin, "a b", 7).unwrap_err().is_options());
    assert!(recover_line(&mut admin, "new", u64::MAX).unwrap_err().is_options());
    assert_eq!(open(&register, 10).next(), Ok(next), "an error writes nothing");
}

#[test]
fn a_name_and_a_step_outside_their_ranges_are_errors() {
    let refused = |name: &str, step: u32| {
        let error = Segment::open_line(FaultyRegister::new(), name, step).unwrap_err();
        assert!(error.is_options() && error.is_permanent(), "{error}");
        error.to_string()
    };
    for step in [0, 1_000_000_001] {
        assert_eq!(refused("orders", step), format!("expected a step of 1 to 1000000000, found {step}"));
    }
    assert!(refused("a b", 1).starts_with("expected a name of 1 to 64 of the characters"));
}

#[test]
fn a_weak_register_is_refused_at_once() {
    let started = Instant::now();
    let error = opened(Segment::open_line(MemoryRegister::new(), "orders", 50)).unwrap_err();
    assert!(error.to_string().contains("can lose acknowledged writes"), "{error}");
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_segment_of_a_silent_store_opens_when_the_store_answers() {
    let register = FaultyRegister::new();
    register.set_down(true);
    let segment = Segment::open_line(register.clone(), "orders", 50).unwrap();
    assert!(segment.next().unwrap_err().retry_after().is_some());
    let error = segment.wait_until_open(Duration::from_millis(100)).unwrap_err();
    assert_eq!(error.to_string(), "the store has no block: the faulty register is set down");
    assert!(!error.is_permanent());
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
