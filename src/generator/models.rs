//! What the models of loom need: a copy of a generator, as a forked child has it.

use super::Generator;
use super::published::Published;
use super::stripe::{Core, Stripe};
use crate::sync::{AtomicU64, Ordering};

impl<C, const STRIPES: usize> Generator<C, STRIPES> {
    /// Returns what a forked child has of this generator, for models.
    pub fn copy_of_child<D>(&self, clock: D) -> Generator<D, STRIPES> {
        let core = self.core.copy();
        core.touch();
        Generator::from_parts(core, clock)
    }
}

impl<const STRIPES: usize> Core<STRIPES> {
    /// Copies each word, as the kernel copies the memory of a process that forks. Other threads continue in the meantime.
    pub(crate) fn copy(&self) -> Self {
        Self {
            published: self.published.copy(),
            stripes: self
                .stripes
                .each_ref()
                .map(|stripe| Stripe { free: copy(&stripe.free), refused: copy(&stripe.refused) }),
            ..*self
        }
    }

    /// Makes every word in the thread that builds: see the note in src/sync.rs.
    pub(crate) fn touch(&self) {
        self.published.touch();
        self.last_tick();
        self.refused();
    }
}

impl Published {
    pub(super) fn copy(&self) -> Self {
        Self {
            read: copy(&self.read),
            first: copy(&self.first),
            end: copy(&self.end),
            ceiling: copy(&self.ceiling),
            seed: copy(&self.seed),
            top: copy(&self.top),
            meet: copy(&self.meet),
            extra: copy(&self.extra),
            policy: self.policy,
            process: copy(&self.process),
            floor: copy(&self.floor),
            jump: copy(&self.jump),
            steps: copy(&self.steps),
        }
    }

    /// Makes every word in the thread that builds: see the note in src/sync.rs.
    pub(super) fn touch(&self) {
        self.timeline();
        for word in [&self.read, &self.end, &self.ceiling, &self.seed, &self.process] {
            word.load(Ordering::Relaxed);
        }
    }
}

/// A read-modify-write sees the word as it is, and a load could see it as it was.
fn copy(word: &AtomicU64) -> AtomicU64 {
    AtomicU64::new(word.fetch_max(0, Ordering::Relaxed))
}
