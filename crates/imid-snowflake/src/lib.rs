//! 64-bit Snowflake IDs.

pub use imid::snowflake::*;
