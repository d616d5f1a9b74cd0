//! The thread that keeps leases: those of one keeper, or of all keepers that share a register.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::background::Sleeper;
use crate::changes::lock;
use crate::clock::monotonic_ms;
use crate::engine::{FRESH_MS, Listing};

/// What the thread does for one keeper. Its calls of the register are made one after another with those of all others.
pub(crate) trait Job: Send {
    /// Goes on until there is nothing to do, or until it wants a list.
    fn proceed(&mut self) -> Next;

    /// Returns the prefix of the records that it lists.
    fn prefix(&self) -> String;

    /// Lists its records. Those that have not changed are shared with the list before.
    fn list(&mut self, before: &Listing) -> Result<Listing, ListError>;

    /// Takes the list that it wants, which another job may have made.
    fn take_list(&mut self, listed: &Listed);

    /// Returns the keys that it has written, or tried to write, since the last call of this method.
    fn take_written(&mut self) -> Vec<String>;

    /// Takes into account that another job has written this, so that a list from before is older.
    fn note_written(&mut self, key: &str);

    /// Returns whether its owner has woken the thread since the last call of this.
    fn take_wake(&mut self) -> bool;

    /// Says that it has ended, after a panic of one of its calls if there was one. Nothing is called anymore.
    fn end(&mut self, panic: Option<Box<dyn Any + Send>>);
}

/// What a job does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    /// It sleeps until this monotonic time. It will want a list then if it has no lane.
    Sleep { until_ms: u64, is_seeking: bool },
    /// It waits for a list.
    List,
    /// It has ended.
    End,
}

impl Next {
    pub(crate) const fn sleep(until_ms: u64) -> Self {
        Self::Sleep { until_ms, is_seeking: false }
    }
}

/// A list, and the monotonic time of its answer.
#[derive(Clone, Debug)]
pub(crate) struct Listed {
    pub(crate) answered_ms: u64,
    pub(crate) records: Result<Listing, ListError>,
}

/// The register did not answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ListError {
    pub(crate) text: String,
    pub(crate) is_permanent: bool,
}

/// A thread that runs while it has jobs. Clones are the same one.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeeperThread {
    sleeper: Arc<Sleeper>,
    arrivals: Arc<Mutex<Arrivals>>,
}

#[derive(Default)]
struct Arrivals {
    jobs: Vec<Box<dyn Job>>,
    is_running: bool,
}

impl std::fmt::Debug for Arrivals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Arrivals").field("is_running", &self.is_running).finish_non_exhaustive()
    }
}

impl KeeperThread {
    /// Returns where the thread sleeps.
    pub(crate) fn sleeper(&self) -> Arc<Sleeper> {
        Arc::clone(&self.sleeper)
    }

    /// Adds a job, and starts the thread if it does not run.
    pub(crate) fn add(&self, job: Box<dyn Job>) -> io::Result<()> {
        let mut arrivals = lock(&self.arrivals);
        if !arrivals.is_running {
            let this = self.clone();
            // Nobody joins it: to drop the handle in a forked child would be wrong.
            thread::Builder::new().name("imid-lease".into()).spawn(move || this.run())?;
            arrivals.is_running = true;
        }
        arrivals.jobs.push(job);
        drop(arrivals);
        self.sleeper.wake();
        Ok(())
    }

    /// What the thread does.
    fn run(&self) {
        let mut rota = Rota { fresh_ms: FRESH_MS, ..Rota::default() };
        loop {
            if self.sleeper.take_wake() {
                rota.wake(std::mem::take(&mut lock(&self.arrivals).jobs));
            }
            if rota.step() {
                continue;
            }
            if let Some(until_ms) = rota.next_ms() {
                self.sleeper.sleep(Duration::from_millis(until_ms.saturating_sub(monotonic_ms())));
                continue;
            }
            let mut arrivals = lock(&self.arrivals);
            if arrivals.jobs.is_empty() {
                arrivals.is_running = false;
                return;
            }
        }
    }
}

/// Those who look for a lane wake together, so that one list serves them: a thousand of them four times per second.
const SEEKERS_PER_MS: u64 = 4;

/// Returns the next multiple of this step.
fn later(until_ms: u64, step_ms: u64) -> u64 {
    until_ms.checked_next_multiple_of(step_ms).unwrap_or(until_ms)
}

/// Whose turn it is. Those whose time has come and those who look for a lane take turns: a renewal must not wait for a thousand
/// who look for a lane, and on a slow store these must not wait until no renewal is due anymore.
#[derive(Default)]
struct Rota {
    jobs: HashMap<u64, Member>,
    /// How many jobs have come.
    count: u64,
    due: BTreeSet<(u64, u64)>,
    /// Who waits for a list, by its prefix.
    waiting: BTreeMap<String, VecDeque<u64>>,
    /// The last list, for those who still have to take it. All of them wanted it before it was made.
    given: Option<Given>,
    /// The last list of each prefix, while someone looks for a lane.
    listings: HashMap<String, Listing>,
    /// How many jobs look for a lane.
    seeking: usize,
    /// The last turn was that of a job whose time had come, and that wrote.
    was_due: bool,
    /// For how long a list is given to those who wait.
    fresh_ms: u64,
}

struct Given {
    listed: Listed,
    numbers: VecDeque<u64>,
    /// What was written since.
    written: Vec<String>,
}

struct Member {
    job: Box<dyn Job>,
    /// When it is due; `None` if it waits for a list.
    due_ms: Option<u64>,
    is_seeking: bool,
}

impl Rota {
    /// Takes new jobs, and makes those due that were woken. Those that wait for a list keep waiting.
    fn wake(&mut self, jobs: Vec<Box<dyn Job>>) {
        for (number, member) in &mut self.jobs {
            if member.job.take_wake()
                && let Some(due_ms) = &mut member.due_ms
            {
                self.due.remove(&(*due_ms, *number));
                self.due.insert((0, *number));
                *due_ms = 0;
            }
        }
        for job in jobs {
            self.count += 1;
            self.jobs.insert(self.count, Member { job, due_ms: Some(0), is_seeking: false });
            self.due.insert((0, self.count));
        }
    }

    /// Lets one job continue, or makes one list. Returns whether there was something to do.
    fn step(&mut self) -> bool {
        let is_wanted = self.given.is_some() || !self.waiting.is_empty();
        if let Some(&(due_ms, number)) = self.due.first()
            && due_ms <= monotonic_ms()
            && !(is_wanted && self.was_due)
        {
            self.due.pop_first();
            self.was_due = self.proceed(number);
            return true;
        }
        self.was_due = false;
        if let Some(mut given) = self.given.take() {
            if let Some(number) = given.numbers.pop_front() {
                self.call(number, |job| {
                    job.take_list(&given.listed);
                    given.written.iter().for_each(|key| job.note_written(key));
                });
                // From an older one, each of them would have to read the description of the space again.
                if given.listed.answered_ms + self.fresh_ms > monotonic_ms() {
                    self.given = Some(given);
                } else {
                    self.wait(given.numbers);
                }
                self.proceed(number);
            }
            return true;
        }
        let Some((prefix, numbers)) = self.waiting.pop_first() else { return false };
        self.list(prefix, numbers);
        true
    }

    /// Returns when the next job is due, if there is one.
    fn next_ms(&self) -> Option<u64> {
        self.due.first().map(|(due_ms, _)| *due_ms)
    }

    /// Lets a job continue. Returns whether it has written.
    fn proceed(&mut self, number: u64) -> bool {
        let Some((next, written)) = self.call(number, |job| (job.proceed(), job.take_written())) else { return false };
        let has_written = !written.is_empty();
        for key in written {
            self.note_written(number, key);
        }
        match next {
            Next::End => self.remove(number, None),
            Next::List => {
                self.note_seeking(number, true);
                self.wait(VecDeque::from([number]));
            }
            Next::Sleep { until_ms, is_seeking } => {
                self.note_seeking(number, is_seeking);
                let step_ms = (self.seeking as u64 / SEEKERS_PER_MS).max(1);
                let until_ms = if is_seeking { later(until_ms, step_ms) } else { until_ms };
                self.due.insert((until_ms, number));
                if let Some(member) = self.jobs.get_mut(&number) {
                    member.due_ms = Some(until_ms);
                }
            }
        }
        has_written
    }

    /// Tells those who look for a lane what was written, so that they do not try it.
    fn note_written(&mut self, by: u64, key: String) {
        for (number, member) in &mut self.jobs {
            if member.is_seeking && *number != by {
                member.job.note_written(&key);
            }
        }
        let describes = key.ends_with("/meta");
        if let Some(given) = &mut self.given {
            given.written.push(key);
        }
        // A list without the description of the space is of no use.
        if describes && let Some(given) = self.given.take() {
            self.wait(given.numbers);
        }
    }

    fn note_seeking(&mut self, number: u64, is_seeking: bool) {
        let Some(member) = self.jobs.get_mut(&number) else { return };
        let was_seeking = std::mem::replace(&mut member.is_seeking, is_seeking);
        self.seeking = self.seeking + usize::from(is_seeking) - usize::from(was_seeking);
        if self.seeking == 0 {
            // They take much memory.
            self.listings.clear();
        }
    }

    /// Lets jobs wait for a list that begins from now on.
    fn wait(&mut self, numbers: VecDeque<u64>) {
        for number in numbers {
            if let Some(member) = self.jobs.get_mut(&number) {
                member.due_ms = None;
                self.waiting.entry(member.job.prefix()).or_default().push_back(number);
            }
        }
    }

    /// Makes one list for all who wait for it.
    fn list(&mut self, prefix: String, numbers: VecDeque<u64>) {
        let Some(&first) = numbers.front() else { return };
        let before = self.listings.get(&prefix).cloned().unwrap_or_default();
        let Some(records) = self.call(first, |job| job.list(&before)) else {
            // It has panicked. The others see what the register says then.
            return self.wait(numbers);
        };
        if let Ok(records) = &records {
            self.listings.insert(prefix, records.clone());
        }
        let listed = Listed { answered_ms: monotonic_ms(), records };
        self.given = Some(Given { listed, numbers, written: Vec::new() });
    }

    /// Calls a job. One that panics has ended.
    fn call<T>(&mut self, number: u64, call: impl FnOnce(&mut dyn Job) -> T) -> Option<T> {
        let job = &mut *self.jobs.get_mut(&number)?.job;
        match catch_unwind(AssertUnwindSafe(|| call(job))) {
            Ok(found) => Some(found),
            Err(panic) => {
                self.remove(number, Some(panic));
                None
            }
        }
    }

    fn remove(&mut self, number: u64, panic: Option<Box<dyn Any + Send>>) {
        self.note_seeking(number, false);
        let Some(Member { mut job, .. }) = self.jobs.remove(&number) else { return };
        // Its observers and its register are foreign code.
        let ended = catch_unwind(AssertUnwindSafe(move || {
            job.end(panic);
            drop(job);
        }));
        if let Err(panic) = ended {
            // Not dropped, because that can also panic.
            std::mem::forget(panic);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    /// A job that wants a list, takes a lane by it, and sleeps until its time. All say what they do.
    struct Seeker {
        name: &'static str,
        /// `None` if it finds none.
        lane: Option<&'static str>,
        log: Sender<String>,
        /// A list waits for this word, and panics without it.
        may_list: Option<Receiver<()>>,
        has_list: bool,
        written: Vec<String>,
        /// What others have written since the list.
        known: Vec<String>,
        until_ms: u64,
        panics: bool,
        is_woken: bool,
    }

    impl Seeker {
        fn new(name: &'static str, lane: &'static str, log: &Sender<String>) -> Self {
            let (log, written) = (log.clone(), Vec::new());
            Self {
                name,
                lane: Some(lane),
                log,
                may_list: None,
                has_list: false,
                written,
                known: Vec::new(),
                until_ms: u64::MAX - 1,
                panics: false,
                is_woken: false,
            }
        }

        fn say(&self, what: &str) {
            _ = self.log.send(format!("{} {what}", self.name));
        }
    }

    impl Job for Seeker {
        fn proceed(&mut self) -> Next {
            assert!(!self.panics, "on purpose");
            if !self.has_list {
                self.say("waits");
                return Next::List;
            }
            if self.written.is_empty() && self.until_ms > 0 {
                self.say(&format!("sleeps, knows {:?}", self.known));
                self.written.extend(self.lane.map(String::from));
                return Next::Sleep { until_ms: std::mem::take(&mut self.until_ms), is_seeking: self.lane.is_none() };
            }
            Next::End
        }

        fn prefix(&self) -> String {
            "lanes/".into()
        }

        fn list(&mut self, _: &Listing) -> Result<Listing, ListError> {
            self.say("lists");
            if let Some(may_list) = &self.may_list {
                may_list.recv().expect("on purpose");
            }
            Ok(Listing::default())
        }

        fn take_list(&mut self, listed: &Listed) {
            self.has_list = true;
            assert!(listed.records.is_ok());
            self.known.clear();
            self.say("takes it");
        }

        fn note_written(&mut self, key: &str) {
            self.known.push(key.into());
            if self.lane.is_none() {
                self.say(&format!("hears of {key}"));
            }
        }

        fn take_written(&mut self) -> Vec<String> {
            std::mem::take(&mut self.written)
        }

        fn take_wake(&mut self) -> bool {
            std::mem::take(&mut self.is_woken)
        }

        fn end(&mut self, panic: Option<Box<dyn Any + Send>>) {
            self.say(if panic.is_some() { "ends by a panic" } else { "ends" });
            // As foreign code can.
            assert!(panic.is_none(), "on purpose");
        }
    }

    fn said(log: &Receiver<String>, count: usize) -> Vec<String> {
        (0..count).map(|_| log.recv_timeout(LONG).expect("a job says something")).collect()
    }

    fn rota(jobs: Vec<Seeker>) -> Rota {
        let mut rota = Rota { fresh_ms: 1 << 40, ..Rota::default() };
        rota.wake(jobs.into_iter().map(|job| Box::new(job) as Box<dyn Job>).collect());
        rota
    }

    #[test]
    fn who_looks_for_a_lane_wakes_with_others_and_never_early() {
        for (until_ms, step_ms, expected) in
            [(1_001, 250, 1_250), (1_250, 250, 1_250), (1_001, 0, 1_001), (u64::MAX, 250, u64::MAX)]
        {
            assert_eq!(later(until_ms, step_ms), expected, "{until_ms} by {step_ms}");
        }
    }

    #[test]
    fn one_list_serves_all_that_wait_for_it_and_tells_each_what_those_before_have_written() {
        let (log, said_all) = channel();
        let mut rota = rota(vec![Seeker::new("a", "lanes/1", &log), Seeker::new("b", "lanes/2", &log)]);
        (0..3).for_each(|_| assert!(rota.step()));
        // It comes after the list began, so it needs another one.
        rota.wake(vec![Box::new(Seeker::new("c", "lanes/3", &log))]);
        while rota.step() {}
        assert_eq!(
            said(&said_all, 11),
            [
                "a waits",
                "b waits",
                "a lists",
                "c waits",
                "a takes it",
                "a sleeps, knows []",
                "b takes it",
                "b sleeps, knows [\"lanes/1\"]",
                "c lists",
                "c takes it",
                "c sleeps, knows []"
            ]
        );
        assert_eq!(rota.next_ms(), Some(u64::MAX - 1));
    }

    #[test]
    fn a_list_that_is_not_fresh_any_more_is_given_to_one_only() {
        let (log, said_all) = channel();
        let mut rota = rota(vec![Seeker::new("a", "lanes/1", &log), Seeker::new("b", "lanes/2", &log)]);
        rota.fresh_ms = 0;
        while rota.step() {}
        assert_eq!(
            said(&said_all, 8).split_off(2),
            ["a lists", "a takes it", "a sleeps, knows []", "b lists", "b takes it", "b sleeps, knows []"]
        );
    }

    #[test]
    fn a_list_from_before_the_description_is_not_used() {
        let (log, said_all) = channel();
        let mut rota = rota(vec![Seeker::new("a", "lanes/meta", &log), Seeker::new("b", "lanes/2", &log)]);
        while rota.step() {}
        let said = said(&said_all, 8).split_off(2);
        assert_eq!(
            said,
            ["a lists", "a takes it", "a sleeps, knows []", "b lists", "b takes it", "b sleeps, knows []"]
        );
    }

    #[test]
    fn jobs_whose_time_has_come_and_those_that_wait_for_a_list_take_turns() {
        let (log, said_all) = channel();
        let mut rota = rota(vec![Seeker::new("a", "lanes/1", &log), Seeker::new("b", "lanes/2", &log)]);
        (0..3).for_each(|_| assert!(rota.step()));
        let due = |name| Box::new(Seeker { has_list: true, ..Seeker::new(name, "lanes/3", &log) }) as Box<dyn Job>;
        rota.wake(vec![due("due"), due("next")]);
        while rota.step() {}
        let said = said(&said_all, 9).split_off(3);
        assert_eq!(
            said,
            [
                "due sleeps, knows []",
                "a takes it",
                "a sleeps, knows [\"lanes/3\"]",
                "next sleeps, knows []",
                "b takes it",
                "b sleeps, knows [\"lanes/3\", \"lanes/1\", \"lanes/3\"]"
            ]
        );
    }

    /// A time that does not come, and a multiple of 12.
    const FAR_MS: u64 = 12 << 40;

    #[test]
    fn who_sleeps_without_a_lane_wakes_with_others_and_the_list_is_kept_for_them() {
        let (log, _said) = channel();
        let seeker = |_| Seeker { lane: None, until_ms: FAR_MS + 1, is_woken: true, ..Seeker::new("a", "", &log) };
        let mut rota = rota((0..12).map(seeker).collect());
        while rota.step() {}
        let due: Vec<_> = rota.due.iter().map(|(due_ms, _)| due_ms - FAR_MS).collect();
        assert_eq!((due, rota.seeking, rota.listings.len()), (vec![3; 12], 12, 1));
        rota.wake(Vec::new());
        for left in (0..12).rev() {
            assert!(rota.step());
            assert_eq!((rota.seeking, rota.listings.len()), (left, usize::from(left > 0)));
        }
        assert!(rota.jobs.is_empty());
    }

    #[test]
    fn who_sleeps_without_a_lane_hears_of_the_writes_of_others() {
        let (log, said_all) = channel();
        let has_list = |job| Seeker { has_list: true, ..job };
        let seeker = Seeker { lane: None, ..Seeker::new("a", "", &log) };
        let mut rota = rota(vec![has_list(seeker), has_list(Seeker::new("b", "lanes/2", &log))]);
        while rota.step() {}
        assert_eq!(said(&said_all, 3), ["a sleeps, knows []", "b sleeps, knows []", "a hears of lanes/2"]);
    }

    #[test]
    fn a_job_that_panics_ends_no_other() {
        let (log, said_all) = channel();
        let thread = KeeperThread::default();
        let (drop_me, may_list) = channel();
        drop(drop_me);
        thread.add(Box::new(Seeker { may_list: Some(may_list), ..Seeker::new("lists", "lanes/1", &log) })).unwrap();
        thread.add(Box::new(Seeker { panics: true, ..Seeker::new("works", "lanes/2", &log) })).unwrap();
        thread.add(Box::new(Seeker { until_ms: 1, ..Seeker::new("c", "lanes/3", &log) })).unwrap();
        let mut said = said(&said_all, 9);
        said.sort_unstable();
        let c = ["c ends", "c lists", "c sleeps, knows []", "c takes it", "c waits"];
        assert_eq!(said[..5], c);
        assert_eq!(said[5..], ["lists ends by a panic", "lists lists", "lists waits", "works ends by a panic"]);
    }

    #[test]
    fn the_thread_ends_with_its_last_job_and_starts_again_with_the_next_one() {
        let (log, said_all) = channel();
        let thread = KeeperThread::default();
        for name in ["first", "second"] {
            thread.add(Box::new(Seeker { until_ms: 1, ..Seeker::new(name, "lanes/1", &log) })).unwrap();
            assert_eq!(said(&said_all, 5)[4], format!("{name} ends"));
            while lock(&thread.arrivals).is_running {
                thread::yield_now();
            }
        }
    }
}
