//! Measures the time to write and read a text, for imid and for other libraries: `cargo bench --bench codec` in this folder.
//!
//! A result has the name `topic/case/library`. Ratios are only fair between results of one run. So all libraries are
//! compiled here, with one compiler and one profile, and one loop measures them in turn.
//!
//! - **Inputs** are 256 random values in turn, or a million at once. Each is passed by reference through `black_box`.
//! - **Results** are passed to `black_box` where they were written. A copy of 19 or 36 bytes that were just written in
//!   parts takes time, and not the same time for each library.
//! - **Forms**: `uuid` and `uuid-simd` write 36 characters with dashes, of 128 bits. The others write no dashes: `ulid`
//!   26 and `scru128` 25 characters of 128 bits, `ferroid` 13 characters of 64 bits, `data-encoding` and `fast32` 16
//!   characters of 80 bits. `data-encoding` has our digits.
//! - **Cold**: before each call, a buffer larger than the first two caches is written and the input is loaded again.
//!   The result is the mean of single calls. `nothing` is the time of the clock alone. The code stays in the
//!   instruction cache.
//! - **Levels**: with `RUSTFLAGS="--cfg imid_levels"` imid is also measured without AVX2 (`imid-portable`) and with
//!   AVX2 (`imid-avx2`). `imid-const` is `MessageId::parse_const`, which is always portable.
#![allow(missing_docs, reason = "criterion's macros make public functions that have no docs")]

use std::hint::black_box;
use std::mem::MaybeUninit;
use std::str::FromStr;
use std::time::{Duration, Instant};

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use data_encoding::{Encoding, Specification};
use fast32::base32::CROCKFORD;
use ferroid::base32::Base32SnowExt;
use ferroid::id::SnowflakeTwitterId;
use imid::{MessageId, codec};
use scru128::Id as Scru128Id;
use ulid::Ulid;
use uuid::Uuid;
use uuid_simd::{AsciiCase, Out, UuidExt};
use xxhash_rust::xxh3::xxh3_128_with_seed;

/// Inputs that are measured in turn.
const TURN: usize = 1 << 8;
/// Number of IDs in the large bulk cases.
const MILLION: usize = 1_000_000;

type Group<'a> = BenchmarkGroup<'a, WallTime>;

/// The values of each library, made from the same random bits.
struct Values {
    imid: Vec<MessageId>,
    bytes: Vec<[u8; MessageId::BYTE_LEN]>,
    uuid: Vec<Uuid>,
    ulid: Vec<Ulid>,
    scru128: Vec<Scru128Id>,
    ferroid: Vec<SnowflakeTwitterId>,
}

impl Values {
    fn new() -> Self {
        let imid = ids(TURN);
        let bits: Vec<u128> = (0..TURN as u64).map(|seed| xxh3_128_with_seed(b"value", seed)).collect();
        Self {
            bytes: imid.iter().map(|id| id.to_bytes()).collect(),
            imid,
            uuid: bits.iter().map(|bits| Uuid::from_u128(*bits)).collect(),
            ulid: bits.iter().map(|bits| Ulid(*bits)).collect(),
            scru128: bits.iter().map(|bits| Scru128Id::from_u128(*bits)).collect(),
            // 63 bits: the first is reserved.
            ferroid: bits.iter().map(|bits| SnowflakeTwitterId::from_raw(*bits as u64 >> 1)).collect(),
        }
    }
}

fn ids(count: usize) -> Vec<MessageId> {
    let id = |seed| MessageId::from_u128(xxh3_128_with_seed(b"id", seed) >> 48).expect("80 bits");
    (0..count as u64).map(id).collect()
}

/// Returns an encoding with our digits, in a library for any digits.
fn our_digits() -> Encoding {
    let mut specification = Specification::new();
    specification.symbols.push_str("23456789ABCDEFGHJKLMNPQRSTUVWXYZ");
    specification.encoding().expect("32 digits")
}

/// Measures `call` with the inputs in turn.
fn each<T>(group: &mut Group<'_>, name: &str, inputs: &[T], mut call: impl FnMut(&T)) {
    let inputs: &[T; TURN] = inputs.try_into().expect("as many as there are turns");
    let mut turn = 0;
    group.bench_function(name, |b| {
        b.iter(|| {
            turn = (turn + 1) % TURN;
            call(black_box(&inputs[turn]));
        });
    });
}

/// Calls `measure` without a forced level, and also for each level if levels can be forced.
fn each_level(group: &mut Group<'_>, mut measure: impl FnMut(&mut Group<'_>, &str)) {
    measure(group, "imid");
    #[cfg(imid_levels)]
    for (name, allowed) in [("imid-portable", false), ("imid-avx2", true)] {
        if codec::allow_avx2(allowed) == allowed {
            measure(group, name);
        }
    }
}

/// Copies the bytes of a text. Each result below includes at least this work.
fn copy(c: &mut Criterion) {
    let mut group = c.benchmark_group("copy/text");
    let texts: Vec<_> = ids(TURN).iter().map(|id| id.to_string().into_bytes()).collect();
    let texts: Vec<&[u8; MessageId::TEXT_LEN]> = texts.iter().map(|text| text[..].try_into().unwrap()).collect();
    let mut buffer = [0; MessageId::TEXT_LEN];
    each(&mut group, "19-bytes", &texts, |text| {
        buffer = **text;
        black_box(&mut buffer);
    });
    group.finish();
}

/// Writes into a type on the stack, or into a buffer made for the call.
fn encode_stack(c: &mut Criterion) {
    let values = Values::new();
    let mut group = c.benchmark_group("encode/stack");
    each_level(&mut group, |group, name| each(group, name, &values.imid, |id| _ = black_box(&id.to_text())));
    each(&mut group, "uuid-simd", &values.uuid, |id| {
        let mut text = MaybeUninit::<[u8; 36]>::uninit();
        black_box(uuid_simd::format_hyphenated(id.as_bytes(), Out::from_uninit(&mut text), AsciiCase::Lower));
    });
    each(&mut group, "uuid", &values.uuid, |id| _ = black_box(id.hyphenated().encode_lower(&mut [0; 36])));
    each(&mut group, "ulid", &values.ulid, |id| _ = black_box(id.array_to_str(&mut [0; 26])));
    each(&mut group, "ferroid", &values.ferroid, |id| _ = black_box(&id.encode()));
    each(&mut group, "scru128", &values.scru128, |id| _ = black_box(&id.encode()));
    let encoding = our_digits();
    each(&mut group, "data-encoding", &values.bytes, |bytes| {
        let mut text = [0; 16];
        encoding.encode_mut(bytes, &mut text);
        black_box(&text);
    });
    group.finish();
}

/// Writes into a buffer that the caller keeps.
fn encode_buffer(c: &mut Criterion) {
    let values = Values::new();
    let mut group = c.benchmark_group("encode/buffer");
    let mut text = [0; MessageId::TEXT_LEN];
    each_level(&mut group, |group, name| each(group, name, &values.imid, |id| _ = black_box(id.encode(&mut text))));
    let mut text = [0; 36];
    each(&mut group, "uuid-simd", &values.uuid, |id| {
        black_box(uuid_simd::format_hyphenated(id.as_bytes(), Out::from_mut(&mut text), AsciiCase::Lower));
    });
    each(&mut group, "uuid", &values.uuid, |id| _ = black_box(id.hyphenated().encode_lower(&mut text)));
    let mut text = [0; 26];
    each(&mut group, "ulid", &values.ulid, |id| _ = black_box(id.array_to_str(&mut text)));
    let mut text = SnowflakeTwitterId::base32_array();
    each(&mut group, "ferroid", &values.ferroid, |id| _ = black_box(id.encode_to_buf(&mut text)));
    let encoding = our_digits();
    let mut text = [0; 16];
    each(&mut group, "data-encoding", &values.bytes, |bytes| {
        encoding.encode_mut(bytes, &mut text);
        black_box(&text);
    });
    let mut text = Vec::with_capacity(16);
    each(&mut group, "fast32", &values.bytes, |bytes| {
        text.clear();
        CROCKFORD.encode_into(bytes, &mut text);
        black_box(&text);
    });
    group.finish();
}

/// Writes into a `String` with the shortest code that a library allows.
fn encode_string(c: &mut Criterion) {
    let values = Values::new();
    let mut group = c.benchmark_group("encode/string");
    each_level(&mut group, |group, name| each(group, name, &values.imid, |id| _ = black_box(&String::from(*id))));
    each(&mut group, "ferroid", &values.ferroid, |id| _ = black_box(&id.encode().as_string()));
    each(&mut group, "ulid", &values.ulid, |id| _ = black_box(&id.to_string()));
    each(&mut group, "scru128", &values.scru128, |id| _ = black_box(&String::from(*id)));
    each(&mut group, "uuid", &values.uuid, |id| _ = black_box(&String::from(*id)));
    let encoding = our_digits();
    each(&mut group, "data-encoding", &values.bytes, |bytes| _ = black_box(&encoding.encode(bytes)));
    each(&mut group, "fast32", &values.bytes, |bytes| _ = black_box(&CROCKFORD.encode(bytes)));
    group.finish();
}

/// Writes into a `String` through `Display`.
fn encode_display(c: &mut Criterion) {
    let values = Values::new();
    let mut group = c.benchmark_group("encode/display");
    each(&mut group, "imid", &values.imid, |id| _ = black_box(&ToString::to_string(id)));
    each(&mut group, "uuid", &values.uuid, |id| _ = black_box(&ToString::to_string(id)));
    each(&mut group, "uuid-simd", &values.uuid, |id| _ = black_box(&ToString::to_string(&id.format_hyphenated())));
    each(&mut group, "ferroid", &values.ferroid, |id| _ = black_box(&ToString::to_string(&id.encode())));
    each(&mut group, "ulid", &values.ulid, |id| _ = black_box(&<Ulid as ToString>::to_string(id)));
    each(&mut group, "scru128", &values.scru128, |id| _ = black_box(&ToString::to_string(id)));
    group.finish();

    let mut group = c.benchmark_group("encode/display-in-40-columns");
    each(&mut group, "imid", &values.imid, |id| _ = black_box(&format!("{id:>40}")));
    // `uuid` and `ulid` ignore the width. What pads is the standard library, here the text itself.
    each(&mut group, "str", &values.imid, |id| _ = black_box(&format!("{:>40}", id.to_text().as_str())));
    group.finish();
}

/// The texts of each library, made from the same random bits.
struct Texts {
    imid: Vec<String>,
    uuid: Vec<String>,
    ulid: Vec<String>,
    scru128: Vec<String>,
    ferroid: Vec<String>,
    plain: Vec<String>,
    crockford: Vec<String>,
}

impl Texts {
    /// Returns the texts after `spoil` has changed each.
    fn new(spoil: impl Fn(&mut String)) -> Self {
        let values = Values::new();
        let encoding = our_digits();
        let spoilt = |mut text: String| {
            spoil(&mut text);
            text
        };
        Self {
            imid: values.imid.iter().map(|id| spoilt(id.to_string())).collect(),
            uuid: values.uuid.iter().map(|id| spoilt(id.to_string())).collect(),
            ulid: values.ulid.iter().map(|id| spoilt(id.to_string())).collect(),
            scru128: values.scru128.iter().map(|id| spoilt(id.to_string())).collect(),
            ferroid: values.ferroid.iter().map(|id| spoilt(id.encode().as_string())).collect(),
            plain: values.bytes.iter().map(|bytes| spoilt(encoding.encode(bytes))).collect(),
            crockford: values.bytes.iter().map(|bytes| spoilt(CROCKFORD.encode(bytes))).collect(),
        }
    }

    fn measure(&self, group: &mut Group<'_>) {
        each_level(group, |group, name| {
            each(group, name, &self.imid, |text| _ = black_box(&MessageId::from_str(text)));
        });
        each(group, "imid-bytes", &self.imid, |text| _ = black_box(&MessageId::parse_bytes(text.as_bytes())));
        each(group, "imid-const", &self.imid, |text| _ = black_box(&MessageId::parse_const(text)));
        each(group, "uuid-simd", &self.uuid, |text| {
            _ = black_box(&<Uuid as UuidExt>::parse_hyphenated(text.as_bytes()));
        });
        each(group, "uuid", &self.uuid, |text| _ = black_box(&Uuid::from_str(text)));
        each(group, "ulid", &self.ulid, |text| _ = black_box(&Ulid::from_string(text)));
        each(group, "ferroid", &self.ferroid, |text| _ = black_box(&SnowflakeTwitterId::decode(text)));
        each(group, "scru128", &self.scru128, |text| _ = black_box(&Scru128Id::try_from_str(text)));
        let encoding = our_digits();
        let mut bytes = [0; MessageId::BYTE_LEN];
        each(group, "data-encoding", &self.plain, |text| {
            _ = black_box(&encoding.decode_mut(text.as_bytes(), &mut bytes));
        });
        let mut bytes = Vec::with_capacity(MessageId::BYTE_LEN);
        each(group, "fast32", &self.crockford, |text| {
            bytes.clear();
            _ = black_box(&CROCKFORD.decode_into(text.as_bytes(), &mut bytes));
        });
    }
}

fn parse(c: &mut Criterion) {
    let mut group = c.benchmark_group("parse/valid");
    Texts::new(|_| ()).measure(&mut group);
    group.finish();

    // The last character is not a digit. The time includes finding out which character is wrong.
    let mut group = c.benchmark_group("parse/wrong-at-the-end");
    let spoil = |text: &mut String| {
        text.pop();
        text.push('!');
    };
    Texts::new(spoil).measure(&mut group);
    group.finish();
}

/// Measures single calls with cold data caches.
fn each_cold<T: Copy>(group: &mut Group<'_>, name: &str, inputs: &[T], mut call: impl FnMut(&T)) {
    /// Four times the size of the second cache of the machines that were measured, and an eighth of the third.
    const EVICTED: usize = 4 << 20;
    const CACHE_LINE: usize = 64;

    let mut evicted = vec![0_u8; EVICTED];
    let mut turn = 0;
    group.bench_function(name, |b| {
        b.iter_custom(|iters| {
            let mut time = Duration::ZERO;
            for _ in 0..iters {
                evicted.iter_mut().step_by(CACHE_LINE).for_each(|byte| *byte = byte.wrapping_add(1));
                black_box(&mut evicted);
                turn = (turn + 1) % TURN;
                let input = black_box(inputs[turn]);
                let start = Instant::now();
                call(&input);
                time += start.elapsed();
            }
            time
        });
    });
}

fn cold(c: &mut Criterion) {
    let values = Values::new();
    let texts: Vec<[u8; MessageId::TEXT_LEN]> = texts_of(&values.imid);
    let uuids: Vec<[u8; 36]> = texts_of(&values.uuid);

    let mut group = c.benchmark_group("cold/clock");
    each_cold(&mut group, "nothing", &values.imid, |id| _ = black_box(id));
    group.finish();

    let mut group = c.benchmark_group("cold/encode");
    each_level(&mut group, |group, name| each_cold(group, name, &values.imid, |id| _ = black_box(&id.to_text())));
    each_cold(&mut group, "uuid-simd", &values.uuid, |id| {
        let mut text = MaybeUninit::<[u8; 36]>::uninit();
        black_box(uuid_simd::format_hyphenated(id.as_bytes(), Out::from_uninit(&mut text), AsciiCase::Lower));
    });
    each_cold(&mut group, "ferroid", &values.ferroid, |id| _ = black_box(&id.encode()));
    group.finish();

    let mut group = c.benchmark_group("cold/parse");
    each_level(&mut group, |group, name| {
        each_cold(group, name, &texts, |text| _ = black_box(&MessageId::parse_bytes(text)));
    });
    each_cold(&mut group, "uuid-simd", &uuids, |text| _ = black_box(&<Uuid as UuidExt>::parse_hyphenated(text)));
    each_cold(&mut group, "uuid", &uuids, |text| _ = black_box(&Uuid::try_parse_ascii(text)));
    group.finish();
}

fn texts_of<T: ToString, const N: usize>(values: &[T]) -> Vec<[u8; N]> {
    values.iter().map(|value| value.to_string().as_bytes().try_into().expect("a text of this length")).collect()
}

/// Measures many IDs at once, in the caches and outside of them. A time is for all IDs together.
fn bulk(c: &mut Criterion) {
    for (count, called) in [(1_000, "thousand"), (MILLION, "million")] {
        let ids = ids(count);
        let mut lines = vec![[0; codec::LINE_LEN]; count];
        let mut read = vec![MessageId::MIN; count];
        let wanted = Throughput::Elements(count as u64);

        let mut group = c.benchmark_group(format!("encode-lines/{called}"));
        group.throughput(wanted.clone());
        each_level(&mut group, |group, name| {
            group.bench_function(name, |b| b.iter(|| codec::encode_lines(black_box(&ids), b'\n', &mut lines)));
        });
        let source = lines.clone();
        group.bench_function("copy", |b| b.iter(|| lines.copy_from_slice(black_box(&source))));
        each_level(&mut group, |group, name| {
            group.bench_function(format!("{name}-one-by-one"), |b| {
                b.iter(|| {
                    for (id, line) in black_box(&ids).iter().zip(&mut lines) {
                        let (text, end) = line.split_first_chunk_mut().expect("a text and its end");
                        id.encode(text);
                        end[0] = b'\n';
                    }
                });
            });
        });
        group.finish();

        let mut group = c.benchmark_group(format!("decode-lines/{called}"));
        group.throughput(wanted);
        each_level(&mut group, |group, name| {
            group.bench_function(name, |b| {
                b.iter(|| codec::decode_lines(black_box(source.as_flattened()), b'\n', &mut read).expect("our lines"));
            });
        });
        each_level(&mut group, |group, name| {
            group.bench_function(format!("{name}-one-by-one"), |b| {
                b.iter(|| {
                    for (line, id) in black_box(&source).iter().zip(&mut read) {
                        *id = MessageId::parse_bytes(&line[..MessageId::TEXT_LEN]).expect("our text");
                    }
                });
            });
        });
        group.finish();
    }
}

criterion_group! {
    name = benches;
    // Each result takes about a second.
    config = Criterion::default()
        .sample_size(50)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800))
        .nresamples(10_000);
    targets = copy, encode_stack, encode_buffer, encode_string, encode_display, parse, cold, bulk
}
criterion_main!(benches);
