//! Where a file is: on which machine, and on which kind of file system.

use std::io;
use std::path::Path;

/// Returns the machine's own ID, or `unknown`. In a container it is that of the container, if its image has none of its
/// own.
pub(super) fn machine() -> String {
    let read = |path| std::fs::read_to_string(path).ok();
    let id = read("/etc/machine-id").or_else(|| read("/var/lib/dbus/machine-id")).unwrap_or_default();
    let is_id = |id: &str| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    Some(id.trim()).filter(|id| is_id(id)).unwrap_or("unknown").into()
}

/// Returns the network file system that a folder is on; `None` if it is on none that is known.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn network_file_system(folder: &Path) -> io::Result<Option<&'static str>> {
    /// The numbers of Linux' `statfs(2)`. Their locks or renames are not those of a local file system.
    const KINDS: [(u64, &str); 14] = [
        (0x6969, "NFS"),
        (0x517B, "SMB"),
        (0xFE53_4D42, "SMB2"),
        (0xFF53_4D42, "CIFS"),
        (0x0102_1997, "9P"),
        (0x00C3_6400, "Ceph"),
        (0x5346_414F, "AFS"),
        (0x6B41_4653, "AFS"),
        (0x7375_7245, "Coda"),
        (0x0116_1970, "GFS2"),
        (0x7461_636F, "OCFS2"),
        (0x0BD0_0BD0, "Lustre"),
        (0x4750_4653, "GPFS"),
        (0x6573_5546, "FUSE"),
    ];
    let found = rustix::fs::statfs(folder)?.f_type;
    // The field has another width and sign on other machines; the numbers have 32 bits.
    #[allow(clippy::cast_sign_loss, clippy::unnecessary_cast, reason = "the type differs between targets")]
    let found = found as u64 & 0xFFFF_FFFF;
    Ok(KINDS.iter().find(|(number, _)| *number == found).map(|(_, name)| *name))
}

/// Elsewhere it is not known.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) fn network_file_system(folder: &Path) -> io::Result<Option<&'static str>> {
    folder.metadata().map(|_| None)
}
