//! What a register leases: numbered lanes of one kind.

use thiserror::Error;

use crate::record::{Name, RecordError};

/// The lanes of one ID space: their name in the register, the layout of the IDs, and how many bits tell lanes apart.
///
/// All processes that mint IDs of one space use an equal `Space` and one register. A register can hold several spaces
/// with different names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Space {
    name: Name,
    layout: Name,
    bits: u32,
}

/// The layout of 80-bit IDs. Those of worker IDs have other names.
pub const IMID: &str = "imid-80";

impl Space {
    /// Returns the space "lanes" of 2^`bits` lanes of 80-bit IDs.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn lanes(bits: u32) -> Result<Self, SpaceError> {
        Self::new("lanes", IMID, bits)
    }

    /// Returns a space. Both names are [`Name`]s.
    ///
    /// # Errors
    /// A name with other characters, such as `my lanes`; more than 16 bits, or for 80-bit IDs more than the 12 of their spin.
    pub fn new(name: &str, layout: &str, bits: u32) -> Result<Self, SpaceError> {
        let (name, layout) = (Name::parse(name)?, Name::parse(layout)?);
        let max = if layout.as_str() == IMID { 12 } else { 16 };
        if bits > max {
            return Err(SpaceError::Bits { max, found: bits });
        }
        Ok(Self { name, layout, bits })
    }

    /// Returns the name.
    pub const fn name(&self) -> &Name {
        &self.name
    }

    /// Returns the layout of the IDs, such as `imid-80`.
    pub fn layout(&self) -> &str {
        self.layout.as_str()
    }

    /// Returns whether its lanes are those of 80-bit IDs, and not worker IDs.
    pub fn has_generator_lanes(&self) -> bool {
        self.layout() == IMID
    }

    /// Returns how many bits tell lanes apart.
    pub const fn bits(&self) -> u32 {
        self.bits
    }

    /// Returns the number of lanes.
    pub const fn lane_count(&self) -> u32 {
        1 << self.bits
    }

    /// Returns the prefix of the keys of all records of the space.
    pub fn prefix(&self) -> String {
        format!("{}/", self.name)
    }

    /// Returns the key of the record that describes the space.
    pub fn meta_key(&self) -> String {
        format!("{}/meta", self.name)
    }

    /// Returns the key of a lane's record. `era` counts how often the number of lanes was changed.
    pub fn lane_key(&self, era: u64, lane: u16) -> String {
        format!("{}/{era}/{lane:05}", self.name)
    }

    /// Returns the lane that a key names; `None` if it is not the key of a lane of this era.
    pub fn lane_of(&self, key: &str, era: u64) -> Option<u16> {
        let rest = key.strip_prefix(self.name.as_str())?.strip_prefix('/')?;
        let (found, lane) = rest.split_once('/')?;
        if found.parse() != Ok(era) {
            return None;
        }
        lane.parse().ok().filter(|lane| u32::from(*lane) < self.lane_count())
    }
}

/// The name, the layout or the number of bits of a space is outside its range.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum SpaceError {
    /// A name that is not a [`Name`].
    #[error(transparent)]
    Name(#[from] RecordError),
    /// Too many lane bits.
    #[error("expected at most {max} lane bits, found {found}")]
    Bits {
        /// The most that the layout can have.
        max: u32,
        /// The number that was given.
        found: u32,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_names_its_lane_in_its_era() {
        let space = Space::lanes(4).unwrap();
        assert_eq!(space.lane_key(2, 7), "lanes/2/00007");
        assert_eq!(space.lane_of("lanes/2/00007", 2), Some(7));
        for key in ["lanes/1/00007", "lanes/2/00016", "lanes/2/x", "lanes/meta", "lanes2/2/00007", "lanes"] {
            assert_eq!(space.lane_of(key, 2), None, "{key}");
        }
    }

    #[test]
    fn a_space_has_a_plain_name_and_few_bits() {
        let refused = |space: Result<Space, SpaceError>| space.unwrap_err().to_string();
        let name = "expected a name of 1 to 64 of the characters A-Z, a-z, 0-9, '-', '_', '.' and ':', found ";
        assert_eq!(refused(Space::new("my lanes", "x", 1)), format!("{name}\"my lanes\""));
        assert_eq!(refused(Space::new("a", "", 1)), format!("{name}\"\""));
        assert_eq!(refused(Space::new("a", "b", 17)), "expected at most 16 lane bits, found 17");
        assert_eq!(refused(Space::lanes(13)), "expected at most 12 lane bits, found 13");
        assert_eq!(Space::new("a", "b", 16).unwrap().lane_count(), 65_536);
        assert!(Space::lanes(12).unwrap().has_generator_lanes());
        assert!(!Space::new("lanes", "snowflake", 12).unwrap().has_generator_lanes());
    }
}
