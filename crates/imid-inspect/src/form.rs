//! The forms of one ID: how it is read from a text and how it is written.

use imid::MessageId;
use imid::dialect::DialectId;
use imid_snowflake::Snowflake;
use uuid::Uuid;

use crate::error::{Kind, ReadError, TextError, ViewProblem};
use crate::foreign::Foreign;
use crate::scheme::{Id, Scheme};

/// A form of an ID. Each form holds all of its bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// The text of the dialect or layout.
    Text,
    /// 20 hex digits, or 16 for a Snowflake.
    Hex,
    /// A decimal number.
    Int,
    /// The UUID view.
    Uuid,
}

/// An ID, and the form that it was read from.
#[derive(Clone, Copy, Debug)]
pub struct Read {
    /// The ID.
    pub id: Id,
    /// The form.
    pub form: ReadForm,
}

/// The form that an ID was read from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ReadForm {
    /// A form as it is written here.
    Exact(Form),
    /// A text in the other case, or without its dashes, or with some of them.
    LenientText,
    /// The bytes in base64, as JSON encoders write them.
    Base64,
    /// The bytes as a client prints them: a list of numbers, a dump, or a literal with escapes.
    Bytes,
}

impl ReadForm {
    /// Returns the form of a text that had something around it.
    pub(crate) const fn lenient(self) -> Self {
        match self {
            Self::Exact(Form::Text) => Self::LenientText,
            other => other,
        }
    }

    /// Returns the name, such as `text`, `lenient text` or `uuid`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact(Form::Text) => "text",
            Self::LenientText => "lenient text",
            Self::Base64 => "base64",
            Self::Bytes => "bytes",
            Self::Exact(Form::Hex) => "hex",
            Self::Exact(Form::Int) => "int",
            Self::Exact(Form::Uuid) => "uuid",
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
    /// use imid_inspect::{Form, ReadForm, STANDARD};
    ///
    /// let read = STANDARD.read("0x64d1601c46e2afbc856b", None)?;
    /// assert_eq!((read.id.to_string(), read.form), ("EMAQ-2948-WCRV-T3DD".into(), ReadForm::Exact(Form::Hex)));
    /// # Ok::<(), imid_inspect::ReadError>(())
    /// ```
    ///
    /// # Errors
    /// The text is not of that form, or is not an ID: for example it is a random UUID.
    pub fn read(self, text: &str, form: Option<Form>) -> Result<Read, ReadError> {
        // White space is not shown in errors, so positions do not count it either.
        let text = text.trim();
        match form {
            Some(Form::Text) => self.read_text(text),
            Some(form) => Ok(Read { id: self.read_digits(text, form)?, form: ReadForm::Exact(form) }),
            None => self.recognized(text).ok_or_else(|| self.problem(text)),
        }
    }

    /// Reads a form that is not a text of the scheme.
    fn read_digits(self, text: &str, form: Form) -> Result<Id, ReadError> {
        match form {
            Form::Hex => self.read_hex(text),
            Form::Int => self.read_int(text),
            _ => Ok(self.view(Uuid::try_parse(text).map_err(|_| Kind::NotUuid)?).map_err(Kind::View)?),
        }
    }

    /// Reads an ID from a typed or pasted text of the scheme.
    ///
    /// # Errors
    /// The text is not one of the scheme, in either case and with or without its dashes.
    pub fn read_text(self, text: &str) -> Result<Read, ReadError> {
        let text = text.trim();
        if let Ok(id) = self.parse(text.as_bytes()) {
            return Ok(Read { id, form: ReadForm::Exact(Form::Text) });
        }
        let id = match self {
            Self::Dialect(dialect) => dialect.parse_lenient(text).map(|id| Id::Message { dialect, id }),
            Self::Snowflake(_) => return Err(self.parse(text.as_bytes()).expect_err("not parsed above")),
        };
        let id = id.map_err(|error| ReadError::in_text(text.as_bytes(), 0, error))?;
        Ok(Read { id, form: ReadForm::LenientText })
    }

    /// Reads an ID in the form that its shape suggests. Texts of the scheme come first.
    pub(crate) fn recognized(self, text: &str) -> Option<Read> {
        self.read_text(text).ok().or_else(|| {
            let form = self.shape(text).unwrap_or(Form::Uuid);
            Some(Read { id: self.read_digits(text, form).ok()?, form: ReadForm::Exact(form) })
        })
    }

    /// Says why a text is not [recognized](Self::recognized), or what it is instead.
    #[cold]
    pub(crate) fn problem(self, text: &str) -> ReadError {
        if let Some(Err(error)) = self.shape(text).map(|form| self.read_digits(text, form)) {
            return error;
        }
        match (Foreign::read(text), self.read_text(text)) {
            // Only a UUID of version 7 could have been a view.
            (Some(foreign @ Foreign::Uuid(uuid)), _) if foreign.timestamp_ms().is_some() => self
                .view(uuid)
                .map_or_else(|problem| Kind::ForeignView(foreign, problem), |_| Kind::Foreign(foreign))
                .into(),
            (Some(foreign), _) => Kind::Foreign(foreign).into(),
            // Each text that is read is recognized.
            (None, read) => read.err().unwrap_or_else(|| Kind::NotUuid.into()),
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

    /// Reads hex digits, with or without a prefix.
    fn read_hex(self, text: &str) -> Result<Id, ReadError> {
        let prefix = hex_prefix_len(text);
        let digits = &text[prefix..];
        let id = match self {
            Self::Dialect(dialect) => DialectId::from_hex(digits, dialect.layout())
                .map(|id| Id::Message { dialect, id })
                .map_err(TextError::from),
            Self::Snowflake(layout) => Snowflake::from_hex(digits, layout).map(Id::Snowflake).map_err(TextError::from),
        };
        id.map_err(|error| ReadError::in_text(text.as_bytes(), prefix, error))
    }

    fn read_int(self, text: &str) -> Result<Id, ReadError> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(Kind::NotDecimal.into());
        }
        // A second text of one ID, which the strict readers refuse as well.
        if digits.starts_with('0') && text != "0" {
            return Err(Kind::LeadingZero.into());
        }
        match self {
            Self::Dialect(dialect) => {
                let value = text.parse().map_err(|_| Kind::TooLarge)?;
                let id = DialectId::from_u128(value, dialect.layout()).map_err(Kind::Layout)?;
                Ok(Id::Message { dialect, id })
            }
            Self::Snowflake(layout) => {
                let bits = text.parse::<i64>().map(i64::cast_unsigned).or_else(|_| text.parse::<u64>());
                let bits = bits.map_err(|_| Kind::MoreThan64Bits)?;
                Ok(Id::Snowflake(Snowflake::from_u64(bits, layout)))
            }
        }
    }

    /// Reads the UUID view of an ID.
    pub(crate) fn view(self, uuid: Uuid) -> Result<Id, ViewProblem> {
        match self {
            Self::Dialect(dialect) if self.has_uuid() => {
                let id = MessageId::from_uuid(uuid).map_err(ViewProblem::Uuid)?;
                Ok(Id::Message { dialect, id: id.into() })
            }
            _ => Err(ViewProblem::NoView),
        }
    }
}

impl Id {
    /// Returns the ID in a form. Only 80-bit IDs of the standard layout have a UUID view.
    pub fn in_form(&self, form: Form) -> Option<String> {
        Some(match (form, self) {
            (Form::Text, _) => self.to_string(),
            (Form::Hex, Self::Message { id, .. }) => id.to_hex().as_str().to_owned(),
            (Form::Hex, Self::Snowflake(id)) => id.to_hex().as_str().to_owned(),
            (Form::Int, Self::Message { id, .. }) => id.to_u128().to_string(),
            (Form::Int, Self::Snowflake(id)) => id.to_i64().to_string(),
            (Form::Uuid, Self::Message { id, .. }) => MessageId::try_from(*id).ok()?.to_uuid().to_string(),
            (Form::Uuid, Self::Snowflake(_)) => return None,
        })
    }
}

/// Returns whether a text is letters and digits only.
pub(crate) fn is_word(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric())
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
            let is_int = |read: Result<Read, _>| read.is_ok_and(|read| read.form == ReadForm::Exact(Form::Int));
            assert_eq!(is_int(STANDARD.read(&text, None)), digits > 20, "{text}");
            assert!(is_int(STANDARD.read(&text, Some(Form::Int))), "{text}");
        }
        // 2^80 is too large, and more digits are not an ID.
        assert!(STANDARD.read("1208925819614629174706176", None).is_err());
        assert!(STANDARD.read("00000000000000000000000005", None).is_err());
    }
}
