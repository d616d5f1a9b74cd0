//! rusqlite: values in a database in memory.

use imid::store::{AsText, AsUuid};
use imid::{MessageId, SessionTag, SessionType};
use rusqlite::types::FromSql;
use rusqlite::{Connection, ToSql};

use super::{BYTES, ID, UUID};

fn connection() -> Connection {
    Connection::open_in_memory().expect("SQLite is linked")
}

/// Returns the value of a SQL expression.
fn read<T: FromSql>(sql: &str) -> rusqlite::Result<T> {
    connection().query_row(&format!("SELECT {sql}"), [], |row| row.get(0))
}

/// Returns the type and the bytes of a value in SQLite. The bytes of a number are its decimal text.
fn stored(value: &dyn ToSql) -> (String, Vec<u8>) {
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    connection().query_row("SELECT typeof(?1), CAST(?1 AS BLOB)", [value], row).unwrap()
}

#[test]
fn each_value_has_its_type_in_sqlite() {
    for (value, type_name, bytes) in [
        (&ID as &dyn ToSql, "blob", &BYTES[..]),
        (&AsText(ID), "text", b"EUNC-Q8QJ-22GH-T3DD"),
        (&AsUuid(ID), "blob", &UUID),
        (&ID.session_tag(), "integer", b"16549227"),
        (&SessionType::GROUP, "integer", b"3"),
    ] {
        assert_eq!(stored(value), (type_name.to_owned(), bytes.to_vec()));
    }
    let nothing = connection().query_row("SELECT typeof(?)", [None::<MessageId>], |row| row.get::<_, String>(0));
    assert_eq!(nothing.unwrap(), "null");
}

#[test]
fn each_value_is_read_from_its_type() {
    assert_eq!(read("x'66a8ab1ad0001cfc856b'"), Ok(ID));
    assert_eq!(read("'EUNC-Q8QJ-22GH-T3DD'"), Ok(AsText(ID)));
    assert_eq!(read("x'019aa2ac6b4070078fc856bfffffffff'"), Ok(AsUuid(ID)));
    assert_eq!(read("16549227"), Ok(ID.session_tag()));
    assert_eq!(read("15"), Ok(SessionType::MAX));
    assert_eq!(read("NULL"), Ok(None::<MessageId>));
}

#[test]
fn other_values_are_errors_that_say_why() {
    fn message<T: FromSql>(sql: &str) -> String {
        let Err(error) = read::<T>(sql) else { panic!("{sql} was read") };
        error.to_string()
    }
    let wrong_type = |found| format!("Invalid column type {found} at index: 0, name: ");
    assert!(message::<MessageId>("NULL").starts_with(&wrong_type("Null")));
    assert!(message::<MessageId>("'EUNC-Q8QJ-22GH-T3DD'").starts_with(&wrong_type("Text")));
    assert!(message::<MessageId>("7").starts_with(&wrong_type("Integer")));
    assert!(message::<AsText>("x'66a8ab1ad0001cfc856b'").starts_with(&wrong_type("Blob")));
    assert!(message::<SessionTag>("'7'").starts_with(&wrong_type("Text")));

    assert!(message::<MessageId>("x'66a8'").ends_with("expected 10 bytes, found 2"));
    assert!(message::<AsText>("'EUNC'").ends_with("expected '-', found the end at 4"));
    assert!(message::<AsUuid>("zeroblob(16)").ends_with("expected a UUID of version 7, found version 0"));
    assert!(message::<AsUuid>("zeroblob(15)").ends_with("expected 16 bytes, found 15"));
    assert!(message::<SessionTag>("67108864").ends_with("expected a session tag of 0 to 67108863, found 67108864"));
    assert!(message::<SessionType>("-1").ends_with("expected a session type of 0 to 15, found -1"));
}

#[test]
fn ids_are_found_by_list_and_by_time() {
    let connection = connection();
    connection
        .execute("CREATE TABLE messages (id BLOB PRIMARY KEY CHECK (length(id) = 10)) WITHOUT ROWID", [])
        .unwrap();
    let ids: Vec<MessageId> =
        (0..1_000).map(|n| MessageId::from_u128(ID.to_u128() + ((n * 7) << 36)).expect("80 bits")).collect();
    for id in ids.iter().rev() {
        connection.execute("INSERT INTO messages VALUES (?)", [id]).unwrap();
    }

    let read = |sql: &str, parameters: &[&dyn ToSql]| -> Vec<MessageId> {
        let mut statement = connection.prepare(sql).unwrap();
        statement.query_map(parameters, |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    assert_eq!(read("SELECT id FROM messages ORDER BY id", &[]), ids);
    assert_eq!(read("SELECT id FROM messages WHERE id IN (?, ?)", &[&ids[7], &ids[9]]), [ids[7], ids[9]]);

    let range = MessageId::range(ID.timestamp_ms() + 100..ID.timestamp_ms() + 200).unwrap();
    let wanted: Vec<_> = ids.iter().copied().filter(|id| range.contains(id)).collect();
    assert!((50..60).contains(&wanted.len()), "{}", wanted.len());
    let found = read("SELECT id FROM messages WHERE id BETWEEN ? AND ? ORDER BY id", &[range.start(), range.end()]);
    assert_eq!(found, wanted);
}
