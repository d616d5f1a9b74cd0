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

/// Which host mints for a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Any of them: a stateless service behind a balancer.
    AnyHost,
    /// One, chosen by the session's name: a sticky balancer, or a message broker with the name as its key.
    ByName,
    /// One, chosen by the session's type and hash.
    ByShard,
    /// Any, in a transaction that has locked the session's row and reads its last ID.
    RoomLock,
    /// Any, and each has a lease of a lane.
    Lease,
    /// Any, and the IDs are UUIDs of version 7 with 74 random bits.
    Uuid7,
}

/// The modes, those that can repeat IDs first.
pub(super) const MODES: [Mode; 6] =
    [Mode::AnyHost, Mode::ByName, Mode::Uuid7, Mode::ByShard, Mode::RoomLock, Mode::Lease];

impl Mode {
    /// The names for programs and for people, and what must hold so that no ID repeats.
    const fn words(self) -> (&'static str, &'static str, Option<&'static str>) {
        match self {
            Self::AnyHost => ("any", "any host", None),
            Self::ByName => ("name", "by session name", None),
            Self::ByShard => ("shard", "by session.shard", Some("while one process at a time owns a shard")),
            Self::RoomLock => {
                ("lock", "under a room lock", Some("while each ID follows the last one of its locked room"))
            }
            Self::Lease => ("lease", "imid-lease", Some("while the store keeps what it acknowledges")),
            Self::Uuid7 => ("uuidv7", "UUIDv7 instead", None),
        }
    }

    /// Returns the name, for programs.
    pub const fn name(self) -> &'static str {
        self.words().0
    }

    /// Returns the name, for people.
    pub const fn title(self) -> &'static str {
        self.words().1
    }

    /// Returns what must hold so that no ID repeats, or `None` if IDs can repeat on several hosts.
    pub const fn condition(self) -> Option<&'static str> {
        self.words().2
    }
}

/// Pairs of messages that share a millisecond, per second, whichever hosts mint their IDs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Pairs {
    /// Messages of one session, which arrive independently. The number grows with the square of the rate.
    independent: f64,
    /// Messages of two sessions. The number grows with the square of the rate.
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

    /// Returns the equal IDs per second: pairs of messages that get the same ID.
    ///
    /// Two hosts mint the IDs of a pair with probability 1 - 1/hosts. [`Mode::ByShard`], [`Mode::RoomLock`] and
    /// [`Mode::Lease`] have no such pair while their conditions hold.
    pub(super) fn equal_ids(self, mode: Mode, hosts: u32) -> f64 {
        let two_hosts = (1.0 - 1.0 / f64::from(hosts)) / SPINS;
        match mode {
            Mode::AnyHost => (self.independent + self.of_two / HASHES) * two_hosts,
            Mode::ByName => self.of_two / HASHES * two_hosts,
            Mode::ByShard | Mode::RoomLock | Mode::Lease => 0.0,
            Mode::Uuid7 => (self.independent + self.of_two) / UUID_RANDOM,
        }
    }

    /// Returns by how much all rates have to grow until one pair of equal IDs per year is expected. `None` if no pair is
    /// possible.
    pub(super) fn growth_to_one_a_year(self, mode: Mode, hosts: u32) -> Option<f64> {
        let growth = (self.equal_ids(mode, hosts) * YEAR_S).sqrt().recip();
        growth.is_finite().then_some(growth)
    }
}

/// Returns the probability of at least one event in this time. Events are independent.
pub(super) fn probability(events_per_second: f64, seconds: f64) -> f64 {
    -(-events_per_second * seconds).exp_m1()
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

    #[test]
    fn the_numbers_of_the_documents() {
        // One room on 8 hosts: 1, 10 and 100 messages per second.
        let per_year = |rate| one_room(rate).equal_ids(Mode::AnyHost, 8) * YEAR_S;
        near(per_year(1.0), 3.371, 1e-3);
        near(1.0 / one_room(10.0).equal_ids(Mode::AnyHost, 8) / 3_600.0, 26.0, 1e-2);
        near(1.0 / one_room(100.0).equal_ids(Mode::AnyHost, 8) / 60.0, 15.6, 1e-2);
        // 100,000 per second in all, of rooms without number: those that share a hash.
        let sessions = Sessions::new(1e9, 0.0, &[], 1e5).unwrap();
        near(1.0 / Pairs::expected(&sessions).equal_ids(Mode::ByName, 8) / 60.0, 65.4, 1e-2);
        // 1,000,000 UUIDs per second.
        let uuids = one_room(1e6).equal_ids(Mode::Uuid7, 8) * YEAR_S;
        near(uuids, 8.35e-7, 1e-2);
    }

    #[test]
    fn one_host_and_the_modes_that_are_unique_have_no_pair() {
        let pairs = Pairs { independent: 1e9, of_two: 1e12 };
        for mode in [Mode::ByShard, Mode::RoomLock, Mode::Lease] {
            assert_eq!((pairs.equal_ids(mode, 64), pairs.growth_to_one_a_year(mode, 64)), (0.0, None));
        }
        for mode in [Mode::AnyHost, Mode::ByName] {
            assert_eq!((pairs.equal_ids(mode, 1), pairs.growth_to_one_a_year(mode, 1)), (0.0, None));
            assert!(pairs.equal_ids(mode, 2) > 0.0);
        }
        assert!(pairs.equal_ids(Mode::Uuid7, 1) > 0.0);
    }

    #[test]
    fn the_growth_leads_to_one_a_year() {
        for pairs in [Pairs { independent: 2.0, of_two: 5.0 }, Pairs { independent: 1e-9, of_two: 1e-20 }] {
            let x = pairs.growth_to_one_a_year(Mode::AnyHost, 4).unwrap();
            let grown = Pairs { independent: pairs.independent * x * x, of_two: pairs.of_two * x * x };
            near(grown.equal_ids(Mode::AnyHost, 4) * YEAR_S, 1.0, 1e-9);
        }
    }

    #[test]
    fn a_probability_is_at_most_one() {
        near(probability(1e-9, 1.0), 1e-9, 1e-6);
        near(probability(1.0, 1.0), 0.632_120_558, 1e-6);
        near(probability(1e3, YEAR_S), 1.0, 1e-12);
    }
}
