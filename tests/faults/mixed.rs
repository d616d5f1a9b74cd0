//! Events of all kinds in random order, at one ID per millisecond. No event adds to the lead of another one, and the IDs spread
//! over the milliseconds.

use imid::MessageId;
use imid::clock::ManualClock;

use super::{Random, SPREAD, T, ahead, host, most_in_one_ms, ms, room};

const SCRIPTS: u64 = 200;
const MILLISECONDS: u64 = 3_000;
/// How far events reach, in milliseconds.
const FAR: u64 = 500;
/// How many milliseconds the pause takes.
const PAUSE: usize = 8;

/// Plays a script with the first `kinds` kinds of events: a step back, an observed ID, a floor, a step forward, and one wrong
/// reading before the right one. Each event reaches at least `near` milliseconds. Checks the lead after each ID, and returns
/// the IDs.
fn play(script: u64, kinds: u64, near: u64) -> Vec<MessageId> {
    let mut random = Random(script);
    let clock = ManualClock::new(T);
    let ids = host(script).max_skew(ms(FAR)).clock(&clock).build().unwrap();
    let (mut now, mut lead, mut is_back, mut minted) = (T, 0, false, Vec::new());
    for _ in 0..MILLISECONDS {
        now += 1;
        // What the lead may be: no more than it was, or what an event of this millisecond makes of it.
        let mut allowed = lead;
        if random.once_in(100) {
            let distance = near + random.next() % (FAR - near);
            let id = MessageId::last_at(now + distance).unwrap();
            let later = (distance + SPREAD.min(distance / 4) + 1).cast_signed();
            match random.next() % kinds {
                // In the scripts without steps forward, a step back ends before the next one begins.
                0 if kinds <= 3 && lead > 0 && is_back => {}
                0 => {
                    now -= distance;
                    is_back = true;
                    allowed += distance.cast_signed();
                }
                1 => {
                    clock.set(now);
                    ids.observe(id).unwrap();
                    allowed = allowed.max(later);
                }
                2 => {
                    clock.set(now);
                    ids.raise_floor(id);
                    allowed = allowed.max(later);
                }
                3 => now += distance,
                _ => {
                    clock.set(now - distance);
                    minted.push(ids.generate(room()).unwrap());
                    // Where time is ahead already it may keep a half of the distance.
                    allowed += if lead > 0 { distance.div_ceil(2).cast_signed() } else { 0 };
                }
            }
        }
        clock.set(now);
        let id = ids.generate(room()).unwrap();
        // A millisecond of rounding at half speed.
        assert!(ahead(id, now) <= allowed + 1, "{} ms ahead after {lead}, script {script}", ahead(id, now));
        lead = ahead(id, now).max(0);
        is_back &= lead > 0;
        minted.push(id);
    }
    assert!(minted.is_sorted_by(|a, b| a < b));
    minted
}

#[test]
fn no_event_adds_to_the_lead_of_another() {
    for script in 0..SCRIPTS {
        play(script, 5, 0);
    }
}

/// Half speed gives two IDs to a millisecond. A seeded start and the next event can add some.
///
/// There is one step back at a time, and none forward: where a clock goes on stepping while it is behind, time stands still
/// in part, so that a clock that steps back and forth does not carry the time away.
#[test]
fn a_millisecond_gets_few_ids_whatever_the_events() {
    for script in 0..SCRIPTS {
        let most = most_in_one_ms(&play(script, 1, 0));
        assert!(most <= 6, "{most} IDs in one millisecond after steps back, script {script}");
        let most = most_in_one_ms(&play(script, 3, 0));
        assert!(most <= 6 + PAUSE, "{most} IDs in one millisecond, script {script}");
    }
}
