//! Message IDs for chat backends.
#![cfg_attr(not(feature = "std"), no_std)]

mod layout;

pub mod error;

mod session;

mod id;

#[cfg(target_has_atomic = "64")]
mod sync;

#[cfg(target_has_atomic = "64")]
mod fork;

#[cfg(target_has_atomic = "64")]
pub mod clock;

#[cfg(target_has_atomic = "64")]
pub mod generator;

pub mod codec;

pub use codec::IdText;
#[cfg(all(target_has_atomic = "64", feature = "std"))]
pub use generator::generate;
#[cfg(target_has_atomic = "64")]
pub use generator::{Generator, Start};
pub use id::MessageId;
pub use session::{Session, SessionHash, SessionType};
