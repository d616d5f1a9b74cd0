//! The questions and their answers.

use core::ops::Range;

use imid::dialect::Dialect;
use imid::{MessageId, SessionTag};
use imid_inspect::risk::{Forecast, Sessions, YEAR_S};
use imid_inspect::typed_time::{self, Day, TypedTime};
use imid_inspect::{
    Broken, BrokenKind, Field, Form, Found, Id, Pasted, Read, STANDARD, Scan, Scheme, identify, number, short_spellings,
};

use crate::json::{Object, list, string};

/// Answers a question.
pub fn answer(question: &str) -> String {
    let (name, rest) = question.split_once(SEPARATOR).unwrap_or((question, ""));
    match name {
        "read" => read(rest),
        "open" => open(rest),
        "room" => room(rest),
        "time" => time(rest),
        "offset" => typed_time::offset(rest.trim()).map_or("null".into(), |minutes| minutes.to_string()),
        "number" => decimal(rest),
        "bounds" => bounds(rest),
        "risk" => risk(rest),
        _ => quoted("expected a question"),
    }
}

const SEPARATOR: char = '\x1f';

/// Returns the values of a question. The last one takes the rest.
fn values<const N: usize>(text: &str) -> [&str; N] {
    let mut values = text.splitn(N, SEPARATOR);
    std::array::from_fn(|_| values.next().unwrap_or_default())
}

fn quoted(text: &str) -> String {
    let mut out = String::new();
    string(&mut out, text);
    out
}

/// Returns what a text is, with places in UTF-16 units: its IDs, or the ways to read the one that it is; the numbers that could be
/// IDs; a word that is not all of an ID; and why there is none.
fn read(question: &str) -> String {
    let [now, near, text] = values(question);
    let now_ms = now.parse().unwrap_or_default();
    let trimmed = text.trim();
    let mut places = Places { text, at: text.len() - text.trim_start().len(), byte: 0, units: 0 };
    let whole = 0..trimmed.len();
    let mut out = String::new();
    let mut object = Object::new(&mut out);
    let (pasted, problem) = match imid_inspect::read(trimmed, now_ms) {
        Ok(pasted) => (pasted, None),
        Err(not_pasted) => (not_pasted.instead, Some(not_pasted.error)),
    };
    object.raw("isOne", matches!(pasted, Pasted::One(_)));
    let Scan { ids, others, broken } = match pasted {
        Pasted::Text(scan) => scan,
        Pasted::One(mut readings) => {
            // The time nearest to that of the row or the log line comes first, and with equal distance the better rank.
            if let Ok(near_ms) = near.parse::<u64>() {
                readings.sort_by_key(|read| (read.id.timestamp_ms().abs_diff(near_ms), read.id.fit(now_ms).rank));
            }
            let ids = readings.into_iter().map(|read| Found { at: whole.clone(), read }).collect();
            Scan { ids, ..Scan::default() }
        }
    };
    list(object.member("ids"), &ids, |out, found| summary(out, found.read, places.units(&found.at)));
    list(object.member("others"), &others, |out, found| summary(out, found.read, places.units(&found.at)));
    let out_broken = object.member("broken");
    match broken {
        Some(word) => write_broken(out_broken, &word, places.units(&word.at), now_ms),
        None => out_broken.push_str("null"),
    }
    let out_problem = object.member("problem");
    match problem {
        Some(problem) => {
            let mut object = Object::new(out_problem);
            object.text("message", &problem).raw("isForeign", problem.is_foreign());
            match problem.position() {
                Some(at) => object.raw("at", places.units(&(at..at))[0]),
                None => object.raw("at", "null"),
            };
            object.end();
        }
        None => out_problem.push_str("null"),
    }
    object.end();
    out
}

/// Counts UTF-16 units up to places that mostly follow each other.
struct Places<'a> {
    text: &'a str,
    /// Where the text without its white space begins.
    at: usize,
    byte: usize,
    units: usize,
}

impl Places<'_> {
    /// Returns the units of a place in bytes. Half a character is none.
    fn units(&mut self, at: &Range<usize>) -> [usize; 2] {
        let mut count = |byte: usize| {
            let byte = self.text.len().min(self.at + byte);
            let byte = (0..=byte).rev().find(|byte| self.text.is_char_boundary(*byte)).unwrap_or(0);
            if byte < self.byte {
                (self.byte, self.units) = (0, 0);
            }
            self.units += self.text[self.byte..byte].encode_utf16().count();
            self.byte = byte;
            self.units
        };
        [count(at.start), count(at.end)]
    }
}

/// Writes what is left of an ID, or what a mistyped one can have been.
fn write_broken(out: &mut String, word: &Broken, at: [usize; 2], now_ms: u64) {
    let mut object = Object::new(out);
    list(object.member("at"), at, |out, at| out.push_str(&at.to_string()));
    match &word.kind {
        BrokenKind::CutOff(cuts) => {
            object.raw("digits", cuts[0].digits);
            list(object.member("cuts"), cuts, |out, cut| {
                let mut object = Object::new(out);
                object.text("scheme", cut.first.scheme_name());
                object.raw("from", cut.first.timestamp_ms()).raw("to", cut.last.timestamp_ms()).end();
            });
        }
        BrokenKind::Mistyped { at: place, texts } => {
            let ids = texts.iter().filter_map(|text| identify(text, now_ms).first().copied());
            // The end is missing if nothing there is wrong.
            if *place < word.at.len() {
                object.raw("wrong", at[0] + place);
            }
            list(object.member("repairs"), ids, |out, read| summary(out, read, at));
        }
    }
    object.end();
}

fn summary(out: &mut String, read: Read, at: [usize; 2]) {
    let id = read.id;
    let mut object = Object::new(out);
    list(object.member("at"), at, |out, at| out.push_str(&at.to_string()));
    object.text("scheme", id.scheme_name()).text("key", id.sort_key().to_hex()).text("text", id);
    object.raw("ms", id.timestamp_ms()).text("type", type_name(id)).text("form", read.form.name());
    match id.session() {
        Some((_, hash)) => object.raw("hash", hash),
        None => object.raw("hash", "null"),
    };
    object.end();
}

/// Returns the type of the conversation in words, or its code if it has no name.
fn type_name(id: Id) -> String {
    let (Id::Message { dialect, .. }, Some((code, _))) = (id, id.session()) else { return String::new() };
    dialect.type_name(code).map_or_else(|| format!("type {code}"), |name| name.to_ascii_lowercase().replace('_', " "))
}

/// Returns all about an ID.
fn open(question: &str) -> String {
    let [scheme, key] = values(question);
    let scheme = Scheme::all().find(|other| other.name() == scheme);
    let (Some(scheme), Ok(key)) = (scheme, MessageId::from_hex(key)) else { return quoted("expected an ID") };
    let id = scheme.with_sort_key(key);
    let mut out = String::new();
    let mut object = Object::new(&mut out);
    object.text("scheme", id.scheme_name()).text("text", id).raw("ms", id.timestamp_ms());
    object.raw("lastMs", id.layout_end_ms());
    list(object.member("fields"), id.fields(), |out, field| write_field(out, id, field));
    let forms = [Form::Text, Form::Hex, Form::Int, Form::Uuid];
    let forms = forms.into_iter().filter_map(|form| Some((form.name(), id.in_form(form)?)));
    list(object.member("forms"), forms, |out, (name, form)| list(out, [name, &form], string));
    let spellings = short_spellings(id);
    list(object.member("spellings"), &spellings, |out, (form, text)| list(out, [form.name(), text], string));
    object.end();
    out
}

fn write_field(out: &mut String, id: Id, field: Field) {
    let (name, says) = match field.name {
        "timestamp" => ("time", "ms since 1970".to_owned()),
        "type" => ("type", type_name(id)),
        "hash" => ("room hash", String::new()),
        "tick" => ("ticks", "since the layout's epoch".to_owned()),
        name => (name, String::new()),
    };
    let mut object = Object::new(out);
    object.text("name", name).text("bits", format_args!("{:0width$b}", field.value, width = field.bits as usize));
    object.text("value", field.value).text("says", says).end();
}

/// Returns the hashes that a room has in each dialect.
fn room(question: &str) -> String {
    let [name, peer] = values(question);
    let hashes = Dialect::ALL.iter().flat_map(|dialect| {
        let hashes = match (dialect.name(), peer) {
            (_, "") => [dialect.hash_of(name), None],
            ("standard", _) => [Some(SessionTag::pair(name, peer).session_hash().to_u32()), None],
            ("juggleim", _) => [dialect.hash_of(&[name.min(peer), name.max(peer)].join(":")), None],
            // RongCloud hashes the addressed one of the two.
            _ => [dialect.hash_of(name), dialect.hash_of(peer)],
        };
        hashes.into_iter().flatten().map(|hash| (dialect.name(), hash))
    });
    let mut out = String::new();
    list(&mut out, hashes, |out, (name, hash)| {
        out.push('[');
        string(out, name);
        out.push_str(&format!(",{hash}]"));
    });
    out
}

const DAY_MS: i64 = 86_400_000;

/// Returns a typed time: its milliseconds, or what the clocks of a zone show, on a day or a number of days before today; or what is
/// wrong.
fn time(question: &str) -> String {
    let [now, text] = values(question);
    let typed = match typed_time::parse(text.trim(), now.parse().unwrap_or_default()) {
        Ok(typed) => typed,
        Err(message) => return quoted(&message),
    };
    let (name, value, clock) = match typed {
        TypedTime::At(ms) => ("at", ms.cast_signed(), None),
        TypedTime::Shown(Day::Number(day), ms) => ("shown", day * DAY_MS + ms.unwrap_or(0).cast_signed(), ms),
        TypedTime::Shown(Day::BeforeToday(days), ms) => ("before", days.cast_signed(), ms),
    };
    let mut out = String::new();
    let mut object = Object::new(&mut out);
    object.raw(name, value);
    match clock {
        Some(ms) => object.raw("clock", ms),
        None => object.raw("clock", "null"),
    };
    object.end();
    out
}

/// Returns a number as JavaScript reads it, or `null`. People group digits with commas, spaces and underscores.
fn decimal(text: &str) -> String {
    number::decimal(&text.replace([',', '_', ' '], "")).map_or("null".into(), |digits| quoted(&digits))
}

/// Returns the first and the last ID of a range of times, in all forms.
fn bounds(question: &str) -> String {
    let [from, to] = values(question).map(|ms| ms.parse::<u64>().ok());
    let (Some(from), Some(to)) = (from, to) else { return quoted("expected two times from 1970 on") };
    match MessageId::range(from..to) {
        Ok(range) => {
            let mut out = String::new();
            list(&mut out, [*range.start(), *range.end()], |out, id| {
                let id = STANDARD.with_sort_key(id);
                let mut object = Object::new(out);
                for form in [Form::Text, Form::Hex, Form::Int, Form::Uuid] {
                    // PANIC: an ID of the standard dialect has all forms.
                    object.text(form.name(), id.in_form(form).expect("a standard ID has each form"));
                }
                object.end();
            });
            out
        }
        Err(error) => quoted(&error.to_string()),
    }
}

/// Reads a number, written as the integer of its bits: reading and writing decimal fractions would be a tenth of the module.
fn float(bits: &str) -> f64 {
    f64::from_bits(bits.parse().unwrap_or_default())
}

/// Returns how often IDs repeat for each way to deploy. Numbers are written as the integers of their bits.
fn risk(question: &str) -> String {
    let [hosts, rate, rooms, zipf, busiest] = values(question);
    let [hosts, rate, rooms, zipf, busiest] = [hosts, rate, rooms, zipf, busiest].map(float);
    let (hosts, busiest) = (hosts as u32, if busiest > 0.0 { vec![busiest] } else { vec![] });
    let sessions = match Sessions::new(rooms.floor(), zipf, &busiest, rate) {
        Ok(sessions) => sessions,
        Err(problem) => return quoted(&problem),
    };
    let forecast = Forecast::new(hosts, sessions);
    let mut out = String::new();
    let mut object = Object::new(&mut out);
    list(object.member("modes"), &forecast.rows, |out, row| {
        let mut object = Object::new(out);
        object.text("name", row.title);
        match row.condition {
            Some(condition) => object.text("condition", condition),
            None => object.raw("condition", "null"),
        };
        object.text("perYear", (row.equal_ids * YEAR_S).to_bits());
        match row.one_a_year_at {
            Some(rate) => object.text("oneAt", rate.to_bits()),
            None => object.raw("oneAt", "null"),
        };
        object.end();
    });
    object.text("advice", advice(&forecast));
    object.end();
    out
}

/// Says what to do, as docs/DEPLOY.md does.
fn advice(forecast: &Forecast) -> String {
    if forecast.hosts == 1 {
        return "One process needs no coordination. imid-lease with a file also excludes duplicates after a crash."
            .into();
    }
    let (bits, hosts) = (forecast.lane_bits(), forecast.hosts);
    let stripes = match forecast.stripes() as u64 {
        1 => String::new(),
        stripes => format!(" Use {stripes} stripes, so that each is at most half full."),
    };
    let lanes = 1 << bits;
    format!(
        "Mint after the last ID of the locked room. Hosts that mint without its lock: imid-lease with {bits} lane bits, {lanes} lanes \
         for {hosts} hosts and those that replace them.{stripes}"
    )
}
