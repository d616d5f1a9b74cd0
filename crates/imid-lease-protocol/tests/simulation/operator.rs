//! What an operator does in a random schedule, while processes work.

use std::sync::atomic::{AtomicU64, Ordering};

use super::store::Store;
use super::world::World;
use imid_lease_protocol::admin;
use imid_lease_protocol::record::{LaneState, MetaRecord, Space};
use imid_lease_protocol::register::{Promise, Register, RegisterError};

/// Draws the bits of a token: each is drawn once.
#[expect(clippy::unnecessary_wraps, reason = "as a source that can fail")]
pub(super) fn draw() -> Result<u128, RegisterError> {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    Ok(u128::from(NEXT.fetch_add(1, Ordering::Relaxed)))
}

/// A register that fails after a number of writes.
pub(super) struct HalfWay<'a> {
    pub(super) store: &'a mut Store,
    pub(super) writes: u32,
}

impl Register for HalfWay<'_> {
    fn read(&mut self, key: &str) -> Result<Option<String>, RegisterError> {
        self.store.read(key)
    }

    fn list(&mut self, prefix: &str) -> Result<Vec<(String, String)>, RegisterError> {
        self.store.list(prefix)
    }

    fn compare_and_set(&mut self, key: &str, seen: Option<&str>, value: &str) -> Result<bool, RegisterError> {
        self.writes = self.writes.checked_sub(1).ok_or_else(|| RegisterError::new("the register went away"))?;
        self.store.compare_and_set(key, seen, value)
    }

    fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
        self.store.now_ms()
    }

    fn promise(&self) -> Promise {
        self.store.promise()
    }
}

impl World {
    fn meta(&self) -> Option<MetaRecord> {
        self.store.records.get("lanes/meta").map(|text| MetaRecord::parse(text).unwrap())
    }

    /// An operator frees one of the lanes by force, whoever has it.
    pub(super) fn free_one(&mut self) {
        let lane = self.random.below(2) as u16;
        // There may be no space, no such lane, or no holder.
        let _ = admin::free(&mut self.store, "lanes", lane, &mut draw);
    }

    /// An operator changes the number of lanes from one to two, or back, and gets as far as this number of writes. Processes that start
    /// after that know the new number.
    pub(super) fn resize(&mut self, writes: u32) {
        let Some(meta) = self.meta() else { return };
        let bits = 1 - meta.bits;
        if admin::resize(&mut HalfWay { store: &mut self.store, writes }, "lanes", bits, &mut draw).is_ok() {
            for holder in &mut self.holders {
                holder.config.space = Space::lanes(bits).unwrap();
            }
        }
    }

    /// An operator finishes a change of the number of lanes that was left half-way.
    pub(super) fn finish_resize(&mut self) {
        let Some(meta) = self.meta() else { return };
        let era = format!("lanes/{}/", meta.era);
        if self.store.lanes().any(|(key, lane)| key.starts_with(&era) && lane.state == LaneState::Closed) {
            self.resize(u32::MAX);
        }
    }
}
