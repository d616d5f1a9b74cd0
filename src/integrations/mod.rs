//! Traits of other crates. Each crate has a file and a feature with its name.

#[cfg(feature = "serde")]
mod serde;
#[cfg(feature = "uuid-1")]
mod uuid;
