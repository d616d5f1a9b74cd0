//! The links of the documents lead somewhere, and what is said twice is said alike.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, iter};

fn documents() -> BTreeMap<PathBuf, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["", "docs", "spec", "spec/contract", "spec/lease"].map(|folder| root.join(folder));
    let paths = folders.into_iter().flat_map(|folder| fs::read_dir(folder).expect("a folder"));
    let paths = paths.map(|entry| entry.expect("an entry").path());
    let documents = paths.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    documents.map(|path| (path.clone(), fs::read_to_string(path).expect("a document is text"))).collect()
}

/// Returns the lines outside of blocks of code.
fn prose(document: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    document.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// Returns the anchors that GitHub gives to the headings: lower case, a dash for each space, no punctuation.
fn anchors(document: &str) -> impl Iterator<Item = String> {
    let headings = prose(document).filter(|line| line.starts_with('#'));
    headings.map(|line| {
        let heading = line.trim_start_matches('#').trim().to_lowercase();
        let kept = heading.chars().filter(|it| it.is_alphanumeric() || matches!(it, ' ' | '-' | '_'));
        kept.map(|it| if it == ' ' { '-' } else { it }).collect()
    })
}

/// Returns the targets of the links `[text](target)` of a line.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    iter::from_fn(move || {
        let (target, after) = rest.split_once("](")?.1.split_once(')')?;
        rest = after;
        Some(target)
    })
}

#[test]
fn each_link_of_a_document_leads_to_a_file_and_a_heading() {
    let documents = documents();
    let real = |path: &Path| path.canonicalize().expect("a file");
    let by_file: BTreeMap<_, _> = documents.iter().map(|(path, document)| (real(path), document)).collect();
    let mut count = 0;
    for (path, document) in &documents {
        for target in prose(document).flat_map(targets).filter(|target| !target.starts_with("https://")) {
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let folder = path.parent().expect("a file is in a folder");
            let file = if file.is_empty() { path.clone() } else { folder.join(file) };
            let file =
                file.canonicalize().unwrap_or_else(|error| panic!("{} links to {target}: {error}", path.display()));
            let has_anchor = || by_file.get(&file).is_some_and(|text| anchors(text).any(|it| it == anchor));
            assert!(anchor.is_empty() || has_anchor(), "{} links to {target}", path.display());
            count += 1;
        }
    }
    assert!(count > 20, "{count} links");
}

/// Returns the lines of the documentation of the crate.
fn crate_page() -> String {
    let source = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).expect("the library");
    let lines = source.lines().filter_map(|line| line.strip_prefix("//!"));
    lines.map(str::trim_start).collect::<Vec<_>>().join("\n")
}

/// Where a page names the default of a limit, such as "`max_lead` (1 s)", it is that of the builder.
#[cfg(all(feature = "std", target_has_atomic = "64"))]
#[test]
fn each_page_has_the_limits_of_the_builder() {
    let builder = format!("{:?}", imid::Generator::builder());
    let limits = [("max_lead", "1s", "1 s"), ("max_rollback", "3600s", "1 h"), ("max_skew", "5s", "5 s")];
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let pages = ["README.md", "docs/DESIGN.md"].map(|page| fs::read_to_string(root.join(page)).expect("a page"));
    let mut count = 0;
    for (limit, set, said) in limits {
        assert!(builder.contains(&format!("{limit}: {set}")), "{limit} in {builder}");
        for page in pages.iter().chain([&crate_page()]) {
            for rest in page.split(&format!("`{limit}` (")).skip(1) {
                let (found, _) = rest.split_once(')').expect("a closed parenthesis");
                assert_eq!(found, said, "the default of {limit}");
                count += 1;
            }
        }
    }
    assert!(count >= 6, "{count} limits");
}

/// What an observed ID or a floor can add to its own lead. `tests/faults/lead.rs` measures it.
#[test]
fn each_page_has_one_number_for_what_an_observed_id_adds() {
    let page = crate_page();
    let rows: Vec<_> = page.lines().filter(|line| line.starts_with("| ") && line.contains(" + 21 ms |")).collect();
    assert_eq!(rows.len(), 4, "{rows:?}");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut count = 0;
    for path in ["README.md", "src/generator/mod.rs"] {
        let text = fs::read_to_string(root.join(path)).expect("a file");
        for (at, _) in text.match_indices(" ms ahead") {
            // Such as "5 s and 21 ms ahead".
            let mut words = text[..at].rsplit(' ');
            let number = words.next().expect("a word");
            if words.next() == Some("and") {
                assert_eq!(number, "21", "{path} and the table differ");
                count += 1;
            }
        }
    }
    assert!(count >= 3, "{count} sentences");
}

/// The words of DESIGN are few enough to learn.
#[test]
fn the_glossary_has_at_most_20_words_each_in_use() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let design = fs::read_to_string(root.join("docs/DESIGN.md")).expect("a page");
    let (_, words) = design.split_once("## Words\n").expect("the glossary");
    let (words, rest) = words.split_once("\n## ").expect("a chapter after it");
    let rows = words.lines().filter_map(|line| line.strip_prefix("| ")).skip(2);
    let words: Vec<_> = rows.filter_map(|row| row.split_once(" | ")).map(|(word, _)| word).collect();
    assert!((10..=20).contains(&words.len()), "{words:?}");
    let text = [rest, &crate_page()].concat().to_lowercase();
    for word in words {
        assert!(text.contains(word), "{word} is not used");
    }
}

/// Returns the first words of the code in a table's cell.
fn code(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2).map(|code| code.split(' ').next().expect("a word"))
}

/// The documentation of `imid::store` and STORES.md name the same columns. `BINARY(10)`, which pads an ID that is too short, is in neither.
#[test]
fn the_module_and_the_page_about_stores_name_the_same_columns() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| fs::read_to_string(root.join(path)).expect("a file");
    let (module, page) = (read("src/store.rs"), read("docs/STORES.md"));
    let rows = |text: &str| -> Vec<Vec<String>> {
        let lines = text.lines().filter_map(|line| line.trim_start_matches("//!").trim().strip_prefix("| "));
        lines.map(|line| line.split(" | ").map(str::to_owned).collect()).collect()
    };
    let page = rows(page.split_once("## Which form").expect("a heading").1.split_once("\n#").expect("a heading").0);
    for (value, first) in [("MessageId", "bytea"), ("AsText", "text")] {
        let row = rows(&module).into_iter().find(|row| row[0] == format!("[`{value}`]")).expect("a row");
        let columns: BTreeSet<String> = code(&row[2]).map(str::to_owned).collect();
        // A column that is named with its database begins with its type. What follows are constraints.
        let is_value =
            |row: &&Vec<String>| row.len() > 2 && row[1].starts_with('`') && code(&row[2]).next() == Some(value);
        let of_page = page.iter().filter(is_value).flat_map(|row| code(&row[1]));
        let is_type = |word: &&str| !["CHECK", "WITHOUT", "(session_tag,"].contains(word);
        assert_eq!(columns, of_page.filter(is_type).map(str::to_owned).collect(), "{value}");
        assert!(columns.contains(first) && !columns.contains("BINARY(10)"), "{columns:?}");
    }
}

/// The walks of CONTRIBUTING.md name files, and functions that are in them.
#[test]
fn the_map_leads_to_functions_that_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("CONTRIBUTING.md")).expect("a page");
    let (_, map) = page.split_once("## Map\n").expect("the map");
    let (map, _) = map.split_once("| folder |").expect("the folders");
    let mut count = 0;
    for stop in map.split("](").skip(1) {
        let (path, rest) = stop.split_once(") `").expect("a file and a name");
        let (name, _) = rest.split_once('`').expect("a name");
        let source = fs::read_to_string(root.join(path)).expect("a file");
        let is_there = ["fn ", "const "].iter().any(|kind| {
            source.match_indices(&format!("{kind}{name}")).any(|(at, found)| {
                !source[at + found.len()..].starts_with(|it: char| it.is_alphanumeric() || it == '_')
            })
        });
        assert!(is_there, "{path} has no {name}");
        count += 1;
    }
    assert!(count >= 10, "{count} stops");
}
