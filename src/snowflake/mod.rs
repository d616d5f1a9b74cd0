//! The Snowflake family: 64-bit IDs of tick, node and sequence number.
//!
//! A [`Layout`] says where the fields are. A [`Snowflake`] is 64 bits and their layout. A [`Generator`] mints them for
//! one node. A [`Preset`] says what the generator does when the clock steps back and when a tick is full: the same as
//! the original.
//!
//! ```
//! use imid::snowflake::Layout;
//!
//! let id = Layout::NSQ.parse("0632eb19de09b007")?;
//! assert_eq!((id.timestamp_ms(), id.node(), id.sequence()), (1_463_110_874_347, 155, 7));
//! assert_eq!(id.to_string(), "0632eb19de09b007");
//! assert!(id < Layout::NSQ.parse("0e1ac0d4168a6000")?);
//! # Ok::<(), imid::error::ParseError>(())
//! ```

mod built_in;
mod id;
mod layout;
mod text;

#[cfg(target_has_atomic = "64")]
mod generator;

#[cfg(all(feature = "std", target_has_atomic = "64"))]
pub use generator::NodeQueue;
#[cfg(target_has_atomic = "64")]
pub use generator::{BuildError, Builder, GenerateError, Generator, NoSpareNodes, NodeSource, Preset, SpareNode};

pub use id::{Parts, Snowflake};
pub use layout::{Layout, LayoutBuilder, TextForm};
