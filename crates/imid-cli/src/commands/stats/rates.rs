//! Counts IDs by time, in bounded memory, and divides the time into round intervals.

use std::collections::BTreeMap;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use jiff::civil::{Date, date};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

use crate::time::timestamp;

/// The most bins that are counted.
const MAX_BINS: usize = 1 << 18;

/// The lengths of bins in seconds. Each one divides the next. A quarter of an hour divides the offsets of all time zones.
const BINS: [u64; 5] = [1, 60, 900, 86_400, 30 * 86_400];

/// Numbers of IDs in bins of equal length. Bins without IDs take no memory.
#[derive(Default)]
pub(super) struct Rates {
    /// The length of a bin, as a place in [`BINS`].
    length: usize,
    /// The IDs of each bin, by the start of the bin in its own length.
    bins: BTreeMap<u64, u64>,
    /// The bin of the last ID, and its IDs that are not in the map yet. Most IDs have the bin of the one before.
    present: (u64, u64),
    /// The times of the first and the last ID.
    range: Option<(u64, u64)>,
}

/// The length of a column.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Interval {
    Seconds(i64),
    Days(i64),
    Months(i64),
}

/// The intervals that people read easily, from the shortest to the longest.
fn intervals() -> impl Iterator<Item = Interval> + Clone {
    const SECONDS: [i64; 17] =
        [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200];
    let days = [1, 7].map(Interval::Days);
    let months = [1, 3, 12, 60, 120, 1_200].map(Interval::Months);
    SECONDS.map(Interval::Seconds).into_iter().chain(days).chain(months)
}

/// The intervals of `--per`. A week begins on Monday.
const PER: [(&str, Interval); 7] = [
    ("second", Interval::Seconds(1)),
    ("minute", Interval::Seconds(60)),
    ("hour", Interval::Seconds(3_600)),
    ("day", Interval::Days(1)),
    ("week", Interval::Days(7)),
    ("month", Interval::Months(1)),
    ("year", Interval::Months(12)),
];

/// Reads the name of an interval.
pub(super) fn per() -> impl TypedValueParser<Value = Interval> {
    PossibleValuesParser::new(PER.map(|(name, _)| name)).map(|chosen| {
        let found = PER.iter().find(|(name, _)| name.eq_ignore_ascii_case(&chosen));
        // PANIC: clap accepts only these names.
        found.expect("a possible value is one of the intervals").1
    })
}

/// A part of the time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Column {
    pub(super) start_ms: u64,
    pub(super) end_ms: u64,
    pub(super) ids: u64,
    /// The IDs begin or end inside of it.
    pub(super) is_partial: bool,
}

impl Column {
    pub(super) fn ids_per_second(&self) -> f64 {
        ratio(self.ids, self.end_ms - self.start_ms) * 1_000.0
    }
}

/// The rates in columns of one interval.
pub(super) struct Columns {
    pub(super) interval: Interval,
    pub(super) columns: Vec<Column>,
}

/// The unit of a rate: its name, and its seconds.
pub(super) type Unit = (&'static str, f64);

impl Columns {
    /// Returns the first unit in which the greatest rate is at least 1.
    pub(super) fn unit(&self) -> Unit {
        let greatest = self.columns.iter().map(Column::ids_per_second).fold(0.0, f64::max);
        let units = [("second", 1.0), ("minute", 60.0), ("hour", 3_600.0), ("day", 86_400.0)];
        units.into_iter().find(|(_, seconds)| greatest * seconds >= 1.0).unwrap_or(("day", 86_400.0))
    }

    /// Returns the column with the most IDs.
    pub(super) fn peak(&self) -> Option<&Column> {
        let rate = |column: &&Column| column.ids_per_second();
        self.columns.iter().rev().max_by(|a, b| rate(a).total_cmp(&rate(b)))
    }
}

impl Interval {
    /// Returns the starts of all intervals from the first to the last time, and the end of the last one.
    fn starts(self, first_ms: u64, last_ms: u64, zone: &TimeZone) -> Vec<u64> {
        let ms = |time: Timestamp| u64::try_from(time.as_millisecond()).unwrap_or(0);
        let mut start = self.floor(timestamp(first_ms), zone);
        let mut starts = vec![ms(start)];
        while starts.len() < 2 || ms(start) <= last_ms {
            start = self.next(start, zone);
            starts.push(ms(start));
        }
        starts
    }

    /// Returns an interval, and its starts, of which there are a few between two times.
    pub(super) fn ticks(start_ms: u64, end_ms: u64, zone: &TimeZone) -> (Self, Vec<u64>) {
        const MOST: u64 = 8;
        let enough = |interval: &Self| (end_ms - start_ms) / 1_000 / interval.seconds() < MOST;
        let interval = intervals().find(enough).unwrap_or(Self::Months(1_200));
        let mut starts = interval.starts(start_ms, end_ms, zone);
        starts.retain(|ms| (start_ms..=end_ms).contains(ms));
        (interval, starts)
    }

    /// Returns the length, or a little more than it.
    const fn seconds(self) -> u64 {
        match self {
            Self::Seconds(n) => n.unsigned_abs(),
            Self::Days(n) => n.unsigned_abs() * 86_400,
            Self::Months(n) => n.unsigned_abs() * 31 * 86_400,
        }
    }

    /// Returns the start of the interval with this time.
    fn floor(self, time: Timestamp, zone: &TimeZone) -> Timestamp {
        let local = time.to_zoned(zone.clone());
        let day = |date: Date| date.to_zoned(zone.clone()).map_or(time, |start| start.timestamp());
        match self {
            Self::Seconds(n) => {
                let of_day =
                    i64::from(local.hour()) * 3_600 + i64::from(local.minute()) * 60 + i64::from(local.second());
                Timestamp::from_second(time.as_second() - of_day % n).unwrap_or(time)
            }
            Self::Days(7) => {
                let days = i64::from(local.weekday().to_monday_zero_offset());
                day(local.date().saturating_sub(Span::new().days(days)))
            }
            Self::Days(_) => day(local.date()),
            Self::Months(n) => {
                let months = i64::from(local.year()) * 12 + i64::from(local.month()) - 1;
                let (year, month) = ((months - months % n) / 12, (months - months % n) % 12);
                // The years of jiff have four digits, and months are below 12.
                day(date(i16::try_from(year).unwrap_or(i16::MAX).clamp(1, 9_999), month as i8 + 1, 1))
            }
        }
    }

    /// Returns the start of the next interval. It is found half an interval later, because days have 23 to 25 hours.
    fn next(self, start: Timestamp, zone: &TimeZone) -> Timestamp {
        let (length, least) = match self {
            Self::Seconds(n) => (n * 1_500, n * 500),
            Self::Days(n) => (n * 86_400_000 + 43_200_000, 1),
            Self::Months(n) => (n * 31 * 86_400_000 - (n / 12) * 6 * 86_400_000 + 86_400_000, 1),
        };
        let later = |ms: i64| Timestamp::from_millisecond(start.as_millisecond() + ms).unwrap_or(Timestamp::MAX);
        let next = self.floor(later(length), zone);
        if next > start { next } else { later(least.max(1)) }
    }
}

impl std::fmt::Display for Interval {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (n, unit) = match *self {
            Self::Seconds(n) if n % 3_600 == 0 => (n / 3_600, "h"),
            Self::Seconds(n) if n % 60 == 0 => (n / 60, "min"),
            Self::Seconds(n) => (n, "s"),
            Self::Days(7) => (1, "week"),
            Self::Days(n) => (n, "day"),
            Self::Months(12) => (1, "year"),
            Self::Months(n) if n % 12 == 0 => (n / 12, "years"),
            Self::Months(1) => (1, "month"),
            Self::Months(n) => (n, "months"),
        };
        write!(f, "{n} {unit}")
    }
}

impl Rates {
    /// Counts an ID of this time.
    pub(super) fn add(&mut self, unix_ms: u64) {
        self.range =
            Some(self.range.map_or((unix_ms, unix_ms), |(first, last)| (first.min(unix_ms), last.max(unix_ms))));
        let bin = unix_ms / 1_000 / BINS[self.length];
        if bin == self.present.0 {
            self.present.1 += 1;
            return;
        }
        self.add_present();
        // The bins can be longer now.
        self.present = (unix_ms / 1_000 / BINS[self.length], 1);
    }

    /// Adds the present bin to the map.
    fn add_present(&mut self) {
        let (bin, count) = self.present;
        if count > 0 {
            *self.bins.entry(bin).or_default() += count;
            self.present.1 = 0;
        }
        while self.bins.len() > MAX_BINS && self.length + 1 < BINS.len() {
            let factor = BINS[self.length + 1] / BINS[self.length];
            self.length += 1;
            for (bin, count) in std::mem::take(&mut self.bins) {
                *self.bins.entry(bin / factor).or_default() += count;
            }
        }
    }

    /// Returns the rates in the shortest round interval that needs at most this many columns.
    pub(super) fn fit(&mut self, max: usize, zone: &TimeZone) -> Columns {
        let (first, last) = self.range.unwrap_or_default();
        let fits = |interval: &Interval| {
            (last - first) / 1_000 / interval.seconds() < max as u64
                && interval.seconds() >= BINS[self.length].min(86_400)
        };
        // The starts are counted too: an interval can begin before the first ID.
        let fitting = intervals().filter(fits).map(|interval| (interval, self.starts(interval, zone)));
        let found = fitting.clone().find(|(_, starts)| starts.len() <= max + 1).or_else(|| fitting.last());
        let (interval, starts) = found.unwrap_or((Interval::Seconds(1), Vec::new()));
        self.count(interval, &starts)
    }

    /// Returns the rates in columns of an interval.
    pub(super) fn per(&mut self, interval: Interval, zone: &TimeZone) -> Columns {
        let starts = self.starts(interval, zone);
        self.count(interval, &starts)
    }

    /// Returns the starts of all intervals from the first to the last ID, and the end of the last one.
    fn starts(&self, interval: Interval, zone: &TimeZone) -> Vec<u64> {
        self.range.map_or_else(Vec::new, |(first, last)| interval.starts(first, last, zone))
    }

    fn count(&mut self, interval: Interval, starts: &[u64]) -> Columns {
        self.add_present();
        // So that another ID cannot be added to a bin of another length.
        self.present = (0, 0);
        let column = |pair: &[u64]| Column { start_ms: pair[0], end_ms: pair[1], ids: 0, is_partial: false };
        let mut columns: Vec<_> = starts.windows(2).map(column).collect();
        let mut at = 0;
        for (bin, count) in &self.bins {
            let ms = bin * BINS[self.length] * 1_000;
            while at + 1 < columns.len() && columns[at].end_ms <= ms {
                at += 1;
            }
            columns[at].ids += count;
        }
        if let (Some((first, last)), true) = (self.range, interval != Interval::Seconds(1)) {
            let ids: u64 = columns.iter().map(|column| column.ids).sum();
            // A few IDs before or after the first and the last one may just be missing.
            let usual = 3 * (last - first) / ids.max(1);
            let is_far = |column: &Column, ms: u64| ms > usual.max((column.end_ms - column.start_ms) / 20);
            let index = columns.len() - 1;
            columns[0].is_partial = is_far(&columns[0], first.saturating_sub(columns[0].start_ms));
            columns[index].is_partial |= is_far(&columns[index], columns[index].end_ms.saturating_sub(last));
        }
        Columns { interval, columns }
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
    use crate::time::rfc3339;

    const NOON: u64 = 1_763_640_000_000;

    fn rates(times: impl IntoIterator<Item = u64>) -> Rates {
        let mut rates = Rates::default();
        times.into_iter().for_each(|ms| rates.add(ms));
        rates
    }

    fn ids(columns: &Columns) -> Vec<u64> {
        columns.columns.iter().map(|column| column.ids).collect()
    }

    #[test]
    fn ids_are_counted_by_second_in_any_order() {
        let mut rates = rates([NOON + 2_999, NOON, NOON + 2_000, NOON + 1, NOON + 2_001]);
        let columns = rates.fit(3, &TimeZone::UTC);
        assert_eq!((columns.interval, ids(&columns)), (Interval::Seconds(1), vec![2, 0, 3]));
        let columns = rates.fit(2, &TimeZone::UTC);
        assert_eq!((columns.interval, ids(&columns)), (Interval::Seconds(2), vec![2, 3]));
        assert_eq!(columns.peak().map(|peak| peak.start_ms), Some(NOON + 2_000));
        assert_eq!((columns.unit().0, ids(&rates.per(Interval::Days(1), &TimeZone::UTC))), ("second", vec![5]));
    }

    #[test]
    fn no_id_is_no_column() {
        let columns = Rates::default().fit(9, &TimeZone::UTC);
        assert_eq!((columns.columns.len(), columns.peak(), columns.unit().0), (0, None, "day"));
    }

    #[test]
    fn intervals_are_round_in_the_zone_even_if_a_day_has_23_or_25_hours() {
        let berlin = TimeZone::get("Europe/Berlin").unwrap();
        let local = |ms: u64| timestamp(ms).to_zoned(berlin.clone()).strftime("%m-%d %H:%M").to_string();
        for (first, hours, interval, expected) in [
            ("2024-03-30T23:30:00Z", 30, Interval::Days(1), &["03-31 00:00", "04-01 00:00", "04-02 00:00"][..]),
            ("2024-10-26T22:30:00Z", 30, Interval::Days(1), &["10-27 00:00", "10-28 00:00", "10-29 00:00"]),
            (
                "2024-03-30T23:30:00Z",
                11,
                Interval::Seconds(21_600),
                &["03-31 00:00", "03-31 06:00", "03-31 12:00", "03-31 18:00"],
            ),
            ("2024-10-26T22:30:00Z", 11, Interval::Seconds(21_600), &["10-27 00:00", "10-27 06:00", "10-27 12:00"]),
            ("2024-11-21T12:00:00Z", 24 * 8, Interval::Days(7), &["11-18 00:00", "11-25 00:00", "12-02 00:00"]),
            ("2024-11-21T12:00:00Z", 24 * 80, Interval::Months(3), &["10-01 00:00", "01-01 00:00", "04-01 00:00"]),
            ("2024-11-21T12:00:00Z", 24 * 400, Interval::Months(12), &["01-01 00:00", "01-01 00:00", "01-01 00:00"]),
        ] {
            let first = first.parse::<Timestamp>().unwrap().as_millisecond().cast_unsigned();
            let starts = rates([first, first + hours * 3_600_000]).starts(interval, &berlin);
            assert_eq!(starts.into_iter().map(local).collect::<Vec<_>>(), expected, "{interval}");
        }
    }

    #[test]
    fn the_columns_of_any_span_are_round_and_few_and_hold_all_ids() {
        for (name, days) in
            [("1 min", 0), ("1 h", 2), ("6 h", 14), ("1 day", 45), ("1 month", 6 * 300), ("3 months", 6 * 365)]
        {
            let step = if days == 0 { 30_000 } else { days * 864_000 };
            let mut rates = rates((0..=100).map(|n| NOON + n * step));
            let columns = rates.fit(60, &TimeZone::UTC);
            assert_eq!(
                (columns.interval.to_string().as_str(), ids(&columns).iter().sum::<u64>()),
                (name, 101),
                "{days} days"
            );
            assert!(columns.columns.len() <= 60, "{name}");
            assert!(columns.columns.windows(2).all(|pair| pair[0].end_ms == pair[1].start_ms));
            let start = rfc3339(columns.columns[0].start_ms);
            assert!(start.ends_with("00.000Z"), "{start}");
        }
    }

    #[test]
    fn a_part_of_an_interval_is_marked() {
        let hour = 3_600_000;
        // An ID each minute from 12:30 on Monday to 06:00 on Thursday.
        let monday = 1_763_337_600_000 + 12 * hour + hour / 2;
        let mut rates = rates((0..65 * 60 + 30).map(|minute| monday + minute * 60_000));
        let partial: Vec<_> =
            rates.per(Interval::Days(1), &TimeZone::UTC).columns.iter().map(|column| column.is_partial).collect();
        assert_eq!((partial.first(), partial.last()), (Some(&true), Some(&true)));
        assert!(partial[1..partial.len() - 1].iter().all(|is_partial| !is_partial));
        let seconds = rates.per(Interval::Seconds(1), &TimeZone::UTC);
        assert!(seconds.columns.iter().all(|column| !column.is_partial));
    }

    #[test]
    fn memory_is_bounded_and_no_id_is_lost_over_all_times() {
        // 300,000 seconds of the whole range of times, in mixed order.
        let times = (0..300_000_u64).map(|n| n * 61_111 % 300_000 * 14_660_155);
        let mut rates = rates(times);
        assert!(rates.bins.len() <= MAX_BINS);
        let columns = rates.fit(60, &TimeZone::UTC);
        assert!(columns.columns.len() <= 60);
        assert_eq!(ids(&columns).iter().sum::<u64>(), 300_000);
    }
}
