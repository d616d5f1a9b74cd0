//! Posts and follows while gateways are killed and started again, then compares what the clients saw with what is stored.
//!
//! ```text
//! DATABASE_URL=... imid-chat-load SECONDS IDS
//! ```
//!
//! It starts three gateways, writes the stored IDs to the file IDS, and exits with 1 if a message was lost, doubled or out of order.

use std::collections::HashMap;
use std::env;
use std::fmt::Write as _;
use std::process::{ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use imid::MessageId;
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

/// What the tasks share.
struct World {
    client: Client,
    urls: Vec<String>,
    is_over: AtomicBool,
    /// A gateway did not do what it should, and nobody starts them any more.
    has_failed: AtomicBool,
    posted: AtomicU64,
    attempts: AtomicU64,
    sent_twice: AtomicU64,
    /// The greatest number of each room, once nobody posts any more.
    last: std::sync::Mutex<Option<HashMap<String, i64>>>,
}

/// Returns the command that starts a gateway.
fn gateway(place: usize, url: &str) -> Result<Command> {
    let program = env::current_exe()?.with_file_name("imid-chat");
    let listen = url.trim_start_matches("http://");
    let mut command = Command::new(program);
    command
        .env("CHAT_LISTEN", listen)
        .env("CHAT_NAME", format!("chat-{place}"))
        .env("CHAT_CONNECTIONS", "5")
        .env("CHAT_DRAIN", "2")
        .stdout(Stdio::null())
        .kill_on_drop(true);
    Ok(command)
}

/// Asks a gateway to stop.
async fn terminate(gateway: &Child) -> Result<()> {
    let pid = gateway.id().ok_or("a gateway has ended")?.to_string();
    Command::new("kill").args(["-TERM", &pid]).status().await?;
    Ok(())
}

/// Checks that a gateway that waits for its lane ends in order.
async fn expect_early_stop() -> Result<()> {
    let silent = std::net::TcpListener::bind("127.0.0.1:0")?;
    let database = format!("postgres://chat@{}/chat", silent.local_addr()?);
    let mut waiting = gateway(GATEWAYS, "127.0.0.1:0")?.env("DATABASE_URL", database).spawn()?;
    sleep(Duration::from_secs(1)).await;
    terminate(&waiting).await?;
    let status = timeout(TIMEOUT, waiting.wait()).await??;
    assert!(status.success(), "a gateway without a lane that was asked to stop ended with {status}");
    Ok(())
}

/// Waits until a gateway is ready.
async fn wait_until_ready(world: &World, url: &str) -> Result<()> {
    let start = Instant::now();
    loop {
        let answer = world.client.get(format!("{url}/ready")).timeout(TIMEOUT).send().await;
        if answer.is_ok_and(|answer| answer.status().is_success()) {
            return Ok(());
        }
        if start.elapsed() > Duration::from_secs(60) {
            return Err(format!("{url} is not ready after 60 s").into());
        }
        sleep(Duration::from_millis(50)).await;
    }
}

/// Waits until a gateway that was asked to stop says that it is not ready, and checks that it serves on, over new connections.
async fn expect_draining(url: &str) -> Result<()> {
    let client = Client::builder().pool_max_idle_per_host(0).build()?;
    let ready = || client.get(format!("{url}/ready")).timeout(TIMEOUT).send();
    while ready().await?.status().is_success() {
        sleep(Duration::from_millis(20)).await;
    }
    let page = client.get(format!("{url}/rooms/{}/messages", ROOMS[0])).query(&[("user", FOLLOWER)]);
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

/// Posts one message after another. Returns the latencies.
async fn post(world: Arc<World>, poster: usize) -> Vec<Duration> {
    let user = format!("user-{poster}");
    let mut latencies = Vec::new();
    for n in 0_usize.. {
        if world.is_over.load(Ordering::Relaxed) {
            break;
        }
        // The private chat has two users.
        let room = ROOMS[(n + poster) % if poster < 2 { 4 } else { 3 }];
        let draft = json!({ "key": n.to_string(), "body": format!("message {n} of {user}") });
        let start = Instant::now();
        let message = send(&world, n, room, &user, &draft).await;
        latencies.push(start.elapsed());
        world.posted.fetch_add(1, Ordering::Relaxed);
        if n % 20 == 0 {
            let again = send(&world, n + 1, room, &user, &draft).await;
            assert_eq!(again, message, "the same key has one message");
            world.sent_twice.fetch_add(1, Ordering::Relaxed);
        }
    }
    latencies
}

/// Follows a room, with a new connection to another gateway each time one ends. Returns the numbers and IDs.
async fn follow(world: Arc<World>, place: usize, room: &'static str) -> Vec<(i64, MessageId)> {
    let mut seen: Vec<(i64, MessageId)> = Vec::new();
    for attempt in place.. {
        let url = format!("{}/rooms/{room}/events", world.urls[attempt % GATEWAYS]);
        let mut request = world.client.get(url).query(&[("user", FOLLOWER)]);
        if let Some((number, _)) = seen.last() {
            request = request.header("Last-Event-ID", number.to_string());
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
                    if let Some(data) = event.lines().find_map(|line| line.strip_prefix("data: ")) {
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
    last.as_ref()
        .is_some_and(|last| seen.last().map_or(0, |(number, _)| *number) >= last.get(room).copied().unwrap_or(0))
}

/// Kills a gateway or asks it to stop, by turns, and starts it again.
async fn disturb(world: Arc<World>, mut gateways: Vec<Child>) -> Result<(u64, u64, Vec<Child>)> {
    let (mut killed, mut stopped) = (0, 0);
    for turn in 0.. {
        sleep(KILL_EACH).await;
        if world.is_over.load(Ordering::Relaxed) {
            break;
        }
        let place = turn % GATEWAYS;
        if turn % 4 == 3 {
            terminate(&gateways[place]).await?;
            expect_draining(&world.urls[place]).await?;
            let status = gateways[place].wait().await?;
            assert!(status.success(), "a gateway that was asked to stop ended with {status}");
            stopped += 1;
        } else {
            gateways[place].kill().await?;
            killed += 1;
        }
        sleep(Duration::from_millis(200)).await;
        gateways[place] = gateway(place, &world.urls[place])?.spawn()?;
        wait_until_ready(&world, &world.urls[place]).await?;
    }
    Ok((killed, stopped, gateways))
}

#[tokio::main]
async fn main() -> Result<ExitCode> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [seconds, ids_file] = &arguments[..] else { return Err("expected SECONDS IDS".into()) };
    let seconds = Duration::from_secs(seconds.parse()?);
    let db = PgPool::connect(&env::var("DATABASE_URL")?).await?;

    expect_early_stop().await?;

    let mut urls = Vec::new();
    for _ in 0..GATEWAYS {
        urls.push(format!("http://{}", std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?));
    }
    let world = Arc::new(World {
        client: Client::new(),
        urls,
        is_over: AtomicBool::new(false),
        has_failed: AtomicBool::new(false),
        posted: AtomicU64::new(0),
        attempts: AtomicU64::new(0),
        sent_twice: AtomicU64::new(0),
        last: std::sync::Mutex::default(),
    });
    let gateways: Vec<Child> =
        world.urls.iter().enumerate().map(|(place, url)| Ok(gateway(place, url)?.spawn()?)).collect::<Result<_>>()?;
    for url in &world.urls {
        wait_until_ready(&world, url).await?;
    }
    // From now on all rooms are unread for the follower.
    for room in ROOMS {
        let url = format!("{}/rooms/{room}/read", world.urls[0]);
        let mark = world.client.put(url).query(&[("user", FOLLOWER)]).json(&json!({ "number": 0 }));
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
            disturb(world.clone(), gateways).await.inspect_err(|error| {
                eprintln!("error: {error}");
                world.has_failed.store(true, Ordering::Relaxed);
            })
        }
    });
    sleep(seconds).await;
    world.is_over.store(true, Ordering::Relaxed);
    let mut latencies: Vec<Duration> = posters.join_all().await.into_iter().flatten().collect();
    let took = start.elapsed().as_secs_f64();
    let (killed, stopped, _gateways) = disturbing.await??;

    let rooms: Vec<(String, i64)> =
        sqlx::query_as("SELECT name, last_number FROM rooms ORDER BY name").fetch_all(&db).await?;
    *world.last.lock().expect("no panic") = Some(rooms.iter().cloned().collect());
    let stored: Vec<(String, i64, MessageId)> =
        sqlx::query_as("SELECT room, number, id FROM messages ORDER BY room, number").fetch_all(&db).await?;
    let mut wrong = Vec::new();
    let posted = world.posted.load(Ordering::Relaxed);
    if stored.len() as u64 != posted {
        wrong.push(format!("{posted} messages were posted, {} are stored", stored.len()));
    }
    for (room, last) in &rooms {
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

    let mut ids: Vec<MessageId> = stored.iter().map(|(_, _, id)| *id).collect();
    ids.sort_unstable();
    let lines = ids.iter().fold(String::new(), |mut lines, id| {
        let _ = writeln!(lines, "{id}");
        lines
    });
    std::fs::write(ids_file, lines)?;
    latencies.sort_unstable();
    let part = |share: usize| {
        latencies.get(latencies.len() * share / 1_000).or(latencies.last()).map_or(0, Duration::as_millis)
    };
    println!(
        "{posted} messages in {took:.0} s ({:.0} a second), {} requests, {} sent twice on purpose, {killed} gateways killed, {stopped} \
         stopped; answered in {} ms (half), {} ms (99 %), {} ms (all); 8 followers saw {followed}",
        posted as f64 / took,
        world.attempts.load(Ordering::Relaxed),
        world.sent_twice.load(Ordering::Relaxed),
        part(500),
        part(990),
        part(1_000),
    );
    for line in &wrong {
        println!("WRONG: {line}");
    }
    Ok(if wrong.is_empty() && posted > 0 && killed > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
