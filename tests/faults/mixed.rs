//! Events of all kinds in random order, one ID a millisecond: no event adds to the lead of another, and no millisecond
//! gets more IDs than half speed gives it.

use imid::MessageId;
use imid::clock::ManualClock;

use super::{Random, SPREAD, T, ahead, host, most_in_one_ms, ms, room};

const SCRIPTS: u64 = 400;
const MILLISECONDS: u64 = 3_000;
/// How far events reach, in milliseconds.
const FAR: u64 = 500;

#[test]
fn no_event_adds_to_the_lead_of_another() {
    for script in 0..SCRIPTS {
        let mut random = Random(script);
        let clock = ManualClock::new(T);
        let ids = host(script).max_skew(ms(FAR)).clock(&clock).build().unwrap();
        let (mut now, mut lead, mut minted) = (T, 0, Vec::new());
        for _ in 0..MILLISECONDS {
            now += 1;
            // What the lead may be: no more than it was, or what an event of this millisecond makes of it.
            let mut allowed = lead;
            if random.once_in(100) {
                let distance = random.next() % FAR;
                let id = MessageId::last_at(now + distance).unwrap();
                let later = (distance + SPREAD.min(distance / 4) + 1).cast_signed();
                match random.next() % 5 {
                    0 => {
                        now -= distance;
                        allowed += distance.cast_signed();
                    }
                    1 => now += distance,
                    2 => {
                        clock.set(now);
                        ids.observe(id).unwrap();
                        allowed = allowed.max(later);
                    }
                    3 => {
                        clock.set(now);
                        ids.raise_floor(id);
                        allowed = allowed.max(later);
                    }
                    _ => {
                        // One wrong reading, and the right one again. Where time is ahead already it may keep a half of it.
                        clock.set(now - distance);
                        allowed += if lead > 0 { distance.div_ceil(2).cast_signed() } else { 0 };
                        minted.push(ids.generate(room()).unwrap());
                    }
                }
            }
            clock.set(now);
            let id = ids.generate(room()).unwrap();
            // A millisecond of rounding at half speed.
            assert!(ahead(id, now) <= allowed + 1, "{} ms ahead after {lead}, script {script}", ahead(id, now));
            // A seeded start at the end of a millisecond runs over into the next; that is no lead that lasts.
            lead = ahead(id, now).max(0);
            minted.push(id);
        }
        assert!(minted.is_sorted_by(|a, b| a < b));
        let most = most_in_one_ms(&minted);
        assert!(most <= 6, "{most} IDs in one millisecond, script {script}");
    }
}
