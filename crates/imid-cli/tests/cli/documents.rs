//! The commands in the documents print what the documents say.
#![cfg(unix)]

use std::path::Path;
use std::process::Command;

use imid::MessageId;

/// A command of a `console` block, and the output that follows it.
struct Example {
    command: String,
    output: String,
}

fn examples(document: &str) -> Vec<Example> {
    let mut examples = Vec::<Example>::new();
    let (mut is_console, mut indent) = (false, "");
    for line in document.lines() {
        let line = line.strip_prefix(indent).unwrap_or(line);
        if let Some((before, kind)) = line.split_once("```").filter(|(before, _)| before.trim().is_empty()) {
            is_console = kind == "console";
            indent = if is_console { before } else { "" };
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| is_console) {
            examples.push(Example { command: command.into(), output: String::new() });
        } else if let Some(example) = examples.last_mut().filter(|_| is_console) {
            example.output += line;
            example.output += "\n";
        }
    }
    assert_eq!(examples.len(), document.lines().filter(|line| line.trim_start().starts_with("$ ")).count());
    examples
}

/// Returns the output without the parts that depend on the time of the run: ages, the present time, and the time and
/// spin of new IDs.
fn timeless(command: &str, output: &str) -> String {
    let timeless = |line: &str| match line.split_once("age ") {
        Some(("", _)) => "age".to_owned(),
        _ if line.trim_start().starts_with("now  ") => "now".to_owned(),
        _ if command.starts_with("imid new ") => {
            line.parse().map_or(line.to_owned(), |id: MessageId| format!("{:?}", id.session()))
        }
        _ => line.to_owned(),
    };
    output.trim_end().lines().map(timeless).collect::<Vec<_>>().join("\n")
}

/// Runs the commands in an empty folder with a link to `examples`.
fn assert_commands_print_the_written_output(document: &str) {
    let tool = Path::new(env!("CARGO_BIN_EXE_imid")).parent().expect("the tool is in a directory");
    let path = format!("{}:{}", tool.display(), std::env::var("PATH").expect("a shell has a path"));
    let directory = tempfile::tempdir().expect("a directory for the files of the commands");
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    std::os::unix::fs::symlink(samples, directory.path().join("examples")).expect("the directory is empty");
    let mut status = 0;
    for Example { command, output } in examples(document) {
        let mut shell = Command::new("sh");
        // `$?` is the status of the previous command.
        shell
            .args(["-c", &format!("exec 2>&1\n(exit {status})\n{command}")])
            .env("PATH", &path)
            .env("TZ", "Etc/UTC")
            .env("LC_ALL", "C.UTF-8")
            .env_remove("TERM")
            .current_dir(&directory);
        let ran = shell.output().expect("there is a shell");
        status = ran.status.code().expect("the command ends by itself");
        assert_eq!(timeless(&command, &String::from_utf8_lossy(&ran.stdout)), timeless(&command, &output), "{command}");
    }
}

#[test]
fn the_commands_of_the_readme_print_its_output() {
    assert_commands_print_the_written_output(include_str!("../../../../README.md"));
}

#[test]
fn the_commands_of_the_migration_guide_print_its_output() {
    assert_commands_print_the_written_output(include_str!("../../../../docs/MIGRATING.md"));
}
