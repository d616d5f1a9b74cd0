//! How many messages the sessions have, and how they arrive.

/// The rates of the sessions, as far as the number of equal IDs depends on them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sessions {
    /// Messages per second in all.
    pub rate: f64,
    /// The sum of the squares of the rates.
    pub squares: f64,
    /// The rate of the busiest session.
    pub busiest: f64,
}

impl Sessions {
    /// Distributes `rate` messages per second over `count` sessions.
    ///
    /// The first sessions have the rates of `busiest`. Of the others, the one of rank k has a share in proportion to
    /// k^-`zipf`, and at most the least rate of `busiest`. With 0 all have the same rate.
    ///
    /// # Errors
    /// No traffic has such rates: there are more busy sessions than sessions, they have more messages than there are, or the other
    /// sessions would have to be busier than they are.
    pub fn new(count: f64, zipf: f64, busiest: &[f64], rate: f64) -> Result<Self, String> {
        let ranks = busiest.len() as f64;
        let listed: f64 = busiest.iter().sum();
        if ranks > count {
            return Err(format!("expected at most {count} rooms, found {ranks} busy ones"));
        }
        // The sum of rates that a person has typed need not be exact.
        if listed > rate * (1.0 + 1e-9) {
            return Err(format!("expected at most {rate} messages per second, found {listed} in the busiest rooms"));
        }
        let limit = busiest.iter().copied().fold(f64::INFINITY, f64::min);
        let most = listed + if count > ranks { (count - ranks) * limit } else { 0.0 };
        if most < rate * (1.0 - 1e-9) {
            return Err(format!("expected at most {most} messages per second with no room busier, found {rate}"));
        }
        // With `full` sessions at the limit, the one of rank k after them has `share(full) * k^-zipf`.
        let share = |full: f64| {
            let rest = (rate - listed - limited(full - ranks, limit)).max(0.0);
            if full < count { rest / power_sum(full, count, zipf) } else { 0.0 }
        };
        let is_below_limit = |full: f64| share(full) * (full + 1.0).powf(-zipf) <= limit;
        let (mut low, mut high) = (ranks, count);
        while low < high {
            let middle = f64::midpoint(low, high).floor();
            if is_below_limit(middle) {
                high = middle;
            } else {
                low = middle + 1.0;
            }
        }
        let (full, share) = (low, share(low));
        let squares = busiest.iter().map(|rate| rate * rate).sum::<f64>()
            + limited(full - ranks, limit * limit)
            + share * share * if full < count { power_sum(full, count, 2.0 * zipf) } else { 0.0 };
        let first = if full > ranks { limit } else { share * (ranks + 1.0).powf(-zipf) };
        let busiest = busiest.iter().copied().fold(if ranks < count { first } else { 0.0 }, f64::max);
        Ok(Self { rate, squares, busiest })
    }
}

/// Returns the total rate of `count` sessions at a limit, even if there are none and no limit.
fn limited(count: f64, limit: f64) -> f64 {
    if count > 0.0 { count * limit } else { 0.0 }
}

/// Returns the sum of k^-s for k from `after + 1` to `last`.
fn power_sum(after: f64, last: f64, s: f64) -> f64 {
    // So many terms are added one by one. For the rest the formula of Euler and Maclaurin is exact to 12 digits.
    const TERMS: f64 = 1_000.0;
    let (mut sum, mut k) = (0.0, after + 1.0);
    while k <= last && k <= after + TERMS {
        sum += k.powf(-s);
        k += 1.0;
    }
    if k > last {
        return sum;
    }
    let exponent = 1.0 - s;
    let log = (last / k).ln();
    let integral = if exponent.abs() < 1e-12 { log } else { k.powf(exponent) * (exponent * log).exp_m1() / exponent };
    let ends = f64::midpoint(k.powf(-s), last.powf(-s));
    let slopes = s / 12.0 * (k.powf(-s - 1.0) - last.powf(-s - 1.0));
    sum + integral + ends + slopes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() <= expected.abs() * 1e-9, "{found}, not {expected}");
    }

    #[test]
    fn a_power_sum_is_the_sum_of_its_terms() {
        for s in [0.0, 0.5, 1.0, 1.000_001, 2.0, 3.7] {
            for (after, last) in [(0.0, 1.0), (0.0, 999.0), (0.0, 1_001.0), (3.0, 50_000.0), (20_000.0, 300_000.0)] {
                let mut sum = 0.0;
                let mut k = last;
                while k > after {
                    sum += f64::powf(k, -s);
                    k -= 1.0;
                }
                near(power_sum(after, last, s), sum);
            }
        }
        near(power_sum(0.0, 1e12, 1.0), 1e12_f64.ln() + 0.577_215_664_901_532_9 + 5e-13);
    }

    #[test]
    fn the_rates_of_all_sessions_are_the_rate() {
        // The rates one by one, with the limit found by trying each number of sessions at it.
        let direct = |count: usize, zipf: f64, busiest: &[f64], rate: f64| {
            let limit = busiest.iter().copied().fold(f64::INFINITY, f64::min);
            let rank = |k: usize| (k as f64).powf(-zipf);
            for full in busiest.len()..=count {
                let top: f64 = busiest.iter().sum::<f64>() + (busiest.len()..full).map(|_| limit).sum::<f64>();
                let share = (rate - top) / (full + 1..=count).map(rank).sum::<f64>();
                if full == count || share * rank(full + 1) <= limit {
                    let mut rates = busiest.to_vec();
                    rates.extend((busiest.len()..full).map(|_| limit));
                    rates.extend((full + 1..=count).map(|k| share * rank(k)));
                    return rates;
                }
            }
            unreachable!()
        };
        for (count, zipf, busiest, rate) in [
            (1, 0.0, &[][..], 7.0),
            (10, 0.0, &[], 5.0),
            (2_000, 1.0, &[], 100.0),
            (2_000, 1.0, &[3.0], 100.0),
            (2_000, 1.0, &[90.0], 100.0),
            (2_000, 1.3, &[9.0, 4.0, 0.5], 100.0),
            (50, 0.0, &[10.0], 20.0),
            (3, 0.0, &[3.0, 2.0, 1.0], 6.0),
        ] {
            let rates = direct(count, zipf, busiest, rate);
            near(rates.iter().sum(), rate);
            let sessions = Sessions::new(count as f64, zipf, busiest, rate).unwrap();
            near(sessions.squares, rates.iter().map(|rate| rate * rate).sum());
            near(sessions.busiest, rates.iter().copied().fold(0.0, f64::max));
        }
    }

    #[test]
    fn rates_that_do_not_fit_are_errors() {
        let error = |count, busiest: &[f64], rate| Sessions::new(count, 1.0, busiest, rate).unwrap_err();
        assert_eq!(error(1.0, &[1.0, 2.0], 3.0), "expected at most 1 rooms, found 2 busy ones");
        let expected = "expected at most 5 messages per second, found 6 in the busiest rooms";
        assert_eq!(error(9.0, &[4.0, 2.0], 5.0), expected);
        let expected = "expected at most 12 messages per second with no room busier, found 15";
        assert_eq!(error(3.0, &[4.0], 15.0), expected);
    }
}
