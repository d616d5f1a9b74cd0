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
    assert_eq!(fences, ["rust,no_run", "rust,no_run", "rust,ignore", "text", "rust,no_run"]);
}

/// `ci/chat.sh` compiles and runs it.
#[test]
fn the_graceful_stop_is_the_one_of_the_chat() {
    let (_, block) = LEASES.split_once("```rust,ignore\n").expect("the block");
    let (block, _) = block.split_once("```").expect("its end");
    let plain = |code: &str| code.lines().map(str::trim).collect::<Vec<_>>().join("\n");
    assert!(plain(include_str!("../../../examples/chat/src/main.rs")).contains(&plain(block.trim())), "{block}");
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
        names.iter().filter(|name| !include_str!("../src/telemetry.rs").contains(&format!("| `{name}` |"))).collect();
    assert!(missing.is_empty() && names.len() >= 4, "{missing:?} of {names:?}");
}

/// Returns a column of the table with this head: the text of each row, without links.
fn column(text: &str, head: &str, column: usize) -> Vec<String> {
    let lines = text.lines().map(|line| line.strip_prefix("//! ").unwrap_or(line));
    let rows = lines.skip_while(|line| !line.starts_with(head)).skip(2).take_while(|line| line.starts_with('|'));
    let plain = |cell: &str| cell.replace(['[', ']'], "").trim().to_owned();
    rows.map(|row| plain(row.split('|').nth(column).expect("a cell"))).collect()
}

#[test]
fn each_store_has_one_promise() {
    let on_the_crate_page = column(include_str!("../src/lib.rs"), "| register | strong if |", 2);
    assert_eq!(column(LEASES, "| store | use it if | strong if |", 3), on_the_crate_page);
    assert_eq!(on_the_crate_page.len(), 7);
}
