//! Shell completions and man pages.
#![cfg(unix)]

use std::process::Command;

use crate::{commands, imid, imid_args, skip};

#[test]
fn completions_know_each_command_in_each_shell() {
    let commands = commands();
    for shell in ["bash", "zsh", "fish"] {
        let script = imid(&format!("completions {shell}"), "").ok();
        for command in commands.iter().filter_map(|command| command.split(' ').next_back()) {
            assert!(script.contains(command), "{shell} does not complete {command}");
        }
        assert!(script.contains("session-field"), "{shell}");
    }
    assert!(imid("completions tcsh", "").error(2).starts_with("<SHELL>: expected one of bash, "));
}

/// Returns the completions that bash offers for the words of a command line.
fn complete(words: &[&str]) -> Option<String> {
    let script = imid("completions bash", "").ok();
    let line = format!(
        "{script}\nCOMP_WORDS=({}); COMP_CWORD={}; _imid imid '{}' '{}'; echo \"${{COMPREPLY[@]}}\"",
        words.join(" "),
        words.len() - 1,
        words[words.len() - 1],
        words[words.len() - 2],
    );
    let ran = Command::new("bash").args(["--norc", "-c", &line]).output();
    let ran = ran.inspect_err(|error| skip("bash_completes_commands_and_options", error)).ok()?;
    Some(String::from_utf8(ran.stdout).unwrap())
}

#[test]
fn bash_completes_commands_and_options() {
    let Some(commands) = complete(&["imid", "ins"]) else { return };
    assert_eq!(commands.trim(), "inspect");
    assert_eq!(complete(&["imid", "tag", "--session-f"]).unwrap().trim(), "--session-field");
    assert!(complete(&["imid", "check", "--dialect", "rong"]).unwrap().contains("rongcloud"));
    // The folder of the tests has `src`.
    assert_eq!(complete(&["imid", "tag", "--output", "sr"]).unwrap().trim(), "src");
}

/// Writes the manual pages, and returns the name and the text of each one.
fn pages() -> (tempfile::TempDir, Vec<(String, String)>) {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(imid_args(&["man", folder.path().to_str().unwrap()], "").ok(), "");
    let names = commands().into_iter().map(|command| format!("imid-{}", command.replace(' ', "-")));
    let read = |name: String| {
        let page = std::fs::read_to_string(folder.path().join(format!("{name}.1"))).unwrap();
        (name, page)
    };
    let pages = names.chain(["imid".to_owned()]).map(read).collect();
    (folder, pages)
}

#[test]
fn each_command_has_a_man_page() {
    let (folder, pages) = pages();
    for (name, page) in &pages {
        assert!(page.contains(&format!(".TH {name} 1")), "{page}");
        assert!(name == "imid" || name.starts_with("imid-lane-") || page.contains("Example"), "{name}");
    }
    assert!(pages.iter().any(|(name, page)| name == "imid" && page.contains("imid\\-tag(1)")));
    let missing = folder.path().join("no");
    assert!(imid_args(&["man", missing.to_str().unwrap()], "").error(1).starts_with("cannot write to "));
}

#[test]
fn a_man_page_has_no_error_of_its_formatter() {
    let (folder, pages) = pages();
    for (name, _) in pages {
        let path = folder.path().join(format!("{name}.1"));
        let ran = match Command::new("groff").args(["-man", "-ww", "-Tutf8", "-P-cbou"]).arg(&path).output() {
            Ok(ran) => ran,
            Err(error) => return skip("a_man_page_has_no_error_of_its_formatter", format_args!("groff: {error}")),
        };
        assert!(ran.stderr.is_empty(), "{}", String::from_utf8_lossy(&ran.stderr));
        assert!(String::from_utf8_lossy(&ran.stdout).contains("NAME"));
    }
}
