//! An at-fork handler that is called before all others mints in the child.

use core::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

use imid::{Generator, MessageId};
use libtest_mimic::Trial;
use nix::libc;

use super::child::{Way, wipes_a_page};
use super::minting::{common, hot};

pub(super) fn all() -> Vec<Trial> {
    super::trials! {
        an_id_of_an_at_fork_handler_that_was_registered_first_is_the_childs
    }
}

/// What the handler that is registered before all others mints in.
static HANDLED: AtomicPtr<Generator> = AtomicPtr::new(core::ptr::null_mut());

/// Timestamp and spin of the handler's first IDs.
static IN_HANDLER: [AtomicU64; 100] = [const { AtomicU64::new(0) }; 100];

static IN_HANDLER_COUNT: AtomicUsize = AtomicUsize::new(0);

#[expect(unsafe_code, reason = "a handler has no argument")]
extern "C" fn mint_in_handler() {
    // SAFETY: a test sets it to a generator that lives until the test has set it back.
    let Some(ids) = (unsafe { HANDLED.load(Ordering::Relaxed).as_ref() }) else { return };
    for slot in &IN_HANDLER {
        let Ok(id) = ids.generate(hot()) else { return };
        slot.store((id.to_u128() >> 26) as u64, Ordering::Relaxed);
        IN_HANDLER_COUNT.fetch_add(1, Ordering::Relaxed);
    }
}

/// As an application does that has a handler of its own: before the first ID, so that its handler is called first.
#[expect(unsafe_code, reason = "pthread_atfork")]
pub(super) fn register_before_all_others() {
    // SAFETY: the handler lives as long as the process, and touches atomics and a generator only.
    let error = unsafe { libc::pthread_atfork(None, None, Some(mint_in_handler)) };
    assert_eq!(error, 0);
}

/// 100 IDs of the handler, and the parent's next 100, in the same millisecond or two: one run of 100 meets another in
/// one of 20 cases. So if parent and child are two hosts, ten meetings or more in 20 forks are rarer than one in 10⁷. Equal
/// stamps would meet in all 20.
///
/// Only the wiped page is sooner than the first handler.
fn an_id_of_an_at_fork_handler_that_was_registered_first_is_the_childs() {
    if !wipes_a_page() {
        return;
    }
    let mut forks_that_met = 0;
    for _ in 0..20 {
        let mut ids: Generator = Generator::new();
        let before = ids.generate(hot()).unwrap();
        HANDLED.store(&raw mut ids, Ordering::Relaxed);
        let child = Way::Fork.copy(|| {
            assert_eq!(IN_HANDLER_COUNT.load(Ordering::Relaxed), IN_HANDLER.len());
            let minted = IN_HANDLER.each_ref().map(|slot| u128::from(slot.load(Ordering::Relaxed)) << 26);
            minted.map(|bits| MessageId::from_u128(bits).unwrap()).to_vec()
        });
        HANDLED.store(core::ptr::null_mut(), Ordering::Relaxed);
        let stamp = |id: MessageId| MessageId::from_u128(id.to_u128() >> 26 << 26).unwrap();
        let parent: Vec<_> = (0..100).map(|_| stamp(ids.generate(hot()).unwrap())).collect();
        let child = child.ids();
        assert!(stamp(before) < child[0]);
        forks_that_met += usize::from(common(&parent, &child) > 0);
    }
    assert!(forks_that_met < 10, "in {forks_that_met} of 20 forks the handler minted its parent's IDs");
}
