//! `imid risk`: computes how often IDs repeat, for each way to deploy.

mod history;
mod plot;
mod report;

use std::path::PathBuf;

use self::report::{Forecast, Source};
use super::whole_number;
use crate::Out;
use crate::input::KindArg;
use crate::json::JsonArg;
use crate::number::float;
use crate::output_file;
use crate::report::{KeepGoing, Report, Stop, quote};
use crate::risk::{Burst, Pairs, Sessions};
use crate::time::{TimeField, parse_duration};

/// Compute how often hosts without coordination mint equal IDs, and when they never do
///
/// Two hosts can mint one ID only in one millisecond, for one session or for two sessions that share type and hash. The
/// messages arrive independently of each other; --burst adds those that answer one event. The clocks of the hosts agree.
/// All sessions have one type. docs/DESIGN.md derives the formulas.
///
/// With --history, the pairs of messages of one millisecond are counted in the messages of the past: JSON objects, one
/// per line, or CSV. Of the pairs of two sessions, one in 4,194,304 is expected to share the hash. The file is read once, in any order. The memory does not grow with it: if the messages are of more
/// than about 2,000,000 milliseconds and sessions, only a sample of the milliseconds is counted, and the output says how
/// exact it is. If all times are in whole seconds, the number of pairs cannot be known, and the output has two bounds.
#[derive(clap::Args)]
#[command(mut_arg("time_field", |field| field.requires("history")))]
#[command(mut_arg("kind", |kind| kind.requires("history")))]
#[command(mut_arg("time_zone", |zone| zone.requires("history")))]
#[command(after_help = "\
Examples:
  imid risk --hosts 8 --rate 10
  imid risk --hosts 8 --rate 100000 --rooms 1e6 --zipf 1.0 --busiest 100
  imid risk --hosts 8 --rate 1000 --rooms 1e4 --burst 20/50ms
  imid risk --hosts 8 --history chat.jsonl --session-field room --time-field at
  imid risk --hosts 8 --rate 1000 --plot risk.svg

JSON members:
  hosts: number of hosts
  rate: messages per second
  sessions, busiest_rate: number of sessions, and messages per second of the busiest one; null with --history
  history: only with --history
  history.messages, history.first_time, history.last_time: what was read
  history.unit_ms: all times are multiples of this
  history.whole_seconds: share of the times in whole seconds
  history.pairs_of_one_session: pairs of messages of one time and one session
  history.pairs_of_shared_hash: of two sessions that share the hash
  history.pairs_of_two_sessions: of any two sessions
  history.errors: the standard errors of these three; 0 if they are exact
  modes: objects, one for each way to deploy
  modes[].mode: any, name, shard, lanes, lease or uuidv7
  modes[].is_unique: no ID repeats while the condition holds
  modes[].condition: the condition; null if IDs can repeat
  modes[].equal_ids_per_year: expected pairs of equal IDs
  modes[].least_per_year: the same if rounded times are spread evenly
  modes[].probability_in_a_year: of at least one pair
  modes[].one_a_year_at: messages per second at which one pair a year is expected; null if no pair is possible
  recommended: the mode to use
  lane_bits, lanes, ids_per_ms: for lanes and leases; each host mints ids_per_ms per millisecond and stripe
  stripes: number of stripes that each host needs")]
pub(crate) struct Args {
    /// Number of hosts, or of processes, that mint
    #[arg(long, value_name = "N", value_parser = whole_number(1..=4_096_u32), allow_negative_numbers = true)]
    hosts: u32,
    /// Messages per second of all sessions, such as 0.5, 100000 or 1e5
    #[arg(long, value_name = "RATE", value_parser = rate, allow_negative_numbers = true, required_unless_present = "history")]
    rate: Option<f64>,
    /// Number of sessions, such as 1e6
    #[arg(long, value_name = "N", value_parser = rooms, default_value = "1", allow_negative_numbers = true)]
    rooms: f64,
    /// Exponent of Zipf's law: the session of rank k has messages in proportion to k^-EXPONENT; 0 is the same for all
    #[arg(long, value_name = "EXPONENT", value_parser = zipf, default_value = "0", allow_negative_numbers = true)]
    zipf: f64,
    /// Messages per second of the busiest sessions, such as 100 or 100,80,50; no other session has more
    #[arg(long, value_name = "RATE", value_parser = rate, value_delimiter = ',', allow_negative_numbers = true)]
    busiest: Vec<f64>,
    /// Messages of one session that one event causes, and the time over which they are spread, such as 20/50ms
    #[arg(long, value_name = "N/DURATION", value_parser = burst)]
    burst: Option<Burst>,
    /// Read the messages of the past from this file, or from standard input if it is -
    #[arg(long, value_name = "FILE", requires_all = ["session_field", "time_field"])]
    #[arg(conflicts_with_all = ["rate", "rooms", "zipf", "busiest", "burst"])]
    history: Option<PathBuf>,
    #[command(flatten)]
    format: KindArg,
    /// Field with the session name: a string, or an integer, which stands for its decimal text
    #[arg(long, value_name = "FIELD", requires = "history")]
    session_field: Option<String>,
    #[command(flatten)]
    time: TimeField,
    #[command(flatten)]
    keep_going: KeepGoing,
    /// Draw the equal IDs a year over the messages per second to this SVG file
    #[arg(long, value_name = "FILE.svg", value_parser = output_file::svg)]
    plot: Option<PathBuf>,
    #[command(flatten)]
    json: JsonArg,
}

impl Args {
    pub(crate) fn run(&self, out: &mut Out, report: &mut Report) -> Result<(), Stop> {
        report.keep_going(&self.keep_going);
        let (source, pairs) = match (&self.history, &self.session_field) {
            (Some(file), Some(session)) => {
                let fields = history::Fields { session, time: &self.time };
                let found = history::read(file, self.format.kind, &fields, report)?;
                (Source::History(found), found.pairs())
            }
            _ => self.traffic()?,
        };
        let forecast = Forecast::new(self.hosts, source, pairs);
        if let Some(path) = &self.plot {
            output_file::write_svg(path, "risk", plot::draw(&forecast))?;
        }
        if self.json.json { forecast.write_json(out) } else { forecast.write(&self.time.zone, out) }
    }

    /// Returns the traffic of the arguments, and its pairs twice, because it has no bounds.
    fn traffic(&self) -> Result<(Source, (Pairs, Pairs)), Stop> {
        // clap requires it.
        let rate = self.rate.ok_or_else(|| Stop::Usage("expected --rate or --history, found neither".into()))?;
        let sessions = Sessions::new(self.rooms, self.zipf, &self.busiest, rate)
            .map_err(|problem| Stop::Usage(format!("--busiest: {problem}")))?;
        let pairs = Pairs::expected(&sessions, self.burst);
        Ok((Source::Traffic { sessions, count: self.rooms, burst: self.burst }, (pairs, pairs)))
    }
}

/// Reads a number in a range.
fn number(text: &str, expected: &str, is_valid: impl Fn(f64) -> bool) -> Result<f64, String> {
    let starts_well = text.starts_with(|c: char| c.is_ascii_digit());
    let value = float(text).filter(|value| starts_well && is_valid(*value));
    value.ok_or_else(|| format!("expected {expected}, found {}", quote(text)))
}

fn rate(text: &str) -> Result<f64, String> {
    number(text, "a number of messages per second from 1e-9 to 1e12", |rate| (1e-9..=1e12).contains(&rate))
}

fn rooms(text: &str) -> Result<f64, String> {
    number(text, "a whole number from 1 to 1e12", |rooms| (1.0..=1e12).contains(&rooms) && rooms.fract() == 0.0)
}

fn zipf(text: &str) -> Result<f64, String> {
    number(text, "an exponent from 0 to 10", |zipf| (0.0..=10.0).contains(&zipf))
}

/// Reads a number of messages and the time over which they are spread.
fn burst(text: &str) -> Result<Burst, String> {
    let expected = || format!("expected messages and a duration such as 20/50ms, found {}", quote(text));
    let (messages, duration) = text.split_once('/').ok_or_else(expected)?;
    let messages = number(messages, "", |n| (1.0..=1e9).contains(&n) && n.fract() == 0.0).map_err(|_| expected())?;
    let duration = parse_duration(duration).map_err(|_| expected())?;
    Ok(Burst { messages, over_ms: duration.as_secs_f64() * 1_000.0 })
}
