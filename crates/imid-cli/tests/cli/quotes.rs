//! CSV whose quotes do not match, because the file is cut off or a quote is missing or left over. The judge is the strict
//! reader of Python.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::{Ran, imid, imid_args, skip};

const TAG: &str = "tag --session-field room --time-field at --any-time --seed 1 --in csv";

/// The rows that a strict reader finds before its first error, and whether it found one.
struct Judged {
    rows: Vec<Vec<String>>,
    is_valid: bool,
}

const JUDGE: &str = r#"
import csv, io, json, sys
verdicts = []
for text in json.load(sys.stdin):
    rows, valid = [], True
    try:
        for row in csv.reader(io.StringIO(text, newline=""), strict=True):
            if row:
                rows.append(row)
    except csv.Error:
        valid = False
    verdicts.append([rows, valid])
json.dump(verdicts, sys.stdout)
"#;

/// Returns what Python finds in each of these files, or `None` without Python.
fn judge(files: &[String]) -> Option<Vec<Judged>> {
    let python = Command::new("python3").args(["-c", JUDGE]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut python = python.ok()?;
    python.stdin.take().unwrap().write_all(&serde_json::to_vec(files).unwrap()).unwrap();
    let verdicts: Vec<Value> = serde_json::from_slice(&python.wait_with_output().unwrap().stdout).unwrap();
    let text = |field: &Value| field.as_str().unwrap().to_owned();
    let row = |row: &Value| row.as_array().unwrap().iter().map(text).collect();
    let verdict = |verdict: &Value| Judged {
        rows: verdict[0].as_array().unwrap().iter().map(row).collect(),
        is_valid: verdict[1].as_bool().unwrap(),
    };
    Some(verdicts.iter().map(verdict).collect())
}

/// Returns the number of rows, with the header, that must be tagged: those before the first one with another number of
/// fields or with a time that is not a number.
fn good_rows(rows: &[Vec<String>]) -> usize {
    let Some(header) = rows.first().filter(|row| ["room", "at"].iter().all(|name| row.contains(&(*name).to_owned())))
    else {
        return 0;
    };
    let is_good = |row: &Vec<String>| row.len() == header.len() && row[1].parse::<u64>().is_ok();
    1 + rows[1..].iter().take_while(|row| is_good(row)).count()
}

#[test]
fn a_cut_or_a_stray_quote_at_any_byte_is_an_error_wherever_a_strict_reader_has_one() {
    let file = "room,at,text\r\na,11,\"hi\"\nb,12,\"x \"\"y\"\",\r\nz\"\r\n\n\"c\",13,5\" d\n\"\",14,\"\"\n";
    let mut files: Vec<String> = (0..=file.len()).map(|cut| file[..cut].to_owned()).collect();
    files.extend((0..=file.len()).map(|at| format!("{}\"{}", &file[..at], &file[at..])));
    files.extend((0..file.len()).map(|at| format!("{}{}", &file[..at], &file[at + 1..])));
    let Some(verdicts) = judge(&files) else { return skip("quotes", "python3 is not installed") };
    let ran: Vec<Ran> = files.iter().map(|file| imid(TAG, file.as_str())).collect();
    let outputs: Vec<String> = ran.iter().map(|ran| ran.out.clone()).collect();
    let (mut valid, mut torn, mut without_room) = (0, 0, 0);
    for ((file, judged), (ran, output)) in
        files.iter().zip(verdicts).zip(ran.iter().zip(judge(&outputs).expect("it was there")))
    {
        // Python does not say whether an empty room is in quotes. Without them it is missing.
        if ran.err.contains("is missing: found an empty field") {
            without_room += 1;
            continue;
        }
        let good = good_rows(&judged.rows);
        let is_good = judged.is_valid && good == judged.rows.len();
        assert_eq!(ran.status, i32::from(!is_good), "{file:?}: {}", ran.err);
        // All rows before the error, and nothing else.
        let written = output.rows.iter().map(|row| &row[..row.len() - 1]);
        assert!(output.is_valid && written.eq(&judged.rows[..good]), "{file:?}: {:?}", ran.out);
        if !is_good {
            assert!(ran.err.starts_with("error: line "), "{file:?}: {}", ran.err);
        }
        (valid, torn) = (valid + usize::from(is_good), torn + usize::from(!judged.is_valid));
    }
    assert!(valid > 50 && torn > 50 && without_room < 5, "{valid} valid, {torn} torn, {without_room} without a room");
}

#[test]
fn the_error_names_the_line_in_which_the_open_record_begins() {
    let row = |n: u64, text: &str| format!("r,{},{text}\n", 1_763_640_000_000 + n);
    let table = |bad: &str| {
        let rows = (0..1_000).map(|n| row(n, if n == 499 { bad } else { "hello" }));
        "room,at,text\n".to_owned() + &rows.collect::<String>()
    };
    let hint = "is the input cut off, or is a quote missing?";
    let expected = format!(
        "line 501: field \"text\" of the record that begins here: expected its closing quote, found the end of the input; {hint}"
    );
    let run = imid(TAG, table("\"hello"));
    assert_eq!((run.status, run.out.lines().count()), (1, 500), "{}", run.err);
    let last = "; the output ends with line 500, which has the ID ";
    assert!(run.err.starts_with(&format!("error: {expected}{last}")), "{}", run.err);
    let run = imid(TAG, table("\"hello\n\" world\""));
    let hint = "a quote in a quoted field is written twice";
    let expected = format!(
        "line 501: field \"text\" of the record that begins here: expected ',' or a line end after its closing quote, found ' ' in line 502; {hint}"
    );
    assert_eq!((run.status, run.out.lines().count()), (1, 500), "{}", run.err);
    assert!(run.err.starts_with(&format!("error: {expected}{last}")), "{}", run.err);
    // There is no other way to find the ends of the rows.
    assert_eq!(imid(&format!("{TAG} --keep-going"), table("\"hello")).status, 1);

    let whole = imid(TAG, table("hello")).out;
    let torn = whole.replacen(",hello,", ",\"hello,", 1);
    for command in ["check", "stats"] {
        let error = imid(&format!("{command} --in csv"), torn.as_str()).error(1);
        assert!(error.starts_with("line 2: field \"text\" of the record that begins here: "), "{command}: {error}");
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        fs::write(path("a.csv"), &whole).unwrap();
        fs::write(path("b.csv"), &torn).unwrap();
        let error = imid_args(&[command, &path("a.csv"), &path("b.csv")], "").error(1);
        assert!(error.starts_with(&format!("{}: line 2: field \"text\"", path("b.csv"))), "{command}: {error}");
    }
}

#[test]
fn a_run_continues_after_the_torn_record_is_mended() {
    let whole = "room,at,text\na,11,\"hello world\"\nb,12,\"x\ny\"\nc,13,z\n";
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.csv");
    let args: Vec<_> = TAG.split(' ').chain(["--resume", "-o", out.to_str().unwrap()]).collect();
    let run = imid_args(&args, whole.replacen("world\"", "world", 1));
    assert!(run.status == 1 && run.err.contains("line 2: "), "{}", run.err);
    assert!(!out.exists());
    let run = imid_args(&args, whole);
    assert_eq!((run.status, fs::read_to_string(out).unwrap()), (0, imid(TAG, whole).out), "{}", run.err);
}
