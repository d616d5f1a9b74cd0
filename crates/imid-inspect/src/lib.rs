//! Identifies what a person pasted: finds, reads and explains 80-bit message IDs, 64-bit Snowflakes and their lookalikes.
//!
//! - [`identify`](fn@identify) returns every way to read a text, the most likely one first.
//! - [`read_pasted`] reads an ID of one scheme, with quotes, brackets or other dashes around it, and says what is wrong.
//! - [`scan()`] finds the IDs in a pasted text in all of their forms, and [`Finder`] those in logs of any size, with their places.
//! - [`Id`] has the fields, the forms and the last day of the layout; [`Foreign`] is what is not an ID of this family.
//! - [`risk`] computes how often generators that share no state mint equal IDs.
//!
//! It returns plain values: it prints nothing, reads no files and has no clock. Where the present time matters, it is an argument,
//! in Unix milliseconds. It compiles for `wasm32-unknown-unknown`.
//!
//! ```
//! use imid_inspect::{Finder, identify};
//!
//! let now_ms = 1_767_225_600_000;
//! let first = identify("5EGN-HLDB-K4Q4-LQ1G", now_ms)[0];
//! assert_eq!((first.id.scheme_name(), first.id.timestamp_ms()), ("rongcloud-v1", 1_499_141_156_189));
//!
//! let log = "12:00:01 sent EMAQ-2948-WCRV-T3DD to room-42";
//! let found = Finder::new(None, now_ms).next(log.as_bytes(), 0).expect("an ID");
//! assert_eq!(&log[found.at], "EMAQ-2948-WCRV-T3DD");
//! ```

mod cut;
mod error;
mod fields;
mod find;
mod foreign;
mod form;
mod identify;
mod pasted;
pub mod risk;
mod scan;
mod scheme;
mod spellings;
pub mod time;

pub use cut::{CutOff, WrongDigit};
pub use error::{ReadError, look_alike};
pub use fields::{Field, FieldName, named_type};
pub use find::{Finder, Found};
pub use foreign::Foreign;
pub use form::{Form, Read, ReadForm};
pub use identify::{identify_near, identify_text};
pub use pasted::{Hint, NotPasted, identify, likelier, read_pasted};
pub use scan::scan;
pub use scheme::{Id, STANDARD, Scheme};
pub use spellings::Spellings;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
