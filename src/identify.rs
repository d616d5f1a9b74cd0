//! Which dialects and layouts could have made a text.

use core::fmt;

use arrayvec::ArrayVec;

use crate::dialect::Dialect;
use crate::id::MessageId;
use crate::snowflake::{Layout, Snowflake};

/// The earliest plausible time: 2005-01-01T00:00:00Z, before all of these systems.
const PLAUSIBLE_FROM: u64 = 1_104_537_600_000;
/// The latest plausible time lies so far ahead: two years, for clocks that are wrong.
const PLAUSIBLE_AHEAD: u64 = 2 * 365 * 24 * 3_600_000;

/// One reading of a text: by whom it could have been made, and what it then says.
#[derive(Clone, Copy, Debug)]
pub enum Candidate {
    /// An 80-bit ID of a dialect.
    Message {
        /// The dialect whose text it is.
        dialect: &'static Dialect,
        /// The ID.
        id: MessageId,
    },
    /// A 64-bit ID, with its layout.
    Snowflake(Snowflake),
}

impl Candidate {
    /// The name of the dialect or layout.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Message { dialect, .. } => dialect.name(),
            Self::Snowflake(id) => id.layout().name(),
        }
    }

    /// The time, in unix milliseconds.
    pub const fn timestamp_ms(&self) -> u64 {
        match self {
            Self::Message { dialect, id } => dialect.fields(*id).timestamp_ms,
            Self::Snowflake(id) => id.timestamp_ms(),
        }
    }

    /// Whether the time lies between 2005-01-01 and two years (of 365 days) after `now_ms`.
    pub const fn is_plausible(&self, now_ms: u64) -> bool {
        let ms = self.timestamp_ms();
        PLAUSIBLE_FROM <= ms && ms <= now_ms.saturating_add(PLAUSIBLE_AHEAD)
    }
}

/// The text of the ID in its dialect or layout. Width and alignment are honoured.
impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message { dialect, id } => dialect.to_text(*id).fmt(f),
            Self::Snowflake(id) => id.fmt(f),
        }
    }
}

/// How many readings a text can have.
const MAX: usize = Dialect::ALL.len() + Layout::ALL.len();

/// The readings of a text, the plausible first: what [`identify`] returns.
#[derive(Clone, Debug)]
pub struct Candidates(arrayvec::IntoIter<Candidate, MAX>);

impl Iterator for Candidates {
    type Item = Candidate;

    fn next(&mut self) -> Option<Candidate> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl ExactSizeIterator for Candidates {}

/// Everything that could have made a text, the most plausible first; nothing where nothing could.
///
/// Every built-in dialect and Snowflake layout that parses the text is a candidate. **The rule:** a time between
/// 2005-01-01 and two years from now comes before any other; among equals RongCloud comes first, then its layout until
/// 2018, the standard dialect, JuggleIM, Twitter, Leaf, Discord, the Java port, the rollback article, NSQ and NSQ before
/// 2015. So a text that only few can have made is told apart, and one that several can have made is not decided: Twitter's
/// and Leaf's IDs look alike, and an ID in standard digits from 2009 to 2020 can be RongCloud's from 2018 to 2029.
///
/// ```
/// use imid::identify::identify;
///
/// let first = identify("5EGN-HLDB-K4Q4-LQ1G").next().expect("one candidate at least");
/// assert_eq!((first.name(), first.timestamp_ms()), ("rongcloud-v1", 1_499_141_156_189));
/// assert_eq!(identify("hello").count(), 0);
/// ```
#[cfg(all(feature = "std", target_has_atomic = "64"))]
pub fn identify(text: &str) -> Candidates {
    use crate::clock::{Clock, SystemClock};
    // Without a clock every time since 2005 is plausible.
    identify_at(text, SystemClock.now_ms().unwrap_or(u64::MAX))
}

/// [`identify`] at a given time, in unix milliseconds: needs no clock.
pub fn identify_at(text: &str, now_ms: u64) -> Candidates {
    let messages =
        Dialect::ALL.iter().filter_map(|dialect| dialect.parse(text).ok().map(|id| Candidate::Message { dialect, id }));
    let snowflakes = Layout::ALL.iter().filter_map(|layout| layout.parse(text).ok().map(Candidate::Snowflake));
    let all: ArrayVec<Candidate, MAX> = messages.chain(snowflakes).collect();
    let (plausible, others): (ArrayVec<Candidate, MAX>, ArrayVec<Candidate, MAX>) =
        all.into_iter().partition(|candidate| candidate.is_plausible(now_ms));
    let ranked: ArrayVec<Candidate, MAX> = plausible.into_iter().chain(others).collect();
    Candidates(ranked.into_iter())
}
