//! Finds what a text of an ID could be.
#![cfg_attr(not(any(feature = "std", test)), no_std)]

pub mod identify;
