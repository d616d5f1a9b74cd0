//! The code in the documents is the code of the examples, which compile.

const README: &str = include_str!("../../../README.md");

/// Returns the code of an example, without its documentation.
fn code(example: &str) -> &str {
    example.split_once("\n\n").expect("documentation, and then code").1
}

#[test]
fn the_readme_has_the_code_of_the_examples() {
    for example in [include_str!("../examples/one_host.rs"), include_str!("../examples/many_hosts.rs")] {
        let block = format!("```rust,ignore\n{}```\n", code(example));
        assert!(README.contains(&block), "the README does not have this block:\n{block}");
    }
}
