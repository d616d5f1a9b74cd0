//! What refuses a block, for each database.

use crate::segment::{BlockError, refused};
use crate::{Promise, RegisterError};

/// The tag does not exist.
pub(super) fn no_tag(tag: &str) -> BlockError {
    refused(format!("expected a row of the tag {tag:?} in leaf_alloc, found none"))
}

/// Returns whether a failure is one of these, and not one of the client.
pub(super) fn is_refusal(failure: &BlockError) -> bool {
    failure.downcast_ref().is_some_and(RegisterError::is_permanent)
}

/// Refuses a table whose acknowledged updates can be lost.
pub(super) fn check(promise: Promise) -> Result<(), BlockError> {
    match promise {
        Promise::Strong => Ok(()),
        Promise::Weak(reason) => Err(refused(format!("the database can lose acknowledged writes: {reason}"))),
    }
}
