//! The generators under test. Each is set up as its documents say for one process.
//!
//! A sequence has 12 bits if the library lets its user choose, as in Twitter's layout. `ulid` and `fast-uuid-v7` have random
//! bits within a millisecond; their monotonic forms are in the table too. imid has its default limits. Its rows differ in
//! what a user chooses: the clock, the stripes, and whether parent and child of a fork write to the same session.

use std::time::{Duration, UNIX_EPOCH};

use ferroid::generator::AtomicSnowflakeGenerator;
use ferroid::id::SnowflakeTwitterId;
use ferroid::time::{MonotonicClock, TWITTER_EPOCH};
use imid::clock::{Clock, TickClock};
use imid::generator::Builder;
use imid::{Generator, MessageId, SessionTag, SessionType};

/// A generator at work.
pub trait Generate {
    /// Mints one ID. Returns its bits as an integer that sorts as the ID does, or the error of the generator.
    fn mint(&mut self) -> Result<u128, String>;

    /// Observes the ID of a message from another host whose clock is this far ahead, and returns its bits. Returns `None` if
    /// the library has no function for that.
    fn observe(&mut self, _ahead: Duration) -> Option<Result<u128, String>> {
        None
    }

    /// Takes over the sessions of a host whose last ID is this far ahead, and returns the bits of this ID. Returns `None` if the
    /// library has no function for that.
    fn take_over(&mut self, ahead: Duration) -> Option<Result<u128, String>> {
        self.observe(ahead)
    }
}

/// A generator that is a function.
struct Plain<F>(F);

impl<F: FnMut() -> Result<u128, String>> Generate for Plain<F> {
    fn mint(&mut self) -> Result<u128, String> {
        (self.0)()
    }
}

pub type Ids = Box<dyn Generate>;

/// The host that a generator is made for.
#[derive(Clone, Copy, Default)]
pub struct Host {
    /// Its number among the hosts of a case, from 0. It is the machine ID of libraries that have one.
    pub index: u16,
    /// One of this many IDs, on average, belongs to the room that all hosts write to, if IDs have a session. The other IDs belong
    /// to a session that only this host writes to. `None` in the cases of one host.
    pub room_every: Option<u32>,
    /// The greatest ID that the store knows, for a host that was restarted.
    pub floor: Option<u128>,
}

pub struct Peer {
    pub name: &'static str,
    /// Returns a new generator. Called once for each host.
    pub make: fn(Host) -> Ids,
    /// Whether its documents say that each ID is greater than the one before it.
    pub is_ordered: bool,
    /// The time in an ID, in milliseconds since 1970.
    pub unix_ms: fn(u128) -> u64,
}

impl Peer {
    /// Returns how far the time of an ID is ahead of the clock. Returns zero if it is not ahead.
    pub fn ahead(&self, id: u128) -> Duration {
        let now = UNIX_EPOCH.elapsed().expect("a clock past 1970");
        Duration::from_millis((self.unix_ms)(id)).saturating_sub(now)
    }
}

const TWITTER_MS: u64 = TWITTER_EPOCH.as_millis() as u64;
/// `snowflake_me`'s default: 2022-01-01.
const SNOWFLAKE_ME_MS: u64 = 1_640_995_200_000;
/// `snowid`'s default: 2024-01-01.
const SNOWID_MS: u64 = 1_704_067_200_000;
/// `sonyflake`'s default: 2014-09-01; it counts in units of 10 ms.
const SONYFLAKE_MS: u64 = 1_409_529_600_000;
/// `idgenerator`'s default; `idgen_rs` continues it.
const IDGEN_MS: u64 = 1_582_136_402_000;

/// The time of a 64-bit ID with 22 bits below it.
const fn above_22(id: u128, epoch: u64) -> u64 {
    (id >> 22) as u64 + epoch
}

/// The time of a 128-bit ID whose first 48 bits are milliseconds: UUIDv7, ULID, SCRU128.
const fn first_48(id: u128) -> u64 {
    (id >> 80) as u64
}

/// A generator whose call can fail.
fn fallible(mint: impl FnMut() -> Result<u128, String> + 'static) -> Ids {
    Box::new(Plain(mint))
}

/// A generator whose call cannot fail.
fn infallible(mut mint: impl FnMut() -> u128 + 'static) -> Ids {
    fallible(move || Ok(mint()))
}

/// Our generator, and the sessions of its next IDs.
struct Ours<C, const N: usize> {
    ids: Generator<C, N>,
    sessions: Box<dyn Iterator<Item = SessionTag>>,
}

/// Returns an ID whose time is this far ahead of the system clock.
fn message_ahead(ahead: Duration) -> MessageId {
    let time = UNIX_EPOCH.elapsed().expect("a clock past 1970") + ahead;
    MessageId::last_at(time.as_millis() as u64).expect("a time before 2109")
}

impl<C: Clock, const N: usize> Generate for Ours<C, N> {
    fn mint(&mut self) -> Result<u128, String> {
        let session = self.sessions.next().expect("the sessions do not end");
        self.ids.generate(session).map(Into::into).map_err(|error| error.to_string())
    }

    fn observe(&mut self, ahead: Duration) -> Option<Result<u128, String>> {
        let message = message_ahead(ahead);
        Some(self.ids.observe(message).map(|()| message.into()).map_err(|error| error.to_string()))
    }

    fn take_over(&mut self, ahead: Duration) -> Option<Result<u128, String>> {
        let last = message_ahead(ahead);
        self.ids.raise_floor(last);
        Some(Ok(last.into()))
    }
}

/// A group for each number.
fn group(number: u32) -> SessionTag {
    SessionTag::new(SessionType::GROUP, &number.to_string())
}

/// Ours on one host, or on one of many.
fn ours<C, const N: usize>(
    builder: Builder<C, N>,
    host: Host,
    mut sessions: impl Iterator<Item = SessionTag> + 'static,
) -> Ids
where
    C: Clock + 'static,
{
    let builder = match host.floor {
        Some(id) => builder.floor(MessageId::from_u128(id).expect("an ID of ours")),
        None => builder,
    };
    let ids = builder.build().expect("no lane");
    let (room, own) = (group(0), group(1_000 + u32::from(host.index)));
    let sessions: Box<dyn Iterator<Item = SessionTag>> = match host.room_every {
        Some(every) => {
            // Random, because with every hundredth ID the spins of two hosts would always or never be equal.
            let mut state = u64::from(host.index);
            Box::new(std::iter::repeat_with(move || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                if ((state >> 32) as u32).is_multiple_of(every) { room } else { own }
            }))
        }
        None => Box::new(std::iter::repeat_with(move || sessions.next().expect("the sessions do not end"))),
    };
    Box::new(Ours { ids, sessions })
}

fn one_group() -> impl Iterator<Item = SessionTag> {
    std::iter::repeat(group(0))
}

/// `uhlc`, with the half of its clock's ID that fits into 128 bits.
struct Hlc(uhlc::HLC);

fn timestamp_bits(timestamp: &uhlc::Timestamp) -> u128 {
    let id = u128::from_le_bytes(timestamp.get_id().to_le_bytes());
    u128::from(timestamp.get_time().as_u64()) << 64 | u128::from(id as u64)
}

impl Generate for Hlc {
    fn mint(&mut self) -> Result<u128, String> {
        Ok(timestamp_bits(&self.0.new_timestamp()))
    }

    fn observe(&mut self, ahead: Duration) -> Option<Result<u128, String>> {
        let time = UNIX_EPOCH.elapsed().expect("a clock past 1970") + ahead;
        let message = uhlc::Timestamp::new(uhlc::NTP64::from(time), uhlc::ID::rand());
        let taken = self.0.update_with_timestamp(&message);
        Some(taken.map(|()| timestamp_bits(&message)).map_err(|error| error.to_string()))
    }
}

/// The time of one of our IDs.
const fn first_42_of_80(id: u128) -> u64 {
    (id >> 38) as u64
}

pub const PEERS: &[Peer] = &[
    Peer {
        name: "imid",
        make: |host| ours(Generator::builder(), Host { floor: None, ..host }, one_group()),
        is_ordered: true,
        unix_ms: first_42_of_80,
    },
    Peer {
        name: "imid, floor from the store",
        make: |host| ours(Generator::builder(), host, one_group()),
        is_ordered: true,
        unix_ms: first_42_of_80,
    },
    Peer {
        name: "imid, tick clock",
        make: |host| {
            let clock = TickClock::start().expect("a thread to spare");
            ours(Generator::builder().clock(clock), Host { floor: None, ..host }, one_group())
        },
        is_ordered: true,
        unix_ms: first_42_of_80,
    },
    Peer {
        name: "imid, 64 stripes",
        make: |host| {
            let groups = (0..64).map(group).collect::<Vec<_>>().into_iter().cycle();
            ours(Generator::builder().stripes::<64>(), Host { floor: None, ..host }, groups)
        },
        is_ordered: false,
        unix_ms: first_42_of_80,
    },
    Peer {
        name: "imid, a session for each process",
        make: |host| {
            let (parent, groups) = (std::process::id(), [group(0), group(1)]);
            let sessions = std::iter::repeat_with(move || groups[usize::from(std::process::id() != parent)]);
            // No host writes to the room.
            let host = Host { floor: None, room_every: host.room_every.map(|_| u32::MAX), ..host };
            ours(Generator::builder(), host, sessions)
        },
        is_ordered: true,
        unix_ms: first_42_of_80,
    },
    Peer {
        name: "snowid",
        make: |host| {
            let ids = snowid::SnowID::new(host.index + 1).expect("a node of 1024");
            infallible(move || ids.generate().into())
        },
        is_ordered: true,
        unix_ms: |id| above_22(id, SNOWID_MS),
    },
    Peer {
        name: "snowflake_me",
        make: |host| {
            // 5 bits each.
            let (machine, center) = (move || Ok(host.index % 32), move || Ok(host.index / 32));
            let builder = snowflake_me::Snowflake::builder().machine_id(&machine).data_center_id(&center);
            let ids = builder.finalize().expect("the default layout");
            fallible(move || ids.next_id().map(|id| id.as_u64().into()).map_err(|error| error.to_string()))
        },
        is_ordered: true,
        unix_ms: |id| above_22(id, SNOWFLAKE_ME_MS),
    },
    Peer {
        name: "ferroid",
        make: |host| {
            let clock = MonotonicClock::<1>::with_epoch(TWITTER_EPOCH);
            let ids = AtomicSnowflakeGenerator::<SnowflakeTwitterId, _>::new(u64::from(host.index) + 1, clock);
            infallible(move || ids.next_id(|_| std::thread::yield_now()).to_raw().into())
        },
        is_ordered: true,
        unix_ms: |id| above_22(id, TWITTER_MS),
    },
    Peer {
        name: "snowflaked",
        make: |host| {
            let ids = snowflaked::sync::Generator::new(host.index + 1);
            infallible(move || ids.generate::<u64>().into())
        },
        is_ordered: true,
        unix_ms: |id| above_22(id, 0),
    },
    Peer {
        name: "rs-snowflake",
        make: |host| {
            let (machine, node) = (i32::from(host.index % 32), i32::from(host.index / 32));
            let mut ids = snowflake::SnowflakeIdGenerator::new(machine, node);
            infallible(move || ids.real_time_generate() as u128)
        },
        is_ordered: true,
        unix_ms: |id| above_22(id, 0),
    },
    Peer {
        name: "sonyflake",
        make: |host| {
            let machine = move || Ok(host.index + 1);
            let ids = sonyflake::Sonyflake::builder().machine_id(&machine).finalize().expect("the default epoch");
            fallible(move || ids.next_id().map(|id| id.to_u64().into()).map_err(|error| error.to_string()))
        },
        is_ordered: true,
        unix_ms: |id| (id >> 24) as u64 * 10 + SONYFLAKE_MS,
    },
    Peer {
        name: "idgen_rs",
        make: |host| {
            let options =
                idgen_rs::IGOptions::builder(host.index + 1).worker_id_bit_length(10).seq_bit_length(12).build();
            let ids = idgen_rs::FastIdGenerator::new(&options);
            infallible(move || ids.next_id().into())
        },
        is_ordered: true,
        unix_ms: |id| above_22(id, IDGEN_MS),
    },
    Peer {
        name: "idgenerator",
        make: |host| {
            let worker = u32::from(host.index) + 1;
            let options =
                idgenerator::IdGeneratorOptions::new().worker_id(worker).worker_id_bit_len(10).seq_bit_len(12);
            let mut ids = idgenerator::CoreIdGenerator::default();
            ids.init(options).expect("10 + 12 bits");
            infallible(move || ids.next_id() as u128)
        },
        is_ordered: true,
        unix_ms: |id| above_22(id, IDGEN_MS),
    },
    Peer {
        name: "xid",
        make: |_| {
            infallible(|| {
                let mut bytes = [0; 16];
                bytes[4..].copy_from_slice(xid::new().as_bytes());
                u128::from_be_bytes(bytes)
            })
        },
        is_ordered: true,
        unix_ms: |id| (id >> 64) as u64 * 1000,
    },
    Peer {
        name: "uuid now_v7",
        make: |_| infallible(|| uuid::Uuid::now_v7().as_u128()),
        is_ordered: true,
        unix_ms: first_48,
    },
    Peer {
        name: "fast-uuid-v7",
        make: |_| infallible(fast_uuid_v7::gen_id_u128),
        is_ordered: false,
        unix_ms: first_48,
    },
    Peer {
        name: "fast-uuid-v7, sequential",
        make: |_| {
            let mut ids = fast_uuid_v7::SequentialGenerator::new();
            infallible(move || ids.next_id())
        },
        is_ordered: true,
        unix_ms: first_48,
    },
    Peer { name: "ulid", make: |_| infallible(|| ulid::Ulid::generate().0), is_ordered: false, unix_ms: first_48 },
    Peer {
        name: "ulid, monotonic",
        make: |_| {
            let mut ids = ulid::Generator::new();
            fallible(move || ids.generate().map(|id| id.0).map_err(|_| "the random part is full".to_owned()))
        },
        is_ordered: true,
        unix_ms: first_48,
    },
    Peer { name: "scru128", make: |_| infallible(|| scru128::new().to_u128()), is_ordered: true, unix_ms: first_48 },
    Peer {
        name: "uhlc",
        make: |_| Box::new(Hlc(uhlc::HLC::default())),
        is_ordered: true,
        unix_ms: |id| {
            let time = uhlc::NTP64((id >> 64) as u64).to_system_time();
            time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_millis() as u64
        },
    },
];
