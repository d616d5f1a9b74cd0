//! The atomics, from `core` or from loom's model checker. Everything that is modelled uses these.

pub(crate) use core::sync::atomic::Ordering;

#[cfg(not(loom))]
pub(crate) use core::sync::atomic::AtomicU64;

#[cfg(loom)]
pub(crate) use modelled::AtomicU64;

#[cfg(loom)]
mod modelled {
    use std::mem::ManuallyDrop;
    use std::sync::OnceLock;

    use loom::sync::atomic::AtomicU64 as Modelled;

    use super::Ordering;

    /// Loom's atomic with a `const fn new`, which loom's own type does not have. It is made when it is first used.
    ///
    /// NOTE: the thread that builds a generator must use each word before it starts other threads. Otherwise loom
    /// reports a race. `Generator::bind_to_process` does.
    #[derive(Debug)]
    pub(crate) struct AtomicU64 {
        initial: u64,
        /// Never dropped: a constant expression cannot hold what must be dropped.
        word: ManuallyDrop<OnceLock<Modelled>>,
    }

    impl AtomicU64 {
        pub(crate) const fn new(initial: u64) -> Self {
            Self { initial, word: ManuallyDrop::new(OnceLock::new()) }
        }

        fn word(&self) -> &Modelled {
            self.word.get_or_init(|| Modelled::new(self.initial))
        }

        pub(crate) fn load(&self, order: Ordering) -> u64 {
            self.word().load(order)
        }

        pub(crate) fn fetch_max(&self, value: u64, order: Ordering) -> u64 {
            self.word().fetch_max(value, order)
        }

        pub(crate) fn compare_exchange(
            &self,
            current: u64,
            new: u64,
            success: Ordering,
            failure: Ordering,
        ) -> Result<u64, u64> {
            self.word().compare_exchange(current, new, success, failure)
        }
    }
}
