//! How often IDs repeat, against the formulas worked out by hand.

use imid_inspect::risk::{Forecast, Sessions, YEAR_S};

/// Returns the equal IDs per year of hosts that each mint for all sessions.
fn any_host(hosts: u32, rooms: f64, busiest: &[f64], rate: f64) -> f64 {
    let forecast = Forecast::new(hosts, Sessions::new(rooms, 0.0, busiest, rate).unwrap());
    forecast.rows.iter().find(|row| row.title == "any host").unwrap().equal_ids * YEAR_S
}

fn near(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-6, "{found}, not {expected}");
}

#[test]
fn sessions_change_the_numbers_as_the_formulas_say() {
    assert!((YEAR_S - 31_557_600.0).abs() < 1e-9);
    let two_hosts = 0.875 / 4_096.0 * YEAR_S;
    near(any_host(8, 1.0, &[], 10.0), 100.0 / 2.0 / 1_000.0 * two_hosts);
    // A session of 6 a second and two of 2, and pairs of two sessions.
    let (same, of_two) = ((36.0 + 4.0 + 4.0) / 2e3, (100.0 - 44.0) / 2e3 / 4_194_304.0);
    near(any_host(8, 3.0, &[6.0, 2.0], 10.0), (same + of_two) * two_hosts);
}

#[test]
fn lanes_are_twice_the_hosts() {
    let forecast = Forecast::new(9, Sessions::new(1.0, 0.0, &[], 1.0).unwrap());
    assert_eq!((forecast.lane_bits(), forecast.ids_per_ms()), (5, 128));
}
