//! Parquet and Arrow tables.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use ::parquet::arrow::ArrowWriter;
use ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use ::parquet::basic::Compression;
use ::parquet::file::properties::WriterProperties;
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, DictionaryArray, Int64Array, RecordBatch, StringArray};
use arrow_array::{
    TimestampMicrosecondArray, TimestampMillisecondArray, TimestampNanosecondArray, TimestampSecondArray,
};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use imid::{MessageId, SessionTag, SessionType};

use crate::command;

const NOON: i64 = 1_763_640_000_000;

/// Rows with a session, a time and other columns. Row 3 has no text.
pub(crate) fn batch(rows: i64) -> RecordBatch {
    let rooms: DictionaryArray<Int32Type> =
        (0..rows).map(|row| ["kitchen", "hall"][usize::from(row % 2 == 1)]).collect();
    let times = TimestampMillisecondArray::from_iter_values((0..rows).map(|row| NOON + row / 2)).with_timezone("UTC");
    let texts: StringArray = (0..rows).map(|row| (row != 3).then(|| format!("text {row}"))).collect();
    RecordBatch::try_from_iter([
        ("room", Arc::new(rooms) as ArrayRef),
        ("at", Arc::new(times)),
        ("number", Arc::new(Int64Array::from_iter_values(0..rows))),
        ("text", Arc::new(texts)),
    ])
    .unwrap()
}

pub(crate) fn parquet_bytes(batch: &RecordBatch, group: usize) -> Vec<u8> {
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(group))
        .set_compression(Compression::SNAPPY)
        .set_key_value_metadata(Some(vec![::parquet::file::metadata::KeyValue::new("owner".into(), "chat".to_owned())]))
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

pub(crate) fn file_bytes(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

pub(crate) fn stream_bytes(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    for start in (0..batch.num_rows()).step_by(100) {
        writer.write(&batch.slice(start, 100.min(batch.num_rows() - start))).unwrap();
    }
    writer.into_inner().unwrap()
}

/// Runs the tool, and returns the exit status, standard output and standard error.
pub(crate) fn run(args: &str, input: &[u8]) -> (i32, Vec<u8>, String) {
    let output = command().args(args.split_whitespace()).write_stdin(input).output().unwrap();
    (output.status.code().unwrap(), output.stdout, String::from_utf8(output.stderr).unwrap())
}

pub(crate) fn read_parquet(bytes: Vec<u8>) -> Vec<RecordBatch> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes)).unwrap();
    builder.with_batch_size(1 << 20).build().unwrap().map(Result::unwrap).collect()
}

pub(crate) fn texts(batches: &[RecordBatch], name: &str) -> Vec<String> {
    let column = |batch: &RecordBatch| batch.column_by_name(name).unwrap().clone();
    batches
        .iter()
        .flat_map(|batch| {
            column(batch).as_string::<i32>().iter().map(|text| text.unwrap().to_owned()).collect::<Vec<_>>()
        })
        .collect()
}

pub(crate) const TAG: &str = "tag --type group --session-field room --time-field at --seed 1";

/// The IDs of the same rows as JSON lines.
fn expected_ids(rows: i64) -> Vec<String> {
    let line =
        |row| format!("{{\"room\":\"{}\",\"at\":{}}}", ["kitchen", "hall"][usize::from(row % 2 == 1)], NOON + row / 2);
    let lines = (0..rows).map(line).collect::<Vec<_>>().join("\n");
    let (_, out, _) = run(TAG, lines.as_bytes());
    let id = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].as_str().unwrap().to_owned();
    String::from_utf8(out).unwrap().lines().map(id).collect()
}

#[test]
fn parquet_keeps_its_columns_row_groups_compression_and_metadata() {
    let input = batch(1_000);
    let (status, out, err) = run(TAG, &parquet_bytes(&input, 300));
    assert_eq!((status, err.as_str()), (0, "tagged 1000 rows; no ID moved forward\n"));
    let builder = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(out.clone())).unwrap();
    let metadata = builder.metadata();
    let groups: Vec<_> =
        metadata.row_groups().iter().map(::parquet::file::metadata::RowGroupMetaData::num_rows).collect();
    assert_eq!(groups, [300, 300, 300, 100]);
    assert!(metadata.row_groups()[0].columns().iter().all(|column| column.compression() == Compression::SNAPPY));
    let pairs = metadata.file_metadata().key_value_metadata().unwrap();
    assert!(pairs.iter().any(|pair| pair.key == "owner" && pair.value.as_deref() == Some("chat")));

    let batches = read_parquet(out);
    assert_eq!(texts(&batches, "id"), expected_ids(1_000));
    let columns = [0, 1, 2, 3];
    let kept: Vec<_> = batches.iter().map(|batch| batch.project(&columns).unwrap()).collect();
    let whole = arrow_select::concat::concat_batches(&input.schema(), &kept).unwrap();
    assert_eq!(whole, input);
}

#[test]
fn arrow_files_and_streams_stay_what_they_are() {
    let input = batch(250);
    let (status, out, _) = run(TAG, &file_bytes(&input));
    assert_eq!(status, 0);
    let file: Vec<_> = FileReader::try_new(std::io::Cursor::new(out), None).unwrap().map(Result::unwrap).collect();
    let (status, out, _) = run(TAG, &stream_bytes(&input));
    assert_eq!(status, 0);
    let stream: Vec<_> = StreamReader::try_new(&out[..], None).unwrap().map(Result::unwrap).collect();
    for batches in [file, stream] {
        assert_eq!(texts(&batches, "id"), expected_ids(250));
        let kept: Vec<_> = batches.iter().map(|batch| batch.project(&[0, 1, 2, 3]).unwrap()).collect();
        assert_eq!(arrow_select::concat::concat_batches(&input.schema(), &kept).unwrap(), input);
    }
}

#[test]
fn each_unit_of_time_and_each_form_of_the_id_is_the_same_id() {
    let expected = expected_ids(4);
    let rooms = || Arc::new(StringArray::from(vec!["kitchen", "hall", "kitchen", "hall"])) as ArrayRef;
    let ms = [NOON, NOON, NOON + 1, NOON + 1];
    let times: [ArrayRef; 6] = [
        Arc::new(TimestampMillisecondArray::from(ms.to_vec())),
        // Rounded down.
        Arc::new(TimestampMicrosecondArray::from(ms.map(|ms| ms * 1_000 + 999).to_vec())),
        Arc::new(TimestampNanosecondArray::from(ms.map(|ms| ms * 1_000_000 + 999_999).to_vec())),
        Arc::new(Int64Array::from(ms.to_vec())),
        Arc::new(arrow_array::UInt64Array::from(ms.map(i64::cast_unsigned).to_vec())),
        Arc::new(StringArray::from(ms.map(|ms| ms.to_string()).to_vec())),
    ];
    for times in times {
        let name = times.data_type().to_string();
        let table = RecordBatch::try_from_iter([("room", rooms()), ("at", times)]).unwrap();
        let (_, out, err) = run(TAG, &parquet_bytes(&table, 9));
        assert_eq!(texts(&read_parquet(out), "id"), expected, "{name}: {err}");
    }
    let seconds = Arc::new(TimestampSecondArray::from(vec![NOON / 1_000; 4])) as ArrayRef;
    let table = RecordBatch::try_from_iter([("room", rooms()), ("at", seconds)]).unwrap();
    let (_, out, _) = run(TAG, &stream_bytes(&table));
    let stream: Vec<_> = StreamReader::try_new(&out[..], None).unwrap().map(Result::unwrap).collect();
    assert!(texts(&stream, "id").iter().all(|id| id.parse::<MessageId>().unwrap().timestamp_ms() == NOON as u64));

    let (_, out, _) = run(&format!("{TAG} --id-form bytes --hex-field h --uuid-field u"), &parquet_bytes(&batch(4), 9));
    let batches = read_parquet(out);
    let raw = batches[0].column_by_name("id").unwrap().as_fixed_size_binary().clone();
    for (row, id) in expected.iter().enumerate() {
        let id: MessageId = id.parse().unwrap();
        assert_eq!(raw.value(row), id.to_bytes());
        assert_eq!(texts(&batches, "h")[row], id.to_hex().to_string());
        assert_eq!(texts(&batches, "u")[row], id.to_uuid().to_string());
    }
    let (_, out, _) = run(&format!("{TAG} --id-form int"), &parquet_bytes(&batch(4), 9));
    let decimals =
        read_parquet(out)[0].column_by_name("id").unwrap().as_primitive::<arrow_array::types::Decimal128Type>().clone();
    assert_eq!(decimals.value(3), expected[3].parse::<MessageId>().unwrap().to_u128().cast_signed());
}

#[test]
fn check_and_stats_read_texts_and_bytes() {
    for (form, field) in [("", "id"), ("--id-form bytes", "id"), ("--id-field m", "m")] {
        let (_, table, _) = run(&format!("{TAG} {form}"), &parquet_bytes(&batch(500), 200));
        let (status, out, err) = run(&format!("check --id-field {field} --json"), &table);
        assert_eq!((status, err.as_str()), (0, ""));
        assert!(String::from_utf8(out).unwrap().starts_with("{\"lines\":500,\"valid\":500,\"invalid\":0,"));
        let (_, out, _) = run(&format!("stats --id-field {field} --json --time-field at"), &table);
        let counted: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(counted["valid"], 500);
        assert_eq!(counted["ahead"]["ahead"], 0);
        assert_eq!(counted["busiest"][0]["ids"], 250);
        let hash = SessionTag::new(SessionType::GROUP, "hall").session_hash().to_u32();
        assert!(counted["busiest"].as_array().unwrap().iter().any(|session| session["hash"] == hash));
    }
}

#[test]
fn a_bad_row_ends_a_table_that_can_be_read_or_is_left_out() {
    let rooms = StringArray::from(vec![Some("a"), None, Some("b")]);
    let table = RecordBatch::try_from_iter([("room", Arc::new(rooms) as ArrayRef)]).unwrap();
    let input = parquet_bytes(&table, 9);
    let (status, out, err) = run("tag --session-field room", &input);
    assert_eq!(
        (status, err.as_str()),
        (1, "error: row 2: field \"room\": expected a string or an integer, found null\n")
    );
    assert_eq!(texts(&read_parquet(out), "room"), ["a"]);
    let (status, out, _) = run("tag --session-field room --keep-going", &input);
    assert_eq!(status, 1);
    assert_eq!(texts(&read_parquet(out), "room"), ["a", "b"]);
}

/// A folder with a virtual environment of Python that has pyarrow.
const PYARROW: &str = "IMID_PYARROW";

#[test]
fn files_of_pyarrow_are_read_and_pyarrow_reads_the_output() {
    let python = std::env::var_os(PYARROW).map_or("python3".into(), |folder| Path::new(&folder).join("bin/python"));
    let folder = tempfile::tempdir().unwrap();
    let python = |script: &str| std::process::Command::new(&python).args(["-c", script]).current_dir(&folder).output();
    let write = "
import pyarrow as pa, pyarrow.parquet as pq, pyarrow.feather as feather
table = pa.table({'room': pa.array(['kitchen', 'hall'] * 500).dictionary_encode(),
                  'at': pa.array([1763640000000 + n // 2 for n in range(1000)], pa.timestamp('ms', 'UTC')),
                  'deep': [{'list': [n, None]} for n in range(1000)],
                  'price': pa.array([None] * 1000, pa.decimal128(20, 3))}, metadata={'owner': 'chat'})
pq.write_table(table, 'in.parquet', row_group_size=300, compression='zstd')
feather.write_feather(table, 'in.arrow', compression='lz4')
";
    match python(write) {
        Ok(ran) if ran.status.success() => {}
        _ => {
            return crate::skip(
                "files_of_pyarrow_are_read_and_pyarrow_reads_the_output",
                "there is no python3 with pyarrow (IMID_PYARROW names its environment)",
            );
        }
    }
    for name in ["parquet", "arrow"] {
        let output = command().args(TAG.split(' ')).arg(folder.path().join(format!("in.{name}"))).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        fs::write(folder.path().join(format!("out.{name}")), output.stdout).unwrap();
    }
    let read = "
import pyarrow.parquet as pq, pyarrow.feather as feather
for read, name in [(pq.read_table, 'parquet'), (feather.read_table, 'arrow')]:
    before, after = read('in.' + name), read('out.' + name)
    assert after.drop(['id']).equals(before, check_metadata=True), (before.schema, after.schema)
    ids = after['id'].to_pylist()
    assert ids == sorted(set(ids))
    print(*ids, sep='\\n')
assert pq.ParquetFile('out.parquet').metadata.num_row_groups == 4
";
    let ran = python(read).unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let ids: Vec<_> = String::from_utf8(ran.stdout).unwrap().lines().map(str::to_owned).collect();
    assert_eq!(ids, [expected_ids(1_000), expected_ids(1_000)].concat());
}
