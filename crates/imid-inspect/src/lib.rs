//! Identifies what a person pasted: finds, reads and explains 80-bit message IDs, 64-bit Snowflakes and their lookalikes.
//!
//! - [`read()`] says what a pasted text is: an ID in any form, with each way to read it, or a longer text with its IDs.
//! - [`read_declared`] reads an ID of one scheme, with quotes, brackets or other dashes around it. Both say what is wrong.
//! - [`Finder`] finds the IDs in logs of any size, with their places.
//! - [`Id`] has the fields, the forms and the last day of the layout; [`Foreign`] is what is not an ID of this family.
//! - [`typed_time`] reads the times and offsets that a person types.
//! - [`risk`] computes how often generators that share no state mint equal IDs.
//!
//! It returns plain values: it prints nothing, reads no files and has no clock. Where the present time matters, it is an argument,
//! in Unix milliseconds. It compiles for `wasm32-unknown-unknown`.
//!
//! ```
//! use imid_inspect::{Finder, Pasted, read};
//!
//! let now_ms = 1_767_225_600_000;
//! let Ok(Pasted::One(readings)) = read("5EGN-HLDB-K4Q4-LQ1G", now_ms) else { panic!("an ID") };
//! let id = readings[0].id;
//! assert_eq!((id.scheme_name(), id.timestamp_ms()), ("rongcloud-v1", 1_499_141_156_189));
//!
//! let log = "12:00:01 sent EMAQ-2948-WCRV-T3DD to room-42";
//! let found = Finder::new(None, now_ms).next(log.as_bytes(), 0).expect("an ID");
//! assert_eq!(&log[found.at], "EMAQ-2948-WCRV-T3DD");
//! ```

mod bytes;
mod cut;
mod error;
mod fields;
mod find;
mod foreign;
mod form;
mod identify;
mod looks;
pub mod number;
mod pasted;
pub mod risk;
mod scan;
mod scheme;
mod spellings;
pub mod time;
pub mod typed_time;

pub use cut::{CutOff, Repairs};
pub use error::{ReadError, look_alike};
pub use fields::{Field, FieldName, named_type};
pub use find::{Finder, Found};
pub use foreign::Foreign;
pub use form::{Form, Read, ReadForm};
pub use identify::{Fit, Rank, identify_near, identify_text};
pub use pasted::{Broken, BrokenKind, Hint, NotPasted, Pasted, identify, read, read_declared};
pub use scan::{Scan, scan};
pub use scheme::{Id, STANDARD, Scheme};
pub use spellings::Spellings;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
