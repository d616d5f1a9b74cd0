//! Each documented event is told with its fields, each call of a register is in a span, and no secret is in either.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

#[path = "../support/faulty.rs"]
mod faulty;
#[allow(dead_code, reason = "another test uses the rest")]
#[path = "../support/opened.rs"]
mod opened;

use faulty::FaultyRegister;
use imid::clock::{Clock, ManualClock, SystemClock};
use imid_lease::record::{LaneRecord, Name};
use imid_lease::register::{MemoryRegister, PostgresRegister};
use imid_lease::{LaneOptions, LeasedGenerator, Register};
use opened::opened;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber, span};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

const MS: Duration = Duration::from_millis(1);

type Fields = BTreeMap<&'static str, String>;

/// What was told: the level and the fields of each event and of each span that has ended.
static EVENTS: Mutex<Vec<(Level, Fields)>> = Mutex::new(Vec::new());
static SPANS: Mutex<Vec<(Level, Fields)>> = Mutex::new(Vec::new());

struct Reader<'a>(&'a mut Fields);

impl Visit for Reader<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name(), format!("{value:?}").trim_matches('"').to_owned());
    }
}

/// Collects what this crate tells. Other crates may tell what they like.
struct Collector;

impl<S: Subscriber + for<'a> tracing_subscriber::registry::LookupSpan<'a>> Layer<S> for Collector {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if event.metadata().target() == "imid_lease" {
            let mut fields = Fields::new();
            event.record(&mut Reader(&mut fields));
            EVENTS.lock().unwrap().push((*event.metadata().level(), fields));
        }
    }

    fn on_new_span(&self, attributes: &span::Attributes<'_>, id: &span::Id, context: Context<'_, S>) {
        let mut fields = Fields::new();
        attributes.record(&mut Reader(&mut fields));
        context.span(id).unwrap().extensions_mut().insert(fields);
    }

    fn on_record(&self, id: &span::Id, values: &span::Record<'_>, context: Context<'_, S>) {
        values.record(&mut Reader(context.span(id).unwrap().extensions_mut().get_mut().unwrap()));
    }

    fn on_close(&self, id: span::Id, context: Context<'_, S>) {
        let span = context.span(&id).unwrap();
        if span.metadata().target() == "imid_lease" {
            let fields = span.extensions_mut().remove::<Fields>().unwrap();
            SPANS.lock().unwrap().push((*span.metadata().level(), fields));
        }
    }
}

/// Waits until the space has told of this.
fn told(space: &str, message: &str) -> Fields {
    let start = Instant::now();
    loop {
        let is_it = |fields: &&Fields| fields["space"] == space && fields["message"] == message;
        if let Some(fields) = EVENTS.lock().unwrap().iter().map(|(_, fields)| fields).find(is_it) {
            return fields.clone();
        }
        assert!(start.elapsed() < Duration::from_secs(20), "{space}: {message}");
        thread::sleep(MS);
    }
}

/// Settings with a renewal each 250 ms.
fn options(space: &str) -> LaneOptions {
    let options = LaneOptions::new().create_missing().space(space).holder("web-3").lane_bits(0).horizon(1_000 * MS);
    options.max_skew(500 * MS).max_lead(200 * MS)
}

/// All tests of this file share one collector, so there is one.
#[test]
fn each_documented_event_is_told_and_no_secret_is() {
    tracing::subscriber::set_global_default(tracing_subscriber::registry().with(Collector)).unwrap();

    let ids = LeasedGenerator::open(FaultyRegister::new(), options("well")).and_then(opened).unwrap();
    let status = ids.status();
    let granted = told("well", "lane granted");
    assert_eq!((granted["lane"].as_str(), granted["holder"].as_str()), ("0", "web-3"));
    assert!(granted["ceiling_ms"].parse::<u64>().unwrap() <= status.ceiling_ms.unwrap());
    while ids.status().renewals < status.renewals + 4 {
        thread::sleep(MS);
    }
    ids.close();
    told("well", "generator sealed");

    let register = FaultyRegister::new();
    let lost = LeasedGenerator::open(register.clone(), options("lost")).and_then(opened).unwrap();
    while {
        let (key, seen) = register.clone().list("lost/1/").unwrap().pop().unwrap();
        let mut record: LaneRecord = LaneRecord::parse(&seen).unwrap();
        (record.version, record.holder) = (record.version + 1, Name::parse("web-9").unwrap());
        let token = seen.split(' ').find(|word| word.starts_with("token=")).unwrap();
        !register
            .clone()
            .compare_and_set(&key, Some(&seen), &record.to_string().replace(token, "token=0000000000000009"))
            .unwrap()
    } {}
    assert_eq!(told("lost", "lane lost")["lane"], "0");
    drop(lost);

    let register = FaultyRegister::new();
    let silent = LeasedGenerator::open(register.clone(), options("silent")).and_then(opened).unwrap();
    register.set_down(true);
    assert!(told("silent", "renewal is late")["left_ms"].parse::<u64>().unwrap() < 250);
    drop(silent);

    let clock: &'static ManualClock = Box::leak(Box::new(ManualClock::new(SystemClock.now_ms().unwrap())));
    let jumped = LeasedGenerator::open(FaultyRegister::new(), options("jumped").clock(clock));
    let jumped = jumped.and_then(opened).unwrap();
    clock.set(clock.now_ms().unwrap() + 3_600_000);
    let off = told("jumped", "clock is not followed");
    let ahead = off["clock_ms"].parse::<u64>().unwrap() - off["believed_ms"].parse::<u64>().unwrap();
    assert!((3_000_000..=3_600_000).contains(&ahead), "{ahead}");
    drop(jumped);

    let weak = LeasedGenerator::open(MemoryRegister::new(), options("weak")).and_then(opened).unwrap();
    assert_eq!(format!("weak: {}", told("weak", "register is weak")["reason"]), weak.status().promise.to_string());

    let register = FaultyRegister::new();
    let reverted = LeasedGenerator::open(register.clone(), options("reverted")).and_then(opened).unwrap();
    register.restore(&FaultyRegister::new().snapshot());
    assert_eq!(told("reverted", "register went back")["key"], "reverted/1/00000");
    drop(reverted);

    let register = FaultyRegister::new();
    let panics = LeasedGenerator::open(register.clone(), options("panics")).and_then(opened).unwrap();
    register.panic();
    assert_eq!(told("panics", "lease panicked")["reason"], "on purpose");
    drop(panics);

    // Nothing listens at this port.
    let url = "postgres://chat:S3cret%2FWord@127.0.0.1:1/chat";
    let refused = LeasedGenerator::open(PostgresRegister::from_url(url).unwrap(), options("refused")).unwrap();
    refused.wait_until_open(300 * MS).unwrap_err();
    drop(refused);

    let documented: BTreeSet<_> = include_str!("../../src/telemetry.rs").lines().filter_map(row).collect();
    let events = EVENTS.lock().unwrap();
    let kinds: BTreeSet<_> = events.iter().map(|(level, fields)| kind(*level, fields)).collect();
    assert_eq!(kinds, documented);
    let count = |space: &str, message: &str| {
        events.iter().filter(|(_, fields)| fields["space"] == space && fields["message"] == message).count()
    };
    assert_eq!(
        [count("well", "renewal is late"), count("well", "lane lost"), count("well", "register is weak")],
        [0; 3]
    );
    assert_eq!([count("weak", "register is weak"), count("silent", "renewal is late")], [1; 2], "each is told once");

    let spans = SPANS.lock().unwrap();
    let calls: BTreeSet<_> = spans.iter().map(|(_, fields)| (&*fields["store"], &*fields["call"])).collect();
    for call in ["list", "write", "time"] {
        assert!(calls.contains(&("FaultyRegister", call)), "{call}: {calls:?}");
    }
    let is_failed = |(level, fields): &&(Level, Fields)| {
        assert_eq!(*level, Level::DEBUG);
        // Also of a call that panics, which is an error of that call.
        assert!(fields.get("micros").is_some_and(|micros| micros.parse::<u64>().is_ok()), "{fields:?}");
        fields["store"] == "PostgresRegister" && fields.get("error").is_some_and(|error| error.contains("127.0.0.1"))
    };
    assert!(spans.iter().filter(is_failed).count() > 0);
    let all = format!("{events:?}{spans:?}");
    assert!(all.contains("PostgresRegister") && !all.contains("S3cret"), "a password was told");
}

/// Returns the message, the level and the fields of an event.
fn kind(level: Level, fields: &Fields) -> (String, String, BTreeSet<String>) {
    let own = fields.keys().filter(|name| !["message", "space", "holder"].contains(name));
    (fields["message"].clone(), level.to_string(), own.map(|name| (*name).to_owned()).collect())
}

/// Returns the same of a row of the documentation.
fn row(line: &str) -> Option<(String, String, BTreeSet<String>)> {
    let cells: Vec<_> = line.strip_prefix("//! | ")?.split(" | ").collect();
    let [message, level @ ("INFO" | "WARN" | "ERROR"), _, fields] = cells[..] else { return None };
    let fields = fields.trim_end_matches(" |").split(", ").map(|field| field.replace('`', ""));
    Some((message.replace('`', ""), level.to_owned(), fields.collect()))
}
