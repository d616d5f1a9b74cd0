//! Counts IDs by session type and by session, in bounded memory.

use std::collections::BTreeMap;

use datasketches::frequencies::{ErrorType, FrequentItemsSketch};
use imid_inspect::Id;

use crate::report::Stop;

/// The size of the sketch's table. Three quarters of it are used: up to so many sessions, the counts are exact.
const TABLE: usize = 1 << 16;

/// What an ID belongs to: a session, or the node that made a Snowflake.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Owner {
    SessionTag { type_code: u8, hash: u32 },
    Node(u32),
}

/// Counts of IDs.
pub(super) struct Sessions {
    /// The count of each type. Snowflakes have no type.
    pub(super) types: BTreeMap<u8, u64>,
    sketch: FrequentItemsSketch<Owner>,
}

/// The busiest owners.
pub(super) struct Busiest {
    /// Each owner and its count, the largest count first.
    pub(super) owners: Vec<(Owner, u64)>,
    /// How much a count can be too high. 0 means that all counts are exact.
    pub(super) max_error: u64,
    /// Number of owners, if it is known.
    pub(super) number: Option<usize>,
}

impl Owner {
    fn of(id: Id) -> Self {
        match id {
            Id::Message { id, .. } => Self::SessionTag { type_code: id.type_code(), hash: id.session_hash() },
            Id::Snowflake(id) => Self::Node(id.node()),
        }
    }
}

impl Sessions {
    pub(super) fn new() -> Result<Self, Stop> {
        let sketch = FrequentItemsSketch::new(TABLE).map_err(|error| Stop::Error(error.to_string()))?;
        Ok(Self { types: BTreeMap::new(), sketch })
    }

    pub(super) fn add(&mut self, id: Id) {
        let owner = Owner::of(id);
        if let Owner::SessionTag { type_code, .. } = owner {
            *self.types.entry(type_code).or_default() += 1;
        }
        self.sketch.update(owner);
    }

    /// Returns the owners with the most IDs.
    pub(super) fn busiest(&self, most: usize) -> Busiest {
        let rows = self.sketch.frequent_items(ErrorType::NoFalseNegatives);
        let mut owners: Vec<_> = rows.iter().map(|row| (*row.item(), row.estimate())).collect();
        owners.sort_unstable_by_key(|(owner, count)| (u64::MAX - count, *owner));
        owners.truncate(most);
        let max_error = self.sketch.maximum_error();
        Busiest { owners, max_error, number: (max_error == 0).then(|| self.sketch.num_active_items()) }
    }
}

#[cfg(test)]
mod tests {
    use imid::dialect::Dialect;
    use imid::{IdParts, MessageId, SessionTag, SessionType};

    use super::*;

    fn add(sessions: &mut Sessions, name: u64) -> Owner {
        let session = SessionTag::new(SessionType::GROUP, &name.to_string());
        let id = MessageId::try_from_parts(IdParts { timestamp_ms: 1, spin: 2, session_tag: session }).unwrap();
        let id = Id::Message { dialect: &Dialect::STANDARD, id: id.into() };
        sessions.add(id);
        Owner::of(id)
    }

    #[test]
    fn the_busiest_sessions_are_found_within_the_error_that_is_stated() {
        let mut sessions = Sessions::new().unwrap_or_else(|_| panic!("a sketch"));
        // Session n of 100 has 1,000 + 100 n IDs. Between them are 900,000 sessions with an ID each.
        let mut owners = Vec::new();
        for n in 0..100 {
            for _ in 0..1_000 + 100 * n {
                let owner = add(&mut sessions, n);
                owners.resize(n as usize + 1, owner);
            }
            for other in 0..9_000 {
                add(&mut sessions, 1_000_000 + n * 9_000 + other);
            }
        }
        let busiest = sessions.busiest(10);
        // The sketch promises 3.5 times the number of IDs by the size of its table.
        assert!(
            busiest.max_error > 0 && busiest.max_error <= 1_495_000 * 7 / 2 / TABLE as u64,
            "{}",
            busiest.max_error
        );
        assert_eq!(busiest.number, None);
        for ((owner, count), n) in busiest.owners.iter().zip((90..100).rev()) {
            assert_eq!(*owner, owners[n]);
            // A session can share its hash with some of the small ones.
            let exact = 1_000 + 100 * n as u64;
            assert!(exact <= *count && *count <= exact + busiest.max_error + 10, "{count}, not {exact}");
        }
        assert_eq!(sessions.types, BTreeMap::from([(SessionType::GROUP.to_u8(), 1_495_000)]));
    }
}
