//! Arguments that several commands share, and the forms of their values.

use std::iter;

use imid::dialect::Dialect;
use imid::{MessageId, Session, SessionType};
use jiff::Timestamp;

use crate::report::{Stop, quote};

/// A session, by its type and its name.
#[derive(clap::Args)]
pub(crate) struct SessionArgs {
    /// Type of the session: a code 0 to 15, or a name in any case such as private or group [default: 0]
    #[arg(long = "type", value_name = "TYPE", allow_negative_numbers = true)]
    session_type: Option<String>,
    #[command(flatten)]
    name: SessionName,
}

impl SessionArgs {
    /// Whether a name is given, be it the empty one.
    pub(crate) fn is_named(&self) -> bool {
        self.name.is_given()
    }

    /// Whether nothing is given.
    pub(crate) fn is_empty(&self) -> bool {
        self.session_type.is_none() && !self.is_named()
    }

    /// The session as this dialect names its type and hashes its name.
    pub(crate) fn session(&self, dialect: &'static Dialect) -> Result<Session, Stop> {
        let session_type = self.session_type.as_deref().map(|text| session_type_in(dialect, text)).transpose();
        let session_type = session_type.map_err(|what| Stop::Usage(format!("--type: {what}")))?;
        let session_type = pair_type(session_type, self.name.peer.is_some())?;
        if let Some(pair) = self.name.pair(dialect)? {
            return Ok(pair);
        }
        let name = self.name.session.as_deref().unwrap_or_default();
        dialect.session(session_type, name).map_err(|error| Stop::Usage(error.to_string()))
    }
}

/// A session's name, or the two names of a private conversation.
#[derive(clap::Args)]
pub(crate) struct SessionName {
    /// Name of the session
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
    /// The other end of a private conversation; which of the two comes first makes no difference
    #[arg(long, value_name = "NAME", requires = "session")]
    peer: Option<String>,
}

impl SessionName {
    pub(crate) fn is_given(&self) -> bool {
        self.session.is_some()
    }

    /// The hash of the name in this dialect; `None` where none is given.
    pub(crate) fn hash(&self, dialect: &'static Dialect) -> Result<Option<u32>, Stop> {
        if let Some(pair) = self.pair(dialect)? {
            return Ok(Some(pair.hash().to_u32()));
        }
        Ok(self.session.as_deref().and_then(|name| dialect.hash(name)))
    }

    /// The private conversation, where both ends are given.
    fn pair(&self, dialect: &'static Dialect) -> Result<Option<Session>, Stop> {
        match (&self.session, &self.peer) {
            (Some(name), Some(peer)) if dialect.name() == Dialect::STANDARD.name() => {
                Ok(Some(Session::pair(name, peer)))
            }
            (_, Some(_)) => Err(Stop::Usage(
                "--peer is for the standard dialect: RongCloud hashes the user who is addressed, JuggleIM the two in \
                 order, joined by a colon"
                    .into(),
            )),
            _ => Ok(None),
        }
    }
}

/// The type that is meant where one can be left out: 0, or PRIVATE where there is a peer.
pub(crate) fn pair_type(given: Option<SessionType>, has_peer: bool) -> Result<SessionType, Stop> {
    match given {
        Some(other) if has_peer && other != SessionType::PRIVATE => {
            Err(Stop::Usage(format!("a session with a peer is of type PRIVATE, found {other}")))
        }
        None if has_peer => Ok(SessionType::PRIVATE),
        given => Ok(given.unwrap_or_default()),
    }
}

/// Reads a session type: a code or a name in any case.
pub(crate) fn session_type(text: &str) -> Result<SessionType, String> {
    session_type_in(&Dialect::STANDARD, text)
}

/// Reads a session type of a dialect.
fn session_type_in(dialect: &Dialect, text: &str) -> Result<SessionType, String> {
    let code = dialect.type_code(text).or_else(|| text.parse().ok().filter(|_| text.as_bytes()[0].is_ascii_digit()));
    code.and_then(|code| SessionType::from_u8(code).ok()).ok_or_else(|| {
        let names: Vec<_> = (0..=SessionType::MAX.to_u8()).filter_map(|code| dialect.type_name(code)).collect();
        format!("expected a code 0 to 15 or one of {}, found {}", names.join(", "), quote(text))
    })
}

/// Reads a time: unix milliseconds, which are nothing but digits, or RFC 3339.
pub(crate) fn time_ms(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(ms) if !text.starts_with('+') => Ok(ms),
        _ => date_time_ms(text),
    }
}

/// Reads a time in RFC 3339's form.
fn date_time_ms(text: &str) -> Result<u64, String> {
    let unknown = || {
        format!(
            "expected unix milliseconds or an RFC 3339 time such as 2024-11-19T17:37:45.755Z, found {}",
            quote(text)
        )
    };
    let time: Timestamp =
        Some(text).filter(|text| is_date_time(text)).and_then(|text| text.parse().ok()).ok_or_else(unknown)?;
    // jiff takes it for 59.
    if text[17..].starts_with("60") {
        return Err(format!("expected a second of 00 to 59, for unix time has no leap seconds, found {}", quote(text)));
    }
    // Down, not towards zero: the last millisecond before 1970 is no time of an ID.
    u64::try_from(time.as_nanosecond().div_euclid(1_000_000))
        .map_err(|_| format!("expected a time since 1970, found {}", quote(text)))
}

/// Whether a text has the shape of RFC 3339's `date-time`: jiff reads other forms too. What is in range is jiff's to
/// say, but for the hours of an offset, of which it takes 25.
fn is_date_time(text: &str) -> bool {
    let rest = strip_shape(text, "0000-00-00").and_then(|rest| rest.strip_prefix(['T', 't', ' ']));
    let Some(rest) = rest.and_then(|rest| strip_shape(rest, "00:00:00")) else { return false };
    let is_digit = |c: char| c.is_ascii_digit();
    let offset = strip_shape(rest, ".0").map_or(rest, |rest| rest.trim_start_matches(is_digit));
    let is_offset = || ["+00:00", "-00:00"].iter().any(|shape| strip_shape(offset, shape) == Some(""));
    matches!(offset, "Z" | "z") || is_offset() && offset[1..] < *"24"
}

/// What follows a shape, in which 0 stands for any digit.
fn strip_shape<'a>(text: &'a str, shape: &str) -> Option<&'a str> {
    let (start, rest) = text.split_at_checked(shape.len())?;
    let fits = |(byte, shape): (u8, u8)| if shape == b'0' { byte.is_ascii_digit() } else { byte == shape };
    iter::zip(start.bytes(), shape.bytes()).all(fits).then_some(rest)
}

/// Reads the time of an ID: [`time_ms`], up to the last timestamp.
pub(crate) fn timestamp_ms(text: &str) -> Result<u64, String> {
    let ms = time_ms(text)?;
    MessageId::first_at(ms).map(|_| ms).map_err(|error| error.to_string())
}

/// Reads an ID as a person types or pastes it.
pub(crate) fn pasted_id(text: &str) -> Result<MessageId, String> {
    MessageId::parse_lenient(text).map_err(|error| format!("{} is no ID: {error}", quote(text.trim())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_rfc_3339_is_a_time() {
        for text in [
            "2024-11-19T17:37:45.755Z",
            "2024-11-19t17:37:45.755z",
            "2024-11-19 17:37:45.755Z",
            "2024-11-19T17:37:45.755999999+00:00",
            "2024-11-19T17:37:45.755-00:00",
            "2024-11-20T01:07:45.755+07:30",
            "2024-11-19T09:37:45.755-08:00",
            "2024-11-20T17:36:45.755+23:59",
            "1732037865755",
        ] {
            assert_eq!(time_ms(text), Ok(1_732_037_865_755), "{text}");
        }
        assert_eq!(time_ms("2024-11-19T17:37:45Z"), Ok(1_732_037_865_000));
        // Nothing but digits is a number, whatever date it looks like.
        assert_eq!(time_ms("20241119173745"), Ok(20_241_119_173_745));
    }

    #[test]
    fn other_forms_of_iso_8601_are_no_times() {
        for text in [
            "",
            "2024-11-19",
            "2024-11-19T17Z",
            "2024-11-19T17:37Z",
            "2024-11-19T17:37:45",
            "2024-11-19T173745Z",
            "20241119T173745Z",
            "2024-11-19T17:37:45.Z",
            "2024-11-19T17:37:45,755Z",
            "2024-11-19T17:37:45Z[Europe/Berlin]",
            "2024-11-19T17:37:45+01:00[Europe/Berlin]",
            "2024-11-19T17:37:45+01",
            "2024-11-19T17:37:45+0100",
            "2024-11-19T17:37:45+01:00:00",
            "2024-11-19T17:37:45 Z",
            " 2024-11-19T17:37:45Z",
            "2024-11-19T17:37:45Z ",
            "2024-11-19_17:37:45Z",
            "+002024-11-19T17:37:45Z",
            "-002024-11-19T17:37:45Z",
            "2024-W47-2T17:37:45Z",
            "2024-11-1é17:37:45Z",
            "2024-13-19T17:37:45Z",
            "2023-02-29T17:37:45Z",
            "2024-11-19T24:00:00Z",
            "2024-11-19T17:60:00Z",
            "2024-11-19T17:37:61Z",
            "2024-11-19T17:37:45+24:00",
            "2024-11-19T17:37:45-23:60",
            "+1732037865755",
            "-1",
            "18446744073709551616",
            // RFC 3339, but of more digits than are told apart.
            "2024-11-19T17:37:45.0000000001Z",
        ] {
            let error = time_ms(text).unwrap_err();
            assert!(error.starts_with("expected unix milliseconds or an RFC 3339 time such as "), "{text}: {error}");
        }
    }

    #[test]
    fn a_leap_second_is_an_error_and_not_the_second_before() {
        let error = time_ms("2016-12-31T23:59:60Z").unwrap_err();
        let expected =
            "expected a second of 00 to 59, for unix time has no leap seconds, found \"2016-12-31T23:59:60Z\"";
        assert_eq!(error, expected);
    }
}
