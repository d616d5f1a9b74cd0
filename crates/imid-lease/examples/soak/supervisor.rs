//! Starts the workers, breaks things, and checks the IDs.

use std::collections::HashMap;
use std::env;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use imid_lease::register::FileRegister;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::check::check;
use crate::faults::Fault;
use crate::minter::TIME_OUT;
use crate::output::Event;
use crate::proxy::Proxy;
use crate::random::Random;

/// Number of processes: twice as many as lanes, so there is always somebody who waits for one.
const WORKERS: usize = 32;

struct Worker {
    name: String,
    child: Child,
    /// What connects it with the store.
    proxy: Option<Proxy>,
    /// When a paused process goes on.
    paused_until: Option<Instant>,
    /// When the clock is right again.
    wrong_until: Option<Instant>,
    /// When the replies come again.
    silent_until: Option<Instant>,
}

struct Soak {
    store: String,
    scheme: String,
    url: String,
    folder: PathBuf,
    workers: Vec<Worker>,
    random: Random,
    counts: HashMap<Fault, u64>,
    /// Faults that were not injected yet. They come first, so that a short soak has each of them.
    to_come: Vec<Fault>,
    /// Number of processes that ended by themselves with an error.
    failed_workers: u64,
    /// Number of copies of the register file that were not whole.
    broken_copies: u64,
    next_name: u64,
    outage: Duration,
    /// When the next outage may begin. Between two outages there is time to mint.
    next_outage: Instant,
}

pub(crate) fn run(store: &str, seconds: &str, scheme: &str) -> io::Result<ExitCode> {
    let seconds: u64 = seconds.parse().map_err(|_| io::Error::other(format!("expected seconds, found {seconds}")))?;
    let folder =
        PathBuf::from(env::var("IMID_SOAK_FOLDER").map_err(|_| io::Error::other("expected IMID_SOAK_FOLDER"))?);
    let url = if store == "file" {
        format!("file:{}", folder.join("disk/register").display())
    } else {
        let variable = format!("IMID_{}_URL", store.to_uppercase());
        env::var(&variable).map_err(|_| io::Error::other(format!("expected {variable}, which ci/services.sh sets")))?
    };
    fs::create_dir_all(folder.join("ids"))?;
    let seed = env::var("IMID_SOAK_SEED").ok().and_then(|seed| seed.parse().ok());
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| u64::from(time.subsec_nanos()));
    let seed = seed.unwrap_or(now);
    println!("{store}: {WORKERS} processes, 16 lanes, {seconds} s, IMID_SOAK_SEED={seed}");
    let mut soak = Soak {
        store: store.to_owned(),
        scheme: scheme.to_owned(),
        url,
        folder,
        workers: Vec::new(),
        random: Random(seed),
        counts: HashMap::new(),
        to_come: faults(store, scheme),
        failed_workers: 0,
        broken_copies: 0,
        next_name: 0,
        outage: Duration::from_secs((seconds / 6).clamp(3, 20)),
        next_outage: Instant::now(),
    };
    for _ in 0..WORKERS {
        let worker = soak.start_worker(None)?;
        soak.workers.push(worker);
    }
    let end = Instant::now() + Duration::from_secs(seconds);
    // Until all lanes are taken.
    while Event::NoLane.counted(&soak.folder.join("ids")) == 0 && Instant::now() < end {
        soak.wait(300)?;
    }
    if scheme != "lease" {
        // The weak spot of the rivals: a holder that was paused goes on in a lane that another process has taken.
        for _ in 0..WORKERS / 2 {
            soak.inject(Fault::Pause)?;
        }
    }
    // A busy machine gets more time, until each fault was injected.
    let latest_end = end + Duration::from_secs(300);
    while Instant::now() < end || (!soak.to_come.is_empty() && Instant::now() < latest_end) {
        soak.wait(300)?;
        let fault = soak.next_fault();
        soak.inject(fault)?;
    }
    soak.stop_workers();
    soak.report()
}

impl Soak {
    /// Starts a worker with a name. Without one, it gets a name that no process had before.
    fn start_worker(&mut self, name: Option<String>) -> io::Result<Worker> {
        self.next_name += 1;
        let name = name.unwrap_or_else(|| format!("w{}", self.next_name));
        let proxy = (self.store != "file").then(|| Proxy::new(address(&self.url)));
        let url = match &proxy {
            Some(proxy) => self.url.replace(address(&self.url), &proxy.address),
            None => self.url.clone(),
        };
        let child = Command::new(env::current_exe()?)
            .args(["worker", &url])
            .arg(self.folder.join("ids"))
            .args([&name, &self.scheme])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()?;
        Ok(Worker { name, child, proxy, paused_until: None, wrong_until: None, silent_until: None })
    }

    /// Waits for up to twice this time, and ends the faults whose time is over.
    fn wait(&mut self, ms: u64) -> io::Result<()> {
        let end = Instant::now() + Duration::from_millis(self.random.below(2 * ms));
        loop {
            let now = Instant::now();
            for index in 0..self.workers.len() {
                let worker = &mut self.workers[index];
                let is_over = |until: &mut Option<Instant>| until.take_if(|until| *until <= now).is_some();
                if is_over(&mut worker.paused_until) {
                    signal(worker, Signal::SIGCONT);
                }
                if is_over(&mut worker.wrong_until) {
                    tell(worker, "clock 0");
                }
                if let Some(proxy) = worker.proxy.as_ref().filter(|_| is_over(&mut worker.silent_until)) {
                    proxy.lose_replies(false);
                    proxy.cut();
                }
                // A worker that gave its lane back, or one with an error.
                if let Some(status) = worker.child.try_wait()? {
                    if !status.success() {
                        eprintln!("soak: worker {} ended: {status}", worker.name);
                        self.failed_workers += 1;
                    }
                    self.workers[index] = self.start_worker(None)?;
                }
            }
            if now >= end {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn is_file(&self) -> bool {
        self.store == "file"
    }

    /// Draws a fault, first among those that were not injected yet.
    fn next_fault(&mut self) -> Fault {
        if self.to_come.is_empty() {
            let is_file = self.is_file();
            return Fault::draw(&mut self.random, is_file);
        }
        let index = self.random.below(self.to_come.len() as u64);
        self.to_come[usize::try_from(index).unwrap_or_default()]
    }

    /// Breaks something, and counts it, unless it cannot be broken now.
    fn inject(&mut self, fault: Fault) -> io::Result<()> {
        let is_first = self.to_come.contains(&fault);
        if fault.is_outage() && Instant::now() < self.next_outage && !is_first {
            return Ok(());
        }
        let is_broken = self.break_now(fault)?;
        if fault.is_outage() {
            self.next_outage = Instant::now() + 3 * self.outage;
        }
        if is_broken {
            *self.counts.entry(fault).or_default() += 1;
        }
        // A fork is counted later, by a process that has a lane.
        if self.count(fault) > 0 {
            self.to_come.retain(|other| *other != fault);
        }
        Ok(())
    }

    /// Breaks something. Returns false if this cannot be broken now.
    fn break_now(&mut self, fault: Fault) -> io::Result<bool> {
        let index = usize::try_from(self.random.below(WORKERS as u64)).unwrap_or_default();
        let draw = self.random.below(1000);
        let now = Instant::now();
        let worker = &mut self.workers[index];
        match fault {
            Fault::Kill => {
                worker.child.kill()?;
                worker.child.wait()?;
                // Half of the new processes have the name of the old one.
                let name = (draw.is_multiple_of(2)).then(|| worker.name.clone());
                self.workers[index] = self.start_worker(name)?;
            }
            Fault::Pause => {
                if worker.paused_until.is_some() {
                    return Ok(false);
                }
                signal(worker, Signal::SIGSTOP);
                worker.paused_until = Some(now + 3 * TIME_OUT);
            }
            Fault::ClockAhead | Fault::ClockBehind => {
                tell(worker, if fault == Fault::ClockAhead { "clock 3600000" } else { "clock -3600000" });
                worker.wrong_until = Some(now + Duration::from_millis(500 + 10 * draw));
            }
            Fault::Quit => tell(worker, "quit"),
            // Half of the processes have a lane.
            Fault::Fork => self.workers.iter_mut().skip(index % 8).step_by(8).for_each(|worker| tell(worker, "fork")),
            Fault::Cut => {
                for worker in self.workers.iter().skip(index % 4).step_by(4) {
                    worker.proxy.as_ref().inspect(|proxy| proxy.cut());
                }
            }
            Fault::LostReplies => {
                worker.proxy.as_ref().inspect(|proxy| proxy.lose_replies(true));
                worker.silent_until = Some(now + Duration::from_millis(500 + 3 * draw));
            }
            Fault::StoreStopped => {
                self.server("stop");
                self.wait_for(self.outage)?;
                self.server("start");
            }
            Fault::StoreKilled => {
                self.server("kill");
                self.server("start");
            }
            Fault::TornFile => return self.tear_file(),
            Fault::CopiedFile => return self.copy_file(),
            Fault::FullDisk => return self.fill_disk(),
            Fault::LockedFile => {
                let Ok(_lock) = FileRegister::owned(self.register_path()) else { return Ok(false) };
                self.wait_for(self.outage)?;
            }
        }
        Ok(true)
    }

    /// Goes on with the faults of processes for this time.
    fn wait_for(&mut self, time: Duration) -> io::Result<()> {
        let end = Instant::now() + time;
        while Instant::now() < end {
            self.wait(300)?;
            let fault = Fault::draw_process(&mut self.random);
            self.inject(fault)?;
        }
        Ok(())
    }

    fn server(&self, action: &str) {
        let script = env::var("IMID_SERVICES_SH").unwrap_or_default();
        let status = Command::new("bash").args([&script, "server", &self.store, action]).status();
        if !status.is_ok_and(|status| status.success()) {
            eprintln!("soak: cannot {action} the server");
        }
    }

    fn register_path(&self) -> PathBuf {
        self.folder.join("disk/register")
    }

    /// Replaces the file by its first half for a second, while no process writes.
    fn tear_file(&mut self) -> io::Result<bool> {
        let path = self.register_path();
        self.freeze();
        let Ok(whole) = fs::read(&path) else {
            self.thaw();
            return Ok(false);
        };
        let half = &whole[..whole.len() / 2];
        replace(&path, half)?;
        self.thaw();
        self.wait(1000)?;
        self.freeze();
        // A process that was in the middle of a write has replaced the torn file by a whole one. That one has its
        // write.
        if fs::read(&path)? == half {
            replace(&path, &whole)?;
        }
        self.thaw();
        Ok(true)
    }

    /// Copies the file at any moment, also during a write; the copy must be whole. Then, while no process runs, a copy
    /// takes the place of the file.
    fn copy_file(&mut self) -> io::Result<bool> {
        let (path, copy) = (self.register_path(), self.register_path().with_extension("copy"));
        if fs::copy(&path, &copy).is_err() {
            return Ok(false);
        }
        if let Err(error) = FileRegister::shared(&copy) {
            eprintln!("soak: {error}");
            self.broken_copies += 1;
        }
        self.freeze();
        fs::copy(&path, &copy)?;
        fs::rename(&copy, &path)?;
        self.thaw();
        Ok(true)
    }

    /// Lets the disk of the register be full for some seconds.
    fn fill_disk(&mut self) -> io::Result<bool> {
        let filler = if env::var_os("IMID_SOAK_SMALL_DISK").is_some() {
            let path = self.folder.join("disk/filler");
            let mut filler = fs::File::create(&path)?;
            while filler.write_all(&[0; 4096]).is_ok() {}
            path
        } else {
            // Without a small disk, the file that each write creates is a device on which each write finds the disk
            // full. While the lock is held, no process is in a write.
            let Ok(_lock) = FileRegister::owned(self.register_path()) else { return Ok(false) };
            let path = self.register_path().with_extension("new");
            if path.exists() {
                fs::remove_file(&path)?;
            }
            symlink("/dev/full", &path)?;
            path
        };
        self.wait_for(self.outage)?;
        fs::remove_file(&filler)?;
        Ok(true)
    }

    /// Stops all processes.
    fn freeze(&self) {
        for worker in &self.workers {
            signal(worker, Signal::SIGSTOP);
        }
        // A process stops when it leaves the kernel.
        thread::sleep(Duration::from_millis(50));
    }

    /// Lets all processes go on, except those that are paused.
    fn thaw(&self) {
        for worker in self.workers.iter().filter(|worker| worker.paused_until.is_none()) {
            signal(worker, Signal::SIGCONT);
        }
    }

    fn stop_workers(&mut self) {
        for worker in &mut self.workers {
            signal(worker, Signal::SIGCONT);
            tell(worker, "quit");
        }
        let end = Instant::now() + Duration::from_secs(5);
        for worker in &mut self.workers {
            while matches!(worker.child.try_wait(), Ok(None)) && Instant::now() < end {
                thread::sleep(Duration::from_millis(20));
            }
            let _ = worker.child.kill();
            let _ = worker.child.wait();
        }
    }

    /// Returns how often there was a fault.
    fn count(&self, fault: Fault) -> u64 {
        match fault {
            Fault::Fork => Event::Forked.counted(&self.folder.join("ids")),
            _ => self.counts.get(&fault).copied().unwrap_or_default(),
        }
    }

    fn report(&self) -> io::Result<ExitCode> {
        let ids = self.folder.join("ids");
        let found = check(&ids)?;
        let all = faults(&self.store, &self.scheme);
        let kinds: Vec<_> = all.iter().map(|&fault| format!("{} {fault}", self.count(fault))).collect();
        let faults: u64 = all.iter().map(|&fault| self.count(fault)).sum();
        let exhausted = Event::NoLane.counted(&ids);
        // The leases of other systems do not end.
        let ended = Event::Ended.counted(&ids);
        let failures = [
            (self.failed_workers, "workers FAILED"),
            (ended, "leases ENDED"),
            (self.broken_copies, "copies BROKEN"),
            (u64::from(exhausted == 0), "time without exhausted lanes"),
            (all.iter().filter(|&&fault| self.count(fault) == 0).count() as u64, "faults MISSING"),
        ];
        let failures: Vec<_> =
            failures.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!(", {count} {what}")).collect();
        println!(
            "{}: {} IDs, {} duplicates, {faults} faults, {} out of order, {} generators{} ({}; {exhausted} times no lane was \
             free, {} times no answer)",
            if self.scheme == "lease" { &self.store } else { &self.scheme },
            found.ids,
            found.duplicates,
            found.out_of_order,
            found.generators,
            failures.concat(),
            kinds.join(", "),
            Event::NoAnswer.counted(&ids),
        );
        // A run without IDs, or without a fault, proves nothing.
        let is_good = !found.has_faults() && found.ids > 0 && failures.is_empty();
        Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// Returns the faults of a run. A rival's child would mint what its parent mints. Its duplicates are to come from its lease.
fn faults(store: &str, scheme: &str) -> Vec<Fault> {
    let mut all = Fault::all(store == "file");
    all.retain(|&fault| fault != Fault::Fork || scheme == "lease");
    all
}

fn signal(worker: &Worker, signal: Signal) {
    // A worker that has ended is replaced in a moment.
    let _ = kill(Pid::from_raw(worker.child.id().cast_signed()), signal);
}

fn tell(worker: &mut Worker, command: &str) {
    if let Some(input) = &mut worker.child.stdin {
        // As above.
        let _ = writeln!(input, "{command}");
    }
}

/// Replaces a file in one step.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let other = path.with_extension("soak");
    fs::write(&other, bytes)?;
    fs::rename(other, path)
}

/// Returns the `host:port` of a URL.
fn address(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest);
    rest.split('/').next().unwrap_or(rest)
}
