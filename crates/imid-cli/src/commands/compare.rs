//! `imid compare`: puts IDs in order, with the time between them.

use std::collections::HashMap;
use std::io::Write;

use imid::dialect::Dialect;
use imid_inspect::time::duration;
use imid_inspect::{Id, named_type};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::Out;
use crate::candidates::read_or_hint;
use crate::commands::id_texts::IdTexts;
use crate::json::{self, JsonArg};
use crate::report::Stop;
use crate::scheme::SchemeArg;
use crate::terminal::Terminal;
use crate::time::{ZoneArg, now_ms, rfc3339};

/// Sort IDs by time and show the time between them, their sessions and their order
///
/// Reads the same forms as imid inspect. Without arguments, reads standard input, one ID per line. The table has a line
/// for the present time. IDs with the same session letter have the same type and session hash.
///
/// The IDs are in memory, so there can be at most 1,000,000. imid check and imid stats read input of any size.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  imid compare EUN6-KDW2-5J2G-DUMH EUN6-KDW5-PB4G-DUMH
  imid new -n 3 | imid compare
  imid compare --json EUN6-KDW2-5J2G-DUMH 019aa2ac-6b40-7007-8fc8-56b000000000

JSON members:
  ids: objects in the order of the IDs
  ids[].number: the place in the input, from 1
  ids[].id, ids[].timestamp_ms, ids[].time: as in imid inspect
  ids[].since_previous_ms: the time since the ID before it; null for the first
  ids[].type, ids[].hash: the session; null for a Snowflake
  increasing: whether the IDs of the input strictly increase
  same_session: whether all IDs have one session; null for Snowflakes
  span_ms: the time from the first to the last ID
  now_ms: the present time")]
pub(crate) struct Args {
    #[command(flatten)]
    ids: IdTexts,
    #[command(flatten)]
    json: JsonArg,
    #[command(flatten)]
    zone: ZoneArg,
    #[command(flatten)]
    scheme: SchemeArg,
}

/// The most IDs. They take 96 MB. More lines are not for people, and `check` has no such limit.
const MAX_IDS: usize = 1_000_000;

/// An ID and its place in the input, from 1.
struct Item {
    number: u64,
    id: Id,
    /// The time since the ID before it in the order of the IDs.
    since_previous_ms: Option<u64>,
    /// The index of its session among all sessions. `None` for a Snowflake.
    session: Option<usize>,
}

/// The object is made when it is written, because all of them would take much more memory than the IDs.
impl Serialize for Item {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (unix_ms, session) = (self.id.timestamp_ms(), session_of(self.id));
        let mut object = serializer.serialize_map(None)?;
        object.serialize_entry("number", &self.number)?;
        object.serialize_entry("id", &format_args!("{}", self.id))?;
        object.serialize_entry("timestamp_ms", &unix_ms)?;
        object.serialize_entry("time", &rfc3339(unix_ms))?;
        object.serialize_entry("since_previous_ms", &self.since_previous_ms)?;
        object.serialize_entry("type", &session.map(|(code, ..)| code))?;
        object.serialize_entry("hash", &session.map(|(_, hash, _)| hash))?;
        object.end()
    }
}

/// The comparison as a JSON object.
#[derive(Serialize)]
struct Comparison<'a> {
    ids: &'a [Item],
    /// Whether the IDs of the input strictly increase.
    increasing: bool,
    /// `None` for Snowflakes.
    same_session: Option<bool>,
    span_ms: u64,
    now_ms: u64,
}

impl Args {
    pub(crate) fn run(&self, out: &mut Out) -> Result<(), Stop> {
        let mut items = self.items(out)?;
        if items.is_empty() {
            return Err(Stop::Error("expected at least one ID, found none".into()));
        }
        let is_increasing = items.is_sorted_by(|a, b| a.id.sort_key() < b.id.sort_key());
        // Equal IDs stay in the order of the input. A stable sort would take more memory.
        items.sort_unstable_by_key(|item| (item.id.sort_key(), item.number));
        let mut previous_ms = None;
        for item in &mut items {
            let unix_ms = item.id.timestamp_ms();
            item.since_previous_ms = previous_ms.replace(unix_ms).map(|previous| unix_ms - previous);
        }
        let sessions = number_sessions(&mut items)?;
        let span_ms = items.iter().filter_map(|item| item.since_previous_ms).sum();
        if self.json.json {
            let same_session = (!sessions.is_empty()).then_some(sessions.len() == 1);
            let comparison =
                Comparison { ids: &items, increasing: is_increasing, same_session, span_ms, now_ms: now_ms() };
            return json::write_line(out, &comparison);
        }
        write_table(out, &items, &sessions, is_increasing, span_ms, &self.zone)
    }

    fn items(&self, out: &mut Out) -> Result<Vec<Item>, Stop> {
        let mut items = Vec::new();
        self.ids.each(out, |_, place, text| {
            if items.len() == MAX_IDS {
                return Err(Stop::Error(format!("{place}: expected at most {MAX_IDS} IDs, found more")));
            }
            items.try_reserve(1).map_err(|_| Stop::out_of_memory())?;
            let read = text.and_then(|text| read_or_hint(self.scheme.scheme, text, None));
            let read = read.map_err(|problem| Stop::Error(format!("{place}: {problem}")))?;
            items.push(Item { number: place.number, id: read.id, since_previous_ms: None, session: None });
            Ok(())
        })?;
        Ok(items)
    }
}

/// A session type and hash, and the dialect that names the type.
type SessionFields = (u8, u32, &'static Dialect<'static>);

fn session_of(id: Id) -> Option<SessionFields> {
    let Id::Message { dialect, id } = id else { return None };
    Some((id.type_code(), id.session_hash(), dialect))
}

/// Numbers the sessions in the order of the IDs.
fn number_sessions(items: &mut [Item]) -> Result<Vec<SessionFields>, Stop> {
    let mut sessions: Vec<SessionFields> = Vec::new();
    let mut numbers = HashMap::new();
    for item in items {
        if let Some(session) = session_of(item.id) {
            numbers.try_reserve(1).map_err(|_| Stop::out_of_memory())?;
            sessions.try_reserve(1).map_err(|_| Stop::out_of_memory())?;
            item.session = Some(*numbers.entry((session.0, session.1)).or_insert_with(|| {
                sessions.push(session);
                sessions.len() - 1
            }));
        }
    }
    Ok(sessions)
}

fn describe((code, hash, dialect): &SessionFields) -> String {
    format!("type {}, hash {hash}", named_type(dialect, *code))
}

/// Returns the time since the ID before.
fn since(ms: u64) -> String {
    format!("+{}", duration(ms))
}

/// The width of the table with times in UTC, IDs of 19 characters and a difference of up to 16.
const TABLE_WIDTH: usize = 78;

fn write_table(
    out: &mut Out,
    items: &[Item],
    sessions: &[SessionFields],
    is_increasing: bool,
    span_ms: u64,
    zone: &ZoneArg,
) -> Result<(), Stop> {
    let now = now_ms();
    let is_wide = Terminal::stdout().fits(TABLE_WIDTH + zone.rfc3339(now).len() - rfc3339(now).len());
    let number_width = items.iter().map(|item| item.number).max().unwrap_or(0).to_string().len();
    let id_width = items.iter().map(|item| item.id.to_string().len()).max().unwrap_or(0);
    let mut line = |number: &str, id: &str, session: &str, unix_ms: u64, since: &str| {
        let start = format!("{number:>number_width$}  {id:<id_width$}  {session:<2}");
        let time = zone.rfc3339(unix_ms);
        let line = if is_wide {
            format!("{start}  {time}  {since}")
        } else {
            format!("{}\n{:number_width$}  {time}  {since}", start.trim_end(), "")
        };
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
    writeln!(out, "span    {}", duration(span_ms))?;
    let order = if is_increasing { "the input is strictly increasing" } else { "the input is not strictly increasing" };
    writeln!(out, "order   {order}")?;
    match sessions {
        [] => {}
        [session] => writeln!(out, "session A: {}; all IDs have it", describe(session))?,
        sessions => {
            for (index, session) in sessions.iter().enumerate().take(MAX_SESSIONS) {
                writeln!(out, "session {}: {}", letters(index), describe(session))?;
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
