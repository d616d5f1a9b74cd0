//! The Snowflake presets under scripted clocks: the result of each at its limit and one past it.

#![cfg(all(feature = "std", target_has_atomic = "64"))]

use std::cell::Cell;
use std::collections::HashSet;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use imid::clock::ClockError;
use imid::clock::{Clock, ManualClock, SystemClock};
use imid_snowflake::{Generator, Layout, NoSpareNodes, NodeQueue, NodeSource, Preset, Snowflake, SpareNode};

/// 2020-01-01T00:00:00Z.
/// 2021-03-04T05:06:07Z: no layout has such an epoch.
const START: u64 = 1_614_834_367_000;
const FOR_EVER: Duration = Duration::from_secs(10);

/// The preset of the rollback article, with its own epoch: its time is over, but not for a clock that shows an earlier one.
const ROLLBACK: Preset = match Preset::rollback_38_15_10(Layout::ROLLBACK_38_15_10.epoch()) {
    Ok(preset) => preset,
    Err(_) => panic!("63 bits"),
};

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn generator(preset: Preset, clock: &ManualClock) -> Generator<&ManualClock> {
    Generator::builder(preset).node(3).clock(clock).build().unwrap()
}

/// Returns the generator of the rollback article, with spare nodes.
fn swapping<'a>(clock: &'a ManualClock, spares: &'a NodeQueue) -> Generator<&'a ManualClock, &'a NodeQueue> {
    Generator::builder(ROLLBACK).node(3).spares(spares).clock(clock).build().unwrap()
}

/// A layout with ticks of 100 ms and four sequence numbers per tick.
const TENTHS: Layout = match Layout::builder()
    .tick_bits(39)
    .node_bits(22)
    .sequence_bits(2)
    .epoch(Duration::from_secs(1_500_000_000))
    .tick(Duration::from_millis(100))
    .build()
{
    Ok(layout) => layout,
    Err(_) => panic!("63 bits"),
};

/// Takes a node from a queue.
fn take(queue: &NodeQueue, now_ms: u64) -> Option<u32> {
    queue.take(now_ms).map(|spare| spare.node)
}

/// Mints until the tick is full.
fn fill<C: Clock, S: NodeSource>(ids: &Generator<C, S>) -> Vec<Snowflake> {
    std::iter::from_fn(|| ids.generate().ok()).collect()
}

/// A clock that runs, and can be set back.
struct RunningClock {
    started: Instant,
    offset: AtomicI64,
}

impl RunningClock {
    fn new() -> Self {
        Self { started: Instant::now(), offset: AtomicI64::new(0) }
    }

    fn step_back(&self, ms: i64) {
        self.offset.fetch_sub(ms, Ordering::Relaxed);
    }
}

impl Clock for RunningClock {
    fn now_ms(&self) -> Result<u64, ClockError> {
        let elapsed = self.started.elapsed().as_millis() as u64;
        Ok((START + elapsed).saturating_add_signed(self.offset.load(Ordering::Relaxed)))
    }
}

#[test]
fn each_preset_mints_in_order_and_fills_its_ticks() {
    for preset in Preset::ALL {
        let clock = ManualClock::new(START);
        let ids = generator(*preset, &clock);
        let first = fill(&ids);
        clock.advance(ms(2));
        let second = fill(&ids);
        let layout = preset.layout();
        for (tick, at) in [(&first, START), (&second, START + 2)] {
            assert!(tick.iter().all(|id| (id.layout(), id.node()) == (layout, 3)));
            assert!(tick.iter().all(|id| id.timestamp_ms() <= at && at - id.timestamp_ms() <= 1), "{layout:?}");
            assert!(tick.is_sorted());
            let numbers: Vec<_> = tick.iter().map(|id| id.sequence()).collect();
            assert!(numbers.iter().copied().eq(numbers[0]..=layout.sequence_max()), "{layout:?}");
            assert!(numbers[0] < if layout == Layout::LEAF { 100 } else { 1 }, "{layout:?} begins at {}", numbers[0]);
        }
        assert!(first.last() < second.first());
    }
}

#[test]
fn twitter_fails_on_any_step_back() {
    let clock = ManualClock::new(START);
    for preset in [Preset::TWITTER, Preset::TWITTER_JAVA, Preset::DISCORD] {
        clock.set(START);
        let ids = generator(preset, &clock);
        let first = ids.generate().unwrap();
        let second = ids.generate().unwrap();
        assert_eq!(second.to_u64(), first.to_u64() + 1);

        clock.set(START - 1);
        let error = ids.generate_within(FOR_EVER).unwrap_err();
        assert!(error.is_rollback());
        assert_eq!(error.retry_after(), None);
        assert_eq!(error.to_string(), "clock is 1 ms behind the last ID or the floor");

        clock.set(START);
        assert_eq!(ids.generate().unwrap().to_u64(), second.to_u64() + 1);
    }
}

#[test]
fn twitter_waits_for_the_next_tick_in_the_waiting_call_only() {
    let clock = ManualClock::new(START);
    let ids = generator(Preset::TWITTER, &clock);
    assert_eq!(fill(&ids).len(), 4_096);
    let error = ids.generate().unwrap_err();
    assert!(error.is_overload());
    assert_eq!(error.retry_after(), Some(ms(1)));
    assert_eq!(error.to_string(), "no sequence number is left in this tick");
    // The clock does not move, so the wait is as long as the timeout allows.
    let started = Instant::now();
    assert!(ids.generate_within(ms(5)).unwrap_err().is_overload());
    assert!((ms(4)..ms(2_000)).contains(&started.elapsed()));

    let running = Generator::builder(Preset::TWITTER).node(3).clock(RunningClock::new()).build().unwrap();
    let many: Vec<_> = (0..9_000).map(|_| running.generate_within(FOR_EVER).unwrap()).collect();
    assert!(many.is_sorted_by(|a, b| a < b));
}

#[test]
fn nsq_fails_on_any_step_back_and_when_a_tick_is_full() {
    for preset in [Preset::NSQ, Preset::NSQ_BEFORE_2015] {
        let clock = ManualClock::new(START);
        let ids = generator(preset, &clock);
        assert_eq!(fill(&ids).len(), 4_096);
        let error = ids.generate_within(FOR_EVER).unwrap_err();
        assert!(error.is_overload());
        assert_eq!(error.retry_after(), None);

        // A tick of NSQ is a little longer than a millisecond.
        clock.set(START - 2);
        let error = ids.generate_within(FOR_EVER).unwrap_err();
        assert!(error.is_rollback());
        assert_eq!(error.retry_after(), None);

        clock.set(START + 2);
        assert_eq!(ids.generate().unwrap().sequence(), 0);
    }
}

#[test]
fn nsq_counts_ticks_of_2_to_the_20_ns() {
    let clock = ManualClock::new(1_605_525_592_767);
    let ids = Generator::builder(Preset::NSQ).node(166).clock(&clock).build().unwrap();
    assert_eq!(ids.generate().unwrap().to_string(), "0e1ac0d4168a6000");
}

#[test]
fn leaf_waits_10_ms_for_a_step_of_5_ms_and_fails_on_6_ms() {
    let clock = ManualClock::new(START);
    let ids = generator(Preset::LEAF, &clock);
    ids.generate().unwrap();
    for behind in 1..=5 {
        clock.set(START - behind);
        let error = ids.generate().unwrap_err();
        assert!(error.is_rollback());
        assert_eq!(error.retry_after(), Some(ms(2 * behind)));
    }
    clock.set(START - 6);
    assert_eq!(ids.generate().unwrap_err().retry_after(), None);
    assert!(ids.generate_within(FOR_EVER).unwrap_err().is_rollback());

    // The clock does not move: there is one wait of 10 ms, then an error.
    clock.set(START - 5);
    let started = Instant::now();
    assert!(ids.generate_within(FOR_EVER).unwrap_err().is_rollback());
    assert!((ms(10)..ms(2_000)).contains(&started.elapsed()));
    // A wait that would end past the timeout does not begin. A busy machine can hold up a call as long, but not each of ten.
    let is_at_once = (0..10).any(|_| {
        let started = Instant::now();
        assert!(ids.generate_within(ms(9)).unwrap_err().is_rollback());
        started.elapsed() < ms(9)
    });
    assert!(is_at_once);
}

#[test]
fn leaf_continues_after_its_wait() {
    let ids = Generator::builder(Preset::LEAF).node(39).clock(RunningClock::new()).build().unwrap();
    let before = ids.generate().unwrap();
    // The wait of 2 ms or more ends past the last ID's time.
    ids.clock().step_back(2);
    let after = ids.generate_within(FOR_EVER).unwrap();
    assert!(before < after);
}

#[test]
fn leaf_starts_its_sequence_at_any_number_below_100() {
    let clock = ManualClock::new(START);
    let (one, other) =
        (generator(Preset::LEAF, &clock), Generator::builder(Preset::LEAF).node(4).clock(&clock).build().unwrap());
    let mut starts = HashSet::new();
    let mut equal = 0;
    for _ in 0..2_000 {
        clock.advance(ms(1));
        let (one, other) = (one.generate().unwrap().sequence(), other.generate().unwrap().sequence());
        starts.insert(one);
        equal += u32::from(one == other);
    }
    assert_eq!((starts.len(), starts.iter().max()), (100, Some(&99)));
    // Two nodes start differently: 20 of 2,000 ticks have equal starts by chance.
    assert!(equal < 60, "{equal}");
}

#[test]
fn the_rollback_article_waits_for_15_ms_and_swaps_the_node_at_16_ms() {
    let clock = ManualClock::new(START);
    let queue: NodeQueue = [100, 101].into_iter().collect();
    let ids = swapping(&clock, &queue);
    let first = ids.generate().unwrap();

    clock.set(START - 15);
    let error = ids.generate().unwrap_err();
    assert!(error.is_rollback());
    assert_eq!((error.retry_after(), ids.node()), (Some(ms(15)), 3));

    clock.set(START - 16);
    let swapped = ids.generate().unwrap();
    assert_eq!((swapped.node(), ids.node()), (100, 100));
    assert_eq!((swapped.timestamp_ms(), swapped.sequence()), (START - 16, 0));
    assert!(swapped < first);
    assert_eq!(ids.generate().unwrap().to_u64(), swapped.to_u64() + 1);
}

#[test]
fn a_node_that_was_swapped_out_is_used_again_only_after_its_last_id() {
    let clock = ManualClock::new(START);
    let queue: NodeQueue = [100].into_iter().collect();
    let ids = swapping(&clock, &queue);
    ids.generate().unwrap();
    clock.set(START - 20);
    assert_eq!(ids.generate().unwrap().node(), 100);

    // Node 3 is at the back of the queue, with IDs minted until START.
    clock.set(START - 40);
    let error = ids.generate_within(FOR_EVER).unwrap_err();
    assert!(error.is_rollback());
    assert_eq!(error.retry_after(), None);
    assert_eq!(ids.node(), 100);

    clock.set(START + 100);
    assert_eq!(ids.generate().unwrap().node(), 100);
    clock.set(START + 1);
    let back = ids.generate().unwrap();
    assert_eq!((back.node(), back.sequence()), (3, 0));
    assert_eq!((take(&queue, START + 100), take(&queue, START + 101)), (None, Some(100)));
}

#[test]
fn without_spare_nodes_the_rollback_article_fails() {
    let clock = ManualClock::new(START);
    let ids = Generator::builder(ROLLBACK).node(3).spares(NoSpareNodes).clock(&clock).build().unwrap();
    ids.generate().unwrap();
    clock.set(START - 16);
    assert!(ids.generate_within(FOR_EVER).unwrap_err().is_rollback());
    clock.set(START);
    assert_eq!(ids.generate().unwrap().node(), 3);
}

#[test]
fn a_spare_node_that_the_layout_has_no_room_for_is_refused_and_kept() {
    let clock = ManualClock::new(START);
    let queue: NodeQueue = [1 << 15, 101].into_iter().collect();
    let ids = swapping(&clock, &queue);
    ids.generate().unwrap();
    clock.set(START - 16);
    let error = ids.generate().unwrap_err();
    assert!(error.is_node() && !error.is_clock() && !error.is_rollback() && !error.is_forked());
    assert_eq!(error.to_string(), "spare node does not fit the layout: expected a node of 0 to 32767, found 32768");
    assert_eq!(ids.generate().unwrap().node(), 101);
    assert_eq!(take(&queue, START), Some(1 << 15));
}

#[test]
fn a_spare_node_that_was_not_used_is_put_back() {
    /// Lets another caller swap the node after the first caller has read the word and before it reads the clock.
    struct Overtaken(AtomicU64);
    impl Clock for Overtaken {
        fn now_ms(&self) -> Result<u64, ClockError> {
            Ok(START - 16 * self.0.load(Ordering::Relaxed).min(1))
        }
        fn refresh(&self) -> Result<u64, ClockError> {
            if self.0.fetch_add(1, Ordering::Relaxed) == 1 {
                assert_eq!(ids().generate().unwrap().node(), 100);
            }
            self.now_ms()
        }
    }
    static QUEUE: OnceLock<NodeQueue> = OnceLock::new();
    static IDS: OnceLock<Generator<Overtaken, &NodeQueue>> = OnceLock::new();
    fn ids() -> &'static Generator<Overtaken, &'static NodeQueue> {
        IDS.get_or_init(|| {
            let queue = QUEUE.get_or_init(|| [100, 101].into_iter().collect());
            let ids = Generator::builder(ROLLBACK).node(3).spares(queue);
            ids.clock(Overtaken(AtomicU64::new(0))).build().unwrap()
        })
    }

    ids().generate().unwrap();
    ids().clock().0.store(1, Ordering::Relaxed);
    let id = ids().generate().unwrap();
    assert_eq!((id.node(), id.sequence()), (100, 1));
    let queue = QUEUE.get().unwrap();
    assert_eq!((take(queue, START - 16), take(queue, START), take(queue, START + 1)), (Some(101), None, Some(3)));
    assert_eq!(take(queue, u64::MAX), None);
}

#[test]
fn a_node_is_not_swapped_for_itself() {
    let clock = ManualClock::new(START);
    // The generator's own node is in the queue by mistake.
    let queue: NodeQueue = [3, 100].into_iter().collect();
    let ids = swapping(&clock, &queue);
    let mut minted = vec![ids.generate().unwrap()];
    clock.set(START - 16);
    assert!(ids.generate().unwrap_err().is_rollback());
    assert_eq!(ids.node(), 3);
    minted.push(ids.generate().unwrap());
    clock.set(START);
    minted.push(ids.generate().unwrap());
    assert_eq!((minted[1].node(), minted[2].node()), (100, 100));

    // It is used again once, after its last ID.
    assert_eq!((take(&queue, START), take(&queue, START + 1), take(&queue, START + 1)), (None, Some(3), None));
}

#[test]
fn the_waiting_call_of_the_rollback_article_waits_until_a_small_step_is_over() {
    let ids = Generator::builder(ROLLBACK).node(3).clock(RunningClock::new()).build().unwrap();
    let before = ids.generate().unwrap();
    ids.clock().step_back(15);
    let after = ids.generate_within(FOR_EVER).unwrap();
    assert!(before < after);
    assert_eq!(after.node(), 3);
}

#[test]
fn past_the_last_tick_a_layout_is_exhausted() {
    let layout = Layout::ROLLBACK_38_15_10;
    let clock = ManualClock::new(layout.last_ms());
    let ids = generator(ROLLBACK, &clock);
    // The greatest number of the layout's last tick is not minted.
    assert_eq!(fill(&ids).len(), 1_023);
    // After the last tick there is no tick to wait for.
    let error = ids.generate_within(FOR_EVER).unwrap_err();
    assert!(error.is_exhausted() && !error.is_overload() && !error.is_clock() && !error.is_node());
    assert_eq!(
        (error.retry_after(), error.to_string()),
        (None, "no sequence number is left in the layout's last tick".into())
    );

    clock.set(layout.last_ms() + 1);
    let error = ids.generate_within(FOR_EVER).unwrap_err();
    assert!(error.is_exhausted() && !error.is_clock());
    assert_eq!(error.retry_after(), None);
    assert_eq!(
        error.to_string(),
        "clock is past the layout's last tick, which begins at 1788692306943 ms: it shows 1788692306944 ms"
    );
}

#[test]
fn a_time_before_the_first_tick_is_an_error_of_the_clock() {
    let clock = ManualClock::new(Layout::LEAF.first_ms() - 1);
    let ids = generator(Preset::LEAF, &clock);
    let error = ids.generate_within(FOR_EVER).unwrap_err();
    assert!(error.is_clock() && !error.is_exhausted());
    assert_eq!(
        error.to_string(),
        "expected a clock at 1288834974657 ms or later, the layout's first tick, found 1288834974656 ms"
    );
    clock.advance(ms(1));
    assert_eq!(ids.generate().unwrap().timestamp_ms(), Layout::LEAF.first_ms());
}

#[test]
fn ids_are_minted_from_the_start_of_the_first_tick_to_the_end_of_the_last() {
    for layout in [TENTHS, Layout::NSQ, Layout::TWITTER] {
        let tick_ms = layout.tick().as_nanos().div_ceil(1_000_000) as u64;
        let mint = |now_ms| {
            let id = generator(Preset::new(layout), &ManualClock::new(now_ms)).generate();
            id.map(|id| (id.tick(), id.timestamp_ms() <= now_ms))
        };
        let last_tick = (1 << layout.tick_bits()) - 1;
        assert!(mint(layout.first_ms() - 1).unwrap_err().is_clock());
        assert_eq!(mint(layout.first_ms()), Ok((0, true)));
        assert_eq!(mint(layout.last_ms() + tick_ms - 1), Ok((last_tick, true)), "{layout:?}");
        assert!(mint(layout.last_ms() + tick_ms + 1).unwrap_err().is_exhausted());
        assert!(mint(u64::MAX).unwrap_err().is_exhausted());
    }
}

#[test]
fn a_clock_that_cannot_be_read_is_an_error_of_the_clock() {
    struct Broken;
    impl Clock for Broken {
        fn now_ms(&self) -> Result<u64, ClockError> {
            Err(ClockError::unavailable())
        }
    }
    let ids = Generator::builder(Preset::LEAF).node(3).clock(Broken).build().unwrap();
    let error = ids.generate_within(FOR_EVER).unwrap_err();
    assert!(error.is_clock() && !error.is_rollback());
    assert_eq!((error.retry_after(), error.to_string()), (None, ClockError::unavailable().to_string()));
}

#[test]
fn a_stale_clock_is_refreshed_before_a_refusal() {
    struct Stale(ManualClock);
    impl Clock for Stale {
        fn now_ms(&self) -> Result<u64, ClockError> {
            Ok(START)
        }
        fn refresh(&self) -> Result<u64, ClockError> {
            self.0.now_ms()
        }
    }
    let ids =
        Generator::builder(Preset::NSQ_BEFORE_2015).node(3).clock(Stale(ManualClock::new(START + 1))).build().unwrap();
    assert_eq!((0..8_192).filter(|_| ids.generate().is_ok()).count(), 8_192);
    assert!(ids.generate().unwrap_err().is_rollback() || ids.generate().unwrap_err().is_overload());
}

/// What makes a clock with checked readings fast.
#[test]
fn a_clock_is_asked_once_about_each_reading_and_not_refreshed() {
    struct Counting {
        ms: Cell<u64>,
        asked: Cell<u32>,
        refreshed: Cell<u32>,
    }

    impl Clock for Counting {
        fn now_ms(&self) -> Result<u64, ClockError> {
            Ok(self.ms.get())
        }

        fn refresh(&self) -> Result<u64, ClockError> {
            self.refreshed.set(self.refreshed.get() + 1);
            self.now_ms()
        }

        fn accepts(&self, _: u64) -> bool {
            self.asked.set(self.asked.get() + 1);
            true
        }
    }

    let clock = Counting { ms: Cell::new(START), asked: Cell::new(0), refreshed: Cell::new(0) };
    let ids = Generator::builder(Preset::TWITTER).node(3).clock(clock).build().unwrap();
    for _ in 0..100 {
        for _ in 0..10 {
            ids.generate().unwrap();
        }
        ids.clock().ms.set(ids.clock().ms.get() + 1);
    }
    assert_eq!((ids.clock().asked.get(), ids.clock().refreshed.get()), (100, 0));
}

#[test]
fn a_node_past_the_greatest_is_refused() {
    let error = Generator::try_new(Preset::LEAF, 1_024).unwrap_err();
    assert_eq!(error.to_string(), "expected a node of 0 to 1023, found 1024");
    assert!(error.is_node());
    assert_eq!(Generator::builder(Preset::LEAF).node(1_024).build().unwrap_err(), error);
    assert_eq!(Generator::try_new(ROLLBACK, 32_767).unwrap().node(), 32_767);
}

#[test]
fn a_generator_without_a_node_is_not_built() {
    let error = Generator::builder(Preset::LEAF).build().unwrap_err();
    assert_eq!(error.to_string(), "expected a node of 0 to 1023, found none");
    assert!(error.is_node());
    assert_eq!(Generator::builder(Preset::LEAF).build_static().unwrap_err(), error);
}

#[test]
fn a_static_generator_can_have_spare_nodes() {
    static SPARES: NodeQueue = NodeQueue::new();
    static IDS: Generator<SystemClock, &NodeQueue> =
        match Generator::builder(Preset::LEAF).node(7).spares(&SPARES).build_static() {
            Ok(ids) => ids,
            Err(_) => panic!("node 7 fits 10 bits"),
        };
    SPARES.put(SpareNode { node: 8, used_until_ms: 0 });
    assert_eq!((IDS.generate().unwrap().node(), IDS.preset()), (7, Preset::LEAF));
    assert_eq!(take(&SPARES, 1), Some(8));
}

#[test]
fn a_generator_shows_its_parts() {
    let shown = format!("{:?}", generator(Preset::LEAF, &ManualClock::new(START)));
    assert!(shown.starts_with("Generator { layout: Layout {") && shown.contains(", node: 3, clock: "), "{shown}");
}

#[test]
fn a_user_defined_preset_stays_within_its_layout() {
    // A bound above the numbers of a tick counts as their number, and a bound of 0 as 1.
    for (bound, most) in [(u32::MAX, 4), (0, 1)] {
        let clock = ManualClock::new(START);
        let ids = generator(Preset::new(TENTHS).start_below(bound), &clock);
        let mut greatest = 0;
        for _ in 0..200 {
            let first = ids.generate().unwrap();
            greatest = greatest.max(first.sequence());
            assert!(first.sequence() < most && first.timestamp_ms() == ids.clock().now_ms().unwrap());
            assert_eq!(fill(&ids).len() as u32, 3 - first.sequence());
            assert_eq!(ids.generate().unwrap_err().retry_after(), Some(ms(100)));
            clock.advance(ms(100));
        }
        assert_eq!(greatest, most - 1);
        clock.set(START + 150);
        assert!(ids.generate().unwrap_err().is_rollback());
    }
}

#[test]
fn a_user_defined_preset_waits_for_49_days_at_most() {
    let clock = ManualClock::new(START);
    let ids = generator(Preset::new(Layout::TWITTER).wait_when_behind(Duration::MAX, 1), &clock);
    ids.generate().unwrap();
    let longest = u64::from(u32::MAX);
    for (behind, wait) in [(longest, Some(ms(longest))), (longest + 1, None)] {
        clock.set(START - behind);
        assert_eq!(ids.generate().unwrap_err().retry_after(), wait);
    }
}

#[test]
fn a_node_is_used_again_only_after_the_whole_tick_of_its_last_id() {
    let clock = ManualClock::new(START + 50);
    let queue: NodeQueue = [100].into_iter().collect();
    let ids = Generator::builder(Preset::new(TENTHS)).node(3).spares(&queue).clock(&clock).build().unwrap();
    let first = ids.generate().unwrap();
    clock.set(START - 200);
    assert_eq!(ids.generate().unwrap().node(), 100);
    clock.set(START + 300);
    assert_eq!(ids.generate().unwrap().node(), 100);

    // Node 3 minted in the tick that lasts until START + 99.
    clock.set(START + 99);
    assert!(ids.generate().unwrap_err().is_rollback());
    clock.set(START + 100);
    let back = ids.generate().unwrap();
    assert_eq!((back.node(), back.tick()), (3, first.tick() + 1));
}

#[test]
fn threads_share_a_generator_through_swaps_without_a_duplicate() {
    const THREADS: usize = 4;
    const EACH: usize = 50_000;
    let clock = ManualClock::new(START);
    let queue: NodeQueue = (100..110).collect();
    let ids = swapping(&clock, &queue);
    // A thread that is refused moves the clock: one millisecond forward, and every tenth time back past the limit.
    let moves = AtomicU64::new(0);
    let mint = || {
        let mut mine = Vec::with_capacity(EACH);
        while mine.len() < EACH {
            if let Ok(id) = ids.generate() {
                mine.push(id);
            } else {
                let moves = moves.fetch_add(1, Ordering::Relaxed);
                clock.set(START + moves - if moves % 10 == 9 { 20.min(moves) } else { 0 });
            }
        }
        mine
    };
    let minted: Vec<Snowflake> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(mint)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let distinct: HashSet<_> = minted.iter().map(|id| id.to_u64()).collect();
    assert_eq!(distinct.len(), THREADS * EACH);
    assert!(minted.iter().map(|id| id.node()).collect::<HashSet<_>>().len() > 1);
}
