//! Some test asserts the words of each error.

use std::fs;
use std::path::{Path, PathBuf};

/// No test can provoke these: a system call would have to fail that never does, or between two others.
const NOT_PROVOKED: [&str; 2] = ["cannot create a runtime for the client", "cannot open {}"];

/// Where the tests begin in a source file.
const TESTS: &str = "#[cfg(test)]\nmod tests {";

/// Returns each Rust file in a folder, with its text.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
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

/// Returns each Rust file in this folder of the crate, and of the crate with its protocol.
fn of_both(folder: &str) -> Vec<(PathBuf, String)> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    [package.join(folder), package.join("../imid-lease-protocol").join(folder)]
        .iter()
        .flat_map(|it| sources(it))
        .collect()
}

/// Returns the code of the tests in `tests/` and in the sources.
fn tests() -> String {
    let in_tests = of_both("tests").into_iter().map(|(_, code)| code);
    let in_sources = of_both("src").into_iter().filter_map(|(file, code)| match code {
        code if file.ends_with("tests.rs") => Some(code),
        code => code.split_once(TESTS).map(|(_, tests)| tests.to_owned()),
    });
    in_tests.chain(in_sources).collect::<Vec<_>>().join("\n")
}

/// Returns the text that follows, which is a literal: `"..."`, with lines that end with a backslash joined.
fn literal(code: &str) -> Option<String> {
    let rest = code.trim_start().strip_prefix(['"']).or_else(|| code.trim_start().strip_prefix("r\""))?;
    let mut text = String::new();
    let mut chars = rest.chars();
    loop {
        match chars.next()? {
            '"' => return Some(text),
            '\\' => match chars.next()? {
                '\n' => chars = chars.as_str().trim_start().chars(),
                other => text.extend(['\\', other]),
            },
            other => text.push(other),
        }
    }
}

/// The words of an error are in its `#[error("...")]` or in its constructor. For each of them, a line of a test must
/// have the same words. The line can have any text in place of the parts in braces.
#[test]
fn the_words_of_each_error_are_asserted() {
    let tests = tests();
    // A long text in a test goes on in the next line.
    let mut joined = String::new();
    for line in tests.lines() {
        let is_new = joined.is_empty() || joined.ends_with('\n');
        let line = if is_new { line } else { line.trim_start() };
        if let Some(start) = line.strip_suffix('\\') {
            joined.push_str(start);
        } else {
            joined.push_str(line);
            joined.push('\n');
        }
    }
    let lines: Vec<&str> = joined.lines().collect();
    let (mut seen, mut missing) = (0, Vec::new());
    for (file, code) in of_both("src") {
        if file.ends_with("tests.rs") {
            continue;
        }
        let code = code.split(TESTS).next().unwrap_or_default();
        let of_attributes = code.split("#[error(").skip(1);
        let of_calls = code.split("RegisterError::new(").skip(1);
        let formatted = |rest: &str| rest.trim_start().strip_prefix("format!(").unwrap_or(rest).to_owned();
        for words in of_attributes.map(str::to_owned).chain(of_calls.map(formatted)).filter_map(|rest| literal(&rest)) {
            let parts: Vec<&str> = words.split('{').map(|part| part.rsplit('}').next().unwrap_or_default()).collect();
            // A text that is only made of other texts.
            if parts.iter().all(|part| part.trim_matches(['.', ':', ' ']).is_empty()) {
                continue;
            }
            seen += 1;
            if !NOT_PROVOKED.contains(&words.as_str()) && !lines.iter().any(|line| has_in_order(line, &parts)) {
                missing.push(format!("{}: {words}", file.file_name().unwrap_or_default().display()));
            }
        }
    }
    assert!(missing.is_empty(), "no test has these words:\n{}", missing.join("\n"));
    assert!(seen > 60, "{seen}");
}

fn has_in_order(line: &str, parts: &[&str]) -> bool {
    let mut rest = line;
    parts.iter().all(|part| {
        let found = rest.split_once(part);
        rest = found.map_or("", |(_, after)| after);
        found.is_some()
    })
}
