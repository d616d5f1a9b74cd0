#![doc = include_str!("../README.md")]

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
