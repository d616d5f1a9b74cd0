//! The commands of the pages about databases and migrations, run against a PostgreSQL server that each test starts.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use imid::MessageId;
use imid_snowflake::Layout;
use tempfile::TempDir;

use crate::documents::{Example, blocks, examples};
use crate::skip;

/// A server that listens on a socket in its folder.
struct Server {
    bin: PathBuf,
    folder: TempDir,
}

impl Server {
    /// Starts a server, or says why it cannot.
    fn start() -> Result<Self, String> {
        let versions = fs::read_dir("/usr/lib/postgresql").map_err(|error| format!("/usr/lib/postgresql: {error}"))?;
        let bin =
            versions.filter_map(|entry| Some(entry.ok()?.path().join("bin"))).find(|bin| bin.join("initdb").exists());
        let bin = bin.ok_or("initdb is missing")?;
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o777)).map_err(|error| error.to_string())?;
        let server = Self { bin, folder };
        let data = server.folder.path().join("data");
        server.control("initdb", &["-U", "imid", "-A", "trust", "--no-sync", "-D", &data.to_string_lossy()])?;
        let options = format!("-c listen_addresses= -c fsync=off -k {}", server.folder.path().display());
        let log = server.folder.path().join("log");
        let arguments = ["-D", &data.to_string_lossy(), "-l", &log.to_string_lossy(), "-o", &options, "-w", "start"];
        server.control("pg_ctl", &arguments)?;
        Ok(server)
    }

    /// Runs a program of PostgreSQL. The server refuses to run as root, so root uses the account of Debian's package.
    fn control(&self, program: &str, arguments: &[&str]) -> Result<(), String> {
        let program = self.bin.join(program);
        let is_root = fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0);
        let mut command = if is_root { Command::new("runuser") } else { Command::new(&program) };
        if is_root {
            command.args(["-u", "postgres", "--"]).arg(&program);
        }
        let run = command.args(arguments).current_dir(self.folder.path()).output();
        let run = run.map_err(|error| format!("{}: {error}", program.display()))?;
        let says = String::from_utf8_lossy(&run.stderr);
        if run.status.success() { Ok(()) } else { Err(format!("{}: {}", program.display(), says.trim())) }
    }

    /// Runs a shell script. Its first error ends it.
    fn shell(&self, folder: &Path, script: &str) -> Output {
        let tool = Path::new(env!("CARGO_BIN_EXE_imid")).parent().unwrap();
        let path = format!("{}:{}:{}", tool.display(), self.bin.display(), std::env::var("PATH").unwrap());
        let shell = Command::new("sh")
            .args(["-euc", script])
            .env("PATH", path)
            .env("PGHOST", self.folder.path())
            .env("PGUSER", "imid")
            .env("PGDATABASE", "postgres")
            .env("PGOPTIONS", "-c client_min_messages=warning")
            .current_dir(folder)
            .output();
        shell.unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let data = self.folder.path().join("data");
        // If the server did not start, there is nothing to stop.
        let _ = self.control("pg_ctl", &["-D", &data.to_string_lossy(), "-m", "immediate", "-w", "stop"]);
    }
}

/// In an empty database, as the page says. The ID is another one, and psql writes spaces at the ends of lines.
#[test]
fn the_first_message_is_stored_as_the_page_about_databases_shows() {
    let server = match Server::start() {
        Ok(server) => server,
        Err(reason) => return skip("the_first_message_is_stored_as_the_page_about_databases_shows", reason),
    };
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let run = |command: &str| {
        let run = server.shell(&repository, &format!("exec 2>&1; {command}"));
        String::from_utf8_lossy(&run.stdout).into_owned()
    };
    assert_eq!(run("createdb chat"), "");
    let examples = examples(include_str!("../../../../docs/STORES.md"));
    assert_eq!(examples.len(), 2);
    for Example { command, output } in examples {
        let printed = run(&command);
        let tags = |text: &str| {
            let word =
                |word: &str| word.parse().map_or(word.to_owned(), |id: MessageId| format!("{:?}", id.session_tag()));
            let lines =
                text.trim_end().lines().map(|line| line.trim_end().split(' ').map(word).collect::<Vec<_>>().join(" "));
            lines.collect::<Vec<_>>().join("\n")
        };
        assert_eq!(tags(&printed), tags(&output), "{command}");
    }
}

const GUIDE: &str = include_str!("../../../../docs/MIGRATING.md");

/// Returns the layouts in the guide's table of formulas, each with its formula for Unix milliseconds.
fn formulas() -> Vec<(&'static str, &'static str)> {
    let rows = GUIDE.lines().filter_map(|line| line.strip_prefix("| `")?.strip_suffix("` |")?.split_once("` | `"));
    rows.flat_map(|(names, formula)| names.split("`, `").map(move |name| (name, formula))).collect()
}

#[test]
fn the_recipes_of_the_migration_guide_fill_the_new_column() {
    let server = match Server::start() {
        Ok(server) => server,
        Err(reason) => return skip("the_recipes_of_the_migration_guide_fill_the_new_column", reason),
    };
    let folder = tempfile::tempdir().unwrap();
    let run = |script: &str| {
        let run = server.shell(folder.path(), script);
        let (out, err) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
        assert!(run.status.success(), "{script}\n{out}\n{err}");
        out.into_owned()
    };
    let [rongcloud, fill, snowflake, ..] = blocks(GUIDE, "sh")[..] else { panic!("the guide has two recipes") };
    let [rongcloud, snowflake] = [rongcloud, snowflake].map(|prepare| format!("{prepare}\n{fill}"));
    let (_, pairs) = GUIDE.split_once("   ```sql\n").unwrap();
    let pairs = pairs.split("   ```").next().unwrap();

    run("psql -qc \"CREATE TABLE message (id text PRIMARY KEY, room text);
         INSERT INTO message VALUES ('BUFE-A62U-32C4-01I2', 'a'), ('5DO1-7OBR-12LJ-ECGG', 'b')\"");
    let says = run(&rongcloud);
    assert!(says.contains("valid       2\ninvalid     0\n"), "{says}");
    let says = run(&rongcloud);
    assert!(says.contains("COPY 0\n"), "a repetition changes nothing: {says}");
    let column = run("psql -Atc 'SELECT id, encode(id80, $$hex$$) FROM message ORDER BY id80'");
    assert_eq!(column, "5DO1-7OBR-12LJ-ECGG|2b7013e17b08ab373210\nBUFE-A62U-32C4-01I2|5f9ee5185e1898400642\n");

    // 500 messages of three rooms, several in one millisecond. One name needs quotes in CSV.
    run("psql -qc \"DROP TABLE message; CREATE TABLE message (id bigint PRIMARY KEY, room text);
         INSERT INTO message SELECT 1169786042799259000 + n * 1500000,
           CASE n % 3 WHEN 0 THEN 'kitchen, \\\"2\\\"' WHEN 1 THEN 'room-42' ELSE 'Küche' END
         FROM generate_series(1, 500) AS n\"");
    run("rm new.csv");
    let says = run(&snowflake);
    assert!(says.contains("valid       500\ninvalid     0\n"), "{says}");
    assert_eq!(run(&format!("psql -Atc \"{pairs}\"")), "0\n");
    // The fill was interrupted, and the index too: a repetition goes on with the same IDs.
    let all = "psql -Atc 'SELECT id, encode(id80, $$hex$$) FROM message ORDER BY id'";
    let before = run(all);
    run("psql -qc 'UPDATE message SET id80 = NULL WHERE id % 7 = 0' \
         -c 'UPDATE pg_index SET indisvalid = false WHERE indexrelid = $$message_id80$$::regclass'");
    run(&snowflake);
    assert_eq!(run(all), before);
    assert_eq!(run("psql -Atc 'SELECT indisvalid FROM pg_index WHERE indexrelid = $$message_id80$$::regclass'"), "t\n");
    let hex = run("psql -Atc \"SELECT encode(id80, 'hex') FROM message WHERE room = 'room-42' ORDER BY id80\"");
    let read = server
        .shell(folder.path(), &format!("printf '%s' '{hex}' | imid inspect --json --type group --session room-42"));
    assert_eq!(String::from_utf8_lossy(&read.stdout).matches("\"session_match\":true").count(), 167);
    let other = run("psql -Atc \"SELECT encode(id80, 'hex') FROM message WHERE room LIKE 'kitchen%' LIMIT 1\"");
    assert!(run(&format!("imid inspect --session 'kitchen, \"2\"' {}", other.trim())).contains("the hash matches"));
}

#[test]
fn the_sql_of_the_migration_guide_agrees_with_the_tool() {
    let server = match Server::start() {
        Ok(server) => server,
        Err(reason) => return skip("the_sql_of_the_migration_guide_agrees_with_the_tool", reason),
    };
    let folder = tempfile::tempdir().unwrap();
    let run = |script: &str| {
        let run = server.shell(folder.path(), script);
        assert!(run.status.success(), "{script}\n{}", String::from_utf8_lossy(&run.stderr));
        String::from_utf8_lossy(&run.stdout).trim().to_owned()
    };
    let statements = blocks(GUIDE, "sql");
    for (dialect, id, statement) in
        [("rongcloud", "BUFE-A62U-32C4-01I2", statements[0]), ("juggleim", "pb9hvkf86lyr3bmm", statements[1])]
    {
        let recoded = run(&format!(
            "psql -qAt <<'SQL'\nCREATE TEMPORARY TABLE message (id text);\nINSERT INTO message VALUES ('{id}');\n{statement}\nSQL"
        ));
        assert_eq!(
            recoded,
            run(&format!("imid inspect --dialect {dialect} --format hex {id} | imid inspect --format text"))
        );
    }

    let formulas = formulas();
    for layout in Layout::ALL
        .iter()
        .filter_map(|layout| layout.name())
        .filter(|name| !name.starts_with("nsq") && *name != "rollback-38-15-10")
    {
        assert!(formulas.iter().any(|(name, _)| *name == layout), "the guide has no formula for {layout}");
    }
    for (layout, formula) in formulas {
        for id in [0, 1, 204_697_221_847_986_177, i64::MAX] {
            let time = run(&format!("psql -Atc 'SELECT {formula} FROM (SELECT ({id})::bigint AS id) AS message'"));
            let expected = format!(
                "imid inspect --dialect {layout} --json -- {id} | sed 's/.*\"timestamp_ms\":\\([0-9]*\\).*/\\1/'"
            );
            assert_eq!(time, run(&expected), "{layout} {id}");
        }
    }
}
