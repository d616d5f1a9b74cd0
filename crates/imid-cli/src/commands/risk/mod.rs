//! `imid risk`: computes how often IDs repeat, for each way to deploy.

mod report;
mod words;

use imid_inspect::risk::{Forecast, Sessions};

use super::whole_number;
use crate::Out;
use crate::number::float;
use crate::report::{Stop, quote};

/// Compute how often hosts without coordination mint equal IDs, and when they never do
///
/// Two hosts can mint equal IDs only in the same millisecond, for one session or for two sessions that share type and hash.
/// The model assumes that messages arrive independently, that the hosts' clocks agree, and that all sessions have one type.
/// docs/DESIGN.md derives the formulas.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  imid risk --hosts 8 --rate 10
  imid risk --hosts 8 --rate 100000 --rooms 1e6 --zipf 1.0 --busiest 100")]
pub(crate) struct Args {
    /// Number of hosts, or of processes, that mint
    #[arg(long, value_name = "N", value_parser = whole_number(1..=4_096_u32), allow_negative_numbers = true)]
    hosts: u32,
    /// Messages per second of all sessions, such as 0.5, 100000 or 1e5
    #[arg(long, value_name = "RATE", value_parser = rate, allow_negative_numbers = true)]
    rate: f64,
    /// Number of sessions, such as 1e6
    #[arg(long, value_name = "N", value_parser = rooms, default_value = "1", allow_negative_numbers = true)]
    rooms: f64,
    /// Exponent of Zipf's law: the messages of the session of rank k are proportional to k^-EXPONENT; 0 is the same for all
    #[arg(long, value_name = "EXPONENT", value_parser = zipf, default_value = "0", allow_negative_numbers = true)]
    zipf: f64,
    /// Messages per second of the busiest sessions, such as 100 or 100,80,50; no other session has more
    #[arg(long, value_name = "RATE", value_parser = rate, value_delimiter = ',', allow_negative_numbers = true)]
    busiest: Vec<f64>,
}

impl Args {
    pub(crate) fn run(&self, out: &mut Out) -> Result<(), Stop> {
        let sessions = Sessions::new(self.rooms, self.zipf, &self.busiest, self.rate)
            .map_err(|problem| Stop::Usage(format!("--busiest: {problem}")))?;
        report::write(&Forecast::new(self.hosts, sessions), self.rooms, out)
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
