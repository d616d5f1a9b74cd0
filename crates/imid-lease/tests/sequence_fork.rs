//! A sequence and a segment in a forked child, which are the parent's. The file has one test, because a fork copies
//! only one thread.
#![cfg(unix)]

mod strong;

use imid::SessionTag;
use imid_lease::segment::{RegisterBlocks, Segment, SegmentError};
use imid_lease::sequence::{SequenceError, SequenceOptions};
use imid_lease::{Register, Sequence};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, fork};
use strong::Strong;

#[test]
#[expect(unsafe_code, reason = "the test needs a fork")]
fn a_forked_child_has_no_numbers_until_it_opens_its_own() {
    let register = Strong::default();
    let sequence = Sequence::open(register.clone(), SequenceOptions::new("chat")).unwrap();
    let segment = Segment::open(RegisterBlocks::try_new(register.clone(), "orders", 100).unwrap()).unwrap();
    let conversation = sequence.conversation(SessionTag::MIN, 1);
    // SAFETY: the child takes no lock that a thread of the parent may have held, and ends with `_exit`.
    match unsafe { fork() }.unwrap() {
        ForkResult::Child => {
            let is_refused = sequence.next(conversation).is_err_and(SequenceError::is_forked)
                && sequence.claim(0).is_err_and(SequenceError::is_forked)
                && sequence.release(0).is_err_and(SequenceError::is_forked)
                && sequence.holder(0).is_none()
                && (sequence.status().held, segment.status().left) == (0, 0)
                && segment.next().is_err_and(SegmentError::is_forked);
            // What an error advises: the child opens its own, and drops those of the parent. A handle of the parent's
            // thread that is dropped here would detach a thread of the child, which can have got the same place.
            let mine = Strong::default();
            let my_segment = Segment::open(RegisterBlocks::try_new(mine.clone(), "orders", 100).unwrap()).unwrap();
            let my_sequence = Sequence::open(mine, SequenceOptions::new("chat")).unwrap();
            // A child that waited for the parent's keeper would never end.
            drop(sequence);
            drop(segment);
            let is_mine = my_segment.next().is_ok_and(|number| number == 1) && my_sequence.status().held == 64;
            drop(my_segment);
            drop(my_sequence);
            // SAFETY: any exit code is valid, and this process has nothing left to do.
            unsafe { nix::libc::_exit(i32::from(is_refused && is_mine)) }
        }
        ForkResult::Parent { child } => {
            assert_eq!((sequence.status().held, segment.status().left), (64, 100));
            assert_eq!(waitpid(child, None).unwrap(), WaitStatus::Exited(child, 1));
            assert_eq!(sequence.next(conversation).unwrap().value(), 1);
            assert_eq!(segment.next().unwrap(), 1);
            let record = register.clone().read("seq/chat/section/00000").unwrap().unwrap();
            assert!(record.ends_with(" held"), "the child gave nothing back: {record}");
        }
    }
}
