//! The code in the documents is the code of the examples, which compile.

use imid_lease::record::LaneRecord;

const README: &str = include_str!("../../../README.md");

/// Returns the code of an example, without its documentation.
fn code(example: &str) -> &str {
    example.split_once("\n\n").expect("documentation, and then code").1
}

#[test]
fn the_readme_has_the_code_of_the_example() {
    let block = format!("```rust,ignore\n{}```\n", code(include_str!("../examples/many_hosts.rs")));
    assert!(README.contains(&block), "the README does not have this block:\n{block}");
}

const LEASES: &str = include_str!("../../../docs/LEASES.md");

/// The doctests compile the blocks that are not texts.
#[test]
fn all_code_of_the_page_for_operators_is_compiled() {
    let fences: Vec<_> =
        LEASES.lines().filter_map(|line| line.strip_prefix("```")).filter(|it| !it.is_empty()).collect();
    assert_eq!(fences, ["rust,no_run", "text", "rust,no_run"]);
}

#[test]
fn the_record_of_a_lane_on_the_page_for_operators_is_one() {
    let line = LEASES.lines().find(|line| line.starts_with("imid-lease/1 lane ")).expect("the page shows a record");
    assert_eq!(line.parse::<LaneRecord>().expect("a record").to_string(), line);
}

#[test]
fn the_metrics_on_the_page_for_operators_are_those_of_the_crate() {
    let names: Vec<_> = LEASES.split('`').filter(|word| word.starts_with("imid_lease_")).collect();
    let missing: Vec<_> =
        names.iter().filter(|name| !include_str!("../src/metrics.rs").contains(&format!("| `{name}` |"))).collect();
    assert!(missing.is_empty() && names.len() >= 4, "{missing:?} of {names:?}");
}
