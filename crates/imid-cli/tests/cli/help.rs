//! The help of each command.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use imid_lease::LeasedGenerator;
use serde_json::Value;

use crate::{command, commands, imid};

fn help(command_line: &str, columns: &str) -> String {
    let args = command_line.split_whitespace().chain(["--help"]);
    let ran = command().args(args).env("COLUMNS", columns).output().unwrap();
    assert!(ran.status.success());
    String::from_utf8(ran.stdout).unwrap()
}

/// Returns the commands under "Example:" or "Examples:", as they are in the help of a terminal with 80 columns.
fn examples(command_line: &str) -> Vec<String> {
    let help = help(command_line, "80");
    let lines = help.lines().skip_while(|line| !["Example:", "Examples:"].contains(line)).skip(1);
    lines.take_while(|line| line.starts_with("  ")).map(|line| line.trim().to_owned()).collect()
}

#[test]
fn each_command_has_help_with_examples() {
    let commands = commands();
    assert!(commands.len() > 10 && commands.iter().any(|command| command == "lane list"), "{commands:?}");
    for command in commands.iter().filter(|command| !command.contains(' ')) {
        let examples = examples(command);
        assert!(!examples.is_empty(), "{command}");
        // A longer example would be broken.
        assert!(examples.iter().all(|example| example.contains("imid ")), "{examples:?}");
    }
    let help = imid("--help", "").ok();
    assert!(help.contains("Exit status:"));
    assert_eq!(imid("help", "").ok(), help);
    // Without a command, a file or a pipe is read as `inspect` does.
    let nothing = std::process::Command::new(env!("CARGO_BIN_EXE_imid")).stdin(std::process::Stdio::null()).output();
    assert_eq!(nothing.unwrap().status.code(), Some(2));
    let id = "EUNC-Q8QJ-22GH-T3DD\n";
    // The age grows between the two runs.
    let without_age =
        |text: String| text.lines().filter(|line| !line.starts_with("age ")).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(without_age(imid("", id).ok()), without_age(imid("inspect", id).ok()));
    assert_eq!(imid("--version", "").ok(), concat!("imid ", env!("CARGO_PKG_VERSION"), "\n"));
}

/// Returns the words in backquotes.
fn quoted(text: &str) -> BTreeSet<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

#[test]
fn the_page_about_the_tool_names_each_command() {
    let page = include_str!("../../../../docs/TOOL.md");
    let rows = page.lines().skip_while(|line| *line != "| command | what it does |").skip(2);
    let first_cells = rows.map_while(|line| line.strip_prefix("| ")?.split('|').next());
    let commands = commands();
    let outer = commands.iter().map(String::as_str).filter(|command| !command.contains(' '));
    assert_eq!(first_cells.flat_map(quoted).collect::<BTreeSet<_>>(), outer.collect());
    for (option, end) in [("--format <", "take `--format`"), ("--dialect <", "take these names as `--dialect`")] {
        let (before, _) = page.split_once(end).unwrap_or_else(|| panic!("no sentence with {end:?}"));
        let paragraph = before.rsplit("\n\n").next().unwrap_or_default();
        let named = quoted(paragraph.rsplit(['.', ':']).next().unwrap_or_default());
        let having = commands.iter().filter(|command| help(command, "200").contains(option)).map(String::as_str);
        assert_eq!(named, having.collect(), "the commands that {end}");
    }
}

/// Returns the names under "JSON members:" in the help of a command. The names are before the first colon of a line.
fn json_members(command_line: &str) -> BTreeSet<String> {
    let help = help(command_line, "200");
    let (_, section) = help.split_once("JSON members:\n").unwrap();
    let lines = section.lines().take_while(|line| line.starts_with("  "));
    let paths = lines.flat_map(|line| line.split_once(": ").unwrap().0.trim().split(", "));
    paths.map(str::to_owned).collect()
}

/// Collects the paths of the members of a value, such as `types[].ids`.
fn collect_paths(value: &Value, path: &str, paths: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                collect_paths(value, &path, paths);
                paths.insert(path);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| collect_paths(value, &format!("{path}[]"), paths)),
        _ => {}
    }
}

#[test]
fn the_help_names_each_json_member() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ids");
    LeasedGenerator::open_file(&path).unwrap().close();
    let list = format!("lane list --json --register file:{}", path.display());
    let tagged = imid("tag --session-field s --time-field t", "{\"s\":1,\"t\":1763640000000}\n").out;
    for (command, runs) in [
        ("check", vec![("check --json", &*tagged)]),
        ("stats", vec![("stats --json", &*tagged), ("stats --json --dialect leaf", "5\n")]),
        (
            "grep",
            vec![("grep --json", "EUNC-Q8QJ-22GH-T3DD\n"), ("grep --json --dialect twitter", "204697221847986177\n")],
        ),
        ("range", vec![("range --json --from 0 --to 1", "")]),
        ("lane list", vec![(&list, "")]),
    ] {
        let mut found = BTreeSet::new();
        for (args, input) in runs {
            collect_paths(&serde_json::from_str(&imid(args, input).ok()).unwrap(), "", &mut found);
        }
        // What only a record of another format has.
        found.extend((command == "lane list").then(|| "lanes[].error".to_owned()));
        assert_eq!(json_members(command), found, "{command}");
    }
}

#[test]
fn the_help_fits_a_terminal_of_80_columns() {
    for command in commands().iter().chain([&String::new()]) {
        // On Windows the name of the program is longer.
        for line in help(command, "80").replace("imid.exe", "imid").lines() {
            assert!(line.chars().count() <= 80, "{command}: {line}");
        }
    }
}

#[test]
#[cfg(unix)]
fn an_argument_that_is_not_utf_8_is_a_usage_error_or_names_a_file() {
    use std::os::unix::ffi::OsStrExt;

    for name in commands() {
        let ran = command().args(name.split(' ')).arg(std::ffi::OsStr::from_bytes(b"\xff")).output().unwrap();
        let err = String::from_utf8_lossy(&ran.stderr);
        let status = ran.status.code();
        assert!(
            status == Some(2) || status == Some(1) && (err.contains("cannot open ") || err.contains("cannot write ")),
            "{name}: {status:?} {err}"
        );
        assert!(err.starts_with("error: ") && !err.contains("panicked"), "{name}: {err}");
    }
}

/// Makes the files that the examples read.
fn make_files(folder: &Path) {
    let write = |name: &str, content: &[u8]| fs::write(folder.join(name), content).unwrap();
    // These texts are IDs of the standard dialect and of RongCloud.
    write("ids.txt", b"2345-6789-ABCD-EFGH\n3345-6789-ABCD-EFGH\n");
    write("ids.bin", &[7; 20]);
    let chat = r#"{"room":"a","topic":"b","time_ms":1763640000000,"at":1763640000000,"app":"x","message":{"room":1}}
{"room":"a","topic":"b","time_ms":1763640000001,"at":1763640000001,"app":"x","message":{"room":1}}
"#;
    write("chat.jsonl", chat.as_bytes());
    write("chat.jsonl.gz", &crate::tag::gzip(chat.as_bytes()));
    write("out.jsonl", b"");
    write(
        "mixed.jsonl",
        b"{\"from\":\"a\",\"to\":\"b\",\"kind\":\"private\"}\n{\"from\":\"a\",\"to\":\"c\",\"kind\":3}\n",
    );
    let tagged = imid("tag --session-field room --time-field at", chat).out;
    write("tagged.jsonl", tagged.as_bytes());
    let log = format!("now {}", imid("new --type group --session room-42", "").ok());
    // The help looks for this ID in each of its forms.
    let ids = std::fs::read_to_string(folder.join("ids.txt")).unwrap();
    let log = log + "old=0x64d1601c46e2afbc856b\n" + &ids;
    write("app.log", log.as_bytes());
    write("app.log.gz", &crate::tag::gzip(log.as_bytes()));
    write("events.csv", b"event,204697221847986177\n");
    write("tagged.jsonl.gz", &crate::tag::gzip(tagged.as_bytes()));
    write("export.jsonl", tagged.replace("\"id\"", "\"message_id\"").as_bytes());
    for home in
        [".local/share/bash-completion/completions", ".zfunc", ".config/fish/completions", ".local/share/man/man1"]
    {
        fs::create_dir_all(folder.join(home)).unwrap();
    }
    LeasedGenerator::open_file(folder.join("ids")).unwrap().close();
}

#[test]
#[cfg(unix)]
fn each_example_in_the_help_works() {
    let folder = tempfile::tempdir().unwrap();
    make_files(folder.path());
    let tool = Path::new(env!("CARGO_BIN_EXE_imid")).parent().unwrap();
    let path = format!("{}:{}", tool.display(), std::env::var("PATH").unwrap());
    for command in commands() {
        for example in examples(&command) {
            // These need a server, or run until they are ended.
            if example.contains("://") {
                continue;
            }
            let script = example.replace("/var/lib/chat/ids", &folder.path().join("ids").to_string_lossy());
            let ran = Command::new("sh")
                .args(["-c", &script])
                .current_dir(&folder)
                .env("PATH", &path)
                .env("HOME", folder.path())
                .stdin(fs::File::open(folder.path().join("ids.txt")).unwrap())
                .output()
                .unwrap();
            assert_eq!(ran.status.code(), Some(0), "{example}: {}", String::from_utf8_lossy(&ran.stderr));
        }
    }
}

#[test]
fn what_people_read_has_at_most_80_columns() {
    let many = (0..200).map(|n| format!("{{\"s\":{n},\"t\":{}}}\n", 1_763_640_000_000_u64 + n * 59_999));
    let tagged = imid("tag --session-field s --time-field t", many.collect::<Vec<_>>().concat()).out;
    for (args, input) in [
        ("inspect --session room-42 --type group EUNC-Q8QJ-22GH-T3DD", ""),
        ("inspect --dialect twitter 204697221847986177", ""),
        ("inspect EUNC-Q8QJ-22GH-T3DD EMAQ-2948-WCRV-T3DD", ""),
        ("stats", tagged.as_str()),
        ("stats --per second", &tagged),
        ("stats --dialect leaf", "204697221847986177\n1169786042799259000\n"),
        ("check", &tagged),
        ("risk --hosts 4096 --rate 1e6 --rooms 1e9", ""),
    ] {
        for line in imid(args, input).ok().lines() {
            assert!(line.chars().count() <= 80, "{args}: {line}");
        }
    }
}
