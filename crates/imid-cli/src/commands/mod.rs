//! The commands. Each one has a file or a folder.

mod check;
mod completions;
mod grep;
mod inspect;
mod lane;
mod man;
mod new;
mod problems;
mod range;
mod risk;
mod stats;
mod stored;
mod tag;

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use clap::Subcommand;

use crate::Out;
use crate::number::Number;
use crate::report::{Report, Stop, quote};

#[derive(Subcommand)]
pub(crate) enum Command {
    New(new::Args),
    Inspect(inspect::Args),
    Grep(grep::Args),
    Tag(tag::Args),
    Range(range::Args),
    Check(check::Args),
    Stats(stats::Args),
    Risk(risk::Args),
    Lane(lane::Args),
    Completions(completions::Args),
    Man(man::Args),
}

impl Command {
    pub(crate) fn run(&self, out: &mut Out, report: &mut Report) -> Result<(), Stop> {
        match self {
            Self::New(args) => args.run(out, report),
            Self::Inspect(args) => args.run(out, report),
            Self::Grep(args) => args.run(out, report),
            Self::Tag(args) => args.run(out, report),
            Self::Range(args) => args.run(out),
            Self::Check(args) => args.run(out, report),
            Self::Stats(args) => args.run(out, report),
            Self::Risk(args) => args.run(out),
            Self::Lane(args) => args.run(out, report),
            Self::Completions(args) => args.run(out),
            Self::Man(args) => args.run(),
        }
    }
}

/// Returns a function that reads an argument: a whole number in this range, without a sign, such as `1000`, `1e6` or `100k`.
fn whole_number<T>(range: RangeInclusive<T>) -> impl Fn(&str) -> Result<T, String> + Clone
where
    T: FromStr + PartialOrd + Display + Clone,
{
    move |text| {
        let whole = Number::read_count(text).filter(|number| number.fraction.is_empty());
        let number = whole.and_then(|number| number.whole.parse().ok()).filter(|number| range.contains(number));
        number.ok_or_else(|| {
            format!("expected a whole number from {} to {}, found {}", range.start(), range.end(), quote(text))
        })
    }
}
