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
        (["imid", "stats", "--plot", "sr"], "src"),
        (["imid", "tag", "--output", "sr"], "src"),
    ] {
        assert_eq!(complete(&words).unwrap().trim(), expected, "{words:?}");
    }
}

#[test]
fn each_command_has_a_man_page() {
    let tool = imid("man", "").ok();
    for option in [
        r"[\fB\-\-in\fR \fIFORMAT\fR]",
        r" \fB\-\-session\-field\fR \fIFIELD\fR ",
        r"[\fB\-o\fR|\fB\-\-output\fR \fIFILE\fR]",
    ] {
        let synopsis = imid("man tag", "").ok();
        let synopsis = synopsis.lines().find(|line| line.starts_with(r"\fBimid tag")).unwrap();
        assert!(synopsis.contains(option), "{option}: {synopsis}");
    }
    assert!(tool.contains(".TH imid 1") && tool.contains("imid\\-tag(1)"), "{tool}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    // A second time, the pages are replaced.
    for _ in 0..2 {
        assert_eq!(imid_args(&["man", "--folder", path], "").ok(), "");
    }
    let commands = commands();
    for command in &commands {
        let (page, name) = (imid(&format!("man {command}"), "").ok(), command.replace(' ', "-"));
        assert!(page.contains(&format!(".TH imid-{name} 1")), "{page}");
        assert!(command.contains(' ') || page.contains("Examples:"), "{command}");
        assert_eq!(std::fs::read_to_string(folder.path().join(format!("imid-{name}.1"))).unwrap(), page);
    }
    assert_eq!(std::fs::read_dir(path).unwrap().count(), 1 + commands.len(), "the tool and {commands:?}");
    assert!(imid("man no", "").error(2).starts_with("[COMMAND]: expected one of new, "));
    let error = imid("man lane no", "").error(2);
    assert_eq!(error, "[COMMAND]: expected one of list, release, recover, create, resize, doctor, watch, found \"no\"");
    assert_eq!(imid("man tag no", "").error(2), "[COMMAND]: expected no command after tag, found \"no\"");

    assert_eq!(std::fs::read_to_string(folder.path().join("imid.1")).unwrap(), tool);
    std::fs::write(folder.path().join("imid.1"), "mine").unwrap();
    let error = imid_args(&["man", "--folder", path], "").error(1);
    assert!(error.ends_with("imid.1\" exists, and this command did not write it"), "{error}");
    assert!(imid("man --folder no/such/folder", "").error(1).starts_with("cannot write \"no/such/folder/imid.1\": "));
}

#[test]
fn a_man_page_has_no_error_of_its_formatter() {
    let folder = tempfile::tempdir().unwrap();
    imid_args(&["man", "--folder", folder.path().to_str().unwrap()], "").ok();
    for page in std::fs::read_dir(folder.path()).unwrap() {
        let path = page.unwrap().path();
        let ran = match Command::new("groff").args(["-man", "-ww", "-Tutf8", "-P-cbou"]).arg(&path).output() {
            Ok(ran) => ran,
            Err(error) => return skip("a_man_page_has_no_error_of_its_formatter", format_args!("groff: {error}")),
        };
        assert!(ran.stderr.is_empty(), "{}", String::from_utf8_lossy(&ran.stderr));
        assert!(String::from_utf8_lossy(&ran.stdout).contains("NAME"));
    }
}
