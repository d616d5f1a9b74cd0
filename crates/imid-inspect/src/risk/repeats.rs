//! From pairs of messages in one millisecond to equal IDs.

use super::traffic::Sessions;

/// The seconds in a year of 365.25 days.
pub const YEAR_S: f64 = 31_557_600.0;

/// The time that two equal IDs have in common, in seconds.
const MILLISECOND_S: f64 = 1e-3;

/// Number of spins: 12 bits. Seeded starts are unrelated, so two IDs of one session and millisecond that two hosts mint
/// have the same spin with a probability of 1 in this number.
const SPINS: f64 = 4_096.0;

/// Number of session hashes: 22 bits. Two sessions of one type share a hash with a probability of 1 in this number.
const HASHES: f64 = 4_194_304.0;

/// `UUIDv7` with all of its free bits random: 12 of `rand_a` and 62 of `rand_b` (RFC 9562, 5.7).
const UUID_RANDOM: f64 = (1_u128 << 74) as f64;

/// A kind of deployment: its name for programs and for people, what must hold so that no ID repeats, and the pairs that get equal
/// IDs: of all [`Pairs`], and the probability that two hosts mint the IDs of a pair with one spin.
pub(super) type Mode = (&'static str, &'static str, Option<&'static str>, fn(Pairs, f64) -> f64);

/// The name of the deployment without an owner of a session: a stateless service behind a balancer.
pub(super) const ANY_HOST: &str = "any";

/// The name of the deployment in which a transaction locks the session's row and reads its last ID.
pub(super) const ROOM_LOCK: &str = "lock";

/// The name of the deployment whose IDs are UUIDs of version 7 with 74 random bits.
pub(super) const UUID_7: &str = "uuidv7";

/// The deployments, those that can repeat IDs first.
pub(super) const MODES: [Mode; 6] = [
    (ANY_HOST, "any host", None, |pairs, meet| (pairs.independent + pairs.of_two / HASHES) * meet),
    // A sticky balancer, or a message broker with the name as its key.
    ("name", "by session name", None, |pairs, meet| pairs.of_two / HASHES * meet),
    (UUID_7, "UUIDv7 instead", None, |pairs, _| (pairs.independent + pairs.of_two) / UUID_RANDOM),
    ("shard", "by session.shard", Some("while one process at a time owns a shard"), |_, _| 0.0),
    (ROOM_LOCK, "under a room lock", Some("while each ID follows the last one of its locked room"), |_, _| 0.0),
    ("lease", "imid-lease", Some("while the store keeps what it acknowledges"), |_, _| 0.0),
];

/// Pairs of messages that share a millisecond, per second, whichever hosts mint their IDs. They grow with the square of the rate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Pairs {
    /// Messages of one session, which arrive independently.
    independent: f64,
    /// Messages of two sessions.
    of_two: f64,
}

impl Pairs {
    /// Returns the pairs of this traffic: r² / 2 × 1 ms.
    pub(super) fn expected(sessions: &Sessions) -> Self {
        let (rate, squares) = (sessions.rate, sessions.squares);
        Self {
            independent: squares / 2.0 * MILLISECOND_S,
            of_two: (rate * rate - squares).max(0.0) / 2.0 * MILLISECOND_S,
        }
    }

    /// Returns the equal IDs per second: pairs of messages that get the same ID. Two hosts mint the IDs of a pair with probability
    /// 1 - 1/hosts.
    pub(super) fn equal_ids(self, mode: &Mode, hosts: u32) -> f64 {
        (mode.3)(self, (1.0 - 1.0 / f64::from(hosts)) / SPINS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64, digits: f64) {
        assert!((found / expected - 1.0).abs() < digits, "{found}, not {expected}");
    }

    fn one_room(rate: f64) -> Pairs {
        Pairs::expected(&Sessions::new(1.0, 0.0, &[], rate).unwrap())
    }

    fn equal_ids(pairs: Pairs, name: &str, hosts: u32) -> f64 {
        pairs.equal_ids(MODES.iter().find(|mode| mode.0 == name).unwrap(), hosts)
    }

    #[test]
    fn the_numbers_of_the_documents() {
        // One room on 8 hosts: 1, 10 and 100 messages per second.
        let per_year = |rate| equal_ids(one_room(rate), "any", 8) * YEAR_S;
        near(per_year(1.0), 3.371, 1e-3);
        near(1.0 / equal_ids(one_room(10.0), "any", 8) / 3_600.0, 26.0, 1e-2);
        near(1.0 / equal_ids(one_room(100.0), "any", 8) / 60.0, 15.6, 1e-2);
        // 100,000 per second in all, of rooms without number: those that share a hash.
        let sessions = Sessions::new(1e9, 0.0, &[], 1e5).unwrap();
        near(1.0 / equal_ids(Pairs::expected(&sessions), "name", 8) / 60.0, 65.4, 1e-2);
        // 1,000,000 UUIDs per second.
        near(equal_ids(one_room(1e6), "uuidv7", 8) * YEAR_S, 8.35e-7, 1e-2);
    }

    #[test]
    fn one_host_and_the_modes_that_are_unique_have_no_pair() {
        let pairs = Pairs { independent: 1e9, of_two: 1e12 };
        for name in ["shard", "lock", "lease"] {
            assert!(equal_ids(pairs, name, 64) <= 0.0);
        }
        for name in ["any", "name"] {
            assert!(equal_ids(pairs, name, 1) <= 0.0);
            assert!(equal_ids(pairs, name, 2) > 0.0);
        }
        assert!(equal_ids(pairs, "uuidv7", 1) > 0.0);
    }
}
