//! Runs of IDs that were taken in one atomic step.

use core::fmt;
use core::iter::FusedIterator;
use core::ops::Range;

use crate::id::MessageId;
use crate::session::SessionTag;
use crate::stamp::Shape;

/// A run of consecutive IDs of one session: what [`Generator::batch`](super::Generator::batch) returns.
///
/// All IDs of the run are taken. Those that are never read are lost: they are not issued again. A batch is not `Clone`,
/// because a copy would repeat its IDs. A forked child inherits such a copy: only one of the two processes may read on.
#[must_use = "the IDs are taken and would be lost"]
pub struct Batch {
    /// Compact.
    stamps: Range<u64>,
    shape: Shape,
    session: SessionTag,
}

impl Batch {
    /// Returns the run of compact stamps from `first` on.
    #[inline]
    pub(super) const fn new(first: u64, run: u64, shape: Shape, session: SessionTag) -> Self {
        Self { stamps: first..first + run, shape, session }
    }

    /// Writes the run into a slice of its length.
    #[inline]
    pub(super) fn write(self, ids: &mut [MessageId]) {
        if self.shape.is_dense() {
            // Without a lane, consecutive stamps give consecutive IDs: one addition for each.
            let mut id = MessageId::from_stamp(self.stamps.start, self.session);
            for slot in ids {
                *slot = id;
                id = id.next_stamp();
            }
        } else {
            ids.iter_mut().zip(self).for_each(|(slot, id)| *slot = id);
        }
    }

    #[inline]
    const fn id(&self, compact: u64) -> MessageId {
        MessageId::from_stamp(self.shape.expand(compact), self.session)
    }
}

impl Iterator for Batch {
    type Item = MessageId;

    #[inline]
    fn next(&mut self) -> Option<MessageId> {
        self.stamps.next().map(|compact| self.id(compact))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        // Exact: the length of a run is a `usize`.
        self.stamps.size_hint()
    }
}

impl DoubleEndedIterator for Batch {
    fn next_back(&mut self) -> Option<MessageId> {
        self.stamps.next_back().map(|compact| self.id(compact))
    }
}

/// Shows how many IDs are left. It does not show the IDs, because an ID in a log looks like one that is in use.
impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch").field("left", &self.len()).finish_non_exhaustive()
    }
}

impl ExactSizeIterator for Batch {}

impl FusedIterator for Batch {}
