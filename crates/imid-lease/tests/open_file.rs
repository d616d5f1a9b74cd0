//! The generator whose register is a file.

#[path = "support/folder.rs"]
mod folder;

use std::time::Duration;

use folder::Folder;
use imid::clock::{Clock, ManualClock, SystemClock};
use imid::{SessionTag, SessionType};
use imid_lease::register::FileRegister;
use imid_lease::{LaneOptions, LeasedGenerator, Phase};

fn room() -> SessionTag {
    SessionTag::new(SessionType::GROUP, "room-42")
}

#[test]
fn ids_go_on_after_a_restart() {
    let folder = Folder::new();
    let path = folder.path("ids");
    let mut last = None;
    for _ in 0..5 {
        let ids = LeasedGenerator::open_file(&path).unwrap();
        for _ in 0..5_000 {
            let id = ids.generate(room()).unwrap();
            assert!(last < Some(id));
            last = Some(id);
        }
        assert_eq!(ids.status().phase, Phase::Holding);
        assert!(ids.close_within(Duration::from_secs(15)));
    }
}

#[test]
fn a_second_user_of_the_file_is_refused() {
    let folder = Folder::new();
    let path = folder.path("ids");
    let ids = LeasedGenerator::open_file(&path).unwrap();
    let error = LeasedGenerator::open_file(&path).unwrap_err();
    assert!(error.is_register());
    ids.close();
    LeasedGenerator::open_file(&path).unwrap();
}

/// What the documentation of `open_file` says about a clock that was ahead.
#[test]
fn a_file_that_is_far_ahead_is_opened_with_any_lead() {
    let folder = Folder::new();
    let path = folder.path("ids");
    let patience = Duration::from_secs(15);
    let far_ms = SystemClock.now_ms().unwrap() + 3_600_000;
    let options = || LaneOptions::new().lane_bits(0).holder("owner");
    let clock = std::sync::Arc::new(ManualClock::new(far_ms));
    let ahead = LeasedGenerator::open(FileRegister::owned(&path).unwrap(), options().clock(clock)).unwrap();
    ahead.wait_until_open(patience).unwrap();
    ahead.generate(room()).unwrap();
    ahead.close();
    let error = LeasedGenerator::open_file(&path).unwrap_err();
    assert!(error.is_clock(), "{error}");
    let ids = LeasedGenerator::open(FileRegister::owned(&path).unwrap(), options().accept_far_lanes()).unwrap();
    ids.wait_until_open(patience).unwrap();
    assert!(ids.generate(room()).unwrap().timestamp_ms() >= far_ms);
    ids.close();
}
