//! A fork while other threads mint, under all interleavings of two threads with at most one preemption. Run by `ci/loom.sh`.
//!
//! A real child has one thread and a copy of the memory, which loom cannot model. What is modelled is more than can happen: the
//! mark of the process is gone at any moment, and all threads go on with the same words. A thread that has loaded the words
//! before that takes the stamp that the parent would take. A thread that begins after it is in the child.
//!
//! In a file of its own, because the mark belongs to the process: models that run beside it would see the fork, too.
#![cfg(loom)]

use imid::clock::ManualClock;
use imid::generator::{GenerateError, Lane, forget_the_process};
use imid::{Generator, Session, SessionHash, SessionType, Start};
use loom::sync::Arc;
use loom::thread;

const T: u64 = 1_763_665_800_000;

fn session(hash: u32) -> Session {
    Session::from_parts(SessionType::GROUP, SessionHash::from_u32(hash).unwrap())
}

fn model(run: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(1);
    // A loaded machine tries a part of them.
    builder.max_duration = Some(core::time::Duration::from_secs(60));
    builder.check(run);
}

/// One test, so that the two models do not run at once.
#[test]
fn a_fork_between_a_load_and_an_addition_repeats_no_stamp() {
    model(|| {
        let ids = Arc::new(Generator::builder().start(Start::Zero).clock(ManualClock::new(T)).build().unwrap());
        let first = ids.generate(session(0)).unwrap();
        let other = Arc::clone(&ids);
        let thread = thread::spawn(move || other.generate(session(0)).unwrap());
        forget_the_process();
        let childs = ids.generate(session(0)).unwrap();
        assert!(childs.timestamp_ms() > T, "the child begins after the millisecond that it inherited");
        let late = thread.join().unwrap();
        assert!(first < late && late != childs);
    });
    // With a lane the child mints nothing, however far the other thread has come.
    model(|| {
        let lane = Lane { index: 1, bits: 3 };
        let ids = Arc::new(Generator::builder().lane(lane).seed(1).clock(ManualClock::new(T)).build().unwrap());
        let first = ids.generate(session(0)).unwrap();
        let other = Arc::clone(&ids);
        let thread = thread::spawn(move || other.generate(session(0)));
        forget_the_process();
        assert!(ids.generate(session(0)).is_err_and(GenerateError::is_forked));
        match thread.join().unwrap() {
            Ok(late) => assert!(first < late && late.timestamp_ms() == T),
            Err(error) => assert!(error.is_forked()),
        }
    });
}
