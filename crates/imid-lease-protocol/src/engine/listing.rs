//! All records of a space, as one list has returned them.

use std::sync::Arc;

use crate::record::{LaneRecord, LaneState};

/// One record, shared with the engine that watches it.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Found {
    pub(super) text: String,
    /// `None` if it is no lane, or one of another format.
    pub(super) lane: Option<LaneRecord>,
}

/// The records of a space, each with its key.
#[derive(Clone, Debug, Default)]
pub struct Listing(Arc<Vec<(String, Arc<Found>)>>);

impl Listing {
    /// Takes what a register has listed.
    pub fn new(records: Vec<(String, String)>) -> Self {
        Self(Arc::new(records.into_iter().map(|(key, text)| (key, Arc::new(Found::new(text)))).collect()))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Arc<Found>)> {
        self.0.iter().map(|(key, found)| (key.as_str(), found))
    }

    /// Returns the lanes, by their keys.
    pub(super) fn lanes(&self) -> impl Iterator<Item = (&str, &LaneRecord)> {
        self.iter().filter_map(|(key, found)| Some((key, found.lane.as_ref()?)))
    }

    /// Returns the text of a record.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.iter().find(|(found, _)| *found == key).map(|(_, found)| found.text.as_str())
    }
}

impl Found {
    fn new(text: String) -> Self {
        let lane = LaneRecord::parse(&text).ok();
        Self { text, lane }
    }

    /// Returns the record of the lane, if someone has it.
    pub(super) fn held(&self) -> Option<&LaneRecord> {
        self.lane.as_ref().filter(|lane| lane.state == LaneState::Held)
    }
}
