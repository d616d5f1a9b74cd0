//! Writes the Rust code of docs/STORES.md to files that the tests compile and run.

use std::path::Path;
use std::{env, fs};

const DOCUMENT: &str = "../../docs/STORES.md";
/// The names of the files, in the order of the code in the document.
const BLOCKS: [&str; 3] = ["first_program.rs", "page.rs", "follow.rs"];

fn main() {
    println!("cargo::rerun-if-changed={DOCUMENT}");
    let document = fs::read_to_string(DOCUMENT).expect("the document can be read");
    let blocks: Vec<&str> = document.split("\n```rust\n").skip(1).map(until_end).collect();
    assert_eq!(blocks.len(), BLOCKS.len(), "{DOCUMENT} has other Rust code than {BLOCKS:?}");
    assert_eq!(document.matches("```rust").count(), BLOCKS.len(), "{DOCUMENT} has Rust code that is not compiled");
    let folder = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    for (name, code) in BLOCKS.iter().zip(blocks) {
        fs::write(Path::new(&folder).join(name), code).expect("OUT_DIR can be written");
    }
}

/// Returns the code before the end of its block.
fn until_end(rest: &str) -> &str {
    rest.split_once("\n```\n").expect("the block has an end").0
}
