//! Writes the first program of docs/STORES.md to a file that the tests compile and run.

use std::path::Path;
use std::{env, fs};

const DOCUMENT: &str = "../../docs/STORES.md";

fn main() {
    println!("cargo::rerun-if-changed={DOCUMENT}");
    let document = fs::read_to_string(DOCUMENT).expect("the document can be read");
    assert_eq!(document.matches("```rust").count(), 1, "{DOCUMENT} has Rust code that is not compiled");
    let (_, program) = document.split_once("\n```rust\n").expect("the first program");
    let (program, _) = program.split_once("\n```\n").expect("the block has an end");
    let folder = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(Path::new(&folder).join("first_program.rs"), program).expect("OUT_DIR can be written");
}
