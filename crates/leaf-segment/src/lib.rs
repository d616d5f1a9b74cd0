#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod error;
mod wait;

mod step;

mod segment;

pub mod leaf;

#[cfg(feature = "imid-lease")]
mod line;

pub use error::{NumberError, Refused, SegmentError};
#[cfg(feature = "imid-lease")]
pub use line::recover_line;
pub use segment::{Block, BlockError, Blocks, Segment, SegmentStatus};
