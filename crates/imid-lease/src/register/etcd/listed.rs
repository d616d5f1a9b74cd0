//! The last list, so that the next one transfers only what has changed since.
//!
//! The JSON gateway spends about 10 µs on each record. A fleet that starts after a crash lists all lanes several times per process,
//! and most of them have not changed in between.
//!
//! etcd says how many records there are, also where it leaves out those that are older than a revision. What was known and what
//! has changed since then is all that there is, and perhaps records that were deleted. With as many as etcd counts, none was.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde::Deserialize;

/// For how long a list is the base of the next one. etcd can be restored from a snapshot, and then counts revisions again that it
/// has had. A restart is seen, by the term or by a connection that is refused. This is for what would not be.
const LONGEST: Duration = Duration::from_secs(10);

/// Where a reply comes from. The gateway writes 64 bits as texts, and leaves zeros out.
#[derive(Deserialize, Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Header {
    #[serde(default)]
    cluster_id: String,
    #[serde(default)]
    raft_term: String,
    #[serde(default)]
    revision: String,
}

/// The records of a reply, and how many there are in all.
pub(super) struct Records {
    pub(super) header: Header,
    pub(super) count: usize,
    pub(super) pairs: Vec<(String, String)>,
}

/// All records with a prefix.
pub(super) struct Listed {
    prefix: String,
    header: Header,
    revision: u64,
    /// When the call began that has confirmed them last.
    at: Instant,
    records: BTreeMap<String, String>,
}

impl Header {
    /// `None` if it is not from an etcd that counts revisions and terms.
    fn revision(&self) -> Option<u64> {
        let is_known = !self.cluster_id.is_empty() && !self.raft_term.is_empty();
        self.revision.parse().ok().filter(|_| is_known)
    }
}

impl Listed {
    /// Takes a whole list; `None` if what has changed since could not be asked for.
    pub(super) fn new(prefix: &str, at: Instant, all: Records) -> Option<Self> {
        let revision = all.header.revision()?;
        Some(Self { prefix: prefix.into(), header: all.header, revision, at, records: all.pairs.into_iter().collect() })
    }

    /// Returns the first revision that is not known; `None` if all records have to be listed.
    pub(super) fn next_revision(&self, prefix: &str, at: Instant) -> Option<u64> {
        let is_fresh = at.saturating_duration_since(self.at) < LONGEST;
        (is_fresh && self.prefix == prefix).then_some(self.revision + 1)
    }

    /// Adds what has changed. Returns all records; `None` if they could be others.
    pub(super) fn update(&mut self, at: Instant, changed: Records) -> Option<Vec<(String, String)>> {
        let revision = changed.header.revision()?;
        let is_same = self.header.cluster_id == changed.header.cluster_id
            && self.header.raft_term == changed.header.raft_term
            && self.revision <= revision;
        self.records.extend(changed.pairs);
        if !is_same || self.records.len() != changed.count {
            return None;
        }
        (self.revision, self.at) = (revision, at);
        Some(self.records.iter().map(|(key, value)| (key.clone(), value.clone())).collect())
    }

    /// Forgets a record that was found to be another one. If it has not changed since the list, the list was wrong, and the next
    /// one will count one record more.
    pub(super) fn forget(&mut self, key: &str, seen: &str) {
        if self.records.get(key).is_some_and(|known| known == seen) {
            self.records.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(cluster_id: &str, raft_term: &str, revision: u64) -> Header {
        let text = |text: &str| text.to_owned();
        Header { cluster_id: text(cluster_id), raft_term: text(raft_term), revision: revision.to_string() }
    }

    fn reply(header: Header, count: usize, pairs: &[(&str, &str)]) -> Records {
        Records { header, count, pairs: pairs.iter().map(|&(key, value)| (key.into(), value.into())).collect() }
    }

    /// The records `a` and `b` at revision 7.
    fn listed(at: Instant) -> Listed {
        Listed::new("p/", at, reply(header("1", "2", 7), 2, &[("b", "1"), ("a", "1")])).unwrap()
    }

    fn text(records: Option<Vec<(String, String)>>) -> Option<String> {
        records.map(|records| records.iter().flat_map(|(key, value)| [key.as_str(), value]).collect())
    }

    #[test]
    fn what_has_changed_is_added_if_as_many_are_counted() {
        let at = Instant::now();
        let mut listed = listed(at);
        assert_eq!(listed.next_revision("p/", at), Some(8));
        let changed = reply(header("1", "2", 9), 3, &[("b", "2"), ("c", "1")]);
        assert_eq!(text(listed.update(at, changed)).unwrap(), "a1b2c1");
        assert_eq!(listed.next_revision("p/", at), Some(10));
        assert_eq!(text(listed.update(at, reply(header("1", "2", 9), 3, &[]))).unwrap(), "a1b2c1");
        // One was deleted.
        assert_eq!(listed.update(at, reply(header("1", "2", 10), 2, &[])), None);
    }

    #[test]
    fn a_record_that_was_deleted_is_missed_although_another_was_created() {
        let at = Instant::now();
        assert_eq!(listed(at).update(at, reply(header("1", "2", 9), 2, &[("c", "1")])), None);
        // Deleted and created again, it has changed.
        assert_eq!(text(listed(at).update(at, reply(header("1", "2", 9), 2, &[("a", "2")]))).unwrap(), "a2b1");
    }

    #[test]
    fn another_cluster_another_term_and_an_earlier_revision_are_not_trusted() {
        let at = Instant::now();
        for other in [header("2", "2", 9), header("1", "3", 9), header("1", "2", 6), header("", "2", 9)] {
            assert_eq!(listed(at).update(at, reply(other.clone(), 2, &[])), None, "{other:?}");
        }
        assert!(listed(at).update(at, reply(header("1", "2", 7), 2, &[])).is_some());
        assert!(Listed::new("p/", at, reply(header("1", "", 7), 0, &[])).is_none());
    }

    #[test]
    fn a_list_is_the_base_for_its_prefix_and_for_a_while() {
        let at = Instant::now();
        let (mut listed, end) = (listed(at), at + LONGEST);
        assert_eq!(listed.next_revision("p", at), None);
        assert_eq!(listed.next_revision("p/", at + LONGEST / 2), Some(8));
        assert_eq!(listed.next_revision("p/", end), None);
        listed.update(end, reply(header("1", "2", 7), 2, &[])).unwrap();
        assert_eq!(listed.next_revision("p/", end), Some(8), "it was confirmed");
    }

    #[test]
    fn a_record_that_a_write_has_found_changed_must_be_among_the_changes() {
        let at = Instant::now();
        let (mut lost, mut restored) = (listed(at), listed(at));
        lost.forget("a", "1");
        assert_eq!(text(lost.update(at, reply(header("1", "2", 8), 2, &[("a", "2")]))).unwrap(), "a2b1");
        // The revisions of a restored etcd: its `a` is older than what was listed.
        restored.forget("a", "1");
        assert_eq!(restored.update(at, reply(header("1", "2", 8), 2, &[])), None);
        let mut newer = listed(at);
        newer.forget("a", "0");
        assert!(
            newer.update(at, reply(header("1", "2", 8), 2, &[])).is_some(),
            "the write was compared with an older one"
        );
    }
}
