//! A segment in a forked child, which is the parent's. The file has one test, because a fork copies only one thread.
#![cfg(unix)]

use std::time::Duration;

use leaf_segment::{Block, NumberError, Segment};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, fork};

fn open() -> Segment {
    let mut end = 1;
    let take = move |step: Option<i64>| {
        end += step.unwrap_or(100);
        Ok(Block { end, step: 100 })
    };
    let segment = Segment::open(take).unwrap();
    segment.wait_until_open(Duration::from_secs(15)).unwrap();
    segment
}

#[test]
#[expect(unsafe_code, reason = "the test needs a fork")]
fn a_forked_child_has_no_numbers_until_it_opens_its_own() {
    let segment = open();
    // SAFETY: the child takes no lock that a thread of the parent may have held, and ends with `_exit`.
    match unsafe { fork() }.unwrap() {
        ForkResult::Child => {
            let is_refused = segment.status().left == 0
                && segment.next().is_err_and(NumberError::is_forked)
                && segment.wait_until_open(Duration::MAX).is_err();
            // What an error advises: the child opens its own, and drops that of the parent.
            let mine = open();
            drop(segment);
            let is_mine = mine.next().is_ok_and(|number| number == 1);
            drop(mine);
            // SAFETY: any exit code is valid, and this process has nothing left to do.
            unsafe { nix::libc::_exit(i32::from(is_refused && is_mine)) }
        }
        ForkResult::Parent { child } => {
            assert_eq!(waitpid(child, None).unwrap(), WaitStatus::Exited(child, 1));
            assert_eq!((segment.status().left, segment.next()), (100, Ok(1)));
        }
    }
}
