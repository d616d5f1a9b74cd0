//! What a follower of new messages misses, with each of the ways that docs/STORES.md ("Cursors") names. Several writers with clocks
//! that differ store messages in PostgreSQL. Some transactions take long, some are rolled back, and connections are killed.
//!
//! `IMID_MESSAGES` is the number of messages in each of the two tables. `cargo test --test cursors -- --nocapture` prints the counts.

#[path = "../../support/random.rs"]
mod random;

use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::io::{self, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant, UNIX_EPOCH};

use imid::clock::{Clock, ClockError};
use imid::{Generator, MessageId, SessionTag, SessionType};
use imid_store_tests::pack::{Parameters, Statement, section};
use imid_store_tests::url;
use postgres::types::ToSql;
use postgres::{Client, NoTls, Transaction};

use self::random::Random;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const PACK: &str = include_str!("../../../sql/postgres/numbers.sql");
const WRITERS: u64 = 8;
const ROOMS: u64 = 8;
/// A writer rolls a transaction back if it minted longer ago. So few commits are later than `LONGEST`, even on a slow machine.
const LIMIT: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(2);
const GREATEST_LEAD: Duration = Duration::from_millis(50);
/// How far a clock is from the true time, at most.
const OFFSET_MS: i64 = 10;
const SKEW: Duration = Duration::from_millis(2 * OFFSET_MS as u64);

/// A clock of another host.
struct OffsetClock(i64);

impl Clock for OffsetClock {
    fn now_ms(&self) -> std::result::Result<u64, ClockError> {
        let now = UNIX_EPOCH.elapsed().expect("a time after 1970").as_millis() as u64;
        Ok(now.saturating_add_signed(self.0))
    }
}

fn room_name(room: u64) -> String {
    format!("room-{room}")
}

/// Opens a connection that sees the tables of this test.
fn connect(url: &str, name: &str) -> Result<Client> {
    let mut client = Client::connect(url, NoTls)?;
    client.batch_execute(&format!(
        "SET search_path = imid_cursors; SET application_name = '{name}'; SET synchronous_commit = off"
    ))?;
    Ok(client)
}

/// Runs statements of the pack. Returns the rows of the last one.
fn run(
    transaction: &mut Transaction<'_>,
    statements: &[Statement],
    values: &[(&str, &(dyn ToSql + Sync))],
) -> Result<Vec<postgres::Row>> {
    let mut rows = Vec::new();
    for statement in statements {
        let value = |name: &String| values.iter().find(|(known, _)| known == name).expect("a known parameter").1;
        rows = transaction.query(&statement.sql, &statement.names.iter().map(value).collect::<Vec<_>>())?;
    }
    Ok(rows)
}

/// The statements of the pack that a writer uses.
struct Pack {
    take: Vec<Statement>,
    store: Vec<Statement>,
}

/// Mints, then stores. Returns whether it was committed.
fn store_plain(
    client: &mut Client,
    ids: &Generator<OffsetClock>,
    room: &str,
    luck: &mut Random,
    progress: &Progress,
) -> Result<bool> {
    let start = Instant::now();
    let id = ids.generate_within(SessionTag::new(SessionType::GROUP, room), GREATEST_LEAD)?;
    let mut transaction = client.transaction()?;
    transaction.execute("INSERT INTO plain (id, room) VALUES ($1, $2)", &[&id, &room])?;
    if luck.below(8) == 0 {
        thread::sleep(Duration::from_millis(luck.below(20)));
    }
    if luck.below(20) == 0 || start.elapsed() > LIMIT {
        return Ok(false);
    }
    let committed = transaction.commit();
    if start.elapsed() > LONGEST {
        progress.late.lock().expect("no panic").insert(id);
    }
    committed?;
    Ok(true)
}

/// Locks the room, then mints and stores. Returns whether it was committed.
fn store_numbered(client: &mut Client, pack: &Pack, room: &str, key: &str, luck: &mut Random) -> Result<bool> {
    let mut transaction = client.transaction()?;
    let tag = SessionTag::new(SessionType::GROUP, room);
    let taken = run(&mut transaction, &pack.take, &[("room", &room), ("session_tag", &tag)])?;
    let (number, last_id): (i64, Option<MessageId>) = (taken[0].try_get(0)?, taken[0].try_get(1)?);
    let id = MessageId::after(last_id, tag, u64::try_from(taken[0].try_get::<_, i64>("now_ms")?)?)?;
    let values: [(&str, &(dyn ToSql + Sync)); 6] =
        [("id", &id), ("room", &room), ("number", &number), ("sender", &"a"), ("key", &key), ("body", &"hello")];
    run(&mut transaction, &pack.store, &values)?;
    if luck.below(32) == 0 {
        thread::sleep(Duration::from_millis(luck.below(4)));
    }
    if luck.below(20) == 0 {
        return Ok(false);
    }
    transaction.commit()?;
    Ok(true)
}

/// What the writers have committed, for the threads.
#[derive(Default)]
struct Progress {
    plain: AtomicU64,
    numbered: AtomicU64,
    kills: AtomicU64,
    is_over: AtomicBool,
    /// IDs that were committed later than `LONGEST`, so `again` may miss them.
    late: Mutex<HashSet<MessageId>>,
}

/// Stores messages until there are enough in each table.
fn write(url: &str, writer: u64, messages: u64, progress: &Progress) {
    let pack =
        Pack { take: section(PACK, "take", Parameters::Numbered), store: section(PACK, "store", Parameters::Numbered) };
    let offset = i64::try_from(writer).expect("few writers") * 2 * OFFSET_MS / (WRITERS as i64 - 1) - OFFSET_MS;
    let ids = Generator::builder().clock(OffsetClock(offset)).max_lead(GREATEST_LEAD).build().expect("a generator");
    let mut luck = Random(writer);
    let mut client = None;
    for n in 0_u64.. {
        let (is_plain, is_numbered) =
            (progress.plain.load(Ordering::Relaxed) < messages, progress.numbered.load(Ordering::Relaxed) < messages);
        if !is_plain && !is_numbered {
            break;
        }
        let Some(mut open) = client.take().or_else(|| connect(url, "imid-cursors-writer").ok()) else { continue };
        let room = room_name(luck.below(ROOMS));
        let (stored, count) = if is_plain && (n % 2 == 0 || !is_numbered) {
            (store_plain(&mut open, &ids, &room, &mut luck, progress), &progress.plain)
        } else {
            (store_numbered(&mut open, &pack, &room, &format!("{writer}-{n}"), &mut luck), &progress.numbered)
        };
        if let Ok(is_committed) = stored {
            count.fetch_add(u64::from(is_committed), Ordering::Relaxed);
            client = Some(open);
        }
    }
}

/// Kills a connection of a writer for about every 200 messages.
fn kill(url: &str, progress: &Progress) {
    let mut client = connect(url, "imid-cursors-killer").expect("the server answers");
    while !progress.is_over.load(Ordering::Relaxed) {
        let done = progress.plain.load(Ordering::Relaxed) + progress.numbered.load(Ordering::Relaxed);
        if done / 200 <= progress.kills.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(1));
            continue;
        }
        let killed = client
            .query(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'imid-cursors-writer'
                 ORDER BY (state = 'idle')::integer, random() LIMIT 1",
                &[],
            )
            .expect("a kill");
        progress.kills.fetch_add(killed.len() as u64, Ordering::Relaxed);
    }
}

/// Calls `poll` again and again, and once more after the last commit. Returns all that it returned.
fn follow(
    url: &str,
    progress: &Progress,
    pause: Duration,
    mut poll: impl FnMut(&mut Client) -> Vec<MessageId>,
) -> Vec<MessageId> {
    let mut client = connect(url, "imid-cursors-follower").expect("the server answers");
    let mut seen = Vec::new();
    loop {
        let is_last = progress.is_over.load(Ordering::Relaxed);
        seen.extend(poll(&mut client));
        if is_last {
            return seen;
        }
        thread::sleep(pause);
    }
}

fn ids(client: &mut Client, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Vec<MessageId> {
    client.query(sql, values).expect("rows").iter().map(|row| row.get(0)).collect()
}

/// Follows until the writers have ended, and returns what it has read.
type Follower = fn(&str, &Progress) -> Vec<MessageId>;

/// The trap: what is committed late, with a smaller ID, is never read.
fn naive(url: &str, progress: &Progress) -> Vec<MessageId> {
    let mut cursor = MessageId::MIN;
    follow(url, progress, Duration::from_millis(10), |client| {
        let new = ids(client, "SELECT id FROM plain WHERE id > $1 ORDER BY id", &[&cursor]);
        cursor = new.last().copied().unwrap_or(cursor);
        new
    })
}

/// (a) The IDs of a room are minted after its row is locked.
fn by_room(url: &str, progress: &Progress) -> Vec<MessageId> {
    let mut cursors = vec![MessageId::MIN; ROOMS as usize];
    follow(url, progress, Duration::from_millis(20), |client| {
        let mut all = Vec::new();
        for (cursor, room) in cursors.iter_mut().zip(0..) {
            let sql = "SELECT id FROM messages WHERE room = $1 AND id > $2 ORDER BY id";
            let new = ids(client, sql, &[&room_name(room), cursor]);
            *cursor = new.last().copied().unwrap_or(*cursor);
            all.extend(new);
        }
        all
    })
}

/// (b) What was read last is read again from before the time at which that read began. How far IDs are ahead does not matter.
fn again(url: &str, progress: &Progress) -> Vec<MessageId> {
    const LIMIT: usize = 500;
    let window = u64::try_from((LONGEST + SKEW).as_millis()).expect("a short time");
    let mut last_read_ms = 0;
    let mut known = HashSet::new();
    follow(url, progress, Duration::from_millis(100), |client| {
        let began_ms = UNIX_EPOCH.elapsed().expect("a time after 1970").as_millis() as u64;
        let first = *MessageId::range(u64::saturating_sub(last_read_ms, window)..).expect("a time").start();
        let (mut from, mut new) = (first, Vec::new());
        loop {
            let page =
                ids(client, "SELECT id FROM plain WHERE id >= $1 ORDER BY id LIMIT $2", &[&from, &(LIMIT as i64)]);
            from = page.last().copied().unwrap_or(from);
            // What is before the window does not come again.
            new.extend(page.iter().filter(|id| known.insert(**id)));
            if page.len() < LIMIT {
                break;
            }
        }
        known.retain(|id| *id >= first);
        last_read_ms = began_ms;
        new
    })
}

/// (c) The numbers of a room have no gaps.
fn by_number(url: &str, progress: &Progress) -> Vec<MessageId> {
    let statement = section(PACK, "follow", Parameters::Numbered).remove(0);
    assert_eq!(statement.names, ["room", "number", "limit"]);
    let mut numbers: HashMap<u64, i64> = HashMap::new();
    follow(url, progress, Duration::from_millis(20), |client| {
        let mut all = Vec::new();
        for room in 0..ROOMS {
            let number = numbers.entry(room).or_default();
            let rows = client.query(&statement.sql, &[&room_name(room), number, &100_000_i64]).expect("rows");
            for row in rows {
                *number += 1;
                assert_eq!(row.get::<_, i64>(1), *number, "{}", room_name(room));
                all.push(row.get(0));
            }
        }
        all
    })
}

#[test]
fn a_cursor_misses_messages_and_three_ways_miss_none() {
    let Some(url) = url("IMID_POSTGRES_URL", "cursors::a_cursor_misses_messages_and_three_ways_miss_none") else {
        return;
    };
    let messages =
        std::env::var("IMID_MESSAGES").map_or(5_000, |count| count.parse().expect("IMID_MESSAGES is a number"));
    let mut client = Client::connect(&url, NoTls).expect("the server answers");
    let mut schema =
        "DROP SCHEMA IF EXISTS imid_cursors CASCADE; CREATE SCHEMA imid_cursors; SET search_path = imid_cursors;
        CREATE TABLE plain (id bytea PRIMARY KEY, room text NOT NULL);"
            .to_owned();
    schema += include_str!("../../../sql/postgres/tables.sql");
    schema += "CREATE INDEX ON messages (room, id);";
    client.batch_execute(&schema).expect("tables");

    let progress = Progress::default();
    let followers: [(&str, &str, Follower); 4] = [
        ("id > cursor", "plain", naive),
        ("minted after the lock", "messages", by_room),
        ("read again", "plain", again),
        ("numbers", "messages", by_number),
    ];
    let seen: Vec<Vec<MessageId>> = thread::scope(|scope| {
        let (progress, url) = (&progress, url.as_str());
        let followers: Vec<_> =
            followers.iter().map(|(_, _, follower)| scope.spawn(move || follower(url, progress))).collect();
        let writers: Vec<_> =
            (0..WRITERS).map(|writer| scope.spawn(move || write(url, writer, messages, progress))).collect();
        scope.spawn(move || kill(url, progress));
        writers.into_iter().for_each(|writer| writer.join().expect("a writer"));
        progress.is_over.store(true, Ordering::Relaxed);
        followers.into_iter().map(|follower| follower.join().expect("a follower")).collect()
    });

    let kills = progress.kills.load(Ordering::Relaxed);
    let late = progress.late.into_inner().expect("no panic");
    let mut report = format!("{kills} kills, {} commits later than {LONGEST:?}\n", late.len());
    let mut missed = Vec::new();
    for ((name, table, _), seen) in followers.iter().zip(&seen) {
        let stored = ids(&mut client, &format!("SELECT id FROM {table}"), &[]);
        let known: HashSet<_> = seen.iter().copied().collect();
        let count = stored.iter().filter(|id| !known.contains(id)).count();
        report += &format!("{name}: missed {count} of {} messages\n", stored.len());
        assert_eq!(known.len(), seen.len(), "{name}: a message was read twice");
        assert_eq!(known.len() + count, stored.len(), "{name}: a message was read that is not there");
        assert!(stored.len() as u64 >= messages);
        let missed_in_time = stored.iter().filter(|id| !known.contains(id) && !late.contains(id)).count();
        missed.push(missed_in_time);
    }
    io::stderr().write_all(report.as_bytes()).expect("standard error can be written");
    assert!(kills > 0);
    assert!(missed[0] > 0, "the control has missed nothing, so this test finds nothing\n{report}");
    assert_eq!(missed[1..], [0, 0, 0], "{report}");
    client.batch_execute("DROP SCHEMA imid_cursors CASCADE").expect("no schema");
}
