//! Each documented metric has the right value after each event of a lease.
#![allow(clippy::cast_precision_loss, reason = "the numbers are small")]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::thread;
use std::time::{Duration, Instant};

#[path = "../support/faulty.rs"]
mod faulty;
#[allow(dead_code, reason = "another test uses the rest")]
#[path = "../support/opened.rs"]
mod opened;

use faulty::FaultyRegister;
use imid::SessionTag;
use imid::clock::Clock;
use imid_lease::admin::{self, FreeIf};
use imid_lease::record::{LaneRecord, Name};
use imid_lease::register::MemoryRegister;
use imid_lease::{LaneOptions, LeasedGenerator, Phase, Register, TrustedClock};
use imid_snowflake::Preset;
use imid_snowflake::worker_ids::{WorkerIds, WorkerOptions};
use metrics_util::debugging::{DebugValue, DebuggingRecorder};
use opened::opened;

const MS: Duration = Duration::from_millis(1);

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(20), "{what}");
        thread::sleep(MS);
    }
}

/// Settings with a renewal each 250 ms.
fn options(space: &str) -> LaneOptions {
    LaneOptions::new()
        .space(space)
        .holder("web-3")
        .lane_bits(1)
        .horizon(1_000 * MS)
        .max_skew(500 * MS)
        .max_lead(200 * MS)
}

/// The values by name and by the value of the first label, after which each must be in the documentation.
struct Found(HashMap<(String, String), f64>);

impl Found {
    fn value(&self, name: &str, label: &str) -> f64 {
        *self.0.get(&(name.to_owned(), label.to_owned())).unwrap_or_else(|| panic!("no {name} of {label}"))
    }

    fn is(&self, label: &str, expected: &[(&str, f64)]) {
        for (name, value) in expected {
            let found = self.value(name, label);
            assert!((found - value).abs() < f64::EPSILON, "{name} of {label}: expected {value}, found {found}");
        }
    }
}

/// A snapshot of this recorder sets all values to zero. So each lease is brought into one state, and then there is one
/// snapshot.
#[test]
#[expect(clippy::too_many_lines, reason = "one snapshot shows them all")]
fn each_documented_metric_has_the_value_of_the_last_event() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    recorder.install().unwrap();

    let renewed = LeasedGenerator::open(MemoryRegister::new(), options("renewed")).and_then(opened).unwrap();
    let after_open = renewed.status().renewals;

    let register = MemoryRegister::new();
    let moved = LeasedGenerator::open(register.clone(), options("moved")).and_then(opened).unwrap();
    let first_lane = moved.status().lane.unwrap();
    admin::free(&mut register.clone(), "moved", first_lane, FreeIf::Forced).unwrap();
    // Another process has the freed lane, so that this one must take the other lane.
    let other = LeasedGenerator::open(register.clone(), options("moved").holder("web-4")).and_then(opened).unwrap();
    wait_until("the lane is lost", || moved.status().lost == 1 && moved.status().phase == Phase::Holding);
    let (new_lane, other_lane) = (moved.status().lane.unwrap(), other.status().lane.unwrap());
    assert_ne!(new_lane, other_lane);

    let register = MemoryRegister::new();
    let lost = LeasedGenerator::open(register.clone(), options("lost").lane_bits(0)).and_then(opened).unwrap();
    // Another process writes the record of the only lane.
    wait_until("the lane is taken", || {
        let (key, seen) = register.clone().list("lost/1/").unwrap().pop().unwrap();
        let mut record: LaneRecord = LaneRecord::parse(&seen).unwrap();
        (record.version, record.holder) = (record.version + 1, Name::parse("web-9").unwrap());
        let token = seen.split(' ').find(|word| word.starts_with("token=")).unwrap();
        record.horizon_ms = 60_000;
        register
            .clone()
            .compare_and_set(&key, Some(&seen), &record.to_string().replace(token, "token=0000000000000009"))
            .unwrap()
    });
    wait_until("the only lane is lost", || lost.status().lost == 1);

    let released = LeasedGenerator::open(MemoryRegister::new(), options("released")).and_then(opened).unwrap();
    released.close();
    for _ in 0..2 {
        released.generate(SessionTag::from_u32(0).unwrap()).unwrap_err();
    }
    let register = MemoryRegister::new();
    register.set_down(true);
    let none = LeasedGenerator::open(register, options("none")).unwrap();
    for _ in 0..3 {
        none.generate(SessionTag::from_u32(0).unwrap()).unwrap_err();
    }

    let register = FaultyRegister::new();
    register.set_now_ms(Some(imid::clock::SystemClock.now_ms().unwrap() + 60_000));
    let trusting = options("strong").trust(TrustedClock::Process);
    let _strong = LeasedGenerator::open(register, trusting).and_then(opened).unwrap();

    let register = MemoryRegister::new();
    let silent = LeasedGenerator::open(register.clone(), options("silent")).and_then(opened).unwrap();
    register.set_down(true);
    wait_until("the register is down", || silent.status().last_error.is_some());

    // An ID that is too far ahead, and one that is ahead.
    let ahead = |by: u64| imid::MessageId::first_at(imid::clock::SystemClock.now_ms().unwrap() + by).unwrap();
    for _ in 0..2 {
        renewed.observe(ahead(3_600_000)).unwrap_err();
    }
    let leading = LeasedGenerator::open(MemoryRegister::new(), options("leading")).and_then(opened).unwrap();
    leading.observe(ahead(450)).unwrap();
    leading.generate_within(SessionTag::from_u32(0).unwrap(), 1_000 * MS).unwrap();
    wait_until("a renewal has the lead", || leading.status().lead > Duration::ZERO);

    let workers = WorkerOptions::new(Preset::LEAF).space("workers-of-leaf").holder("web-3");
    let register = MemoryRegister::new();
    let workers = WorkerIds::open(|| Ok(register.clone()), workers).unwrap();

    wait_until("both worker IDs are held", || workers.status().iter().all(|status| status.phase == Phase::Holding));
    wait_until("two renewals", || renewed.status().renewals >= after_open + 2);
    let renewals_before = renewed.status().renewals;
    let snapshot = snapshotter.snapshot().into_vec();
    let renewals_after = renewed.status().renewals;

    let (mut owners, mut calls, mut reasons) = (BTreeSet::new(), BTreeSet::new(), BTreeMap::new());
    let (mut documented_names, mut observations) = (BTreeSet::new(), Vec::new());
    let values = snapshot.into_iter().filter_map(|(key, _, _, value)| {
        let labels: Vec<_> = key.key().labels().map(|label| (label.key(), label.value())).collect();
        let names: Vec<_> = labels.iter().map(|(name, _)| *name).collect();
        documented_names.insert(key.key().name().to_owned());
        let value = match value {
            DebugValue::Counter(value) => value as f64,
            DebugValue::Gauge(value) => value.into_inner(),
            DebugValue::Histogram(seconds) => {
                assert_eq!(names, ["store", "call", "outcome"], "{labels:?}");
                assert!(seconds.iter().all(|seconds| (0.0..100.0).contains(&seconds.into_inner())));
                calls.insert((labels[1].1.to_owned(), labels[2].1.to_owned()));
                return None;
            }
        };
        if key.key().name() == "imid_lease_refusals_total" {
            assert_eq!(names, ["space", "holder", "reason"], "{labels:?}");
            reasons.insert((labels[0].1.to_owned(), labels[2].1.to_owned()), value);
            return None;
        }
        if key.key().name() == "imid_lease_observations_refused_total" {
            assert_eq!(names, ["space", "holder", "reason"], "{labels:?}");
            observations.push((labels[0].1.to_owned(), labels[2].1.to_owned(), value));
            return None;
        }
        assert_eq!(names, ["space", "holder"], "{labels:?}");
        owners.insert(labels[1].1.to_owned());
        // The second process of a space has labels of its own.
        (labels[1].1 != "web-4").then(|| ((key.key().name().to_owned(), labels[0].1.to_owned()), value))
    });
    let found = Found(values.collect());
    assert_eq!(owners, ["web-3", "web-3.0", "web-3.1", "web-4"].map(str::to_owned).into());

    found.is("renewed", &[("imid_lease_held", 1.0), ("imid_lease_lost_total", 0.0), ("imid_lease_register_up", 1.0)]);
    found.is("renewed", &[("imid_lease_lane", renewed.status().lane.unwrap().into())]);
    let renewals = found.value("imid_lease_renewals_total", "renewed");
    assert!((renewals_before as f64..=renewals_after as f64).contains(&renewals), "{renewals}");
    let left = found.value("imid_lease_seconds_left", "renewed");
    // The clock and the process's own time are each in whole milliseconds. So a ceiling can be one more ahead than the
    // horizon.
    assert!((0.5..=1.001).contains(&left), "just after a renewal: {left}");
    found
        .is("moved", &[("imid_lease_held", 1.0), ("imid_lease_lost_total", 1.0), ("imid_lease_lane", new_lane.into())]);
    found.is("lost", &[("imid_lease_held", 0.0), ("imid_lease_lost_total", 1.0), ("imid_lease_register_up", 1.0)]);
    found.is("released", &[("imid_lease_held", 0.0), ("imid_lease_lost_total", 0.0), ("imid_lease_register_up", 1.0)]);
    found.is("silent", &[("imid_lease_held", 1.0), ("imid_lease_register_up", 0.0)]);
    found.is("workers-of-leaf", &[("imid_lease_held", 1.0)]);
    assert_eq!(workers.status().len(), 2);
    found.is("renewed", &[("imid_lease_weak", 1.0), ("imid_lease_lead_seconds", 0.0)]);
    found.is("strong", &[("imid_lease_weak", 0.0)]);
    found.is("none", &[("imid_lease_held", 0.0), ("imid_lease_register_up", 0.0)]);
    assert!(!found.0.contains_key(&("imid_lease_weak".to_owned(), "none".to_owned())), "nobody has asked it yet");
    let lead = found.value("imid_lease_lead_seconds", "leading");
    assert!(lead > 0.0 && lead <= 0.5, "{lead}");
    assert_eq!(observations, [("renewed".to_owned(), "skew".to_owned(), 2.0)]);

    let ahead = found.value("imid_lease_store_ahead_seconds", "strong");
    assert!(ahead > 50.0 && ahead <= 60.1, "{ahead}");

    let documented = include_str!("../../src/telemetry.rs");
    let documented = documented.lines().filter_map(|line| line.strip_prefix("//! | `")?.split('`').next());
    let documented = documented.filter(|name| name.starts_with("imid_"));
    assert_eq!(documented_names, documented.map(str::to_owned).collect());
    for call in [("list", "ok"), ("write", "ok"), ("time", "ok"), ("write", "error"), ("list", "error")] {
        assert!(calls.contains(&(call.0.to_owned(), call.1.to_owned())), "{call:?} of {calls:?}");
    }
    let reasons: Vec<_> =
        reasons.iter().map(|((space, reason), value)| (space.as_str(), reason.as_str(), *value)).collect();
    assert_eq!(reasons, [("none", "opening", 3.0), ("released", "closed", 2.0)]);
}
