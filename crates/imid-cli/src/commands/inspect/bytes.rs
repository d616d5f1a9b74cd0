//! Reads IDs as raw bytes.

use std::io::{self, Write};

use crate::Out;
use crate::descriptors;
use crate::input::read_some;
use crate::report::Stop;
use crate::scheme::{Id, Scheme};

/// Number of IDs that are read at once.
const AT_ONCE: usize = 1 << 13;

/// Calls `each` with each ID of standard input. The IDs have no separators.
///
/// Flushes the output before it waits for more input.
pub(super) fn each_id(
    out: &mut Out,
    scheme: Scheme,
    mut each: impl FnMut(&mut Out, Id) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let cannot_read = |error| Stop::Error(format!("cannot read standard input: {error}"));
    descriptors::check_stdin().map_err(cannot_read)?;
    let size = scheme.bytes();
    let mut buffer = vec![0; AT_ONCE * size];
    let (mut filled, mut read_before) = (0, 0_u64);
    let mut stdin = io::stdin().lock();
    loop {
        match read_some(&mut stdin, &mut buffer[filled..]).map_err(cannot_read)? {
            0 => break,
            n => filled += n,
        }
        let whole = filled - filled % size;
        for bytes in buffer[..whole].chunks_exact(size) {
            each(out, scheme.read_bytes(bytes).map_err(Stop::Error)?)?;
        }
        buffer.copy_within(whole..filled, 0);
        filled -= whole;
        read_before += whole as u64;
        out.flush()?;
    }
    match filled {
        0 => Ok(()),
        rest => Err(Stop::Error(format!("expected an ID of {size} bytes at byte {read_before}, found {rest} bytes"))),
    }
}
