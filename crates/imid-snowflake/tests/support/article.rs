//! The rollback article's generator.

use std::time::Duration;

use imid_snowflake::{Layout, Preset};

/// The preset of the rollback article, with a first tick on 2026-01-01. Its own last tick was in September 2026.
pub(crate) const ARTICLE: Preset = match Layout::builder()
    .tick_bits(38)
    .node_bits(15)
    .sequence_bits(10)
    .epoch(Duration::from_secs(490_896 * 3_600))
    .build()
{
    Ok(layout) => Preset::new(layout).wait_when_behind(Duration::from_millis(15), 1),
    Err(_) => panic!("63 bits"),
};
