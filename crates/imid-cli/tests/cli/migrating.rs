//! The commands of MIGRATING.md print what it says.

use std::path::Path;
use std::process::Command;

/// A command of a `console` block, and what follows it there.
struct Example {
    command: String,
    output: String,
}

fn examples(document: &str) -> Vec<Example> {
    let mut examples = Vec::<Example>::new();
    let mut is_console = false;
    for line in document.lines().map(str::trim_start) {
        if line.starts_with("```") {
            is_console = line == "```console";
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| is_console) {
            examples.push(Example { command: command.into(), output: String::new() });
        } else if let Some(example) = examples.last_mut().filter(|_| is_console) {
            example.output += line;
            example.output += "\n";
        }
    }
    examples
}

#[cfg(unix)]
#[test]
fn the_commands_of_the_migration_guide_print_what_it_says() {
    let document = include_str!("../../../../docs/MIGRATING.md");
    let examples = examples(document);
    assert_eq!(examples.len(), document.matches("\n$ ").count() + document.matches("\n   $ ").count());
    assert!(examples.len() > 15);
    let tool = Path::new(env!("CARGO_BIN_EXE_imid")).parent().expect("the tool is in a directory");
    let path = format!("{}:{}", tool.display(), std::env::var("PATH").expect("a shell has a path"));
    let directory = tempfile::tempdir().expect("a directory for the files of the commands");
    for Example { command, output } in examples {
        let mut shell = Command::new("sh");
        shell
            .args(["-c", &format!("exec 2>&1\n{command}")])
            .env("PATH", &path)
            .env("TZ", "UTC")
            .current_dir(&directory);
        let ran = shell.output().expect("there is a shell");
        assert_eq!(String::from_utf8_lossy(&ran.stdout), output, "{command}");
    }
}
