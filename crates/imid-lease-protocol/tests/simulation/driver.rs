//! The engine as the driver of spec/lease/check.py, which judges it by the cases of spec/lease.json. The lines are in spec/lease/README.md.

use std::io::{BufRead as _, Write as _};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use imid::clock::{Clock as _, ManualClock};
use imid::generator::{Generator, Lane};
use imid::{SessionTag, SessionType};
use imid_lease_protocol::engine::{Action, Config, Engine, Grant, Moment, Outcome, Reply, Silence};
use imid_lease_protocol::record::{Name, Space};

/// New for each action, and for each process of a driver.
fn random_bits() -> u128 {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).unwrap();
    u128::from_ne_bytes(bytes)
}

/// A holder that mints with imid's own generator.
struct Driver {
    engine: Engine,
    bits: u32,
    generator: Option<Generator<Arc<ManualClock>>>,
    clock: Arc<ManualClock>,
    mono_ms: u64,
    call: Option<Action>,
}

impl Driver {
    fn new(settings: &[&str]) -> Self {
        let setting = |name: &str| settings.iter().find_map(|it| it.strip_prefix(name)?.strip_prefix('=')).unwrap();
        let bits = setting("bits").parse().unwrap();
        let config = Config {
            space: Space::lanes(bits).unwrap(),
            name: Name::parse(setting("holder")).unwrap(),
            horizon_ms: setting("horizon").parse().unwrap(),
            max_skew_ms: setting("skew").parse().unwrap(),
            any_lead: false,
        };
        let clock = Arc::new(ManualClock::new(0));
        Self { engine: Engine::new(config), bits, generator: None, clock, mono_ms: 0, call: None }
    }

    fn moment(&self) -> Moment {
        let now_ms = self.clock.now_ms().ok();
        let lead = self.generator.as_ref().map_or(Duration::ZERO, |it| it.stats().lead);
        // The last stamp is not after the clock, or as far ahead of it as its lead.
        let used_until_ms = if lead.is_zero() { 0 } else { now_ms.unwrap_or(0) + lead.as_millis() as u64 + 1 };
        Moment { mono_ms: self.mono_ms, now_ms, used_until_ms }
    }

    fn start(&mut self, Grant { lane, floor_ms, ceiling_ms, .. }: Grant) {
        let builder = Generator::builder().clock(Arc::clone(&self.clock)).lane(Lane { index: lane, bits: self.bits });
        self.generator = Some(builder.floor_ms(floor_ms).ceiling_ms(ceiling_ms).build().unwrap());
    }

    /// Works until the next call, and returns it.
    fn go(&mut self) -> String {
        loop {
            let action = self.engine.poll(self.moment(), random_bits());
            let text = match &action {
                Action::Sleep { .. } => return "sleep".into(),
                Action::Done => return "stopped".into(),
                Action::Seal => {
                    let end_ms = self.generator.as_ref().and_then(Generator::close).unwrap_or(0);
                    self.engine.reply(self.moment(), Reply::Sealed { end_ms });
                    continue;
                }
                Action::Start(grant) => {
                    self.start(*grant);
                    continue;
                }
                Action::Raise { ceiling_ms } => {
                    self.generator.iter().for_each(|it| it.raise_ceiling_ms(*ceiling_ms));
                    continue;
                }
                Action::List => "list".into(),
                Action::Read { key } => format!("read\t{key}"),
                Action::Write { key, seen, value, .. } => {
                    format!("write\t{key}\t{}\t{value}", seen.as_deref().unwrap_or_default())
                }
                Action::Wait => panic!("no answer was given"),
            };
            self.call = Some(action);
            return text;
        }
    }

    /// Takes the answer to the call.
    fn answer(&mut self, kind: &str, fields: &[&str]) -> String {
        let reply = match self.call.take().expect("a call") {
            Action::List if kind == "found" => {
                let records = fields.chunks(2).map(|pair| (pair[0].into(), pair[1].into())).collect();
                Reply::Listed(Ok(records))
            }
            Action::List => Reply::Listed(Err(Silence)),
            Action::Read { .. } if kind == "found" => Reply::Read(Ok(fields.first().map(|&text| text.into()))),
            Action::Read { .. } => Reply::Read(Err(Silence)),
            Action::Write { attempt, .. } => {
                let outcome = match kind {
                    "written" => Outcome::Acknowledged,
                    "conflict" => Outcome::Conflict,
                    _ => Outcome::Unknown,
                };
                Reply::Written { attempt, outcome }
            }
            other => panic!("{other:?} is not a call"),
        };
        self.engine.reply(self.moment(), reply);
        self.go()
    }

    fn line(&mut self, fields: &[&str]) -> String {
        match fields {
            ["clock", mono, wall] => {
                self.mono_ms = mono.parse().unwrap();
                self.clock.set(wall.parse().unwrap());
                "ok".into()
            }
            ["go"] => self.go(),
            ["mint"] => {
                let tag = SessionTag::new(SessionType::GROUP, "room-42");
                let minted = self.generator.as_ref().and_then(|it| it.generate(tag).ok());
                let text = minted.map(|id| format!("minted\t{}\t{}", id.spin() >> (12 - self.bits), id.timestamp_ms()));
                text.unwrap_or_else(|| "refused".into())
            }
            ["close"] => {
                self.engine.close();
                "ok".into()
            }
            [kind @ ("found" | "written" | "conflict" | "unknown"), fields @ ..] => self.answer(kind, fields),
            other => panic!("{other:?} is not a line"),
        }
    }
}

#[test]
#[ignore = "spec/lease/check.py runs it"]
fn driver() {
    let mut driver = None;
    println!("\nready");
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        let fields: Vec<_> = line.split('\t').collect();
        let answer = if let ["new", settings @ ..] = &fields[..] {
            driver = Some(Driver::new(settings));
            "ok".into()
        } else {
            driver.as_mut().expect("`new` first").line(&fields)
        };
        println!("{answer}");
        std::io::stdout().flush().unwrap();
    }
}

#[test]
fn the_engine_does_what_the_cases_for_ports_say() {
    let check = concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec/lease/check.py");
    let has_python = Command::new("python3").arg("--version").output().is_ok();
    // A package does not have the cases.
    if !has_python || !std::path::Path::new(check).exists() {
        writeln!(std::io::stderr(), "skipped: cases for ports: no Python, or no spec/lease/check.py").unwrap();
        return;
    }
    let own = std::env::current_exe().unwrap();
    let arguments = ["--quiet", "--ignored", "--exact", "driver::driver", "--nocapture"];
    let output = Command::new("python3").arg(check).arg(own).args(arguments).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
}
