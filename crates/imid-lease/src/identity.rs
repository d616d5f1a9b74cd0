//! Which register it is, for the status. No lease depends on it.

use crate::record::{RegisterRecord, uuid};
use crate::register::{Register, RegisterError};
use crate::telemetry::call;

/// The time between two looks, until one succeeds.
const PAUSE_MS: u64 = 60_000;

/// What is known of a register.
#[derive(Debug, Default)]
pub(crate) struct Identity {
    register_id: Option<String>,
    look_at_ms: u64,
}

impl Identity {
    pub(crate) fn register_id(&self) -> Option<&str> {
        self.register_id.as_deref()
    }

    /// Finds the ID of the register out, if that is due. A failure is not an error of the lease, because a process may have no right
    /// to other records than those of its space. No call begins once the lease closes: a close waits for the one that is under way.
    pub(crate) fn look<R: Register>(
        &mut self,
        mono_ms: u64,
        register: &mut R,
        random: u128,
        is_closing: impl Fn() -> bool,
    ) {
        if is_closing() || self.register_id.is_some() || self.look_at_ms > mono_ms {
            return;
        }
        self.look_at_ms = mono_ms + PAUSE_MS;
        self.register_id = identify(register, random, is_closing).ok().flatten();
    }
}

/// Returns the ID of a register, and writes it if there is none. `None` if its record has another format, or if the lease closes.
fn identify<R: Register>(
    register: &mut R,
    random: u128,
    is_closing: impl Fn() -> bool,
) -> Result<Option<String>, RegisterError> {
    const KEY: &str = RegisterRecord::KEY;
    let drawn = RegisterRecord { register_id: uuid(random) };
    let text = match call(register, "read", KEY, |register| register.read(KEY))? {
        None if is_closing() => None,
        None if call(register, "write", KEY, |it| it.compare_and_set(KEY, None, &drawn.to_string()))? => {
            return Ok(Some(drawn.register_id));
        }
        None if is_closing() => None,
        // Another process was faster.
        None => call(register, "read", KEY, |register| register.read(KEY))?,
        text => text,
    };
    Ok(text.and_then(|text| RegisterRecord::parse(&text).ok()).map(|record| record.register_id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::register::MemoryRegister;

    #[test]
    fn a_register_has_one_id_that_is_written_once() {
        let mut register = MemoryRegister::new();
        let mut found = [Identity::default(), Identity::default()];
        register.set_down(true);
        found[0].look(0, &mut register, 1, || false);
        assert_eq!(found[0].register_id(), None);
        register.set_down(false);
        found[0].look(1, &mut register, 2, || false);
        assert_eq!(register.read("register").unwrap(), None, "after a failure it waits for a minute");
        found[0].look(PAUSE_MS, &mut register, 3, || false);
        found[1].look(0, &mut register, 4, || false);
        let id = uuid(3);
        assert_eq!(found.each_ref().map(Identity::register_id), [Some(id.as_str()); 2]);
        assert_eq!(register.read("register").unwrap(), Some(format!("imid-lease/1 register id={id}")));
        // What another version wrote stays.
        let mut register = MemoryRegister::new();
        register.compare_and_set("register", None, "imid-lease/2 register").unwrap();
        let mut other = Identity::default();
        other.look(0, &mut register, 5, || false);
        assert_eq!(other.register_id(), None);
        assert_eq!(register.read("register").unwrap().as_deref(), Some("imid-lease/2 register"));
    }

    /// A register in which another process writes between a read and a write.
    struct Raced(MemoryRegister);

    impl Register for Raced {
        fn read(&mut self, key: &str) -> Result<Option<String>, RegisterError> {
            self.0.read(key)
        }

        fn list(&mut self, prefix: &str) -> Result<Vec<(String, String)>, RegisterError> {
            self.0.list(prefix)
        }

        fn compare_and_set(&mut self, key: &str, seen: Option<&str>, value: &str) -> Result<bool, RegisterError> {
            let other = RegisterRecord { register_id: uuid(9) };
            self.0.compare_and_set(key, None, &other.to_string())?;
            self.0.compare_and_set(key, seen, value)
        }

        fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
            Ok(None)
        }

        fn promise(&self) -> crate::Promise {
            self.0.promise()
        }
    }

    #[test]
    fn two_processes_that_start_together_find_one_id() {
        assert_eq!(identify(&mut Raced(MemoryRegister::new()), 1, || false).unwrap(), Some(uuid(9)));
    }
}
