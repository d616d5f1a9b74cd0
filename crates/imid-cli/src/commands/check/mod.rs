//! `imid check`: checks that many IDs are valid, in order and distinct.

mod duplicates;

use imid::MessageId;
use imid_inspect::{Id, Scheme};
use serde_json::{Value, json};

use self::duplicates::{Duplicates, Entry};
use super::problems::Problems;
use super::stored::{Counts, StoredIds, Visitor, write_summary};
use crate::Out;
use crate::json::{self, JsonArg};
use crate::report::{Report, Stop};
use crate::time::ZoneArg;

/// Check that the IDs in files are valid, strictly increasing and distinct
///
/// Each line is an ID as imid prints it, or a JSON object with such an ID in a field. CRLF and blank lines are allowed.
/// In a table, such as CSV, the ID is in the column --id-field, and each row counts as a line.
///
/// The first 10 problems are printed on standard error with their line numbers. The summary counts all of them: "equal" and
/// "lower" are the numbers of IDs that are equal to or lower than the ID before them.
///
/// If the input is not sorted, equal IDs can be far apart, so the number of duplicates is unknown. --unsorted finds them
/// and names their lines, in 16 bytes of memory per ID. With --unsorted, an ID that is lower than the ID before it is not a
/// problem.
///
/// With several files, the order is checked within each file. Duplicates are found across all files in the same way, and
/// the messages name the file and the line of each copy.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  imid check ids.txt
  imid check --json tagged.jsonl
  imid check --unsorted --id-field message_id export.jsonl
  imid check ids.txt tagged.jsonl
  imid new -n 1000 | imid check

Exit status:
  0  no problem was found
  1  a line is invalid or a duplicate, or not after the line before it; there is
     no ID; or the input cannot be read
  2  the arguments are wrong

JSON members:
  lines: number of lines: the sum of the next three
  valid, invalid, blank: numbers of such lines
  equal, lower: numbers of IDs that are equal to or lower than the ID before them
  sorted: whether lower is 0
  duplicates: number of IDs that repeat another one; null if it is unknown
  first_time, last_time: of the least and the greatest ID; null without an ID")]
pub(crate) struct Args {
    #[command(flatten)]
    ids: StoredIds,
    /// Find duplicates in input of any order
    #[arg(long)]
    unsorted: bool,
    #[command(flatten)]
    json: JsonArg,
    #[command(flatten)]
    zone: ZoneArg,
}

impl Args {
    pub(crate) fn run(&self, out: &mut Out, report: &mut Report) -> Result<(), Stop> {
        let mut check = Check {
            scheme: self.ids.scheme(),
            is_order_a_problem: !self.unsorted,
            duplicates: (self.unsorted || self.ids.are_several()).then(Duplicates::default),
            equal: 0,
            lower: 0,
            previous: None,
            range: None,
        };
        let (counts, mut problems) = self.ids.visit(&mut check, report)?;
        if counts.valid == 0 && counts.invalid == 0 {
            problems.add(|| "expected an ID, found none".to_owned());
        }
        // JSON has times in UTC.
        let utc = ZoneArg::default();
        let zone = if self.json.json { &utc } else { &self.zone };
        let summary = check.finish(counts, problems, zone);
        if self.json.json { json::write_line(out, &summary) } else { write_summary(&summary, out) }
    }
}

struct Check {
    scheme: Scheme,
    is_order_a_problem: bool,
    duplicates: Option<Duplicates>,
    /// Number of IDs that are equal to the ID before them.
    equal: u64,
    /// Number of IDs that are lower than the ID before them.
    lower: u64,
    previous: Option<MessageId>,
    /// The least and the greatest ID.
    range: Option<(MessageId, MessageId)>,
}

impl Visitor for Check {
    fn add(&mut self, number: u64, id: Id, problems: &mut Problems<'_>) -> Result<(), Stop> {
        self.add_key(number, id.sort_key(), problems)
    }

    fn begin_file(&mut self) {
        self.previous = None;
    }

    fn add_lines(&mut self, first: u64, ids: &[MessageId], problems: &mut Problems<'_>) -> Result<(), Stop> {
        if let [least, .., greatest] = *ids
            && self.duplicates.is_none()
            && self.previous.is_none_or(|previous| previous < least)
            && ids.is_sorted_by(|a, b| a < b)
        {
            self.previous = Some(greatest);
            self.widen(least, greatest);
            return Ok(());
        }
        (first..).zip(ids).try_for_each(|(number, id)| self.add_key(number, *id, problems))
    }
}

impl Check {
    fn add_key(&mut self, number: u64, id: MessageId, problems: &mut Problems<'_>) -> Result<(), Stop> {
        if let Some(previous) = self.previous.replace(id)
            && id <= previous
        {
            self.count_out_of_order(number, id, previous, problems);
        }
        self.widen(id, id);
        match &mut self.duplicates {
            Some(duplicates) => duplicates.push(id, number),
            None => Ok(()),
        }
    }

    /// Extends the range from the least to the greatest ID, so that it includes these two.
    fn widen(&mut self, first: MessageId, last: MessageId) {
        let range = self.range.map_or((first, last), |(least, greatest)| (least.min(first), greatest.max(last)));
        self.range = Some(range);
    }

    #[cold]
    fn count_out_of_order(&mut self, number: u64, id: MessageId, previous: MessageId, problems: &mut Problems<'_>) {
        let (count, relation) =
            if id == previous { (&mut self.equal, "equal to") } else { (&mut self.lower, "lower than") };
        *count += 1;
        // All duplicates are printed at the end, if they are searched for.
        let is_problem = if id == previous { self.duplicates.is_none() } else { self.is_order_a_problem };
        if is_problem {
            let place = problems.place(number);
            let (id, previous) = (self.scheme.with_sort_key(id), self.scheme.with_sort_key(previous));
            problems.add(|| format!("{place}: {id} is {relation} the ID before it, {previous}"));
        }
    }

    fn finish(self, counts: Counts, mut problems: Problems<'_>, zone: &ZoneArg) -> Value {
        let is_sorted = self.lower == 0;
        let duplicates = match self.duplicates {
            Some(mut duplicates) => {
                let mut surplus = 0;
                for copies in duplicates.find() {
                    surplus += copies.len() as u64 - 1;
                    let lines: Vec<_> = copies.iter().take(MAX_NAMED).map(|copy| copy.line()).collect();
                    let places = problems.places(&lines);
                    problems.add(|| occurs(self.scheme.with_sort_key(copies[0].id()), copies, &places));
                }
                Some(surplus)
            }
            None => is_sorted.then_some(self.equal),
        };
        let time = |id: MessageId| zone.rfc3339(self.scheme.with_sort_key(id).timestamp_ms());
        let Counts { lines, valid, invalid, blank } = counts;
        json!({
            "lines": lines, "valid": valid, "invalid": invalid, "blank": blank,
            "equal": self.equal, "lower": self.lower, "sorted": is_sorted, "duplicates": duplicates,
            "first_time": self.range.map(|(least, _)| time(least)),
            "last_time": self.range.map(|(_, greatest)| time(greatest)),
        })
    }
}

/// The most copies of an ID whose places are printed.
const MAX_NAMED: usize = 10;

/// Returns the message for an ID that occurs more than once.
fn occurs(id: Id, copies: &[Entry], places: &str) -> String {
    let more = if copies.len() > MAX_NAMED { " and more" } else { "" };
    format!("{id} occurs {} times, in {places}{more}", copies.len())
}
