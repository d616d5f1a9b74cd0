//! A lane belongs to one process.

use core::time::Duration;

use imid::clock::ManualClock;
use imid::fork::{Owner, Process};
use imid::generator::Lane;
use imid::{Generator, MessageId};
use libtest_mimic::Trial;

use super::child::{Child, Way, ways};
use super::minting::{T, assert_distinct, hot, mint};

pub(super) fn all() -> Vec<Trial> {
    super::trials! {
        different_lanes_never_meet
        a_laned_generator_refuses_in_every_child
        what_a_process_owns_is_not_its_childs
    }
}

/// A lane belongs to one host, so each process builds its generator with its own.
fn different_lanes_never_meet() {
    let lane = |index| {
        let ids = Generator::builder().lane(Lane { index, bits: 2 }).build().unwrap();
        mint(&ids, hot(), 20_000)
    };
    let children: Vec<_> = (1..4).map(|index| Way::Fork.copy(|| lane(index))).collect();
    let mut all = vec![lane(0)];
    all.extend(children.into_iter().map(Child::ids));
    assert_distinct(&all);
}

/// A lane belongs to one process: a child that minted in its parent's would repeat its IDs.
fn a_laned_generator_refuses_in_every_child() {
    for way in ways() {
        for (index, bits) in [(0, 0), (0, 1), (3, 2), (4_095, 12)] {
            let clock = ManualClock::new(T);
            let ids = Generator::builder().lane(Lane { index, bits }).clock(&clock).build().unwrap();
            let before = ids.generate(hot()).unwrap();
            let child = way.copy(|| {
                let error = ids.generate(hot()).expect_err("the lane is the parent's");
                let words = "lane of the generator belongs to the parent process: build a generator after the fork";
                assert_eq!((error.to_string().as_str(), error.retry_after()), (words, None));
                assert!(error.is_forked());
                let refused = ids.batch(hot(), 3).is_err()
                    && ids.fill(hot(), &mut [MessageId::MIN; 2]).is_err()
                    && ids.generate_within(hot(), Duration::from_millis(10)).is_err();
                assert!(refused);
                clock.advance(Duration::from_secs(1));
                assert!(ids.generate(hot()).is_err(), "and does not forget it");
                let grandchild = way.copy(|| {
                    assert!(ids.generate(hot()).is_err(), "the lane is the grandparent's");
                    Vec::new()
                });
                grandchild.ids()
            });
            assert!(child.ids().is_empty());
            assert!(before < ids.generate(hot()).unwrap(), "the parent goes on");
        }
    }
}

/// By each of the types that a library keeps beside what it owns.
fn what_a_process_owns_is_not_its_childs() {
    for way in ways() {
        let (process, claimed, current, unclaimed) =
            (Process::current(), Owner::none(), Owner::current(), Owner::none());
        assert!(!claimed.is_current());
        assert!(claimed.claim() && claimed.claim());
        let work = || {
            // Without a mark of its own, and with one.
            for _ in 0..2 {
                assert!(!process.is_current() && !claimed.is_current() && !current.is_current());
                assert!(!claimed.claim() && !current.claim());
            }
            assert!(unclaimed.claim() && unclaimed.is_current());
            Vec::new()
        };
        assert!(way.copy(work).ids().is_empty());
        assert!(process.is_current() && claimed.is_current() && current.is_current());
    }
}
