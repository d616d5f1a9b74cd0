//! Owners of a sequence that are killed, or paused while another one takes their sections.
//!
//! `IMID_KILLS` sets how many owners are killed on each register (20 by default). The register is a file, and
//! PostgreSQL if the feature `postgres` is on and `IMID_POSTGRES_URL` is set: `IMID_KILLS=1000 ci/services.sh run
//! postgres -- cargo test -p imid-lease --features postgres --test kill_owner -- --nocapture`
#![cfg(unix)]

mod skip;

use std::collections::{HashMap, HashSet};
use std::env;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::num::NonZeroU32;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use imid::{SessionTag, SessionType};
use imid_lease::register::{FileRegister, open_url};
use imid_lease::sequence::{Conversation, Jump, Jumps, SequenceOptions};
use imid_lease::{Register, Sequence};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

const SESSIONS: u32 = 6;

fn options(name: &str) -> SequenceOptions {
    let sections = NonZeroU32::new(3).expect("three is not zero");
    // A small step: many writes are under way when an owner is killed.
    let options = SequenceOptions::new(name).sections(sections).holder("chat-1").step(20).max_step(200);
    options.horizon(Duration::from_millis(20)).time_out(Duration::from_millis(500))
}

fn open(url: &str) -> Box<dyn Register> {
    match url.strip_prefix("file:") {
        Some(path) => Box::new(FileRegister::shared(path).expect("the file can be opened")),
        None => open_url(url).expect("the URL is good"),
    }
}

/// A number as an owner reports it.
#[derive(Debug, Clone, Copy)]
struct Minted {
    session: u32,
    section: u32,
    epoch: u64,
    value: u64,
    is_first: bool,
}

/// The owner: it mints until it is killed. Runs in a process of its own.
#[test]
fn owner_process() {
    let (Ok(url), Ok(name)) = (env::var("IMID_OWNER_URL"), env::var("IMID_OWNER_SEQUENCE")) else { return };
    let sequence = Sequence::open(open(&url), options(&name)).expect("the register answers");
    let conversations: Vec<Conversation> = (0..SESSIONS)
        .map(|session| sequence.conversation(SessionTag::new(SessionType::GROUP, &session.to_string()), session))
        .collect();
    let mut out = std::io::stdout().lock();
    let start = Instant::now();
    // The test harness has begun a line.
    let mut lines = String::from("\n");
    let mut written = Instant::now();
    // The limit is for an owner whose parent has died.
    while start.elapsed() < Duration::from_mins(2) {
        for (session, conversation) in conversations.iter().enumerate() {
            if let Ok(number) = sequence.next(*conversation) {
                let (epoch, value, is_first) = (number.epoch(), number.value(), number.is_first_of_epoch());
                let section = conversation.section();
                writeln!(lines, "#{session} {section} {epoch} {value} {}", u8::from(is_first))
                    .expect("a text has room");
            }
        }
        // Below the size of a pipe's atomic write, so that no line is torn.
        if lines.len() > 3_000 || !lines.is_empty() && written.elapsed() > Duration::from_millis(3) {
            out.write_all(lines.as_bytes()).expect("the parent reads");
            out.flush().expect("the parent reads");
            lines.clear();
            written = Instant::now();
        }
    }
}

/// A running owner. A thread reads what it reports.
struct Owner {
    child: Child,
    reader: JoinHandle<Vec<Minted>>,
    /// It has reported a number.
    started: Arc<AtomicBool>,
}

impl Owner {
    fn start(url: &str, name: &str) -> Self {
        let mut child = Command::new(env::current_exe().expect("this test is a file"))
            .args(["--exact", "owner_process", "--nocapture", "--test-threads=1"])
            .env("IMID_OWNER_URL", url)
            .env("IMID_OWNER_SEQUENCE", name)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the owner starts");
        let out = child.stdout.take().expect("the output is piped");
        let started = Arc::new(AtomicBool::new(false));
        let reports = started.clone();
        Self { child, reader: thread::spawn(move || read(out, &reports)), started }
    }

    /// Waits for the first number, for at most this long.
    fn wait(&self, limit: Duration) {
        let start = Instant::now();
        while !self.started.load(Ordering::Relaxed) && start.elapsed() < limit {
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id().cast_signed()), signal).expect("the owner is there");
    }

    /// Kills the owner with SIGKILL, and returns what it has reported.
    fn kill(mut self) -> Vec<Minted> {
        self.child.kill().expect("the owner is there");
        self.child.wait().expect("the owner ends");
        self.reader.join().expect("the reader ends")
    }
}

fn read(mut out: ChildStdout, started: &AtomicBool) -> Vec<Minted> {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 8192]);
    loop {
        match out.read(&mut buffer).expect("the pipe can be read") {
            0 => break,
            count => bytes.extend_from_slice(&buffer[..count]),
        }
        started.fetch_or(bytes.contains(&b'#'), Ordering::Relaxed);
    }
    let text = String::from_utf8(bytes).expect("the owner writes text");
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let parse = |line: &str| {
        let words: Vec<u64> = line.strip_prefix('#')?.split(' ').map(|word| word.parse().expect("a number")).collect();
        let [session, section, epoch, value, is_first] = words.try_into().expect("five numbers");
        let (session, section) = (session as u32, section as u32);
        Some(Minted { session, section, epoch, value, is_first: is_first == 1 })
    };
    whole.lines().filter_map(parse).collect()
}

/// A message store that refuses lower epochs.
#[derive(Default)]
struct Store {
    last: HashMap<u32, (u64, u64)>,
    all: HashSet<(u32, u64)>,
    firsts: Vec<(Minted, u64, u64)>,
    repeats: u64,
    decreases: u64,
    gaps_in_epochs: u64,
    refused: u64,
}

impl Store {
    fn receive(&mut self, minted: Minted) {
        self.repeats += u64::from(!self.all.insert((minted.session, minted.value)));
        let (epoch, value) = self.last.get(&minted.session).copied().unwrap_or_default();
        if minted.epoch < epoch {
            self.refused += 1;
            return;
        }
        self.decreases += u64::from(minted.value <= value);
        if minted.epoch == epoch {
            self.gaps_in_epochs += u64::from(minted.value != value + 1);
        } else {
            self.gaps_in_epochs += u64::from(!minted.is_first);
            self.firsts.push((minted, epoch, value));
        }
        self.last.insert(minted.session, (minted.epoch, minted.value));
    }

    /// Counts the first numbers of epochs that no recorded jump leads to.
    fn hidden_jumps(&self, jumps: &Jumps) -> u64 {
        let jumps: HashMap<(u32, u64), Jump> = jumps.iter().map(|jump| ((jump.section, jump.epoch), jump)).collect();
        let is_hidden = |(minted, last_epoch, last): &&(Minted, u64, u64)| {
            let mut covered = last + 1;
            let mut epochs = last_epoch + 1..=minted.epoch;
            let is_covered = epochs.all(|epoch| {
                jumps.get(&(minted.section, epoch)).is_some_and(|jump| {
                    let follows = jump.from <= covered;
                    covered = jump.to;
                    follows
                })
            });
            !is_covered || covered != minted.value
        };
        self.firsts.iter().filter(is_hidden).count() as u64
    }
}

fn kills() -> u32 {
    env::var("IMID_KILLS").map_or(20, |kills| kills.parse().expect("IMID_KILLS is a number"))
}

/// A generator of the run's own, so that a run can be repeated.
fn random(state: &mut u64, limit: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % limit
}

fn owners_are_killed(url: &str, can_pause: bool) {
    let name = format!("kill-{}", std::process::id());
    let (mut store, mut state, mut numbers, mut paused, mut fruitless) = (Store::default(), 1, 0, 0, 0);
    let kills = kills();
    let start = Instant::now();
    let mut killed = 0;
    while killed < kills {
        let first = Owner::start(url, &name);
        // Some are killed while they take their sections.
        if random(&mut state, 8) > 0 {
            first.wait(Duration::from_secs(20));
        }
        thread::sleep(Duration::from_millis(random(&mut state, 60)));
        if can_pause && random(&mut state, 5) == 0 {
            // Another owner takes the sections at once, because it has the same name. Then the paused one wakes.
            first.signal(Signal::SIGSTOP);
            let second = Owner::start(url, &name);
            second.wait(Duration::from_secs(20));
            thread::sleep(Duration::from_millis(random(&mut state, 40)));
            first.signal(Signal::SIGCONT);
            thread::sleep(Duration::from_millis(20));
            let (first, second) = (first.kill(), second.kill());
            killed += 2;
            paused += 1;
            numbers += first.len() + second.len();
            // What the paused owner sent last arrives after the first messages of its successor.
            let (before, after) = first.split_at(first.len() - first.len().min(40));
            let (early, late) = second.split_at(second.len().min(20));
            for minted in before.iter().chain(early).chain(after).chain(late) {
                store.receive(*minted);
            }
        } else {
            let minted = first.kill();
            killed += 1;
            numbers += minted.len();
            fruitless += u32::from(minted.is_empty());
            for minted in minted {
                store.receive(minted);
            }
        }
    }
    let jumps = Jumps::read(&mut open(url), &name).expect("the history can be read");
    let Store { repeats, decreases, gaps_in_epochs, refused, .. } = store;
    let (firsts, hidden) = (store.firsts.len(), store.hidden_jumps(&jumps));
    println!(
        "{killed} owners killed ({paused} after a pause, {fruitless} before their first number) in {:.0?}: {numbers} numbers, \
         {repeats} repeats, {decreases} decreases, {gaps_in_epochs} gaps in an epoch, {firsts} jumps seen, {hidden} of \
         them not recorded, {refused} messages of lower epochs refused",
        start.elapsed()
    );
    assert_eq!([repeats, decreases, gaps_in_epochs, hidden], [0; 4]);
    assert!(numbers > 1_000 && firsts > 10, "too little happened");
}

#[test]
fn killed_owners_on_a_file() {
    let folder = env::temp_dir().join(format!("imid-kill-owner-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    // A paused owner could hold the lock of the file.
    owners_are_killed(&format!("file:{}", folder.join("register").display()), false);
    std::fs::remove_dir_all(&folder).expect("the folder can be removed");
}

#[test]
fn killed_and_paused_owners_on_postgresql() {
    let reason = match env::var("IMID_POSTGRES_URL") {
        Ok(url) if cfg!(feature = "postgres") => return owners_are_killed(&url, true),
        Ok(_) => "expected the feature postgres",
        Err(_) => "expected IMID_POSTGRES_URL, found none (see ci/services.sh)",
    };
    skip::skip("kill_owner::killed_and_paused_owners_on_postgresql", reason);
}
