//! The commands in the documents print what the documents say.
#![cfg(unix)]

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use imid::MessageId;
use imid_lease::register::FileRegister;
use imid_lease::{LaneOptions, LeasedGenerator};

use crate::imid_args;

/// A command of a `console` block, and the output that follows it.
pub(crate) struct Example {
    pub(crate) command: String,
    pub(crate) output: String,
}

pub(crate) fn examples(document: &str) -> Vec<Example> {
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
            line.parse().map_or(line.to_owned(), |id: MessageId| format!("{:?}", id.session_tag()))
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

const README: &str = include_str!("../../../../README.md");
const TOOL: &str = include_str!("../../../../docs/TOOL.md");
const DEPLOY: &str = include_str!("../../../../docs/DEPLOY.md");
const LEASES: &str = include_str!("../../../../docs/LEASES.md");
const ONCALL: &str = include_str!("../../../../docs/ONCALL.md");
const MIGRATING: &str = include_str!("../../../../docs/MIGRATING.md");

#[test]
fn the_commands_of_the_readme_print_its_output() {
    assert_commands_print_the_written_output(README);
}

#[test]
fn the_commands_of_the_page_about_the_tool_print_its_output() {
    assert_commands_print_the_written_output(TOOL);
}

#[test]
fn the_commands_of_the_page_about_deployments_print_its_output() {
    assert_commands_print_the_written_output(DEPLOY);
}

#[test]
fn the_commands_of_the_migration_guide_print_its_output() {
    assert_commands_print_the_written_output(MIGRATING);
}

/// Returns the blocks of a language.
pub(crate) fn blocks<'a>(document: &'a str, language: &str) -> Vec<&'a str> {
    let start = format!("\n```{language}\n");
    document.split(&*start).skip(1).map(|rest| rest.split("\n```").next().unwrap_or_default()).collect()
}

/// Runs a script in a new home folder. Its first error ends it.
fn run_at_home(script: &str) -> (tempfile::TempDir, Result<String, String>) {
    let home = tempfile::tempdir().unwrap();
    let tool = Path::new(env!("CARGO_BIN_EXE_imid")).parent().unwrap();
    let path = format!("{}:{}", tool.display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    shell.args(["-euc", script]).env("PATH", path).env("HOME", home.path()).env("LC_ALL", "C.UTF-8");
    let ran = shell.current_dir(&home).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let result = if ran.status.success() { Ok(text(&ran.stdout)) } else { Err(text(&ran.stderr)) };
    (home, result)
}

#[test]
fn each_shell_block_of_the_documents_is_run_by_a_test() {
    let [first, tests] = blocks(README, "sh")[..] else { panic!("the README has two shell blocks") };
    let [install] = blocks(TOOL, "sh")[..] else { panic!("the page about the tool has one shell block") };
    let (_home, ran) = run_at_home(&first.replace("cargo run --", "imid"));
    assert!(ran.as_ref().is_ok_and(|out| out.contains("\ntype     3 GROUP\nhash     3966315\n")), "{ran:?}");
    assert!(include_str!("../../../../ci/tests.sh").contains(&format!("{{ {tests} 2>&1")), "{tests}");

    let (pages, others): (Vec<_>, Vec<_>) = install.lines().partition(|line| line.starts_with("man "));
    let (_home, ran) = run_at_home(&others.join("\n"));
    assert_eq!(ran.as_deref(), Ok(""));
    // Each shell finds the script in its folder.
    for (shell, script) in [
        (
            "bash",
            "bash --norc -c '. /usr/share/bash-completion/bash_completion; _completion_loader imid; complete -p imid'",
        ),
        ("fish", "fish -c \"complete -C 'imid ins'\""),
        ("zsh", "zsh -f -c 'fpath=(~/.zfunc $fpath); autoload -U compinit; compinit -u; print -r -- $_comps[imid]'"),
        ("man", &pages.join("\n")),
    ] {
        let can_run = match shell {
            "bash" => Path::new("/usr/share/bash-completion/bash_completion").exists(),
            // Under qemu a program that is not there starts, and fails.
            _ => Command::new(shell).arg("--version").output().is_ok_and(|ran| ran.status.success()),
        };
        if !can_run {
            crate::skip("each_shell_block_of_the_documents_is_run_by_a_test", format_args!("{shell} is not installed"));
            continue;
        }
        let (_home, ran) = run_at_home(&format!("{}\n{script}", others.join("\n")));
        let expected = match shell {
            "bash" => " -F _imid imid\n",
            "fish" => "inspect\tShow the fields of IDs",
            "zsh" => "_imid\n",
            _ => "imid-tag",
        };
        assert!(ran.as_ref().is_ok_and(|out| out.contains(expected)), "{shell}: {ran:?}");
    }

    // The first lease, in a file in place of PostgreSQL.
    let [create] = blocks(LEASES, "sh")[..] else { panic!("the page about leases has one shell block") };
    let (_, create) = create.split_once('\n').expect("the tool is installed first");
    let create = create.replace("postgres://chat:secret@localhost/chat", "file:ids");
    let (_home, ran) = run_at_home(&create);
    assert_eq!(ran.as_deref(), Ok("space production has 64 lanes, free from now\n"));
    let [look] = blocks(ONCALL, "sh")[..] else { panic!("the page for those on call has one shell block") };
    let look =
        look.replace("postgres://chat:secret@db/chat", "file:ids").replace("lane list", "lane list --space production");
    let (_home, ran) = run_at_home(&format!("{create}\n{}", look.split("curl").next().unwrap_or_default()));
    assert!(ran.as_ref().is_ok_and(|out| out.contains("\n64 lanes of imid-80\n")), "{ran:?}");

    // The tests with PostgreSQL run these, and tests/parquet.py runs those of DuckDB.
    let (duckdb, psql): (Vec<_>, Vec<_>) =
        blocks(MIGRATING, "sh").into_iter().partition(|block| block.contains("duckdb"));
    assert!(psql.iter().all(|block| block.contains("psql")));
    assert_eq!((duckdb.len(), psql.len(), blocks(MIGRATING, "sql").len()), (2, 3, 2));
    // examples/chat_sql/check.py runs it.
    assert_eq!((blocks(README, "sql").len(), blocks(TOOL, "sql").len()), (1, 0));
}

/// The lines are the same but for the words with a number or an ID. Those that are not here need a PostgreSQL.
#[test]
fn the_page_for_those_on_call_shows_what_the_tool_prints() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ids");
    // A change of the number of lanes watches for half of it, and the lease is renewed twice in that time.
    let options = LaneOptions::new().holder("chat-3").horizon(Duration::from_secs(16)).create_missing();
    let ids = LeasedGenerator::open(FileRegister::shared(&path).expect("a file"), options).expect("options");
    ids.wait_until_open(Duration::from_secs(15)).expect("a lane");
    let url = format!("file:{}", path.display());
    let run = |args: &[&str]| {
        let ran = imid_args(&[&["lane"], args, &["--register", &url]].concat(), "");
        ran.out + &ran.err
    };
    let empty = format!("file:{}", folder.path().join("empty").display());
    imid_args(&["lane", "create", "--first", "--space", "other", "--register", &empty], "").ok();
    let printed =
        [run(&["doctor"]), run(&["resize", "7"]), imid_args(&["lane", "doctor", "--register", &empty], "").ok()];
    let without_numbers = |text: &str| {
        let word = |word| if str::contains(word, |it: char| it.is_ascii_digit()) { "0" } else { word };
        text.split(' ').map(word).collect::<Vec<_>>().join(" ")
    };
    let printed: Vec<_> = printed.iter().flat_map(|out| out.lines()).map(without_numbers).collect();
    let mut count = 0;
    for line in blocks(ONCALL, "text").into_iter().flat_map(str::lines) {
        let of_postgres =
            ["clock ", "looked at", "not seen", "promise ", "change    the clocks", "error: cannot connect"];
        if line.starts_with("$ ") || line == "..." || of_postgres.iter().any(|start| line.starts_with(start)) {
            continue;
        }
        let line = without_numbers(line.trim_end_matches(" ..."));
        assert!(printed.iter().any(|it| it.starts_with(&line)), "{line:?} is not in {printed:#?}");
        count += 1;
    }
    assert!(count >= 6, "{count}");
    ids.close();
}

#[test]
fn the_arguments_of_each_command_in_a_sentence_are_accepted() {
    let mut count = 0;
    for document in [README, TOOL, DEPLOY, LEASES, ONCALL, MIGRATING] {
        let commands =
            document.split('`').skip(1).step_by(2).filter(|code| code.starts_with("imid ") && !code.contains('\n'));
        for command in commands.filter(|command| command.contains("--")) {
            let (_home, ran) = run_at_home(&command.replace("COMMAND", "tag"));
            // The input is empty, or its file is missing.
            let is_usage = |error: &str| error.contains("Usage:") || error.contains("For more information");
            assert!(ran.as_ref().map_or_else(|error| !is_usage(error), |_| true), "{command}: {ran:?}");
            count += 1;
        }
    }
    assert!(count >= 4, "{count}");
}
