//! Stores messages with the statements of `sql/DATABASE/numbers.sql` (`partitions`: of `sql/postgres/partitions.sql`; `sqlite`: of its
//! `mint.sql`) in many connections, kills these, and counts what went wrong:
//!
//! ```text
//! numbers postgres|partitions|mysql|sqlite ROOMS SECONDS KILLS
//! ```
//!
//! Each client stores one message after another, and keeps the key of a message until it is stored. In PostgreSQL and MariaDB, every second
//! ID is minted by the database, with `imid_post` of `mint.sql`, and the others by this process, whose own clock does not matter. A tenth of
//! the transactions of this process is rolled back, and a twentieth of the messages is sent twice. `sql/numbers.sh` installs `mint.sql` and
//! runs it. The exit status is 1 if a number is missing or repeated, if an ID is not in the order of the numbers, or if a message was lost or
//! doubled.

#[path = "../../../support/random.rs"]
mod random;

use std::collections::HashSet;
use std::env;
use std::error::Error;
use std::process::ExitCode;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use imid::{MessageId, SessionTag, SessionType};
use imid_store_tests::pack::{Parameters, Statement, section, statement};

use self::random::Random;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// One message of a client.
struct Message {
    room: String,
    sender: String,
    key: String,
}

/// How a transaction ended.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Stored {
    New(MessageId, i64),
    Known(MessageId, i64),
    RolledBack,
}

fn tag_of(message: &Message) -> SessionTag {
    SessionTag::new(SessionType::GROUP, &message.room)
}

/// The ID of a room that is locked, from what `take` returned.
macro_rules! minted {
    (here, $row:ident, $message:ident) => {
        MessageId::after($row.try_get(1)?, tag_of($message), u64::try_from($row.try_get::<i64, _>(3)?)?)?
    };
    (by_take, $row:ident, $message:ident) => {
        MessageId::from_hex($row.try_get(1)?)?
    };
}

/// What the tables have: messages, numbers that are missing, and IDs that are not in the order of the numbers.
type Audit = (i64, i64, i64);

/// Writes the functions of one database.
macro_rules! database {
    ($module:ident, $connection:ident, $pack:literal, $parameters:ident, $begin:literal, $take:literal, $schema:expr, $post:expr, $mint:ident) => {
        mod $module {
            use super::*;
            use sqlx::{AssertSqlSafe, Connection, Row, $connection};

            pub(super) struct Statements {
                take: Vec<Statement>,
                store: Vec<Statement>,
                known: Vec<Statement>,
            }

            fn of_pack(name: &str) -> Vec<Statement> {
                section(include_str!(concat!("../../../../sql/", $pack, ".sql")), name, Parameters::$parameters)
            }

            impl Statements {
                pub(super) fn new() -> Self {
                    let of_transaction =
                        |name| section(include_str!(concat!("../../../../sql/", $take)), name, Parameters::$parameters);
                    Self { take: of_transaction("take"), store: of_transaction("store"), known: of_pack("known") }
                }
            }

            /// The call that stores a message, if the database has one.
            const POST: Option<&str> = $post;

            macro_rules! bound {
                ($statement:expr, $message:expr, $id:expr, $number:expr) => {{
                    let mut query = sqlx::query(AssertSqlSafe($statement.sql.clone()));
                    for name in &$statement.names {
                        query = match name.as_str() {
                            "id" => query.bind($id),
                            "room" => query.bind(&$message.room),
                            "session_tag" => query.bind(tag_of($message)),
                            "number" => query.bind($number),
                            "sender" => query.bind(&$message.sender),
                            "key" => query.bind(&$message.key),
                            "body" => query.bind("hello"),
                            "limit" => query.bind(10_i64),
                            other => panic!("the pack has a parameter {other}"),
                        };
                    }
                    query
                }};
            }

            /// Makes the tables anew.
            pub(super) async fn create(url: &str) -> Result<()> {
                let mut connection = $connection::connect(url).await?;
                for statement in of_pack("drop") {
                    sqlx::raw_sql(AssertSqlSafe(statement.sql)).execute(&mut connection).await?;
                }
                for sql in $schema {
                    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await?;
                }
                Ok(())
            }

            /// Stores a message with the call of the database.
            async fn post(connection: &mut $connection, call: &str, message: &Message) -> Result<Stored> {
                let query = sqlx::query(AssertSqlSafe(call.to_owned())).bind(&message.room).bind(&message.sender);
                let row = query.bind(&message.key).fetch_one(connection).await?;
                let (id, number) = (row.try_get(0)?, row.try_get(1)?);
                Ok(if row.try_get_unchecked(2)? { Stored::New(id, number) } else { Stored::Known(id, number) })
            }

            /// Stores a message in a transaction of its own. With `by_database` the database mints the ID, if it has the call.
            pub(super) async fn store(
                connection: &mut $connection,
                statements: &Statements,
                message: &Message,
                is_rolled_back: bool,
                by_database: bool,
            ) -> Result<Stored> {
                if let Some(call) = POST.filter(|_| by_database) {
                    return post(connection, call, message).await;
                }
                let none: Option<MessageId> = None;
                let mut transaction = connection.begin_with($begin).await?;
                let (last, before) = statements.take.split_last().expect("a statement");
                for statement in before {
                    bound!(statement, message, none, 0_i64).execute(&mut *transaction).await?;
                }
                let row = bound!(last, message, none, 0_i64).fetch_one(&mut *transaction).await?;
                let (number, id): (i64, MessageId) = (row.try_get(0)?, minted!($mint, row, message));
                let mut is_new = true;
                for (place, statement) in statements.store.iter().enumerate() {
                    match bound!(statement, message, Some(id), number).execute(&mut *transaction).await {
                        Ok(done) => is_new &= place > 0 || done.rows_affected() > 0,
                        Err(sqlx::Error::Database(error)) if error.message().contains("by_client_key") => is_new = false,
                        Err(error) => return Err(error.into()),
                    }
                    if !is_new {
                        break;
                    }
                }
                if is_rolled_back {
                    transaction.rollback().await?;
                    return Ok(Stored::RolledBack);
                }
                if is_new {
                    transaction.commit().await?;
                    return Ok(Stored::New(id, number));
                }
                transaction.rollback().await?;
                let row = bound!(statements.known[0], message, none, 0_i64).fetch_one(&mut *connection).await?;
                Ok(Stored::Known(row.try_get(0)?, row.try_get(1)?))
            }

            async fn count(connection: &mut $connection) -> Result<(Audit, usize)> {
                let audit: Audit = sqlx::query_as(AssertSqlSafe(of_pack("audit").remove(0).sql)).fetch_one(&mut *connection).await?;
                let gaps = sqlx::query(AssertSqlSafe(of_pack("gaps").remove(0).sql)).fetch_all(&mut *connection).await?;
                Ok((audit, gaps.len()))
            }

            async fn resume(connection: &mut $connection, message: &Message, id: MessageId) -> Result<Vec<MessageId>> {
                let rows = bound!(of_pack("resume")[0], message, Some(id), 0_i64).fetch_all(connection).await?;
                Ok(rows.iter().map(|row| row.try_get(0)).collect::<std::result::Result<_, _>>()?)
            }

            /// Returns what `audit` counts, and the number of ranges that `gaps` finds. Then deletes a message, which both must
            /// notice, and removes the tables.
            pub(super) async fn audit(url: &str) -> Result<(Audit, usize)> {
                let mut connection = $connection::connect(url).await?;
                let found = count(&mut connection).await?;
                let first = "SELECT one.id, one.room FROM messages AS one JOIN messages AS two ON one.room = two.room AND one.number = 1 \
                             AND two.number = 2 ORDER BY one.id LIMIT 1";
                let (id, room): (MessageId, String) = sqlx::query_as(first).fetch_one(&mut connection).await?;
                // The first row is the message that the client has, while the database has it.
                let message = Message { room, sender: String::new(), key: String::new() };
                let resumed = resume(&mut connection, &message, id).await?;
                if resumed.first() != Some(&id) || resumed.len() < 2 {
                    return Err(format!("expected {id} and what is after it, found {resumed:?}").into());
                }
                let delete = statement("DELETE FROM messages WHERE id = :id;", Parameters::$parameters);
                sqlx::query(AssertSqlSafe(delete.sql)).bind(id).execute(&mut connection).await?;
                let ((messages, missing, _), gaps) = count(&mut connection).await?;
                let resumed = resume(&mut connection, &message, id).await?;
                if resumed.first() == Some(&id) {
                    return Err(format!("a lost message was not noticed: {resumed:?}").into());
                }
                if (messages, missing, gaps) != (found.0.0 - 1, found.0.1 + 1, found.1 + 1) {
                    return Err(format!("a missing number was not noticed: {missing} missing, {gaps} gaps").into());
                }
                for statement in of_pack("drop") {
                    sqlx::raw_sql(AssertSqlSafe(statement.sql)).execute(&mut connection).await?;
                }
                Ok(found)
            }
        }
    };
}

database!(
    postgres,
    PgConnection,
    "postgres/numbers",
    Numbered,
    "BEGIN",
    "postgres/numbers.sql",
    [include_str!("../../../../sql/postgres/tables.sql").to_owned()],
    Some("SELECT * FROM imid_post($1, 3, $2, $3, 'hello')"),
    here
);
database!(
    partitions,
    PgConnection,
    "postgres/partitions",
    Numbered,
    "BEGIN",
    "postgres/partitions.sql",
    of_pack("schema").into_iter().map(|statement| statement.sql),
    None,
    here
);
database!(
    mysql,
    MySqlConnection,
    "mysql/numbers",
    QuestionMarks,
    "START TRANSACTION",
    "mysql/numbers.sql",
    [include_str!("../../../../sql/mysql/tables.sql").to_owned()],
    Some("CALL imid_post(?, 3, ?, ?, 'hello')"),
    here
);
database!(
    sqlite,
    SqliteConnection,
    "sqlite/numbers",
    QuestionMarks,
    "BEGIN IMMEDIATE",
    "sqlite/mint.sql",
    [include_str!("../../../../sql/sqlite/tables.sql").to_owned()],
    None,
    by_take
);

/// What all clients of a server did.
#[derive(Default)]
struct Totals {
    stored: AtomicU64,
    known: AtomicU64,
    wrong: AtomicU64,
    is_over: AtomicU64,
    kills: AtomicU64,
}

/// Connections of clients to a server.
const CLIENTS: usize = 32;

/// Writes the clients of one server and their killer.
macro_rules! server {
    ($module:ident, $connection:ident, $pid:literal, $kill:literal) => {
        async fn $module(url: &str, rooms: u64, seconds: u64, kills: u64) -> Result<ExitCode> {
            use sqlx::{AssertSqlSafe, Connection, $connection};
            static TOTALS: Totals = Totals {
                stored: AtomicU64::new(0),
                known: AtomicU64::new(0),
                wrong: AtomicU64::new(0),
                is_over: AtomicU64::new(0),
                kills: AtomicU64::new(0),
            };
            static PIDS: [AtomicI64; CLIENTS] = [const { AtomicI64::new(0) }; CLIENTS];

            $module::create(url).await?;
            let start = Instant::now();
            let mut clients = tokio::task::JoinSet::new();
            for client in 0..CLIENTS {
                let url = url.to_owned();
                clients.spawn(async move {
                    let statements = $module::Statements::new();
                    let mut luck = Random(client as u64);
                    let mut connection: Option<$connection> = None;
                    for n in 0.. {
                        if TOTALS.is_over.load(Ordering::Relaxed) == 1 {
                            break;
                        }
                        let room = format!("room-{}", luck.next() % rooms);
                        let message = Message { room, sender: format!("user-{client}"), key: n.to_string() };
                        let mut is_sent_again = luck.next().is_multiple_of(20);
                        let mut first = None;
                        let mut is_uncertain = false;
                        loop {
                            let mut open = match connection.take() {
                                Some(open) => open,
                                None => {
                                    let mut open = $connection::connect(&url).await?;
                                    let pid: i64 = sqlx::query_scalar($pid).fetch_one(&mut open).await?;
                                    PIDS[client].store(pid, Ordering::Relaxed);
                                    open
                                }
                            };
                            let is_rolled_back = luck.next().is_multiple_of(10);
                            let by_database = n % 2 == 0;
                            let Ok(stored) = $module::store(&mut open, &statements, &message, is_rolled_back, by_database).await else {
                                // The connection was killed, perhaps after the commit: the message is sent again with its key.
                                PIDS[client].store(0, Ordering::Relaxed);
                                is_uncertain = true;
                                continue;
                            };
                            connection = Some(open);
                            match (stored, first) {
                                (Stored::RolledBack, _) => continue,
                                (Stored::New(id, number), None) => first = Some((id, number)),
                                (Stored::Known(id, number), None) if is_uncertain => first = Some((id, number)),
                                (Stored::Known(id, number), Some(before)) if before == (id, number) => {
                                    TOTALS.known.fetch_add(1, Ordering::Relaxed);
                                }
                                (found, before) => {
                                    eprintln!("found {found:?} after {before:?}");
                                    TOTALS.wrong.fetch_add(1, Ordering::Relaxed);
                                }
                            }
                            if !std::mem::take(&mut is_sent_again) {
                                break;
                            }
                        }
                        TOTALS.stored.fetch_add(1, Ordering::Relaxed);
                    }
                    Result::Ok(())
                });
            }
            let mut killer = $connection::connect(url).await?;
            let mut luck = Random(80);
            let end = Duration::from_secs(seconds);
            while start.elapsed() < end || TOTALS.kills.load(Ordering::Relaxed) < kills {
                tokio::time::sleep(end / u32::try_from(kills.max(1))?).await;
                let pid = PIDS[usize::try_from(luck.next())? % CLIENTS].swap(0, Ordering::Relaxed);
                if pid != 0 && kills > 0 {
                    // The client may have left on its own.
                    if sqlx::raw_sql(AssertSqlSafe(format!($kill, pid))).execute(&mut killer).await.is_ok() {
                        TOTALS.kills.fetch_add(1, Ordering::Relaxed);
                    }
                }
            }
            TOTALS.is_over.store(1, Ordering::Relaxed);
            while let Some(client) = clients.join_next().await {
                client??;
            }
            let took = start.elapsed().as_secs_f64();
            let stored = i64::try_from(TOTALS.stored.load(Ordering::Relaxed))?;
            let wrong = TOTALS.wrong.load(Ordering::Relaxed);
            let ((messages, missing, misplaced), gaps) = $module::audit(url).await?;
            println!(
                "{}, {rooms} rooms, {CLIENTS} clients: {:.0} messages per second, {messages} messages, {} kills, {missing} numbers missing \
                 ({gaps} gaps), {misplaced} IDs out of order, {} lost or doubled, {} sent twice, {wrong} wrong answers",
                stringify!($module),
                stored as f64 / took,
                TOTALS.kills.load(Ordering::Relaxed),
                messages - stored,
                TOTALS.known.load(Ordering::Relaxed),
            );
            let is_right = (missing, gaps, misplaced, messages - stored, wrong) == (0, 0, 0, 0, 0) && messages > 0;
            Ok(if is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
    };
}

server!(postgres, PgConnection, "SELECT pg_backend_pid()::bigint", "SELECT pg_terminate_backend({})");
server!(partitions, PgConnection, "SELECT pg_backend_pid()::bigint", "SELECT pg_terminate_backend({})");
server!(mysql, MySqlConnection, "SELECT CAST(CONNECTION_ID() AS SIGNED)", "KILL {}");

/// A process that stores messages in a file, and prints the key of each after its commit.
async fn sqlite_writer(url: &str, rooms: u64, sender: &str) -> Result<ExitCode> {
    use sqlx::{Connection, SqliteConnection};
    let statements = sqlite::Statements::new();
    let mut connection = SqliteConnection::connect(url).await?;
    let mut luck = Random(u64::from(std::process::id()));
    for n in 0.. {
        let room = format!("room-{}", luck.next() % rooms);
        let message = Message { room, sender: sender.to_owned(), key: n.to_string() };
        let is_rolled_back = luck.next().is_multiple_of(10);
        if let Stored::New(..) = sqlite::store(&mut connection, &statements, &message, is_rolled_back, false).await? {
            println!("{sender} {n}");
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Kills processes that write to one file.
fn sqlite_parent(rooms: u64, seconds: u64, kills: u64) -> Result<ExitCode> {
    use std::process::{Child, Command, Stdio};
    let folder = env::temp_dir().join(format!("imid-numbers-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let url = format!("sqlite://{}?mode=rwc", folder.join("numbers").display());
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(sqlite::create(&url))?;
    let mut senders = 0;
    let mut outputs = Vec::new();
    let mut spawn = || -> Result<Child> {
        senders += 1;
        let path = folder.join(format!("stored-{senders}"));
        let output = std::fs::File::create(&path)?;
        outputs.push(path);
        let arguments = ["sqlite-writer", &url, &rooms.to_string(), &format!("user-{senders}")].map(str::to_owned);
        Ok(Command::new(env::current_exe()?).args(arguments).stdout(output).stderr(Stdio::null()).spawn()?)
    };
    let mut writers: Vec<Child> = (0..4).map(|_| spawn()).collect::<Result<_>>()?;
    let start = Instant::now();
    let (mut killed, mut luck) = (0_u64, Random(80));
    while killed < kills || start.elapsed() < Duration::from_secs(seconds) {
        std::thread::sleep(Duration::from_secs(seconds) / u32::try_from(kills.max(1))?);
        let writer = usize::try_from(luck.next())? % writers.len();
        writers[writer].kill()?;
        writers[writer].wait()?;
        writers[writer] = spawn()?;
        killed += 1;
    }
    // On a slow machine, all were killed before they stored anything.
    let has_stored = |path: &std::path::PathBuf| std::fs::metadata(path).is_ok_and(|file| file.len() > 0);
    while !outputs.iter().any(has_stored) && start.elapsed() < Duration::from_secs(seconds + 120) {
        std::thread::sleep(Duration::from_millis(10));
    }
    let took = start.elapsed().as_secs_f64();
    for mut writer in writers {
        writer.kill()?;
        writer.wait()?;
    }
    // A line that is cut off belongs to a killed process, and is not counted.
    let mut acknowledged = HashSet::new();
    for path in outputs {
        let text = std::fs::read_to_string(path)?;
        let whole = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
        acknowledged.extend(whole.lines().map(str::to_owned));
    }
    let stored: Vec<(String, String)> = runtime.block_on(async {
        use sqlx::{Connection, SqliteConnection};
        let mut connection = SqliteConnection::connect(&url).await?;
        sqlx::query_as("SELECT sender, client_key FROM messages").fetch_all(&mut connection).await
    })?;
    let ((messages, missing, misplaced), gaps) = runtime.block_on(sqlite::audit(&url))?;
    let keys: HashSet<String> = stored.iter().map(|(sender, key)| format!("{sender} {key}")).collect();
    let lost = acknowledged.difference(&keys).count();
    let doubled = stored.len() - keys.len();
    std::fs::remove_dir_all(&folder)?;
    println!(
        "sqlite, {rooms} rooms, 4 processes: {:.0} messages per second, {messages} messages, {killed} kills, {missing} numbers missing \
         ({gaps} gaps), {misplaced} IDs out of order, {lost} lost, {doubled} doubled",
        messages as f64 / took
    );
    let is_right = (missing, gaps, misplaced, lost, doubled) == (0, 0, 0, 0, 0) && messages > 0;
    Ok(if is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn main() -> Result<ExitCode> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let runtime = tokio::runtime::Runtime::new()?;
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["sqlite-writer", url, rooms, sender] => runtime.block_on(sqlite_writer(url, rooms.parse()?, sender)),
        [database, rooms, seconds, kills] => {
            let (rooms, seconds, kills) = (rooms.parse()?, seconds.parse()?, kills.parse()?);
            match database {
                "postgres" => runtime.block_on(postgres(&env::var("IMID_POSTGRES_URL")?, rooms, seconds, kills)),
                "partitions" => runtime.block_on(partitions(&env::var("IMID_POSTGRES_URL")?, rooms, seconds, kills)),
                "mysql" => runtime.block_on(mysql(&env::var("IMID_MYSQL_URL")?, rooms, seconds, kills)),
                "sqlite" => sqlite_parent(rooms, seconds, kills),
                _ => Err(format!("expected postgres, partitions, mysql or sqlite, found {database}").into()),
            }
        }
        _ => Err("expected postgres|partitions|mysql|sqlite ROOMS SECONDS KILLS".into()),
    }
}
