//! Code that the fuzz targets share.

mod change;
mod fault;
pub mod model;

pub use change::{Change, changed};
pub use fault::points_at_the_fault;
