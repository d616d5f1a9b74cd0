//! What isolation levels, a failover, a restore, a hot standby and logical replication do to numbers and cursors: the sentences of
//! docs/STORES.md. The tests kill and restore the servers of `ci/services.sh`, so `ci/numbers.sh` runs them, alone.

use std::error::Error;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use imid::{MessageId, SessionTag, SessionType};
use imid_store_tests::pack::{Parameters, section};
use imid_store_tests::{skip, url};
use postgres::types::ToSql;
use postgres::{Client, NoTls};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const NUMBERS: &str = include_str!("../../../sql/postgres/numbers.sql");
const TABLES: &str = include_str!("../../../sql/postgres/tables.sql");
const ROOM: &str = "room-42";

/// Returns the URL of a server that this test may kill.
fn server(variable: &str, test: &str) -> Option<String> {
    if std::env::var_os("IMID_FAILOVER").is_none() {
        skip(&format!("failover::{test}"), "ci/numbers.sh runs it, because it kills the server");
        return None;
    }
    url(variable, &format!("failover::{test}"))
}

/// Does something to a server of `ci/services.sh`.
fn services(what: &str) {
    let script = std::env::var("IMID_SERVICES_SH").expect("ci/services.sh runs the servers");
    let status = Command::new("bash").args([&script, "server"]).args(what.split(' ')).status().expect("bash");
    assert!(status.success(), "services.sh server {what}");
}

fn standby(url: &str) -> Client {
    let folder = std::env::var("IMID_SERVICES").expect("ci/services.sh runs the servers");
    let port = std::fs::read_to_string(Path::new(&folder).join("standby/port")).expect("a port");
    let (before, rest) = url.rsplit_once(':').expect("a port");
    let (_, after) = rest.split_once('/').expect("a database");
    Client::connect(&format!("{before}:{}/{after}", port.trim()), NoTls).expect("the standby answers")
}

fn connect(url: &str) -> Client {
    Client::connect(url, NoTls).expect("the server answers")
}

/// Makes the tables anew.
fn create(client: &mut Client) {
    client.batch_execute("DROP TABLE IF EXISTS rooms, messages, readers").expect("no tables");
    client.batch_execute(TABLES).expect("tables");
}

/// Runs the statements of a section. Returns the rows of the last one.
fn run(
    client: &mut impl postgres::GenericClient,
    pack: &str,
    name: &str,
    values: &[(&str, &(dyn ToSql + Sync))],
) -> std::result::Result<Vec<postgres::Row>, postgres::Error> {
    let mut rows = Vec::new();
    for statement in section(pack, name, Parameters::Numbered) {
        let value = |name: &String| values.iter().find(|(known, _)| known == name).expect("a known parameter").1;
        rows = client.query(&statement.sql, &statement.names.iter().map(value).collect::<Vec<_>>())?;
    }
    Ok(rows)
}

/// Returns an ID of the room in a millisecond.
fn id_at(ms: u64, spin: u16) -> MessageId {
    let tag = SessionTag::new(SessionType::GROUP, ROOM);
    MessageId::from_u128(u128::from(ms) << 38 | u128::from(spin) << 26 | u128::from(tag.to_u32())).expect("80 bits")
}

/// The parameters of `take`.
const TAKE: [(&str, &(dyn ToSql + Sync)); 2] = [("room", &ROOM), ("session_tag", &0)];

/// Stores a message with an ID. Returns its number, or `None` if the key is known.
fn store(client: &mut Client, pack: &str, id: MessageId, key: &str) -> Result<Option<i64>> {
    let mut transaction = client.transaction()?;
    let number: i64 = run(&mut transaction, pack, "take", &TAKE)?[0].get(0);
    let values: [(&str, &(dyn ToSql + Sync)); 6] =
        [("id", &id), ("room", &ROOM), ("number", &number), ("sender", &"a"), ("key", &key), ("body", &"hello")];
    let statement = section(pack, "store", Parameters::Numbered).remove(0);
    let value = |name: &String| values.iter().find(|(known, _)| known == name).expect("a known parameter").1;
    if transaction.execute(&statement.sql, &statement.names.iter().map(value).collect::<Vec<_>>())? == 0 {
        return Ok(None);
    }
    transaction.commit()?;
    Ok(Some(number))
}

/// The number and ID of each message after a number.
fn after_number(client: &mut Client, number: i64) -> Vec<(i64, MessageId)> {
    let rows =
        run(client, NUMBERS, "follow", &[("room", &ROOM), ("number", &number), ("limit", &100_i64)]).expect("rows");
    rows.iter().map(|row| (row.get(1), row.get(0))).collect()
}

/// The IDs from the one that a client has on, or `None` if the database does not have that one.
fn from_id(client: &mut Client, id: MessageId) -> Option<Vec<MessageId>> {
    let rows = run(client, NUMBERS, "resume", &[("room", &ROOM), ("id", &id), ("limit", &100_i64)]).expect("rows");
    let ids: Vec<MessageId> = rows.iter().map(|row| row.get(0)).collect();
    (ids.first() == Some(&id)).then(|| ids[1..].to_vec())
}

const START_MS: u64 = 1_800_000_000_000;

#[test]
fn a_promoted_standby_gives_numbers_again_and_resume_notices_it() -> Result<()> {
    let Some(url) = server("IMID_POSTGRES_URL", "a_promoted_standby_gives_numbers_again_and_resume_notices_it") else {
        return Ok(());
    };
    let mut primary = connect(&url);
    create(&mut primary);
    for n in 1..=5 {
        assert_eq!(store(&mut primary, NUMBERS, id_at(START_MS + n, 0), &n.to_string())?, Some(n as i64));
    }
    primary.batch_execute("SELECT pg_create_logical_replication_slot('imid', 'test_decoding')")?;
    services("postgres standby");
    let mut reader = standby(&url);
    while after_number(&mut reader, 0).len() < 5 {
        thread::sleep(Duration::from_millis(20));
    }
    // A hot standby has what was committed up to a moment, so all ways miss nothing there. It takes no number.
    assert_eq!(after_number(&mut reader, 3), [4, 5].map(|n| (n as i64, id_at(START_MS + n, 0))));
    assert_eq!(store(&mut reader, NUMBERS, id_at(START_MS + 6, 0), "6").unwrap_err().to_string(), "db error");
    services("standby detach");

    for n in 6..=8 {
        store(&mut primary, NUMBERS, id_at(START_MS + n, 0), &n.to_string())?;
    }
    // It does not have yet what a client saw on the primary. That does not mean that the message is lost.
    assert_eq!(from_id(&mut reader, id_at(START_MS + 8, 0)), None);
    assert_eq!(from_id(&mut primary, id_at(START_MS + 7, 0)), Some(vec![id_at(START_MS + 8, 0)]));
    drop((primary, reader));
    services("standby promote");
    let mut primary = connect(&url);

    // The next ID is after the last that is stored. It need not be after the last that a client has seen: this host's clock is behind.
    let last_id: MessageId = primary.query_one("SELECT last_id FROM rooms WHERE name = $1", &[&ROOM])?.get(0);
    assert_eq!(last_id, id_at(START_MS + 5, 0));
    for (n, spin) in [(6, 1), (7, 1), (8, 1), (9, 1)] {
        assert_eq!(store(&mut primary, NUMBERS, id_at(START_MS + n - 1, spin), &format!("again {n}"))?, Some(n as i64));
    }
    // (c) A client that has number 8 never sees the new 6, 7 and 8, and (a) one that follows after the ID of 8 sees only the last.
    assert_eq!(after_number(&mut primary, 8), [(9, id_at(START_MS + 8, 1))]);
    let by_id = "SELECT count(*) FROM messages WHERE room = $1 AND id > $2";
    assert_eq!(primary.query_one(by_id, &[&ROOM, &id_at(START_MS + 8, 0)])?.get::<_, i64>(0), 1);
    // A client that was behind goes on, and one that has a lost message is told so.
    assert_eq!(from_id(&mut primary, id_at(START_MS + 5, 0)).map(|ids| ids.len()), Some(4));
    for n in 6..=8 {
        assert_eq!(from_id(&mut primary, id_at(START_MS + n, 0)), None);
    }
    // (b) reads by time, so it finds the new ones.
    let window = "SELECT count(*) FROM messages WHERE id >= $1";
    assert_eq!(primary.query_one(window, &[&id_at(START_MS + 5, 1)])?.get::<_, i64>(0), 4);
    // A consumer of logical replication has lost its slot (before PostgreSQL 17).
    let version: i32 = primary.query_one("SELECT current_setting('server_version_num')::integer", &[])?.get(0);
    let slots: i64 = primary.query_one("SELECT count(*) FROM pg_replication_slots", &[])?.get(0);
    assert!(version >= 170_000 || slots == 0, "{slots} slots");
    create(&mut primary);
    Ok(())
}

#[test]
fn a_consumer_of_logical_replication_gets_commits_in_their_order() -> Result<()> {
    let Some(url) = server("IMID_POSTGRES_URL", "a_consumer_of_logical_replication_gets_commits_in_their_order") else {
        return Ok(());
    };
    let mut client = connect(&url);
    client.batch_execute("DROP TABLE IF EXISTS plain; CREATE TABLE plain (id bytea PRIMARY KEY)")?;
    client.batch_execute("SELECT pg_create_logical_replication_slot('imid_order', 'test_decoding')")?;
    let (mut first, mut second, mut third) = (connect(&url), connect(&url), connect(&url));
    let (mut a, mut b, mut c) = (first.transaction()?, second.transaction()?, third.transaction()?);
    let insert = "INSERT INTO plain VALUES ($1)";
    a.execute(insert, &[&id_at(START_MS, 0)])?;
    b.execute(insert, &[&id_at(START_MS + 1, 0)])?;
    c.execute(insert, &[&id_at(START_MS + 2, 0)])?;
    b.commit()?;
    c.rollback()?;
    a.commit()?;
    let sql = "SELECT data FROM pg_logical_slot_get_changes('imid_order', NULL, NULL) WHERE data LIKE '%INSERT%'";
    let changes: Vec<String> = client.query(sql, &[])?.iter().map(|row| row.get(0)).collect();
    let has = |change: &String, ms| change.contains(id_at(ms, 0).to_hex().as_str());
    assert!(changes.len() == 2 && has(&changes[0], START_MS + 1) && has(&changes[1], START_MS), "{changes:?}");
    client.batch_execute("SELECT pg_drop_replication_slot('imid_order'); DROP TABLE plain")?;
    Ok(())
}

/// One client has taken a number in the room and commits while another waits for it.
#[test]
fn numbers_need_read_committed_in_postgresql() -> Result<()> {
    let Some(url) = server("IMID_POSTGRES_URL", "numbers_need_read_committed_in_postgresql") else { return Ok(()) };
    let mut client = connect(&url);
    create(&mut client);
    store(&mut client, NUMBERS, id_at(START_MS, 0), "1")?;
    for (level, wanted) in
        [("READ COMMITTED", None), ("REPEATABLE READ", Some("40001")), ("SERIALIZABLE", Some("40001"))]
    {
        let mut first = connect(&url);
        let mut holding = first.transaction()?;
        run(&mut holding, NUMBERS, "take", &TAKE)?;
        let url = url.clone();
        let second = thread::spawn(move || {
            let mut client = connect(&url);
            client.batch_execute(&format!("BEGIN ISOLATION LEVEL {level}")).expect("a transaction");
            run(&mut client, NUMBERS, "take", &TAKE)
                .map(|_| ())
                .map_err(|error| error.code().expect("a code").code().to_owned())
        });
        let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
        while client.query_one(waiting, &[])?.get::<_, i64>(0) == 0 {
            thread::sleep(Duration::from_millis(10));
        }
        holding.commit()?;
        assert_eq!(second.join().expect("no panic").err().as_deref(), wanted, "{level}");
    }
    // A follower reads each time in a new transaction. In one that repeats its reads, nothing is new.
    create(&mut client);
    let mut reader = connect(&url);
    reader.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ")?;
    assert_eq!(after_number(&mut reader, 0), []);
    store(&mut client, NUMBERS, id_at(START_MS, 0), "1")?;
    assert_eq!(after_number(&mut reader, 0), []);
    reader.batch_execute("COMMIT")?;
    assert_eq!(after_number(&mut reader, 0).len(), 1);
    Ok(())
}

const PARTITIONS: &str = include_str!("../../../sql/postgres/partitions.sql");

fn create_partitions(client: &mut Client) {
    for name in ["drop", "schema"] {
        for statement in section(PARTITIONS, name, Parameters::Numbered) {
            client.batch_execute(&statement.sql).expect(&statement.sql);
        }
    }
}

#[test]
fn partitions_by_time_keep_client_keys_unique_and_retention_forgets_both() -> Result<()> {
    let Some(url) =
        server("IMID_POSTGRES_URL", "partitions_by_time_keep_client_keys_unique_and_retention_forgets_both")
    else {
        return Ok(());
    };
    let mut client = connect(&url);
    create_partitions(&mut client);
    let (bucket, days_30) = (690_i64, 30 * 86_400_000);
    let at = |bucket: i64| id_at(u64::try_from(bucket * days_30).expect("after 1970") + 1, 0);
    client.execute("SELECT make_partition($1), make_partition($2)", &[&bucket, &(bucket + 1)])?;
    assert_eq!(store(&mut client, PARTITIONS, at(bucket), "k")?, Some(1));
    // The same key is known in another partition too.
    assert_eq!(store(&mut client, PARTITIONS, at(bucket + 1), "k")?, None);
    let known = run(&mut client, PARTITIONS, "known", &[("room", &ROOM), ("sender", &"a"), ("key", &"k")])?;
    assert_eq!((known[0].get::<_, MessageId>(0), known[0].get::<_, i64>(1)), (at(bucket), 1));
    assert_eq!(store(&mut client, PARTITIONS, at(bucket + 1), "l")?, Some(2));
    // Pages go over the edge of a partition.
    let follow: [(&str, &(dyn ToSql + Sync)); 3] = [("room", &ROOM), ("id", &at(bucket)), ("limit", &10_i64)];
    assert_eq!(run(&mut client, PARTITIONS, "resume", &follow)?.len(), 2);
    let retention = section(PARTITIONS, "retention", Parameters::Numbered);
    let [drop, forget] = &retention[..] else { panic!("two statements") };
    client.query(&drop.sql, &[&bucket])?;
    assert_eq!(client.execute(&forget.sql, &[&at(bucket + 1)])?, 1);
    let page: [(&str, &(dyn ToSql + Sync)); 3] = [("room", &ROOM), ("id", &MessageId::MAX), ("limit", &10_i64)];
    assert_eq!(run(&mut client, PARTITIONS, "page", &page)?.len(), 1);
    create_partitions(&mut client);
    for statement in section(PARTITIONS, "drop", Parameters::Numbered) {
        client.batch_execute(&statement.sql)?;
    }
    Ok(())
}

mod mariadb {
    use super::*;
    use sqlx::{AssertSqlSafe, Connection, MySqlConnection, Row};

    const NUMBERS: &str = include_str!("../../../sql/mysql/numbers.sql");

    async fn create(client: &mut MySqlConnection) {
        let tables = include_str!("../../../sql/mysql/tables.sql");
        for sql in ["DROP TABLE IF EXISTS rooms, messages, readers", tables] {
            sqlx::raw_sql(sql).execute(&mut *client).await.expect("tables");
        }
    }

    /// Runs the statements of `take`.
    async fn take(client: &mut MySqlConnection) -> sqlx::Result<i64> {
        let [lock, read] = &section(NUMBERS, "take", Parameters::QuestionMarks)[..] else { panic!("two statements") };
        sqlx::query(AssertSqlSafe(lock.sql.clone())).bind(ROOM).bind(0).execute(&mut *client).await?;
        sqlx::query(AssertSqlSafe(read.sql.clone())).bind(ROOM).fetch_one(&mut *client).await?.try_get(0)
    }

    async fn store(client: &mut MySqlConnection, id: MessageId, key: &str) -> sqlx::Result<i64> {
        sqlx::raw_sql("START TRANSACTION").execute(&mut *client).await?;
        let number = take(client).await?;
        for statement in section(NUMBERS, "store", Parameters::QuestionMarks) {
            let mut query = sqlx::query(AssertSqlSafe(statement.sql));
            for name in &statement.names {
                query = match name.as_str() {
                    "id" => query.bind(id),
                    "number" => query.bind(number),
                    "room" => query.bind(ROOM),
                    "key" => query.bind(key),
                    _ => query.bind("hello"),
                };
            }
            query.execute(&mut *client).await?;
        }
        sqlx::raw_sql("COMMIT").execute(&mut *client).await?;
        Ok(number)
    }

    async fn after_number(client: &mut MySqlConnection, number: i64) -> Vec<(i64, MessageId)> {
        let statement = section(NUMBERS, "follow", Parameters::QuestionMarks).remove(0);
        let rows = sqlx::query(AssertSqlSafe(statement.sql)).bind(ROOM).bind(number).bind(100_i64);
        rows.fetch_all(client).await.expect("rows").iter().map(|row| (row.get(1), row.get(0))).collect()
    }

    async fn from_id(client: &mut MySqlConnection, id: MessageId) -> Option<Vec<MessageId>> {
        let statement = section(NUMBERS, "resume", Parameters::QuestionMarks).remove(0);
        assert_eq!(statement.names, ["room", "id", "room", "limit"]);
        let rows = sqlx::query(AssertSqlSafe(statement.sql)).bind(ROOM).bind(id).bind(ROOM).bind(100_i64);
        let ids: Vec<MessageId> = rows.fetch_all(client).await.expect("rows").iter().map(|row| row.get(0)).collect();
        (ids.first() == Some(&id)).then(|| ids[1..].to_vec())
    }

    #[tokio::test]
    async fn a_restored_server_gives_numbers_again_and_resume_notices_it() -> Result<()> {
        let Some(url) =
            server("IMID_MYSQL_URL", "mariadb::a_restored_server_gives_numbers_again_and_resume_notices_it")
        else {
            return Ok(());
        };
        let mut client = MySqlConnection::connect(&url).await?;
        create(&mut client).await;
        for n in 1..=5 {
            assert_eq!(store(&mut client, id_at(START_MS + n, 0), &n.to_string()).await?, n as i64);
        }
        drop(client);
        services("mysql save");
        let mut client = MySqlConnection::connect(&url).await?;
        for n in 6..=8 {
            store(&mut client, id_at(START_MS + n, 0), &n.to_string()).await?;
        }
        assert_eq!(from_id(&mut client, id_at(START_MS + 7, 0)).await, Some(vec![id_at(START_MS + 8, 0)]));
        drop(client);
        services("mysql restore");
        let mut client = MySqlConnection::connect(&url).await?;
        for n in 6..=9 {
            assert_eq!(store(&mut client, id_at(START_MS + n - 1, 1), &format!("again {n}")).await?, n as i64);
        }
        assert_eq!(after_number(&mut client, 8).await, [(9, id_at(START_MS + 8, 1))]);
        assert_eq!(from_id(&mut client, id_at(START_MS + 5, 0)).await.map(|ids| ids.len()), Some(4));
        assert_eq!(from_id(&mut client, id_at(START_MS + 8, 0)).await, None);
        Ok(())
    }

    /// Returns the code of the error of a client that waits for the room while another commits there. Before that it has read, as a
    /// program does that first looks for the client's key.
    async fn wait_for_room(url: &str, settings: &str, reads_first: bool) -> Result<Option<u16>> {
        let mut holding = MySqlConnection::connect(url).await?;
        let (mut waiting, mut observer) = (MySqlConnection::connect(url).await?, MySqlConnection::connect(url).await?);
        sqlx::raw_sql("START TRANSACTION").execute(&mut holding).await?;
        take(&mut holding).await?;
        sqlx::raw_sql(AssertSqlSafe(settings.to_owned())).execute(&mut waiting).await?;
        let task = tokio::spawn(async move {
            sqlx::raw_sql("START TRANSACTION").execute(&mut waiting).await?;
            if reads_first {
                sqlx::raw_sql("SELECT * FROM rooms").execute(&mut waiting).await?;
            }
            take(&mut waiting).await
        });
        let is_waiting = "SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'";
        loop {
            // The server shows what was read before, unless nobody has looked for 0.1 s.
            tokio::time::sleep(Duration::from_millis(250)).await;
            if task.is_finished() || sqlx::query_scalar::<_, i64>(is_waiting).fetch_one(&mut observer).await? > 0 {
                break;
            }
        }
        sqlx::raw_sql("COMMIT").execute(&mut holding).await?;
        Ok(task.await?.err().map(|error| {
            let sqlx::Error::Database(error) = error else { panic!("{error}") };
            error.downcast_ref::<sqlx::mysql::MySqlDatabaseError>().number()
        }))
    }

    #[tokio::test]
    async fn strict_isolation_refuses_numbers_in_mariadb_with_error_1020() -> Result<()> {
        let Some(url) =
            server("IMID_MYSQL_URL", "mariadb::strict_isolation_refuses_numbers_in_mariadb_with_error_1020")
        else {
            return Ok(());
        };
        let mut client = MySqlConnection::connect(&url).await?;
        create(&mut client).await;
        store(&mut client, id_at(START_MS, 0), "1").await?;
        for level in ["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"] {
            for snapshot in ["OFF", "ON"] {
                for reads_first in [false, true] {
                    let settings = format!(
                        "SET SESSION innodb_snapshot_isolation = {snapshot}; SET SESSION TRANSACTION ISOLATION LEVEL {level}"
                    );
                    let is_refused =
                        snapshot == "ON" && (level == "SERIALIZABLE" || level == "REPEATABLE READ" && reads_first);
                    let found = wait_for_room(&url, &settings, reads_first).await?;
                    assert_eq!(found, is_refused.then_some(1020), "{level}, {snapshot}, reads first: {reads_first}");
                }
            }
        }
        Ok(())
    }
}
