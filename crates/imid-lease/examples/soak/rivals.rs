//! Two lease schemes of other systems. The soak must find duplicates in them, or it proves nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use imid::clock::Clock;
use imid::generator::Lane;
use imid::{Generator, MessageId, SessionTag};
use imid_lease::register::{Register, open_url};

use crate::minter::{Minter, NoId, Refused, TIME_OUT, TestClock, lane_bits};

/// Mints in a lane that a thread renews, and goes on whatever becomes of the renewal.
struct Rival {
    ids: Generator<TestClock>,
    ends: Arc<AtomicBool>,
    renewal: Option<JoinHandle<()>>,
}

impl Rival {
    fn start(
        index: u16,
        clock: TestClock,
        mut renew: impl FnMut() + Send + 'static,
    ) -> Result<Box<dyn Minter>, Refused> {
        let lane = Lane { index, bits: lane_bits() };
        let ids = Generator::builder().clock(clock).lane(lane).build()?;
        let ends = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&ends);
        let renewal = thread::spawn(move || {
            while !ended.load(Ordering::Relaxed) {
                thread::sleep(TIME_OUT / 4);
                renew();
            }
        });
        Ok(Box::new(Self { ids, ends, renewal: Some(renewal) }))
    }
}

impl Minter for Rival {
    fn mint(&self, session: SessionTag) -> Result<MessageId, NoId> {
        self.ids
            .generate(session)
            .map_err(|error| NoId::Busy(error.retry_after().unwrap_or(Duration::from_millis(100))))
    }
}

impl Drop for Rival {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        // A panic of the thread was reported by the thread.
        let _ = self.renewal.take().map(JoinHandle::join);
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// A record for each lane holds its holder's name and the wall-clock time at which the lane is free. A holder moves this time
/// on. It does not stop when it cannot.
pub(crate) fn wall_clock(url: &str, name: &str, clock: TestClock) -> Result<Box<dyn Minter>, Refused> {
    let mut register = open_url(url, Duration::from_millis(1500))?;
    for index in 0..1 << lane_bits() {
        let key = format!("wall-clock/{index}");
        let seen = register.read(&key)?;
        let now = clock.now_ms()?;
        let free_at = seen.as_deref().and_then(|seen| seen.rsplit_once(' ')?.1.parse::<u64>().ok());
        if free_at.is_some_and(|free_at| now < free_at) {
            continue;
        }
        let mut own = format!("{name} {}", now + millis(TIME_OUT));
        if !matches!(register.compare_and_set(&key, seen.as_deref(), &own), Ok(true)) {
            continue;
        }
        let (name, renewal_clock) = (name.to_owned(), clock.clone());
        return Rival::start(index, clock, move || {
            if let Ok(now) = renewal_clock.now_ms() {
                let next = format!("{name} {}", now + millis(TIME_OUT));
                if let Ok(true) = register.compare_and_set(&key, Some(&own), &next) {
                    own = next;
                }
            }
        });
    }
    Err(Refused::NoLane)
}

/// A key of Redis with a time to live holds the name of its holder, who prolongs it. It does not stop when it cannot.
pub(crate) fn expiring_key(url: &str, name: &str, clock: TestClock) -> Result<Box<dyn Minter>, Refused> {
    const RENEW: &str = "if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end";
    let client = redis::Client::open(url)?;
    let mut connection = client.get_connection_with_timeout(TIME_OUT)?;
    for index in 0..1 << lane_bits() {
        let key = format!("expiring-key:{index}");
        let taken: Option<String> =
            redis::cmd("SET").arg(&[&key, name, "NX", "PX", &millis(TIME_OUT).to_string()]).query(&mut connection)?;
        if taken.is_some() {
            let name = name.to_owned();
            return Rival::start(index, clock, move || {
                if let Ok(mut connection) = client.get_connection_with_timeout(TIME_OUT) {
                    let renewed: Result<(), _> = redis::cmd("EVAL")
                        .arg(RENEW)
                        .arg(1)
                        .arg(&key)
                        .arg(&name)
                        .arg(millis(TIME_OUT))
                        .query(&mut connection);
                    // As in the systems that this is modelled on, an error changes nothing.
                    drop(renewed);
                }
            });
        }
    }
    Err(Refused::NoLane)
}
