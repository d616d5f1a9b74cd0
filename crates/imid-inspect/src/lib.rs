#![doc = include_str!("../README.md")]

mod bytes;
mod cut;
mod error;
mod fields;
mod find;
mod foreign;
mod form;
mod identify;
pub mod number;
mod pasted;
mod recognize;
pub mod risk;
mod scan;
mod scheme;
mod spellings;
pub mod time;
pub mod typed_time;

pub use cut::{Broken, BrokenKind, CutOff};
pub use error::{ReadError, look_alike};
pub use fields::{Field, named_type};
pub use find::{Finder, Found};
pub use form::{Form, Read};
pub use identify::{Fit, Rank, identify_text};
pub use pasted::{NotPasted, Pasted, read, read_declared};
pub use recognize::identify;
pub use scan::{Scan, scan};
pub use scheme::{Id, STANDARD, Scheme};
pub use spellings::{is_whole, short_spellings, spellings};
