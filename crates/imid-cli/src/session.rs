//! The arguments that name a session.

use imid::dialect::{Dialect, DialectId};
use imid::{SessionTag, SessionType};

use crate::report::{Stop, quote};

/// A session: its type and its name.
#[derive(clap::Args)]
pub(crate) struct SessionArgs {
    /// Session type: a code from 0 to 15, or a name such as private or group, in any case [default: 0; private with --peer]
    #[arg(long = "type", value_name = "TYPE", allow_negative_numbers = true)]
    session_type: Option<String>,
    /// Name of the session; with --peer, one of the two users
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
    /// The other user of a private conversation; their order does not matter
    #[arg(long, value_name = "NAME", requires = "session")]
    peer: Option<String>,
}

impl SessionArgs {
    /// Returns whether `--session` was given, even with an empty name.
    pub(crate) fn is_named(&self) -> bool {
        self.session.is_some()
    }

    /// Returns whether all of these arguments are missing.
    pub(crate) fn is_empty(&self) -> bool {
        self.session_type.is_none() && !self.is_named()
    }

    /// Returns what the IDs of the session have in this dialect, or `None` if the dialect has no hash of names.
    pub(crate) fn filter(&self, dialect: &'static Dialect<'static>) -> Result<Option<SessionFilter>, Stop> {
        let code = self.type_in(dialect)?;
        let pair = self.pair(dialect)?;
        let code = if pair.is_some() { Some(pair_type(code, true)?) } else { code };
        let hash = pair.map(|pair| pair.session_hash().to_u32());
        let hash = hash.or_else(|| dialect.hash_of(self.session.as_deref()?));
        if self.is_named() && hash.is_none() {
            return Ok(None);
        }
        Ok(Some(SessionFilter { type_code: code.map(SessionType::to_u8), hash }))
    }

    /// Returns the session, with the type names and the hash of this dialect.
    pub(crate) fn session(&self, dialect: &'static Dialect<'static>) -> Result<SessionTag, Stop> {
        let session_type = pair_type(self.type_in(dialect)?, self.peer.is_some())?;
        if let Some(pair) = self.pair(dialect)? {
            return Ok(pair);
        }
        let session = dialect.session_tag(session_type, self.session.as_deref().unwrap_or_default());
        session.map_err(|error| Stop::Usage(format!("--dialect {}: {error}", dialect.name())))
    }

    /// Returns the type with the names of a dialect, if it was given.
    fn type_in(&self, dialect: &Dialect<'_>) -> Result<Option<SessionType>, Stop> {
        let given = self.session_type.as_deref().map(|text| session_type_in(dialect, text)).transpose();
        given.map_err(|problem| Stop::Usage(format!("--type: {problem}")))
    }

    /// Returns the private conversation, if both users were given.
    fn pair(&self, dialect: &'static Dialect<'static>) -> Result<Option<SessionTag>, Stop> {
        match (&self.session, &self.peer) {
            (Some(name), Some(peer)) if dialect.name() == Dialect::STANDARD.name() => {
                Ok(Some(SessionTag::pair(name, peer)))
            }
            (_, Some(_)) => Err(Stop::Usage(format!("--peer {ONLY_STANDARD_PAIRS}"))),
            _ => Ok(None),
        }
    }
}

/// What IDs of a session have.
#[derive(Clone, Copy)]
pub(crate) struct SessionFilter {
    type_code: Option<u8>,
    hash: Option<u32>,
}

impl SessionFilter {
    pub(crate) fn accepts(self, id: DialectId) -> bool {
        self.type_code.is_none_or(|code| id.type_code() == code)
            && self.hash.is_none_or(|hash| id.session_hash() == hash)
    }
}

/// Returns the given type, or the default: PRIVATE with a peer, 0 without a peer.
pub(crate) fn pair_type(given: Option<SessionType>, has_peer: bool) -> Result<SessionType, Stop> {
    match given {
        Some(other) if has_peer && other != SessionType::PRIVATE => {
            Err(Stop::Usage(format!("--type: expected PRIVATE for a session with a peer, found {other}")))
        }
        None if has_peer => Ok(SessionType::PRIVATE),
        given => Ok(given.unwrap_or(SessionType::MIN)),
    }
}

/// The error for a pair of users in a dialect without pairs.
pub(crate) const ONLY_STANDARD_PAIRS: &str = "works only with the standard dialect: for RongCloud, --session is the \
addressed user; for JuggleIM, it is both users in order, joined by a colon";

/// Reads a session type, a code or a name of a dialect in any case.
pub(crate) fn session_type_in(dialect: &Dialect<'_>, text: &str) -> Result<SessionType, String> {
    let code = dialect.type_code(text).or_else(|| text.parse().ok().filter(|_| text.as_bytes()[0].is_ascii_digit()));
    code.and_then(|code| SessionType::from_u8(code).ok()).ok_or_else(|| {
        let names: Vec<_> = (0..=SessionType::MAX.to_u8()).filter_map(|code| dialect.type_name(code)).collect();
        format!("expected a code from 0 to 15 or one of {}, found {}", names.join(", "), quote(text))
    })
}

/// The error for a session argument with a Snowflake layout.
pub(crate) const NO_SESSION: &str =
    "a Snowflake has no session: --type, --session and --peer work only with message IDs";
