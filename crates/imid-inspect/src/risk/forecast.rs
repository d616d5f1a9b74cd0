//! How often IDs repeat, for each kind of deployment, and what to do about it.

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

/// A kind of deployment: its name, what must hold so that no ID repeats, and the pairs that get equal IDs: of all [`Pairs`], and the
/// probability that two hosts mint the IDs of a pair with one spin.
type Mode = (&'static str, Option<&'static str>, fn(Pairs, f64) -> f64);

/// The deployment whose IDs are UUIDs of version 7 with 74 random bits.
const UUID_7: &str = "UUIDv7 instead";

/// The deployments, those that can repeat IDs first. The first one has no owner of a session: a stateless service behind a balancer.
const MODES: [Mode; 6] = [
    ("any host", None, |pairs, meet| (pairs.independent + pairs.of_two / HASHES) * meet),
    // A sticky balancer, or a message broker with the name as its key.
    ("by session name", None, |pairs, meet| pairs.of_two / HASHES * meet),
    (UUID_7, None, |pairs, _| (pairs.independent + pairs.of_two) / UUID_RANDOM),
    ("by session.shard", Some("while one process at a time owns a shard"), |_, _| 0.0),
    // A transaction locks the session's row and reads its last ID.
    ("under a room lock", Some("while each ID follows the last one of its locked room"), |_, _| 0.0),
    ("imid-lease", Some("while the store keeps what it acknowledges"), |_, _| 0.0),
];

/// Pairs of messages that share a millisecond, per second, whichever hosts mint their IDs. They grow with the square of the rate.
#[derive(Clone, Copy, Debug)]
struct Pairs {
    /// Messages of one session, which arrive independently.
    independent: f64,
    /// Messages of two sessions.
    of_two: f64,
}

/// How often IDs repeat, for several kinds of deployment.
#[derive(Clone, Debug)]
pub struct Forecast {
    /// Number of hosts.
    pub hosts: u32,
    /// The rates.
    pub sessions: Sessions,
    /// The deployments, those with the most equal IDs first.
    pub rows: Vec<Row>,
}

/// A kind of deployment: which host mints for a session.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Row {
    /// The name.
    pub title: &'static str,
    /// Expected pairs of equal IDs per second.
    pub equal_ids: f64,
    /// What must hold so that no ID repeats, or `None` if IDs can repeat.
    pub condition: Option<&'static str>,
    /// Messages per second at which one pair per year is expected; `None` if no pair is possible.
    pub one_a_year_at: Option<f64>,
}

impl Forecast {
    /// Computes how often this number of hosts repeats IDs.
    pub fn new(hosts: u32, sessions: Sessions) -> Self {
        // r² / 2 × 1 ms.
        let pairs = |squares: f64| squares / 2.0 * MILLISECOND_S;
        let (rate, squares) = (sessions.rate, sessions.squares);
        let pairs = Pairs { independent: pairs(squares), of_two: pairs((rate * rate - squares).max(0.0)) };
        // Two hosts mint the IDs of a pair with probability 1 - 1/hosts.
        let meet = (1.0 - 1.0 / f64::from(hosts)) / SPINS;
        let row = |(title, condition, equal_ids): &Mode| {
            let equal_ids = equal_ids(pairs, meet);
            let of_one = (hosts == 1 && *title != UUID_7).then_some("while one process mints all IDs");
            // The pairs grow with the square of all rates.
            let growth = (equal_ids * YEAR_S).sqrt().recip();
            let one_a_year_at = growth.is_finite().then_some(growth * rate);
            Row { title, equal_ids, condition: condition.or(of_one), one_a_year_at }
        };
        let mut rows: Vec<_> = MODES.iter().map(row).collect();
        // The sort is stable, so the modes without equal IDs keep their order.
        rows.sort_by(|a, b| b.equal_ids.total_cmp(&a.equal_ids));
        Self { hosts, sessions, rows }
    }

    /// Returns the bits of a lane: two lanes for each host, because old and new processes overlap in a deployment.
    pub fn lane_bits(&self) -> u32 {
        (2 * self.hosts).next_power_of_two().ilog2().min(12)
    }

    /// Returns how many IDs a host mints in a millisecond, per stripe.
    pub fn ids_per_ms(&self) -> u32 {
        4_096 >> self.lane_bits()
    }

    /// Returns how many stripes a host needs, if each is at most half full.
    pub fn stripes(&self) -> f64 {
        let needed = self.sessions.rate / f64::from(self.hosts) / 1_000.0 / f64::from(self.ids_per_ms()) * 2.0;
        needed.ceil().max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(hosts: u32, rate: f64) -> Vec<Row> {
        Forecast::new(hosts, Sessions::new(1e3, 1.0, &[], rate).unwrap()).rows
    }

    #[test]
    fn at_the_rate_of_one_a_year_one_pair_is_expected() {
        for row in rows(4, 200.0).into_iter().filter(|row| row.one_a_year_at.is_some()) {
            let grown = rows(4, row.one_a_year_at.unwrap()).into_iter().find(|grown| grown.title == row.title).unwrap();
            assert!((grown.equal_ids * YEAR_S - 1.0).abs() < 1e-9, "{grown:?}");
        }
        let can_repeat = |hosts| rows(hosts, 200.0).iter().filter(|row| row.one_a_year_at.is_some()).count();
        assert_eq!([can_repeat(1), can_repeat(4)], [1, 3]);
    }

    fn near(found: f64, expected: f64, digits: f64) {
        assert!((found / expected - 1.0).abs() < digits, "{found}, not {expected}");
    }

    fn equal_ids(sessions: Sessions, title: &str, hosts: u32) -> f64 {
        Forecast::new(hosts, sessions).rows.iter().find(|row| row.title == title).unwrap().equal_ids
    }

    #[test]
    fn the_numbers_of_the_documents() {
        // One room on 8 hosts: 1, 10 and 100 messages per second.
        let one_room = |rate| Sessions::new(1.0, 0.0, &[], rate).unwrap();
        let per_second = |rate| equal_ids(one_room(rate), "any host", 8);
        near(per_second(1.0) * YEAR_S, 3.371, 1e-3);
        near(1.0 / per_second(10.0) / 3_600.0, 26.0, 1e-2);
        near(1.0 / per_second(100.0) / 60.0, 15.6, 1e-2);
        // 100,000 per second in all, of rooms without number: those that share a hash.
        let sessions = Sessions::new(1e9, 0.0, &[], 1e5).unwrap();
        near(1.0 / equal_ids(sessions, "by session name", 8) / 60.0, 65.4, 1e-2);
        // 1,000,000 UUIDs per second.
        near(equal_ids(one_room(1e6), UUID_7, 8) * YEAR_S, 8.35e-7, 1e-2);
    }

    #[test]
    fn one_host_and_the_modes_that_are_unique_have_no_pair() {
        let busy = Sessions::new(1e3, 0.0, &[], 1e9).unwrap();
        for title in ["by session.shard", "under a room lock", "imid-lease"] {
            assert!(equal_ids(busy, title, 64) <= 0.0);
        }
        for title in ["any host", "by session name"] {
            assert!(equal_ids(busy, title, 1) <= 0.0);
            assert!(equal_ids(busy, title, 2) > 0.0);
        }
        assert!(equal_ids(busy, UUID_7, 1) > 0.0);
    }
}
