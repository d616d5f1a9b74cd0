//! The generator whose register is a file.

mod folder;

use std::time::Duration;

use folder::Folder;
use imid::{SessionTag, SessionType};
use imid_lease::{LeasedGenerator, Phase};

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
