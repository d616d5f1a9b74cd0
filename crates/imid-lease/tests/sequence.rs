//! Sequences and segments as applications use them, on the register in memory.

mod strong;

use std::collections::HashSet;
use std::num::NonZeroU32;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use imid::{SessionTag, SessionType};
use imid_lease::register::MemoryRegister;
use imid_lease::segment::{RegisterBlocks, Segment, leaf};
use imid_lease::sequence::{Conversation, Jumps, LastStored, Number, SequenceError, SequenceOptions};
use imid_lease::{Promise, Register, RegisterError, Sequence};
use strong::Strong;

fn options() -> SequenceOptions {
    let sections = NonZeroU32::new(4).expect("four is not zero");
    SequenceOptions::new("chat").sections(sections).time_out(Duration::from_millis(200)).step(100)
}

fn room(sequence: &Sequence, name: &str) -> Conversation {
    sequence.conversation(SessionTag::new(SessionType::GROUP, name), name)
}

/// Asks again while the error says so.
fn next(sequence: &Sequence, conversation: Conversation) -> Number {
    let start = Instant::now();
    loop {
        match sequence.next(conversation) {
            Ok(number) => return number,
            Err(error) => {
                assert!(start.elapsed() < Duration::from_secs(20), "{error}");
                sleep(error.retry_after().expect("a retry helps").min(Duration::from_millis(10)));
            }
        }
    }
}

#[test]
fn the_numbers_of_each_conversation_grow_by_one() {
    let sequence = Sequence::open(Strong::default(), options()).unwrap();
    for value in 1..1_000 {
        for name in ["a", "b", "c"] {
            let number = next(&sequence, room(&sequence, name));
            assert_eq!((number.value(), number.epoch()), (value, 1));
            assert_eq!(number.is_first_of_epoch(), value == 1);
        }
    }
    let status = sequence.status();
    assert_eq!((status.held, status.sessions, status.lost, status.last_error), (4, 3, 0, None));
}

#[test]
fn conversations_that_share_a_session_have_their_own_numbers() {
    let sequence = Sequence::open(Strong::default(), options()).unwrap();
    let session = SessionTag::new(SessionType::GROUP, "room-42");
    let [one, other] = ["room-42", "another name with this hash"].map(|name| sequence.conversation(session, name));
    assert_eq!(one.section(), other.section());
    assert_eq!(next(&sequence, one).value(), 1);
    assert_eq!(next(&sequence, one).value(), 2);
    assert_eq!(next(&sequence, other).value(), 1);
}

#[test]
fn threads_share_a_conversation() {
    let sequence = Sequence::open(Strong::default(), options()).unwrap();
    let seen = Mutex::new(HashSet::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let numbers: Vec<_> = (0..2_000).map(|_| next(&sequence, room(&sequence, "a")).value()).collect();
                assert!(numbers.is_sorted());
                seen.lock().unwrap().extend(numbers);
            });
        }
    });
    let seen = seen.into_inner().unwrap();
    assert_eq!(seen, (1..=8_000).collect());
}

#[test]
fn a_closed_sequence_is_taken_at_once_and_goes_on_after_its_greatest_number() {
    let register = Strong::default();
    let first = Sequence::open(register.clone(), options()).unwrap();
    let last = (0..10).map(|_| next(&first, room(&first, "a"))).max().unwrap();
    drop(first);
    let second = Sequence::open(register.clone(), options()).unwrap();
    let number = second.next(room(&second, "a")).unwrap();
    assert_eq!((number.value(), number.epoch(), number.is_first_of_epoch()), (last.value() + 1, 2, true));
}

#[test]
fn after_a_crash_numbers_go_on_at_the_bound_and_the_jump_is_recorded() {
    let mut register = Strong::default();
    let first = Sequence::open(register.clone(), options().holder("one")).unwrap();
    let last = (0..10).map(|_| next(&first, room(&first, "a"))).max().unwrap();
    // A crash: nothing is released.
    std::mem::forget(first);
    let second = Sequence::open(register.clone(), options().holder("one")).unwrap();
    let conversation = room(&second, "a");
    let number = second.next(conversation).expect("the same name takes its sections at once");
    assert_eq!((number.value(), number.epoch()), (101, 2));
    assert!(number.value() > last.value());
    let jumps = Jumps::read(&mut register, "chat").unwrap();
    assert!(jumps.explains(conversation, number));
    let after = second.next(conversation).unwrap();
    assert!(!jumps.explains(conversation, after), "{after} does not follow a jump");
    assert!(jumps.iter().any(|jump| (jump.epoch, jump.from, jump.to) == (2, 1, 101)));
}

#[test]
fn another_owner_waits_for_the_time_out_and_the_old_one_stops() {
    let register = Strong::default();
    // A living owner on a busy machine is not silent for so long.
    let options = || options().time_out(Duration::from_secs(2));
    let first = Sequence::open(register.clone(), options().holder("one")).unwrap();
    let conversation = room(&first, "a");
    next(&first, conversation);
    let second = Sequence::open(register.clone(), options().holder("two")).unwrap();
    let error = second.next(room(&second, "a")).unwrap_err();
    assert!(error.is_not_held() && error.retry_after().is_some(), "{error}");
    assert_eq!(second.holder(conversation.section()).as_deref(), Some("one"));
    sleep(Duration::from_millis(2_600));
    assert!(second.next(room(&second, "a")).is_err(), "a living owner keeps its sections");
    first.release(conversation.section()).unwrap();
    let number = next(&second, room(&second, "a"));
    assert_eq!((number.value(), number.epoch()), (2, 2));
    assert!(first.next(conversation).unwrap_err().is_not_held());
}

#[test]
fn minting_goes_on_without_the_register_until_the_bound() {
    let register = Strong::default();
    let sequence = Sequence::open(register.clone(), options()).unwrap();
    let conversation = room(&sequence, "a");
    register.0.set_down(true);
    let mut count = 0;
    let error = loop {
        match sequence.next(conversation) {
            Ok(_) => count += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(count, 100);
    assert!(error.retry_after().is_some() && !error.is_not_held(), "{error}");
    register.0.set_down(false);
    assert_eq!(next(&sequence, conversation).value(), 101);
    assert_eq!(sequence.status().lost, 0);
}

#[test]
fn the_call_that_mints_does_not_wait_for_a_slow_register() {
    let register = Strong::default();
    let sequence = Sequence::open(register.clone(), options()).unwrap();
    register.0.set_delay(Duration::from_secs(3));
    let start = Instant::now();
    let conversation = room(&sequence, "a");
    while sequence.next(conversation).is_ok() {}
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    register.0.set_delay(Duration::ZERO);
}

#[test]
fn another_count_of_sections_is_refused() {
    let register = Strong::default();
    let owner = Sequence::open(register.clone(), options()).unwrap();
    let conversation = room(&owner, "a");
    let before = next(&owner, conversation).value();
    // Another count would give the conversation another section, with a bound of its own.
    let other = || options().sections(NonZeroU32::new(5).expect("five is not zero"));
    for _ in 0..2 {
        let error = Sequence::open(register.clone(), other()).unwrap_err();
        assert!(error.is_mismatch());
        assert_eq!(error.to_string(), "the sequence has 4 sections in the register, and 5 were asked for");
    }
    assert_eq!(next(&owner, conversation).value(), before + 1, "the owner goes on");
    assert_eq!(owner.status().lost, 0);
    drop(owner);
    assert!(Sequence::open(register, other()).unwrap_err().is_mismatch(), "also when nobody owns a section");
}

/// A register that one process cannot reach while it is cut off, or paused.
struct Reachable<'a>(Strong, &'a AtomicBool);

impl Reachable<'_> {
    fn check(&self) -> Result<(), RegisterError> {
        if self.1.load(Ordering::Relaxed) { Ok(()) } else { Err(RegisterError::new("not reachable")) }
    }
}

impl Register for Reachable<'_> {
    fn read(&mut self, key: &str) -> Result<Option<String>, RegisterError> {
        self.check()?;
        self.0.read(key)
    }

    fn list(&mut self, prefix: &str) -> Result<Vec<(String, String)>, RegisterError> {
        self.check()?;
        self.0.list(prefix)
    }

    fn compare_and_set(&mut self, key: &str, seen: Option<&str>, value: &str) -> Result<bool, RegisterError> {
        self.check()?;
        self.0.compare_and_set(key, seen, value)
    }

    fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
        self.check()?;
        self.0.now_ms()
    }

    fn promise(&self) -> Promise {
        Promise::Strong
    }
}

#[test]
fn a_paused_owner_that_wakes_repeats_nothing_and_its_epoch_is_refused() {
    static IS_REACHABLE: AtomicBool = AtomicBool::new(true);
    let register = Strong::default();
    let reachable = Reachable(register.clone(), &IS_REACHABLE);
    let first = Sequence::open(reachable, options().holder("one")).unwrap();
    let conversation = room(&first, "a");
    let mut numbers: Vec<_> = (0..5).map(|_| next(&first, conversation)).collect();
    IS_REACHABLE.store(false, Ordering::Relaxed);
    let second = Sequence::open(register, options().holder("two")).unwrap();
    let taken = next(&second, room(&second, "a"));
    assert_eq!((taken.value(), taken.epoch()), (101, 2), "from the bound of the first owner on");
    // The first owner wakes, and does not know it.
    let late: Vec<_> = (0..200).map_while(|_| first.next(conversation).ok()).collect();
    assert_eq!(late.len(), 95, "up to its bound");
    assert!(late.iter().all(|number| number.epoch() < taken.epoch()), "a store that checks epochs refuses them");
    IS_REACHABLE.store(true, Ordering::Relaxed);
    let start = Instant::now();
    while !first.next(conversation).unwrap_err().is_not_held() {
        assert!(start.elapsed() < Duration::from_secs(20), "it does not notice");
        sleep(Duration::from_millis(5));
    }
    numbers.extend(late);
    numbers.push(taken);
    numbers.extend((0..300).map(|_| next(&second, room(&second, "a"))));
    let distinct: HashSet<_> = numbers.iter().map(|number| number.value()).collect();
    assert_eq!(distinct.len(), numbers.len());
}

#[test]
fn a_register_that_went_back_stops_the_owner() {
    let register = Strong::default();
    let sequence = Sequence::open(register.clone(), options()).unwrap();
    let conversation = room(&sequence, "a");
    let snapshot = register.0.snapshot();
    for _ in 0..300 {
        next(&sequence, conversation);
    }
    register.0.restore(&snapshot);
    let start = Instant::now();
    let error: SequenceError = loop {
        match sequence.next(conversation) {
            Err(error) if error.is_reverted() => break error,
            _ => assert!(start.elapsed() < Duration::from_secs(20)),
        }
    };
    assert_eq!(error.retry_after(), None);
    assert!(sequence.status().reverted >= 1);
}

#[test]
fn a_busy_section_writes_at_most_once_for_a_step() {
    let options = options().step(10_000).horizon(Duration::ZERO).time_out(Duration::from_hours(1));
    let sequence = Sequence::open(Strong::default(), options).unwrap();
    let conversation = room(&sequence, "a");
    let before = sequence.status().writes;
    for _ in 0..1_000_000 {
        next(&sequence, conversation);
    }
    let writes = sequence.status().writes - before;
    assert!((90..=101).contains(&writes), "{writes} writes");
}

#[test]
fn too_many_sessions_begin_a_new_epoch() {
    let sequence = Sequence::open(Strong::default(), options().sessions_per_section(100)).unwrap();
    let mut numbers = HashSet::new();
    for round in 0..3 {
        for name in 0..2_000_u32 {
            let number = next(&sequence, sequence.conversation(SessionTag::MIN, name));
            assert!(numbers.insert((name, number.value())), "{name} {number} {round}");
        }
    }
    assert!(sequence.status().sessions <= 4 * 200);
}

#[test]
fn options_out_of_range_are_refused_with_what_was_expected() {
    let refused = |options: SequenceOptions| {
        let error = Sequence::open(Strong::default(), options).unwrap_err();
        assert!(error.is_options(), "{error:?}");
        error.to_string()
    };
    let name = "1 to 64 characters `a-z`, `0-9`, `-`, `_` and `.`";
    assert_eq!(
        refused(SequenceOptions::new("Chat")),
        format!("expected a name of a sequence of {name}, found \"Chat\"")
    );
    assert_eq!(refused(options().holder("")), format!("expected a name of a holder of {name}, found \"\""));
    assert_eq!(refused(options().step(0)), "expected a step of 1 to 1000000000, found 0");
    assert_eq!(refused(options().step(9).max_step(8)), "expected a greatest step from the step to 1000000000, found 8");
    assert_eq!(refused(options().claim([4])), "expected a claimed section below the count of sections, found 4");
    let short = options().time_out(Duration::from_millis(99));
    assert_eq!(refused(short), "expected a time-out of 100 to 3600000 ms, found 99");
}

#[test]
fn a_section_that_the_sequence_does_not_have_is_an_error() {
    let mut register = Strong::default();
    // A reference to a register is one, too.
    imid_lease::sequence::Jumps::read(&mut &mut register, "chat").unwrap();
    let sequence = Sequence::open(register, options()).unwrap();
    for outcome in [sequence.claim(4), sequence.release(4)] {
        let error = outcome.unwrap_err();
        assert!(error.is_section() && error.retry_after().is_none());
        assert_eq!(error.to_string(), "expected a section below 4, found 4");
    }
    sequence.claim(3).unwrap();
    sequence.release(3).unwrap();
    assert_eq!(sequence.holder(4), None);
}

#[test]
fn segments_share_a_line_without_a_repeat() {
    let register = Strong::default();
    let open = || Segment::open(RegisterBlocks::try_new(register.clone(), "orders", 50).unwrap()).unwrap();
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
    let register = Strong::default();
    let segment = Segment::open(RegisterBlocks::try_new(register.clone(), "orders", 1_000 * seconds).unwrap()).unwrap();
    register.0.set_down(true);
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
    assert_eq!(error.to_string(), "both blocks are used, and the store has not answered; retry in 100 ms");
    register.0.set_down(false);
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
    let segment = Segment::open(leaf::Allocation::new("order", table)).unwrap();
    let numbers: Vec<_> = (0..10).map(|_| segment.next().unwrap()).collect();
    assert_eq!(numbers, (1..=10).collect::<Vec<_>>());
    let missing = |_: &str, _: Option<i64>| Err("the tag does not exist".into());
    let error = Segment::open(leaf::Allocation::new("none", missing)).unwrap_err();
    assert_eq!(error.to_string(), "the store has no block: the tag does not exist");
    let broken = |_: &str, _: Option<i64>| Ok(leaf::Row { max_id: -5, step: 10 });
    assert!(Segment::open(leaf::Allocation::new("none", broken)).is_err());
}

#[test]
fn a_conversation_of_another_sequence_is_refused() {
    let big = Sequence::open(Strong::default(), options().sections(NonZeroU32::new(64).unwrap())).unwrap();
    let small = Sequence::open(Strong::default(), options().sections(NonZeroU32::MIN)).unwrap();
    let conversation =
        (0..1_000).map(|i| big.conversation(SessionTag::try_from(i).unwrap(), i)).find(|c| c.section() > 0).unwrap();
    let error = small.next(conversation).unwrap_err();
    let section = conversation.section();
    assert_eq!(error.to_string(), format!("expected a section below 1, found {section}"));
}

#[test]
fn what_is_in_the_register_can_be_read_by_people() {
    let mut register = Strong::default();
    let _sequence = Sequence::open(register.clone(), options().holder("chat-3")).unwrap();
    let record = register.read("seq/chat/section/00000").unwrap().unwrap();
    assert!(record.contains(" epoch=1 from=1 start=1 bound=101 ") && record.ends_with(" name=chat-3 held"), "{record}");
}

/// A register that writes nothing and says so.
#[derive(Debug)]
struct Full(Strong);

impl Register for Full {
    fn read(&mut self, key: &str) -> Result<Option<String>, RegisterError> {
        self.0.read(key)
    }

    fn list(&mut self, prefix: &str) -> Result<Vec<(String, String)>, RegisterError> {
        self.0.list(prefix)
    }

    fn compare_and_set(&mut self, _: &str, _: Option<&str>, _: &str) -> Result<bool, RegisterError> {
        Ok(false)
    }

    fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
        self.0.now_ms()
    }

    fn promise(&self) -> Promise {
        self.0.promise()
    }
}

#[test]
fn a_register_that_answers_and_writes_nothing_is_an_error() {
    let error = Sequence::open(Full(Strong::default()), options()).unwrap_err().to_string();
    let expected = "the register does not answer: seq/chat/meta cannot be created, and there is no such record";
    assert_eq!(error, expected);
    let register = MemoryRegister::new();
    register.lose_replies(1);
    let error = register.clone().compare_and_set("a", None, "1").unwrap_err().to_string();
    assert_eq!(error, "the register in memory was told to lose this reply");
}

#[test]
fn a_weak_register_is_refused_without_a_floor() {
    let register = MemoryRegister::new();
    let error = Sequence::open(register.clone(), options()).unwrap_err();
    assert!(error.is_weak());
    let text = "the register can lose acknowledged writes (it is in the memory of this process); a sequence on it needs a \
                floor from the message table";
    assert_eq!(error.to_string(), text);
    let floor = |_| Ok::<_, std::io::Error>(LastStored { number: 41, epoch: 6 });
    let sequence = Sequence::open(register.clone(), options().floor(floor)).unwrap();
    let number = next(&sequence, room(&sequence, "a"));
    assert_eq!((number.value(), number.epoch()), (42, 7));
    let error = Segment::open(RegisterBlocks::try_new(register, "orders", 50).unwrap()).unwrap_err();
    assert!(error.to_string().contains("can lose acknowledged writes"), "{error}");
}

#[test]
fn without_an_answer_of_the_message_table_a_section_is_not_taken() {
    let floor = |_| Err(std::io::Error::other("the message table does not answer"));
    let sequence = Sequence::open(MemoryRegister::new(), options().floor(floor)).unwrap();
    assert!(sequence.next(room(&sequence, "a")).unwrap_err().is_not_held());
    assert_eq!(sequence.status().last_error.as_deref(), Some("the message table does not answer"));
}

#[test]
fn a_segment_stops_when_the_register_went_back() {
    let register = Strong::default();
    let segment = Segment::open(RegisterBlocks::try_new(register.clone(), "orders", 10).unwrap()).unwrap();
    let snapshot = register.0.snapshot();
    let next = || (0..200).find_map(|_| segment.next().map_err(|_| sleep(Duration::from_millis(5))).ok());
    let mut last = 0;
    for _ in 0..100 {
        last = next().expect("the register answers");
    }
    register.0.restore(&snapshot);
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
