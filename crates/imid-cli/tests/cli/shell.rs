//! Shell completions and man pages.
#![cfg(unix)]

use std::process::Command;

use crate::{commands, imid, skip};

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
    assert_eq!(
        imid("completions powershell", "").error(2),
        "<SHELL>: expected one of bash, zsh, fish, found \"powershell\""
    );
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
    for (words, expected) in [
        (["imid", "check", "--id-field", "sr"], "sr"),
        (["imid", "new", "--type", "sr"], "sr"),
        (["imid", "tag", "--output", "sr"], "src"),
    ] {
        assert_eq!(complete(&words).unwrap().trim(), expected, "{words:?}");
    }
}

#[test]
fn each_command_has_a_man_page() {
    let tool = imid("man", "").ok();
    let synopsis = imid("man tag", "").ok();
    let synopsis = synopsis.lines().find(|line| line.starts_with(r"\fBimid tag")).unwrap();
    assert_eq!(synopsis, r"\fBimid tag\fR [OPTIONS] \-\-session\-field <FIELD> [FILE]");
    assert!(tool.contains(".TH imid 1") && tool.contains("imid\\-tag(1)"), "{tool}");
    for command in commands() {
        let (page, name) = (imid(&format!("man {command}"), "").ok(), command.replace(' ', "-"));
        assert!(page.contains(&format!(".TH imid-{name} 1")), "{page}");
        assert!(command.contains(' ') || page.contains("Examples:"), "{command}");
    }
    assert!(imid("man no", "").error(2).starts_with("[COMMAND]: expected one of new, "));
    let error = imid("man lane no", "").error(2);
    assert_eq!(error, "[COMMAND]: expected one of list, release, recover, create, resize, doctor, found \"no\"");
    assert_eq!(imid("man tag no", "").error(2), "[COMMAND]: expected no command after tag, found \"no\"");
}

#[test]
fn a_man_page_has_no_error_of_its_formatter() {
    let folder = tempfile::tempdir().unwrap();
    for command in commands().into_iter().chain([String::new()]) {
        let path = folder.path().join("page.1");
        std::fs::write(&path, imid(&format!("man {command}"), "").ok()).unwrap();
        let ran = match Command::new("groff").args(["-man", "-ww", "-Tutf8", "-P-cbou"]).arg(&path).output() {
            Ok(ran) => ran,
            Err(error) => return skip("a_man_page_has_no_error_of_its_formatter", format_args!("groff: {error}")),
        };
        assert!(ran.stderr.is_empty(), "{}", String::from_utf8_lossy(&ran.stderr));
        assert!(String::from_utf8_lossy(&ran.stdout).contains("NAME"));
    }
}
