//! The forms of one ID: how it is read from a text and how it is written.

use std::error::Error;
use std::fmt;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use imid::MessageId;
use imid::dialect::{Dialect, DialectId};
use imid_snowflake::Snowflake;
use uuid::Uuid;

use crate::foreign::Foreign;
use crate::report::quote;
use crate::scheme::{Id, Scheme};

/// A form of an ID. Each form holds all of its bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Form {
    /// The text of the dialect or layout
    Text,
    /// 20 hex digits, or 16 for a Snowflake
    Hex,
    /// A decimal number
    Int,
    /// The UUID view
    Uuid,
}

/// The argument that names the form of the IDs that are read.
#[derive(clap::Args)]
pub(crate) struct IdFormArg {
    /// Form of the IDs that are read
    #[arg(long = "id-form", value_name = "FORM", default_value_t)]
    form: FormArg,
}

impl IdFormArg {
    /// Returns the form, or `None` if the shape of each ID says it.
    pub(crate) const fn get(&self) -> Option<Form> {
        self.form.0
    }
}

/// A form of the input, or the form that the shape of each ID says.
#[derive(Clone, Copy, Default)]
struct FormArg(Option<Form>);

impl ValueEnum for FormArg {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self(None), Self(Some(Form::Text)), Self(Some(Form::Hex)), Self(Some(Form::Int)), Self(Some(Form::Uuid))]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self.0 {
            Some(form) => form.to_possible_value(),
            None => Some(PossibleValue::new("auto").help("The form that the shape of each ID says")),
        }
    }
}

impl fmt::Display for FormArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // PANIC: each form has a name.
        f.write_str(self.to_possible_value().expect("a form has a name").get_name())
    }
}

/// An ID, and the form that it was read from.
#[derive(Clone, Copy)]
pub(crate) struct Read {
    pub(crate) id: Id,
    pub(crate) form: ReadForm,
}

/// The form that an ID was read from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadForm {
    /// A form as the tool writes it.
    Exact(Form),
    /// A text in the other case, or without its dashes, or with some of them.
    LenientText,
    /// The bytes in base 64, as JSON encoders write them.
    Base64,
}

impl ReadForm {
    /// Returns the form of a text that had something around it.
    pub(crate) const fn lenient(self) -> Self {
        match self {
            Self::Exact(Form::Text) => Self::LenientText,
            other => other,
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Exact(Form::Text) => "text",
            Self::LenientText => "lenient text",
            Self::Base64 => "base64",
            Self::Exact(Form::Hex) => "hex",
            Self::Exact(Form::Int) => "int",
            Self::Exact(Form::Uuid) => "uuid",
        }
    }
}

/// The most decimal digits of a Snowflake. A longer number is the integer of an 80-bit ID.
///
/// Shorter integers of 80-bit IDs are not recognized. They are the IDs of the first four days of 1970, and most of them
/// are Snowflakes too. IDs of 1981 to 2085 have 24 digits.
const SNOWFLAKE_DIGITS: usize = 20;

/// The most decimal digits of 80 bits.
const MAX_DIGITS: usize = 25;

/// Number of hex digits of 80 bits and of 64 bits.
const HEX_DIGITS: usize = 20;
const SNOWFLAKE_HEX_DIGITS: usize = 16;

impl Scheme {
    /// Reads an ID from any form that is recognized by its shape, or only from `form`.
    pub(crate) fn read(self, text: &str, form: Option<Form>) -> Result<Read, String> {
        // White space is not shown in errors, so positions do not count it either.
        let text = text.trim();
        let exact = |form| move |id| Read { id, form: ReadForm::Exact(form) };
        let read = match form {
            None => return self.recognize(text),
            Some(Form::Text) => return self.read_text(text),
            Some(Form::Hex) => self.read_hex(text),
            Some(Form::Int) => self.read_int(text),
            Some(Form::Uuid) => Uuid::try_parse(text)
                .map_err(|_| "expected a UUID of 32 hex digits".into())
                .and_then(|uuid| self.view(uuid)),
        };
        read.map(exact(form.unwrap_or(Form::Text))).map_err(|problem| not_an_id(text, &problem))
    }

    /// Reads an ID from a text of the scheme that a person types or pastes.
    pub(crate) fn read_text(self, text: &str) -> Result<Read, String> {
        let text = text.trim();
        if let Some(id) = self.strict(text) {
            return Ok(Read { id, form: ReadForm::Exact(Form::Text) });
        }
        let read = match self {
            Self::Dialect(dialect) => {
                let read = dialect.parse_lenient(text).map(|id| Id::Message { dialect, id });
                read.map_err(|error| describe(text, error.position(), &error))
            }
            Self::Snowflake(layout) => {
                layout.parse(text).map(Id::Snowflake).map_err(|error| describe(text, error.position(), &error))
            }
        };
        let read = read.map(|id| Read { id, form: ReadForm::LenientText });
        read.map_err(|problem| not_an_id(text, &problem))
    }

    fn strict(self, text: &str) -> Option<Id> {
        match self {
            Self::Dialect(dialect) => dialect.parse(text).ok().map(|id| Id::Message { dialect, id }),
            Self::Snowflake(layout) => layout.parse(text).ok().map(Id::Snowflake),
        }
    }

    /// Reads an ID from the form that its shape says. Texts of the scheme come first.
    pub(crate) fn recognize(self, text: &str) -> Result<Read, String> {
        let text_problem = match self.read_text(text) {
            Ok(read) => return Ok(read),
            Err(problem) => problem,
        };
        let exact = |form| move |id| Read { id, form: ReadForm::Exact(form) };
        let is_decimal = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let is_hex = text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if hex_prefix_len(text) > 0 || is_hex && text.len() == self.hex_digits() {
            return self.read_hex(text).map(exact(Form::Hex)).map_err(|problem| not_an_id(text, &problem));
        }
        // The texts of NSQ are 16 hex digits, so 16 digits are not a decimal number.
        let int_digits = match self {
            Self::Dialect(_) => SNOWFLAKE_DIGITS + 1..=MAX_DIGITS,
            Self::Snowflake(_) => SNOWFLAKE_HEX_DIGITS + 1..=SNOWFLAKE_DIGITS,
        };
        if is_decimal && int_digits.contains(&text.len()) {
            return self.read_int(text).map(exact(Form::Int)).map_err(|problem| not_an_id(text, &problem));
        }
        let foreign = match Uuid::try_parse(text) {
            Ok(uuid) => match self.view(uuid) {
                Ok(id) => return Ok(Read { id, form: ReadForm::Exact(Form::Uuid) }),
                Err(problem) => Some((Foreign::Uuid(uuid), Some(problem))),
            },
            Err(_) => Foreign::read(text).map(|foreign| (foreign, None)),
        };
        Err(match foreign {
            // Only a UUID of version 7 could have been a view.
            Some((foreign, Some(problem))) if foreign.timestamp_ms().is_some() => {
                format!("{} is {foreign}, not the view of an ID: {problem}", quote(text))
            }
            Some((foreign, _)) => format!("{} is {foreign}, not an ID", quote(text)),
            None => text_problem,
        })
    }

    const fn hex_digits(self) -> usize {
        match self {
            Self::Dialect(_) => HEX_DIGITS,
            Self::Snowflake(_) => SNOWFLAKE_HEX_DIGITS,
        }
    }

    /// Reads hex digits, with or without a prefix.
    fn read_hex(self, text: &str) -> Result<Id, String> {
        let prefix = hex_prefix_len(text);
        let digits = &text[prefix..];
        match self {
            Self::Dialect(dialect) => {
                let read = DialectId::from_hex(digits, dialect.layout()).map(|id| Id::Message { dialect, id });
                read.map_err(|error| describe(text, prefix + error.position(), &error))
            }
            Self::Snowflake(layout) => {
                let read = Snowflake::from_hex(digits, layout).map(Id::Snowflake);
                read.map_err(|error| describe(text, prefix + error.position(), &error))
            }
        }
    }

    fn read_int(self, text: &str) -> Result<Id, String> {
        let is_decimal = text.strip_prefix('-').unwrap_or(text).bytes().all(|byte| byte.is_ascii_digit());
        let expected = |what: &str| format!("expected {what}, found {}", quote(text));
        if !is_decimal || text.is_empty() {
            return Err(expected("a decimal number"));
        }
        match self {
            Self::Dialect(dialect) => {
                let value =
                    text.parse().map_err(|_| expected(&format!("a number from 0 to {}", MessageId::MAX.to_u128())))?;
                let id = DialectId::from_u128(value, dialect.layout()).map_err(|error| error.to_string())?;
                Ok(Id::Message { dialect, id })
            }
            Self::Snowflake(layout) => {
                let bits = text.parse::<i64>().map(i64::cast_unsigned).or_else(|_| text.parse::<u64>());
                let bits = bits.map_err(|_| expected("a number of at most 64 bits"))?;
                Ok(Id::Snowflake(Snowflake::from_u64(bits, layout)))
            }
        }
    }

    /// Reads the UUID view of an ID.
    fn view(self, uuid: Uuid) -> Result<Id, String> {
        match self {
            Self::Dialect(dialect) if dialect.layout() == Dialect::STANDARD.layout() => {
                let id = MessageId::from_uuid(uuid).map_err(|error| error.to_string())?;
                Ok(Id::Message { dialect, id: id.into() })
            }
            _ => Err("only IDs of the standard layout have a UUID view".into()),
        }
    }
}

impl Id {
    /// Returns the ID in a form. Only 80-bit IDs of the standard layout have a UUID view.
    pub(crate) fn in_form(&self, form: Form) -> Option<String> {
        Some(match (form, self) {
            (Form::Text, id) => id.to_string(),
            (Form::Hex, Self::Message { id, .. }) => id.to_hex().to_string(),
            (Form::Hex, Self::Snowflake(id)) => id.to_hex().to_string(),
            (Form::Int, Self::Message { id, .. }) => id.to_u128().to_string(),
            (Form::Int, Self::Snowflake(id)) => id.to_i64().to_string(),
            (Form::Uuid, Self::Message { id, .. }) => MessageId::try_from(*id).ok()?.to_uuid().to_string(),
            (Form::Uuid, Self::Snowflake(_)) => return None,
        })
    }
}

/// Returns the length of `0x` (as in C and SQL) or `\x` (as PostgreSQL prints bytes), or 0.
pub(crate) fn hex_prefix_len(text: &str) -> usize {
    if ["0x", "0X", "\\x", "\\X"].iter().any(|prefix| text.starts_with(prefix)) { 2 } else { 0 }
}

fn not_an_id(text: &str, problem: &str) -> String {
    format!("{} is not an ID: {problem}", quote(text))
}

/// Characters that other programs write instead of a dash, a space or a quotation mark, or that cannot be seen.
const LOOK_ALIKES: [(char, &str); 14] = [
    ('\u{2010}', "hyphen"),
    ('\u{2011}', "non-breaking hyphen"),
    ('\u{2012}', "figure dash"),
    ('\u{2013}', "en dash"),
    ('\u{2014}', "em dash"),
    ('\u{2212}', "minus sign"),
    ('\u{ad}', "soft hyphen"),
    ('\u{a0}', "no-break space"),
    ('\u{200b}', "zero width space"),
    ('\u{feff}', "byte order mark"),
    ('\u{2018}', "left single quotation mark"),
    ('\u{2019}', "right single quotation mark"),
    ('\u{201c}', "left double quotation mark"),
    ('\u{201d}', "right double quotation mark"),
];

/// Returns the name of a character that looks like another one, or that cannot be seen.
pub(crate) fn look_alike(character: char) -> Option<&'static str> {
    LOOK_ALIKES.iter().find(|(look_alike, _)| *look_alike == character).map(|(_, name)| *name)
}

/// Returns the library's message for a text that cannot be read. `at` is the position of the error
/// in the text. If the character is outside ASCII, it is named, because the library knows only its first byte.
fn describe(text: &str, at: usize, error: &dyn Error) -> String {
    let message = error.to_string();
    let Some((expected, found)) = message.split_once(", found ") else { return message };
    if let Some(character) = text.get(at..).and_then(|rest| rest.chars().next()).filter(|found| !found.is_ascii()) {
        let name = look_alike(character).map(|name| format!(" {name}")).unwrap_or_default();
        return format!("{expected}, found {character:?} (U+{:04X}{name}) at {at}", u32::from(character));
    }
    let found = found.rsplit_once(" at ").map_or(found, |(found, _)| found);
    format!("{expected}, found {found} at {at}")
}

/// The error for an ID that has no UUID view.
pub(crate) const NO_UUID: &str = "only 80-bit IDs of the standard layout have a UUID view";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::STANDARD;

    #[test]
    fn integers_of_21_to_25_digits_are_ids() {
        let first = |unix_ms| MessageId::first_at(unix_ms).unwrap().to_u128().to_string();
        let day = 86_400_000;
        // 1970-01-01, 1970-01-06, 1981-08-01, 2026-11-22, 2085-04-01, 2085-05-01 and the last one.
        for (unix_ms, digits) in [
            (1, 12),
            (4 * day, 20),
            (5 * day, 21),
            (365_472_000_000, 24),
            (1_795_305_600_000, 24),
            (3_636_921_600_000, 24),
            (3_639_513_600_000, 25),
            (MessageId::MAX.timestamp_ms(), 25),
        ] {
            let text = first(unix_ms);
            assert_eq!(text.len(), digits, "{unix_ms}");
            let is_int = |read: Result<Read, String>| read.is_ok_and(|read| read.form == ReadForm::Exact(Form::Int));
            assert_eq!(is_int(STANDARD.read(&text, None)), digits > 20, "{text}");
            assert!(is_int(STANDARD.read(&text, Some(Form::Int))), "{text}");
        }
        // 2^80 is too large, and more digits are not an ID.
        assert!(STANDARD.read("1208925819614629174706176", None).is_err());
        assert!(STANDARD.read("00000000000000000000000005", None).is_err());
    }
}
