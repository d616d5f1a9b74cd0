//! The schemes that could have made an ID.

use imid::clock::{Clock, SystemClock};

use crate::form::{Form, Read, ReadForm, all_schemes, hex_prefix_len};
use crate::scheme::{Id, Scheme};
use crate::time::rfc3339;

/// A way to read a text.
#[derive(Clone, Copy)]
pub(crate) struct Reading {
    pub(crate) read: Read,
    /// Whether the time is between 2005 and two years from now.
    pub(crate) is_plausible: bool,
}

/// The shortest text that is worth a hint: 16 digits. Shorter numbers are Snowflakes too, but of the first minutes after
/// an epoch.
const MIN_HINTED: usize = 16;

/// Returns the present time, in unix milliseconds. Without a clock, every time since 2005 is plausible.
pub(crate) fn now_ms() -> u64 {
    SystemClock.now_ms().unwrap_or(u64::MAX)
}

/// Returns the ways to read a text, the likely ones first.
///
/// The order is: a plausible standard ID, other plausible IDs, other plausible IDs in an inexact form (such as lower case
/// without dashes), implausible IDs. An inexact form with an implausible time is returned only if there is nothing else.
pub(crate) fn readings(text: &str, now_ms: u64) -> Vec<Reading> {
    let mut readings: Vec<Reading> = all_schemes()
        .filter_map(|scheme| {
            let read = scheme.recognize(text).ok()?;
            // Any 16 hex digits fit each Snowflake layout. Without a prefix they are read only by layouts that write hex.
            let is_snowflake = matches!(scheme, Scheme::Snowflake(_));
            let is_exact = read.form == ReadForm::Exact(Form::Text);
            (is_exact || !is_snowflake || hex_prefix_len(text) > 0).then_some(read)
        })
        .map(|read| Reading { read, is_plausible: read.id.candidate().is_plausible(now_ms) })
        .collect();
    readings.sort_by_key(|reading| rank(*reading));
    if readings.first().is_some_and(|best| rank(*best) < INEXACT_AND_IMPLAUSIBLE) {
        readings.retain(|reading| rank(*reading) < INEXACT_AND_IMPLAUSIBLE);
    }
    readings
}

const INEXACT_AND_IMPLAUSIBLE: u8 = 4;

fn rank(reading: Reading) -> u8 {
    let is_exact = reading.read.form == ReadForm::Exact(Form::Text);
    match (reading.is_plausible, reading.read.id.is_standard(), is_exact) {
        (true, true, _) => 0,
        (true, _, true) => 1,
        (true, _, false) => 2,
        (false, _, true) => 3,
        (false, _, false) => INEXACT_AND_IMPLAUSIBLE,
    }
}

/// Reads an ID that a person gives. If it is of no form of the scheme, the error says which other scheme has such IDs.
pub(crate) fn read_or_hint(scheme: Scheme, text: &str, form: Option<Form>) -> Result<Read, String> {
    scheme.read(text, form).map_err(|problem| match hint(text.trim()) {
        Some(id) if form.is_none() => {
            format!("{problem}; imid identify reads it as {}, {}", id.scheme_name(), rfc3339(id.timestamp_ms()))
        }
        _ => problem,
    })
}

/// Returns the most likely ID that a text can be.
fn hint(text: &str) -> Option<Id> {
    let is_long = text.len() >= MIN_HINTED;
    let likely = readings(text, now_ms()).into_iter().next();
    likely.filter(|reading| is_long && reading.is_plausible).map(|reading| reading.read.id)
}
