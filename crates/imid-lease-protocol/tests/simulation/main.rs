//! A model of processes that share a register, for the engine: random schedules, an exhaustive tiny configuration, schedules
//! by hand, and the proof that each rule is needed. A fuzz target plays schedules of bytes.

pub(crate) mod bytes;
mod description;
#[cfg(test)]
mod driver;
mod exhaustive;
mod fleet;
mod generator;
mod holder;
mod leads;
mod named;
mod operator;
mod random;
mod restored;
mod rules;
mod steps;
mod store;
mod world;
