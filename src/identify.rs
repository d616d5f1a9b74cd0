//! Finds the dialects and Snowflake layouts that could have made a text.

use core::fmt;
use core::iter::FusedIterator;

use arrayvec::ArrayVec;

use crate::dialect::{Dialect, DialectId};
use crate::snowflake::{Layout, Snowflake};

/// The earliest plausible time: 2005-01-01T00:00:00Z. All of these systems are younger.
const PLAUSIBLE_FROM: u64 = 1_104_537_600_000;
/// How far ahead of now a plausible time can be: two years, because clocks can be wrong.
const PLAUSIBLE_AHEAD: u64 = 2 * 365 * 24 * 3_600_000;

/// One way to read a text: the dialect or layout that could have made it, and the ID.
// More kinds of IDs can follow. The fields of `Message` are complete: an ID and the dialect that writes it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Candidate {
    /// An 80-bit ID of a dialect.
    Message {
        /// The dialect that writes this text.
        dialect: &'static Dialect<'static>,
        /// The ID, in the dialect's layout.
        id: DialectId,
    },
    /// A 64-bit ID, with its layout.
    Snowflake(Snowflake),
}

impl Candidate {
    /// Returns the name of the dialect or of the Snowflake's layout, such as `rongcloud` or `twitter`.
    ///
    /// The name of a layout of your own is `custom`. [`identify`](crate::identify()) does not return such a layout.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Message { dialect, .. } => dialect.name(),
            Self::Snowflake(id) => match id.layout().name() {
                Some(name) => name,
                None => "custom",
            },
        }
    }

    /// Returns the time, in unix milliseconds.
    pub const fn timestamp_ms(&self) -> u64 {
        match self {
            Self::Message { id, .. } => id.timestamp_ms(),
            Self::Snowflake(id) => id.timestamp_ms(),
        }
    }

    /// Returns whether the time is between 2005-01-01 and two years (of 365 days) after `now_ms`.
    pub const fn is_plausible(&self, now_ms: u64) -> bool {
        let ms = self.timestamp_ms();
        PLAUSIBLE_FROM <= ms && ms <= now_ms.saturating_add(PLAUSIBLE_AHEAD)
    }
}

/// Formats the text of the ID in its dialect or layout. If the dialect cannot write the ID, because its layout is another
/// one, formats the hex digits. Width and alignment apply.
impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message { dialect, id } => match dialect.to_text(*id) {
                Ok(text) => text.fmt(f),
                Err(_) => id.to_hex().fmt(f),
            },
            Self::Snowflake(id) => id.fmt(f),
        }
    }
}

/// The greatest number of candidates that a text can have.
const MAX: usize = Dialect::ALL.len() + Layout::ALL.len();

/// The candidates for a text, plausible ones first, as [`identify`](crate::identify()) returns them.
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

impl DoubleEndedIterator for Candidates {
    fn next_back(&mut self) -> Option<Candidate> {
        self.0.next_back()
    }
}

impl ExactSizeIterator for Candidates {}

impl FusedIterator for Candidates {}

/// Returns the built-in dialects and Snowflake layouts that could have made a text, plausible ones first. Returns
/// no candidate if no dialect and no layout [parses](Dialect::parse) the text.
///
/// **The rule:** candidates with a time between 2005-01-01 and two years from now come before the others. Within
/// both groups the order is: RongCloud, its dialect until 2018, the standard dialect, JuggleIM, then Twitter, Leaf,
/// Discord, the Java port, the rollback article, NSQ, NSQ before 2015.
///
/// If there are several candidates, the first one is a guess. Twitter's and Leaf's IDs look alike, and a standard
/// ID from 2009 to 2020 can be RongCloud's from 2018 to 2029.
///
/// ```
/// use imid::identify::identify;
///
/// let first = identify("5EGN-HLDB-K4Q4-LQ1G").next().expect("a candidate");
/// assert_eq!((first.name(), first.timestamp_ms()), ("rongcloud-v1", 1_499_141_156_189));
/// assert_eq!(identify("hello").count(), 0);
/// ```
#[cfg(all(feature = "std", target_has_atomic = "64"))]
pub fn identify(text: &str) -> Candidates {
    use crate::clock::{Clock, SystemClock};
    // Without a clock, every time since 2005 is plausible.
    identify_at(text, SystemClock.now_ms().unwrap_or(u64::MAX))
}

/// Returns the candidates as [`identify`](crate::identify()) does, for a given time in unix milliseconds. It does not read
/// a clock.
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
