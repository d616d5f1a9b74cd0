//! What the types that programs keep and share can be used for. `docs/api` lists the traits of all types.

use std::fmt::Debug;
use std::panic::{RefUnwindSafe, UnwindSafe};

use imid::clock::TickClock;
use imid_lease::register::FileRegister;
use imid_lease::{LaneOptions, LeaseError, LeasedGenerator, OpenError, Register, RegisterError, Status};

fn sent<T: Send + Unpin + Debug + 'static>() {}
fn shared<T: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + Debug + 'static>() {}
fn error<T: Send + Sync + std::error::Error + 'static>() {}
fn register<T: Register + ?Sized>() {}

#[test]
fn a_lease_can_be_shared_and_a_register_can_be_sent() {
    shared::<LeasedGenerator>();
    shared::<LeasedGenerator<TickClock, 64>>();
    shared::<LaneOptions<TickClock, 64>>();
    shared::<Status>();
    sent::<FileRegister>();
    error::<OpenError>();
    error::<RegisterError>();
}

#[test]
fn registers_can_be_trait_objects() {
    register::<dyn Register>();
    register::<Box<dyn Register>>();
}

#[test]
fn errors_of_hot_paths_are_small() {
    fn is_copy<T: Copy>() {}
    is_copy::<LeaseError>();
    assert!(size_of::<LeaseError>() <= 24);
}
