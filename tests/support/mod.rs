//! What the tests of several files share: a time, rooms and random numbers. Tests of other packages name the files by their path.
#![allow(dead_code, reason = "no test uses all of it")]
#![allow(unused_imports, reason = "no test uses all of it")]

mod random;
mod rooms;
mod time;

pub(crate) use random::Random;
pub(crate) use rooms::{room, session};
pub(crate) use time::{T, ms};
