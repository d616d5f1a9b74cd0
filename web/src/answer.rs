//! The questions and their answers.

use imid::MessageId;
use imid::SessionTag;
use imid::dialect::Dialect;
use imid_inspect::risk::{Forecast, Mode, Sessions, SessionsError};
use imid_inspect::{
    CutOff, Field, FieldName, Form, Id, Read, ReadForm, STANDARD, Scheme, Spellings, WrongDigit, identify, read_pasted,
    scan,
};

use crate::json::{Object, list, string};

/// The longest text that is read as one ID. Longer ones are searched.
const ONE: usize = 200;

/// Answers a question.
pub fn answer(question: &str) -> String {
    let (name, rest) = question.split_once(SEPARATOR).unwrap_or((question, ""));
    match name {
        "read" => read(rest),
        "open" => open(rest),
        "mend" => mend(rest),
        "room" => room(rest),
        "bounds" => bounds(rest),
        "risk" => risk(rest),
        _ => problem("expected a question"),
    }
}

const SEPARATOR: char = '\x1f';

/// Returns the values of a question. The last one takes the rest.
fn values<const N: usize>(text: &str) -> [&str; N] {
    let mut values = text.splitn(N, SEPARATOR);
    std::array::from_fn(|_| values.next().unwrap_or_default())
}

fn problem(message: &str) -> String {
    let mut out = String::new();
    string(&mut out, message);
    out
}

/// An ID and its place in the text, in bytes.
struct Place {
    start: usize,
    end: usize,
    read: Read,
}

/// Returns the IDs of a text with their places in UTF-16 units, or what is wrong with the one ID that it should be.
fn read(question: &str) -> String {
    let [now, near, text] = values(question);
    let now_ms = now.parse().unwrap_or_default();
    let near_ms = near.parse::<u64>().ok();
    let trimmed = text.trim();
    let start = text.len() - text.trim_start().len();
    let is_short = trimmed.len() <= ONE && !trimmed.contains('\n');
    let mut readings = if is_short { identify(trimmed, now_ms) } else { Vec::new() };
    if let Some(near_ms) = near_ms {
        readings.sort_by_key(|read| (read.id.timestamp_ms().abs_diff(near_ms), read.id.fit(now_ms).0));
    }
    let is_plausible = readings.first().is_some_and(|best| best.id.is_plausible(now_ms));
    let is_exact = |read: &Read| read.form == ReadForm::Exact(Form::Text);
    if is_plausible && near_ms.is_none() {
        let keeps_exact = !readings.first().is_some_and(is_exact);
        readings.retain(|read| read.id.is_plausible(now_ms) || keeps_exact && is_exact(read));
    }
    let is_one = !readings.is_empty();
    let mut places: Vec<_> =
        readings.into_iter().map(|read| Place { start, end: start + trimmed.len(), read }).collect();
    if places.is_empty() {
        let found =
            scan(text, now_ms).map(|found| Place { start: found.at.start, end: found.at.end, read: found.read });
        places = found.collect();
    }

    let mut out = String::new();
    let mut object = Object::new(&mut out);
    object.raw("isOne", is_one);
    let (mut byte, mut units) = (0, 0);
    list(object.member("ids"), &places, |out, place| {
        // The ways to read one ID are at one place, and others follow each other.
        units += text[byte..place.start].encode_utf16().count();
        byte = place.start;
        let len = text[place.start..place.end].encode_utf16().count();
        summary(out, place.read, units, units + len);
    });
    // What is of another system at an implausible time can be a mistyped ID.
    let is_doubtful = is_short && !trimmed.is_empty() && (places.is_empty() || is_one && !is_plausible);
    object.raw("isDoubtful", is_doubtful);
    let out_problem = object.member("problem");
    let expected = if is_doubtful { read_pasted(STANDARD, trimmed, None, now_ms).err() } else { None };
    match expected {
        Some(problem) => {
            let mut object = Object::new(out_problem);
            object.text("message", problem.error).raw("isForeign", problem.error.foreign().is_some());
            match problem.error.position() {
                Some(at) => object.raw("at", units_before(text, start + at)),
                None => object.raw("at", "null"),
            };
            object.end();
        }
        _ => out_problem.push_str("null"),
    }
    object.end();
    out
}

/// Returns the UTF-16 units before a byte, or before the character that it is in.
fn units_before(text: &str, byte: usize) -> usize {
    let at = (0..=byte.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    text[..at.unwrap_or_default()].encode_utf16().count()
}

/// Returns what is wrong with a word: its only wrong digit and what fits there, or the times of an ID without its end.
fn mend(question: &str) -> String {
    let [now, word] = values(question);
    let now_ms = now.parse().unwrap_or_default();
    let mut out = String::new();
    if let Some(wrong) = WrongDigit::read(word, now_ms) {
        // Everything before a wrong digit is a digit of one byte.
        Object::new(&mut out).raw("at", wrong.at).text("fits", wrong.fits).end();
    } else if let Some(cut) = CutOff::read(word, now_ms) {
        let mut object = Object::new(&mut out);
        object.raw("digits", cut.digits).raw("from", cut.first.timestamp_ms()).raw("to", cut.last.timestamp_ms()).end();
    } else {
        out.push_str("null");
    }
    out
}

fn summary(out: &mut String, read: Read, start: usize, end: usize) {
    let id = read.id;
    let mut object = Object::new(out);
    list(object.member("at"), [start, end], |out, at| out.push_str(&at.to_string()));
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
    let (Some(scheme), Ok(key)) = (scheme, MessageId::from_hex(key)) else { return problem("expected an ID") };
    let id = scheme.with_sort_key(key);
    let mut out = String::new();
    let mut object = Object::new(&mut out);
    object.text("scheme", id.scheme_name()).text("text", id).raw("ms", id.timestamp_ms());
    object.raw("lastMs", id.layout_end_ms());
    list(object.member("fields"), id.fields(), |out, field| write_field(out, id, field));
    let forms = [Form::Text, Form::Hex, Form::Int, Form::Uuid];
    let forms = forms.into_iter().filter_map(|form| Some((ReadForm::Exact(form).name(), id.in_form(form)?)));
    list(object.member("forms"), forms, |out, (name, form)| list(out, [name, &form], string));
    let spellings = Spellings::new(id);
    list(object.member("spellings"), spellings.iter(), |out, (form, text)| list(out, [form.name(), text], string));
    object.end();
    out
}

fn write_field(out: &mut String, id: Id, field: Field) {
    let (name, says) = match field.name {
        FieldName::Timestamp => ("time", "ms since 1970".to_owned()),
        FieldName::Spin => ("spin", String::new()),
        FieldName::Type => ("type", type_name(id)),
        FieldName::Hash => ("room hash", String::new()),
        FieldName::Tick => ("ticks", "since the layout's epoch".to_owned()),
        FieldName::Node => ("node", String::new()),
        FieldName::Sequence => ("sequence", String::new()),
        _ => ("field", String::new()),
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

/// Returns the first and the last ID of a range of times, in all forms.
fn bounds(question: &str) -> String {
    let [from, to] = values(question).map(|ms| ms.parse::<u64>().ok());
    let (Some(from), Some(to)) = (from, to) else { return problem("expected two times from 1970 on") };
    match MessageId::range(from..to) {
        Ok(range) => {
            let mut out = String::new();
            list(&mut out, [*range.start(), *range.end()], |out, id| {
                let id = STANDARD.with_sort_key(id);
                let mut object = Object::new(out);
                for form in [Form::Text, Form::Hex, Form::Int, Form::Uuid] {
                    // PANIC: an ID of the standard dialect has all forms.
                    object.text(ReadForm::Exact(form).name(), id.in_form(form).expect("a standard ID has each form"));
                }
                object.end();
            });
            out
        }
        Err(error) => problem(&error.to_string()),
    }
}

/// Reads a number, written as the integer of its bits: reading and writing decimal fractions would be a tenth of the module.
fn number(bits: &str) -> f64 {
    f64::from_bits(bits.parse().unwrap_or_default())
}

/// Returns how often IDs repeat for each way to deploy. Numbers are written as the integers of their bits.
fn risk(question: &str) -> String {
    let [hosts, rate, rooms, zipf, busiest] = values(question);
    let [hosts, rate, rooms, zipf, busiest] = [hosts, rate, rooms, zipf, busiest].map(number);
    let (hosts, busiest) = (hosts as u32, if busiest > 0.0 { vec![busiest] } else { vec![] });
    let sessions = match Sessions::new(rooms.floor(), zipf, &busiest, rate) {
        Ok(sessions) => sessions,
        Err(SessionsError::Sessions { .. }) => return problem("more busy rooms than rooms"),
        Err(SessionsError::Listed { .. }) => return problem("the busiest room has more messages than all rooms"),
        Err(SessionsError::Others { .. }) => return problem("another room would be busier than the busiest one"),
    };
    let forecast = Forecast::new(hosts, sessions);
    let mut out = String::new();
    let mut object = Object::new(&mut out);
    list(object.member("modes"), &forecast.rows, |out, row| {
        let mut object = Object::new(out);
        object.text("mode", row.mode.name()).text("name", row.mode.title());
        match row.condition {
            Some(condition) => object.text("condition", condition),
            None => object.raw("condition", "null"),
        };
        object.text("perYear", row.per_year().to_bits());
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
    if forecast.recommended() == Mode::AnyHost {
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
        "Use imid-lease with {bits} lane bits: {lanes} lanes for {hosts} hosts and those that replace them.{stripes}"
    )
}
