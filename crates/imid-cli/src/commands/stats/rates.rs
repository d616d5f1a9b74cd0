//! Counts IDs by time, in bounded memory, and divides the time into round intervals.

use std::collections::BTreeMap;
use std::fmt;

use clap::ValueEnum;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, Timestamp};

use crate::time::timestamp;

/// The most bins that are counted, and the most columns of `--per`.
const MAX_BINS: usize = 1 << 18;

/// The lengths of bins in seconds. Each one divides the next. A quarter of an hour divides the offsets of all time zones.
const BINS: [u64; 4] = [1, 60, 900, 86_400];

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
    pub(super) range: Option<(u64, u64)>,
}

/// The length of a column.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, ValueEnum)]
pub(super) enum Interval {
    Second,
    Minute,
    Hour,
    Day,
    /// It begins on Monday.
    Week,
    Month,
    Year,
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

/// The IDs in columns of one interval.
pub(super) struct Columns {
    pub(super) interval: Interval,
    pub(super) columns: Vec<Column>,
}

impl Columns {
    /// Returns the first column with the most IDs.
    pub(super) fn peak(&self) -> Option<&Column> {
        self.columns.iter().rev().max_by_key(|column| column.ids)
    }
}

impl Interval {
    /// Returns the shortest interval, from this one on, of which a span has less than `most`.
    fn fitting(self, span_ms: u64, most: usize) -> Self {
        let mut intervals = Self::value_variants().iter().filter(|interval| **interval >= self);
        *intervals.find(|interval| span_ms / interval.ms() < most as u64).unwrap_or(&Self::Year)
    }

    /// Returns the starts of all intervals from the first to the last time, and the end of the last one.
    fn starts(self, first_ms: u64, last_ms: u64, zone: &TimeZone) -> Vec<u64> {
        let ms = |time: Timestamp| u64::try_from(time.as_millisecond()).unwrap_or(0);
        let mut start = self.floor(timestamp(first_ms), zone);
        let mut starts = vec![ms(start)];
        while starts.len() < 2 || ms(start) <= last_ms {
            // Half an interval later, because months and days differ in their lengths.
            let later = SignedDuration::from_millis((self.ms() * 3 / 2).cast_signed());
            start = self.floor(start.saturating_add(later).unwrap_or(Timestamp::MAX), zone);
            starts.push(ms(start));
        }
        starts
    }

    /// Returns the length in milliseconds, or the greatest one.
    const fn ms(self) -> u64 {
        1_000
            * match self {
                Self::Second => 1,
                Self::Minute => 60,
                Self::Hour => 3_600,
                Self::Day => 86_400,
                Self::Week => 7 * 86_400,
                Self::Month => 31 * 86_400,
                Self::Year => 366 * 86_400,
            }
    }

    /// Returns the start of the interval with this time.
    fn floor(self, time: Timestamp, zone: &TimeZone) -> Timestamp {
        let local = time.to_zoned(zone.clone());
        let (date, minute, second) = (local.date(), i64::from(local.minute()), i64::from(local.second()));
        let before = |seconds: i64| Timestamp::from_second(time.as_second() - seconds).unwrap_or(time);
        let date = match self {
            Self::Second => return before(0),
            Self::Minute => return before(second),
            Self::Hour => return before(minute * 60 + second),
            Self::Day => date,
            Self::Week => date.saturating_sub(Span::new().days(date.weekday().to_monday_zero_offset())),
            Self::Month => date.first_of_month(),
            Self::Year => date.first_of_year(),
        };
        date.to_zoned(zone.clone()).map_or(time, |start| start.timestamp())
    }
}

/// Writes the name that the option takes.
impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // PANIC: no interval is skipped.
        f.write_str(self.to_possible_value().expect("each interval has a name").get_name())
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

    /// Returns the columns of an interval, or of the shortest one of which there are about `most` or less. If there are more
    /// columns or bins than are counted, the interval is longer.
    pub(super) fn columns(&mut self, per: Option<Interval>, most: usize, zone: &TimeZone) -> Columns {
        let Some((first, last)) = self.range else {
            return Columns { interval: per.unwrap_or(Interval::Second), columns: Vec::new() };
        };
        self.add_present();
        // So that another ID cannot be added to a bin of another length.
        self.present = (0, 0);
        // The bins of a quarter of an hour are those of hours.
        let shortest = [Interval::Second, Interval::Minute, Interval::Hour, Interval::Day][self.length];
        let (per, most) = per.map_or((shortest, most), |per| (per.max(shortest), MAX_BINS));
        let interval = per.fitting(last - first, most);
        let starts = interval.starts(first, last, zone);
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
        if interval != Interval::Second {
            // A few IDs before the first one or after the last one may just be missing.
            let is_far = |column: &Column, ms: u64| ms > (column.end_ms - column.start_ms) / 20;
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
        let columns = rates.columns(None, 3, &TimeZone::UTC);
        assert_eq!((columns.interval, ids(&columns)), (Interval::Second, vec![2, 0, 3]));
        assert_eq!(columns.peak().map(|peak| peak.start_ms), Some(NOON + 2_000));
        let columns = rates.columns(None, 2, &TimeZone::UTC);
        assert_eq!((columns.interval, ids(&columns)), (Interval::Minute, vec![5]));
        assert_eq!(ids(&rates.columns(Some(Interval::Day), 2, &TimeZone::UTC)), [5]);
    }

    #[test]
    fn no_id_is_no_column() {
        let columns = Rates::default().columns(None, 9, &TimeZone::UTC);
        assert_eq!((columns.columns.len(), columns.peak()), (0, None));
    }

    #[test]
    fn intervals_are_round_in_the_zone_even_if_a_day_has_23_or_25_hours() {
        let berlin = TimeZone::get("Europe/Berlin").unwrap();
        let local = |ms: u64| timestamp(ms).to_zoned(berlin.clone()).strftime("%m-%d %H:%M").to_string();
        for (first, hours, interval, expected) in [
            ("2024-03-30T23:30:00Z", 30, Interval::Day, &["03-31 00:00", "04-01 00:00", "04-02 00:00"][..]),
            ("2024-10-26T22:30:00Z", 30, Interval::Day, &["10-27 00:00", "10-28 00:00", "10-29 00:00"]),
            ("2024-03-31T00:30:00Z", 2, Interval::Hour, &["03-31 01:00", "03-31 03:00", "03-31 04:00", "03-31 05:00"]),
            ("2024-10-27T00:30:00Z", 1, Interval::Hour, &["10-27 02:00", "10-27 02:00", "10-27 03:00"]),
            ("2024-11-21T12:00:00Z", 24 * 8, Interval::Week, &["11-18 00:00", "11-25 00:00", "12-02 00:00"]),
            (
                "2024-01-31T12:00:00Z",
                24 * 30,
                Interval::Month,
                &["01-01 00:00", "02-01 00:00", "03-01 00:00", "04-01 00:00"],
            ),
            ("2024-11-21T12:00:00Z", 24 * 400, Interval::Year, &["01-01 00:00", "01-01 00:00", "01-01 00:00"]),
        ] {
            let first = first.parse::<Timestamp>().unwrap().as_millisecond().cast_unsigned();
            let starts = interval.starts(first, first + hours * 3_600_000, &berlin);
            assert_eq!(starts.into_iter().map(local).collect::<Vec<_>>(), expected, "{interval} {first}");
        }
    }

    #[test]
    fn the_columns_of_any_span_are_round_and_few_and_hold_all_ids() {
        let (minute, day) = (60_000, 86_400_000);
        for (name, span) in [
            ("second", 50_000),
            ("minute", 50 * minute),
            ("hour", 2 * day),
            ("day", 45 * day),
            ("week", 400 * day),
            ("month", 5 * 365 * day),
            ("year", 40 * 365 * day),
        ] {
            let mut rates = rates((0..=100).map(|n| NOON + n * span / 100));
            let columns = rates.columns(None, 60, &TimeZone::UTC);
            assert_eq!((columns.interval.to_string().as_str(), ids(&columns).iter().sum::<u64>()), (name, 101));
            assert!((20..=61).contains(&columns.columns.len()), "{name}");
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
        let mut per = |interval| rates.columns(Some(interval), 9, &TimeZone::UTC).columns;
        let partial: Vec<_> = per(Interval::Day).iter().map(|column| column.is_partial).collect();
        assert_eq!(partial, [true, false, false, true]);
        assert!(per(Interval::Second).iter().all(|column| !column.is_partial));
    }

    #[test]
    fn memory_is_bounded_and_no_id_is_lost_over_all_times() {
        // 300,000 seconds of the whole range of times, in mixed order.
        let times = (0..300_000_u64).map(|n| n * 61_111 % 300_000 * 14_660_155);
        let mut rates = rates(times);
        assert!(rates.bins.len() <= MAX_BINS);
        for (per, interval) in [(None, Interval::Year), (Some(Interval::Second), Interval::Day)] {
            let columns = rates.columns(per, 60, &TimeZone::UTC);
            assert_eq!((columns.interval, ids(&columns).iter().sum::<u64>()), (interval, 300_000));
            assert!(columns.columns.len() <= MAX_BINS);
        }
    }
}
