//! Parquet and Arrow tables that are damaged, or have columns that cannot be read.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, FixedSizeBinaryArray, Float64Array, RecordBatch, StringArray, StructArray,
    TimestampMillisecondArray,
};
use arrow_schema::{DataType, Field};

use crate::parquet::{TAG, batch, file_bytes, parquet_bytes, read_parquet, run, stream_bytes, texts};

/// Asserts that a run is refused with one line.
fn assert_refused(args: &str, input: &[u8], expected: &str) {
    let (status, _, err) = run(args, input);
    assert_eq!((status, err.lines().count()), (1, 1), "{args}: {err}");
    assert!(err.starts_with(expected), "{args}: {err}");
}

#[test]
fn a_file_that_is_not_what_it_is_called_is_an_error_that_names_the_format() {
    let parquet = "error: cannot read standard input as Parquet: ";
    for text in [&b""[..], b"{}\n", b"PAR", b"PAR1", b"PAR1 and text", &[0; 5_000]] {
        assert_refused("tag --session-field room --in parquet", text, parquet);
    }
    let arrow = "error: cannot read standard input as Arrow: ";
    for text in [&b"{\"a\":1}\n"[..], b"ARROW1", b"ARROW1 and text", &[0xff; 5_000]] {
        assert_refused("check --in arrow", text, arrow);
    }
    // The first bytes are right, and the last ones are wrong.
    let table = parquet_bytes(&batch(10), 9);
    let mut damaged = table.clone();
    damaged[table.len() - 1] ^= 1;
    assert_refused(TAG, &damaged, &format!("{parquet}Parquet error: Invalid Parquet file. Corrupt footer"));
    for len in [5, table.len() / 2, table.len() - 1] {
        assert_refused("stats", &table[..len], parquet);
    }
    let file = file_bytes(&batch(10));
    for len in [7, file.len() / 2, file.len() - 1] {
        assert_refused("check --id-field room", &file[..len], arrow);
    }
}

#[test]
fn damage_in_the_rows_ends_the_table_with_an_error_or_changes_a_value() {
    // Each byte of the file in turn. The tool must not crash: a crash has status 101, or a signal.
    let table = parquet_bytes(&batch(40), 20);
    let file = file_bytes(&batch(40));
    for bytes in [&table, &file] {
        for at in (0..bytes.len()).step_by(bytes.len() / 97) {
            let mut damaged = bytes.clone();
            damaged[at] = !damaged[at];
            for args in [TAG, "check --id-field text"] {
                let (status, _, err) = run(args, &damaged);
                assert!(status == 0 || status == 1 && err.starts_with("error: "), "byte {at}: {status} {err}");
                assert!(!err.contains("panicked"), "byte {at}: {err}");
            }
        }
    }
}

#[test]
fn a_column_of_a_type_that_cannot_be_read_is_an_error_that_names_it() {
    let rooms = Arc::new(StringArray::from(vec!["a", "b"])) as ArrayRef;
    let floats = Arc::new(Float64Array::from(vec![1.0, 2.0])) as ArrayRef;
    let flags = Arc::new(BooleanArray::from(vec![true, false])) as ArrayRef;
    let dates = Arc::new(Date32Array::from(vec![1, 2])) as ArrayRef;
    let nine = FixedSizeBinaryArray::try_from_iter([[1_u8; 9], [2; 9]].into_iter()).unwrap();
    let deep = StructArray::from(vec![(Arc::new(Field::new("room", DataType::Utf8, true)), rooms.clone())]);
    let columns: [(&str, ArrayRef); 6] = [
        ("room", rooms),
        ("float", floats),
        ("flag", flags),
        ("date", dates),
        ("nine", Arc::new(nine)),
        ("deep", Arc::new(deep)),
    ];
    let table = parquet_bytes(&RecordBatch::try_from_iter(columns).unwrap(), 9);
    for (args, expected) in [
        ("tag --session-field float", "field \"float\": expected a column of strings or integers, found Float64"),
        ("tag --session-field flag", "field \"flag\": expected a column of strings or integers, found Boolean"),
        ("tag --session-field deep", "field \"deep\": expected a column of strings or integers, found Struct("),
        ("tag --session-field deep.no", "field \"deep.no\" is missing"),
        ("tag --session-field room.no", "field \"room.no\" is missing"),
        (
            "tag --session-field room --time-field date",
            "field \"date\": expected a column of timestamps, integers or strings, found Date32",
        ),
        ("check --id-field flag", "field \"flag\": expected a column of strings or integers, found Boolean"),
        ("stats --id-field room --time-field flag", "field \"flag\": expected a column of timestamps, "),
    ] {
        assert_refused(args, &table, &format!("error: standard input: {expected}"));
    }
    // A value that is not an ID is a problem of its row.
    let (status, out, err) = run("check --json --id-field nine", &table);
    assert_eq!((status, err.lines().next()), (1, Some("error: row 1: expected 10 bytes, found 9")), "{err}");
    assert!(out.starts_with(b"{\"lines\":2,\"valid\":0,\"invalid\":2,"));
    let (_, _, err) = run("check --id-field room", &table);
    assert!(err.starts_with("error: row 1: \"a\" is not an ID: "), "{err}");
    let (status, out, _) = run("tag --session-field deep.room", &table);
    assert_eq!((status, texts(&read_parquet(out), "id").len()), (0, 2));
}

#[test]
fn rows_with_nulls_are_problems_with_their_numbers() {
    let ids = StringArray::from(vec![Some("2222-2222-2222-2222"), None, Some("3333-3333-3333-3333"), None]);
    let times = TimestampMillisecondArray::from(vec![Some(5), Some(6), None, None]);
    let rooms = StringArray::from(vec![Some("a"); 4]);
    let table = RecordBatch::try_from_iter([
        ("id", Arc::new(ids) as ArrayRef),
        ("at", Arc::new(times)),
        ("room", Arc::new(rooms)),
    ]);
    let table = table.unwrap();
    for bytes in [parquet_bytes(&table, 3), file_bytes(&table), stream_bytes(&table)] {
        let (status, out, err) = run("check --json", &bytes);
        assert_eq!(status, 1);
        assert!(out.starts_with(b"{\"lines\":4,\"valid\":2,\"invalid\":2,"));
        let null = "field \"id\": expected an ID, found null";
        assert_eq!(err, format!("error: row 2: {null}\nerror: row 4: {null}\n"));
        let (_, _, err) = run("stats --json --time-field at", &bytes);
        let time = "error: row 3: field \"at\": expected a time, found null\n";
        assert_eq!(err, format!("error: row 2: {null}\n{time}error: row 4: {null}\n"));
        let (status, _, err) = run("tag --session-field room --time-field at --id-field new --keep-going", &bytes);
        let problem = |row| format!("error: row {row}: field \"at\": expected unix milliseconds or an RFC 3339 time");
        assert!(status == 1 && err.starts_with(&problem(3)) && err.contains(&problem(4)), "{err}");
    }
    // A struct that is null has no fields.
    let rooms = Arc::new(StringArray::from(vec!["a", "b"])) as ArrayRef;
    let fields = vec![Arc::new(Field::new("room", DataType::Utf8, true))].into();
    let deep = StructArray::new(fields, vec![rooms], Some(vec![true, false].into()));
    let table = RecordBatch::try_from_iter([("deep", Arc::new(deep) as ArrayRef)]).unwrap();
    let (status, _, err) = run("tag --session-field deep.room --keep-going", &parquet_bytes(&table, 9));
    let expected = "error: row 2: field \"deep.room\": expected a string or an integer, found null\n";
    assert_eq!((status, err.as_str()), (1, expected));
}

#[test]
fn a_table_cannot_be_resumed() {
    let (status, _, err) = run("tag --session-field room --resume x", &parquet_bytes(&batch(3), 9));
    assert_eq!((status, err.as_str()), (2, "error: --resume does not work with Parquet or Arrow\n"));
}

#[test]
fn a_wrong_column_or_a_damaged_file_is_an_error_of_one_line() {
    let table = parquet_bytes(&batch(10), 9);
    for (args, expected) in [
        ("tag --session-field no", "error: standard input: field \"no\" is missing"),
        (
            "tag --session-field at",
            "error: standard input: field \"at\": expected a column of strings or integers, found Timestamp(ms, \"UTC\")",
        ),
        (
            "tag --session-field room --id-field text",
            "error: standard input: field \"text\" already exists (--overwrite replaces it)",
        ),
        ("check --id-field no", "error: standard input: field \"no\" is missing"),
        ("tag --session-field room --in arrow", "error: cannot read standard input as "),
    ] {
        let (status, _, err) = run(args, &table);
        assert_eq!((status, err.lines().count()), (1, 1), "{args}: {err}");
        assert!(err.starts_with(expected), "{args}: {err}");
    }
    for bytes in [&table[..], &file_bytes(&batch(10)), &stream_bytes(&batch(10))] {
        // A stream may end between two messages, so it is cut within its schema and within its rows.
        for len in [8, 100, bytes.len() * 3 / 4, bytes.len() - 16] {
            let (status, _, err) = run(TAG, &bytes[..len]);
            assert!(
                status == 1 && err.starts_with("error: ") && err.lines().count() == 1,
                "{len} bytes: {status} {err}"
            );
        }
    }
    let (status, out, _) = run("tag --session-field room --id-field text --overwrite", &table);
    assert_eq!(status, 0);
    assert_eq!(texts(&read_parquet(out), "text").len(), 10);
}
