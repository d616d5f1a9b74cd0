//! `--resume`: continues a run that ended early after what it wrote.

use bstr::ByteSlice;
use imid_inspect::{Id, Scheme};

use super::Args;
use super::minter;
use super::plan::Facts;
use super::replay::Replay;
use crate::candidates;
use crate::input::{Block, Input, Records, too_long};
use crate::json::JsonLine;
use crate::message::{Message, Value, field};
use crate::output_file::PartFile;
use crate::report::{Stop, quote, quote_path};
use crate::time::rfc3339;

/// What a run wrote before it ended.
#[derive(Default)]
pub(super) struct PreviousOutput {
    /// Number of lines. For CSV and TSV, number of records with the header.
    pub(super) items: u64,
    /// Number of bytes of the line end of the last record. It can be the `\r` of a `\r\n`.
    pub(super) line_end: usize,
    /// Number of bytes of blank lines after the last record.
    pub(super) blank: usize,
    /// Number of bytes, without an incomplete line or record at the end.
    pub(super) len: u64,
    /// The header of CSV and TSV, without its line end.
    header: Vec<u8>,
    /// The last message. It is made again from the input.
    sample: Option<Sample>,
}

/// A message of the output.
struct Sample {
    /// Its place among the lines or records, from 1.
    number: u64,
    text: Vec<u8>,
    id: Id,
    /// Mints its ID again, from the ID before it; only with times of messages.
    replay: Option<Replay>,
    /// Whether the ID that is minted again is the same.
    has_seed: bool,
}

/// The last two messages of the output.
#[derive(Default)]
struct Messages {
    before_last: Option<Found>,
    last: Option<Found>,
}

/// A message of the output, and its ID or why it has none. Only the last two must have one.
struct Found {
    number: u64,
    text: Vec<u8>,
    id: Result<Id, Stop>,
}

impl Messages {
    /// Adds a message. Those before the last two can be left out.
    fn add(&mut self, found: Found) {
        self.before_last = self.last.replace(found);
    }

    fn sample(self, args: &Args) -> Result<Option<Sample>, Stop> {
        let Some(Found { number, text, id }) = self.last else { return Ok(None) };
        let before = match self.before_last {
            Some(found) => Some(found.id?),
            None => args.after.id(args.dialect)?,
        };
        let (replay, has_seed) = (minter::replay(args, before)?, args.seed.is_some());
        Ok(Some(Sample { number, text, id: id?, replay, has_seed }))
    }
}

impl PreviousOutput {
    /// Reads the output of a run. `delimiter` is the byte between two fields of CSV or TSV.
    pub(super) fn read(target: &PartFile, delimiter: Option<u8>, args: &Args) -> Result<Self, Stop> {
        let name = quote_path(target.part());
        let input = Input::new(Box::new(target.reader()?), name.clone())?;
        match delimiter {
            Some(delimiter) => Self::read_records(input, delimiter, args, &name),
            None => Self::read_lines(input, args, &name),
        }
    }

    fn read_lines(mut input: Input, args: &Args, name: &str) -> Result<Self, Stop> {
        let (mut written, mut messages) = (Self::default(), Messages::default());
        while let Some(block) = input.next()? {
            let Block::Lines(lines) = block else { return Err(in_line(name, written.items + 1, &too_long())) };
            // The last two messages of each block.
            let mut kept = [None; 2];
            for line in lines.lines_with_terminator() {
                if !line.ends_with(b"\n") {
                    // Only the last line, and only if the run was killed or the system crashed.
                    break;
                }
                written.items += 1;
                written.len += line.len() as u64;
                if !line.trim_ascii().is_empty() {
                    kept = [kept[1], Some((written.items, line))];
                }
            }
            for (number, line) in kept.into_iter().flatten() {
                let id = JsonLine::read(line).and_then(|object| read_id(&object, args));
                let id = id.map_err(|problem| in_line(name, number, &problem));
                messages.add(Found { number, text: line.to_vec(), id });
            }
        }
        Ok(Self { sample: messages.sample(args)?, ..written })
    }

    fn read_records(mut input: Input, delimiter: u8, args: &Args, name: &str) -> Result<Self, Stop> {
        let (mut written, mut messages) = (Self::default(), Messages::default());
        let mut records = Records::new(delimiter);
        loop {
            let piece = input.next_piece(&records)?;
            let has_ended = piece.is_empty();
            let rest = records.feed_cut(piece, |record| {
                // A record that was cut.
                if record.line_end.is_empty() {
                    return Ok(());
                }
                written.items += 1;
                written.len += (record.text.len() + record.line_end.len()) as u64;
                written.line_end = record.line_end.len();
                let text = record.text[record.text.find_not_byteset(b"\r\n").unwrap_or(0)..].to_vec();
                if record.as_header().is_some() {
                    written.header = text;
                    return Ok(());
                }
                let id = record.check().and_then(|()| read_id(&record, args));
                let id = id.map_err(|problem| in_line(name, record.line, &problem));
                messages.add(Found { number: written.items, text, id });
                Ok(())
            })?;
            if has_ended {
                written.blank = rest.find_not_byteset(b"\r\n").unwrap_or(rest.len());
                written.len += written.blank as u64;
                return Ok(Self { sample: messages.sample(args)?, ..written });
            }
        }
    }

    /// Returns the ID of the last message.
    pub(super) fn last(&self) -> Option<Id> {
        self.sample.as_ref().map(|sample| sample.id)
    }

    /// Checks that the output has this header.
    pub(super) fn check_header(&self, made: &[u8]) -> Result<(), Stop> {
        check_text("the header", made, &self.header)
    }

    /// Checks that a message of the output is made from this message of the input with the arguments of this run, if it is the
    /// last one. `number` is its place among the lines or records, and `make` returns what it is made from, and the message
    /// with an ID.
    pub(super) fn check(
        &mut self,
        number: u64,
        line: u64,
        make: impl FnOnce(Id) -> Result<(Facts, Vec<u8>), String>,
    ) -> Result<(), Stop> {
        let Some(sample) = self.sample.as_mut().filter(|sample| sample.number == number) else { return Ok(()) };
        let place = format!("line {line}");
        let (facts, text) = make(sample.id).map_err(|problem| refused(&format!("{place}: {problem}")))?;
        check_text(&place, &text, &sample.text)?;
        sample.check_id(facts, line).map_err(|problem| refused(&format!("the ID of {place} of FILE.part: {problem}")))
    }

    /// Returns the error for an input that has fewer lines or records than the output.
    pub(super) fn too_few(&self, found: u64, noun: &str) -> Stop {
        let expected = self.items;
        Stop::Error(format!("--resume: expected at least {expected} {noun} of input, as in the output, found {found}"))
    }
}

impl Sample {
    /// Checks that this run would have minted the ID.
    fn check_id(&mut self, facts: Facts, line: u64) -> Result<(), String> {
        let found = self.id.sort_key();
        let (expected, session) = (facts.session, found.session_tag());
        if expected != session {
            let fields = |tag: imid::SessionTag| format!("type {}, hash {}", tag.session_type(), tag.session_hash());
            return Err(format!("expected {}, found {}", fields(expected), fields(session)));
        }
        let Some(replay) = &mut self.replay else { return Ok(()) };
        let expected = replay.mint(facts.session, facts.unix_ms, line)?;
        if expected.timestamp_ms() != found.timestamp_ms() {
            let [expected, found] = [expected, found].map(|id| rfc3339(id.timestamp_ms()));
            return Err(format!("expected the time {expected}, found {found}"));
        }
        // Without a seed, each run begins a millisecond at another spin.
        if self.has_seed && expected != found {
            let expected = self.id.scheme().with_sort_key(expected);
            return Err(format!("expected {expected} with this seed, found {}", self.id));
        }
        Ok(())
    }
}

/// Reads the ID of a message of the output.
fn read_id(message: &impl Message, args: &Args) -> Result<Id, String> {
    let id = field(message, &args.id_field[0], Value::string)?;
    candidates::read_id(Scheme::Dialect(args.dialect), &id)
}

/// Checks that a text of the output is what this run makes.
fn check_text(place: &str, made: &[u8], found: &[u8]) -> Result<(), Stop> {
    if made == found {
        return Ok(());
    }
    let at = made.iter().zip(found).take_while(|(made, found)| made == found).count();
    let from = |text: &[u8]| quote(&text[at..].to_str_lossy());
    let (expected, found) = (from(made), from(found));
    Err(refused(&format!("{place} of FILE.part is not that of the input: expected {expected} at {at}, found {found}")))
}

/// The error for an output that another run wrote.
fn refused(problem: &str) -> Stop {
    let hint = "--resume needs the input and the options of the first run, which had no --keep-going";
    Stop::Error(format!("{problem}; {hint}"))
}

fn in_line(name: &str, line: u64, problem: &str) -> Stop {
    Stop::Error(format!("--resume: line {line} of {name}: {problem}"))
}
