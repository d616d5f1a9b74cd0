//! The Snowflake family: 64-bit IDs of tick, node and sequence number.
//!
//! A [`Layout`] says where the fields are; a [`Snowflake`] is 64 bits under a layout. A [`Generator`] mints them for one node,
//! and a [`Preset`] says what it does when the clock steps back and when a tick is full: what the original does.
//!
//! ```
//! use imid::snowflake::Layout;
//!
//! let id = Layout::NSQ.parse("0632eb19de09b007")?;
//! assert_eq!((id.timestamp_ms(), id.node(), id.seq()), (1_463_110_874_347, 155, 7));
//! assert_eq!(id.to_string(), "0632eb19de09b007");
//! assert!(id < Layout::NSQ.parse("0e1ac0d4168a6000")?);
//! # Ok::<(), imid::error::ParseError>(())
//! ```

mod error;
mod id;
mod layout;
mod text;

cfg_minting! {
    mod generator;

    pub use generator::{GenerateError, Generator, NoWorkerIds, Preset, WorkerIds};
    #[cfg(feature = "std")]
    pub use generator::WorkerQueue;
}

pub use error::LayoutError;
pub use id::Snowflake;
pub use layout::Layout;
pub use text::HexText;
