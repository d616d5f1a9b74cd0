//! How often IDs repeat, for each kind of deployment, and what to do about it.

use super::repeats::{MODES, Mode, Pairs, YEAR_S, probability};
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

/// A kind of deployment.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Row {
    /// Which host mints for a session.
    pub mode: Mode,
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
        let row = |mode: &Mode| Row {
            mode: *mode,
            equal_ids: pairs.equal_ids(*mode, hosts),
            condition: mode
                .condition()
                .or((hosts == 1 && *mode != Mode::Uuid7).then_some("while one process mints all IDs")),
            one_a_year_at: pairs.growth_to_one_a_year(*mode, hosts).map(|growth| growth * sessions.rate),
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

    /// Returns the deployment that repeats no ID and costs the least.
    pub fn recommended(&self) -> Mode {
        if self.hosts == 1 { Mode::AnyHost } else { Mode::RoomLock }
    }
}

impl Row {
    /// Returns the expected pairs of equal IDs per year.
    pub fn per_year(&self) -> f64 {
        self.equal_ids * YEAR_S
    }

    /// Returns the probability of at least one pair in a year.
    pub fn probability_in_a_year(&self) -> f64 {
        probability(self.equal_ids, YEAR_S)
    }
}
