//! Where a file is: on which machine, and on which kind of file system.

use std::io;
use std::path::Path;

use crate::register::Promise;

/// What a file of a machine without an ID contains. Such machines cannot be told apart.
const NO_ID: &str = "-";

/// Returns whether a file with the first ID is not of the machine with the second one, as far as both have one.
pub(super) fn is_another(machine: &str, here: &str) -> bool {
    machine != here && machine != NO_ID && here != NO_ID
}

/// Returns what a register in a file promises.
pub(super) fn promise() -> Promise {
    if cfg!(any(target_os = "linux", target_os = "android")) {
        Promise::Strong
    } else {
        Promise::Weak(
            "whether the file system is a local one, and syncs its folders, cannot be seen on this system".into(),
        )
    }
}

/// Returns the machine's own ID, or `-` if it has none. In a container it is that of the container, if its image has none of its
/// own.
pub(super) fn machine() -> String {
    let read = |path| std::fs::read_to_string(path).ok();
    let id = read("/etc/machine-id").or_else(|| read("/var/lib/dbus/machine-id")).unwrap_or_default();
    let is_id = |id: &str| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    Some(id.trim()).filter(|id| is_id(id)).unwrap_or(NO_ID).into()
}

/// Returns the network file system that a folder is on; `None` if it is on none that is known.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn network_file_system(folder: &Path) -> io::Result<Option<&'static str>> {
    let found = rustix::fs::statfs(folder)?.f_type;
    // The field has another width and sign on other machines; the numbers have 32 bits.
    #[allow(clippy::cast_sign_loss, clippy::unnecessary_cast, reason = "the type differs between targets")]
    let found = found as u64 & 0xFFFF_FFFF;
    Ok(network_name(found))
}

/// Returns the name of a file system whose locks or renames are not those of a local one, by its number in Linux' `statfs(2)`.
/// Those of virtual machines are folders of their hosts.
#[cfg(any(target_os = "linux", target_os = "android"))]
const fn network_name(number: u64) -> Option<&'static str> {
    Some(match number {
        0x6969 => "NFS",
        0x517B => "SMB",
        0xFE53_4D42 => "SMB2",
        0xFF53_4D42 => "CIFS",
        0x0102_1997 => "9P",
        0x00C3_6400 => "Ceph",
        0x5346_414F | 0x6B41_4653 => "AFS",
        0x7375_7245 => "Coda",
        0x0116_1970 => "GFS2",
        0x7461_636F => "OCFS2",
        0x0BD0_0BD0 => "Lustre",
        0x4750_4653 => "GPFS",
        0x1983_0326 => "BeeGFS",
        0x2003_0528 => "OrangeFS",
        0xBEEF_DEAD => "SNFS",
        0xAAD7_AAEA => "PanFS",
        0x786F_4256 => "vboxsf",
        0xBACB_ACBC => "vmhgfs",
        0x7C7C_6673 => "prl_fs",
        0x6573_5546 => "FUSE",
        _ => return None,
    })
}

/// Elsewhere it is not known.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) fn network_file_system(folder: &Path) -> io::Result<Option<&'static str>> {
    folder.metadata().map(|_| None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_an_id_is_not_another_one() {
        assert!(is_another("a", "b"));
        for (machine, here) in [("a", "a"), ("-", "a"), ("a", "-"), ("-", "-")] {
            assert!(!is_another(machine, here), "{machine} {here}");
        }
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    #[test]
    fn file_systems_of_a_network_or_of_a_host_are_known_and_local_ones_are_not_taken_for_them() {
        for (number, name) in [
            (u64::from(u32::from_be_bytes(*b"xoBV")), "vboxsf"),
            (0x1983_0326, "BeeGFS"),
            (0x2003_0528, "OrangeFS"),
            (0xBACB_ACBC, "vmhgfs"),
            (0xBEEF_DEAD, "SNFS"),
            (0x6969, "NFS"),
        ] {
            assert_eq!(network_name(number), Some(name), "{number:x}");
        }
        // ext4, XFS, Btrfs, ZFS, tmpfs, overlayfs and F2FS.
        for number in [0xEF53, 0x5846_5342, 0x9123_683E, 0x2FC1_2FC1, 0x0102_1994, 0x794C_7630, 0xF2F5_2010] {
            assert_eq!(network_name(number), None, "{number:x}");
        }
    }

    #[test]
    fn a_file_is_strong_where_its_file_system_can_be_seen() {
        let words =
            "weak: whether the file system is a local one, and syncs its folders, cannot be seen on this system";
        let is_seen = cfg!(any(target_os = "linux", target_os = "android"));
        assert_eq!(promise().to_string(), if is_seen { "strong" } else { words });
    }
}
