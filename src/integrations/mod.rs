//! Traits of other crates, one crate per file, each behind the feature of its name.

#[cfg(feature = "serde")]
mod serde;
