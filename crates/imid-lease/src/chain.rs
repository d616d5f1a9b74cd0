//! A list that grows and is read without a lock.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many values are in the list itself.
const NEAR: usize = 4;

/// The number of buckets: bucket n has 2^n values.
const BUCKETS: usize = 32;

/// Values of which the last one is in use. None of them is dropped before the list is, because a thread may still use
/// an earlier one.
#[derive(Debug)]
pub(crate) struct Chain<T> {
    len: AtomicUsize,
    near: [OnceLock<T>; NEAR],
    far: [OnceLock<Box<[OnceLock<T>]>>; BUCKETS],
}

impl<T> Chain<T> {
    pub(crate) const fn new() -> Self {
        Self {
            len: AtomicUsize::new(0),
            near: [const { OnceLock::new() }; NEAR],
            far: [const { OnceLock::new() }; BUCKETS],
        }
    }

    /// Returns how many values there are.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        // ORDERING: acquires the last value.
        self.len.load(Ordering::Acquire)
    }

    /// Returns the first value; `None` if there is none.
    pub(crate) fn first(&self) -> Option<&T> {
        self.near[0].get()
    }

    /// Returns the last value; `None` if there is none.
    #[inline]
    pub(crate) fn last(&self) -> Option<&T> {
        self.at(self.len().checked_sub(1)?)
    }

    fn at(&self, index: usize) -> Option<&T> {
        if let Some(slot) = self.near.get(index) {
            return slot.get();
        }
        let (bucket, place) = place(index - NEAR);
        self.far.get(bucket)?.get()?.get(place)?.get()
    }

    /// Adds a value. Only one thread adds values; a value that another one adds at the same time is dropped.
    pub(crate) fn push(&self, value: T) {
        let index = self.len();
        let slot = if index < NEAR {
            self.near.get(index)
        } else {
            let (bucket, place) = place(index - NEAR);
            let values = |size| (0..size).map(|_| OnceLock::new()).collect();
            self.far.get(bucket).and_then(|far| far.get_or_init(|| values(1 << bucket)).get(place))
        };
        if slot.is_some_and(|slot| slot.set(value).is_ok()) {
            // ORDERING: releases the value.
            self.len.store(index + 1, Ordering::Release);
        }
    }
}

/// Returns the bucket of a value, and its place in it.
const fn place(index: usize) -> (usize, usize) {
    let bucket = (index + 1).ilog2() as usize;
    (bucket, index + 1 - (1 << bucket))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_is_found() {
        let chain = Chain::new();
        assert_eq!((chain.len(), chain.first(), chain.last()), (0, None, None));
        for value in 0..10_000 {
            chain.push(value);
            assert_eq!((chain.len(), chain.first(), chain.last()), (value + 1, Some(&0), Some(&value)));
        }
        assert_eq!(chain.at(77), Some(&77));
    }

    #[test]
    fn readers_see_whole_values_that_grow() {
        let chain = Chain::new();
        std::thread::scope(|scope| {
            scope.spawn(|| (0..20_000_usize).for_each(|value| chain.push(vec![value; 3])));
            let mut before = 0;
            while before < 19_999 {
                if let Some(values) = chain.last() {
                    assert!(values[0] >= before && values == &vec![values[0]; 3]);
                    before = values[0];
                }
            }
        });
    }
}
