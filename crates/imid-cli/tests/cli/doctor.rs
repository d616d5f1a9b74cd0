//! `imid lane doctor`, on registers in files, and on the servers that `ci/services.sh` starts.

#[path = "../../../imid-lease/tests/tls/certificates.rs"]
#[allow(dead_code, reason = "other tests expire and replace certificates")]
mod certificates;
#[cfg(feature = "etcd")]
#[path = "../../../imid-lease/tests/support/member.rs"]
mod member;

use std::env;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use imid_lease::register::{FileRegister, Register};
use imid_lease::{LaneOptions, LeasedGenerator};
use serde_json::Value;
use tempfile::TempDir;

use crate::{Ran, imid_args, skip};
use certificates::Files;

/// Opens a space of two lanes in a file.
fn lease(path: &Path, holder: &str) -> LeasedGenerator {
    let options = LaneOptions::new().lane_bits(1).holder(holder);
    let ids = LeasedGenerator::open(FileRegister::shared(path).unwrap(), options).unwrap();
    ids.wait_until_open(Duration::from_secs(15)).unwrap();
    ids
}

fn doctor(path: &Path, more: &[&str]) -> Ran {
    let url = format!("file:{}", path.display());
    imid_args(&[&["lane", "doctor", "--register", &url], more].concat(), "")
}

fn folder() -> (TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ids");
    (folder, path)
}

/// Returns what stands after a word at the beginning of lines.
fn lines<'a>(out: &'a str, word: &str) -> Vec<&'a str> {
    out.lines().filter_map(|line| line.strip_prefix(word)).map(str::trim).collect()
}

// A register in a file is weak on Windows, and the doctor names that.
#[cfg(not(windows))]
#[test]
fn a_good_register_needs_no_change_and_is_only_read() {
    let (_folder, path) = folder();
    let ids = lease(&path, "web-1");
    let space_id = ids.status().space_id.unwrap();
    while ids.status().register_id.is_none() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let register_id = ids.status().register_id.unwrap();
    ids.close();
    let before = fs::read(&path).unwrap();
    let out = doctor(&path, &[]).ok();
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(lines(&out, "promise"), ["strong"]);
    assert_eq!(lines(&out, "register"), [register_id]);
    assert_eq!(lines(&out, "writes"), ["not measured; --write measures them"]);
    assert_eq!(lines(&out, "space"), [format!("lanes ({space_id}): 2 lanes of imid-80, 0 held, 1 never used")]);
    assert_eq!(lines(&out, "clock"), ["the store has no clock"]);
    assert_eq!(lines(&out, "change"), ["nothing that this command can see"], "{out}");
    assert_eq!(lines(&out, "not seen").len(), 3);
    assert!(lines(&out, "reads")[0].contains(" ms (median of 10), at most "), "{out}");
}

#[test]
fn a_write_touches_one_record_that_no_lease_uses() {
    let (_folder, path) = folder();
    lease(&path, "web-1").close();
    let records = || FileRegister::read_only(&path).unwrap().list("").unwrap();
    let before = records();
    for _ in 0..2 {
        let out = doctor(&path, &["--write"]).ok();
        assert!(lines(&out, "writes")[0].ends_with(", of the record doctor"), "{out}");
        assert_eq!(lines(&out, "space").len(), 1);
    }
    let (doctor, others): (Vec<_>, Vec<_>) = records().into_iter().partition(|(key, _)| key == "doctor");
    assert_eq!((others, doctor.len()), (before, 1));
}

// A register in a file is weak on Windows, and the doctor names that.
#[cfg(not(windows))]
#[test]
fn a_segment_can_have_the_name_of_the_record_of_a_space() {
    let (_folder, path) = folder();
    lease(&path, "web-1").close();
    for name in ["meta", "orders"] {
        let line = "imid-lease/1 line next=11 token=0000000000000abc";
        let mut register = FileRegister::shared(&path).unwrap();
        assert!(register.compare_and_set(&format!("seg/{name}"), None, line).unwrap());
    }
    let out = doctor(&path, &[]).ok();
    assert_eq!(lines(&out, "change"), ["nothing that this command can see"], "{out}");
    assert_eq!((lines(&out, "space").len(), lines(&out, "segments")), (1, vec!["2"]), "{out}");
}

#[test]
fn an_id_of_the_register_that_cannot_be_read_hides_no_lane() {
    let (_folder, path) = folder();
    let ids = lease(&path, "web-1");
    while ids.status().register_id.is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    ids.close();
    let mut register = FileRegister::shared(&path).unwrap();
    let seen = register.read("register").unwrap();
    assert!(register.compare_and_set("register", seen.as_deref(), "imid-lease/2 register").unwrap());
    let out = doctor(&path, &[]).ok();
    assert_eq!(lines(&out, "space").len(), 1, "{out}");
    assert!(
        lines(&out, "change")[0].starts_with("the ID of the register cannot be read: cannot read a record"),
        "{out}"
    );
    let url = format!("file:{}", path.display());
    let out = imid_args(&["lane", "list", "--register", &url], "").ok();
    assert!(out.starts_with("register whose ID cannot be read (") && out.contains("2 lanes of imid-80"), "{out}");
    let out = imid_args(&["lane", "list", "--json", "--register", &url], "").ok();
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap()["register_id"], Value::Null);
}

#[test]
fn three_quarters_of_the_lanes_and_lanes_without_a_description_are_named() {
    let (_folder, path) = folder();
    let ceiling_ms = imid::clock::Clock::now_ms(&imid::clock::SystemClock).unwrap() + 60_000;
    let url = format!("file:{}", path.display());
    let none_ahead = ["--horizon", "1ms", "--max-skew", "0ms"];
    imid_args(&[&["lane", "create", "--bits", "4", "--register", &url], &none_ahead[..]].concat(), "").ok();
    let mut register = FileRegister::shared(&path).unwrap();
    let mut hold = |space: &str, lane: u32| {
        let record = "imid-lease/1 lane version=1 token=0000000000000001 holder=web horizon=60000";
        let text = format!("{record} ceiling={ceiling_ms} held");
        let key = format!("{space}/1/{lane:05}");
        let seen = register.read(&key).unwrap();
        assert!(register.compare_and_set(&key, seen.as_deref(), &text).unwrap());
    };
    (0..11).for_each(|lane| hold("lanes", lane));
    let changes = || lines(&doctor(&path, &[]).ok(), "change").into_iter().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(changes(), ["nothing that this command can see"]);
    hold("lanes", 11);
    (0..2).for_each(|lane| hold("lost", lane));
    let found = changes();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("12 of 16 lanes of lanes are held"), "{found:?}");
    assert!(found[1].starts_with("the space lost has lanes and no record lost/meta"), "{found:?}");
    (12..15).for_each(|lane| hold("lanes", lane));
    assert!(!changes().iter().any(|change| change.starts_with("each lane")), "one is free");
    hold("lanes", 15);
    assert!(changes()[0].starts_with("each lane of lanes begins more than 1 s ahead"), "{:?}", changes());
}

// A register in a file is weak on Windows, and the doctor names that.
#[cfg(not(windows))]
#[test]
fn a_space_that_was_just_created_needs_no_change_and_one_that_begins_in_an_hour_does() {
    let (_folder, path) = folder();
    let url = format!("file:{}", path.display());
    imid_args(&["lane", "create", "--bits", "3", "--register", &url], "").ok();
    let out = doctor(&path, &[]).ok();
    assert_eq!(lines(&out, "change"), ["nothing that this command can see"], "{out}");
    assert!(lines(&out, "space")[0].contains(", created or recovered to begin in 1"), "{out}");
    assert_eq!(
        imid_args(&["lane", "recover", "--horizon", "1h", "--max-skew", "5s", "--register", &url], "").status,
        0
    );
    let out = doctor(&path, &[]).ok();
    let changes = lines(&out, "change");
    assert!(changes.len() == 1 && changes[0].starts_with("lanes was created or recovered to begin 36"), "{out}");
}

/// Whoever replaces the description of a space by hand does not close its lanes.
#[test]
fn a_holder_that_the_description_does_not_know_is_named() {
    let (_folder, path) = folder();
    let ids = lease(&path, "web-1");
    let mut register = FileRegister::shared(&path).unwrap();
    let meta = register.read("lanes/meta").unwrap().unwrap();
    let (key, _) = register.list("lanes/1/").unwrap().remove(0);
    let strays = || {
        let out = doctor(&path, &[]).ok();
        lines(&out, "change")
            .into_iter()
            .filter(|change| change.contains("does not describe"))
            .map(str::to_owned)
            .collect()
    };
    let found: Vec<String> = strays();
    assert_eq!(found, Vec::<String>::new());
    let other = meta.replace("era=1", "era=2");
    assert!(register.compare_and_set("lanes/meta", Some(&meta), &other).unwrap());
    let expected = format!(
        "1 lanes of lanes are held that lanes/meta does not describe (2 lanes, era 2), such as {key} by web-1: it was replaced, and \
         IDs can be duplicated; stop these holders"
    );
    assert_eq!(strays(), [expected]);
    // Fewer lanes in the same era.
    let fewer = meta.replace("bits=1", "bits=0");
    assert!(register.compare_and_set("lanes/meta", Some(&other), &fewer).unwrap());
    assert_eq!(strays().len(), usize::from(key.ends_with('1')));
    ids.close();
    assert_eq!(strays(), Vec::<String>::new());
}

// A register in a file is weak on Windows, and the doctor names that.
#[cfg(not(windows))]
#[test]
fn what_needs_somebody_is_named() {
    let (_folder, path) = folder();
    let (one, two) = (lease(&path, "web-1"), lease(&path, "web-2"));
    let out = doctor(&path, &[]).ok();
    let changes = lines(&out, "change");
    assert_eq!(changes.len(), 2, "{out}");
    assert!(changes[0].starts_with("each lane of lanes begins "), "{out}");
    assert_eq!(changes[1], "no lane of lanes is free, so no other process can start: see `imid lane resize`");
    one.close();
    two.close();

    let mut register = FileRegister::shared(&path).unwrap();
    let (key, text) = register.list("lanes/").unwrap().into_iter().find(|(_, text)| text.contains(" lane ")).unwrap();
    let ceiling = text.split(' ').find(|field| field.starts_with("ceiling=")).unwrap();
    let cases = [
        (text.replace(ceiling, "ceiling=4398046511103"), " ms ahead, and its horizon is 10000 ms: a clock was wrong"),
        (text.replace(ceiling, "ceiling=5").replace(" free", " held"), "1 holders in lanes have not renewed in time"),
        ("imid-lease/9 lane".to_owned(), "of lanes cannot be read: "),
    ];
    let mut seen = text;
    for (record, expected) in cases {
        assert!(register.compare_and_set(&key, Some(&seen), &record).unwrap());
        seen = record;
        let out = doctor(&path, &[]).ok();
        let changes = lines(&out, "change");
        assert!(changes.len() == 1 && changes[0].contains(expected), "{expected}: {out}");
    }
    // A description of another version does not hide the other spaces.
    assert!(register.compare_and_set("other/meta", None, "imid-lease/9 meta").unwrap());
    let out = doctor(&path, &["--space", "third"]).ok();
    assert!(lines(&out, "change").iter().any(|change| change.starts_with("the space other cannot be read: ")), "{out}");
    assert!(lines(&out, "space").contains(&"third is not in this register"), "{out}");
}

/// Somebody has deleted the rows. A second register must not come of it.
#[test]
fn after_records_were_deleted_the_doctor_says_what_to_do_in_order() {
    let (_folder, path) = folder();
    let mut register = FileRegister::shared(&path).unwrap();
    register.compare_and_set("other/meta", None, "imid-lease/9 meta").unwrap();
    let find = || {
        let out = doctor(&path, &[]).ok();
        lines(&out, "change").iter().find(|change| change.contains("lanes")).unwrap().to_string()
    };
    let in_order = |change: &str| {
        let steps =
            ["(1) stop all processes", "(2) restore the newest backup", "lane recover", "(3) without", "lane create"];
        let places: Vec<_> = steps.iter().map(|step| change.find(step).expect(step)).collect();
        assert!(places.is_sorted(), "{change}");
    };
    // All rows, and the one of the space.
    let change = find();
    in_order(&change);
    assert!(change.starts_with("there is no space lanes. If it was ever used, its records were lost: "), "{change}");
    let lane = "imid-lease/1 lane version=7 token=9f86d081884c7d65 holder=web-3 horizon=10000 ceiling=900 held";
    assert!(register.compare_and_set("lanes/1/00003", None, lane).unwrap());
    let change = find();
    in_order(&change);
    assert!(change.contains("no record lanes/meta") && !change.contains(" --first --bits"), "{change}");
    let url = format!("file:{}", path.display());
    let lane = |args: &[&str]| imid_args(&[&["lane"], args, &["--register", &url]].concat(), "").error(1);
    let error = lane(&["recover", "--horizon", "10s", "--max-skew", "5s"]);
    assert!(error.contains("has no space \"lanes\"") && error.contains("`imid lane create`"), "{error}");
    let error = lane(&["create", "--first"]);
    assert!(error.contains("the space was used, so make it without --first"), "{error}");
}

#[test]
fn a_register_that_cannot_be_used_is_an_error() {
    let (_folder, path) = folder();
    let error = doctor(&path, &[]).error(1);
    assert!(error.starts_with("--register: cannot open ") && error.contains("ids"), "{error}");
    assert!(!path.exists());
    fs::write(&path, "not a register").unwrap();
    let error = doctor(&path, &["--write"]).error(1);
    assert!(error.contains("found another file"), "{error}");
    let error = imid_args(&["lane", "doctor", "--register", "http://secret@db"], "").error(2);
    assert!(error.contains("expected a URL that begins with") && !error.contains("secret"), "{error}");
}

/// Starts an empty etcd with a clock that is so far ahead. Returns its host and port.
#[cfg(feature = "etcd")]
fn empty_etcd(lead_s: i64) -> String {
    member::member(vec![member::Answer::empty()], move || {
        let date = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(lead_s);
        date.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
    })
}

#[cfg(feature = "etcd")]
#[test]
fn a_wrong_clock_of_etcd_is_named() {
    for (lead_s, words) in [(3_600, Some("the clocks differ by 3")), (0, None)] {
        let out = imid_args(&["lane", "doctor", "--register", &format!("etcd://{}", empty_etcd(lead_s))], "").ok();
        let mut changes = lines(&out, "change");
        changes.retain(|change| !change.starts_with("there is no space lanes. "));
        assert_eq!(changes.len(), usize::from(words.is_some()), "{out}");
        assert!(words.is_none_or(|words| changes[0].starts_with(words)), "{out}");
    }
}

/// Sends a request to the JSON gateway of an etcd.
fn post(url: &str, path: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(url.strip_prefix("etcd://").unwrap()).unwrap();
    write!(stream, "POST /v3/{path} HTTP/1.0\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.0 200"), "{path}: {answer}");
    answer
}

/// What the doctor says of the room of an etcd.
fn the_room_of_etcd_is_looked_at(url: &str) {
    let doctor = |more: &[&str]| imid_args(&[&["lane", "doctor", "--register", url], more].concat(), "");
    doctor(&["--write"]).ok();
    let out = doctor(&[]).ok();
    let kilobytes = lines(&out, "room")[0].strip_suffix(" kB, no alarm").expect(&out);
    assert!(kilobytes.parse::<u64>().unwrap() > 4, "{out}");
    let alarm = |action: &str| post(url, "maintenance/alarm", &format!(r#"{{"action":"{action}","alarm":"NOSPACE"}}"#));
    alarm("ACTIVATE");
    let out = doctor(&[]).ok();
    assert!(lines(&out, "room")[0].ends_with(" kB, NOSPACE"), "{out}");
    assert!(lines(&out, "change")[0].starts_with("etcd has no room and refuses each write (NOSPACE): "), "{out}");
    let error = doctor(&["--write"]).error(1);
    assert!(error.contains("database space exceeded"), "{error}");
    alarm("DEACTIVATE");
    doctor(&["--write"]).ok();
}

/// The doctor connects by TLS as a process does: with the URL of the store, and its files.
fn tls_is_used(store: &str, plain: &str) {
    let (files, others) = (Files::new(), Files::new());
    let script = env::var("IMID_SERVICES_SH").expect("ci/services.sh sets IMID_SERVICES_SH");
    let switch = |files: Option<&Path>| {
        let status = Command::new("bash").args([&script, "server", store, "tls"]).args(files).status().unwrap();
        assert!(status.success(), "{store}: {status}");
    };
    switch(Some(files.folder()));
    let port = Path::new(&env::var("IMID_SERVICES").unwrap()).join(store).join("tls_port");
    let host = format!("127.0.0.1:{}", fs::read_to_string(port).unwrap().trim());
    let url = |files: &Files| {
        let path = |name: &str| files.path(name).display().to_string();
        let names = format!("cacert={}&cert={}&key={}", path("ca.pem"), path("client.pem"), path("client.key"));
        match store {
            "postgres" => format!("{plain}?sslmode=verify-full&sslrootcert={}", path("ca.pem")),
            "mysql" => format!("{plain}?require_ssl=true&ssl-ca={}", path("ca.pem")),
            "redis" => format!("rediss://:imid-secret@{host}/0?{names}"),
            "etcd" => format!("https://{host}?{names}"),
            _ => format!("zookeepers://{host}/?{names}"),
        }
    };
    let doctor = |url: &str| imid_args(&["lane", "doctor", "--register", url], "");
    let out = doctor(&url(&files)).ok();
    assert!(lines(&out, "reads").len() == 1 && !out.contains("imid-secret"), "{store}: {out}");
    let error = doctor(&url(&others)).error(1);
    assert!(!error.contains("imid-secret"), "{store}: {error}");
    switch(None);
    doctor(plain).ok();
}

/// With the feature of a store, on its real server.
#[test]
fn each_store_is_looked_at() {
    let mut missing = Vec::new();
    for (store, is_built, promise) in [
        ("postgres", cfg!(feature = "postgres"), "strong"),
        ("mysql", cfg!(feature = "mysql"), "strong"),
        ("redis", cfg!(feature = "redis"), "weak: "),
        ("etcd", cfg!(feature = "etcd"), "strong"),
        ("zookeeper", cfg!(feature = "zookeeper"), "strong"),
    ] {
        let variable = format!("IMID_{}_URL", store.to_uppercase());
        let url = match env::var(&variable) {
            Ok(url) if is_built => url,
            Ok(_) => {
                missing.push(format!("the tool was built without the feature {store}"));
                continue;
            }
            Err(_) => {
                missing.push(format!("{variable} is not set"));
                continue;
            }
        };
        let doctor = |more: &[&str]| imid_args(&[&["lane", "doctor", "--register", &url], more].concat(), "");
        // A database has no table yet, and this command makes none unless it may write.
        let first = doctor(&[]);
        assert!(
            first.status == 0 || first.err.contains("if the table was lost: (1) stop all processes;"),
            "{store}: {}",
            first.err
        );
        for more in [&["--write"][..], &[]] {
            let out = doctor(more).ok();
            assert!(lines(&out, "promise")[0].starts_with(promise), "{store}: {out}");
            assert_eq!(lines(&out, "clock").len(), 1, "{store}: {out}");
            let changes = lines(&out, "change");
            let is_weak = changes[0].starts_with("the register is weak: ");
            // The last one says that there is no space yet.
            assert!(changes.len() == 1 + usize::from(is_weak) && is_weak == (store == "redis"), "{store}: {out}");
            assert!(!out.contains("imid-secret"), "{store}: {out}");
        }
        if store == "etcd" {
            the_room_of_etcd_is_looked_at(&url);
        }
        if cfg!(feature = "tls-ring") {
            tls_is_used(store, &url);
        } else {
            missing.push("the tool was built without the feature tls".to_owned());
        }
    }
    if !missing.is_empty() {
        skip("each_store_is_looked_at", format_args!("{}; ci/leases.sh starts the servers", missing.join(", ")));
    }
}
