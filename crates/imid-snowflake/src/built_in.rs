//! The built-in layouts and their names.

use core::time::Duration;

use crate::layout::{Layout, LayoutBuilder, TextForm};

/// Defines the constants, their names and their order in one table, so that each layout has a name and a place.
macro_rules! built_in {
    ($($(#[$doc:meta])* $constant:ident $name:literal $builder:expr;)*) => {
        impl Layout {
            $($(#[$doc])* pub const $constant: Self = built($builder);)*

            /// The built-in layouts.
            pub const ALL: &'static [Self] = &[$(Self::$constant),*];

            /// Returns the name of a built-in layout, or `None` for any other one.
            ///
            #[doc = concat!("The names:" $(, " `", $name, "`")*, ".")]
            pub const fn name(self) -> Option<&'static str> {
                match self {
                    $(Self::$constant => Some($name),)*
                    _ => None,
                }
            }

            /// Returns the built-in layout with this name, such as `twitter-java`.
            pub fn named(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$constant),)*
                    _ => None,
                }
            }
        }
    };
}

built_in! {
    /// Twitter's layout of 2010: 5 bits of datacenter and 5 of worker.
    TWITTER "twitter" since(TWITTER_EPOCH).worker_bits(5);

    /// Meituan Leaf's layout: Twitter's bits with an undivided node.
    LEAF "leaf" since(TWITTER_EPOCH);

    /// Discord's layout: 5 bits that it calls worker (here the datacenter) and 5 that it calls process (here the
    /// worker).
    DISCORD "discord" since(1_420_070_400_000).tick_bits(42).worker_bits(5);

    /// The layout of the Java port, which counts from 2015-01-01 in China.
    TWITTER_JAVA "twitter-java" since(1_420_041_600_000).worker_bits(5);

    /// The layout of the article on clock rollback: 15 bits of node, so that there are nodes to swap.
    ROLLBACK_38_15_10 "rollback-38-15-10" since(1_513_814_400_000).tick_bits(38).node_bits(15).sequence_bits(10);

    /// NSQ's layout since 2015, when its tick became 2²⁰ ns. Its new IDs sort before its old ones.
    NSQ "nsq" Layout::builder().epoch(NSQ_EPOCH).tick(NSQ_TICK).tick_bits(42).text_form(TextForm::Hex);

    /// NSQ's layout until 2015.
    NSQ_BEFORE_2015 "nsq-before-2015" since(TWITTER_EPOCH).tick_bits(42).text_form(TextForm::Hex);
}

/// Unix milliseconds.
const TWITTER_EPOCH: u64 = 1_288_834_974_657;
/// NSQ counts nanoseconds and drops 20 bits.
const NSQ_TICK: Duration = Duration::from_nanos(1 << NSQ_DROPPED_BITS);
const NSQ_EPOCH: Duration = Duration::from_nanos(1_288_834_974_288 << NSQ_DROPPED_BITS);
const NSQ_DROPPED_BITS: u32 = 20;

/// Starts a layout whose first tick begins at this time, in Unix milliseconds.
const fn since(epoch_ms: u64) -> LayoutBuilder {
    Layout::builder().epoch(Duration::from_millis(epoch_ms))
}

const fn built(builder: LayoutBuilder) -> Layout {
    match builder.build() {
        Ok(layout) => layout,
        // PANIC: only at compile time, because all layouts here are constants.
        Err(_) => panic!("the fields fit"),
    }
}
