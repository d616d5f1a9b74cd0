//! What a refused call writes: its own stripe. A line that all stripes read must stay as it is, for else the refusals of
//! one session slow down all others.

use std::process::Command;

use imid::clock::ManualClock;
use imid::{Generator, SessionTag, SessionType};
use nix::libc;

use super::{T, host, ms};

const PAGE: usize = 4_096;
/// Enough that they fill several pages.
const STRIPES: usize = 256;
/// Set in the process whose generator is read-only.
const ALONE: &str = "IMID_TEST_ALONE";

/// A generator on pages that it shares with nothing.
#[repr(align(4096))]
struct Pages<'a>(Generator<&'a ManualClock, STRIPES>);

impl Pages<'_> {
    fn address(&self) -> usize {
        core::ptr::from_ref(self).addr()
    }

    #[expect(unsafe_code, reason = "padding is read, too")]
    fn bytes(&self) -> Vec<u8> {
        let start = core::ptr::from_ref(self).cast::<u8>();
        // SAFETY: the bytes of a value that lives, each read once, while no other thread has it.
        (0..size_of::<Self>()).map(|at| unsafe { start.wrapping_add(at).read_volatile() }).collect()
    }

    /// Makes each page but one read-only, or all of them writable.
    #[expect(unsafe_code, reason = "mprotect")]
    fn protect_all_but(&self, writable: Option<usize>) {
        for page in 0..size_of::<Self>() / PAGE {
            let keep = writable.is_none_or(|writable| writable == page);
            let protection = libc::PROT_READ | if keep { libc::PROT_WRITE } else { 0 };
            let address = core::ptr::without_provenance_mut(self.address() + page * PAGE);
            // SAFETY: the page holds this value's bytes and nothing else; a write to it ends the process, as is wanted.
            assert_eq!(unsafe { libc::mprotect(address, PAGE, protection) }, 0);
        }
    }
}

/// A session whose stripe lies on a page of stripes alone, and that page.
fn a_stripe_in_the_middle(pages: &Pages<'_>) -> (SessionTag, usize) {
    let last = size_of::<Pages<'_>>() / PAGE - 1;
    for room in 0..10_000 {
        let session = SessionTag::new(SessionType::GROUP, &format!("room-{room}"));
        pages.0.generate(session).unwrap();
        let before = pages.bytes();
        pages.0.generate(session).unwrap();
        let after = pages.bytes();
        let changed: Vec<_> = (0..before.len()).filter(|at| before[*at] != after[*at]).map(|at| at / PAGE).collect();
        if changed.iter().all(|page| *page == changed[0] && (2..last - 1).contains(page)) {
            return (session, changed[0]);
        }
    }
    panic!("no stripe in the middle");
}

/// Runs a test in a process of its own. Returns whether this is that process.
pub(super) fn alone(test: &str) -> bool {
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let run = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(ALONE, "1")
        .output()
        .unwrap();
    assert!(run.status.success(), "{}: {}", run.status, String::from_utf8_lossy(&run.stderr));
    false
}

/// In a process of its own: a write to what is read-only ends it.
#[test]
fn refusals_write_no_shared_line() {
    if !alone("refusal::refusals_write_no_shared_line") {
        return;
    }
    let clock = ManualClock::new(T);
    let pages = Box::new(Pages(host(1).stripes::<STRIPES>().max_lead(ms(3)).clock(&clock).build().unwrap()));
    let (session, page) = a_stripe_in_the_middle(&pages);
    for event in ["overload", "overload while the clock is behind", "the clock is too far behind"] {
        eprintln!("{event}");
        match event {
            "overload" => {}
            "overload while the clock is behind" => clock.set(T - 50),
            _ => clock.set(T - 4_000_000),
        }
        // The first of them may publish what the reading means.
        while pages.0.generate(session).is_ok() {}
        pages.protect_all_but(Some(page));
        for _ in 0..1_000 {
            assert!(pages.0.generate(session).is_err());
            assert!(pages.0.batch(session, 7).is_err());
        }
        pages.protect_all_but(None);
    }
}

/// The same of what is minted in one millisecond.
#[test]
fn ids_of_one_millisecond_write_no_shared_line() {
    if !alone("refusal::ids_of_one_millisecond_write_no_shared_line") {
        return;
    }
    let clock = ManualClock::new(T);
    let pages = Box::new(Pages(host(1).stripes::<STRIPES>().clock(&clock).build().unwrap()));
    let (session, page) = a_stripe_in_the_middle(&pages);
    for event in ["usual", "after a step back", "after an observed ID"] {
        eprintln!("{event}");
        match event {
            "usual" => {}
            "after a step back" => clock.set(T - 5_000),
            _ => pages.0.observe(imid::MessageId::last_at(T + 300).unwrap()).unwrap(),
        }
        pages.0.generate(session).unwrap();
        pages.protect_all_but(Some(page));
        // More than a millisecond holds, so that the lead is used, too.
        for _ in 0..10_000 {
            pages.0.generate(session).unwrap();
        }
        pages.protect_all_but(None);
    }
}
