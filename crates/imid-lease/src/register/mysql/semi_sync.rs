//! Semi-synchronous replication: whether a commit waited until a replica had it. The server answers success in either case.

use std::collections::HashMap;

use mysql_async::Conn;
use mysql_async::prelude::Queryable;

use crate::register::remote::{Failure, Weakness};

pub(super) const SWITCHED_OFF: &str = "semi-synchronous replication was switched off while this process was connected, so \
    commits that waited for a replica were acknowledged without one";

/// The names of MySQL 8.0.26 and later have `source` where those of MariaDB and older ones have `master`.
const STATUS: &str = "SHOW GLOBAL STATUS WHERE Variable_name IN ('Rpl_semi_sync_master_status', \
    'Rpl_semi_sync_source_status', 'Rpl_semi_sync_master_no_tx', 'Rpl_semi_sync_source_no_tx', 'Slaves_connected')";
const ENABLED: &str =
    "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('rpl_semi_sync_master_enabled', 'rpl_semi_sync_source_enabled')";

/// How the server replicates.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct SemiSync {
    is_enabled: bool,
    /// Commits wait for a replica. A server that has waited for too long stops waiting.
    pub(super) is_on: bool,
    /// How many commits have not waited until a replica had them. The server forgets the number with its log.
    unacknowledged: u64,
    /// How many replicas are connected. MySQL shows this only to users with more privileges.
    replicas: u64,
}

impl SemiSync {
    pub(super) async fn read(conn: &mut Conn) -> Result<Self, Failure> {
        let mut found: Vec<(String, String)> = conn.query(ENABLED).await?;
        found.extend(conn.query::<(String, String), _>(STATUS).await?);
        Ok(Self::of(found))
    }

    fn of(found: Vec<(String, String)>) -> Self {
        let found: HashMap<_, _> =
            found.into_iter().map(|(name, value)| (name.to_lowercase().replace("master", "source"), value)).collect();
        let is_on = |name: &str| found.get(name).is_some_and(|value| value.eq_ignore_ascii_case("ON") || value == "1");
        let count = |name: &str| found.get(name).and_then(|value| value.parse().ok()).unwrap_or(0);
        let is_enabled = is_on("rpl_semi_sync_source_enabled");
        Self {
            is_enabled,
            is_on: is_enabled && is_on("rpl_semi_sync_source_status"),
            unacknowledged: count("rpl_semi_sync_source_no_tx"),
            replicas: count("slaves_connected"),
        }
    }

    /// Refuses the answer of a write that no replica has confirmed, from what was read before and after it.
    pub(super) fn check(before: Self, after: Self) -> Result<(), Failure> {
        if before.is_on && !after.is_on {
            // The writes that follow are on this server alone too.
            return Err(Weakness(SWITCHED_OFF).into());
        }
        if before.is_on && before.unacknowledged != after.unacknowledged {
            return Err("the server has acknowledged a commit that no replica has confirmed".into());
        }
        Ok(())
    }

    /// Returns why a failover can lose what is acknowledged now.
    pub(super) fn weakness(self) -> Option<String> {
        match self.replicas {
            _ if self.is_on => None,
            _ if self.is_enabled => Some(
                "semi-synchronous replication has waited for a replica for too long and is off now, so a failover can lose \
                 acknowledged writes"
                    .into(),
            ),
            0 => None,
            replicas => Some(format!(
                "semi-synchronous replication is off, so a failover to one of the {replicas} replicas can lose acknowledged \
                 writes"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(source: &str, enabled: &str, status: &str, no_tx: &str, replicas: &str) -> SemiSync {
        let name = |rest: &str| format!("pl_semi_sync_{source}_{rest}");
        SemiSync::of(vec![
            (format!("r{}", name("enabled")), enabled.into()),
            (format!("R{}", name("status")), status.into()),
            (format!("R{}", name("no_tx")), no_tx.into()),
            ("Slaves_connected".into(), replicas.into()),
        ])
    }

    #[test]
    fn a_commit_is_acknowledged_if_all_have_waited_for_a_replica() {
        for source in ["master", "source"] {
            let on = read(source, "ON", "ON", "7", "2");
            assert!(on.is_on);
            let is_weak = |after| SemiSync::check(on, after).unwrap_err().is::<Weakness>();
            assert!(SemiSync::check(on, on).is_ok());
            assert!(!is_weak(read(source, "ON", "ON", "8", "2")));
            assert!(!is_weak(read(source, "ON", "ON", "0", "2")), "the log is new");
            assert!(is_weak(read(source, "ON", "OFF", "7", "2")));
            let off = read(source, "OFF", "OFF", "7", "2");
            assert!(is_weak(off));
            assert!(SemiSync::check(off, off).is_ok(), "it is weak already, or has no replicas");
        }
    }

    #[test]
    fn who_does_not_wait_for_its_replicas_is_weak() {
        assert_eq!(SemiSync::of(Vec::new()).weakness(), None);
        assert_eq!(read("master", "OFF", "OFF", "0", "0").weakness(), None);
        assert_eq!(read("master", "ON", "ON", "3", "2").weakness(), None);
        let words = |found: SemiSync| found.weakness().unwrap();
        assert!(words(read("source", "ON", "OFF", "3", "0")).contains("is off now"));
        assert!(words(read("master", "OFF", "OFF", "0", "2")).contains("one of the 2 replicas"));
    }
}
