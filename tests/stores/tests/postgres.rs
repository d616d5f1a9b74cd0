//! postgres and its types: parameters, arrays and binary COPY.

use imid::store::{AsText, AsUuid};
use imid::{MessageId, SessionTag, SessionType};
use imid_store_tests::{EXAMPLE, assert_same, ids, sorted, url};
use postgres::binary_copy::{BinaryCopyInWriter, BinaryCopyOutIter};
use postgres::fallible_iterator::FallibleIterator;
use postgres::types::Type;
use postgres::{Client, NoTls};

const COLUMNS: [Type; 5] = [Type::BYTEA, Type::TEXT, Type::UUID, Type::INT4, Type::INT2];

fn connect(test: &str) -> Option<Client> {
    let url = url("IMID_POSTGRES_URL", &format!("postgres::{test}"))?;
    let mut client = Client::connect(&url, NoTls).expect("the server answers");
    let create = r#"CREATE TEMPORARY TABLE ids
        (bytes bytea PRIMARY KEY, letters text COLLATE "C", view uuid, session integer, kind smallint)"#;
    client.batch_execute(create).expect("a table");
    Some(client)
}

/// Writes the IDs with a binary COPY.
fn copy(client: &mut Client, ids: &[MessageId]) {
    let writer = client.copy_in("COPY ids FROM STDIN (FORMAT binary)").expect("COPY");
    let mut writer = BinaryCopyInWriter::new(writer, &COLUMNS);
    for id in ids {
        writer.write(&[id, &AsText(*id), &AsUuid(*id), &id.session_tag(), &id.session_type()]).expect("a row");
    }
    assert_eq!(writer.finish().expect("the end of COPY"), ids.len() as u64);
}

#[test]
fn a_binary_copy_writes_and_reads_each_form() {
    let Some(mut client) = connect("a_binary_copy_writes_and_reads_each_form") else { return };
    let ids = ids();
    copy(&mut client, &ids);
    let sorted = sorted(&ids);
    for form in ["bytes", "letters", "view"] {
        let sql = format!("COPY (SELECT * FROM ids ORDER BY {form}) TO STDOUT (FORMAT binary)");
        let mut rows = BinaryCopyOutIter::new(client.copy_out(&sql).expect("COPY"), &COLUMNS);
        let mut found = Vec::new();
        while let Some(row) = rows.next().expect("a row") {
            let id: MessageId = row.get(0);
            assert_eq!((row.get::<AsText>(1).0, row.get::<AsUuid>(2).0), (id, id));
            assert_eq!((row.get::<SessionTag>(3), row.get::<SessionType>(4)), (id.session_tag(), id.session_type()));
            found.push(id);
        }
        assert_same(&found, &sorted, form);
    }
}

#[test]
fn ids_are_found_by_array_and_by_time() {
    let Some(mut client) = connect("ids_are_found_by_array_and_by_time") else { return };
    let ids = ids();
    copy(&mut client, &ids);
    let sorted = sorted(&ids);

    let rows = client.query("SELECT bytes FROM ids WHERE bytes = ANY($1) ORDER BY bytes", &[&&sorted[3..90]]);
    let found: Vec<MessageId> = rows.expect("rows").iter().map(|row| row.get(0)).collect();
    assert_same(&found, &sorted[3..90], "an array");

    let range = MessageId::range(1_000_000_000_000..2_000_000_000_000).expect("a range");
    let wanted: Vec<_> = sorted.iter().copied().filter(|id| range.contains(id)).collect();
    let sql = "SELECT bytes FROM ids WHERE bytes BETWEEN $1 AND $2 ORDER BY bytes";
    let rows = client.query(sql, &[range.start(), range.end()]).expect("rows");
    assert_same(&rows.iter().map(|row| row.get(0)).collect::<Vec<_>>(), &wanted, "bytes");
}

#[test]
fn other_values_are_errors_that_say_why() {
    let Some(mut client) = connect("other_values_are_errors_that_say_why") else { return };
    let row = client
        .query_one(r"SELECT '\x66a8'::bytea, NULL::bytea, 'eunc'::text, gen_random_uuid(), -1, 16::smallint", &[])
        .expect("a row");
    fn refused<'a, T: postgres::types::FromSql<'a>>(row: &'a postgres::Row, column: usize) -> String {
        let Err(error) = row.try_get::<_, T>(column) else { panic!("column {column} was read") };
        let source = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        format!("{error}: {source}")
    }
    assert!(refused::<MessageId>(&row, 0).contains("expected 10 bytes, found 2"));
    assert!(refused::<MessageId>(&row, 1).contains("NULL"));
    assert!(refused::<MessageId>(&row, 2).contains("`text`"), "{}", refused::<MessageId>(&row, 2));
    assert!(refused::<AsText>(&row, 2).contains("expected a digit 2-9 or A-Z without I and O, found 'e' at 0"));
    assert!(refused::<AsUuid>(&row, 3).contains("expected a UUID of version 7, found version 4"));
    assert!(refused::<SessionTag>(&row, 4).contains("expected a session tag of 0 to 67108863, found -1"));
    assert!(refused::<SessionType>(&row, 5).contains("expected a session type of 0 to 15, found 16"));
    let error = client.query_one("SELECT $1::text", &[&EXAMPLE]).expect_err("an ID is not a text");
    let source = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
    assert!(source.contains("cannot convert") && source.contains("MessageId"), "{source}");
}
