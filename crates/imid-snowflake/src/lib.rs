#![doc = include_str!("../README.md")]
#![cfg_attr(not(any(feature = "std", test)), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod error;

mod layout;

mod text;

mod id;

mod built_in;

#[cfg(target_has_atomic = "64")]
mod sync;

#[cfg(target_has_atomic = "64")]
mod generator;

#[cfg(feature = "redis-queue")]
pub mod redis_queue;

#[cfg(feature = "serde")]
mod serde;

#[cfg(feature = "lease")]
pub mod worker_ids;

pub use error::{LengthError, ParseError, RangeError, TimeRangeError};
pub use id::{Snowflake, SnowflakeParts};
pub use layout::{Layout, LayoutBuilder, TextForm};
pub use text::HexText;

#[cfg(all(feature = "std", target_has_atomic = "64"))]
pub use generator::NodeQueue;
#[cfg(target_has_atomic = "64")]
pub use generator::{BuildError, Builder, GenerateError, Generator, NoSpareNodes, NodeSource, Preset, SpareNode};

// The examples of the guide to migration are tests. They are here because they use both crates.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../../docs/MIGRATING.md")]
    mod migrating {}
}
