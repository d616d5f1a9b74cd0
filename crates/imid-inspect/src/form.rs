//! The forms of one ID: how it is read from a text and how it is written.

use imid::MessageId;
use imid::dialect::DialectId;
use imid_snowflake::Snowflake;
use uuid::Uuid;

use crate::bytes::Shown;
use crate::error::ReadError;
use crate::foreign::foreign;
use crate::scheme::{Id, Scheme};

/// A form of an ID. Each form holds all of its bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Form {
    /// The text of the dialect or layout.
    Text,
    /// That text in the other case, or without its dashes, or with some of them.
    LenientText,
    /// 20 hex digits, or 16 for a Snowflake.
    Hex,
    /// A decimal number.
    Int,
    /// The UUID view.
    Uuid,
    /// The bytes, or those of the view, in base64, as JSON encoders write them.
    Base64,
    /// The bytes as a client prints them: a list of numbers, a dump, or a literal with escapes.
    Bytes,
}

/// An ID, and the form that it was read from.
#[derive(Clone, Copy, Debug)]
pub struct Read {
    /// The ID.
    pub id: Id,
    /// The form.
    pub form: Form,
}

impl Read {
    /// Returns what is read from a text that had something around it.
    pub(crate) fn lenient(self) -> Self {
        if self.form == Form::Text { Self { form: Form::LenientText, ..self } } else { self }
    }
}

impl Form {
    /// Returns the name, such as `text`, `lenient text` or `uuid`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::LenientText => "lenient text",
            Self::Hex => "hex",
            Self::Int => "int",
            Self::Uuid => "uuid",
            Self::Base64 => "base64",
            Self::Bytes => "bytes",
        }
    }
}

/// The most decimal digits of a Snowflake. A longer number is the integer of an 80-bit ID.
///
/// Shorter integers of 80-bit IDs are not recognized. They are the IDs of the first four days of 1970, and most of them
/// are Snowflakes as well. IDs of 1981 to 2085 have 24 digits.
const SNOWFLAKE_DIGITS: usize = 20;

/// The most decimal digits of 80 bits.
const MAX_DIGITS: usize = 25;

/// Number of hex digits of 80 bits and of 64 bits.
const HEX_DIGITS: usize = 20;
const SNOWFLAKE_HEX_DIGITS: usize = 16;

impl Scheme {
    /// Reads an ID in any form, recognized by its shape, or only in `form`. White space around it is not accepted.
    ///
    /// ```
    /// use imid_inspect::{Form, STANDARD};
    ///
    /// let read = STANDARD.read("0x64d1601c46e2afbc856b", None)?;
    /// assert_eq!((read.id.to_string(), read.form), ("EMAQ-2948-WCRV-T3DD".into(), Form::Hex));
    /// # Ok::<(), imid_inspect::ReadError>(())
    /// ```
    ///
    /// # Errors
    /// The text is not of that form, or is not an ID: for example it is a random UUID.
    pub fn read(self, text: &str, form: Option<Form>) -> Result<Read, ReadError> {
        // White space is not shown in errors, so positions do not count it either.
        let text = text.trim();
        match form {
            None => self.recognized(text).ok_or_else(|| self.problem(text)),
            Some(Form::Text | Form::LenientText) => self.read_text(text).ok_or_else(|| self.text_problem(text)),
            Some(form) => Ok(Read { id: self.read_digits(text, form)?, form }),
        }
    }

    /// Reads a form that is not a text of the scheme.
    fn read_digits(self, text: &str, form: Form) -> Result<Id, ReadError> {
        match form {
            Form::Hex => self.read_part(text, hex_prefix_len(text), true),
            Form::Int => self.read_int(text),
            Form::Uuid => {
                let uuid = Uuid::try_parse(text);
                self.view(uuid.map_err(|_| ReadError::new("not an ID: expected a UUID of 32 hex digits"))?)
            }
            _ => Shown::read(text)
                .and_then(|shown| shown.id(self))
                .ok_or_else(|| ReadError::new("not the bytes of an ID")),
        }
    }

    /// Reads an ID from a typed or pasted text of the scheme, in either case and with or without its dashes.
    pub(crate) fn read_text(self, text: &str) -> Option<Read> {
        let exact = self.parse(text.as_bytes()).map(|id| Read { id, form: Form::Text });
        exact.or_else(|| match self {
            Self::Dialect(dialect) => {
                let id = dialect.parse_lenient(text).ok()?;
                Some(Read { id: Id::Message { dialect, id }, form: Form::LenientText })
            }
            Self::Snowflake(_) => None,
        })
    }

    /// Says why a text is none of the scheme.
    #[cold]
    fn text_problem(self, text: &str) -> ReadError {
        let of_no_time = || ReadError::new("not an ID: its time is not from 2005 to two years from now");
        self.read_part(text, 0, false).err().unwrap_or_else(of_no_time)
    }

    /// Reads an ID in the form that its shape suggests. Texts of the scheme come first.
    pub(crate) fn recognized(self, text: &str) -> Option<Read> {
        self.read_text(text).or_else(|| {
            let form = self.shape(text).unwrap_or(Form::Uuid);
            Some(Read { id: self.read_digits(text, form).ok()?, form })
        })
    }

    /// Says why a text is not [recognized](Self::recognized), or what it is instead.
    #[cold]
    pub(crate) fn problem(self, text: &str) -> ReadError {
        if let Some(Err(error)) = self.shape(text).map(|form| self.read_digits(text, form)) {
            return error;
        }
        let Some(foreign) = foreign(text) else { return self.text_problem(text) };
        // Only a UUID of version 7 could have been a view.
        let view = Uuid::try_parse(text).ok().filter(|uuid| uuid.get_version_num() == 7);
        match view.and_then(|uuid| MessageId::from_uuid(uuid).err()).filter(|_| self.has_uuid()) {
            Some(problem) => ReadError::foreign(format!("{foreign}, not the view of an ID: {problem}")),
            None => ReadError::foreign(format!("{foreign}, not an ID")),
        }
    }

    /// Returns the form of digits, by their number or a prefix.
    fn shape(self, text: &str) -> Option<Form> {
        let is_all = |is_digit: fn(&u8) -> bool| !text.is_empty() && text.bytes().all(|byte| is_digit(&byte));
        let (hex_digits, int_digits) = match self {
            Self::Dialect(_) => (HEX_DIGITS, SNOWFLAKE_DIGITS + 1..=MAX_DIGITS),
            // The texts of NSQ are 16 hex digits, so 16 digits are not a decimal number.
            Self::Snowflake(_) => (SNOWFLAKE_HEX_DIGITS, SNOWFLAKE_HEX_DIGITS + 1..=SNOWFLAKE_DIGITS),
        };
        if hex_prefix_len(text) > 0 || text.len() == hex_digits && is_all(u8::is_ascii_hexdigit) {
            Some(Form::Hex)
        } else if int_digits.contains(&text.len()) && is_all(u8::is_ascii_digit) {
            Some(Form::Int)
        } else {
            None
        }
    }

    /// Reads hex digits or a text of the scheme, which begin here in the text.
    fn read_part(self, text: &str, start: usize, is_hex: bool) -> Result<Id, ReadError> {
        let part = &text[start..];
        let id = match self {
            Self::Dialect(dialect) => {
                let hex = || DialectId::from_hex(part, dialect.layout());
                let id = if is_hex { hex() } else { dialect.parse_lenient(part) };
                id.map(|id| Id::Message { dialect, id }).map_err(|error| (error.to_string(), error.position()))
            }
            Self::Snowflake(layout) => {
                let id = if is_hex { Snowflake::from_hex(part, layout) } else { layout.parse(part) };
                id.map(Id::Snowflake).map_err(|error| (error.to_string(), error.position()))
            }
        };
        id.map_err(|(message, position)| ReadError::in_text(text, start, &message, position))
    }

    fn read_int(self, text: &str) -> Result<Id, ReadError> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(ReadError::new("not an ID: expected a decimal number"));
        }
        // A second text of one ID, which the strict readers refuse as well.
        if digits.starts_with('0') && text != "0" {
            return Err(ReadError::new("not an ID: expected a number without zeros before it"));
        }
        match self {
            Self::Dialect(dialect) => {
                let id = text.parse().ok().and_then(|value| DialectId::from_u128(value, dialect.layout()).ok());
                let end = MessageId::MAX.to_u128();
                let too_large = || format!("not an ID: expected a number from 0 to {end}, found {text}");
                id.map(|id| Id::Message { dialect, id }).ok_or_else(|| ReadError::new(too_large()))
            }
            Self::Snowflake(layout) => {
                let bits = text.parse::<i64>().map(i64::cast_unsigned).or_else(|_| text.parse::<u64>());
                let bits = bits.map_err(|_| ReadError::new("not an ID: expected a number of at most 64 bits"))?;
                Ok(Id::Snowflake(Snowflake::from_u64(bits, layout)))
            }
        }
    }

    /// Reads the UUID view of an ID.
    pub(crate) fn view(self, uuid: Uuid) -> Result<Id, ReadError> {
        match self {
            Self::Dialect(dialect) if self.has_uuid() => MessageId::from_uuid(uuid)
                .map(|id| Id::Message { dialect, id: id.into() })
                .map_err(|error| ReadError::new(format!("not an ID: {error}"))),
            _ => Err(ReadError::new("not an ID: only IDs of the standard layout have a UUID view")),
        }
    }
}

impl Id {
    /// Returns the ID in a form. Only 80-bit IDs of the standard layout have a UUID view, and no form of bytes is returned.
    pub fn in_form(&self, form: Form) -> Option<String> {
        Some(match (form, self) {
            (Form::Text, _) => self.to_string(),
            (Form::Hex, Self::Message { id, .. }) => id.to_hex().as_str().to_owned(),
            (Form::Hex, Self::Snowflake(id)) => id.to_hex().as_str().to_owned(),
            (Form::Int, Self::Message { id, .. }) => id.to_u128().to_string(),
            (Form::Int, Self::Snowflake(id)) => id.to_i64().to_string(),
            (Form::Uuid, Self::Message { id, .. }) => MessageId::try_from(*id).ok()?.to_uuid().to_string(),
            (Form::LenientText, _) => self.to_string().replace('-', ""),
            (Form::Uuid | Form::Base64 | Form::Bytes, _) => return None,
        })
    }
}

/// Returns the length of `0x` (as in C and SQL) or `\x` (as PostgreSQL prints bytes), or 0.
pub(crate) fn hex_prefix_len(text: &str) -> usize {
    if ["0x", "0X", "\\x", "\\X"].iter().any(|prefix| text.starts_with(prefix)) { 2 } else { 0 }
}

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
            let is_int = |read: Result<Read, _>| read.is_ok_and(|read| read.form == Form::Int);
            assert_eq!(is_int(STANDARD.read(&text, None)), digits > 20, "{text}");
            assert!(is_int(STANDARD.read(&text, Some(Form::Int))), "{text}");
        }
        // 2^80 is too large, and more digits are not an ID.
        assert!(STANDARD.read("1208925819614629174706176", None).is_err());
        assert!(STANDARD.read("00000000000000000000000005", None).is_err());
    }
}
