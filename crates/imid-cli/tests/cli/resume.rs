//! `tag --output` and `tag --resume`.

use std::fs;
use std::path::Path;

use crate::{Ran, command, imid_args};

const TAG: [&str; 10] =
    ["tag", "--any-time", "--type", "group", "--session-field", "room", "--time-field", "at", "--seed", "1"];

fn tag(more: &[&str], input: &str) -> Ran {
    imid_args(&[&TAG, more].concat(), input)
}

/// Continues a run that wrote `part`. `out` is the whole file, or else the part.
fn resume(part: &[u8], more: &[&str], input: &str) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let part_path = folder.path().join("out.part");
    fs::write(&part_path, part).unwrap();
    let mut ran = tag(&[more, &["--output", path.to_str().unwrap(), "--resume"]].concat(), input);
    assert_eq!(ran.out, "");
    assert_ne!(path.exists(), part_path.exists(), "{}", ran.err);
    ran.out = fs::read_to_string(if path.exists() { &path } else { &part_path }).unwrap();
    // Quoted, with the separators of Windows escaped.
    ran.err = ran.err.replace(&folder.path().join("").display().to_string().replace('\\', "\\\\"), "");
    ran
}

/// Lines with odd spacing, CRLF and blank lines. Some IDs move forward, and the last millisecond has many messages.
fn lines() -> Vec<String> {
    let mut lines: Vec<_> = (0..40)
        .map(|n| format!("{{ \"room\":\"{}\", \"at\":{}}}\r\n", n % 3, 1_763_640_000_000_u64 - n * 7 % 5))
        .collect();
    lines.insert(20, "\n".into());
    lines.insert(20, " \r\n".into());
    lines.push("\n".into());
    lines
}

#[test]
fn a_run_that_is_resumed_after_any_line_is_the_whole_run() {
    let lines = lines();
    for form in [&["--id-form", "text"][..], &["--id-form", "int,hex", "--id-field", "id,h"], &["--id-field", "m.id"]] {
        let whole = tag(form, &lines.concat()).out;
        let written: Vec<_> = whole.split_inclusive('\n').collect();
        assert_eq!(written.len(), lines.len());
        for cut in 0..=lines.len() {
            let part = written[..cut].concat();
            let rest = resume(part.as_bytes(), form, &lines.concat());
            assert_eq!(rest.status, 0, "{}", rest.err);
            assert_eq!(rest.out, whole, "cut after line {cut}");
        }
    }
}

#[test]
fn a_run_over_several_blocks_is_resumed_with_the_line_numbers_of_the_whole_input() {
    let line =
        |n: u64| format!("{{\"room\":\"{}\",\"at\":{},\"text\":\"{n:0100}\"}}\n", n % 9, 1_763_640_000_000 + n / 9_000);
    // The last line is bad.
    let lines = (0..12_000).map(line).collect::<String>() + "x\n";
    let whole = tag(&[], &lines);
    assert_eq!(whole.error_line(), "error: line 12001: expected a JSON object, found \"x\"");
    for cut in [1, 5_000, 11_999, 12_000] {
        let part: String = whole.out.split_inclusive('\n').take(cut).collect();
        let rest = resume(part.as_bytes(), &[], &lines);
        assert_eq!(rest.error_line(), whole.error_line());
        assert!(rest.out == whole.out, "cut after line {cut}");
    }
}

#[test]
fn csv_is_resumed_after_any_record() {
    let records =
        ["room,at,text\n", "a,1763640000000,\"tea,\nplease\"\n", "\n\r\nb,1763640000000,\"\"\"\n\"\r\n", "c,5,x\n"];
    let input = records.concat() + "\n\n";
    let csv = ["--in", "csv"];
    let whole = tag(&csv, &input).out;
    for cut in 0..=records.len() {
        let part = tag(&csv, &records[..cut].concat()).out;
        assert!(whole.starts_with(&part));
        // The blank lines after the record are in the output, or some of them are.
        let blank = whole[part.len()..].bytes().take_while(|byte| b"\r\n".contains(byte)).count();
        for end in part.len()..=part.len() + blank {
            let rest = resume(&whole.as_bytes()[..end], &csv, &input);
            assert_eq!(rest.status, 0, "{}", rest.err);
            assert_eq!(rest.out, whole, "cut after record {cut}");
        }
    }
}

#[test]
fn an_output_that_is_cut_at_any_byte_is_resumed() {
    let csv = ["--in", "csv", "--id-form", "int"];
    for line_end in ["\n", "\r\n"] {
        // The header and a record have line ends in quotes.
        let records = ["\"the\nroom\",room,at", "\"tea,\r\n\nplease\",a,1763640000000\n", "\"\"\"\",b,1763640000001"];
        let input = records.map(|record| record.to_owned() + line_end).concat();
        let whole = tag(&csv, &input).out;
        for cut in 0..whole.len() {
            let rest = resume(&whole.as_bytes()[..cut], &csv, &input);
            assert_eq!((rest.status, rest.out), (0, whole.clone()), "{:?}: {}", &whole[..cut], rest.err);
        }
    }
    let lines = lines()[..2].concat();
    let whole = tag(&[], &lines).out;
    for cut in 0..whole.len() {
        let rest = resume(&whole.as_bytes()[..cut], &[], &lines);
        assert_eq!((rest.status, rest.out), (0, whole.clone()), "{:?}: {}", &whole[..cut], rest.err);
    }
}

#[test]
fn an_output_of_another_input_is_an_error_and_does_not_change() {
    let input = lines().concat();
    let whole = tag(&[], &input).out;
    let error = |part: &[u8], more: &[&str], input: &str| {
        let ran = resume(part, more, input);
        assert_eq!((ran.status, ran.out.as_bytes()), (1, part));
        let error = ran.error_line().strip_prefix("error: \"out.part\" is of another run: ").unwrap();
        error
            .strip_suffix("; --resume needs the input and the options of the first run; or delete the file")
            .unwrap()
            .to_owned()
    };
    assert_eq!(error(b"{\"a\":1}\n", &[], &input).split(',').next(), Some("expected \" \\\"room\\\":\\\"0\\\""));
    let first = whole.split_inclusive('\n').next().unwrap();
    let expected = format!("expected its end at {}, found more", whole.len());
    assert_eq!(error((whole.clone() + first).as_bytes(), &[], &input), expected);
    // Each byte is compared: one that is changed, left out or added anywhere.
    for at in (0..whole.len()).step_by(97) {
        let bytes = whole.as_bytes();
        let changed = [&bytes[..at], b"~", &bytes[at + 1..]].concat();
        assert!(error(&changed, &[], &input).contains(&format!(" at {at}, found \"~")), "{at}");
        error(&[&bytes[..at], b"~", &bytes[at..]].concat(), &[], &input);
        error(&[&bytes[..at], &bytes[at + 1..]].concat(), &[], &input);
    }
    let input = "room,at\na,5\nb,6\n";
    let csv = |part: &str, input: &str| error(part.as_bytes(), &["--in", "csv"], input);
    let whole = tag(&["--in", "csv"], input).out;
    let header = csv("room,at\n", input);
    assert!(header.starts_with("expected \",id\\n") && header.ends_with(" at 7, found \"\\n\""), "{header}");
    assert!(csv(&whole, "room,at\na,5\n").starts_with("expected its end at "));
    assert!(csv(&whole, "room,at\na,5\nc,6\nd,6\n").starts_with("expected \"c,6,"));
    for wrong in [&["--resume"][..], &["--resume", "-o", "x", "--seed"]] {
        assert_eq!(imid_args(&[&TAG, wrong].concat(), "").status, 2, "{wrong:?}");
    }
    // Without a seed, the IDs of the first run cannot be made again.
    assert_eq!(imid_args(&[&TAG[..TAG.len() - 2], &["--resume", "-o", "x"]].concat(), "").status, 2);
}

#[test]
fn a_run_that_skipped_bad_lines_is_resumed() {
    let keep = ["--keep-going"];
    let input = "x\n".to_owned() + &lines().concat();
    let whole = tag(&keep, &input).out;
    let ran = resume(&whole.as_bytes()[..100], &keep, &input);
    // The file is whole, although there was a bad line.
    assert_eq!((ran.status, ran.out), (1, whole));
}

#[test]
fn a_run_with_other_options_does_not_continue_the_part() {
    let lines: Vec<_> = (0..20)
        .map(|n| {
            let (n, t) = (n % 3, 1_763_640_000_000_u64 + n);
            format!("{{\"room\":\"r{n}\",\"user\":\"u{n}\",\"kind\":\"group\",\"at\":{t},\"seen\":{}}}\n", t + 7)
        })
        .collect();
    let (csv_args, plain) = (["--in", "csv"], &[][..]);
    let rows = (0..20)
        .map(|n| format!("r{0},u{0},group,{1},{2}\n", n % 3, 1_763_640_000_000_u64 + n, 1_763_640_001_000_u64 + n));
    let table = "room,user,kind,at,seen\n".to_owned() + &rows.collect::<String>();
    for (args, input) in [(plain, lines.concat()), (&csv_args, table)] {
        let run = |options: &[&str], part: Option<&str>| {
            let mut all = vec!["--session-field", "room", "--type", "group", "--time-field", "at"];
            all.extend(args);
            // An option of the test replaces the same one, and `-` removes it.
            let mut all: Vec<_> = all.chunks(2).map(<[_]>::to_vec).collect();
            for option in options.chunks(2) {
                all.retain(|other| other[0] != option[0]);
                all.extend((option[1] != "-").then(|| option.to_vec()));
            }
            let mut all = [vec![vec!["tag"]], all].concat().concat();
            let folder = tempfile::tempdir().unwrap();
            let (out, part_path) = (folder.path().join("out"), folder.path().join("out.part"));
            if let Some(part) = part {
                fs::write(&part_path, part).unwrap();
                all.extend(["--resume", "-o", out.to_str().unwrap()]);
            }
            let ran = imid_args(&all, input.as_str());
            let left = if ran.status == 0 { fs::read_to_string(&out) } else { fs::read_to_string(&part_path) };
            (ran, left.unwrap_or_default())
        };
        let whole = run(&["--seed", "1"], None).0.out;
        let part: String = whole.split_inclusive('\n').take(8).collect();
        assert_eq!(run(&["--seed", "1"], Some(&part)).1, whole);
        for options in [
            &["--session-field", "user"][..],
            &["--session-field", "{room}:{user}"],
            &["--type", "private"],
            &["--time-field", "seen"],
            &["--seed", "2"],
            &["--id-form", "hex"],
            &["--id-field", "m"],
            &["--id-field", "id,m", "--id-form", "text,hex"],
            &["--dialect", "rongcloud"],
            &["--after", "EUN6-KDW2-5J2G-DUMH"],
        ] {
            let options = [&["--seed", "1"], options].concat();
            let (ran, left) = run(&options, Some(&part));
            assert!(
                ran.status == 1 && ran.err.contains("part\" is of another run: expected "),
                "{options:?}: {}",
                ran.err
            );
            assert_eq!(left, part, "{options:?}");
        }
        // The options of a run that came after another one are those of the run that continues it.
        let after = ["--seed", "1", "--after", "EUN6-KDW2-5J2G-DUMH"];
        let whole = run(&after, None).0.out;
        let part: String = whole.split_inclusive('\n').take(8).collect();
        assert_eq!(run(&after, Some(&part)).1, whole);
    }
}

#[test]
fn a_file_gets_its_name_when_it_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let (out, part) = (folder.path().join("out"), folder.path().join("out.part"));
    let to_out = |more: &[&str], input: &str| tag(&[more, &["-o", out.to_str().unwrap()]].concat(), input);
    let lines = lines().concat();
    let ran = to_out(&[], &(lines.clone() + "x\n"));
    assert_eq!((ran.status, out.exists()), (1, false), "{}", ran.err);
    let error = to_out(&[], &lines).error(1);
    let hint = "an earlier run ended early; with its --seed, --resume continues it; without one, delete the file";
    assert!(error.ends_with(&format!("out.part\" exists: {hint}")), "{error}");
    assert_eq!(to_out(&["--resume"], &lines).status, 0);
    assert_eq!((fs::read_to_string(&out).unwrap(), part.exists()), (tag(&[], &lines).out, false));
    for resume in [&[][..], &["--resume"]] {
        assert!(to_out(resume, &lines).error(1).ends_with("out\" exists, and is not replaced"));
    }
    // A run that writes nothing leaves nothing.
    fs::remove_file(&out).unwrap();
    for (more, input) in [(&[][..], "x\n"), (&["--in", "csv"], "at\n5\n")] {
        assert_ne!(to_out(more, input).status, 0);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{more:?}");
    }
    // Without --resume, and with bad lines.
    assert_eq!(to_out(&["--keep-going"], &("x\n".to_owned() + &lines)).status, 1);
    assert_eq!(fs::read_to_string(&out).unwrap(), tag(&[], &lines).out);
    let missing = folder.path().join("no/out");
    let ran = tag(&["-o", missing.to_str().unwrap()], &lines);
    assert!(ran.error(1).starts_with("cannot write "));
}

#[test]
#[cfg(unix)]
fn an_input_is_never_an_output() {
    use std::fs::File;
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("in");
    let text = "{\"room\":\"a\",\"at\":5}\n";
    fs::write(&input, text).unwrap();
    let open = |path: &Path| File::options().read(true).append(true).open(path).unwrap();
    let run = |args: &[&str], from_stdin: bool, to_input: bool| {
        let mut command = std::process::Command::new(command().get_program());
        command.args(args).current_dir(folder.path());
        if from_stdin {
            command.stdin(open(&input));
        } else {
            command.arg("in");
        }
        if to_input {
            command.stdout(open(&input));
        }
        let ran = command.output().unwrap();
        assert_eq!(fs::read_to_string(&input).unwrap(), text, "{args:?}");
        assert_eq!(ran.status.code(), Some(2), "{args:?}");
        String::from_utf8(ran.stderr).unwrap()
    };
    for args in [&TAG[..], &["check"], &["stats"], &["grep"], &["inspect"], &["inspect", "--shards", "8"]] {
        assert_eq!(run(args, true, true), "error: standard input is the input and the output\n", "{args:?}");
    }
    for args in [&TAG[..], &["check"], &["stats"], &["grep"]] {
        assert_eq!(run(args, false, true), "error: \"in\" is the input and the output\n", "{args:?}");
    }
    fs::hard_link(&input, folder.path().join("out.part")).unwrap();
    let args = [&TAG[..], &["-o", "out", "--resume"]].concat();
    for from_stdin in [true, false] {
        assert_eq!(run(&args, from_stdin, false), "error: \"out.part\" is the input and the output\n");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error_that_names_the_last_whole_line() {
    let folder = tempfile::tempdir().unwrap();
    let lines = "{\"room\":\"a\",\"at\":5}\n".repeat(100_000);
    fs::write(folder.path().join("in"), &lines).unwrap();
    // A limit for files is as good as a full disk.
    let run = |more: &str| {
        let script = format!("trap '' XFSZ; ulimit -f 2000; '{}' {} {more}", env!("CARGO_BIN_EXE_imid"), TAG.join(" "));
        let ran = std::process::Command::new("sh").args(["-c", &script]).current_dir(folder.path()).output().unwrap();
        assert_eq!(ran.status.code(), Some(1));
        String::from_utf8(ran.stderr).unwrap()
    };
    for (more, name, file) in [("in > out", "standard output", "out"), ("-o new in", "\"new.part\"", "new.part")] {
        let err = run(more);
        let written = fs::read_to_string(folder.path().join(file)).unwrap();
        let problem =
            format!("error: cannot write to {name}: File too large (os error 27); the output is whole up to line ");
        let last = err.strip_prefix(&problem).unwrap_or_else(|| panic!("{err}")).trim_end();
        let (line, id) = last.split_once(", which has the ID ").unwrap();
        let line: usize = line.parse().unwrap();
        assert!(
            line > 1_000 && written.lines().nth(line - 1).unwrap().ends_with(&format!("\"id\":\"{id}\"}}")),
            "{err}"
        );
    }
    let first = run("in > /dev/full");
    assert!(first.ends_with("No space left on device (os error 28); no line is certain to be whole\n"), "{first}");
    let out = folder.path().join("new");
    let rest = tag(&["-o", out.to_str().unwrap(), "--resume"], &lines);
    assert_eq!(rest.status, 0, "{}", rest.err);
    assert!(fs::read_to_string(out).unwrap() == tag(&[], &lines).out);
}
