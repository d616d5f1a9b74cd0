//! What an operator does with a space: inspect its lanes, free one, recover after a restore, or change the number of lanes.
//!
//! ```
//! use std::time::Duration;
//!
//! use imid_lease::register::MemoryRegister;
//! use imid_lease::{LeasedGenerator, LaneOptions, admin};
//!
//! let mut register = MemoryRegister::new();
//! let ids = LeasedGenerator::open(register.clone(), LaneOptions::new().holder("web-3"))?;
//! ids.wait_until_open(Duration::from_secs(15))?;
//! let view = admin::view(&mut register, "lanes")?;
//! let lane = view.lanes.iter().find_map(|lane| lane.record.as_ref().ok()?.as_ref()).unwrap();
//! assert_eq!((view.meta.bits, lane.holder.as_str()), (6, "web-3"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(test)]
mod tests;

use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use imid_lease_protocol::admin as protocol;
pub use imid_lease_protocol::admin::{AdminError, LANES_LAYOUT, LaneView, Recovery, View, register_id, view};

use crate::lease::draw;
use crate::options::millis;
use crate::record::MetaRecord;
use crate::register::Register;

/// When [`free`] takes a lane from its holder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum FreeIf {
    /// If the record does not change while `free` watches it, for the horizon of the holder.
    Unchanged,
    /// Always. A live holder notices, uses what is left below its ceiling, and takes another lane. If no other lane is free, it
    /// cannot mint. No ID is duplicated.
    Forced,
}

/// When [`resize`] takes the lanes from their holders.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ResizeIf {
    /// If no holder renews its lane while `resize` watches the space, as [`recover`] does.
    Unused,
    /// Always. **Each live holder loses its lane, and mints nothing from then on**, until it is restarted with the new number of bits.
    Forced,
}

/// The longest time for which the holders of lanes are watched.
const LONGEST_WATCH: Duration = Duration::from_secs(60);

/// Takes a lane from its holder, so that another process can take it immediately.
///
/// # Errors
/// The register does not answer; there is no such space or lane; the lane is already free, or in use. The record has a horizon
/// of more than 24 h, which no holder writes, and `when` is [`FreeIf::Unchanged`].
pub fn free<R: Register + ?Sized>(register: &mut R, space: &str, lane: u16, when: FreeIf) -> Result<(), AdminError> {
    if when == FreeIf::Forced {
        return protocol::free(register, space, lane, &mut draw);
    }
    let held = protocol::held_lane(register, space, lane)?;
    thread::sleep(held.horizon()?);
    held.free(register, &mut draw)
}

/// Makes a space safe to use again after its register was restored from a backup, or lost acknowledged writes. No process may
/// use the space in the meantime.
///
/// All lanes become free, and start past everything that can have been minted: now plus a horizon and the largest clock error, or
/// [`Recovery::above_ms`] if that is later. Now is the later one of the store's clock and this machine's. Returns that time, in Unix
/// milliseconds.
///
/// If lanes are held, it first watches them for half of their longest horizon, but at most a minute: a live process renews its
/// lane once per quarter of its horizon. One with a horizon of more than four minutes can be missed.
///
/// # Errors
/// The register does not answer; there is no such space; a record has another format; a process uses the space
/// ([`is_in_use`](AdminError::is_in_use)), and nothing was changed. A lane of the backup is further ahead than that, so a clock
/// was ahead, and a greater `above_ms` is needed. The clocks of the store and of this machine differ by more than `max_skew`
/// ([`is_clock`](AdminError::is_clock)): one of them may be behind, so `above_ms` is needed too.
pub fn recover<R: Register + ?Sized>(register: &mut R, space: &str, recovery: Recovery) -> Result<u64, AdminError> {
    let before = view(register, space)?;
    refuse_live_holders(register, space, &before)?;
    let now_ms = later_ms(register, recovery)?;
    protocol::recover_at(register, space, recovery, now_ms, &mut draw)
}

/// Compares the two clocks at one moment: to connect and to watch a space takes longer than a clock may be off by.
fn later_ms<R: Register + ?Sized>(register: &mut R, recovery: Recovery) -> Result<u64, AdminError> {
    let before_ms = unix_ms();
    // The time in the middle of the call.
    let store_ms = register.now_ms()?;
    recovery.later_ms(store_ms, u64::midpoint(before_ms, unix_ms()))
}

/// Watches a space, and refuses it if a holder renews its lane.
fn refuse_live_holders<R: Register + ?Sized>(register: &mut R, space: &str, before: &View) -> Result<(), AdminError> {
    let Some(longest) = before.longest_horizon() else { return Ok(()) };
    thread::sleep((longest / 2).min(LONGEST_WATCH));
    before.check_unused(&view(register, space)?)
}

/// Creates a space, once, before the first process leases a lane of it. The layout of the lanes of a
/// [`LeasedGenerator`](crate::LeasedGenerator) is [`LANES_LAYOUT`].
///
/// Holders of a register that was lost may still mint, so the lanes start where those of a [`recover`] would. If there are lanes
/// and only the record that describes them is lost, all of them are closed, their holders stop, and the new ones start above
/// them. If it fails midway, no lane can be taken until it is called again.
///
/// # Errors
/// The register does not answer, or another process writes a lane; the space exists; its name, the layout or the number of bits
/// cannot be used; a record has another format. The clocks differ by more than `max_skew`, as for [`recover`].
pub fn create<R: Register + ?Sized>(
    register: &mut R,
    space: &str,
    layout: &str,
    bits: u32,
    recovery: Recovery,
) -> Result<MetaRecord, AdminError> {
    let now_ms = later_ms(register, recovery)?;
    protocol::create_at(register, space, layout, bits, recovery, now_ms, &mut draw)
}

/// Creates a space in which nothing was ever minted: its lanes start at the present.
///
/// **Never after a loss.** An emptied register looks like a new one, and this then repeats the IDs of the holders before: use
/// [`create`].
///
/// # Errors
/// The register does not answer; the space exists; its name, the layout or the number of bits cannot be used; there are lanes
/// already, so the space was used ([`is_used`](AdminError::is_used)).
pub fn create_first<R: Register + ?Sized>(
    register: &mut R,
    space: &str,
    layout: &str,
    bits: u32,
) -> Result<MetaRecord, AdminError> {
    protocol::create_first(register, space, layout, bits, &mut draw)
}

/// Changes the number of lane bits, and so the number of lanes. A process that holds a lane loses it and stops minting. Start the
/// processes with the new number.
///
/// If it fails midway, no lane can be taken until it is called again.
///
/// # Errors
/// The register does not answer; there is no such space; it already has this number of bits; a record has another format. A
/// process uses the space ([`is_in_use`](AdminError::is_in_use)) and `when` is [`ResizeIf::Unused`], and nothing was changed.
pub fn resize<R: Register + ?Sized>(
    register: &mut R,
    space: &str,
    bits: u32,
    when: ResizeIf,
) -> Result<MetaRecord, AdminError> {
    if when == ResizeIf::Unused {
        let before = view(register, space)?;
        protocol::check_bits(&before.meta, bits)?;
        refuse_live_holders(register, space, &before)?;
    }
    protocol::resize(register, space, bits, &mut draw)
}

/// The time of this machine's clock.
fn unix_ms() -> u64 {
    #[cfg(test)]
    if let Some(now_ms) = tests::here_ms() {
        return now_ms;
    }
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, millis)
}
