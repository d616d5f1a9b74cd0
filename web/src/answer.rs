//! The questions and their answers.

use imid::MessageId;
use imid::SessionTag;
use imid::dialect::Dialect;
use imid_inspect::risk::{MODES, Mode, Pairs, Sessions, SessionsError, YEAR_S};
use imid_inspect::{Field, FieldName, Form, Id, Read, ReadForm, STANDARD, Scheme, identify, read_pasted, scan};

use crate::json::{Object, list, string};

/// The longest text that is read as one ID. Longer ones are searched.
const ONE: usize = 200;

/// Answers a question.
pub fn answer(question: &str) -> String {
    let (name, rest) = question.split_once(SEPARATOR).unwrap_or((question, ""));
    match name {
        "read" => read(rest),
        "open" => open(rest),
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
    let out_problem = object.member("problem");
    // What is of another system at an implausible time can be a mistyped ID.
    let is_doubtful = is_short && !trimmed.is_empty() && (places.is_empty() || is_one && !is_plausible);
    let expected = is_doubtful.then(|| Box::new(read_pasted(STANDARD, trimmed, None, now_ms)));
    match expected.as_deref() {
        Some(Err(problem)) => {
            let at = problem.error.position();
            let before = at.map_or(0, |at| text[..floor(text, start + at)].encode_utf16().count());
            let found = at.and_then(|at| text[floor(text, start + at)..].chars().next());
            let mut object = Object::new(out_problem);
            object.text("message", problem.error).raw("at", before).raw("length", found.map_or(0, char::len_utf16));
            object.text("fits", fits(found)).end();
        }
        _ => out_problem.push_str("null"),
    }
    object.end();
    out
}

/// Returns the nearest place at or before a byte at which a character begins.
fn floor(text: &str, byte: usize) -> usize {
    (0..=byte.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default()
}

/// Says what a person can have meant by a character that is not a digit of an ID.
fn fits(found: Option<char>) -> &'static str {
    match found {
        Some('0' | 'O' | 'o') => "no digit looks like it: 0 and O are never in an ID; look for a Q, a D or an 8",
        Some('1' | 'I' | 'i' | 'l') => "no digit looks like it: 1 and I are never in an ID; look for a J, an L or a 7",
        _ => "",
    }
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
    let forms: Vec<_> = [Form::Text, Form::Hex, Form::Int, Form::Uuid]
        .into_iter()
        .filter_map(|form| Some((ReadForm::Exact(form).name(), id.in_form(form)?)))
        .chain(base64(id).map(|text| (ReadForm::Base64.name(), text)))
        .collect();
    list(object.member("forms"), &forms, |out, (name, form)| list(out, [*name, form], string));
    let pattern: Vec<_> = forms.iter().map(|(_, form)| form.replace('+', "\\+")).collect();
    object.text("pattern", pattern.join("|"));
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

/// Returns the 10 bytes of a message ID in base 64.
fn base64(id: Id) -> Option<String> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    id.session()?;
    let digits = (0..14).map(|at| char::from(DIGITS[((id.sort_key().to_u128() << 4) >> (78 - 6 * at)) as usize & 63]));
    Some(digits.chain(['=', '=']).collect())
}

/// Returns the hash that a room has in each dialect.
fn room(question: &str) -> String {
    let [name, peer] = values(question);
    let hashes = Dialect::ALL.iter().filter_map(|dialect| {
        let hash = match (dialect.name(), peer) {
            (_, "") => dialect.hash_of(name),
            ("standard", _) => Some(SessionTag::pair(name, peer).session_hash().to_u32()),
            ("juggleim", _) => dialect.hash_of(&[name.min(peer), name.max(peer)].join(":")),
            // RongCloud hashes the addressed one of the two.
            _ => None,
        };
        Some((dialect.name(), hash?))
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
    let pairs = Pairs::expected(&sessions);
    let mut out = String::new();
    let mut object = Object::new(&mut out);
    list(object.member("modes"), MODES, |out, mode| {
        let mut object = Object::new(out);
        object.text("mode", mode.name()).text("name", mode.title());
        let is_alone = hosts == 1 && mode != Mode::Uuid7;
        match mode.condition().or(is_alone.then_some("while one process mints all IDs")) {
            Some(condition) => object.text("condition", condition),
            None => object.raw("condition", "null"),
        };
        object.text("perYear", (pairs.equal_ids(mode, hosts) * YEAR_S).to_bits());
        match pairs.growth_to_one_a_year(mode, hosts) {
            Some(growth) => object.text("oneAt", (growth * sessions.rate).to_bits()),
            None => object.raw("oneAt", "null"),
        };
        object.end();
    });
    object.text("advice", advice(hosts));
    object.end();
    out
}

/// Says what to do, as docs/DEPLOY.md does.
fn advice(hosts: u32) -> String {
    if hosts == 1 {
        return "One process needs no coordination. imid-lease with a file also excludes duplicates after a crash."
            .into();
    }
    // Two lanes for each host, because old and new processes overlap in a deployment.
    let bits = (2 * hosts).next_power_of_two().ilog2().min(12);
    format!("Use imid-lease with {bits} lane bits: {} lanes for {hosts} hosts and those that replace them.", 1 << bits)
}
