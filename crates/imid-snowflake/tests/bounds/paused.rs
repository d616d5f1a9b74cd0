//! A thread is paused anywhere between two steps of a call; another thread does the rest. The clock is read between the
//! load of the word and the exchange.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use imid::clock::{Clock, ClockError, ManualClock};
use imid_snowflake::{GenerateError, Generator, NodeSource, Preset, Snowflake, SpareNode};

use super::nodes::Grants;
use super::{HOUR, T};

type Act = Box<dyn Fn() + Send>;

/// Runs something at one reading, as if the thread were paused there.
struct Hooked {
    ms: AtomicU64,
    readings: AtomicU64,
    hook: Mutex<Option<(u64, Act)>>,
}

impl Clock for Hooked {
    fn now_ms(&self) -> Result<u64, ClockError> {
        let now = self.ms.load(Ordering::Relaxed);
        let reading = self.readings.fetch_add(1, Ordering::Relaxed);
        let mut hook = self.hook.lock().unwrap();
        if hook.as_ref().is_some_and(|(at, _)| *at == reading) {
            let (_, act) = hook.take().unwrap();
            drop(hook);
            act();
        }
        Ok(now)
    }
}

type Ids = Generator<Hooked, &'static Grants>;

/// Calls `generate` once for each reading at which it can be paused, in a generator of its own each time. Returns
/// what the paused calls returned.
fn each(preset: Preset, clock_at: u64, act: fn(&Ids, &Grants)) -> Vec<Result<Snowflake, GenerateError>> {
    (0..3)
        .map(|reading| {
            let grants: &'static Grants = Box::leak(Box::new(Grants::new(&[(8, 0, T + HOUR)])));
            grants.grant(3, T + 10);
            let hooked = Hooked { ms: AtomicU64::new(T), readings: AtomicU64::new(0), hook: Mutex::new(None) };
            let ids = Generator::builder(preset).node(3).spares(grants).ceiling_ms(T + HOUR);
            let ids: &'static Ids = Box::leak(Box::new(ids.clock(hooked).build().unwrap()));
            ids.generate().unwrap();
            ids.clock().ms.store(clock_at, Ordering::Relaxed);
            let at = ids.clock().readings.load(Ordering::Relaxed) + reading;
            *ids.clock().hook.lock().unwrap() = Some((at, Box::new(move || act(ids, grants))));
            ids.generate()
        })
        .collect()
}

#[test]
fn a_paused_call_does_not_mint_after_the_close() {
    let minted = each(Preset::TWITTER, T, |ids, _| {
        assert_eq!(ids.close(), Some(T + 1));
    });
    assert!(minted[0].unwrap_err().is_closed());
    // The later readings are not reached: the call has returned.
    assert!(minted[1..].iter().all(Result::is_ok));
}

#[test]
fn a_paused_swap_does_not_mint_after_the_close() {
    let minted = each(Preset::TWITTER, T - 50, |ids, grants| {
        ids.close().unwrap();
        // The node that the paused call may take is spare again, as it was.
        assert_eq!(grants.put.lock().unwrap()[0].node, 3);
    });
    assert!(minted[0].unwrap_err().is_closed());
    assert!(minted[1].unwrap_err().is_closed());
}

/// Another thread has taken the only spare node, and has swapped. The call finds none, and mints under the new node as well.
#[test]
fn a_paused_call_that_finds_no_spare_node_looks_at_the_word_again() {
    let minted = each(Preset::TWITTER, T - 50, |ids, _| assert_eq!(ids.generate().unwrap().node(), 8));
    assert!(minted.into_iter().all(|id| id.unwrap().node() == 8));
}

#[test]
fn a_paused_call_does_not_mint_below_a_raised_floor() {
    let minted = each(Preset::TWITTER, T + 1, |ids, _| ids.raise_floor_ms(T + 2));
    assert!(minted[0].unwrap_err().is_overload());
}

/// A reading that is older than the last ID shows no step back: the word is loaded before the clock is read. Otherwise the node
/// would be swapped for it.
#[test]
fn a_paused_call_does_not_take_an_old_reading_for_a_step_back() {
    let minted = each(Preset::TWITTER, T - 1, |ids, _| {
        ids.clock().ms.store(T + 5, Ordering::Relaxed);
        assert_eq!(ids.generate().unwrap().node(), 3);
    });
    for id in minted {
        let id = id.unwrap();
        assert_eq!((id.node(), id.timestamp_ms()), (3, T + 5));
    }
}

/// The node comes back with another grant, which begins later.
#[test]
fn a_paused_call_does_not_mint_under_a_node_that_was_away() {
    let minted = each(Preset::TWITTER, T + 1, |ids, grants| {
        let clock = ids.clock();
        let step = |at| clock.ms.store(at, Ordering::Relaxed);
        step(T - 100);
        assert_eq!(ids.generate().unwrap().node(), 8);
        // Somebody else has used node 3 until T + 5.
        let back = (SpareNode { node: 3, used_until_ms: T + 5 }, T + HOUR);
        grants.spare.lock().unwrap().push_back(back);
        grants.grant(8, 0);
        step(T + 6);
        assert_eq!(ids.generate().unwrap().node(), 3);
        step(T + 7);
    });
    // The paused call had read T + 1. It looks again.
    let id = minted[0].unwrap();
    assert_eq!((id.node(), id.timestamp_ms()), (3, T + 7));
}

/// The ceiling of the node was asked for before the pause.
#[test]
fn a_paused_call_does_not_mint_past_the_ceiling_of_a_later_grant() {
    struct Pausing(Mutex<Option<Act>>, AtomicU64);
    impl NodeSource for Pausing {
        fn take(&self, _: u64) -> Option<SpareNode> {
            Some(SpareNode { node: 8, used_until_ms: 0 })
        }
        fn put(&self, _: SpareNode) {}
        fn ceiling_ms(&self, node: u32) -> u64 {
            let act = self.0.lock().unwrap().take();
            let answer = if node == 3 { self.1.load(Ordering::Acquire) } else { u64::MAX };
            if let Some(act) = act {
                act();
            }
            answer
        }
    }
    let source: &'static Pausing = Box::leak(Box::new(Pausing(Mutex::new(None), AtomicU64::new(T + HOUR))));
    let clock: &'static ManualClock = Box::leak(Box::new(ManualClock::new(T)));
    let ids = Generator::builder(Preset::TWITTER).node(3).spares(source).clock(clock).build().unwrap();
    let ids: &'static Generator<_, _> = Box::leak(Box::new(ids));
    ids.generate().unwrap();
    *source.0.lock().unwrap() = Some(Box::new(|| {
        // Node 3 goes, is released at its end, and ends there for good.
        clock.set(T - 1);
        assert_eq!(ids.generate().unwrap().node(), 8);
        source.1.store(0, Ordering::Release);
        clock.set(T + 1);
    }));
    // The ceiling is asked for in a new tick.
    clock.set(T + 1);
    assert_eq!(ids.generate().unwrap().node(), 8);
    assert!(source.0.lock().unwrap().is_none(), "the call was paused");
}
