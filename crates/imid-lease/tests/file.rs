//! The register in a file.

#[path = "support/chain.rs"]
mod chain;
#[path = "support/folder.rs"]
mod folder;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use chain::chain;
use folder::Folder;
use imid_lease::Register;
use imid_lease::register::{DEFAULT_TIME_LIMIT, FileRegister, MemoryRegister, open_url_read_only};

const A: &str = "lanes/1/00000";

#[test]
fn records_are_kept_and_compared() {
    let folder = Folder::new();
    let path = folder.path("ids");
    let mut register = FileRegister::shared(&path).unwrap();
    assert_eq!(register.read(A).unwrap(), None);
    assert!(register.compare_and_set(A, None, "one 1").unwrap());
    assert!(!register.compare_and_set(A, None, "two").unwrap());
    assert!(!register.compare_and_set(A, Some("one"), "two").unwrap());
    assert!(register.compare_and_set("lanes/meta", None, "m").unwrap());
    assert!(register.compare_and_set("others/meta", None, "o").unwrap());
    let mut other = FileRegister::shared(&path).unwrap();
    assert!(other.compare_and_set(A, Some("one 1"), "two 2").unwrap());
    assert_eq!(register.read(A).unwrap().as_deref(), Some("two 2"));
    let listed = register.list("lanes/").unwrap();
    assert_eq!(listed, [(A.to_owned(), "two 2".to_owned()), ("lanes/meta".to_owned(), "m".to_owned())]);
    let names: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "the file and its lock: {names:?}");
}

/// A space in a key or a line end in a value would be read as other records.
#[test]
fn keys_and_values_outside_the_contract_are_errors() {
    let folder = Folder::new();
    let registers: [Box<dyn Register>; 2] =
        [Box::new(FileRegister::shared(folder.path("ids")).unwrap()), Box::new(MemoryRegister::new())];
    for mut register in registers {
        for key in ["", "a b", "a\nb", &"k".repeat(129)] {
            assert!(register.compare_and_set(key, None, "v").is_err(), "{key:?}");
            assert!(register.read(key).is_err(), "{key:?}");
        }
        assert!(register.list("a b").is_err());
        for value in ["", "v\nb w", "\u{e9}", &"v".repeat(1025)] {
            assert!(register.compare_and_set("a", None, value).is_err(), "{value:?}");
            assert!(register.compare_and_set("a", Some(value), "v").is_err(), "{value:?}");
        }
        assert_eq!(register.list("").unwrap(), []);
        let (key, value) = ("k".repeat(128), "v w".to_owned());
        assert!(register.compare_and_set(&key, None, &value).unwrap());
        assert_eq!(register.list("").unwrap(), [(key, value)]);
    }
}

#[test]
fn an_owner_lets_nobody_else_in() {
    let folder = Folder::new();
    let path = folder.path("ids");
    let mut owner = FileRegister::owned(&path).unwrap();
    owner.compare_and_set(A, None, "1").unwrap();
    let error = chain(&FileRegister::owned(&path).unwrap_err());
    let expected = format!(
        "expected no other user of {}: found another register of this process that has locked it",
        path.canonicalize().unwrap().display()
    );
    assert_eq!(error, expected);
    let mut other = FileRegister::shared(&path).unwrap().time_limit(Duration::from_millis(50));
    let start = Instant::now();
    let error = chain(&other.read(A).unwrap_err());
    assert!(error.starts_with("cannot lock "), "{error}");
    assert!(start.elapsed() >= Duration::from_millis(50));
    // The failed call has not ended the owner's lock.
    assert!(FileRegister::owned(&path).is_err());
    drop(owner);
    assert_eq!(other.read(A).unwrap().as_deref(), Some("1"));
}

/// What a crash leaves behind before each system call of a write.
#[test]
fn a_crash_in_a_write_leaves_the_old_record_or_the_new_one() {
    let folder = Folder::new();
    let path = folder.path("ids");
    let mut register = FileRegister::shared(&path).unwrap();
    register.compare_and_set(A, None, "1").unwrap();
    let old = fs::read(&path).unwrap();
    register.compare_and_set(A, Some("1"), "2").unwrap();
    let new = fs::read(&path).unwrap();
    let temporary = folder.path("ids.new");
    let found = || FileRegister::shared(&path).unwrap().read(A).unwrap().unwrap();
    // Before the rename: any part of the new file is there.
    for end in 0..=new.len() {
        fs::write(&path, &old).unwrap();
        fs::write(&temporary, &new[..end]).unwrap();
        assert_eq!(found(), "1");
        assert!(FileRegister::shared(&path).unwrap().compare_and_set(A, Some("1"), "2").unwrap());
        assert_eq!(fs::read(&path).unwrap(), new);
    }
    // After it.
    assert_eq!(found(), "2");
}

#[test]
fn a_torn_or_edited_file_is_refused_and_not_overwritten() {
    let folder = Folder::new();
    let path = folder.path("ids");
    FileRegister::shared(&path).unwrap().compare_and_set(A, None, "1").unwrap();
    let whole = fs::read(&path).unwrap();
    let refused = |text: &[u8]| {
        fs::write(&path, text).unwrap();
        let error = chain(&FileRegister::owned(&path).unwrap_err());
        assert_eq!(fs::read(&path).unwrap(), text, "not overwritten");
        error
    };
    for end in 0..whole.len() {
        let error = refused(&whole[..end]);
        assert!(error.contains("expected the checksum"), "{end}: {error}");
    }
    for at in 0..whole.len() {
        let mut edited = whole.clone();
        edited[at] ^= 1;
        refused(&edited);
    }
    refused(&[&whole[..], b"x"].concat());
    fs::write(&path, &whole).unwrap();
    FileRegister::owned(&path).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_and_the_old_records_stay() {
    let folder = Folder::new();
    let path = folder.path("ids");
    let mut register = FileRegister::shared(&path).unwrap();
    register.compare_and_set(A, None, "1").unwrap();
    // Each write to this device finds the disk full.
    std::os::unix::fs::symlink("/dev/full", folder.path("ids.new")).unwrap();
    let error = chain(&register.compare_and_set(A, Some("1"), "2").unwrap_err());
    assert!(error.starts_with("cannot write ") && error.contains("No space left"), "{error}");
    assert_eq!(register.read(A).unwrap().as_deref(), Some("1"));
    fs::remove_file(folder.path("ids.new")).unwrap();
    assert!(register.compare_and_set(A, Some("1"), "2").unwrap());
}

#[cfg(target_os = "linux")]
#[test]
fn the_file_of_another_machine_is_refused_until_it_is_adopted() {
    let folder = Folder::new();
    let path = folder.path("ids");
    FileRegister::shared(&path).unwrap().compare_and_set(A, None, "1").unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let first = text.lines().next().unwrap().to_owned();
    let body = text[..text.rfind("sum=").unwrap()].replace(&first, "imid-register/1 machine=other");
    let sum = body
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    fs::write(&path, format!("{body}sum={sum:016x}\n")).unwrap();
    let error = FileRegister::owned(&path).unwrap_err();
    assert!(error.is_another_machine());
    assert!(chain(&error).contains("found one of the machine other"), "{error}");
    drop(FileRegister::owned_from_another_machine(&path).unwrap());
    assert_eq!(FileRegister::owned(&path).unwrap().read(A).unwrap().as_deref(), Some("1"));
}

#[test]
fn a_folder_that_does_not_exist_is_an_error() {
    let error = chain(&FileRegister::owned("/nowhere-at-all/ids").unwrap_err());
    assert!(error.starts_with("cannot use /nowhere-at-all/ids as a register: "), "{error}");
    assert!(FileRegister::owned(Path::new("/")).is_err());
}

/// Each name of a file would have a lock of its own.
#[cfg(unix)]
#[test]
fn a_link_leads_to_the_same_register_and_a_second_name_is_refused() {
    let folder = Folder::new();
    let (path, link) = (folder.path("ids"), folder.path("link"));
    FileRegister::shared(&path).unwrap().compare_and_set(A, None, "1").unwrap();
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let owner = FileRegister::owned(&path).unwrap();
    let error = chain(&FileRegister::owned(&link).unwrap_err());
    assert!(error.contains("expected no other user of "), "{error}");
    drop(owner);
    assert!(FileRegister::shared(&link).unwrap().compare_and_set(A, Some("1"), "2").unwrap());
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink(), "the file was replaced, and not the link");
    assert_eq!(FileRegister::shared(&path).unwrap().read(A).unwrap().as_deref(), Some("2"));
    fs::hard_link(&path, folder.path("second")).unwrap();
    for name in ["ids", "second"] {
        let error = chain(&FileRegister::shared(folder.path(name)).unwrap_err());
        assert!(error.contains("expected a file with one name, found one with 2 (hard links)"), "{error}");
    }
    std::os::unix::fs::symlink(folder.path("nothing"), folder.path("dangling")).unwrap();
    let error = chain(&FileRegister::shared(folder.path("dangling")).unwrap_err());
    assert!(error.contains("found a link to a file that does not exist"), "{error}");
    fs::create_dir(folder.path("folder")).unwrap();
    let error = chain(&FileRegister::owned(folder.path("folder")).unwrap_err());
    assert!(error.contains("expected a file, found a folder"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_lock_file_that_was_deleted_is_noticed() {
    let folder = Folder::new();
    let path = folder.path("ids");
    let mut owner = FileRegister::owned(&path).unwrap();
    assert!(owner.compare_and_set(A, None, "1").unwrap());
    fs::remove_file(folder.path("ids.lock")).unwrap();
    let error = chain(&owner.compare_and_set(A, Some("1"), "2").unwrap_err());
    assert!(error.contains("expected the lock file ") && error.contains(" to stay in its place"), "{error}");
    // Another process can lock the new file now.
    let other = FileRegister::owned(&path).unwrap();
    assert!(owner.read(A).is_err());
    drop(other);
}

/// Code of this process that opens and closes the lock file ends its record lock, so another process can come in.
#[cfg(unix)]
#[test]
fn an_owner_that_has_lost_its_lock_does_not_write_beside_another_process() {
    let folder = Folder::new();
    let path = folder.path("ids");
    let mut owner = FileRegister::owned(&path).unwrap().time_limit(Duration::from_millis(50));
    assert!(owner.compare_and_set(A, None, "1").unwrap());
    drop(fs::File::open(folder.path("ids.lock")).unwrap());
    let other = fs::File::open(folder.path("ids.lock")).unwrap();
    other.lock().unwrap();
    let error = chain(&owner.compare_and_set(A, Some("1"), "2").unwrap_err());
    assert!(error.starts_with("cannot lock ") && error.ends_with("found another process in a call"), "{error}");
    other.unlock().unwrap();
    assert!(owner.compare_and_set(A, Some("1"), "2").unwrap());
}

#[test]
fn a_register_that_is_read_only_creates_nothing() {
    let folder = Folder::new();
    let path = folder.path("ids");
    let open = || open_url_read_only(&format!("file:{}", path.display()), DEFAULT_TIME_LIMIT).unwrap();
    assert_eq!(open().read(A).unwrap(), None);
    assert_eq!(fs::read_dir(folder.path("")).unwrap().count(), 0);
    let mut owner = FileRegister::owned(&path).unwrap();
    owner.compare_and_set(A, None, "1").unwrap();
    let mut reader = open();
    assert_eq!(reader.list("").unwrap(), [(A.to_owned(), "1".to_owned())], "although it is locked");
    let error = reader.compare_and_set(A, Some("1"), "2").unwrap_err();
    assert_eq!(chain(&error), "this register was opened to read only");
    assert!(error.is_permanent());
}
