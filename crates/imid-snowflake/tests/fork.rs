//! A Snowflake generator in a forked child, which must not use the node of its parent. The file has one test, because a
//! fork copies only one thread.
#![cfg(all(unix, feature = "std", target_has_atomic = "64"))]

use std::fmt::Write;

use arrayvec::ArrayString;
use imid::clock::ManualClock;
use imid_snowflake::{GenerateError, Generator, NodeQueue, NodeSource, Preset, SpareNode};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, fork};

static IDS: Generator = match Generator::try_new(Preset::TWITTER, 35) {
    Ok(ids) => ids,
    Err(_) => panic!("node 35 fits 10 bits"),
};

const FORKED: &str = "node of the generator belongs to the parent process: build a generator after the fork";

#[test]
#[expect(unsafe_code, reason = "the test needs a fork")]
fn a_forked_child_does_not_mint_under_the_node_of_its_parent() {
    let before = IDS.generate().unwrap();
    // These belong to the parent since they were built.
    let unused = Generator::builder(Preset::LEAF).node(37).build().unwrap();
    let queue = NodeQueue::new();
    let closed = Generator::builder(Preset::LEAF).node(38).spares(&queue).build().unwrap();
    // Spare nodes of the parent.
    let filled: NodeQueue = (500..504).collect();
    // In the same millisecond the next ID is the word plus one, without the checks of the first ID of a tick.
    let on_short_way =
        Generator::builder(Preset::TWITTER).node(40).clock(ManualClock::new(1_763_665_800_000)).build().unwrap();
    on_short_way.generate().unwrap();
    // SAFETY: the child uses only atomics and the clock, and ends with `_exit`.
    match unsafe { fork() }.unwrap() {
        ForkResult::Child => {
            let is_refused = IDS.generate().is_err_and(|error| {
                // The text is on the stack, because another thread may have held the allocator's lock at the fork.
                let mut words = ArrayString::<96>::new();
                write!(words, "{error}").is_ok_and(|()| words.as_str() == FORKED)
                    && error.is_forked()
                    && error.retry_after().is_none()
            });
            let own = Generator::try_new(Preset::TWITTER, 36).unwrap();
            let is_minted = own.generate().is_ok_and(|id| id.node() == 36);
            let is_unused_refused = unused.generate().is_err_and(GenerateError::is_forked);
            // The parent has the node, so it is not spare.
            let is_node_kept = closed.close().is_none() && queue.take(u64::MAX).is_none();
            // With the parent's spare nodes, each child would mint the same IDs after a step back.
            let clock = ManualClock::new(1_763_665_800_000);
            let stepped = Generator::builder(Preset::TWITTER).node(39).spares(&filled).clock(&clock).build().unwrap();
            let is_first_minted = stepped.generate().is_ok();
            clock.set(1_763_665_799_500);
            let is_step_refused = stepped.generate().is_err_and(GenerateError::is_rollback);
            filled.put(SpareNode { node: 600, used_until_ms: 0 });
            let is_queue_empty = is_first_minted && is_step_refused && filled.take(u64::MAX).is_none();
            let is_short_way_refused = on_short_way.generate().is_err_and(GenerateError::is_forked);
            let is_right =
                is_short_way_refused && is_refused && is_minted && is_unused_refused && is_node_kept && is_queue_empty;
            // SAFETY: any exit code is valid, and this process has nothing left to do.
            unsafe { nix::libc::_exit(i32::from(is_right)) }
        }
        ForkResult::Parent { child } => {
            assert_eq!(waitpid(child, None).unwrap(), WaitStatus::Exited(child, 1));
            assert!(IDS.generate().unwrap() > before);
            assert_eq!(unused.generate().unwrap().node(), 37);
            closed.close();
            assert_eq!(queue.take(u64::MAX).map(|spare| spare.node), Some(38));
            assert_eq!(filled.take(u64::MAX).map(|spare| spare.node), Some(500));
        }
    }
}
