//! A process of the model: an engine, a generator, and clocks.

use super::generator::{Generator, Last, Paused};
use super::rules::{Rule, Rules};
use super::world::Random;
use imid_lease_protocol::engine::clock_judgement::{Known, Reading};
use imid_lease_protocol::engine::{Config, Engine, Moment};

#[derive(Clone, Debug)]
pub(super) struct Holder {
    pub(super) engine: Engine,
    pub(super) config: Config,
    rules: Rules,
    /// How often it was started.
    pub(super) incarnation: u64,
    pub(super) is_alive: bool,
    /// Paused until this true time.
    pub(super) paused_until_ms: u64,
    pub(super) generator: Option<Generator>,
    /// Generators before the present one; some thread may still use them.
    pub(super) former: Vec<Generator>,
    pub(super) threads: Vec<Paused>,
    /// Wall clock less true time.
    pub(super) wall_offset_ms: i64,
    pub(super) known: Known,
    /// The engine sleeps until this monotonic time.
    pub(super) sleeps_until_ms: u64,
    pub(super) is_waiting: bool,
    pub(super) is_done: bool,
    pub(super) last: Option<Last>,
    /// When it last tried to renew, in true time.
    pub(super) renewed_at_ms: Option<u64>,
    /// Where a machine that draws no fresh tokens has its tokens from.
    pub(super) tokens: Random,
    pub(super) refusals: u64,
    pub(super) minted: u64,
}

impl Holder {
    pub(super) fn new(config: Config, rules: Rules, incarnation: u64) -> Self {
        Self {
            engine: Engine::new(config.clone()),
            config,
            rules,
            incarnation,
            is_alive: true,
            paused_until_ms: 0,
            generator: None,
            former: Vec::new(),
            threads: Vec::new(),
            wall_offset_ms: 0,
            known: Known::default(),
            sleeps_until_ms: 0,
            is_waiting: false,
            is_done: false,
            last: None,
            renewed_at_ms: None,
            tokens: Random(0),
            refusals: 0,
            minted: 0,
        }
    }

    /// The same process after a crash: nothing but its name is left.
    pub(super) fn restart(&mut self) {
        let (wall, store, seed) = (self.wall_offset_ms, self.known.store, self.tokens.next());
        *self = Self::new(self.config.clone(), self.rules, self.incarnation + 1);
        // It asks the store for its time before it does anything else.
        self.known.store = store;
        self.wall_offset_ms = wall;
        self.tokens = Random(seed);
    }

    pub(super) fn rules(&self) -> Rules {
        self.rules
    }

    /// The time that it goes by.
    pub(super) fn now_ms(&mut self, true_ms: u64) -> u64 {
        let wall_ms = true_ms.saturating_add_signed(self.wall_offset_ms);
        if !self.rules().keep(Rule::FilterClock) {
            return wall_ms;
        }
        let reading = Reading { wall_ms: Some(wall_ms), mono_ms: true_ms };
        self.known.read(reading, self.config.max_skew_ms).unwrap_or(wall_ms)
    }

    pub(super) fn moment(&mut self, true_ms: u64) -> Moment {
        let rules = self.rules();
        Moment {
            mono_ms: true_ms,
            now_ms: Some(self.now_ms(true_ms)),
            used_until_ms: self.generator.as_ref().map_or(0, |generator| generator.used_until_ms(rules)),
        }
    }

    /// The generator of this number, the present one or a former one.
    pub(super) fn instance(&mut self, instance: u64) -> Option<&mut Generator> {
        self.former.iter_mut().chain(self.generator.as_mut()).find(|generator| generator.instance == instance)
    }
}
