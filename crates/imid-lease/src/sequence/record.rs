//! The records of a sequence in the register, as text.
//!
//! A record is one line of words: the version of the format, the kind of record, and named fields in a fixed order.

use core::fmt;
use core::num::NonZeroU32;
use core::str::{FromStr, SplitAsciiWhitespace};

use super::engine::MAX_BOUND;

/// The version of the format.
const FORMAT: &str = "imid-lease/1";

/// The keys of a sequence.
#[derive(Debug, Clone)]
pub(crate) struct Keys {
    prefix: String,
}

impl Keys {
    pub(crate) fn new(name: &str) -> Self {
        Self { prefix: format!("seq/{name}/") }
    }

    /// Returns the key of a line of numbers.
    pub(crate) fn line(name: &str) -> String {
        format!("seg/{name}")
    }

    pub(crate) fn meta(&self) -> String {
        format!("{}meta", self.prefix)
    }

    pub(crate) fn sections(&self) -> String {
        format!("{}section/", self.prefix)
    }

    /// With five digits, so that the order of the keys is the order of the sections.
    pub(crate) fn section(&self, section: u32) -> String {
        format!("{}section/{section:05}", self.prefix)
    }

    pub(crate) fn section_of(&self, key: &str) -> Option<u32> {
        key.strip_prefix(&self.prefix)?.strip_prefix("section/")?.parse().ok()
    }

    pub(crate) fn jumps(&self) -> String {
        format!("{}jump/", self.prefix)
    }

    /// With the first number of the epoch: a record that a reader saw can vanish if it was never acknowledged, and then
    /// another record has the same epoch.
    pub(crate) fn jump(&self, jump: &Jump) -> String {
        format!("{}jump/{:05}/{:010}/{:019}", self.prefix, jump.section, jump.epoch, jump.to)
    }
}

/// Who holds a section, and below which bound it may mint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SectionRecord {
    /// One more with each write.
    pub(crate) version: u64,
    /// Random. A record that was restored or created again can repeat a version, but not a token.
    pub(crate) token: u64,
    /// One more with each owner.
    pub(crate) epoch: u64,
    /// The first number of the epoch before. Numbers from here to `start` may have been skipped.
    pub(crate) from: u64,
    /// The first number of each session in this epoch.
    pub(crate) start: u64,
    /// The owner mints only numbers below this one.
    pub(crate) bound: u64,
    pub(crate) held: bool,
    /// Random: differs with each process and each start.
    pub(crate) owner: u64,
    /// How long the records of an owner must stay unchanged before another process takes the section.
    pub(crate) time_out_ms: u64,
    /// The name that the owner's operator gave it.
    pub(crate) name: String,
}

impl SectionRecord {
    pub(crate) fn jump(&self, section: u32) -> Jump {
        Jump { section, epoch: self.epoch, from: self.from, to: self.start }
    }
}

impl fmt::Display for SectionRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { version, token, epoch, from, start, bound, owner, time_out_ms, name, .. } = self;
        let state = if self.held { "held" } else { "free" };
        write!(f, "{FORMAT} section version={version} token={token:016x} epoch={epoch} from={from} start={start} ")?;
        write!(f, "bound={bound} time_out={time_out_ms} owner={owner:016x} name={name} {state}")
    }
}

impl FromStr for SectionRecord {
    type Err = RecordError;

    fn from_str(text: &str) -> Result<Self, RecordError> {
        let mut words = Words::of(text, "section")?;
        let record = Self {
            version: words.number("version=")?,
            token: words.hex("token=")?,
            epoch: words.number("epoch=")?,
            from: words.number("from=")?,
            start: words.number("start=")?,
            bound: words.number("bound=")?,
            time_out_ms: words.number("time_out=")?,
            owner: words.hex("owner=")?,
            name: words.field("name=")?.to_owned(),
            held: match words.word("held or free")? {
                "held" => true,
                "free" => false,
                other => return Err(RecordError::new("held or free", other)),
            },
        };
        words.end()?;
        if record.from > record.start || record.start > record.bound || record.bound > MAX_BOUND {
            return Err(RecordError::new("from <= start <= bound < 2^63", text));
        }
        if record.version.max(record.epoch) >= MAX_BOUND {
            return Err(RecordError::new("version and epoch below 2^63 - 1", text));
        }
        // Compare-and-set compares texts, so each record must have one text only.
        if record.to_string() != text {
            return Err(RecordError::new(&record.to_string(), text));
        }
        Ok(record)
    }
}

/// Numbers of a section that were skipped when an epoch began.
///
/// In this epoch the first number of each session of the section is `to`. A session's numbers below `to` belong to
/// earlier epochs. The numbers that the earlier epochs did not use are never used: a client that misses numbers just
/// below `to` need not look for them (see [`Jumps`](super::Jumps)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Jump {
    /// The section.
    pub section: u32,
    /// The epoch that began.
    pub epoch: u64,
    /// The first number of the epoch before. The jump begins here or later: after the session's last number.
    pub from: u64,
    /// The first number of each session in this epoch.
    pub to: u64,
}

impl fmt::Display for Jump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { section, epoch, from, to } = self;
        write!(f, "{FORMAT} jump section={section} epoch={epoch} from={from} to={to}")
    }
}

impl FromStr for Jump {
    type Err = RecordError;

    fn from_str(text: &str) -> Result<Self, RecordError> {
        let mut words = Words::of(text, "jump")?;
        let jump = Self {
            section: words.number("section=")?,
            epoch: words.number("epoch=")?,
            from: words.number("from=")?,
            to: words.number("to=")?,
        };
        words.end()?;
        Ok(jump)
    }
}

/// What all processes of a sequence must agree on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Meta {
    /// Random: tells this register from others.
    pub(crate) register: u128,
    pub(crate) sections: NonZeroU32,
}

impl fmt::Display for Meta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{FORMAT} sequence register={:032x} sections={}", self.register, self.sections)
    }
}

impl FromStr for Meta {
    type Err = RecordError;

    fn from_str(text: &str) -> Result<Self, RecordError> {
        let mut words = Words::of(text, "sequence")?;
        let register = words.field("register=")?;
        let register = u128::from_str_radix(register, 16).map_err(|_| RecordError::new("register=", register))?;
        let sections = words.number("sections=")?;
        words.end()?;
        Ok(Self { register, sections })
    }
}

/// A named line of numbers: every number below `next` may be in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LineRecord {
    pub(crate) token: u64,
    pub(crate) next: u64,
}

impl fmt::Display for LineRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{FORMAT} line token={:016x} next={}", self.token, self.next)
    }
}

impl FromStr for LineRecord {
    type Err = RecordError;

    fn from_str(text: &str) -> Result<Self, RecordError> {
        let mut words = Words::of(text, "line")?;
        let record = Self { token: words.hex("token=")?, next: words.number("next=")? };
        words.end()?;
        Ok(record)
    }
}

/// The words of a record.
struct Words<'a> {
    words: SplitAsciiWhitespace<'a>,
}

impl<'a> Words<'a> {
    /// Checks the version of the format and the kind of the record.
    fn of(text: &'a str, kind: &str) -> Result<Self, RecordError> {
        let mut words = Self { words: text.split_ascii_whitespace() };
        for expected in [FORMAT, kind] {
            let found = words.word(expected)?;
            if found != expected {
                return Err(RecordError::new(expected, found));
            }
        }
        Ok(words)
    }

    fn word(&mut self, expected: &str) -> Result<&'a str, RecordError> {
        self.words.next().ok_or_else(|| RecordError::new(expected, ""))
    }

    /// Returns the value of the next field. The label ends with an equals sign.
    fn field(&mut self, label: &str) -> Result<&'a str, RecordError> {
        let word = self.word(label)?;
        word.strip_prefix(label).ok_or_else(|| RecordError::new(label, word))
    }

    fn number<N: FromStr>(&mut self, label: &str) -> Result<N, RecordError> {
        let value = self.field(label)?;
        value.parse().map_err(|_| RecordError::new(&format!("a number after {label}"), value))
    }

    fn hex(&mut self, label: &str) -> Result<u64, RecordError> {
        let value = self.field(label)?;
        u64::from_str_radix(value, 16).map_err(|_| RecordError::new(&format!("hex digits after {label}"), value))
    }

    fn end(&mut self) -> Result<(), RecordError> {
        self.words.next().map_or(Ok(()), |word| Err(RecordError::new("the end of the record", word)))
    }
}

/// A text in the register that is not a record of a sequence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}, found {}", Found(found))]
pub struct RecordError {
    expected: String,
    found: String,
}

impl RecordError {
    fn new(expected: &str, found: &str) -> Self {
        Self { expected: expected.to_owned(), found: found.to_owned() }
    }
}

/// Shows what was found, cut to 200 characters.
struct Found<'a>(&'a str);

impl fmt::Display for Found<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            "" => f.write_str("the end of the record"),
            text => write!(f, "{:?}", text.chars().take(200).collect::<String>()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section() -> SectionRecord {
        SectionRecord {
            version: 7,
            token: 0xABC,
            epoch: 3,
            from: 1,
            start: 10_001,
            bound: 20_001,
            held: true,
            owner: 0xDEF,
            time_out_ms: 10_000,
            name: "host-1".to_owned(),
        }
    }

    #[test]
    fn records_are_read_as_they_were_written() {
        let text = "imid-lease/1 section version=7 token=0000000000000abc epoch=3 from=1 start=10001 bound=20001 \
                    time_out=10000 owner=0000000000000def name=host-1 held";
        assert_eq!(section().to_string(), text);
        assert_eq!(text.parse(), Ok(section()));
        let jump = Jump { section: 4, epoch: 3, from: 1, to: 10_001 };
        assert_eq!(jump.to_string().parse(), Ok(jump));
        let meta = Meta { register: u128::MAX - 1, sections: NonZeroU32::MIN };
        assert_eq!(meta.to_string().parse(), Ok(meta));
        let line = LineRecord { token: u64::MAX, next: 9 };
        assert_eq!(line.to_string().parse(), Ok(line));
    }

    #[test]
    fn what_is_not_a_record_is_an_error_that_says_what_was_expected() {
        let error = |text: &str| text.parse::<SectionRecord>().unwrap_err().to_string();
        assert_eq!(error(""), "expected imid-lease/1, found the end of the record");
        assert_eq!(error("imid-lease/2 section"), "expected imid-lease/1, found \"imid-lease/2\"");
        assert_eq!(error("imid-lease/1 lane"), "expected section, found \"lane\"");
        assert_eq!(error("imid-lease/1 section v=7"), "expected version=, found \"v=7\"");
        assert_eq!(error("imid-lease/1 section version=x"), "expected a number after version=, found \"x\"");
        let text = section().to_string();
        assert_eq!(error(&text.replace("held", "lost")), "expected held or free, found \"lost\"");
        assert_eq!(error(&format!("{text} more")), "expected the end of the record, found \"more\"");
        assert!(error(&text.replace("20001", "10000")).starts_with("expected from <= start <= bound < 2^63, found"));
        assert!(error(&text.replace("20001", "9223372036854775808")).starts_with("expected from <= start <= bound"));
        assert!(error(&text.replace("=7 ", "=07 ")).contains("version=7 "), "a record has one text");
        assert!("imid-lease/1 sequence register=00 sections=0".parse::<Meta>().is_err(), "a sequence has a section");
    }

    #[test]
    fn keys_sort_as_their_sections() {
        let keys = Keys::new("chat");
        assert_eq!(keys.section(7), "seq/chat/section/00007");
        assert!(keys.section(9) < keys.section(10));
        assert_eq!(keys.section_of("seq/chat/section/00042"), Some(42));
        assert_eq!(keys.section_of("seq/other/section/00042"), None);
        let jump = Jump { section: 2, epoch: 9, from: 1, to: 2 };
        assert!(keys.jump(&jump) < keys.jump(&Jump { epoch: 10, ..jump }));
    }
}
