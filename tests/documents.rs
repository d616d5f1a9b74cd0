//! The links of the documents lead somewhere.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, iter};

fn documents() -> BTreeMap<PathBuf, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let paths = [root, &root.join("docs")].map(|folder| fs::read_dir(folder).expect("a folder")).into_iter().flatten();
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
    let mut count = 0;
    for (path, document) in &documents {
        for target in prose(document).flat_map(targets).filter(|target| !target.starts_with("https://")) {
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let folder = path.parent().expect("a file is in a folder");
            let file = if file.is_empty() { path.clone() } else { folder.join(file) };
            let file =
                file.canonicalize().unwrap_or_else(|error| panic!("{} links to {target}: {error}", path.display()));
            let has_anchor = || documents.get(&file).is_some_and(|text| anchors(text).any(|it| it == anchor));
            assert!(anchor.is_empty() || has_anchor(), "{} links to {target}", path.display());
            count += 1;
        }
    }
    assert!(count > 20, "{count} links");
}
