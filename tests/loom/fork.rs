//! A fork while other threads mint, under all interleavings of two threads with at most one preemption. Run by `ci/loom.sh`.
//!
//! In a file of its own, because the mark belongs to the process: models that run beside it would see the fork, too.
#![cfg(loom)]

mod models;
#[path = "../support/mod.rs"]
mod support;

use std::sync::Arc as Plain;

use imid::Generator;
use imid::clock::ManualClock;
use imid::fork::{become_a_child, forget_the_process};
use imid::generator::{GenerateError, Lane};
use loom::sync::Arc;
use loom::thread;

use self::models::model;
use self::support::{T, session};

/// One test, so that two models do not run at once.
#[test]
fn a_fork_between_a_load_and_an_addition_repeats_no_stamp() {
    memory_that_parent_and_child_share();
    two_threads_of_a_child();
    a_lane_that_is_copied();
    memory_that_is_copied(false);
    memory_that_is_copied(true);
}

/// What is modelled is more than can happen: the mark of the process is gone at any moment, and all threads go on with the same
/// words. A thread that has loaded the words before that takes the stamp that the parent would take. A thread that begins after
/// it is in the child.
fn memory_that_parent_and_child_share() {
    model(1, || {
        let ids = Arc::new(Generator::builder().seed(T).clock(ManualClock::new(T)).build().unwrap());
        let first = ids.generate(session(0)).unwrap();
        let other = Arc::clone(&ids);
        let thread = thread::spawn(move || other.generate(session(0)).unwrap());
        forget_the_process();
        let childs = ids.generate(session(0)).unwrap();
        assert!(childs.timestamp_ms() > T, "the child begins after the millisecond that it inherited");
        let late = thread.join().unwrap();
        assert!(first < late && late != childs);
    });
}

/// Two threads of a child begin together. Whoever finds it begun finds where it begins.
fn two_threads_of_a_child() {
    model(1, || {
        let ids = Arc::new(Generator::builder().seed(T).clock(ManualClock::new(T)).build().unwrap());
        let first = ids.generate(session(0)).unwrap();
        forget_the_process();
        let other = Arc::clone(&ids);
        let thread = thread::spawn(move || other.generate(session(0)).unwrap());
        let (own, late) = (ids.generate(session(0)).unwrap(), thread.join().unwrap());
        assert!(first.timestamp_ms() < own.timestamp_ms().min(late.timestamp_ms()) && own != late);
    });
}

/// The child has a copy of the words, which one thread of the parent makes while another one mints. The clock has gone on, so the
/// child's first reading is past the time that the parent had reached.
fn memory_that_is_copied(is_rolling: bool) {
    model(1, move || {
        let clock = Plain::new(ManualClock::new(T));
        // With this seed the parent's spin of T + 5 is greater than the child's, so the child would go on from it.
        let builder = Generator::builder().seed(2);
        let builder = if is_rolling { builder.rolling() } else { builder };
        let ids = Arc::new(builder.clock(Plain::clone(&clock)).build().unwrap());
        let first = ids.generate(session(0)).unwrap();
        clock.set(T + 5);
        let parent = Arc::clone(&ids);
        let child = thread::spawn(move || {
            let ids = parent.copy_of_child(clock);
            become_a_child();
            [ids.generate(session(0)).unwrap(), ids.generate(session(0)).unwrap()]
        });
        let parent = ids.generate(session(0)).unwrap();
        let child = child.join().unwrap();
        assert!(first < parent && first < child[0] && child[0] < child[1]);
        assert!(!child.contains(&parent), "{child:?}: {parent:?} is the parent's");
        assert!(child[0].timestamp_ms() >= T + 5);
    });
}

/// With a lane the child mints nothing, however far the other thread of the parent has come.
fn a_lane_that_is_copied() {
    model(1, || {
        let lane = Lane { index: 1, bits: 3 };
        let ids = Arc::new(Generator::builder().lane(lane).seed(1).clock(ManualClock::new(T)).build().unwrap());
        let first = ids.generate(session(0)).unwrap();
        let parent = Arc::clone(&ids);
        let child = thread::spawn(move || {
            let ids = parent.copy_of_child(ManualClock::new(T));
            become_a_child();
            assert!(ids.generate(session(0)).is_err_and(GenerateError::is_forked));
        });
        assert!(first < ids.generate(session(0)).unwrap());
        child.join().unwrap();
    });
}
