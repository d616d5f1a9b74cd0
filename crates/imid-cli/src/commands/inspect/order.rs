//! Shows several IDs in the order of their times, with the time between them, and which have one session.

use std::io::Write;

use imid_inspect::time::duration;
use imid_inspect::{Id, Scheme, named_type};

use crate::Out;
use crate::report::Stop;
use crate::time::{ZoneArg, now_ms};

/// The most IDs that are put in order. More lines are not for people, and `check` and `stats` have no such limit.
pub(super) const MAX_IDS: usize = 1_000;

/// An ID in the order of the IDs.
struct Item {
    /// The place in the input, from 1.
    number: usize,
    id: Id,
    /// The time since the ID before it.
    since_previous_ms: Option<u64>,
    /// The index of its session among all sessions. `None` for a Snowflake.
    session: Option<usize>,
}

/// Writes the table.
pub(super) fn write(out: &mut Out, ids: &[Id], zone: &ZoneArg) -> Result<(), Stop> {
    let is_increasing = ids.is_sorted_by(|a, b| a.sort_key() < b.sort_key());
    let mut sorted: Vec<_> = ids.iter().enumerate().collect();
    sorted.sort_by_key(|(_, id)| id.sort_key());
    let (mut items, mut sessions, mut previous_ms) = (Vec::new(), Vec::new(), None);
    for (index, id) in sorted {
        let session = id.session().map(|session| {
            let known = sessions.iter().position(|(other, _)| *other == session);
            known.unwrap_or_else(|| {
                sessions.push((session, *id));
                sessions.len() - 1
            })
        });
        let unix_ms = id.timestamp_ms();
        let since_previous_ms = previous_ms.replace(unix_ms).map(|previous| unix_ms - previous);
        items.push(Item { number: index + 1, id: *id, since_previous_ms, session });
    }
    let sessions: Vec<_> = sessions.iter().map(|(session, id)| describe(*session, *id)).collect();
    write_table(out, &items, &sessions, is_increasing, zone)
}

fn describe((code, hash): (u8, u32), id: Id) -> String {
    let name = match id.scheme() {
        Scheme::Dialect(dialect) => named_type(dialect, code),
        Scheme::Snowflake(_) => code.to_string(),
    };
    format!("type {name}, hash {hash}")
}

/// Returns the time since the ID before.
fn since(ms: u64) -> String {
    format!("+{}", duration(ms))
}

fn write_table(
    out: &mut Out,
    items: &[Item],
    sessions: &[String],
    is_increasing: bool,
    zone: &ZoneArg,
) -> Result<(), Stop> {
    let now = now_ms();
    let number_width = items.iter().map(|item| item.number).max().unwrap_or(0).to_string().len();
    let id_width = items.iter().map(|item| item.id.to_string().len()).max().unwrap_or(0);
    let mut line = |number: &str, id: &str, session: &str, unix_ms: u64, since: &str| {
        let time = zone.rfc3339(unix_ms);
        let line = format!("{number:>number_width$}  {id:<id_width$}  {session:<2}  {time}  {since}");
        writeln!(out, "{}", line.trim_end())
    };
    let mut now_is_due = true;
    for (index, item) in items.iter().enumerate() {
        let unix_ms = item.id.timestamp_ms();
        let previous = index.checked_sub(1).map(|index| items[index].id.timestamp_ms());
        if now_is_due && unix_ms > now {
            now_is_due = false;
            line("", "now", "", now, &previous.map_or(String::new(), |previous| since(now - previous)))?;
        }
        let is_equal = index > 0 && items[index - 1].id.sort_key() == item.id.sort_key();
        let since = item.since_previous_ms.map(since).unwrap_or_default();
        let since = if is_equal { "equal to the ID before it".to_owned() } else { since };
        let session = item.session.map(letters).unwrap_or_default();
        line(&item.number.to_string(), &item.id.to_string(), &session, unix_ms, &since)?;
    }
    if now_is_due {
        let last = items.last().map_or(now, |item| item.id.timestamp_ms());
        line("", "now", "", now, &since(now.saturating_sub(last)))?;
    }
    writeln!(out)?;
    let span_ms = items.iter().filter_map(|item| item.since_previous_ms).sum();
    writeln!(out, "span    {}", duration(span_ms))?;
    let order = if is_increasing { "the input is strictly increasing" } else { "the input is not strictly increasing" };
    writeln!(out, "order   {order}")?;
    match sessions {
        [] => {}
        [session] => writeln!(out, "session A: {session}; all IDs have it")?,
        sessions => {
            for (index, session) in sessions.iter().enumerate().take(MAX_SESSIONS) {
                writeln!(out, "session {}: {session}", letters(index))?;
            }
            if sessions.len() > MAX_SESSIONS {
                writeln!(out, "        and {} more", sessions.len() - MAX_SESSIONS)?;
            }
        }
    }
    Ok(())
}

/// The most sessions that are described after the table.
const MAX_SESSIONS: usize = 26;

/// Returns A to Z, then AA, AB and so on.
fn letters(index: usize) -> String {
    let letter = char::from(b'A' + (index % 26) as u8);
    if index < 26 { letter.to_string() } else { letters(index / 26 - 1) + &letter.to_string() }
}
