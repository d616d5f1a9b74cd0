//! What an operator writes in a register: a new space, another number of lanes, a lane that is freed, a recovery after a restore.
//!
//! The time and the random bits are passed in, and nothing waits. `imid_lease::admin` has both clocks, and watches holders.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::time::Duration;

use thiserror::Error;

use crate::engine::hold::END_OF_TIME_MS;
use crate::record::{
    LaneRecord, LaneState, MetaRecord, Name, RecordError, RegisterRecord, Space, SpaceError, Token, uuid,
};
use crate::register::{Register, RegisterError};

/// Draws 128 random bits, new for each call. A token must come from the system at the moment of its use, so that two copies of one
/// machine never write the same record.
pub type Draw<'a> = &'a mut dyn FnMut() -> Result<u128, RegisterError>;

/// How often a record that others write at the same time is read again.
const MOST_TRIES: u32 = 100;

/// The longest horizon of a holder: a day.
pub const LONGEST_HORIZON: Duration = Duration::from_secs(24 * 3_600);

/// A space and its lanes, as they were read from the register.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct View {
    /// The record that describes the space.
    pub meta: MetaRecord,
    /// All lanes, in order.
    pub lanes: Vec<LaneView>,
}

/// A lane, as it was read.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct LaneView {
    /// Its number.
    pub lane: u16,
    /// Its record; `None` if the lane was never taken, or an error if the record has another format.
    pub record: Result<Option<LaneRecord>, RecordError>,
}

/// What a [`recovery`](recover_at) and a [new space](create_at) need to know. Neither value has a default, because IDs can repeat if one is too small.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Recovery {
    /// The longest horizon that a process of this space has used since the backup was made.
    pub horizon: Duration,
    /// The largest error of a clock, as in `LaneOptions::max_skew`.
    pub max_skew: Duration,
    /// A time above all IDs that were minted, in Unix milliseconds, if you know one: the greatest ID in the message store shows
    /// it. Needed if a clock was ahead by more than `max_skew` after the backup was made, because nothing else records it, and if the
    /// clocks of the store and of this machine differ by more than `max_skew`.
    pub above_ms: Option<u64>,
}

impl Recovery {
    /// Returns these two values, without a time that all IDs are below.
    pub const fn new(horizon: Duration, max_skew: Duration) -> Self {
        Self { horizon, max_skew, above_ms: None }
    }

    /// Sets a time above all IDs that were minted, in Unix milliseconds.
    #[must_use]
    pub const fn above_ms(mut self, above_ms: u64) -> Self {
        self.above_ms = Some(above_ms);
        self
    }

    /// Returns the later one of the store's time, if it has one, and this machine's. A clock that is behind must not lower the floor.
    ///
    /// # Errors
    /// The two differ by more than `max_skew`, and no time is known that is above all IDs.
    pub fn later_ms(&self, store_ms: Option<u64>, here_ms: u64) -> Result<u64, AdminError> {
        let Some(store_ms) = store_ms else { return Ok(here_ms) };
        if store_ms.abs_diff(here_ms) > millis(self.max_skew) && self.above_ms.is_none() {
            return Err(AdminKind::Clocks { store_ms, here_ms, max_skew: self.max_skew }.into());
        }
        Ok(store_ms.max(here_ms))
    }
}

/// Returns the UUID of a register: the same for all its spaces, as in `Status::register_id`. `None` if no space was created in it yet.
///
/// # Errors
/// The register does not answer, or the record has another format.
pub fn register_id<R: Register + ?Sized>(register: &mut R) -> Result<Option<String>, AdminError> {
    let text = register.read(RegisterRecord::KEY)?;
    Ok(text.map(|text| RegisterRecord::parse(&text)).transpose()?.map(|record| record.register_id))
}

/// Reads a space.
///
/// # Errors
/// The register does not answer; there is no such space, or its description has another format.
pub fn view<R: Register + ?Sized>(register: &mut R, space: &str) -> Result<View, AdminError> {
    let (meta, space) = describe(register, space)?;
    // A space can have 65,536 lanes.
    let records: HashMap<_, _> = register.list(&space.prefix())?.into_iter().collect();
    let lane = |lane: u16| {
        let text = records.get(&space.lane_key(meta.era, lane));
        LaneView { lane, record: text.map(|text| LaneRecord::parse(text)).transpose() }
    };
    let lanes = lanes(&space).map(lane).collect();
    Ok(View { meta, lanes })
}

impl View {
    /// Returns the longest horizon of those who hold a lane; `None` if nobody does.
    pub fn longest_horizon(&self) -> Option<Duration> {
        self.lanes.iter().filter_map(LaneView::held).map(|record| Duration::from_millis(record.horizon_ms)).max()
    }

    /// Compares with a later view.
    ///
    /// # Errors
    /// A holder has renewed its lane, or taken it. A lane that was given back has no holder.
    pub fn check_unused(&self, later: &Self) -> Result<(), AdminError> {
        let mut changed = self.lanes.iter().zip(&later.lanes).filter(|(before, after)| before != after);
        match changed.find_map(|(_, after)| Some((after.lane, after.held()?))) {
            Some((lane, record)) => Err(AdminKind::InUse { lane, holder: record.holder.clone() }.into()),
            None => Ok(()),
        }
    }
}

impl LaneView {
    fn held(&self) -> Option<&LaneRecord> {
        self.record.as_ref().ok()?.as_ref().filter(|record| record.state == LaneState::Held)
    }
}

/// A lane that is held, as it was read.
#[derive(Clone, Debug)]
pub struct HeldLane {
    lane: u16,
    key: String,
    text: String,
    record: LaneRecord,
}

impl HeldLane {
    /// Returns the horizon of its holder: how long to watch it.
    ///
    /// # Errors
    /// More than 24 h, which no holder writes.
    pub fn horizon(&self) -> Result<Duration, AdminError> {
        let (lane, horizon_ms) = (self.lane, self.record.horizon_ms);
        let horizon = Duration::from_millis(horizon_ms);
        if horizon > LONGEST_HORIZON { Err(AdminKind::Long { lane, horizon_ms }.into()) } else { Ok(horizon) }
    }

    /// Frees it, if its record has not changed since it was read.
    ///
    /// # Errors
    /// The register does not answer; the record has changed ([`is_in_use`](AdminError::is_in_use)).
    pub fn free<R: Register + ?Sized>(self, register: &mut R, draw: Draw) -> Result<(), AdminError> {
        let Self { lane, key, text, record } = self;
        let holder = record.holder.clone();
        // The ceiling stays: only the holder knows what it has used.
        let freed = LaneRecord { version: record.version + 1, token: token(draw)?, state: LaneState::Free, ..record };
        let is_freed = register.compare_and_set(&key, Some(&text), &freed.to_string())?;
        if is_freed { Ok(()) } else { Err(AdminKind::InUse { lane, holder }.into()) }
    }
}

/// Reads a lane that is held.
///
/// # Errors
/// The register does not answer; there is no such space or lane; the lane is free.
pub fn held_lane<R: Register + ?Sized>(register: &mut R, space: &str, lane: u16) -> Result<HeldLane, AdminError> {
    let (meta, space) = describe(register, space)?;
    if u32::from(lane) >= space.lane_count() {
        return Err(AdminKind::NoLane { lanes: space.lane_count(), found: lane }.into());
    }
    let key = space.lane_key(meta.era, lane);
    let text = register.read(&key)?.ok_or(AdminKind::NotHeld { lane })?;
    let record = LaneRecord::parse(&text)?;
    if record.state != LaneState::Held {
        return Err(AdminKind::NotHeld { lane }.into());
    }
    Ok(HeldLane { lane, key, text, record })
}

/// Frees a lane, whoever holds it.
///
/// # Errors
/// As for [`held_lane`]. Its holder renews the lane at the same time, a hundred times.
pub fn free<R: Register + ?Sized>(register: &mut R, space: &str, lane: u16, draw: Draw) -> Result<(), AdminError> {
    for _ in 1..MOST_TRIES {
        match held_lane(register, space, lane)?.free(register, draw) {
            Err(error) if error.is_in_use() => {}
            done => return done,
        }
    }
    let held = held_lane(register, space, lane)?;
    let key = held.key.clone();
    held.free(register, draw).map_err(|error| if error.is_in_use() { AdminKind::Busy { key }.into() } else { error })
}

/// Makes a space safe to use again after its register was restored from a backup, or lost acknowledged writes. No process may
/// use the space in the meantime.
///
/// All lanes become free, and start past everything that can have been minted: `now_ms` plus a horizon and the largest clock error, or
/// [`Recovery::above_ms`] if that is later. Returns that time, in Unix milliseconds.
///
/// # Errors
/// The register does not answer; there is no such space; a record has another format. A lane of the backup is further ahead than
/// that, so a clock was ahead, and a greater `above_ms` is needed.
pub fn recover_at<R: Register + ?Sized>(
    register: &mut R,
    space: &str,
    recovery: Recovery,
    now_ms: u64,
    draw: Draw,
) -> Result<u64, AdminError> {
    let (meta, space) = describe(register, space)?;
    let mut records = Vec::new();
    for lane in lanes(&space) {
        let key = space.lane_key(meta.era, lane);
        let text = register.read(&key)?;
        let record = text.as_deref().map(LaneRecord::parse).transpose()?;
        records.push((key, record, text));
    }
    let granted = || records.iter().filter_map(|(key, record, _)| Some((key, record.as_ref()?)));
    let horizon_ms = granted().map(|(_, record)| record.horizon_ms).max().unwrap_or(0);
    let ahead_ms = horizon_ms.max(millis(recovery.horizon)).saturating_add(millis(recovery.max_skew));
    let by_clock_ms = now_ms.saturating_add(ahead_ms);
    let floor_ms = by_clock_ms.max(recovery.above_ms.unwrap_or(0)).max(meta.floor_ms).min(END_OF_TIME_MS);
    // Its holder had a clock that was ahead. After the backup it may have gone on, in this lane or in another one.
    let furthest = granted().max_by_key(|(_, record)| record.ceiling_ms);
    if let Some((key, record)) = furthest.filter(|(_, record)| record.ceiling_ms > floor_ms) {
        return Err(AdminKind::Ahead { key: key.clone(), ceiling_ms: record.ceiling_ms, floor_ms }.into());
    }
    let next = MetaRecord { version: meta.version + 1, token: token(draw)?, floor_ms, ..meta.clone() };
    replace(register, &space.meta_key(), Some(&meta.to_string()), &next.to_string())?;
    // A lane without a record also gets one: a first write of the lane can be late, and must not find what it expects.
    let never_taken = never_taken("recover", floor_ms)?;
    for (key, record, text) in records {
        let record = record.unwrap_or_else(|| never_taken.clone());
        let state = if record.state == LaneState::Closed { LaneState::Closed } else { LaneState::Free };
        let next =
            LaneRecord { version: record.version + 1, token: token(draw)?, ceiling_ms: floor_ms, state, ..record };
        replace(register, &key, text.as_deref(), &next.to_string())?;
    }
    Ok(floor_ms)
}

/// Returns a record for a lane that was never taken.
fn never_taken(by: &str, ceiling_ms: u64) -> Result<LaneRecord, AdminError> {
    let (holder, state) = (Name::parse(by)?, LaneState::Free);
    Ok(LaneRecord { version: 0, token: Token(0), holder, horizon_ms: 0, ceiling_ms, state })
}

/// Creates a space in which nothing was ever minted: its lanes start at the present.
///
/// **Never after a loss.** An emptied register looks like a new one, and this then repeats the IDs of the holders before: use
/// [`create_at`].
///
/// # Errors
/// The register does not answer; the space exists; its name, the layout or the number of bits cannot be used; there are lanes
/// already, so the space was used ([`is_used`](AdminError::is_used)).
pub fn create_first<R: Register + ?Sized>(
    register: &mut R,
    space: &str,
    layout: &str,
    bits: u32,
    draw: Draw,
) -> Result<MetaRecord, AdminError> {
    let space = new_space(register, space, layout, bits)?;
    if let Some((key, _)) = register.list(&space.prefix())?.first() {
        return Err(AdminKind::Used { key: key.clone() }.into());
    }
    name_register(register, draw)?;
    describe_new(register, &space, 1, 0, draw)
}

/// Creates a space, once, before the first process leases a lane of it.
///
/// Holders of a register that was lost may still mint, so the lanes start where those of a [recovery](recover_at) would. If there are
/// lanes and only the record that describes them is lost, all of them are closed, their holders stop, and the new ones start above
/// them. If it fails midway, no lane can be taken until it is called again.
///
/// # Errors
/// The register does not answer, or another process writes a lane; the space exists; its name, the layout or the number of bits
/// cannot be used; a record has another format.
pub fn create_at<R: Register + ?Sized>(
    register: &mut R,
    space: &str,
    layout: &str,
    bits: u32,
    recovery: Recovery,
    now_ms: u64,
    draw: Draw,
) -> Result<MetaRecord, AdminError> {
    let space = new_space(register, space, layout, bits)?;
    name_register(register, draw)?;
    let ahead_ms = millis(recovery.horizon.saturating_add(recovery.max_skew));
    let mut floor_ms = now_ms.saturating_add(ahead_ms).max(recovery.above_ms.unwrap_or(0));
    let mut last_era = 0;
    let prefix = space.prefix();
    for (key, _) in register.list(&prefix)? {
        let era = key[prefix.len()..].split_once('/').and_then(|(era, _)| era.parse().ok());
        if let Some(era) = era {
            last_era = last_era.max(era);
            floor_ms = floor_ms.max(close_lane(register, &key, 0, draw)?);
        }
    }
    let (era, floor_ms) = (last_era + 1, floor_ms.min(END_OF_TIME_MS));
    // The first write of a lane can be from before the register was lost, and must not find what it expects. The description comes
    // last: until then, no process takes a lane.
    for lane in lanes(&space) {
        let record = LaneRecord { version: 1, token: token(draw)?, ..never_taken("create", floor_ms)? };
        replace(register, &space.lane_key(era, lane), None, &record.to_string())?;
    }
    describe_new(register, &space, era, floor_ms, draw)
}

/// Returns a space that is not in the register.
fn new_space<R: Register + ?Sized>(
    register: &mut R,
    space: &str,
    layout: &str,
    bits: u32,
) -> Result<Space, AdminError> {
    let space = Space::new(space, layout, bits)?;
    match register.read(&space.meta_key())? {
        None => Ok(space),
        Some(text) => {
            let bits = MetaRecord::parse(&text)?.bits;
            Err(AdminKind::Exists { name: space.name().to_string(), bits }.into())
        }
    }
}

/// Writes the record that describes a new space.
fn describe_new<R: Register + ?Sized>(
    register: &mut R,
    space: &Space,
    era: u64,
    floor_ms: u64,
    draw: Draw,
) -> Result<MetaRecord, AdminError> {
    let meta = description(space, draw()?, era, floor_ms);
    replace(register, &space.meta_key(), None, &meta.to_string())?;
    Ok(meta)
}

/// Returns the first description of a space.
fn description(space: &Space, random: u128, era: u64, floor_ms: u64) -> MetaRecord {
    let (layout, bits) = (space.layout().into(), space.bits());
    MetaRecord { version: 1, token: Token(random as u64), space_id: uuid(random), layout, bits, era, floor_ms }
}

/// Creates a space in a register that has no record of it, with lanes that start at the present: for development, and where nothing can
/// have been minted. Returns whether there was none. Two processes that call it together create one space.
///
/// After a loss, IDs would repeat: [`create_at`] keeps clear of them.
///
/// # Errors
/// The register does not answer.
pub fn create_missing<R: Register + ?Sized>(
    register: &mut R,
    space: &Space,
    draw: Draw,
) -> Result<bool, RegisterError> {
    // Lanes without a description are not a new space.
    if !register.list(&space.prefix())?.is_empty() {
        return Ok(false);
    }
    // A process may have no right to other records than those of its space.
    let _ = name_register(register, draw);
    let meta = description(space, draw()?, 1, 0);
    register.compare_and_set(&space.meta_key(), None, &meta.to_string())
}

/// Writes the record that names a register, if there is none.
fn name_register<R: Register + ?Sized>(register: &mut R, draw: Draw) -> Result<(), RegisterError> {
    if register.read(RegisterRecord::KEY)?.is_none() {
        // If another process is faster, its name stays.
        let named = RegisterRecord { register_id: uuid(draw()?) };
        register.compare_and_set(RegisterRecord::KEY, None, &named.to_string())?;
    }
    Ok(())
}

/// The layout of the lanes of 80-bit IDs, for [`create_at`].
pub const LANES_LAYOUT: &str = crate::record::IMID;

/// Changes the number of lane bits, and so the number of lanes. A process that holds a lane loses it and stops minting. Start the
/// processes with the new number.
///
/// If it fails midway, no lane can be taken until it is called again.
///
/// # Errors
/// The register does not answer; there is no such space; it already has this number of bits; a record has another format.
pub fn resize<R: Register + ?Sized>(
    register: &mut R,
    space: &str,
    bits: u32,
    draw: Draw,
) -> Result<MetaRecord, AdminError> {
    let (meta, old) = describe(register, space)?;
    check_bits(&meta, bits)?;
    let mut floor_ms = meta.floor_ms;
    for lane in lanes(&old) {
        floor_ms = floor_ms.max(close_lane(register, &old.lane_key(meta.era, lane), meta.floor_ms, draw)?);
    }
    let next = MetaRecord {
        version: meta.version + 1,
        token: token(draw)?,
        bits,
        era: meta.era + 1,
        floor_ms,
        ..meta.clone()
    };
    replace(register, &old.meta_key(), Some(&meta.to_string()), &next.to_string())?;
    Ok(next)
}

/// Closes a lane permanently, and returns its ceiling.
fn close_lane<R: Register + ?Sized>(register: &mut R, key: &str, floor_ms: u64, draw: Draw) -> Result<u64, AdminError> {
    for _ in 0..MOST_TRIES {
        let text = register.read(key)?;
        let record = match &text {
            Some(text) => LaneRecord::parse(text)?,
            None => never_taken("resize", floor_ms)?,
        };
        if record.state == LaneState::Closed {
            return Ok(record.ceiling_ms);
        }
        let closed =
            LaneRecord { version: record.version + 1, token: token(draw)?, state: LaneState::Closed, ..record };
        if register.compare_and_set(key, text.as_deref(), &closed.to_string())? {
            return Ok(closed.ceiling_ms);
        }
    }
    Err(AdminKind::Busy { key: key.into() }.into())
}

/// Checks a new number of lane bits.
///
/// # Errors
/// The space has this number already, or no space of its layout can have it.
pub fn check_bits(meta: &MetaRecord, bits: u32) -> Result<(), AdminError> {
    if meta.bits == bits {
        return Err(AdminKind::SameBits { bits }.into());
    }
    Space::new("any", &meta.layout, bits)?;
    Ok(())
}

fn lanes(space: &Space) -> impl Iterator<Item = u16> {
    (0..=u16::MAX).take(space.lane_count() as usize)
}

/// Reads what a space is.
fn describe<R: Register + ?Sized>(register: &mut R, name: &str) -> Result<(MetaRecord, Space), AdminError> {
    // Any layout and number of bits will do for the key.
    let key = Space::new(name, "any", 0)?.meta_key();
    let Some(text) = register.read(&key)? else { return Err(AdminKind::NoSpace { name: name.into() }.into()) };
    let meta = MetaRecord::parse(&text)?;
    let space = Space::new(name, &meta.layout, meta.bits)?;
    Ok((meta, space))
}

fn replace<R: Register + ?Sized>(
    register: &mut R,
    key: &str,
    seen: Option<&str>,
    value: &str,
) -> Result<(), AdminError> {
    if register.compare_and_set(key, seen, value)? { Ok(()) } else { Err(AdminKind::Busy { key: key.into() }.into()) }
}

fn token(draw: Draw) -> Result<Token, RegisterError> {
    draw().map(|bits| Token(bits as u64))
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// An operation on a space failed.
#[derive(Debug, Error)]
#[error(transparent)]
pub struct AdminError(#[from] AdminKind);

#[derive(Debug, Error)]
enum AdminKind {
    #[error("the register failed")]
    Register(#[source] RegisterError),
    #[error("cannot read a record")]
    Record(#[source] RecordError),
    #[error(transparent)]
    Space(SpaceError),
    #[error("the register has no space {name:?}")]
    NoSpace { name: String },
    #[error("expected a lane below {lanes}, found {found}")]
    NoLane { lanes: u32, found: u16 },
    #[error("lane {lane} is not held")]
    NotHeld { lane: u16 },
    #[error(
        "expected a horizon of at most 24 h in the record of lane {lane}, found {horizon_ms} ms; force frees it nevertheless"
    )]
    Long { lane: u16, horizon_ms: u64 },
    #[error("lane {lane} is in use by {holder}")]
    InUse { lane: u16, holder: Name },
    #[error(
        "expected a time above all IDs: {key} was granted up to {ceiling_ms} (Unix milliseconds), which is after {floor_ms}, so a \
         clock was ahead"
    )]
    Ahead { key: String, ceiling_ms: u64, floor_ms: u64 },
    #[error("the register already has the space {name:?}, with {bits} lane bits")]
    Exists { name: String, bits: u32 },
    #[error("expected a space that was never used, found the record {key}")]
    Used { key: String },
    #[error(
        "expected clocks that differ by at most {} ms, found {store_ms} (Unix milliseconds) in the store and {here_ms} here",
        max_skew.as_millis()
    )]
    Clocks { store_ms: u64, here_ms: u64, max_skew: Duration },
    #[error("the space already has {bits} lane bits")]
    SameBits { bits: u32 },
    #[error("the record {key} is being written by another process")]
    Busy { key: String },
}

impl AdminError {
    /// Returns whether the lane is in use.
    pub const fn is_in_use(&self) -> bool {
        matches!(self.0, AdminKind::InUse { .. })
    }

    /// Returns whether the name of the space or the number of bits cannot be used.
    pub const fn is_options(&self) -> bool {
        matches!(self.0, AdminKind::Space(_))
    }

    /// Returns whether there is no such space.
    pub const fn is_no_space(&self) -> bool {
        matches!(self.0, AdminKind::NoSpace { .. })
    }

    /// Returns whether a lane is further ahead than a [recovery](recover_at) without a greater [`Recovery::above_ms`] can explain.
    pub const fn is_ahead(&self) -> bool {
        matches!(self.0, AdminKind::Ahead { .. })
    }

    /// Returns whether the clocks of the store and of this machine differ, so that a recovery or a new space needs
    /// [`Recovery::above_ms`].
    pub const fn is_clock(&self) -> bool {
        matches!(self.0, AdminKind::Clocks { .. })
    }

    /// Returns whether a [`create_first`] has found lanes, so that the space needs a [`create_at`].
    pub const fn is_used(&self) -> bool {
        matches!(self.0, AdminKind::Used { .. })
    }

    /// Returns whether the space already exists.
    pub const fn is_existing(&self) -> bool {
        matches!(self.0, AdminKind::Exists { .. })
    }

    /// Returns whether the lane is not held.
    pub const fn is_not_held(&self) -> bool {
        matches!(self.0, AdminKind::NotHeld { .. })
    }

    /// Returns whether the register did not answer.
    pub const fn is_register(&self) -> bool {
        matches!(self.0, AdminKind::Register(_))
    }
}

impl From<SpaceError> for AdminError {
    fn from(error: SpaceError) -> Self {
        Self(AdminKind::Space(error))
    }
}

impl From<RegisterError> for AdminError {
    fn from(error: RegisterError) -> Self {
        Self(AdminKind::Register(error))
    }
}

impl From<RecordError> for AdminError {
    fn from(error: RecordError) -> Self {
        Self(AdminKind::Record(error))
    }
}
