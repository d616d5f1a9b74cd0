//! Message IDs for chat backends.
#![cfg_attr(not(feature = "std"), no_std)]

mod layout;

pub mod error;

mod session;

mod id;

pub mod codec;

pub use codec::IdText;
pub use id::MessageId;
pub use session::{Session, SessionHash, SessionType};
