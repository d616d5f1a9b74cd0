//! All records of a space, as one list has returned them.

use std::collections::HashMap;
use std::sync::Arc;

use crate::record::{LaneRecord, LaneState};

/// One record. The engines that are given one list share it: a thousand of them would else keep a thousand copies.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Found {
    pub(super) text: String,
    /// `None` if it is no lane, or one of another format.
    pub(super) lane: Option<LaneRecord>,
}

/// The records of a space, each with its key.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listing(Arc<Vec<(String, Arc<Found>)>>);

impl Listing {
    /// Takes what a register has listed. Records that were also in the previous list are shared with it.
    pub(crate) fn new(records: Vec<(String, String)>, before: &Self) -> Self {
        let before: HashMap<_, _> = before.0.iter().map(|(key, found)| (key.as_str(), found)).collect();
        let found = |(key, text): (String, String)| {
            let same = before.get(key.as_str()).filter(|found| found.text == text);
            let found = same.map_or_else(|| Arc::new(Found::new(text)), |found| Arc::clone(found));
            (key, found)
        };
        Self(Arc::new(records.into_iter().map(found).collect()))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Arc<Found>)> {
        self.0.iter().map(|(key, found)| (key.as_str(), found))
    }

    /// Returns the lanes, by their keys.
    pub(crate) fn lanes(&self) -> impl Iterator<Item = (&str, &LaneRecord)> {
        self.iter().filter_map(|(key, found)| Some((key, found.lane.as_ref()?)))
    }

    /// Returns the text of a record.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.iter().find(|(found, _)| *found == key).map(|(_, found)| found.text.as_str())
    }
}

impl Found {
    pub(crate) fn new(text: String) -> Self {
        let lane = LaneRecord::parse(&text).ok();
        Self { text, lane }
    }

    /// Returns the record of the lane, if someone has it.
    pub(super) fn held(&self) -> Option<&LaneRecord> {
        self.lane.as_ref().filter(|lane| lane.state == LaneState::Held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_that_has_not_changed_is_kept_once() {
        let record = |version: u32| {
            format!("imid-lease/1 lane version={version} token=0000000000000000 holder=a horizon=1 ceiling=0 held")
        };
        let list = |versions: [u32; 2]| ["a", "b"].map(String::from).into_iter().zip(versions.map(record)).collect();
        let first = Listing::new(list([1, 1]), &Listing::default());
        let second = Listing::new(list([1, 2]), &first);
        let pairs: Vec<_> = first.iter().zip(second.iter()).map(|((_, a), (_, b))| Arc::ptr_eq(a, b)).collect();
        assert_eq!((pairs, second.text("b").unwrap()), (vec![true, false], record(2).as_str()));
        assert_eq!(second.text("c"), None);
    }
}
