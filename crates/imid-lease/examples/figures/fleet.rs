//! How long many processes with a connection each take to get their lanes, and to get over a fault of the store. Each is a lease
//! of this one process here, with a register of its own. Its caller kills it, and does harm to the store.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use imid_lease::register::{DEFAULT_TIME_LIMIT, open_url};
use imid_lease::{LaneOptions, LeasedGenerator, Phase};

use crate::counting::{Counting, Counts};
use crate::{Failure, room};

/// Prints each change of how many hold a lane, can mint, and have lost one, for this time, and the calls until then.
pub(crate) fn run(url: &str, count: &str, bits: &str, seconds: &str) -> Result<(), Failure> {
    let (count, bits): (usize, u32) = (count.parse()?, bits.parse()?);
    let end = Duration::from_secs(seconds.parse()?);
    let begun = Instant::now();
    let counts = Arc::<Counts>::default();
    let open =
        || Ok::<_, Failure>(Counting { register: open_url(url, DEFAULT_TIME_LIMIT)?, counts: Arc::clone(&counts) });
    let options = || LaneOptions::new().create_missing().lane_bits(bits);
    let leases: Result<Vec<_>, Failure> = (0..count).map(|_| Ok(LeasedGenerator::open(open()?, options())?)).collect();
    let leases = leases?;
    let mut before = None;
    while begun.elapsed() < end {
        let statuses: Vec<_> = leases.iter().map(LeasedGenerator::status).collect();
        let holding = statuses.iter().filter(|status| status.phase == Phase::Holding).count();
        let mint = leases.iter().filter(|lease| lease.generate(room()).is_ok()).count();
        let lost: u64 = statuses.iter().map(|status| status.lost).sum();
        if before.replace((holding, mint, lost)) != Some((holding, mint, lost)) {
            let error = statuses.iter().find_map(|status| status.last_error.as_deref()).unwrap_or("");
            let seconds = begun.elapsed().as_secs_f64();
            println!("{seconds:.1} s: {holding} hold, {mint} mint, {lost} lost; {counts}; {error}");
        }
        thread::sleep(Duration::from_millis(500));
    }
    Ok(())
}
