//! The commands. Each one has a file or a folder.

mod check;
mod compare;
mod completions;
mod identify;
mod inspect;
mod lane;
mod lines;
mod man;
mod new;
mod range;
mod rows;
mod shard;
mod stats;
mod stored;
mod tag;

use std::num::{IntErrorKind, ParseIntError};
use std::str::FromStr;
use std::time::Duration;

use clap::Subcommand;

use crate::Out;
use crate::report::{Report, Stop, quote};

/// How long a command waits until it can mint the next ID. Under overload it waits for less than a second. If the clock
/// was set back by hours, it would have to wait longer than this.
pub(crate) const MAX_WAIT: Duration = Duration::from_mins(1);

#[derive(Subcommand)]
pub(crate) enum Command {
    New(new::Args),
    Inspect(inspect::Args),
    Identify(identify::Args),
    Compare(compare::Args),
    Tag(tag::Args),
    Range(range::Args),
    Check(check::Args),
    Stats(stats::Args),
    Shard(shard::Args),
    Lane(lane::Args),
    Completions(completions::Args),
    Man(man::Args),
}

impl Command {
    pub(crate) fn run(&self, out: &mut Out, report: &mut Report) -> Result<(), Stop> {
        match self {
            Self::New(args) => args.run(out, report),
            Self::Inspect(args) => args.run(out, report),
            Self::Identify(args) => args.run(out, report),
            Self::Compare(args) => args.run(out),
            Self::Tag(args) => args.run(out, report),
            Self::Range(args) => args.run(out, report),
            Self::Check(args) => args.run(out, report),
            Self::Stats(args) => args.run(out, report),
            Self::Shard(args) => args.run(out, report),
            Self::Lane(args) => args.run(out, report),
            Self::Completions(args) => args.run(out),
            Self::Man(args) => args.run(out),
        }
    }
}

/// Reads an argument that is a whole number.
fn whole_number<T: FromStr<Err = ParseIntError>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: ParseIntError| {
        let is_negative = text.strip_prefix('-').is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        let expected = match error.kind() {
            IntErrorKind::PosOverflow => "a smaller number",
            _ if is_negative => "a number of at least 0",
            _ => "a whole number in digits",
        };
        format!("expected {expected}, found {}", quote(text))
    })
}
