//! diesel: tables of PostgreSQL and of SQLite, and the queries for MySQL, whose client needs a C library.

use std::error::Error;

use diesel::prelude::*;
use diesel::sql_query;
use imid::store::{AsText, AsUuid};
use imid::{MessageId, SessionTag, SessionType};
use imid_store_tests::{EXAMPLE, assert_same, ids, sorted, url};

mod postgres {
    use super::*;

    diesel::table! {
        ids (bytes) {
            bytes -> Binary,
            letters -> Text,
            view -> Uuid,
            session -> Integer,
            kind -> SmallInt,
            reply_to -> Nullable<Binary>,
        }
    }

    #[derive(Insertable, Queryable, Selectable, PartialEq, Debug)]
    #[diesel(table_name = ids)]
    struct Stored {
        bytes: MessageId,
        letters: AsText,
        view: AsUuid,
        session: SessionTag,
        kind: SessionType,
        reply_to: Option<MessageId>,
    }

    fn connect(test: &str) -> Option<PgConnection> {
        let url = url("IMID_POSTGRES_URL", &format!("diesel::{test}"))?;
        let mut connection = PgConnection::establish(&url).expect("the server answers");
        let create = r#"CREATE TEMPORARY TABLE ids (bytes bytea PRIMARY KEY, letters text COLLATE "C", view uuid,
            session integer, kind smallint, reply_to bytea)"#;
        sql_query(create).execute(&mut connection).expect("a table");
        Some(connection)
    }

    #[test]
    fn ids_come_back_in_order_from_each_form() {
        let Some(mut connection) = connect("ids_come_back_in_order_from_each_form") else { return };
        let ids = ids();
        for some in ids.chunks(1_000) {
            let row = |id: &MessageId| Stored {
                bytes: *id,
                letters: AsText(*id),
                view: AsUuid(*id),
                session: id.session_tag(),
                kind: id.session_type(),
                reply_to: (id.spin() % 2 == 1).then_some(*id),
            };
            let rows: Vec<Stored> = some.iter().map(row).collect();
            diesel::insert_into(ids::table).values(&rows).execute(&mut connection).expect("new rows");
        }
        let sorted = sorted(&ids);
        let columns = [
            ids::table.order(ids::bytes).select(Stored::as_select()).load(&mut connection),
            ids::table.order(ids::letters).select(Stored::as_select()).load(&mut connection),
            ids::table.order(ids::view).select(Stored::as_select()).load(&mut connection),
        ];
        for rows in columns {
            let rows = rows.expect("rows");
            assert_same(&rows.iter().map(|row| row.bytes).collect::<Vec<_>>(), &sorted, "bytes");
            for row in rows {
                assert_eq!((row.letters.0, row.view.0), (row.bytes, row.bytes));
                assert_eq!((row.session, row.kind), (row.bytes.session_tag(), row.bytes.session_type()));
                assert_eq!(row.reply_to, (row.bytes.spin() % 2 == 1).then_some(row.bytes));
            }
        }

        let range = MessageId::range(1_000_000_000_000..2_000_000_000_000).expect("a range");
        let wanted: Vec<_> = sorted.iter().copied().filter(|id| range.contains(id)).collect();
        let between = ids::table.filter(ids::bytes.between(range.start(), range.end())).order(ids::bytes);
        let found: Vec<MessageId> = between.select(ids::bytes).load(&mut connection).expect("rows");
        assert_same(&found, &wanted, "BETWEEN");
        let some = ids::table.filter(ids::bytes.eq_any(sorted[7..19].to_vec())).order(ids::bytes);
        let found: Vec<MessageId> = some.select(ids::bytes).load(&mut connection).expect("rows");
        assert_same(&found, &sorted[7..19], "a list");
        let replies = ids::table.filter(ids::reply_to.eq(MessageId::MAX)).select(ids::bytes);
        assert_eq!(replies.load::<MessageId>(&mut connection).expect("rows"), [MessageId::MAX]);
    }

    #[test]
    fn other_values_are_errors_that_say_why() {
        let Some(mut connection) = connect("other_values_are_errors_that_say_why") else { return };
        let insert = r"INSERT INTO ids VALUES ('\x66a8', 'eunc', gen_random_uuid(), -1, 16, NULL)";
        sql_query(insert).execute(&mut connection).expect("a row");
        // diesel's own sentence names the column. The source says why.
        let refused = |error: diesel::result::Error| error.source().map(ToString::to_string).unwrap_or_default();
        macro_rules! read {
            ($column:ident as $type:ty) => {
                refused(ids::table.select(ids::$column).first::<$type>(&mut connection).expect_err(stringify!($column)))
            };
        }
        assert_eq!(read!(bytes as MessageId), "expected 10 bytes, found 2");
        assert!(read!(letters as AsText).contains("expected a digit 2-9 or A-Z without I and O, found 'e' at 0"));
        assert!(read!(view as AsUuid).contains("expected a UUID of version 7, found version 4"));
        assert!(read!(session as SessionTag).contains("expected a session tag of 0 to 67108863, found -1"));
        assert!(read!(kind as SessionType).contains("expected a session type of 0 to 15, found 16"));
    }
}

mod sqlite {
    use super::*;

    diesel::table! {
        ids (bytes) {
            bytes -> Binary,
            letters -> Text,
            view -> Binary,
            session -> Integer,
            kind -> SmallInt,
            reply_to -> Nullable<Binary>,
        }
    }

    #[derive(Queryable, PartialEq, Debug)]
    struct Stored(MessageId, AsText, AsUuid, SessionTag, SessionType, Option<MessageId>);

    #[test]
    fn ids_come_back_in_order_from_each_form() {
        let mut connection = SqliteConnection::establish(":memory:").expect("a database in memory");
        let create = "CREATE TABLE ids (bytes BLOB PRIMARY KEY, letters TEXT, view BLOB, session INTEGER, kind INTEGER,
            reply_to BLOB)";
        sql_query(create).execute(&mut connection).expect("a table");
        let mut ids = ids();
        ids.truncate(10_000);
        let insert = |connection: &mut SqliteConnection| {
            ids.iter().try_for_each(|id| {
                let row = (
                    ids::bytes.eq(id),
                    ids::letters.eq(AsText(*id)),
                    ids::view.eq(AsUuid(*id)),
                    ids::session.eq(id.session_tag()),
                    ids::kind.eq(id.session_type()),
                    ids::reply_to.eq(id),
                );
                diesel::insert_into(ids::table).values(row).execute(connection).map(drop)
            })
        };
        connection.transaction(insert).expect("new rows");
        let sorted = sorted(&ids);
        let wanted: Vec<Stored> = sorted
            .iter()
            .map(|id| Stored(*id, AsText(*id), AsUuid(*id), id.session_tag(), id.session_type(), Some(*id)))
            .collect();
        assert_eq!(ids::table.order(ids::bytes).load::<Stored>(&mut connection).expect("rows"), wanted);
        assert_eq!(ids::table.order(ids::letters).load::<Stored>(&mut connection).expect("rows"), wanted);
        assert_eq!(ids::table.order(ids::view).load::<Stored>(&mut connection).expect("rows"), wanted);

        let list = sorted[7..19].iter().map(|id| id.to_bytes().to_vec());
        let some = ids::table.filter(ids::bytes.eq_any(list)).order(ids::bytes).select(ids::bytes);
        assert_same(&some.load::<MessageId>(&mut connection).expect("rows"), &sorted[7..19], "a list");
        let from_example = ids::table.filter(ids::bytes.ge(EXAMPLE)).order(ids::bytes).select(ids::bytes);
        let wanted: Vec<_> = sorted.iter().copied().filter(|id| *id >= EXAMPLE).collect();
        assert_same(&from_example.load::<MessageId>(&mut connection).expect("rows"), &wanted, "a comparison");
    }

    #[test]
    fn other_values_are_errors_that_say_why() {
        let mut connection = SqliteConnection::establish(":memory:").expect("a database in memory");
        let create = "CREATE TABLE ids AS SELECT x'66a8' AS bytes, 'eunc' AS letters, zeroblob(16) AS view,
            -1 AS session, 16 AS kind, NULL AS reply_to";
        sql_query(create).execute(&mut connection).expect("a table");
        // diesel's own sentence names the column. The source says why.
        let refused = |error: diesel::result::Error| match error.source() {
            Some(source) => source.to_string(),
            None => error.to_string(),
        };
        macro_rules! read {
            ($expression:expr, $type:ty) => {
                refused(ids::table.select($expression).first::<$type>(&mut connection).expect_err(stringify!($type)))
            };
        }
        assert_eq!(read!(ids::bytes, MessageId), "expected 10 bytes, found 2");
        assert_eq!(read!(ids::view, MessageId), "expected 10 bytes, found 16");
        assert_eq!(read!(ids::bytes, AsUuid), "expected 16 bytes, found 2");
        assert_eq!(read!(ids::view, AsUuid), "expected a UUID of version 7, found version 0");
        assert_eq!(read!(ids::letters, AsText), "expected a digit 2-9 or A-Z without I and O, found 'e' at 0");
        assert_eq!(read!(ids::session, SessionTag), "expected a session tag of 0 to 67108863, found -1");
        assert_eq!(read!(ids::kind, SessionType), "expected a session type of 0 to 15, found 16");
        let null = read!(ids::reply_to.assume_not_null(), MessageId);
        assert!(null.to_lowercase().contains("null"), "{null}");
        let absent = ids::table.select(ids::reply_to).first::<Option<MessageId>>(&mut connection);
        assert_eq!(absent.expect("a row"), None);

        // diesel itself drops the high bits of an integer, and reads a text as its bytes.
        let update = "UPDATE ids SET kind = 65539, bytes = '0123456789'";
        sql_query(update).execute(&mut connection).expect("a row");
        let bytes = ids::table.select(ids::bytes).first::<MessageId>(&mut connection);
        assert_eq!(bytes.expect("a row"), MessageId::from_bytes(*b"0123456789"));
        let kind = ids::table.select(ids::kind).first::<SessionType>(&mut connection);
        assert_eq!(kind.expect("a row"), SessionType::GROUP);
    }
}

mod mysql {
    use diesel::connection::LoadConnection;
    use diesel::debug_query;
    use diesel::mysql::Mysql;

    use super::*;

    diesel::table! {
        ids (bytes) {
            bytes -> Binary,
            letters -> Text,
            view -> Binary,
            session -> Integer,
            kind -> SmallInt,
            reply_to -> Nullable<Binary>,
        }
    }

    #[derive(Insertable, Queryable, Selectable)]
    #[diesel(table_name = ids, check_for_backend(Mysql))]
    struct Stored {
        bytes: MessageId,
        letters: AsText,
        view: AsUuid,
        session: SessionTag,
        kind: SessionType,
        reply_to: Option<MessageId>,
    }

    /// Is compiled for any connection to MySQL, but not called, because there is no client here.
    #[expect(dead_code, reason = "it is compiled, and not called")]
    fn load<C: LoadConnection<Backend = Mysql>>(connection: &mut C) -> QueryResult<Vec<Stored>> {
        ids::table.filter(ids::bytes.eq_any([EXAMPLE, MessageId::MAX])).select(Stored::as_select()).load(connection)
    }

    #[test]
    fn each_value_is_bound_in_its_form() {
        let example = Stored {
            bytes: EXAMPLE,
            letters: AsText(EXAMPLE),
            view: AsUuid(EXAMPLE),
            session: EXAMPLE.session_tag(),
            kind: EXAMPLE.session_type(),
            reply_to: None,
        };
        let insert = diesel::insert_into(ids::table).values(&example);
        let (bytes, view, session) = (EXAMPLE.to_bytes(), EXAMPLE.to_uuid_bytes(), EXAMPLE.session_tag().to_u32());
        let binds = format!("[{bytes:?}, \"EUNC-Q8QJ-22GH-T3DD\", {view:?}, {session}, 3]");
        let wanted = format!(
            "INSERT INTO `ids` (`bytes`, `letters`, `view`, `session`, `kind`, `reply_to`) VALUES (?, ?, ?, ?, ?, DEFAULT) \
             -- binds: {binds}"
        );
        assert_eq!(debug_query::<Mysql, _>(&insert).to_string(), wanted);
    }
}
