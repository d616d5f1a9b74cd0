//! `imid lane`, on a register in a file.

use std::time::Duration;

use imid_lease::register::{FileRegister, Register};
use imid_lease::{LaneOptions, LeasedGenerator};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{imid, imid_args};

/// A register with two lanes, of which `web-1` holds one.
struct Space {
    url: String,
    ids: LeasedGenerator,
    _folder: TempDir,
}

fn space() -> Space {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ids");
    let options = LaneOptions::new()
        .lane_bits(1)
        .holder("web-1")
        .horizon(Duration::from_millis(2500))
        .max_skew(Duration::from_millis(500))
        .max_lead(Duration::from_millis(500));
    let ids = LeasedGenerator::open(FileRegister::shared(&path).unwrap(), options).unwrap();
    ids.wait_until_open(Duration::from_secs(15)).unwrap();
    // It is written after the first lane was granted.
    while ids.status().register_id.is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    Space { url: format!("file:{}", path.display()), ids, _folder: folder }
}

#[test]
fn list_shows_the_register_and_each_lane() {
    let space = space();
    let status = space.ids.status();
    let ran = imid_args(&["lane", "list", "--register", &space.url], "");
    assert_eq!((ran.status, ran.err.as_str()), (0, ""));
    let lines: Vec<_> = ran.out.lines().collect();
    assert_eq!(lines[0], format!("register {}: {}", status.register_id.unwrap(), status.promise));
    assert_eq!(lines[1], format!("space lanes ({})", status.space_id.unwrap()));
    assert_eq!(lines[2], "2 lanes of imid-80");
    let held = lines[3..].iter().filter(|line| line.contains("held by web-1 up to 20")).count();
    let unused = lines[3..].iter().filter(|line| line.ends_with("  never used")).count();
    assert_eq!((lines.len(), held, unused), (5, 1, 1), "{}", ran.out);
    space.ids.close();
    let ran = imid_args(&["lane", "list", "--register", &space.url], "");
    assert!(ran.out.contains(", last held by web-1"), "{}", ran.out);
}

#[test]
fn lanes_are_json_objects_for_scripts() {
    let space = space();
    let status = space.ids.status();
    let list = || {
        serde_json::from_str::<Value>(&imid_args(&["lane", "list", "--register", &space.url, "--json"], "").ok())
            .unwrap()
    };
    let listed = list();
    assert_eq!(listed["register_id"], status.register_id.unwrap());
    assert_eq!(listed["space_id"], status.space_id.unwrap());
    assert_eq!(
        (&listed["promise"], &listed["space"], &listed["layout"]),
        (&json!(status.promise.to_string()), &json!("lanes"), &json!("imid-80"))
    );
    let lane = usize::from(status.lane.unwrap());
    let (held, unused) = (&listed["lanes"][lane], &listed["lanes"][1 - lane]);
    let ceiling_ms = held["ceiling_ms"].as_u64().unwrap();
    assert_eq!(
        held["ceiling_time"],
        jiff::Timestamp::from_millisecond(ceiling_ms.cast_signed()).unwrap().strftime("%FT%T.%3fZ").to_string()
    );
    let expected = json!({ "lane": lane, "state": "held", "holder": "web-1", "ceiling_ms": held["ceiling_ms"], "ceiling_time": held["ceiling_time"] });
    assert_eq!(*held, expected);
    let expected =
        json!({ "lane": 1 - lane, "state": "unused", "holder": null, "ceiling_ms": null, "ceiling_time": null });
    assert_eq!(*unused, expected);
    space.ids.close();
    assert_eq!(list()["lanes"][lane]["state"], "free");
}

#[test]
fn a_record_of_another_format_and_a_ceiling_without_a_date_are_shown() {
    let space = space();
    let lane = space.ids.status().lane.unwrap();
    space.ids.close();
    let mut register = FileRegister::shared(space.url.strip_prefix("file:").unwrap()).unwrap();
    let (key, record) =
        register.list("lanes").unwrap().into_iter().find(|(_, text)| text.contains("ceiling=")).unwrap();
    let start = record.split_once("ceiling=").unwrap().0;
    let changed = format!("{start}ceiling={} free", i64::MAX);
    assert!(register.compare_and_set(&key, Some(&record), &changed).unwrap());
    let run = |more: &[&str]| imid_args(&[&["lane", "list", "--register", &space.url], more].concat(), "").ok();
    assert!(run(&[]).contains("free from 9223372036854775807 ms, last held by web-1"), "{}", run(&[]));
    let object =
        |lane: u16| serde_json::from_str::<Value>(&run(&["--json"])).unwrap()["lanes"][usize::from(lane)].take();
    assert_eq!((&object(lane)["ceiling_ms"], &object(lane)["ceiling_time"]), (&json!(i64::MAX), &json!(null)));
    assert!(register.compare_and_set(&key, Some(&changed), "x").unwrap());
    assert!(run(&[]).contains("  cannot be read: "), "{}", run(&[]));
    assert_eq!(object(lane)["state"], "unreadable");
    assert!(object(lane)["error"].is_string());
}

#[test]
fn a_lane_in_use_is_freed_by_force_only() {
    let space = space();
    let lane = space.ids.status().lane.unwrap().to_string();
    let release = ["lane", "release", "--register", &space.url, &lane];
    let ran = imid_args(&release, "");
    assert_eq!(ran.status, 1);
    let watching = format!("note: watching lane {lane} for the horizon of its holder\n");
    assert_eq!(ran.err, format!("{watching}error: lane {lane} is in use by web-1; --force frees it nevertheless\n"));
    let ran = imid_args(&[&release[..], &["--force"]].concat(), "");
    assert_eq!((ran.status, ran.out), (0, format!("lane {lane} is free\n")));
    assert!(
        ran.err.starts_with("note: if its holder is alive, it mints up to its ceiling, and then needs another lane"),
        "{}",
        ran.err
    );
}

/// Copies the register to a file in which the lane that is held has this horizon. Returns its path.
fn copy_with_horizon(space: &Space, horizon_ms: u64) -> String {
    let path = space.url.strip_prefix("file:").unwrap();
    let copy = format!("{path}-copy");
    std::fs::copy(path, &copy).unwrap();
    let mut register = FileRegister::shared(&copy).unwrap();
    let (key, text) = register.list("lanes/").unwrap().into_iter().find(|(_, text)| text.contains(" lane ")).unwrap();
    let changed = text.replace("horizon=2500", &format!("horizon={horizon_ms}"));
    assert!(changed != text && register.compare_and_set(&key, Some(&text), &changed).unwrap());
    copy
}

#[test]
fn a_lane_whose_holder_is_gone_is_freed() {
    let space = space();
    let lane = space.ids.status().lane.unwrap().to_string();
    // A copy of the register, as after a crash: there the holder does not renew its lane and does not release it.
    let copy = copy_with_horizon(&space, 300);
    let ran = imid_args(&["lane", "release", "--register", &format!("file:{copy}"), &lane], "");
    assert_eq!((ran.status, ran.out), (0, format!("lane {lane} is free\n")), "{}", ran.err);
    let ran = imid_args(&["lane", "release", "--register", &format!("file:{copy}"), &lane], "");
    assert_eq!(
        (ran.status, ran.err),
        (1, format!("note: watching lane {lane} for the horizon of its holder\nerror: lane {lane} is not held\n"))
    );
}

#[test]
fn a_horizon_that_no_holder_has_is_not_waited_for() {
    let space = space();
    let copy = copy_with_horizon(&space, 86_400_001);
    let (url, lane) = (format!("file:{copy}"), space.ids.status().lane.unwrap().to_string());
    let release = ["lane", "release", "--register", &url, &lane];
    let words = format!(
        "expected a horizon of at most 24 h in the record of lane {lane}, found 86400001 ms; force frees it nevertheless"
    );
    let ran = imid_args(&release, "");
    assert!(ran.status == 1 && ran.err.ends_with(&format!("error: {words}\n")), "{}", ran.err);
    assert_eq!(imid_args(&[&release[..], &["--force"]].concat(), "").out, format!("lane {lane} is free\n"));
}

#[test]
fn a_url_that_cannot_be_used_is_an_error() {
    let error = |status: i32, url: &str, space: &str| {
        let ran = imid_args(&["lane", "list", "--register", url, "--space", space], "");
        assert_eq!(ran.status, status, "{url}: {}", ran.err);
        ran.err
    };
    assert_eq!(
        error(2, "oracle://u:secret@h", "lanes"),
        "error: --register: expected a URL that begins with postgres://, mysql://, redis://, etcd://, zookeeper:// or file:\n"
    );
    if !cfg!(feature = "postgres") {
        assert_eq!(
            error(2, "postgres://u:secret@h/d", "lanes"),
            "error: --register: postgres:// needs the feature `postgres`, which this tool was installed without; \
             cargo install --path crates/imid-cli --features postgres,mysql,redis,etcd,zookeeper,tls-ring\n"
        );
        let features = include_str!("../../Cargo.toml").split("[features]").nth(1).unwrap();
        let features = features.split("\n[").next().unwrap().lines().filter_map(|line| line.split_once(" = "));
        let mut features: Vec<_> = features.map(|(feature, _)| feature).collect();
        features.sort_unstable();
        assert_eq!(features, ["etcd", "mysql", "postgres", "redis", "tls-ring", "zookeeper"]);
    }
    let folder = tempfile::tempdir().unwrap();
    // Nothing of a file that is not a register is shown.
    for text in ["password=hunter2\nsecond=hunter3\n", "hunter2", ""] {
        let folder = tempfile::tempdir().unwrap();
        let other = folder.path().join("other");
        std::fs::write(&other, text).unwrap();
        let error = error(1, &format!("file:{}", other.display()), "lanes");
        assert!(!error.contains("hunter"), "{error}");
        assert!(
            text.is_empty() || error.contains("expected a register, which begins with `imid-register/1`"),
            "{error}"
        );
    }
    // A wrong path is not created.
    let path = folder.path().join("wrong");
    let missing = error(1, &format!("file:{}", path.display()), "lanes");
    assert!(
        missing.starts_with(&format!("error: --register: cannot open {:?}: ", path.to_str().unwrap())),
        "{missing}"
    );
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    let space = space();
    assert_eq!(error(1, &space.url, "others"), "error: the register has no space \"others\"\n");
    let wrong = error(2, &space.url, "My lanes");
    assert!(wrong.starts_with("error: expected a name of ") && wrong.contains("\"My lanes\""), "{wrong}");
    for bits in ["create --space other --bits 13", "resize 13"] {
        let error = imid(&format!("lane {bits} --register {}", space.url), "").error(2);
        assert_eq!(error, "expected at most 12 lane bits, found 13", "{bits}");
    }
}

#[test]
fn the_register_can_be_named_where_other_users_do_not_see_it() {
    let space = space();
    let direct = imid_args(&["lane", "list", "--register", &space.url], "").ok();
    let lines = |text: &str| text.lines().take(2).map(str::to_owned).collect::<Vec<_>>();
    let from_variable = crate::command().args(["lane", "list"]).env("IMID_REGISTER", &space.url).output().unwrap();
    assert_eq!(lines(&String::from_utf8(from_variable.stdout).unwrap()), lines(&direct));
    // Nor does the help show it.
    let help = crate::command().args(["lane", "list", "--help"]).env("IMID_REGISTER", "redis://secret").output();
    let help = String::from_utf8(help.unwrap().stdout).unwrap();
    assert!(help.contains("[env: IMID_REGISTER]") && !help.contains("secret"), "{help}");
    let missing = imid_args(&["lane", "list"], "").error(2);
    assert_eq!(missing, "expected --register URL or the variable IMID_REGISTER, found neither");
}

#[test]
fn a_space_is_created_once_and_recovered_above_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("file:{}", folder.path().join("ids").display());
    let run = |args: &[&str]| imid_args(&[&["lane", args[0], "--register", &url], &args[1..]].concat(), "");
    let path = folder.path().join("ids");
    let created = run(&["create", "--bits", "3"]);
    assert!(created.out.starts_with("space lanes has 8 lanes, free from 20"), "{}{}", created.out, created.err);
    let again = run(&["create", "--bits", "4"]);
    assert_eq!((again.status, again.err.contains("already has the space \"lanes\", with 3 lane bits")), (1, true));
    let ids = LeasedGenerator::open(FileRegister::shared(&path).unwrap(), LaneOptions::new().lane_bits(3)).unwrap();
    ids.wait_until_open(Duration::from_secs(15)).unwrap();
    drop(ids);

    let above = run(&["recover", "--horizon", "10s", "--max-skew", "5s", "--above", "2099-12-31T00:00:00Z"]);
    assert!(above.out.contains("free from 2099-12-31T00:00:00"), "{}{}", above.out, above.err);
    let seconds = run(&["recover", "--horizon", "10s", "--max-skew", "5s", "--above", "4102358400"]);
    assert_eq!((seconds.status, seconds.err.contains("write 4102358400s")), (2, true), "{}", seconds.err);
}

#[test]
fn a_first_space_starts_now_and_the_lanes_of_live_processes_are_not_changed_by_mistake() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ids");
    let url = format!("file:{}", path.display());
    let run = |args: &[&str]| imid_args(&[&["lane"], args, &["--register", &url]].concat(), "");
    assert_eq!(run(&["create", "--first", "--bits", "3"]).ok(), "space lanes has 8 lanes, free from now\n");
    assert_eq!(run(&["create", "--first", "--horizon", "10s"]).status, 2);
    let options = LaneOptions::new().lane_bits(3);
    let options = options.horizon(Duration::from_secs(2)).max_skew(Duration::from_millis(500));
    let ids = LeasedGenerator::open(FileRegister::shared(&path).unwrap(), options).unwrap();
    ids.wait_until_open(Duration::from_secs(15)).unwrap();
    let error = run(&["resize", "4"]).error(1);
    assert!(error.contains(" is in use by ") && error.contains("--stop-holders"), "{error}");
    let tag = imid::SessionTag::new(imid::SessionType::GROUP, "room-42");
    ids.generate_within(tag, Duration::from_secs(15)).expect("it still mints");
    assert_eq!(run(&["resize", "4", "--stop-holders"]).ok(), "space lanes has 16 lanes now (4 bits)\n");
    assert!(ids.stopped_within(Duration::from_secs(15)).is_some(), "it mints no more");
}

#[test]
fn a_space_is_recovered_and_resized() {
    let space = space();
    space.ids.close();
    let run = |args: &[&str]| imid_args(&[&["lane"], args, &["--register", &space.url]].concat(), "");
    let recovered = run(&["recover", "--horizon", "30s", "--max-skew", "5s"]);
    assert!(recovered.out.starts_with("all lanes of lanes are free from 20"), "{}{}", recovered.out, recovered.err);
    let time = recovered.out.trim().rsplit(' ').next().unwrap().to_owned();
    // The lane that was held has its ceiling there.
    assert!(run(&["list"]).ok().contains(&format!("free from {time}, last held by web-1")));
    assert_eq!(run(&["resize", "3"]).ok(), "space lanes has 8 lanes now (3 bits)\n");
    assert!(run(&["list"]).ok().contains("\n8 lanes of imid-80\n"));
    let error = run(&["resize", "3"]).error(1);
    assert!(error.contains('3'), "{error}");
    assert_eq!(run(&["recover", "--horizon", "30s"]).status, 2);
}

#[test]
fn a_tool_without_databases_first_says_how_to_get_them() {
    let help = imid("lane --help", "").ok();
    let has_databases =
        cfg!(any(feature = "etcd", feature = "mysql", feature = "postgres", feature = "redis", feature = "zookeeper"));
    let first = "This tool was installed for registers in files.";
    assert_eq!(help.starts_with(first) && help.contains("--features postgres,"), !has_databases, "{help}");
}
