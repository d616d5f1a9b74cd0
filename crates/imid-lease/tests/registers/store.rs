//! The servers that `ci/services.sh` started, a file and the memory.

use std::env;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use imid_lease::register::{DEFAULT_TIME_LIMIT, MemoryRegister, Register, open_url, tool::STORES};

/// The names of the servers.
pub(crate) fn servers() -> impl Iterator<Item = &'static str> {
    STORES.iter().filter(|store| store.is_server()).map(|store| store.name)
}

/// A store under test. `file` and `memory` are not servers.
pub(crate) struct Store {
    pub(crate) name: &'static str,
    pub(crate) url: String,
    memory: Option<MemoryRegister>,
}

impl Store {
    /// Finds the server of a store, or says why the store cannot be tested.
    pub(crate) fn from_env(name: &'static str) -> Result<Self, String> {
        let variable = format!("IMID_{}_URL", name.to_uppercase());
        let url = env::var(&variable).map_err(|_| format!("{variable} is not set; ci/leases.sh starts the servers"))?;
        open_url(&url, DEFAULT_TIME_LIMIT).map_err(|error| error.to_string())?;
        Ok(Self { name, url, memory: None })
    }

    pub(crate) fn file(path: &Path) -> Self {
        Self { name: "file", url: format!("file:{}", path.display()), memory: None }
    }

    pub(crate) fn memory() -> Self {
        Self { name: "memory", url: String::new(), memory: Some(MemoryRegister::new()) }
    }

    pub(crate) fn is_server(&self) -> bool {
        servers().any(|name| name == self.name)
    }

    /// Opens a register with a connection of its own. Its calls have time, because a busy machine can be slow.
    pub(crate) fn open(&self) -> Box<dyn Register> {
        match &self.memory {
            Some(memory) => Box::new(memory.clone()),
            None => open_url(&self.url, LONG).unwrap(),
        }
    }

    /// Opens a register with the default time limit.
    pub(crate) fn open_with_default_limit(&self) -> Box<dyn Register> {
        open_url(&self.url, DEFAULT_TIME_LIMIT).unwrap()
    }

    /// Returns the host and port of the server.
    pub(crate) fn address(&self) -> &str {
        let rest = self.url.split_once("://").unwrap().1;
        let rest = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest);
        rest.split('/').next().unwrap()
    }

    /// Returns the URL with another host and port.
    pub(crate) fn url_at(&self, address: &str) -> String {
        self.url.replace(self.address(), address)
    }

    /// Returns how exactly the store tells the time.
    pub(crate) fn time_step_ms(&self) -> u64 {
        if self.name == "etcd" { 1000 } else { 5 }
    }

    /// Returns whether a write is a single message, so that it takes effect although all replies are lost.
    pub(crate) fn sends_each_write_at_once(&self) -> bool {
        self.name != "zookeeper"
    }

    /// Runs `ci/services.sh server STORE ACTION`.
    pub(crate) fn server(&self, action: &str) {
        server(self.name, action);
    }

    /// Starts the server if a failed trial left it stopped or frozen.
    pub(crate) fn start_if_stopped(&self) {
        self.server("resume");
        if self.open_with_default_limit().now_ms().is_err() {
            self.server("stop");
            self.server("start");
        }
    }
}

/// Runs `ci/services.sh server NAME ACTION`.
pub(crate) fn server(name: &str, action: &str) {
    let script = env::var("IMID_SERVICES_SH").expect("ci/services.sh sets IMID_SERVICES_SH");
    let status = Command::new("bash").args([&script, "server", name, action]).status().unwrap();
    assert!(status.success(), "{script} server {name} {action}: {status}");
}

/// Returns a key that no other test uses.
pub(crate) fn fresh_key() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("test/{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// A time limit with room for a busy machine.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// The default time limit of the adapters, with room for a busy machine.
pub(crate) const TIME_LIMIT_AND_ROOM: Duration = Duration::from_millis(3500);
