//! A text that is one ID, with or without something around it: what it can be, and what is wrong with it.

use imid::MessageId;
use imid::dialect::DialectId;
use imid_snowflake::Snowflake;
use uuid::Uuid;

use crate::bytes::{Shown, hex_prefix_len};
use crate::error::{ReadError, look_alike};
use crate::find::is_one_case;
use crate::foreign::foreign;
use crate::form::{Form, Read};
use crate::identify::Rank;
use crate::scheme::{Id, STANDARD, Scheme};

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
                let too_large = || format!("not an ID: expected a number from 0 to {end}");
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
            (Form::LenientText, Self::Message { .. }) => self.to_string().replace('-', ""),
            (Form::LenientText | Form::Uuid | Form::Base64 | Form::Bytes, _) => return None,
        })
    }
}

/// The shortest text that is an ID of another system: 16 digits. Shorter numbers can be Snowflakes as well, but of the first
/// days after an epoch.
pub(crate) const SHORTEST: usize = 16;

/// Returns the ways to read a typed or pasted text, in all forms of all schemes, most likely first. If there is no doubt,
/// there is one.
///
/// ```
/// use imid_inspect::identify;
///
/// let readings = identify("\"bufe-a62u-32c4-01i2\",", 1_767_225_600_000);
/// assert_eq!(readings[0].id.scheme_name(), "rongcloud");
/// assert_eq!(readings[0].form.name(), "lenient text");
/// ```
pub fn identify(text: &str, now_ms: u64) -> Vec<Read> {
    let text = text.trim();
    let (mut found, bare) = (readings(text, now_ms), without_signs(text));
    if found.is_empty() && bare != text {
        found = readings(&bare, now_ms).into_iter().map(Read::lenient).collect();
        found.retain(|read| read.form != Form::LenientText || !is_card_number(text));
    }
    if found.is_empty() { plausible_bytes(text, now_ms).into_iter().collect() } else { found }
}

/// Returns the ways to read a text that has nothing around it. The dialects read one hex number or integer as the same time,
/// and then the standard dialect is first.
fn readings(text: &str, now_ms: u64) -> Vec<Read> {
    let has_prefix = hex_prefix_len(text) > 0;
    let read = |scheme: Scheme| match scheme {
        // Any 16 hex digits fit each Snowflake layout. Without a prefix they are read only by layouts that write hex.
        Scheme::Snowflake(_) if !has_prefix => scheme.read_text(text),
        _ => scheme.recognized(text),
    };
    // A word in both cases is a name of a program or base64, unless it has the dashes of an ID.
    let is_word = text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let is_no_text = is_card_number(text) || is_word && !is_one_case(text.as_bytes());
    let is_read = |read: &Read| read.id.is_listed() && !(is_no_text && read.form == Form::LenientText);
    let mut readings: Vec<_> = Scheme::all().filter_map(read).filter(is_read).collect();
    readings.sort_by_cached_key(|read| {
        let (inexact, fit) = (read.form != Form::Text, read.id.fit(now_ms));
        // Letters that are not written so are not an ID of another age.
        let is_other = read.form == Form::LenientText && fit.rank == Rank::OtherTime;
        let rank = if is_other { Rank::Implausible } else { fit.rank };
        (rank, inexact, inexact && !read.id.is_standard(), fit.distance_ms)
    });
    if let Some(best) = readings.first().copied() {
        readings.truncate(if best.id.is_standard() { 1 } else { readings.len() });
        readings.retain(|read| read.id.is_plausible(now_ms) || !best.id.is_plausible(now_ms));
    }
    readings
}

/// Returns whether a text has 16 digits, as payment cards have, and no letter. Less than one ID in 10^9 has none.
pub(crate) fn is_card_number(text: &str) -> bool {
    // Full-width letters are those of an ID, too. Tables of all letters would be a tenth of the page.
    let is_letter = |c: char| c.is_ascii_alphabetic() || matches!(c, 'Ａ'..='Ｚ' | 'ａ'..='ｚ');
    text.chars().filter(char::is_ascii_digit).count() == SHORTEST && !text.contains(is_letter)
}

/// Reads the bytes of an ID, or those of its view.
pub(crate) fn from_bytes(scheme: Scheme, text: &str) -> Option<Read> {
    let shown = Shown::read(text).or_else(|| Shown::of_list(&without_signs(text)))?;
    Some(Read { id: shown.id(scheme)?, form: shown.form })
}

/// Reads the bytes of a standard ID with a plausible time: any ten bytes are an ID of some time.
pub(crate) fn plausible_bytes(text: &str, now_ms: u64) -> Option<Read> {
    from_bytes(STANDARD, text).filter(|read| read.id.is_plausible(now_ms))
}

/// Returns whether a character can be around an ID: a sign, a space or a picture. Letters of other scripts are not dropped,
/// because some look like those of an ID.
fn is_sign(c: char) -> bool {
    let is_ascii = c.is_ascii() && !c.is_ascii_alphanumeric() && c != '\\';
    is_ascii
        || matches!(c, '\u{80}'..='\u{a9}' | '\u{ab}'..='\u{b9}' | '\u{bb}'..='\u{bf}' | '\u{2000}'..='\u{20cf}' | '\u{2190}'..='\u{2bff}')
        || matches!(c, '\u{3000}'..='\u{303f}' | '\u{fe10}'..='\u{fe6f}' | '\u{feff}' | '\u{1f000}'..='\u{1faff}')
}

/// Returns a text without what is around an ID in code, tables and emails: quotation marks, brackets, commas, and spaces or
/// look-alikes of a dash between its groups.
pub(crate) fn without_signs(text: &str) -> String {
    // Full-width letters and digits, as input methods of East Asia write them.
    let half_width = |c: char| match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        '\u{3000}' => ' ',
        _ => c,
    };
    let text: String = text.chars().map(half_width).collect();
    let text = text.trim();
    // A literal of Python, and a number of JavaScript.
    let text = ["b'", "b\""].iter().find_map(|start| text.strip_prefix(start)).unwrap_or(text);
    let is_number = |digits: &&str| digits.bytes().all(|byte| byte.is_ascii_digit());
    // A spreadsheet adds a fraction of zeros.
    let whole = text.split_once(['.', ',']).filter(|(_, rest)| rest.bytes().all(|byte| byte == b'0'));
    let text = text.strip_suffix('n').or(whole.map(|(whole, _)| whole)).filter(is_number).unwrap_or(text);
    let inner = text.trim_matches(|c: char| is_sign(c) && c != '-');
    // A dash before a number is its sign.
    let is_negative = inner.strip_prefix('-').is_some_and(|rest| is_number(&rest));
    let text = if is_negative { inner } else { inner.trim_matches('-').trim() };
    let is_separator = |c: char| c.is_whitespace() || look_alike(c).is_some() || matches!(c, '-' | '_');
    let groups: Vec<_> = text.split(is_separator).filter(|group| !group.is_empty()).collect();
    if groups.len() == 4 && groups.iter().all(|group| group.len() == 4) {
        return groups.join("-");
    }
    grouped(text).unwrap_or_else(|| text.to_owned())
}

/// Returns the digits of a number that a spreadsheet or a program groups: the first group is the shortest, and there is one
/// separator. Bytes in a list have groups of other lengths, or more separators.
fn grouped(text: &str) -> Option<String> {
    let separator = text.chars().find(|c| matches!(c, ' ' | ',' | '.' | '_' | '\''))?;
    let mut groups = text.split(separator);
    let (first, len) = (groups.next()?, groups.clone().next()?.len());
    let is_grouped = matches!(len, 3 | 4) && (1..=len).contains(&first.len()) && groups.all(|group| group.len() == len);
    let digits = text.replace(separator, "");
    let is_number = digits.len() > 20 && digits.bytes().all(|byte| byte.is_ascii_digit());
    (is_grouped && is_number).then_some(digits)
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
