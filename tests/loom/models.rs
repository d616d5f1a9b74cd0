//! Runs the models of loom.

use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::sync::Arc;
use std::time::Instant;

/// Loom stops here, with a part of the interleavings. So the time of `ci/loom.sh` has a limit on a slow machine, too.
const LONGEST: Duration = Duration::from_secs(60);

/// Runs a model under all interleavings with at most so many preemptions, and prints how many there were. `ci/loom.sh` shows
/// this.
pub(crate) fn model(preemptions: usize, run: impl Fn() + Send + Sync + 'static) {
    let began = Instant::now();
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_duration = Some(LONGEST);
    let runs = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&runs);
    builder.check(move || {
        count.fetch_add(1, Ordering::Relaxed);
        run();
    });
    let (runs, seconds) = (runs.load(Ordering::Relaxed), began.elapsed().as_secs_f64());
    let name = std::thread::current().name().unwrap_or_default().to_owned();
    if began.elapsed() < LONGEST {
        println!("{name}: all {runs} interleavings in {seconds:.1} s");
    } else {
        println!("{name}: CUT after {runs} interleavings and {seconds:.1} s");
    }
}
