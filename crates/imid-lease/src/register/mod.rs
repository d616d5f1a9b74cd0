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

#[cfg(feature = "redis")]
pub use self::redis::RedisRegister;
pub use self::url::{DEFAULT_TIME_LIMIT, open_url, open_url_read_only};
#[cfg(feature = "zookeeper")]
pub use self::zookeeper::ZookeeperRegister;
#[cfg(feature = "etcd")]
pub use etcd::EtcdRegister;
pub use file::FileRegister;
pub use imid_lease_protocol::register::{MAX_KEY_LEN, MAX_VALUE_LEN, MemoryRegister, Promise, Register, RegisterError};
#[cfg(feature = "mysql")]
pub use mysql::MysqlRegister;
#[cfg(feature = "postgres")]
pub use postgres::PostgresRegister;
#[cfg(all(feature = "tls", feature = "_server"))]
pub use tls::Tls;
