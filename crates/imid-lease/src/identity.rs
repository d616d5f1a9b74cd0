//! Which register it is, for the status. No lease depends on it.

use crate::register::Register;
use crate::telemetry::call;
use imid_lease_protocol::record::RegisterRecord;

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

    /// Reads the ID of the register, if that is due. A failure is not an error of the lease, because a process may have no right to other
    /// records than those of its space.
    pub(crate) fn look<R: Register>(&mut self, mono_ms: u64, register: &mut R) {
        const KEY: &str = RegisterRecord::KEY;
        if self.register_id.is_some() || self.look_at_ms > mono_ms {
            return;
        }
        self.look_at_ms = mono_ms + PAUSE_MS;
        let text = call(register, "read", KEY, |register| register.read(KEY)).ok().flatten();
        self.register_id = text.and_then(|text| RegisterRecord::parse(&text).ok()).map(|record| record.register_id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::register::MemoryRegister;

    #[test]
    fn the_id_is_read_until_it_is_known_and_at_most_once_a_minute() {
        let id = "0f8fad5b-d9cb-469f-a165-70867728950e";
        let (mut register, mut identity) = (MemoryRegister::new(), Identity::default());
        identity.look(0, &mut register);
        register.compare_and_set("register", None, &format!("imid-lease/1 register id={id}")).unwrap();
        identity.look(PAUSE_MS - 1, &mut register);
        assert_eq!(identity.register_id(), None);
        identity.look(PAUSE_MS, &mut register);
        register.set_down(true);
        identity.look(3 * PAUSE_MS, &mut register);
        assert_eq!(identity.register_id(), Some(id));
        // A record of another version.
        let (mut register, mut identity) = (MemoryRegister::new(), Identity::default());
        register.compare_and_set("register", None, "imid-lease/2 register").unwrap();
        identity.look(0, &mut register);
        assert_eq!(identity.register_id(), None);
    }
}
