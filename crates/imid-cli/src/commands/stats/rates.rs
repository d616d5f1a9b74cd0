//! Counts IDs by time, in bounded memory.

use std::collections::BTreeMap;

/// The most intervals that are counted.
const MAX_INTERVALS: usize = 1 << 13;

/// Numbers of IDs in intervals of equal length. Intervals without IDs take no memory.
pub(super) struct Rates {
    /// The length of an interval in seconds: a power of two.
    seconds: u64,
    /// The IDs of each interval, by the start of the interval in its own length.
    intervals: BTreeMap<u64, u64>,
    /// The interval of the last ID, and its IDs that are not in the map yet. Most IDs have the interval of the one before.
    present: (u64, u64),
}

/// A part of the time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Column {
    pub(super) start_ms: u64,
    pub(super) ids_per_second: f64,
}

/// The rates in columns of equal length.
#[derive(PartialEq, Debug)]
pub(super) struct Columns {
    pub(super) seconds: u64,
    pub(super) columns: Vec<Column>,
}

impl Default for Rates {
    fn default() -> Self {
        Self { seconds: 1, intervals: BTreeMap::new(), present: (0, 0) }
    }
}

impl Rates {
    /// Counts an ID of this time.
    pub(super) fn add(&mut self, unix_ms: u64) {
        let interval = unix_ms / 1_000 / self.seconds;
        if interval == self.present.0 {
            self.present.1 += 1;
            return;
        }
        self.add_present();
        // The intervals can be longer now.
        self.present = (unix_ms / 1_000 / self.seconds, 1);
    }

    /// Adds the present interval to the map.
    fn add_present(&mut self) {
        let (interval, count) = self.present;
        if count > 0 {
            *self.intervals.entry(interval).or_default() += count;
            self.present.1 = 0;
        }
        while self.intervals.len() > MAX_INTERVALS {
            self.seconds *= 2;
            for (interval, count) in std::mem::take(&mut self.intervals) {
                *self.intervals.entry(interval / 2).or_default() += count;
            }
        }
    }

    /// Returns at most this many columns from the first to the last ID.
    pub(super) fn columns(&mut self, max: u64) -> Columns {
        self.add_present();
        // So that another ID cannot be added to an interval of another length.
        self.present = (0, 0);
        let (Some((first, _)), Some((last, _))) = (self.intervals.first_key_value(), self.intervals.last_key_value())
        else {
            return Columns { seconds: self.seconds, columns: Vec::new() };
        };
        let span = last - first + 1;
        let per_column = span.div_ceil(max);
        let seconds = per_column * self.seconds;
        let mut counts = vec![0; span.div_ceil(per_column) as usize];
        for (interval, count) in &self.intervals {
            counts[((interval - first) / per_column) as usize] += count;
        }
        let column = |(index, count): (usize, u64)| Column {
            start_ms: (first + index as u64 * per_column) * self.seconds * 1_000,
            ids_per_second: ratio(count, seconds),
        };
        Columns { seconds, columns: counts.into_iter().enumerate().map(column).collect() }
    }

    /// Returns the interval with the most IDs, and the length of an interval.
    pub(super) fn peak(&mut self) -> Option<(Column, u64)> {
        self.add_present();
        let peak = self.intervals.iter().max_by_key(|(interval, count)| (**count, u64::MAX - **interval))?;
        let ids_per_second = ratio(*peak.1, self.seconds);
        Some((Column { start_ms: peak.0 * self.seconds * 1_000, ids_per_second }, self.seconds))
    }
}

/// Returns the ratio of two counts, or 0 if the second one is 0.
#[expect(clippy::cast_precision_loss, reason = "counts below 2^53 are exact, and larger ones nearly so")]
pub(super) fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: u64 = 1_763_640_000_000;

    fn rates(times: impl IntoIterator<Item = u64>) -> Rates {
        let mut rates = Rates::default();
        times.into_iter().for_each(|ms| rates.add(ms));
        rates
    }

    fn column(start_ms: u64, ids_per_second: f64) -> Column {
        Column { start_ms, ids_per_second }
    }

    #[test]
    fn ids_are_counted_by_second_in_any_order() {
        let mut rates = rates([NOON + 2_999, NOON, NOON + 2_000, NOON + 1, NOON + 2_001]);
        let columns = vec![column(NOON, 2.0), column(NOON + 1_000, 0.0), column(NOON + 2_000, 3.0)];
        assert_eq!(rates.columns(3), Columns { seconds: 1, columns });
        let columns = vec![column(NOON, 1.0), column(NOON + 2_000, 1.5)];
        assert_eq!(rates.columns(2), Columns { seconds: 2, columns });
        assert_eq!(rates.peak(), Some((column(NOON + 2_000, 3.0), 1)));
    }

    #[test]
    fn no_id_is_no_column() {
        assert_eq!(Rates::default().columns(9), Columns { seconds: 1, columns: Vec::new() });
        assert_eq!(Rates::default().peak(), None);
    }

    #[test]
    fn memory_is_bounded_and_no_id_is_lost_over_all_times() {
        // 100,000 seconds of the whole range of times, in mixed order.
        let times = (0..100_000_u64).map(|n| n * 61_111 % 100_000 * 43_980_465);
        let mut rates = rates(times);
        assert!(rates.intervals.len() <= MAX_INTERVALS);
        let columns = rates.columns(60);
        assert!(columns.columns.len() <= 60);
        let sum: f64 = columns.columns.iter().map(|column| column.ids_per_second / ratio(1, columns.seconds)).sum();
        assert!((sum - 100_000.0).abs() < 1e-6, "{sum}");
        assert!(columns.columns.iter().all(|column| column.ids_per_second > 0.0));
    }
}
