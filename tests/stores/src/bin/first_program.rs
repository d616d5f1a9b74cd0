//! The first program of docs/STORES.md.

include!(concat!(env!("OUT_DIR"), "/first_program.rs"));
