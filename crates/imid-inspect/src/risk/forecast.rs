//! How often IDs repeat, for each kind of deployment, and what to do about it.

use super::repeats::{ANY_HOST, MODES, Mode, Pairs, ROOM_LOCK, UUID_7, YEAR_S};
use super::traffic::Sessions;

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
    /// The name, for programs: `any`, `name`, `uuidv7`, `shard`, `lock` or `lease`.
    pub name: &'static str,
    /// The name, for people.
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
        let pairs = Pairs::expected(&sessions);
        let row = |mode: &Mode| {
            let (name, title, condition, _) = *mode;
            let equal_ids = pairs.equal_ids(mode, hosts);
            let of_one = (hosts == 1 && name != UUID_7).then_some("while one process mints all IDs");
            // The pairs grow with the square of all rates.
            let growth = (equal_ids * YEAR_S).sqrt().recip();
            let one_a_year_at = growth.is_finite().then_some(growth * sessions.rate);
            Row { name, title, equal_ids, condition: condition.or(of_one), one_a_year_at }
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

    /// Returns the name of the deployment that repeats no ID and costs the least.
    pub const fn recommended(&self) -> &'static str {
        if self.hosts == 1 { ANY_HOST } else { ROOM_LOCK }
    }
}

impl Row {
    /// Returns the expected pairs of equal IDs per year.
    pub fn per_year(&self) -> f64 {
        self.equal_ids * YEAR_S
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
            let grown = rows(4, row.one_a_year_at.unwrap()).into_iter().find(|grown| grown.name == row.name).unwrap();
            assert!((grown.per_year() - 1.0).abs() < 1e-9, "{grown:?}");
        }
        let can_repeat = |hosts| rows(hosts, 200.0).iter().filter(|row| row.one_a_year_at.is_some()).count();
        assert_eq!([can_repeat(1), can_repeat(4)], [1, 3]);
    }
}
