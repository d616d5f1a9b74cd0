//! Counts IDs by time, in bounded memory, and divides the time into round intervals.

use std::collections::BTreeMap;
use std::ops::Range;
use std::{fmt, iter, mem};

use clap::ValueEnum;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, Timestamp};

use crate::time::timestamp;

/// The most intervals of `--per`.
const MOST: usize = 1 << 18;

/// Numbers of IDs in intervals. Those without IDs take no memory.
pub(super) struct Rates {
    zone: TimeZone,
    /// The shortest interval, and how many of them there can be before it is a longer one.
    shortest: Interval,
    most: usize,
    /// The interval that is counted, of at most a day: the longer ones are made from days.
    counted: Interval,
    /// The IDs of each interval, by its start.
    counts: BTreeMap<u64, u64>,
    /// The times of the interval of the last ID, and its IDs that are not in the map yet. Most IDs have that of the one before.
    present: Range<u64>,
    ids: u64,
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

impl Interval {
    /// Returns the shortest interval, from this one on, of which a span has less than `most`.
    fn fitting(self, span_ms: u64, most: usize) -> Self {
        let mut intervals = Self::value_variants().iter().filter(|interval| **interval >= self);
        *intervals.find(|interval| span_ms / interval.ms() < most as u64).unwrap_or(&Self::Year)
    }

    /// Returns the times of the interval that has this time.
    fn around(self, unix_ms: u64, zone: &TimeZone) -> Range<u64> {
        let start = self.floor(timestamp(unix_ms), zone);
        // Half an interval later, because months and days differ in their lengths.
        let later = SignedDuration::from_millis((self.ms() * 3 / 2).cast_signed());
        let end = self.floor(start.saturating_add(later).unwrap_or(Timestamp::MAX), zone);
        let ms = |time: Timestamp| u64::try_from(time.as_millisecond()).unwrap_or(0);
        ms(start)..ms(end)
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
    /// Counts per interval, or per the shortest one of which there are at most `most`. Of more than can be counted, the interval
    /// is longer.
    pub(super) fn new(per: Option<Interval>, most: usize, zone: TimeZone) -> Self {
        let (shortest, most) = per.map_or((Interval::Second, most), |per| (per, MOST));
        let counted = shortest.min(Interval::Day);
        Self { zone, shortest, most, counted, counts: BTreeMap::new(), present: 0..0, ids: 0, range: None }
    }

    /// Counts an ID of this time.
    pub(super) fn add(&mut self, unix_ms: u64) {
        self.range =
            Some(self.range.map_or((unix_ms, unix_ms), |(first, last)| (first.min(unix_ms), last.max(unix_ms))));
        if !self.present.contains(&unix_ms) {
            self.add_present();
            self.present = self.counted.around(unix_ms, &self.zone);
        }
        self.ids += 1;
    }

    /// Returns the interval that fits the times so far.
    pub(super) fn interval(&self) -> Interval {
        let (first, last) = self.range.unwrap_or_default();
        self.shortest.fitting(last - first, self.most)
    }

    /// Adds the present interval to the map.
    fn add_present(&mut self) {
        if self.ids > 0 {
            *self.counts.entry(self.present.start).or_default() += mem::take(&mut self.ids);
        }
        let interval = self.interval().min(Interval::Day);
        if interval > self.counted {
            self.counted = interval;
            for (start, ids) in mem::take(&mut self.counts) {
                *self.counts.entry(interval.around(start, &self.zone).start).or_default() += ids;
            }
        }
    }

    /// Returns the start of each interval, and its IDs.
    pub(super) fn columns(&mut self) -> Vec<(u64, u64)> {
        let Some((first, last)) = self.range else { return Vec::new() };
        self.add_present();
        let (interval, zone) = (self.interval(), &self.zone);
        let next = |times: &Range<u64>| (times.end <= last).then(|| interval.around(times.end, zone));
        let all = iter::successors(Some(interval.around(first, zone)), next);
        all.map(|times| (times.start, self.counts.range(times).map(|(_, ids)| ids).sum())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::rfc3339;

    const NOON: u64 = 1_763_640_000_000;

    fn rates_of(per: Option<Interval>, most: usize, times: impl IntoIterator<Item = u64>) -> Rates {
        let mut rates = Rates::new(per, most, TimeZone::UTC);
        times.into_iter().for_each(|ms| rates.add(ms));
        rates
    }

    /// Returns the interval and the IDs of each one.
    fn ids(mut rates: Rates) -> (Interval, Vec<u64>) {
        let columns = rates.columns();
        (rates.interval(), columns.into_iter().map(|(_, ids)| ids).collect())
    }

    #[test]
    fn ids_are_counted_by_second_in_any_order() {
        let times = [NOON + 2_999, NOON, NOON + 2_000, NOON + 1, NOON + 2_001];
        assert_eq!(ids(rates_of(None, 3, times)), (Interval::Second, vec![2, 0, 3]));
        assert_eq!(ids(rates_of(None, 2, times)), (Interval::Minute, vec![5]));
        assert_eq!(ids(rates_of(Some(Interval::Day), 2, times)), (Interval::Day, vec![5]));
        assert_eq!(ids(rates_of(None, 9, [])), (Interval::Second, vec![]));
    }

    #[test]
    fn intervals_are_round_in_the_zone_even_if_a_day_has_23_or_25_hours() {
        let berlin = TimeZone::get("Europe/Berlin").unwrap();
        let local = |ms: u64| timestamp(ms).to_zoned(berlin.clone()).strftime("%m-%d %H:%M").to_string();
        for (first, hours, interval, expected) in [
            ("2024-03-30T23:30:00Z", 30, Interval::Day, &["03-31 00:00", "04-01 00:00"][..]),
            ("2024-10-26T22:30:00Z", 30, Interval::Day, &["10-27 00:00", "10-28 00:00"]),
            ("2024-03-31T00:30:00Z", 2, Interval::Hour, &["03-31 01:00", "03-31 03:00", "03-31 04:00"]),
            ("2024-10-27T00:30:00Z", 1, Interval::Hour, &["10-27 02:00", "10-27 02:00"]),
            ("2024-11-21T12:00:00Z", 24 * 8, Interval::Week, &["11-18 00:00", "11-25 00:00"]),
            ("2024-01-31T12:00:00Z", 24 * 30, Interval::Month, &["01-01 00:00", "02-01 00:00", "03-01 00:00"]),
            ("2024-11-21T12:00:00Z", 24 * 400, Interval::Year, &["01-01 00:00", "01-01 00:00"]),
        ] {
            let first = first.parse::<Timestamp>().unwrap().as_millisecond().cast_unsigned();
            let mut rates = Rates::new(Some(interval), 0, berlin.clone());
            // An ID each quarter of an hour.
            let count = hours * 4 + 1;
            (0..count).for_each(|n| rates.add(first + n * 900_000));
            let columns = rates.columns();
            assert_eq!(
                columns.iter().map(|(start, _)| local(*start)).collect::<Vec<_>>(),
                expected,
                "{interval} {first}"
            );
            assert_eq!(columns.iter().map(|(_, ids)| ids).sum::<u64>(), count, "{interval} {first}");
        }
    }

    #[test]
    fn the_intervals_of_any_span_are_round_and_few_and_hold_all_ids() {
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
            // The span grows with each ID, in both directions.
            let mut rates = rates_of(None, 60, (0..=50).rev().chain(51..=100).map(|n| NOON + n * span / 100));
            let columns = rates.columns();
            let count: u64 = columns.iter().map(|(_, ids)| ids).sum();
            assert_eq!((rates.interval().to_string().as_str(), count), (name, 101));
            assert!((20..=61).contains(&columns.len()), "{name}");
            let start = rfc3339(columns[0].0);
            assert!(start.ends_with("00.000Z"), "{start}");
        }
    }

    #[test]
    fn an_interval_has_its_own_ids_whichever_shorter_one_was_counted_before() {
        // An ID each 7 hours. The interval grows from seconds to months; a week has days of two months.
        let times: Vec<_> = (0..2_000).map(|n| NOON + n * 7 * 3_600_000).collect();
        let month = |ms: &u64| timestamp(*ms).strftime("%Y-%m").to_string();
        let mut expected = BTreeMap::new();
        for ms in &times {
            *expected.entry(month(ms)).or_insert(0) += 1;
        }
        let mut rates = rates_of(None, 60, times.iter().copied());
        let found = rates.columns().iter().map(|(start, ids)| (month(start), *ids)).collect();
        assert_eq!((rates.interval(), expected), (Interval::Month, found));
    }

    #[test]
    fn memory_is_bounded_and_no_id_is_lost_over_all_times() {
        // 300,000 seconds of the whole range of times, in mixed order.
        for (per, interval) in [(None, Interval::Year), (Some(Interval::Second), Interval::Day)] {
            let times = (0..300_000_u64).map(|n| n * 61_111 % 300_000 * 14_660_155);
            let rates = rates_of(per, 60, times);
            assert!(rates.counts.len() <= MOST);
            let (found, ids) = ids(rates);
            assert_eq!((found, ids.iter().sum::<u64>()), (interval, 300_000));
            assert!(ids.len() <= MOST);
        }
    }
}
