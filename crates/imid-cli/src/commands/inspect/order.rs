//! Shows several IDs in the order of their times, with the time between them, and which have one session.

use std::io::Write;

use imid_inspect::time::duration;
use imid_inspect::{Id, named_type};

use crate::Out;
use crate::report::Stop;
use crate::time::{ZoneArg, now_ms};

/// The most IDs that are put in order. More lines are not for people, and `check` and `stats` have no such limit.
pub(super) const MAX_IDS: usize = 1_000;

/// Writes the table, and what it says about the order and the sessions.
pub(super) fn write(out: &mut Out, ids: &[Id], zone: &ZoneArg) -> Result<(), Stop> {
    // The IDs of a pasted text can be of several systems, whose bits do not sort by time together.
    let key = |id: &Id| (id.timestamp_ms(), id.sort_key());
    let mut sorted: Vec<_> = (1..).zip(ids).collect();
    sorted.sort_by_key(|(_, id)| key(id));
    let sessions = write_table(out, &sorted, zone)?;

    let times = || ids.iter().map(|id| id.timestamp_ms());
    let span_ms = times().max().unwrap_or(0) - times().min().unwrap_or(0);
    writeln!(out, "\nspan    {}", duration(span_ms))?;
    let not = if ids.is_sorted_by(|a, b| key(a) < key(b)) { "" } else { "not " };
    writeln!(out, "order   the input is {not}strictly increasing")?;
    if let [session] = &sessions[..]
        && ids.iter().all(|id| id.session().is_some())
    {
        return Ok(writeln!(out, "session A: {session}; all IDs have it")?);
    }
    for (index, session) in sessions.iter().enumerate().take(MAX_SESSIONS) {
        writeln!(out, "session {}: {session}", letters(index))?;
    }
    if sessions.len() > MAX_SESSIONS {
        writeln!(out, "        and {} more", sessions.len() - MAX_SESSIONS)?;
    }
    Ok(())
}

/// Writes a line for each ID, and one for the present time. Returns the sessions in the order of their letters.
fn write_table(out: &mut Out, sorted: &[(usize, &Id)], zone: &ZoneArg) -> Result<Vec<String>, Stop> {
    let number_width = sorted.len().to_string().len();
    let id_width = sorted.iter().map(|(_, id)| id.to_string().len()).max().unwrap_or(0);
    let mut line = |number: &str, id: &str, session: &str, unix_ms: u64, since: &str| {
        let time = zone.rfc3339(unix_ms);
        let line = format!("{number:>number_width$}  {id:<id_width$}  {session:<2}  {time}  {since}");
        writeln!(out, "{}", line.trim_end())
    };
    let (mut sessions, mut previous, mut now) = (Vec::new(), None, Some(now_ms()));
    for (number, id) in sorted {
        let unix_ms = id.timestamp_ms();
        if let Some(now) = now.take_if(|now| *now < unix_ms) {
            line("", "now", "", now, &since(previous, now))?;
        }
        let is_equal = previous.is_some_and(|previous: &Id| previous.sort_key() == id.sort_key());
        let since = if is_equal { "equal to the ID before it".to_owned() } else { since(previous, unix_ms) };
        let session = session(**id).map(|session| {
            let known = sessions.iter().position(|known| *known == session);
            letters(known.unwrap_or_else(|| {
                sessions.push(session);
                sessions.len() - 1
            }))
        });
        line(&number.to_string(), &id.to_string(), &session.unwrap_or_default(), unix_ms, &since)?;
        previous = Some(*id);
    }
    if let Some(now) = now {
        line("", "now", "", now, &since(previous, now))?;
    }
    Ok(sessions)
}

/// Returns the time since the ID before.
fn since(previous: Option<&Id>, unix_ms: u64) -> String {
    previous.map_or_else(String::new, |id| format!("+{}", duration(unix_ms - id.timestamp_ms())))
}

/// Returns the session of an ID. A Snowflake has none.
fn session(id: Id) -> Option<String> {
    let Id::Message { dialect, id } = id else { return None };
    Some(format!("type {}, hash {}", named_type(dialect, id.type_code()), id.session_hash()))
}

/// The most sessions that are described after the table.
const MAX_SESSIONS: usize = 26;

/// Returns A to Z, then AA, AB and so on.
fn letters(index: usize) -> String {
    let letter = char::from(b'A' + (index % 26) as u8);
    if index < 26 { letter.to_string() } else { letters(index / 26 - 1) + &letter.to_string() }
}
