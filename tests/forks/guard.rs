//! Kernels and sandboxes that do not wipe a page of memory when a process forks.

use std::process::Command;

use libtest_mimic::Trial;
use nix::libc;

use super::child::wipes_a_page;

/// Names how `madvise` is answered in a process that was started for that.
const MADVISE: &str = "IMID_TEST_MADVISE";

pub(super) fn all() -> Vec<Trial> {
    super::trials! {
        a_kernel_that_refuses_the_advice_falls_back_to_the_handler
        a_kernel_that_ignores_the_advice_falls_back_to_the_handler
    }
}

/// Runs the tests of forks that a handler sees in a process where `madvise` is answered so.
fn without_the_advice(answer: &str) {
    // In a process that was started here, or on a system where all other tests show it. Emulators have no filters.
    if std::env::var_os(MADVISE).is_some() || !wipes_a_page() {
        return;
    }
    let run = Command::new(std::env::current_exe().unwrap()).env(MADVISE, answer).output().unwrap();
    let text = String::from_utf8_lossy(&run.stdout) + String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{text}");
    let passed = format!("test result: ok. {} passed", super::all().len());
    assert!(text.contains(&passed), "{text}");
}

fn a_kernel_that_refuses_the_advice_falls_back_to_the_handler() {
    without_the_advice("refused");
}

/// As user-mode emulators do: any advice is fine, and none is followed.
fn a_kernel_that_ignores_the_advice_falls_back_to_the_handler() {
    without_the_advice("ignored");
}

/// Answers every `madvise` of this process from now on as [`MADVISE`] says, by a filter of system calls.
#[expect(unsafe_code, reason = "prctl")]
pub(super) fn answer_madvise() {
    let error = match std::env::var(MADVISE).as_deref() {
        Ok("refused") => libc::EINVAL,
        Ok("ignored") => 0,
        _ => return,
    };
    let code = |code: u32| u16::try_from(code).unwrap();
    let (load, equal, give) = (
        code(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS),
        code(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K),
        code(libc::BPF_RET | libc::BPF_K),
    );
    let call = u32::try_from(libc::SYS_madvise).unwrap();
    let mut filter = [
        // The first word of the call's description is its number.
        libc::sock_filter { code: load, jt: 0, jf: 0, k: 0 },
        libc::sock_filter { code: equal, jt: 0, jf: 1, k: call },
        libc::sock_filter { code: give, jt: 0, jf: 0, k: libc::SECCOMP_RET_ERRNO | error.unsigned_abs() },
        libc::sock_filter { code: give, jt: 0, jf: 0, k: libc::SECCOMP_RET_ALLOW },
    ];
    let program = libc::sock_fprog { len: 4, filter: filter.as_mut_ptr() };
    // SAFETY: the call takes no pointer.
    assert_eq!(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }, 0);
    // SAFETY: the program points to its four instructions, which the kernel copies.
    let set = unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) };
    assert_eq!(set, 0, "{}", std::io::Error::last_os_error());
    // SAFETY: the answer comes from the filter, whatever the arguments.
    let answered = unsafe { libc::madvise(core::ptr::null_mut(), 0, -1) };
    assert_eq!(answered, if error == 0 { 0 } else { -1 });
}
