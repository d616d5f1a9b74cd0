//! Posts and follows while gateways are killed and started again, then compares what the clients saw with what is stored.
//!
//! ```text
//! DATABASE_URL=... imid-chat-load SECONDS IDS
//! ```
//!
//! It starts three gateways, the clock of one of them an hour ahead, writes the stored IDs to the file IDS, and exits with 1 if a message was
//! lost, doubled or out of order. With the PostgreSQL of `ci/services.sh`, that is also stopped for a while, and a standby that lacks the last
//! commits is promoted. Only messages that were stored in between may be lost, and no one sees them again.

use std::collections::{HashMap, HashSet};
use std::env;
use std::fmt::Write as _;
use std::process::{ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use imid::MessageId;
use reqwest::Client;
use serde_json::{Value, json};
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, Connection, PgConnection, PgPool};
use tokio::process::{Child, Command};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_stream::StreamExt;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

const GATEWAYS: usize = 3;
/// The gateway whose clock is wrong.
const WRONG: usize = GATEWAYS - 1;
/// The functions that lift rooms.
const MINT: &str = include_str!("../../sql/postgres/mint.sql");
const POSTERS: usize = 12;
const ROOMS: [&str; 4] = ["group:kitchen", "group:garden", "group:attic", "private:user-0:user-1"];
/// Who follows: a user of the private chat.
const FOLLOWER: &str = "user-1";
const KILL_EACH: Duration = Duration::from_secs(2);
/// A request that takes longer is sent again, to another gateway.
const TIMEOUT: Duration = Duration::from_secs(8);
/// How long a gateway keeps serving after SIGTERM.
const DRAIN: Duration = Duration::from_secs(5);

/// How much the clock of the last gateway is ahead, for libfaketime, whose path is in IMID_FAKETIME.
const AHEAD: &str = "+1h";
/// How far each room is lifted after the failover. It is more than the time whose commits can be lost.
const LIFT_MS: u64 = 60_000;
/// A room whose IDs are an hour ahead, as a wrong clock of the database leaves it.
const ROOM_AHEAD: &str = ROOMS[2];

/// Streams that follow a room in which nobody writes, and how many transactions they may cost per second.
const IDLE: (usize, f64) = (300, 10.0);

/// What the tasks share.
struct World {
    client: Client,
    urls: Vec<String>,
    is_over: AtomicBool,
    /// A gateway did not do what it should, and nobody starts them anymore.
    has_failed: AtomicBool,
    /// From when on the database may not keep what it acknowledges, and until when.
    lossy: std::sync::Mutex<[Option<Instant>; 2]>,
    resets: AtomicU64,
    attempts: AtomicU64,
    /// The last ID of each room, once nobody posts anymore.
    last: std::sync::Mutex<Option<HashMap<String, MessageId>>>,
}

impl World {
    /// Returns the command that starts a gateway.
    fn gateway(&self, place: usize) -> Result<Command> {
        let program = env::current_exe()?.with_file_name(env::var("CHAT_PROGRAM").as_deref().unwrap_or("imid-chat"));
        let mut command = Command::new(program);
        if place == WRONG {
            // Not by the program `faketime`, which would be killed in place of the gateway.
            command.env("LD_PRELOAD", env::var("IMID_FAKETIME")?).env("FAKETIME", AHEAD);
            command.env("FAKETIME_DONT_FAKE_MONOTONIC", "1").env("FAKETIME_DISABLE_SHM", "1");
        }
        command
            .env("CHAT_LISTEN", self.urls[place].trim_start_matches("http://"))
            .env("CHAT_CONNECTIONS", "5")
            .env("CHAT_DRAIN", DRAIN.as_secs().to_string())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        Ok(command)
    }

    /// Whether the database may have lost a message.
    fn is_lossy(&self, message: &Acknowledged) -> bool {
        let [from, to] = *self.lossy.lock().expect("no panic");
        from.is_some_and(|from| message.at >= from) && to.is_none_or(|to| message.at - message.took <= to)
    }
}

/// Returns an address that nobody listens on.
fn free_url() -> Result<String> {
    Ok(format!("http://{}", std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?))
}

/// Asks a gateway to stop.
async fn terminate(gateway: &Child) -> Result<()> {
    let pid = gateway.id().ok_or("a gateway has ended")?.to_string();
    Command::new("kill").args(["-TERM", &pid]).status().await?;
    Ok(())
}

/// Checks that a gateway without a database serves its page, is not ready, and ends in order.
async fn expect_start_without_database(world: &World) -> Result<()> {
    let silent = std::net::TcpListener::bind("127.0.0.1:0")?;
    let database = format!("postgres://chat@{}/chat", silent.local_addr()?);
    let mut waiting = world.gateway(0)?.env("DATABASE_URL", database).spawn()?;
    wait_for(world, &format!("{}/live", world.urls[0])).await?;
    let status = async |url: String| Result::Ok(world.client.get(url).timeout(TIMEOUT).send().await?.status().as_u16());
    assert_eq!(status(format!("{}/ready", world.urls[0])).await?, 503);
    assert_eq!(status(format!("{}/", world.urls[0])).await?, 200);
    terminate(&waiting).await?;
    let status = timeout(DRAIN + Duration::from_secs(60), waiting.wait()).await??;
    assert!(status.success(), "a gateway that was asked to stop ended with {status}");
    Ok(())
}

/// Returns how many seconds the clock of a gateway is ahead of this one's: HTTP answers have the time.
async fn ahead(world: &World, place: usize) -> Result<i64> {
    let answer = world.client.get(format!("{}/live", world.urls[place])).timeout(TIMEOUT).send().await?;
    let date = answer.headers().get("date").ok_or("an answer without a date")?.to_str()?;
    let seconds = async |date: &str| -> Result<i64> {
        let out = Command::new("date").args(["-d", date, "+%s"]).output().await?;
        Ok(String::from_utf8(out.stdout)?.trim().parse()?)
    };
    Ok(seconds(date).await? - seconds("now").await?)
}

/// Checks that what can never be stored is refused, so a client does not send it again and again.
async fn expect_refusals(world: &World) -> Result<()> {
    let room = format!("{}/rooms/{}", world.urls[0], ROOMS[0]);
    for (method, path, user, body) in [
        (reqwest::Method::POST, "messages", "user-0", json!({ "key": "nul", "body": "a\0b" })),
        (reqwest::Method::POST, "messages", "user-0", json!({ "key": "a\0b", "body": "hello" })),
        (reqwest::Method::POST, "messages", "a\0b", json!({ "key": "nul", "body": "hello" })),
        (reqwest::Method::PUT, "read?after=EUNC-Q8QJ-22GH-T3DD", "user-0", json!({})),
    ] {
        let request = world.client.request(method, format!("{room}/{path}")).query(&[("user", user)]).json(&body);
        let answer = request.send().await?;
        assert_eq!(answer.status().as_u16(), 400, "{path} {body} of {user:?}: {}", answer.text().await?);
    }
    Ok(())
}

/// Waits until an address answers that all is well.
async fn wait_for(world: &World, url: &str) -> Result<()> {
    let start = Instant::now();
    loop {
        let answer = world.client.get(url).timeout(TIMEOUT).send().await;
        if answer.is_ok_and(|answer| answer.status().is_success()) {
            return Ok(());
        }
        if start.elapsed() > Duration::from_secs(60) {
            return Err(format!("{url} does not answer 200 after 60 s").into());
        }
        sleep(Duration::from_millis(50)).await;
    }
}

/// Asks a gateway to stop. Until it has drained, it must say that it is not ready, and serve on, over new connections. On a machine that
/// stands still for that long, nothing of it is seen.
async fn expect_draining(world: &World, place: usize, gateway: &Child) -> Result<()> {
    let client = Client::builder().pool_max_idle_per_host(0).build()?;
    let start = Instant::now();
    terminate(gateway).await?;
    let seen = async {
        let ready = || client.get(format!("{}/ready", world.urls[place])).timeout(TIMEOUT).send();
        // Answers are counted, because the machine can be slow.
        let mut still_ready = 0;
        while ready().await?.status().is_success() {
            still_ready += 1;
            assert!(still_ready < 100, "gateway {place} was asked to stop, and is still ready");
            sleep(Duration::from_millis(20)).await;
        }
        let page = format!("{}/rooms/{}/messages", world.urls[place], ROOMS[0]);
        client.get(page).query(&[("user", FOLLOWER)]).send().await?.error_for_status()
    };
    match seen.await {
        Err(error) if start.elapsed() < DRAIN => Err(format!("gateway {place} does not drain: {error}").into()),
        Err(_) => {
            eprintln!("gateway {place}: its drain was over after {:?}, unseen", start.elapsed());
            Ok(())
        }
        Ok(_) => Ok(()),
    }
}

/// Sends a message until a gateway has stored it. Returns the answer.
async fn send(world: &World, place: usize, room: &str, user: &str, draft: &Value) -> Value {
    for attempt in place.. {
        assert!(!world.has_failed.load(Ordering::Relaxed), "the gateways have ended");
        let url = format!("{}/rooms/{room}/messages", world.urls[attempt % GATEWAYS]);
        world.attempts.fetch_add(1, Ordering::Relaxed);
        let request = world.client.post(url).query(&[("user", user)]).json(draft).timeout(TIMEOUT);
        if let Ok(answer) = request.send().await {
            let status = answer.status();
            if status.is_success()
                && let Ok(message) = answer.json().await
            {
                return message;
            }
            assert!(!status.is_client_error(), "{status} for {draft}");
        }
        sleep(Duration::from_millis(20)).await;
    }
    unreachable!("the attempts do not end")
}

/// A message that a gateway has acknowledged.
struct Acknowledged {
    id: MessageId,
    room: &'static str,
    /// The number of the poster and that of the message.
    key: (usize, usize),
    at: Instant,
    took: Duration,
    is_again: bool,
}

/// Posts one message after another.
async fn post(world: Arc<World>, poster: usize) -> Vec<Acknowledged> {
    let user = format!("user-{poster}");
    let mut all = Vec::new();
    for n in 0_usize.. {
        if world.is_over.load(Ordering::Relaxed) {
            break;
        }
        // The private chat has two users.
        let room = ROOMS[(n + poster) % if poster < 2 { 4 } else { 3 }];
        let draft = json!({ "key": n.to_string(), "body": format!("message {n} of {user}") });
        for again in 0..if n % 20 == 0 { 2 } else { 1 } {
            let start = Instant::now();
            let message = send(&world, n + again, room, &user, &draft).await;
            let id = message["id"].as_str().expect("an ID").parse().expect("an ID");
            let (key, took) = ((poster, n), start.elapsed());
            all.push(Acknowledged { id, room, key, at: Instant::now(), took, is_again: again == 1 });
        }
    }
    all
}

/// Follows a room, with a new connection to another gateway each time one ends. Returns the numbers and IDs. After a reset it begins again.
async fn follow(world: Arc<World>, place: usize, room: &'static str) -> Vec<(i64, MessageId)> {
    let mut seen: Vec<(i64, MessageId)> = Vec::new();
    for attempt in place.. {
        let url = format!("{}/rooms/{room}/events", world.urls[attempt % GATEWAYS]);
        let mut request = world.client.get(url).query(&[("user", FOLLOWER)]);
        if let Some((_, id)) = seen.last() {
            request = request.header("Last-Event-ID", id.to_string());
        }
        if let Ok(answer) = request.send().await {
            let mut chunks = answer.bytes_stream();
            let mut text = Vec::new();
            // A stream without a chunk is looked at again, because the last message may have come.
            while let Ok(next) = timeout(Duration::from_millis(500), chunks.next()).await.or_else(|late| {
                if is_complete(&world, room, &seen) { Err(late) } else { Ok(Some(Ok(Default::default()))) }
            }) {
                let Some(Ok(chunk)) = next else { break };
                text.extend_from_slice(&chunk);
                // An event ends with an empty line.
                while let Some(end) = text.windows(2).position(|pair| pair == b"\n\n") {
                    let event = String::from_utf8(text.drain(..end + 2).collect()).expect("text");
                    if event.starts_with("event: reset") {
                        world.resets.fetch_add(1, Ordering::Relaxed);
                        seen.clear();
                    } else if let Some(data) = event.lines().find_map(|line| line.strip_prefix("data: ")) {
                        let message: Value = serde_json::from_str(data).expect("JSON");
                        let id = message["id"].as_str().expect("an ID").parse().expect("an ID");
                        seen.push((message["number"].as_i64().expect("a number"), id));
                    }
                }
            }
        }
        if is_complete(&world, room, &seen) {
            break;
        }
        sleep(Duration::from_millis(50)).await;
    }
    seen
}

/// Whether a follower has the last message of its room.
fn is_complete(world: &World, room: &str, seen: &[(i64, MessageId)]) -> bool {
    let last = world.last.lock().expect("no panic");
    last.as_ref().is_some_and(|last| last.get(room).copied() == seen.last().map(|(_, id)| *id))
}

/// Does something to the database that `ci/services.sh` started.
async fn database(what: &str) -> Result<()> {
    let script = env::var("IMID_SERVICES_SH")?;
    let status = Command::new("bash").args([&script, "server"]).args(what.split(' ')).status().await?;
    if status.success() { Ok(()) } else { Err(format!("services.sh server {what}: {status}").into()) }
}

/// Promotes a standby that lacks the last commits. The gateways run on. Before they can write again, each room is lifted above the IDs that
/// may be lost.
async fn fail_over(world: &World) -> Result<()> {
    let url = env::var("DATABASE_URL")?;
    let port = std::fs::read_to_string(format!("{}/standby/port", env::var("IMID_SERVICES")?))?;
    let standby = url.parse::<PgConnectOptions>()?.port(port.trim().parse()?);
    // What was acknowledged before is on the standby.
    world.lossy.lock().expect("no panic")[0] = Some(Instant::now());
    let lsn: String = sqlx::query_scalar("SELECT pg_current_wal_lsn()::text")
        .fetch_one(&mut PgConnection::connect(&url).await?)
        .await?;
    let mut behind = PgConnection::connect_with(&standby).await?;
    let has_replayed = "SELECT pg_last_wal_replay_lsn() >= $1::pg_lsn";
    let start = Instant::now();
    while !sqlx::query_scalar::<_, bool>(has_replayed).bind(&lsn).fetch_one(&mut behind).await? {
        assert!(start.elapsed() < Duration::from_secs(300), "the standby stays behind");
        sleep(Duration::from_millis(20)).await;
    }
    behind.close().await?;
    database("standby detach").await?;
    // Messages are stored.
    sleep(Duration::from_secs(5)).await;
    sql(&standby, "ALTER SYSTEM SET default_transaction_read_only = on").await?;
    database("standby promote").await?;
    world.lossy.lock().expect("no panic")[1] = Some(Instant::now());
    let primary = url.parse()?;
    if env::var_os("CHAT_NO_LIFT").is_none() {
        sql(&primary, MINT).await?;
        sql(&primary, &format!("UPDATE rooms SET last_id = imid_lift(last_id, session_tag, {LIFT_MS})")).await?;
    }
    sql(&primary, "ALTER SYSTEM RESET default_transaction_read_only").await?;
    sql(&primary, "SELECT pg_reload_conf()").await
}

/// Runs SQL in a session that can write.
async fn sql(server: &PgConnectOptions, sql: &str) -> Result<()> {
    let mut db =
        PgConnection::connect_with(&server.clone().options([("default_transaction_read_only", "off")])).await?;
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut db).await?;
    Ok(db.close().await?)
}

/// Kills a gateway or asks it to stop, by turns, and starts it again. After a quarter of the time the database is away, and after a half a
/// standby takes its place. Some turns are after that, also if it takes long.
async fn disturb(world: Arc<World>, mut gateways: Vec<Child>, seconds: Duration) -> Result<(u64, u64, Vec<Child>)> {
    let (mut killed, mut stopped) = (0, 0);
    let start = Instant::now();
    let mut faults: Vec<&str> = if env::var("IMID_SERVICES_SH").is_ok_and(|path| !path.is_empty()) {
        vec!["fail over", "stop"]
    } else {
        vec![]
    };
    let mut least = 3;
    for turn in 0.. {
        sleep(KILL_EACH).await;
        if start.elapsed() > seconds && faults.is_empty() && turn >= least {
            break;
        }
        if start.elapsed() > seconds / 4 * (3 - faults.len() as u32) {
            match faults.pop() {
                Some("stop") => {
                    database("postgres stop").await?;
                    sleep(Duration::from_secs(3)).await;
                    database("postgres start").await?;
                    database("postgres standby").await?;
                }
                Some(_) => {
                    fail_over(&world).await?;
                    least = turn + 3;
                }
                None => {}
            }
        }
        let place = turn % GATEWAYS;
        if turn % 4 == 3 {
            expect_draining(&world, place, &gateways[place]).await?;
            let status = gateways[place].wait().await?;
            assert!(status.success(), "a gateway that was asked to stop ended with {status}");
            stopped += 1;
        } else {
            gateways[place].kill().await?;
            killed += 1;
        }
        sleep(Duration::from_millis(200)).await;
        gateways[place] = world.gateway(place)?.spawn()?;
        wait_for(&world, &format!("{}/ready", world.urls[place])).await?;
    }
    Ok((killed, stopped, gateways))
}

/// Returns how many transactions per second the database has while streams follow a room in which nobody writes.
async fn transactions_while_idle(world: &World, db: &PgPool) -> Result<f64> {
    let client = Client::new();
    let mut streams = Vec::new();
    for place in 0..IDLE.0 {
        let url = format!("{}/rooms/group:idle/events", world.urls[place % GATEWAYS]);
        streams.push(client.get(url).query(&[("user", FOLLOWER)]).send().await?.error_for_status()?);
    }
    let count = async || -> Result<i64> {
        let sql = "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()";
        Ok(sqlx::query_scalar(sql).fetch_one(db).await?)
    };
    // A connection that has nothing to do reports what it did before for up to 10 s.
    sleep(Duration::from_secs(12)).await;
    let (start, before) = (Instant::now(), count().await?);
    sleep(Duration::from_secs(5)).await;
    Ok((count().await? - before) as f64 / start.elapsed().as_secs_f64())
}

#[tokio::main]
async fn main() -> Result<ExitCode> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [seconds, ids_file] = &arguments[..] else { return Err("expected SECONDS IDS".into()) };
    let seconds = Duration::from_secs(seconds.parse()?);
    let db = PgPool::connect(&env::var("DATABASE_URL")?).await?;

    let world = Arc::new(World {
        client: Client::new(),
        urls: (0..GATEWAYS).map(|_| free_url()).collect::<Result<_>>()?,
        is_over: AtomicBool::new(false),
        has_failed: AtomicBool::new(false),
        lossy: std::sync::Mutex::default(),
        resets: AtomicU64::new(0),
        attempts: AtomicU64::new(0),
        last: std::sync::Mutex::default(),
    });
    expect_start_without_database(&world).await?;
    let gateways: Vec<Child> = (0..GATEWAYS).map(|place| Ok(world.gateway(place)?.spawn()?)).collect::<Result<_>>()?;
    for url in &world.urls {
        wait_for(&world, &format!("{url}/ready")).await?;
    }
    let ahead_s = [ahead(&world, 0).await?, ahead(&world, WRONG).await?];
    assert!(ahead_s[0].abs() < 100 && ahead_s[1] > 3_500, "the clocks of two gateways are {ahead_s:?} s ahead");
    expect_refusals(&world).await?;
    // From now on all rooms are unread for the follower.
    for room in ROOMS {
        let url = format!("{}/rooms/{room}/read", world.urls[0]);
        let mark = world.client.put(url).query(&[("user", FOLLOWER)]);
        mark.send().await?.error_for_status()?;
    }

    sqlx::raw_sql(MINT).execute(&db).await?;
    let ahead =
        "INSERT INTO rooms SELECT $1, tag, 0, imid_lift(NULL, tag, 3600000) FROM imid_session_tag_of(3, $2) AS tag";
    sqlx::query(ahead).bind(ROOM_AHEAD).bind(ROOM_AHEAD.trim_start_matches("group:")).execute(&db).await?;

    let start = Instant::now();
    let (mut posters, mut followers) = (JoinSet::new(), JoinSet::new());
    for poster in 0..POSTERS {
        posters.spawn(post(world.clone(), poster));
    }
    for (place, room) in ROOMS.into_iter().cycle().take(2 * ROOMS.len()).enumerate() {
        let world = world.clone();
        followers.spawn(async move { (room, follow(world, place, room).await) });
    }
    let disturbing = tokio::spawn({
        let world = world.clone();
        async move {
            disturb(world.clone(), gateways, seconds).await.inspect_err(|error| {
                eprintln!("error: {error}");
                world.has_failed.store(true, Ordering::Relaxed);
            })
        }
    });
    let (killed, stopped, _gateways) = disturbing.await??;
    world.is_over.store(true, Ordering::Relaxed);
    let acknowledged: Vec<Acknowledged> = posters.join_all().await.into_iter().flatten().collect();
    let took = start.elapsed().as_secs_f64();

    let rooms: Vec<(String, i64, MessageId)> =
        sqlx::query_as("SELECT name, last_number, last_id FROM rooms WHERE name <> '' ORDER BY name")
            .fetch_all(&db)
            .await?;
    *world.last.lock().expect("no panic") = Some(rooms.iter().map(|(room, _, id)| (room.clone(), *id)).collect());
    let stored: Vec<(String, i64, MessageId)> =
        sqlx::query_as("SELECT room, number, id FROM messages ORDER BY room, number").fetch_all(&db).await?;
    let mut wrong = Vec::new();
    let ids: HashSet<MessageId> = stored.iter().map(|(.., id)| *id).collect();
    let mut known: HashMap<MessageId, (usize, usize)> = HashMap::new();
    let (mut lost, mut again, mut equal, mut lower) = (0, 0, 0, 0);
    let [lossy_from, lossy_to] = *world.lossy.lock().expect("no panic");
    for message in &acknowledged {
        // The same key has one message, unless the database has lost the first one.
        if message.is_again && !known.contains_key(&message.id) && lossy_from.is_none() {
            wrong.push(format!("{} was stored again under one key", message.id));
        }
        again += usize::from(message.is_again);
        let first = known.insert(message.id, message.key);
        equal += usize::from(first.is_some_and(|key| key != message.key));
        if first.is_none() && !ids.contains(&message.id) {
            lost += 1;
            if !world.is_lossy(message) {
                wrong.push(format!("{} was acknowledged and is not stored", message.id));
            }
        }
    }
    // What was sent after the failover is after all that anybody saw before it, the lost messages too.
    let mut later = 0;
    if let Some(promoted) = lossy_to {
        for room in ROOMS {
            let of_room = || acknowledged.iter().filter(|message| message.room == room);
            let before = of_room().filter(|message| message.at < promoted).map(|message| message.id).max();
            for message in of_room().filter(|message| message.at - message.took > promoted) {
                later += 1;
                lower += usize::from(Some(message.id) <= before);
            }
        }
    }
    if known.len() != stored.len() + lost {
        wrong.push(format!(
            "{} messages were acknowledged, {lost} of them lost, {} are stored",
            known.len(),
            stored.len()
        ));
    }
    for (room, last, _) in &rooms {
        let of_room: Vec<_> = stored.iter().filter(|(name, ..)| name == room).collect();
        if !of_room.iter().map(|(_, number, _)| *number).eq(1..=*last) {
            wrong.push(format!("{room}: the numbers are not 1 to {last}"));
        }
        lower += of_room.array_windows().filter(|[(_, _, a), (_, _, b)]| a >= b).count();
    }
    let now_ms: i64 = sqlx::query_scalar("SELECT (extract(epoch FROM now()) * 1000)::bigint").fetch_one(&db).await?;
    let of_clock = stored.iter().filter(|(room, ..)| room != ROOM_AHEAD).map(|(.., id)| id.timestamp_ms() as i64);
    let ahead_ms = of_clock.max().ok_or("nothing is stored")? - now_ms;
    if ahead_ms > if lossy_to.is_some() { LIFT_MS as i64 + 1_000 } else { 1_000 } {
        wrong.push(format!("IDs are {ahead_ms} ms ahead of the database"));
    }
    if lower + equal > 0 {
        wrong.push(format!("{lower} IDs are lower than one before them in their room, {equal} are of two messages"));
    }
    let mut followed = 0;
    for (room, seen) in followers.join_all().await {
        followed += seen.len();
        let of_room = stored.iter().filter(|(name, ..)| name == room).map(|(_, number, id)| (*number, *id));
        if !of_room.eq(seen.iter().copied()) {
            wrong.push(format!("{room}: a follower saw other messages than are stored, or in another order"));
        }
    }
    let unread: Value =
        world.client.get(format!("{}/unread", world.urls[0])).query(&[("user", FOLLOWER)]).send().await?.json().await?;
    let unread: i64 = unread.as_object().ok_or("no object")?.values().filter_map(Value::as_i64).sum();
    if unread != stored.len() as i64 {
        wrong.push(format!("{unread} messages are unread of {}", stored.len()));
    }

    let mut idle = transactions_while_idle(&world, &db).await?;
    for _ in 0..3 {
        // Something before the streams was reported late.
        if idle > IDLE.1 {
            idle = transactions_while_idle(&world, &db).await?;
        }
    }
    if idle > IDLE.1 {
        wrong.push(format!("{} idle streams make {idle:.0} transactions per second", IDLE.0));
    }

    let mut ids: Vec<MessageId> = ids.into_iter().collect();
    ids.sort_unstable();
    let lines = ids.iter().fold(String::new(), |mut lines, id| {
        let _ = writeln!(lines, "{id}");
        lines
    });
    std::fs::write(ids_file, lines)?;
    let mut latencies: Vec<Duration> = acknowledged.iter().map(|message| message.took).collect();
    latencies.sort_unstable();
    let part = |share: usize| {
        latencies.get(latencies.len() * share / 1_000).or(latencies.last()).map_or(0, Duration::as_millis)
    };
    let resets = world.resets.load(Ordering::Relaxed);
    println!(
        "{} messages in {took:.0} s ({:.0} per second), {} requests, {again} sent twice on purpose, {killed} gateways killed, {stopped} \
         stopped; answered in {} ms (half), {} ms (99 %), {} ms (all); 8 followers saw {followed}; {} idle streams: {idle:.1} \
         transactions per second",
        known.len(),
        known.len() as f64 / took,
        world.attempts.load(Ordering::Relaxed),
        part(500),
        part(990),
        part(1_000),
        IDLE.0,
    );
    println!("{lower} lower, {equal} equal; the clock of a gateway was {} s ahead, IDs {ahead_ms} ms", ahead_s[1]);
    if lossy_to.is_some() {
        println!(
            "a standby without the last commits was promoted: {lost} acknowledged messages lost, {later} sent after it, followers \
             began again {resets} times"
        );
        if lost == 0 || resets == 0 || later == 0 {
            wrong.push(
                "nothing was lost in the promotion of the standby or sent after it, so it shows nothing".to_owned(),
            );
        }
    }
    for line in &wrong {
        println!("WRONG: {line}");
    }
    Ok(if wrong.is_empty() && killed > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
