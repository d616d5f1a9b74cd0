//! The names of the public types, read from the sources.
//!
//! `unreachable_pub` is an error in the checks, so a user can name a type that is declared `pub`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Returns each public struct and enum as `module::Name`, or as `Name` if it is at the root.
pub(crate) fn types() -> BTreeSet<String> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut types = BTreeSet::new();
    for (file, code) in sources(&src) {
        let module = module(file.strip_prefix(&src).expect("it was found below it"));
        let mut is_declared_by_macro = false;
        for line in code.lines().map(str::trim_start) {
            // The adapters of servers: `remote_register! { /// ... Name, Server }`.
            is_declared_by_macro = (is_declared_by_macro || line.starts_with("remote_register! {")) && line != "}";
            let by_macro = |line: &&str| is_declared_by_macro && line.starts_with(|c: char| c.is_ascii_uppercase());
            let declared = line.strip_prefix("pub struct ").or_else(|| line.strip_prefix("pub enum "));
            let name = declared.or_else(|| Some(line).filter(by_macro));
            let name = name.and_then(|rest| rest.split(|c: char| !c.is_alphanumeric()).next()).unwrap_or_default();
            if !name.is_empty() {
                types.insert(format!("{module}{name}"));
            }
        }
    }
    types
}

/// Returns each Rust file in a folder, with its text.
pub(crate) fn sources(folder: &Path) -> Vec<(std::path::PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the sources are there") {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let code = fs::read_to_string(&path).expect("a source is a text");
            found.push((path, code));
        }
    }
    found
}

/// Returns the public module of a source file: those of `lib.rs` and `segment::leaf` are public, the others are not.
fn module(file: &Path) -> String {
    let mut names = file.iter().map(|name| name.to_str().unwrap_or_default().trim_end_matches(".rs"));
    match (names.next().unwrap_or_default(), names.next()) {
        ("segment", Some("leaf")) => "segment::leaf::".to_owned(),
        (module @ ("admin" | "record" | "redis_queue" | "register" | "segment" | "worker_ids"), _) => {
            format!("{module}::")
        }
        _ => String::new(),
    }
}
