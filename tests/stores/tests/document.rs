//! The code of docs/STORES.md, with a real server. build.rs takes the first program out of the document.

use std::process::Command;
use std::time::{Duration, UNIX_EPOCH};

use imid::MessageId;
use imid_store_tests::follow::{Follower, follow};
use imid_store_tests::{sorted, url};
use sqlx::{Connection, PgConnection, PgPool};

const WINDOW: Duration = Duration::from_secs(600);

/// Reads with a window of ten minutes and three rows at a time until nothing is new.
async fn all_new(db: &PgPool, follower: &mut Follower) -> Vec<MessageId> {
    let mut all = Vec::new();
    loop {
        all.extend(follow(db, follower, WINDOW, 3).await.expect("rows"));
        if follower.reading.is_none() {
            return all;
        }
    }
}

const DOCUMENT: &str = include_str!("../../../docs/STORES.md");
const PAGE: &str = "WHERE room = $1 AND id < $2 ORDER BY id DESC LIMIT 50";
const PROGRAM: &str = include_str!(concat!(env!("OUT_DIR"), "/first_program.rs"));
const BODIES: [&str; 3] = ["hello", "is anybody here?", "yes"];

/// Runs the first program. Returns its messages.
fn run(url: &str) -> Vec<(MessageId, String)> {
    let output = Command::new(env!("CARGO_BIN_EXE_first_program")).env("DATABASE_URL", url).output();
    let output = output.expect("the program starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).expect("text");
    let message = |line: &str| {
        let (id, body) = line.split_once("  ").expect("an ID and a body");
        (id.parse().expect("an ID"), body.to_owned())
    };
    lines.lines().map(message).collect()
}

#[tokio::test]
async fn the_first_program_and_the_page_work_with_postgresql() {
    let Some(url) = url("IMID_POSTGRES_URL", "document::the_first_program_and_the_page_work_with_postgresql") else {
        return;
    };
    // The program's table has a schema of its own, because other tests also have a table of messages.
    let mut connection = PgConnection::connect(&url).await.expect("the server answers");
    let anew = "DROP SCHEMA IF EXISTS imid_document CASCADE; CREATE SCHEMA imid_document";
    sqlx::raw_sql(anew).execute(&mut connection).await.expect("a schema");
    let url = format!("{url}?options[search_path]=imid_document");

    let first = run(&url);
    assert_eq!(first.iter().map(|(_, body)| body).collect::<Vec<_>>(), BODIES);
    let both = run(&url);
    assert_eq!(both[..3], first);
    assert_eq!(both[3..].iter().map(|(_, body)| body).collect::<Vec<_>>(), BODIES);
    let ids: Vec<_> = both.iter().map(|(id, _)| *id).collect();
    assert_eq!(ids, sorted(&ids));
    let room = imid::SessionTag::new(imid::SessionType::GROUP, "room-42");
    assert!(ids.iter().all(|id| id.is_in(room)));

    let db = PgPool::connect(&url).await.expect("the server answers");
    let other_room = imid::generate(imid::SessionTag::new(imid::SessionType::GROUP, "room-43")).expect("an ID");
    let insert = sqlx::query("INSERT INTO messages (id, room, body) VALUES ($1, 'room-43', 'not here')");
    insert.bind(other_room).execute(&db).await.expect("a row");
    assert!(DOCUMENT.contains(PAGE));
    let page = format!("SELECT id, body FROM messages {PAGE}");
    let page = sqlx::query_as(sqlx::AssertSqlSafe(page)).bind("room-42").bind(ids[4]).fetch_all(&db).await;
    let mut page: Vec<(MessageId, String)> = page.expect("rows");
    page.reverse();
    assert_eq!(page, both[..4]);

    let mut follower = Follower::default();
    let mut all = ids.clone();
    all.push(other_room);
    assert_eq!(all_new(&db, &mut follower).await, sorted(&all));
    assert_eq!(all_new(&db, &mut follower).await, []);
    // An ID from the future, as after a crash of a holder, hides none that come after it.
    let store = async |ms: i64| {
        let at = UNIX_EPOCH.elapsed().expect("a time").as_millis() as u64;
        let id = *MessageId::range(at.saturating_add_signed(ms)..).expect("a time").start();
        let insert = sqlx::query("INSERT INTO messages (id, room, body) VALUES ($1, 'room-43', 'late')");
        insert.bind(id).execute(&db).await.expect("a row");
        id
    };
    let future = store(60_000).await;
    assert_eq!(all_new(&db, &mut follower).await, [future]);
    // Nobody has read for an hour, which is longer than the window.
    follower.last_read_ms -= 3_600_000;
    let first = store(-1_200_000).await;
    let second = store(0).await;
    assert_eq!(all_new(&db, &mut follower).await, [first, second]);
    // A message that is committed late is found, if its ID is in the window.
    let late = store(-540_000).await;
    store(-3_600_000).await;
    assert_eq!(all_new(&db, &mut follower).await, [late]);
    // At least once: a follower that has only its time again reads some messages again.
    let mut again = Follower { last_read_ms: follower.last_read_ms, ..Default::default() };
    let repeated = all_new(&db, &mut again).await;
    assert!(repeated.contains(&future) && repeated.contains(&late), "{repeated:?}");
    sqlx::raw_sql("DROP SCHEMA imid_document CASCADE").execute(&mut connection).await.expect("no schema");
}

#[test]
fn the_first_program_has_fewer_than_20_lines() {
    let lines = PROGRAM.lines().filter(|line| !line.trim().is_empty()).count();
    assert!(lines < 20, "{lines}");
    assert!(PROGRAM.lines().all(|line| line.len() <= 120));
}

#[test]
fn the_versions_of_the_document_are_those_of_this_repository() {
    let library = include_str!("../../../Cargo.toml");
    let tests = include_str!("../Cargo.toml");
    let toml = DOCUMENT.split_once("```toml\n[dependencies]\n").expect("TOML").1.split_once("```").expect("an end").0;
    assert_eq!(toml.lines().count(), 3);
    for line in toml.lines() {
        let (name, rest) = line.split_once(" = { version = \"").expect(line);
        let version = rest.split_once('"').expect(line).0;
        let own = match name {
            "imid" => library.split_once("\nversion = \"").expect("a version").1,
            _ => tests.split_once(&format!("\n{name} = {{ version = \"")).expect(name).1,
        };
        assert!(own.starts_with(&format!("{version}.")), "{name} {version}");
        let features = line.split_once("features = [").expect(line).1.split_once(']').expect(line).0;
        for feature in features.split(", ") {
            assert!(tests.contains(feature), "{name} has not the feature {feature} in the tests");
        }
    }
}
