//! Checks what each public type can be used for: whether it can be shared, sent, copied, compared and kept across a
//! panic.

#[allow(dead_code, reason = "another test uses the rest")]
mod public;

use std::collections::BTreeSet;
use std::fmt::{Debug, Display};
use std::hash::Hash;
use std::panic::{RefUnwindSafe, UnwindSafe};

use imid::clock::{SystemClock, TickClock};
use imid_lease::admin::{AdminError, FreeIf, LaneView, Recovery, View};
use imid_lease::record::{LaneRecord, LaneState, MetaRecord, Name, Token, Uuid};
use imid_lease::register::{
    EtcdRegister, EtcdRoom, FileRegister, MemoryRegister, MysqlRegister, PostgresRegister, RedisRegister,
    SharedRegister, Tls, ZookeeperRegister,
};
use imid_lease::segment::{Block, SegmentStatus, leaf};
use imid_lease::{
    LeaseError, LeasedGenerator, OpenError, Options, OptionsError, Others, Phase, Promise, RedisQueue,
    RedisQueueStatus, RegisterError, Segment, Status, WorkerClock, WorkerIds, WorkerOptions, record,
};

trait Sent: Send + Unpin + Debug + 'static {}
impl<T: Send + Unpin + Debug + 'static> Sent for T {}

trait Shared: Sent + Sync + UnwindSafe + RefUnwindSafe {}
impl<T: Sent + Sync + UnwindSafe + RefUnwindSafe> Shared for T {}

/// Checks a type that one thread has at a time: what talks to a store, and options with functions of the application.
fn sent<T: Sent>() {}

/// Checks a type of state that threads share.
fn shared<T: Shared>() {}

/// Checks a type of state that threads share, and that knows whether it was left by a panic.
fn shared_until_a_panic<T: Sent + Sync>() {}

/// Checks a type that is a part of a report: it can be kept and compared.
fn report<T: Shared + Clone + Eq>() {}

/// Checks a type of settings or parts. It has no order.
fn plain<T: Shared + Copy + Eq>() {}

/// Checks a type of names and numbers. It can be a key of a hash map.
fn value<T: Shared + Clone + Eq + Hash>() {}

fn error<T: Sent + Sync + std::error::Error>() {}

/// Checks an error of a call in a hot path.
fn small_error<T: Shared + Copy + Eq + std::error::Error>() {}

/// Checks each type, and lists its name as [`public::types`] does.
macro_rules! check {
    ($($check:ident { $($name:literal $type:ty,)* })*) => {
        fn checked() -> BTreeSet<String> {
            $($($check::<$type>();)*)*
            let named = [$($(($name, std::any::type_name::<$type>())),*),*];
            for (name, full) in named {
                let last = name.rsplit("::").next().unwrap_or_default();
                let full = full.split('<').next().unwrap_or_default();
                assert!(full.ends_with(&format!("::{last}")), "{name} is not {full}");
            }
            named.map(|(name, _)| name.to_owned()).into()
        }
    };
}

check! {
    value {
        "record::Name" Name,
        "record::Token" Token,
        "record::Uuid" Uuid,
    }
    plain {
        "Others" Others,
        "Phase" Phase,
        "record::LaneState" LaneState,
        "segment::Block" Block,
    }
    report {
        "register::EtcdRoom" EtcdRoom,
        "register::Promise" Promise,
        "RedisQueueStatus" RedisQueueStatus,
        "Status" Status,
        "record::LaneRecord" LaneRecord,
        "record::MetaRecord" MetaRecord,
        "segment::SegmentStatus" SegmentStatus,
    }
    shared {
        "Options" Options,
        "Options" Options<TickClock, 64>,
        "WorkerOptions" WorkerOptions,
        "WorkerOptions" WorkerOptions<TickClock>,
        "WorkerClock" WorkerClock<SystemClock>,
        "admin::FreeIf" FreeIf,
        "admin::LaneView" LaneView,
        "admin::Recovery" Recovery,
        "admin::View" View,
        "register::MemoryRegister" MemoryRegister,
        "register::SharedRegister" SharedRegister,
        "LeasedGenerator" LeasedGenerator,
        "LeasedGenerator" LeasedGenerator<TickClock, 64>,
        "WorkerIds" WorkerIds,
        "WorkerIds" WorkerIds<TickClock>,
        "RedisQueue" RedisQueue,
    }
    shared_until_a_panic {
        "register::Tls" Tls,
        "segment::Segment" Segment,
    }
    sent {
        "register::EtcdRegister" EtcdRegister,
        "register::FileRegister" FileRegister,
        "register::MysqlRegister" MysqlRegister,
        "register::PostgresRegister" PostgresRegister,
        "register::RedisRegister" RedisRegister,
        "register::SharedRegister" SharedRegister,
        "register::ZookeeperRegister" ZookeeperRegister,
        "segment::leaf::MysqlTable" leaf::MysqlTable,
        "segment::leaf::PostgresTable" leaf::PostgresTable,
    }
    small_error {
        "LeaseError" LeaseError,
    }
    error {
        "OpenError" OpenError,
        "OptionsError" OptionsError,
        "register::RegisterError" RegisterError,
        "admin::AdminError" AdminError,
        "record::RecordError" record::RecordError,
    }
}

#[test]
fn each_public_type_is_checked() {
    let (checked, public) = (checked(), public::types());
    let differ: Vec<_> = checked.symmetric_difference(&public).collect();
    assert!(differ.is_empty(), "`check!` and the sources differ in {differ:?}");
}

#[test]
fn values_can_be_printed() {
    fn is_display<T: Display>() {}
    is_display::<Name>();
    is_display::<Token>();
    is_display::<Uuid>();
    is_display::<Promise>();
    is_display::<LaneRecord>();
    is_display::<MetaRecord>();
}

#[test]
fn registers_can_be_trait_objects() {
    fn is_register<T: imid_lease::Register + ?Sized>() {}
    is_register::<dyn imid_lease::Register>();
    is_register::<Box<dyn imid_lease::Register>>();
}

#[test]
fn values_and_errors_of_hot_paths_are_small() {
    assert_eq!(size_of::<LeaseError>(), 24);
}
