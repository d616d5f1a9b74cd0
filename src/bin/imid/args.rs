//! Arguments that several commands share, and the forms of their values.

use imid::{MessageId, Session, SessionHash, SessionType};
use jiff::Timestamp;

use crate::report::{Stop, quote};

/// A session, by its type and its name.
#[derive(clap::Args)]
pub(crate) struct SessionArgs {
    /// Type of the session: a code 0 to 15, or a name in any case such as private or group [default: 0]
    #[arg(long = "type", value_name = "TYPE", value_parser = session_type, allow_negative_numbers = true)]
    session_type: Option<SessionType>,
    #[command(flatten)]
    name: SessionName,
}

impl SessionArgs {
    /// Whether a name is given, be it the empty one.
    pub(crate) fn is_named(&self) -> bool {
        self.name.session.is_some()
    }

    pub(crate) fn session(&self) -> Result<Session, Stop> {
        let hash = self.name.hash().unwrap_or_else(|| SessionHash::of(""));
        Ok(Session::from_parts(pair_type(self.session_type, self.name.peer.is_some())?, hash))
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
    /// The hash of the name; `None` where none is given.
    pub(crate) fn hash(&self) -> Option<SessionHash> {
        let name = self.session.as_deref()?;
        Some(match &self.peer {
            Some(peer) => Session::pair(name, peer).hash(),
            None => SessionHash::of(name),
        })
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
    text.parse().map_err(|_| {
        let names: Vec<_> = SessionType::NAMED.iter().filter_map(|named| named.name()).collect();
        format!("expected a code 0 to 15 or one of {}, found {}", names.join(", "), quote(text))
    })
}

/// Reads a time: unix milliseconds, or RFC 3339.
pub(crate) fn time_ms(text: &str) -> Result<u64, String> {
    let unknown = || {
        format!(
            "expected unix milliseconds or an RFC 3339 time such as 2024-11-19T17:37:45.755Z, found {}",
            quote(text)
        )
    };
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.parse().map_err(|_| unknown());
    }
    let time: Timestamp = text.parse().map_err(|_| unknown())?;
    // Down, not towards zero: the last millisecond before 1970 is no time of an ID.
    u64::try_from(time.as_nanosecond().div_euclid(1_000_000))
        .map_err(|_| format!("expected a time since 1970, found {}", quote(text)))
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
