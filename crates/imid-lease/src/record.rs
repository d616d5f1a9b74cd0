//! The records of a register, as operators see them.

pub use imid_lease_protocol::record::{LaneRecord, LaneState, MetaRecord, Name, RecordError};
