//! Checks what each public type can be used for: whether it can be shared, sent, copied, compared and kept across a
//! panic.

#[allow(dead_code, reason = "another test uses the rest")]
mod public;

use std::collections::BTreeSet;
use std::fmt::{Debug, Display};
use std::hash::Hash;
use std::panic::{RefUnwindSafe, UnwindSafe};

use imid::clock::TickClock;
use imid_lease::admin::{AdminError, FreeIf, LaneView, Recovery, View};
use imid_lease::record::{LaneRecord, LaneState, MetaRecord, Name};
#[cfg(feature = "redis-queue")]
use imid_lease::redis_queue;
#[cfg(any(feature = "etcd", feature = "mysql", feature = "postgres", feature = "redis", feature = "zookeeper"))]
use imid_lease::register;
use imid_lease::register::{FileRegister, MemoryRegister, SharedRegister};
#[cfg(feature = "segment")]
use imid_lease::segment;
#[cfg(feature = "worker-ids")]
use imid_lease::worker_ids;
use imid_lease::{
    LaneOptions, LeaseError, LeasedGenerator, OpenError, OptionsError, Others, Phase, Promise, RegisterError, Status,
    record,
};

trait Sent: Send + Unpin + Debug + 'static {}
impl<T: Send + Unpin + Debug + 'static> Sent for T {}

trait Shared: Sent + Sync + UnwindSafe + RefUnwindSafe {}
impl<T: Sent + Sync + UnwindSafe + RefUnwindSafe> Shared for T {}

/// Checks a type that one thread has at a time: what talks to a store, and options with functions of the application.
fn sent<T: Sent>() {}

/// Checks a type of state that threads share.
fn shared<T: Shared>() {}

#[allow(dead_code, reason = "with some features only")]
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

/// Checks each type whose feature is on, and lists the names of all as [`public::types`] does.
macro_rules! check {
    ($($check:ident { $($name:literal $type:ty $(, if $feature:meta)?;)* })*) => {
        fn checked() -> BTreeSet<String> {
            $($(
                $(#[cfg($feature)])?
                $check::<$type>();
            )*)*
            let named = [$($(
                $(#[cfg($feature)])?
                ($name, std::any::type_name::<$type>()),
            )*)*];
            for (name, full) in named {
                let last = name.rsplit("::").next().unwrap_or_default();
                let full = full.split('<').next().unwrap_or_default();
                assert!(full.ends_with(&format!("::{last}")), "{name} is not {full}");
            }
            // Also those whose feature is off.
            [$($($name),*),*].map(str::to_owned).into()
        }
    };
}

check! {
    value {
        "record::Name" Name;
    }
    plain {
        "Others" Others;
        "Phase" Phase;
        "record::LaneState" LaneState;
        "segment::Block" segment::Block, if feature = "segment";
    }
    report {
        "register::Promise" Promise;
        "register::EtcdRoom" register::EtcdRoom, if feature = "etcd";
        "redis_queue::RedisQueueStatus" redis_queue::RedisQueueStatus, if feature = "redis-queue";
        "Status" Status;
        "record::LaneRecord" LaneRecord;
        "record::MetaRecord" MetaRecord;
        "segment::SegmentStatus" segment::SegmentStatus, if feature = "segment";
    }
    shared {
        "LaneOptions" LaneOptions;
        "LaneOptions" LaneOptions<TickClock, 64>;
        "worker_ids::WorkerOptions" worker_ids::WorkerOptions, if feature = "worker-ids";
        "worker_ids::WorkerOptions" worker_ids::WorkerOptions<TickClock>, if feature = "worker-ids";
        "worker_ids::WorkerClock" worker_ids::WorkerClock<imid::clock::SystemClock>, if feature = "worker-ids";
        "admin::FreeIf" FreeIf;
        "admin::LaneView" LaneView;
        "admin::Recovery" Recovery;
        "admin::View" View;
        "register::MemoryRegister" MemoryRegister;
        "LeasedGenerator" LeasedGenerator;
        "LeasedGenerator" LeasedGenerator<TickClock, 64>;
        "worker_ids::WorkerIds" worker_ids::WorkerIds, if feature = "worker-ids";
        "worker_ids::WorkerIds" worker_ids::WorkerIds<TickClock>, if feature = "worker-ids";
        "redis_queue::RedisQueue" redis_queue::RedisQueue, if feature = "redis-queue";
    }
    shared_until_a_panic {
        "register::Tls" register::Tls, if all(feature = "tls", feature = "etcd");
        "segment::Segment" segment::Segment, if feature = "segment";
    }
    sent {
        "register::EtcdRegister" register::EtcdRegister, if feature = "etcd";
        "register::FileRegister" FileRegister;
        "register::MysqlRegister" register::MysqlRegister, if feature = "mysql";
        "register::PostgresRegister" register::PostgresRegister, if feature = "postgres";
        "register::RedisRegister" register::RedisRegister, if feature = "redis";
        "register::SharedRegister" SharedRegister;
        "register::ZookeeperRegister" register::ZookeeperRegister, if feature = "zookeeper";
        "segment::leaf::MysqlTable" segment::leaf::MysqlTable, if all(feature = "mysql", feature = "segment");
        "segment::leaf::PostgresTable" segment::leaf::PostgresTable, if all(feature = "postgres", feature = "segment");
    }
    small_error {
        "LeaseError" LeaseError;
        "segment::NumberError" segment::NumberError, if feature = "segment";
    }
    error {
        "OpenError" OpenError;
        "redis_queue::QueueError" redis_queue::QueueError, if feature = "redis-queue";
        "segment::SegmentError" segment::SegmentError, if feature = "segment";
        "OptionsError" OptionsError;
        "register::RegisterError" RegisterError;
        "admin::AdminError" AdminError;
        "record::RecordError" record::RecordError;
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
    assert!(size_of::<LeaseError>() <= 24);
}
