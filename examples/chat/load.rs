//! Posts and follows while gateways are killed and started again, then compares what the clients saw with what is stored.
//!
//! ```text
//! DATABASE_URL=... imid-chat-load SECONDS IDS
//! ```
//!
//! It starts three gateways, writes the stored IDs to the file IDS, and exits with 1 if a message was lost, doubled or out of order. With the
//! PostgreSQL of `ci/services.sh`, that is also stopped for a while, and a standby that lacks the last commits is promoted. Only messages that
//! were stored in between may be lost, and no one sees them again.

use std::collections::{HashMap, HashSet};
use std::env;
use std::fmt::Write as _;
use std::process::{ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use imid::MessageId;
use imid_lease::admin::{self, Recovery};
use imid_lease::register::PostgresRegister;
use reqwest::Client;
use serde_json::{Value, json};
use sqlx::PgPool;
use tokio::process::{Child, Command};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_stream::StreamExt;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

const GATEWAYS: usize = 3;
const POSTERS: usize = 12;
const ROOMS: [&str; 4] = ["group:kitchen", "group:garden", "group:attic", "private:user-0:user-1"];
/// Who follows: a user of the private chat.
const FOLLOWER: &str = "user-1";
const KILL_EACH: Duration = Duration::from_secs(2);
/// A request that takes longer is sent again, to another gateway.
const TIMEOUT: Duration = Duration::from_secs(8);

/// Streams that follow a room in which nobody writes, and how many transactions they may cost per second, with those of three leases.
const IDLE: (usize, f64) = (300, 30.0);

/// What the tasks share.
struct World {
    client: Client,
    urls: Vec<String>,
    operations: Vec<String>,
    is_over: AtomicBool,
    /// A gateway did not do what it should, and nobody starts them anymore.
    has_failed: AtomicBool,
    /// From when on the database does not keep what it acknowledges, and until when.
    lossy: std::sync::Mutex<[Option<Instant>; 2]>,
    resets: AtomicU64,
    attempts: AtomicU64,
    /// The last ID of each room, once nobody posts anymore.
    last: std::sync::Mutex<Option<HashMap<String, MessageId>>>,
}

impl World {
    /// Returns the command that starts a gateway.
    fn gateway(&self, place: usize) -> Result<Command> {
        let mut command = Command::new(env::current_exe()?.with_file_name("imid-chat"));
        command
            .env("CHAT_LISTEN", self.urls[place].trim_start_matches("http://"))
            .env("CHAT_OPERATIONS", self.operations[place].trim_start_matches("http://"))
            .env("CHAT_NAME", format!("chat-{place}"))
            .env("CHAT_CONNECTIONS", "5")
            .env("CHAT_DRAIN", "2")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        Ok(command)
    }

    /// Whether the database may have lost what it acknowledged then.
    fn is_lossy(&self, then: Instant) -> bool {
        let [from, to] = *self.lossy.lock().expect("no panic");
        from.is_some_and(|from| then >= from) && to.is_none_or(|to| then <= to)
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

/// Checks that a gateway without a database serves its page and its metrics, refuses what needs a lane, and ends in order.
async fn expect_start_without_database(world: &World) -> Result<()> {
    let silent = std::net::TcpListener::bind("127.0.0.1:0")?;
    let database = format!("postgres://chat@{}/chat", silent.local_addr()?);
    let mut waiting = world.gateway(0)?.env("DATABASE_URL", database).spawn()?;
    wait_for(world, &format!("{}/live", world.operations[0])).await?;
    let status = async |url: String| Result::Ok(world.client.get(url).timeout(TIMEOUT).send().await?.status().as_u16());
    assert_eq!(status(format!("{}/metrics", world.operations[0])).await?, 200);
    assert_eq!(status(format!("{}/ready", world.operations[0])).await?, 503);
    assert_eq!(status(format!("{}/", world.urls[0])).await?, 200);
    terminate(&waiting).await?;
    // 2 s to drain. It has no lane to give back, so it does not wait for the call of the register.
    let status = timeout(Duration::from_secs(7), waiting.wait()).await??;
    assert!(status.success(), "a gateway without a lane that was asked to stop ended with {status}");
    Ok(())
}

/// Checks that what can never be stored is refused, so a client does not send it again and again.
async fn expect_refusals(world: &World) -> Result<()> {
    let room = format!("{}/rooms/{}", world.urls[0], ROOMS[0]);
    let strange = json!({ "id": "EUNC-Q8QJ-22GH-T3DD" });
    for (method, path, user, body) in [
        (reqwest::Method::POST, "messages", "user-0", json!({ "key": "nul", "body": "a\0b" })),
        (reqwest::Method::POST, "messages", "user-0", json!({ "key": "a\0b", "body": "hello" })),
        (reqwest::Method::POST, "messages", "a\0b", json!({ "key": "nul", "body": "hello" })),
        (reqwest::Method::PUT, "read", "user-0", strange),
    ] {
        let request = world.client.request(method, format!("{room}/{path}")).query(&[("user", user)]).json(&body);
        let answer = request.send().await?;
        assert_eq!(answer.status().as_u16(), 400, "{body} of {user:?}: {}", answer.text().await?);
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

/// Waits until a gateway that was asked to stop says that it is not ready, and checks that it serves on, over new connections.
async fn expect_draining(world: &World, place: usize) -> Result<()> {
    let client = Client::builder().pool_max_idle_per_host(0).build()?;
    let ready = || client.get(format!("{}/ready", world.operations[place])).timeout(TIMEOUT).send();
    while ready().await?.status().is_success() {
        sleep(Duration::from_millis(20)).await;
    }
    let page = client.get(format!("{}/rooms/{}/messages", world.urls[place], ROOMS[0])).query(&[("user", FOLLOWER)]);
    page.send().await?.error_for_status()?;
    Ok(())
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
            all.push(Acknowledged { id, at: Instant::now(), took: start.elapsed(), is_again: again == 1 });
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

/// Promotes a standby that lacks the last commits. The gateways notice that their register went back, and are stopped. The space is
/// recovered as docs/LEASES.md says, and they are started again.
async fn fail_over(world: &World, gateways: &mut [Child]) -> Result<()> {
    world.lossy.lock().expect("no panic")[0] = Some(Instant::now());
    // The standby may be a moment behind.
    sleep(Duration::from_secs(1)).await;
    database("standby detach").await?;
    // Each gateway renews its lease, and messages are stored.
    sleep(Duration::from_secs(5)).await;
    database("standby promote").await?;
    world.lossy.lock().expect("no panic")[1] = Some(Instant::now());
    // A gateway that exits would be started again before the register is recovered.
    for (gateway, operations) in gateways.iter_mut().zip(&world.operations) {
        let start = Instant::now();
        let is_ready = async || {
            Result::Ok(
                world.client.get(format!("{operations}/ready")).timeout(TIMEOUT).send().await?.status().is_success(),
            )
        };
        while is_ready().await? {
            assert!(start.elapsed() < Duration::from_secs(60), "a gateway goes on without its register");
            sleep(Duration::from_millis(50)).await;
        }
        assert!(gateway.try_wait()?.is_none(), "a gateway whose register went back does not exit");
    }
    for gateway in &mut *gateways {
        terminate(gateway).await?;
        assert!(gateway.wait().await?.success());
    }
    let url = env::var("DATABASE_URL")?;
    tokio::task::spawn_blocking(move || -> Result<u64> {
        let recovery = Recovery::new(Duration::from_secs(10), Duration::from_secs(5));
        Ok(admin::recover(&mut PostgresRegister::from_url(&url)?, "lanes", recovery)?)
    })
    .await??;
    for (place, gateway) in gateways.iter_mut().enumerate() {
        *gateway = world.gateway(place)?.spawn()?;
        wait_for(world, &format!("{}/ready", world.operations[place])).await?;
    }
    Ok(())
}

/// Kills a gateway or asks it to stop, by turns, and starts it again. After a third of the time the database is away, and after two thirds a
/// standby takes its place.
async fn disturb(world: Arc<World>, mut gateways: Vec<Child>, seconds: Duration) -> Result<(u64, u64, Vec<Child>)> {
    let (mut killed, mut stopped) = (0, 0);
    let start = Instant::now();
    let mut faults: Vec<&str> =
        if env::var_os("IMID_SERVICES_SH").is_some() { vec!["fail over", "stop"] } else { vec![] };
    for turn in 0.. {
        sleep(KILL_EACH).await;
        if world.is_over.load(Ordering::Relaxed) {
            break;
        }
        if start.elapsed() > seconds / 3 * (3 - faults.len() as u32) {
            match faults.pop() {
                Some("stop") => {
                    database("postgres stop").await?;
                    sleep(Duration::from_secs(3)).await;
                    database("postgres start").await?;
                    database("postgres standby").await?;
                }
                Some(_) => fail_over(&world, &mut gateways).await?,
                None => {}
            }
        }
        let place = turn % GATEWAYS;
        if turn % 4 == 3 {
            terminate(&gateways[place]).await?;
            expect_draining(&world, place).await?;
            let status = gateways[place].wait().await?;
            assert!(status.success(), "a gateway that was asked to stop ended with {status}");
            stopped += 1;
        } else {
            gateways[place].kill().await?;
            killed += 1;
        }
        sleep(Duration::from_millis(200)).await;
        gateways[place] = world.gateway(place)?.spawn()?;
        wait_for(&world, &format!("{}/ready", world.operations[place])).await?;
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
        operations: (0..GATEWAYS).map(|_| free_url()).collect::<Result<_>>()?,
        is_over: AtomicBool::new(false),
        has_failed: AtomicBool::new(false),
        lossy: std::sync::Mutex::default(),
        resets: AtomicU64::new(0),
        attempts: AtomicU64::new(0),
        last: std::sync::Mutex::default(),
    });
    expect_start_without_database(&world).await?;
    let gateways: Vec<Child> = (0..GATEWAYS).map(|place| Ok(world.gateway(place)?.spawn()?)).collect::<Result<_>>()?;
    for operations in &world.operations {
        wait_for(&world, &format!("{operations}/ready")).await?;
    }
    expect_refusals(&world).await?;
    // From now on all rooms are unread for the follower.
    for room in ROOMS {
        let url = format!("{}/rooms/{room}/read", world.urls[0]);
        let mark = world.client.put(url).query(&[("user", FOLLOWER)]).json(&json!({}));
        mark.send().await?.error_for_status()?;
    }

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
    sleep(seconds).await;
    world.is_over.store(true, Ordering::Relaxed);
    let acknowledged: Vec<Acknowledged> = posters.join_all().await.into_iter().flatten().collect();
    let took = start.elapsed().as_secs_f64();
    let (killed, stopped, _gateways) = disturbing.await??;

    let rooms: Vec<(String, i64, MessageId)> =
        sqlx::query_as("SELECT name, last_number, last_id FROM rooms ORDER BY name").fetch_all(&db).await?;
    *world.last.lock().expect("no panic") = Some(rooms.iter().map(|(room, _, id)| (room.clone(), *id)).collect());
    let stored: Vec<(String, i64, MessageId)> =
        sqlx::query_as("SELECT room, number, id FROM messages ORDER BY room, number").fetch_all(&db).await?;
    let mut wrong = Vec::new();
    let ids: HashSet<MessageId> = stored.iter().map(|(.., id)| *id).collect();
    let mut known: HashSet<MessageId> = HashSet::new();
    let (mut lost, mut again) = (0, 0);
    for message in &acknowledged {
        // The same key has one message, unless the database has lost the first one.
        if message.is_again && !known.contains(&message.id) && world.lossy.lock().expect("no panic")[0].is_none() {
            wrong.push(format!("{} was stored again under one key", message.id));
        }
        again += usize::from(message.is_again);
        let is_new = known.insert(message.id);
        if is_new && !ids.contains(&message.id) {
            lost += 1;
            if !world.is_lossy(message.at) {
                wrong.push(format!("{} was acknowledged and is not stored", message.id));
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
        if !of_room.is_sorted_by(|(_, _, a), (_, _, b)| a < b) {
            wrong.push(format!("{room}: an ID is not in the order of the numbers"));
        }
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
    let unread: i64 = unread.as_array().ok_or("no list")?.iter().filter_map(|room| room["unread"].as_i64()).sum();
    if unread != stored.len() as i64 {
        wrong.push(format!("{unread} messages are unread of {}", stored.len()));
    }

    let idle = transactions_while_idle(&world, &db).await?;
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
    let is_lossy = world.lossy.lock().expect("no panic")[1].is_some();
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
    if is_lossy {
        println!(
            "a standby without the last commits was promoted: {lost} acknowledged messages lost, followers began again {resets} times"
        );
        if lost == 0 || resets == 0 {
            wrong.push("the promotion of the standby lost nothing, so it shows nothing".to_owned());
        }
    }
    for line in &wrong {
        println!("WRONG: {line}");
    }
    Ok(if wrong.is_empty() && killed > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
