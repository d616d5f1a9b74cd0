//! The names of the public types, read from the sources.
//!
//! `unreachable_pub` is an error in the checks, so a user can name a type that is declared `pub`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Returns each public struct and enum as `module::Name`, or as `Name` if it is at the root.
pub(crate) fn types() -> BTreeSet<String> {
    let mut types = BTreeSet::new();
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    collect(&src, &src, &mut types);
    types
}

fn collect(src: &Path, folder: &Path, types: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("the sources are there") {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            collect(src, &path, types);
            continue;
        }
        let code = fs::read_to_string(&path).expect("a source is a text");
        let declared = code.lines().filter_map(|line| {
            let line = line.trim_start();
            line.strip_prefix("pub struct ").or_else(|| line.strip_prefix("pub enum "))
        });
        let module = module(path.strip_prefix(src).expect("it was found below it"));
        types.extend(declared.map(|rest| {
            let name = rest.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
            format!("{module}{name}")
        }));
    }
}

/// Returns the public module of a source file: the name of its folder or file at the top of `src`, or the root.
fn module(file: &Path) -> String {
    let top = file.iter().next().and_then(|top| top.to_str()).unwrap_or_default().trim_end_matches(".rs");
    match top {
        "id" | "session" => String::new(),
        module => format!("{module}::"),
    }
}
