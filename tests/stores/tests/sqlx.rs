//! sqlx: the same implementation with PostgreSQL, MySQL or MariaDB, and SQLite.

use imid::store::{AsText, AsUuid};
use imid::{MessageId, SessionTag, SessionType};
use imid_store_tests::{EXAMPLE, assert_same, ids, skip, sorted, url};
use sqlx::{Connection, QueryBuilder, Row};
use uuid::fmt::Hyphenated;

/// One row, as a user of sqlx would write it.
#[derive(sqlx::FromRow)]
struct Stored {
    bytes: MessageId,
    #[sqlx(try_from = "AsText")]
    letters: MessageId,
    #[sqlx(try_from = "AsUuid")]
    view: MessageId,
    session: SessionTag,
    kind: SessionType,
    reply_to: Option<MessageId>,
}

/// Writes the tests of one database.
macro_rules! database {
    ($module:ident, $database:ident, $connection:ident, $open:expr, $create:literal, $wrong_type:literal, $text:literal) => {
        mod $module {
            use super::*;
            use sqlx::{$connection, $database};

            async fn connect(test: &str) -> Option<$connection> {
                let open: fn(&str) -> Option<String> = $open;
                let mut connection = $connection::connect(&open(test)?).await.expect("the server answers");
                sqlx::raw_sql(concat!("CREATE TEMPORARY TABLE ids (", $create, ")"))
                    .execute(&mut connection)
                    .await
                    .expect("a table");
                Some(connection)
            }

            async fn insert(connection: &mut $connection, ids: &[MessageId]) {
                for some in ids.chunks(1_000) {
                    let mut insert = QueryBuilder::<$database>::new(
                        "INSERT INTO ids (bytes, letters, view, session, kind, reply_to) ",
                    );
                    insert.push_values(some, |mut row, id| {
                        let reply_to = (id.spin() % 2 == 1).then_some(*id);
                        row.push_bind(*id).push_bind(AsText(*id)).push_bind(AsUuid(*id));
                        row.push_bind(id.session_tag()).push_bind(id.session_type()).push_bind(reply_to);
                    });
                    insert.build().execute(&mut *connection).await.expect("new rows");
                }
            }

            #[tokio::test]
            async fn ids_come_back_in_order_from_each_form() {
                let Some(mut connection) = connect("ids_come_back_in_order_from_each_form").await else { return };
                let ids = ids();
                insert(&mut connection, &ids).await;
                let sorted = sorted(&ids);
                for sql in [
                    "SELECT * FROM ids ORDER BY bytes",
                    "SELECT * FROM ids ORDER BY letters",
                    "SELECT * FROM ids ORDER BY view",
                ] {
                    let rows: Vec<Stored> = sqlx::query_as(sql).fetch_all(&mut connection).await.expect("rows");
                    let column = |read: fn(&Stored) -> MessageId| rows.iter().map(read).collect::<Vec<_>>();
                    assert_same(&column(|row| row.bytes), &sorted, sql);
                    assert_same(&column(|row| row.letters), &sorted, sql);
                    assert_same(&column(|row| row.view), &sorted, sql);
                    for row in rows {
                        assert_eq!((row.session, row.kind), (row.bytes.session_tag(), row.bytes.session_type()));
                        assert_eq!(row.reply_to, (row.bytes.spin() % 2 == 1).then_some(row.bytes));
                    }
                }
            }

            #[tokio::test]
            async fn ids_are_found_by_time_and_by_list() {
                let Some(mut connection) = connect("ids_are_found_by_time_and_by_list").await else { return };
                let ids = ids();
                insert(&mut connection, &ids).await;
                let sorted = sorted(&ids);
                let range = MessageId::range(1_000_000_000_000..2_000_000_000_000).expect("a range");
                let wanted: Vec<_> = sorted.iter().copied().filter(|id| range.contains(id)).collect();
                assert!(wanted.len() > 1_000);

                let mut query = QueryBuilder::<$database>::new("SELECT bytes FROM ids WHERE bytes BETWEEN ");
                query.push_bind(*range.start()).push(" AND ").push_bind(*range.end()).push(" ORDER BY bytes");
                let found: Vec<MessageId> = query.build_query_scalar().fetch_all(&mut connection).await.expect("rows");
                assert_same(&found, &wanted, "bytes");

                let mut query = QueryBuilder::<$database>::new("SELECT letters FROM ids WHERE letters BETWEEN ");
                query.push_bind(AsText(*range.start())).push(" AND ").push_bind(AsText(*range.end()));
                query.push(" ORDER BY letters");
                let found: Vec<AsText> = query.build_query_scalar().fetch_all(&mut connection).await.expect("rows");
                assert_same(&found.into_iter().map(MessageId::from).collect::<Vec<_>>(), &wanted, "text");

                let mut query = QueryBuilder::<$database>::new("SELECT view FROM ids WHERE view BETWEEN ");
                query.push_bind(AsUuid(*range.start())).push(" AND ").push_bind(AsUuid(*range.end()));
                query.push(" ORDER BY view");
                let found: Vec<AsUuid> = query.build_query_scalar().fetch_all(&mut connection).await.expect("rows");
                assert_same(&found.into_iter().map(MessageId::from).collect::<Vec<_>>(), &wanted, "UUIDs");

                let mut query = QueryBuilder::<$database>::new("SELECT bytes FROM ids WHERE bytes IN (");
                let mut list = query.separated(", ");
                for id in &sorted[7..19] {
                    list.push_bind(*id);
                }
                query.push(") ORDER BY bytes");
                let found: Vec<MessageId> = query.build_query_scalar().fetch_all(&mut connection).await.expect("rows");
                assert_same(&found, &sorted[7..19], "a list");
            }

            #[tokio::test]
            async fn other_values_are_errors_that_say_why() {
                let Some(mut connection) = connect("other_values_are_errors_that_say_why").await else { return };
                insert(&mut connection, &[EXAMPLE]).await;
                let row = sqlx::query(
                    "SELECT *, lower(letters) AS lower_case, session * 0 - 1 AS negative, NULLIF(bytes, bytes) AS absent FROM ids",
                );
                let row = row.fetch_one(&mut connection).await.expect("a row");
                macro_rules! refused {
                    ($type:ty, $column:literal) => {
                        row.try_get::<$type, _>($column).expect_err($column).to_string()
                    };
                }
                let sentence = |column: &str, rest: &str| format!("error occurred while decoding column {column:?}: {rest}");
                let wrong_type = refused!(MessageId, "session");
                assert!(wrong_type.contains($wrong_type), "{wrong_type}");
                let text = refused!(MessageId, "letters");
                assert!(text.contains($text), "{text}");
                let null = sentence("absent", "unexpected null; try decoding as an `Option`");
                assert_eq!(refused!(MessageId, "absent"), null);
                // SQLite has no type for such a column, so the value could be of any type.
                let unchecked = [
                    row.try_get_unchecked::<SessionTag, _>("absent").map(drop),
                    row.try_get_unchecked::<SessionType, _>("absent").map(drop),
                    row.try_get_unchecked::<AsText, _>("absent").map(drop),
                    row.try_get_unchecked::<AsUuid, _>("absent").map(drop),
                ];
                for read in unchecked {
                    assert_eq!(read.expect_err("NULL").to_string(), null);
                }
                assert_eq!(
                    refused!(AsText, "lower_case"),
                    sentence("lower_case", "expected a digit 2-9 or A-Z without I and O, found 'e' at 0")
                );
                let negative = row.try_get_unchecked::<SessionTag, _>("negative").expect_err("a negative session");
                assert_eq!(
                    negative.to_string(),
                    sentence("negative", "expected a session tag of 0 to 67108863, found -1")
                );
                assert_eq!(row.get::<Option<MessageId>, _>("absent"), None);
                let sixteen = row.try_get_unchecked::<MessageId, _>("view").expect_err("16 bytes");
                assert_eq!(sixteen.to_string(), sentence("view", "expected 10 bytes, found 16"));
                assert_eq!(row.get::<MessageId, _>("bytes"), EXAMPLE);
            }
        }
    };
}

database! {
    postgres, Postgres, PgConnection,
    |test| url("IMID_POSTGRES_URL", &format!("sqlx::postgres::{test}")),
    r#"bytes bytea PRIMARY KEY, letters text COLLATE "C", view uuid, session integer, kind smallint, reply_to bytea"#,
    "Rust type `imid::id::MessageId` (as SQL type `BYTEA`) is not compatible with SQL type `INT4`",
    "Rust type `imid::id::MessageId` (as SQL type `BYTEA`) is not compatible with SQL type `TEXT`"
}

database! {
    mysql, MySql, MySqlConnection,
    |test| url("IMID_MYSQL_URL", &format!("sqlx::mysql::{test}")),
    "bytes BINARY(10) PRIMARY KEY, letters CHAR(19) CHARACTER SET ascii COLLATE ascii_bin, view BINARY(16), session INT,
    kind SMALLINT, reply_to BINARY(10)",
    "Rust type `imid::id::MessageId` (as SQL type `BLOB`) is not compatible with SQL type `INT`",
    "expected 10 bytes, found 19, the length of a text (read it with parse_bytes, or store::AsText)"
}

database! {
    sqlite, Sqlite, SqliteConnection,
    |_| Some("sqlite::memory:".to_owned()),
    "bytes BLOB PRIMARY KEY, letters TEXT, view BLOB, session INTEGER, kind INTEGER, reply_to BLOB",
    "Rust type `imid::id::MessageId` (as SQL type `BLOB`) is not compatible with SQL type `INTEGER`",
    "expected 10 bytes, found 19, the length of a text (read it with parse_bytes, or store::AsText)"
}

#[tokio::test]
async fn postgresql_takes_arrays() {
    let Some(url) = url("IMID_POSTGRES_URL", "sqlx::postgresql_takes_arrays") else { return };
    let mut connection = sqlx::PgConnection::connect(&url).await.expect("the server answers");
    let ids = vec![EXAMPLE, MessageId::MIN, MessageId::MAX];
    let texts: Vec<AsText> = ids.iter().copied().map(AsText).collect();
    let views: Vec<AsUuid> = ids.iter().copied().map(AsUuid).collect();
    let sessions: Vec<SessionTag> = ids.iter().map(|id| id.session_tag()).collect();
    let kinds: Vec<SessionType> = ids.iter().map(|id| id.session_type()).collect();
    let row =
        sqlx::query("SELECT $1::bytea[], $2::text[], $3::uuid[], $4::int[], $5::smallint[], $6 = ANY($1::bytea[])")
            .bind(&ids)
            .bind(&texts)
            .bind(&views)
            .bind(&sessions)
            .bind(&kinds)
            .bind(EXAMPLE)
            .fetch_one(&mut connection)
            .await
            .expect("a row");
    assert_eq!(row.get::<Vec<MessageId>, _>(0), ids);
    assert_eq!(row.get::<Vec<AsText>, _>(1), texts);
    assert_eq!(row.get::<Vec<AsUuid>, _>(2), views);
    assert_eq!(row.get::<Vec<SessionTag>, _>(3), sessions);
    assert_eq!(row.get::<Vec<SessionType>, _>(4), kinds);
    assert!(row.get::<bool, _>(5));
}

/// sqlx binds a `Uuid` as 16 bytes for MySQL. MariaDB's type `UUID` takes the text of a UUID.
#[tokio::test]
async fn mariadb_has_views_in_its_own_type() {
    let Some(url) = url("IMID_MYSQL_URL", "sqlx::mariadb_has_views_in_its_own_type") else { return };
    let mut connection = sqlx::MySqlConnection::connect(&url).await.expect("the server answers");
    let version: String = sqlx::query_scalar("SELECT version()").fetch_one(&mut connection).await.expect("a row");
    if !version.contains("MariaDB") {
        return skip("sqlx::mariadb_has_views_in_its_own_type", "the server is not MariaDB");
    }
    let create = "CREATE TEMPORARY TABLE views (view UUID PRIMARY KEY)";
    sqlx::raw_sql(create).execute(&mut connection).await.expect("a table");
    let mut ids = ids();
    ids.truncate(20_000);
    for some in ids.chunks(1_000) {
        let mut insert = QueryBuilder::<sqlx::MySql>::new("INSERT INTO views ");
        insert.push_values(some, |mut row, id| {
            row.push_bind(id.to_uuid().hyphenated());
        });
        insert.build().execute(&mut connection).await.expect("new rows");
    }
    let sorted = sorted(&ids);
    let select = "SELECT view FROM views WHERE view >= ? ORDER BY view";
    let from: Vec<Hyphenated> = sqlx::query_scalar(select)
        .bind(sorted[100].to_uuid().hyphenated())
        .fetch_all(&mut connection)
        .await
        .expect("rows");
    let found: Vec<MessageId> = from.into_iter().map(|view| view.into_uuid().try_into().expect("a view")).collect();
    assert_same(&found, &sorted[100..], "UUID");
}
