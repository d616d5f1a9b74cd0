//! The generators under test. Each is set up for one process as its documents say.
//!
//! If the width of the sequence can be chosen, it is 12 bits, as in Twitter's layout. Two libraries that use random
//! bits within a millisecond (`ulid`, `fast-uuid-v7`) have a second row for their monotonic form. imid has its default
//! limits. Its rows differ in choices of the user: the clock, the stripes, and whether parent and child of a fork write
//! the same session.

use std::time::{Duration, UNIX_EPOCH};

use ferroid::generator::AtomicSnowflakeGenerator;
use ferroid::id::SnowflakeTwitterId;
use ferroid::time::{MonotonicClock, TWITTER_EPOCH};
use imid::clock::{Clock, SystemClock, TickClock};
use imid::{Generator, Session};

/// Mints one ID: its bits as an integer that sorts as the ID does, or the generator's own error.
pub type Mint = Box<dyn FnMut() -> Result<u128, String>>;

pub struct Peer {
    pub name: &'static str,
    /// A new generator; called once, in the process that runs the case.
    pub make: fn() -> Mint,
    /// Whether its documents say that each ID is greater than the one before.
    pub rises: bool,
    /// The time in an ID, in milliseconds since 1970.
    pub unix_ms: fn(u128) -> u64,
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

/// Returns the time of a 64-bit ID with 22 bits below it.
const fn above_22(id: u128, epoch: u64) -> u64 {
    (id >> 22) as u64 + epoch
}

/// Returns the time of a 128-bit ID whose first 48 bits are milliseconds: UUIDv7, ULID, SCRU128.
const fn first_48(id: u128) -> u64 {
    (id >> 80) as u64
}

/// A generator whose call cannot fail.
fn infallible(mut mint: impl FnMut() -> u128 + 'static) -> Mint {
    Box::new(move || Ok(mint()))
}

/// Our generator; `session` is asked for each ID.
fn ours<C, const N: usize>(ids: Generator<C, N>, mut session: impl FnMut() -> u32 + 'static) -> Mint
where
    C: Clock + 'static,
{
    Box::new(move || {
        let session = Session::from_u32(session()).expect("26 bits");
        ids.generate(session).map(Into::into).map_err(|error| error.to_string())
    })
}

/// Returns the time of an ID of imid.
const fn first_42_of_80(id: u128) -> u64 {
    (id >> 38) as u64
}

pub const PEERS: &[Peer] = &[
    Peer { name: "imid", make: || ours(Generator::new(), || 0), rises: true, unix_ms: first_42_of_80 },
    Peer {
        name: "imid, tick clock",
        make: || {
            let clock = TickClock::start().expect("a thread to spare");
            ours(Generator::builder().clock(clock).build().expect("no lane"), || 0)
        },
        rises: true,
        unix_ms: first_42_of_80,
    },
    Peer {
        name: "imid, 64 stripes",
        make: || {
            let mut turn = (0..64).cycle();
            ours(Generator::<SystemClock, 64>::striped(), move || turn.next().expect("a cycle"))
        },
        rises: false,
        unix_ms: first_42_of_80,
    },
    Peer {
        name: "imid, a session for each process",
        make: || {
            let parent = std::process::id();
            ours(Generator::new(), move || u32::from(std::process::id() != parent))
        },
        rises: true,
        unix_ms: first_42_of_80,
    },
    Peer {
        name: "snowid",
        make: || {
            let ids = snowid::SnowID::new(1).expect("node 1 of 1024");
            infallible(move || ids.generate().into())
        },
        rises: true,
        unix_ms: |id| above_22(id, SNOWID_MS),
    },
    Peer {
        name: "snowflake_me",
        make: || {
            let builder = snowflake_me::Snowflake::builder().machine_id(&|| Ok(1)).data_center_id(&|| Ok(1));
            let ids = builder.finalize().expect("the default layout");
            Box::new(move || ids.next_id().map(|id| id.as_u64().into()).map_err(|error| error.to_string()))
        },
        rises: true,
        unix_ms: |id| above_22(id, SNOWFLAKE_ME_MS),
    },
    Peer {
        name: "ferroid",
        make: || {
            let clock = MonotonicClock::<1>::with_epoch(TWITTER_EPOCH);
            let ids = AtomicSnowflakeGenerator::<SnowflakeTwitterId, _>::new(1, clock);
            infallible(move || ids.next_id(|_| std::thread::yield_now()).to_raw().into())
        },
        rises: true,
        unix_ms: |id| above_22(id, TWITTER_MS),
    },
    Peer {
        name: "snowflaked",
        make: || {
            let ids = snowflaked::sync::Generator::new(1);
            infallible(move || ids.generate::<u64>().into())
        },
        rises: true,
        unix_ms: |id| above_22(id, 0),
    },
    Peer {
        name: "rs-snowflake",
        make: || {
            let mut ids = snowflake::SnowflakeIdGenerator::new(1, 1);
            infallible(move || ids.real_time_generate() as u128)
        },
        rises: true,
        unix_ms: |id| above_22(id, 0),
    },
    Peer {
        name: "sonyflake",
        make: || {
            let ids = sonyflake::Sonyflake::builder().machine_id(&|| Ok(1)).finalize().expect("the default epoch");
            Box::new(move || ids.next_id().map(|id| id.to_u64().into()).map_err(|error| error.to_string()))
        },
        rises: true,
        unix_ms: |id| (id >> 24) as u64 * 10 + SONYFLAKE_MS,
    },
    Peer {
        name: "idgen_rs",
        make: || {
            let options = idgen_rs::IGOptions::builder(1).worker_id_bit_length(10).seq_bit_length(12).build();
            let ids = idgen_rs::FastIdGenerator::new(&options);
            infallible(move || ids.next_id().into())
        },
        rises: true,
        unix_ms: |id| above_22(id, IDGEN_MS),
    },
    Peer {
        name: "idgenerator",
        make: || {
            let options = idgenerator::IdGeneratorOptions::new().worker_id(1).worker_id_bit_len(10).seq_bit_len(12);
            let mut ids = idgenerator::CoreIdGenerator::default();
            ids.init(options).expect("10 + 12 bits");
            infallible(move || ids.next_id() as u128)
        },
        rises: true,
        unix_ms: |id| above_22(id, IDGEN_MS),
    },
    Peer {
        name: "xid",
        make: || {
            infallible(|| {
                let mut bytes = [0; 16];
                bytes[4..].copy_from_slice(xid::new().as_bytes());
                u128::from_be_bytes(bytes)
            })
        },
        rises: true,
        unix_ms: |id| (id >> 64) as u64 * 1000,
    },
    Peer {
        name: "uuid now_v7",
        make: || infallible(|| uuid::Uuid::now_v7().as_u128()),
        rises: true,
        unix_ms: first_48,
    },
    Peer { name: "fast-uuid-v7", make: || infallible(fast_uuid_v7::gen_id_u128), rises: false, unix_ms: first_48 },
    Peer {
        name: "fast-uuid-v7, sequential",
        make: || {
            let mut ids = fast_uuid_v7::SequentialGenerator::new();
            infallible(move || ids.next_id())
        },
        rises: true,
        unix_ms: first_48,
    },
    Peer { name: "ulid", make: || infallible(|| ulid::Ulid::generate().0), rises: false, unix_ms: first_48 },
    Peer {
        name: "ulid, monotonic",
        make: || {
            let mut ids = ulid::Generator::new();
            Box::new(move || ids.generate().map(|id| id.0).map_err(|_| "the random part is full".to_owned()))
        },
        rises: true,
        unix_ms: first_48,
    },
    Peer { name: "scru128", make: || infallible(|| scru128::new().to_u128()), rises: true, unix_ms: first_48 },
    Peer {
        name: "uhlc",
        // The ID of the clock is left out: it is the same in all of its timestamps, so they stay distinct.
        make: || {
            let clock = uhlc::HLC::default();
            infallible(move || clock.new_timestamp().get_time().as_u64().into())
        },
        rises: true,
        unix_ms: |id| {
            let time = uhlc::NTP64(id as u64).to_system_time();
            time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_millis() as u64
        },
    },
];
