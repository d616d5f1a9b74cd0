//! Where leases are recorded: a store with an atomic compare-and-set.

#[cfg(feature = "etcd")]
mod etcd;
mod file;
#[cfg(any(feature = "etcd", feature = "zookeeper"))]
mod hosts;
#[cfg(feature = "mysql")]
mod mysql;
mod place;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "_server")]
mod query;
#[cfg(feature = "redis")]
mod redis;
#[cfg(feature = "_tokio")]
pub(crate) mod remote;
#[cfg(feature = "_server")]
#[cfg_attr(not(feature = "tls"), allow(dead_code, unreachable_pub, reason = "a URL that needs it is refused"))]
pub(crate) mod tls;
mod url;
#[cfg(feature = "_server")]
pub(crate) mod worker;
#[cfg(feature = "zookeeper")]
mod zookeeper;

/// What the tool `imid` shows of the stores. No part of the API.
#[doc(hidden)]
pub mod tool {
    #[cfg(feature = "etcd")]
    pub use super::etcd::{EtcdRoom, room};
    pub use super::url::{STORES, Store, store_of_url};
}

use core::time::Duration;
use std::cell::RefCell;

use crate::record::Name;

#[cfg(feature = "redis")]
pub use self::redis::RedisRegister;
pub use self::url::{open_url, open_url_read_only};
#[cfg(feature = "zookeeper")]
pub use self::zookeeper::ZookeeperRegister;
#[cfg(feature = "etcd")]
pub use etcd::EtcdRegister;
pub use file::FileRegister;
pub use imid_lease_protocol::register::{MAX_KEY_LEN, MAX_VALUE_LEN, MemoryRegister, Promise, Register, RegisterError};
use imid_lease_protocol::register::{check_key, check_prefix, check_value};
#[cfg(feature = "mysql")]
pub use mysql::MysqlRegister;
#[cfg(feature = "postgres")]
pub use postgres::PostgresRegister;
#[cfg(all(feature = "tls", feature = "_server"))]
pub use tls::Tls;

thread_local! {
    /// For whom this thread calls registers.
    static HOLDER: RefCell<Option<Name>> = const { RefCell::new(None) };
}

/// Says for which holder this thread calls registers, so that a server can show it as the name of the connection. Later calls
/// have no effect. A method of [`Register`] would have to be forwarded by everyone who wraps one.
pub(crate) fn call_for(holder: &Name) {
    HOLDER.with_borrow_mut(|named| _ = named.get_or_insert_with(|| holder.clone()));
}

/// Returns for whom this thread calls registers.
#[allow(dead_code, reason = "each feature of a server uses it")]
fn caller() -> Option<Name> {
    HOLDER.with_borrow(Clone::clone)
}

/// What a register may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Access {
    Write,
    Read,
}

/// Refuses a write of a register that was opened to read, and one that is outside the contract of [`Register`].
fn check_write(access: Access, key: &str, seen: Option<&str>, value: &str) -> Result<(), RegisterError> {
    if access == Access::Read {
        return Err(RegisterError::new("this register was opened to read only").permanent());
    }
    check_key(key)?;
    check_value(value)?;
    seen.map_or(Ok(()), check_value)
}

/// How long a call of an adapter may take by default.
pub const DEFAULT_TIME_LIMIT: Duration = Duration::from_secs(2);

/// How many time limits the first call of a lease may take, and one after others that have failed, if it has to connect. A
/// server that a thousand processes ask together needs longer for each of them. If they gave up and retried, it would never
/// finish.
#[allow(dead_code, reason = "each feature of a server uses it")]
const MOST_LIMITS: u32 = 5;
