#!/usr/bin/env python3
"""Prints spec/generator.json: what a generator must do, by spec/GENERATOR.md. It does not use the library.

`./contract.sh --write` writes the file.
"""

import json
import sys

DIGITS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
T = 1763665800000
LAST = 2**42 - 1
TAG, OTHER = 16549227, 7
HOUR = 3600000

cases, afters = [], []


def case(name, rules, *steps):
    """`rules` are the sentences that the case is for. mutants.py checks that a generator without them fails the case."""
    assert steps[0]["call"].startswith("clock "), name
    cases.append({"name": name, "rules": rules.split(), "steps": list(steps)})


def span(bound):
    return [bound, bound] if isinstance(bound, int) else list(bound)


def clock(*readings):
    return {"call": " ".join(["clock", *("none" if reading is None else str(reading) for reading in readings)])}


def new(**settings):
    return {"call": " ".join(["new", *(f"{key}={value}" for key, value in ({"seed": 7} | settings).items())])}


def refused(kind, retry=None):
    return {"refused": kind} | ({} if retry is None else {"retry": span(retry)})


def mint(first=None, last=None, n=1, tag=TAG, **more):
    """`first` and `last` are the millisecond of the first and of the last ID, or the least and the greatest one."""
    if n == 1 and last is None:
        last = first
    bounds = {key: span(bound) for key, bound in (("first", first), ("last", last)) if bound is not None}
    return {"call": f"mint {n} {tag}"} | bounds | more


def not_minted(kind, retry=None, n=1, **more):
    return {"call": f"mint {n} {TAG}"} | refused(kind, retry) | more


def burst(count, retry=1, n=1, kind="overload", last=None):
    """Mints until it is refused."""
    more = {} if last is None else {"last": span(last)}
    return {"call": f"mint {n} {TAG}", "repeat": span(count)} | refused(kind, retry) | more


def text(ms, spin=4095, tag=OTHER):
    value = ms * 2**38 + spin * 2**26 + tag
    digits = "".join(DIGITS[value >> 5 * (15 - i) & 31] for i in range(16))
    return "-".join(digits[i : i + 4] for i in (0, 4, 8, 12))


def observe(ms, limit=None, **more):
    return {"call": f"observe {text(ms)}" + ("" if limit is None else f" {limit}")} | more


def skew(wait):
    return refused("skew", wait)


def after(name, rules, last, now, r, q, expected, tag=TAG, limit=86400000):
    """`last` is a millisecond and a spin, or None; `expected` likewise, or the kind of the refusal."""
    row = {"name": name, "rules": rules.split()} | ({"last_id": text(*last)} if last else {}) | {"tag": tag, "now": now, "r": r, "q": q, "limit": limit}
    afters.append(row | ({"refused": expected} if isinstance(expected, str) else {"id": text(*expected, tag)}))


def floor(ms):
    return {"call": f"floor {ms}"}


def ceiling(ms):
    return {"call": f"ceiling {ms}"}


def close(ms=None):
    return {"call": "close"} | ({} if ms is None else {"ms": span(ms)})


# 16 stamps a millisecond, so that bursts are short.
SMALL = {"lane": "0/8"}

# ---------------------------------------------------------------------------------------------------------------------
# 1. Fields, lanes and settings.

case("an ID has the time of the clock, and its session", "1.1", clock(T), new(), mint(T), mint((T, T + 1)), mint((T, T + 1), tag=OTHER))
for lane, w in (("5/3", 512), ("0/0", 4096), ("4095/12", 1), ("0/12", 1), ("2047/11", 2)):
    case(f"lane {lane} has {w} stamps a millisecond, behind its prefix", "1.1 1.2", clock(T), new(lane=lane, max_lead=1),
         mint(T), burst((w, 2 * w - 1), n=1), clock(T + 50), mint(T + 50))  # fmt: skip
for lane in ("8/3", "1/0", "4096/12", "0/13"):
    case(f"there is no lane {lane}", "1.3", clock(T), {"call": f"new lane={lane}"} | refused("lane"))
case("a run passes into the next millisecond without leaving its lane", "1.1 5.5", clock(T), new(lane="3/2", max_lead=8),
     mint(T, (T + 2, T + 3), n=3000))  # fmt: skip
case("by default IDs may be 1,000 ms ahead", "1.4", clock(T), new(lane="0/12"), burst(1001, 1, last=T + 1000))
case("by default the clock may step back by an hour", "1.4", clock(T), new(), mint(T), clock(T - HOUR), mint((T, T + 1)),
     clock(T - HOUR - 1), not_minted("rollback", 1))  # fmt: skip
case("by default an ID may be 5,000 ms ahead", "1.4", clock(T), new(), mint(T), observe(T + 5001, **skew(1)), observe(T + 5000),
     mint((T + 5001, T + 5017)))  # fmt: skip
case("a limit past the end of time is all of time", "1.5", clock(T), new(max_lead=2**42, max_rollback=2**53 - 1, max_skew=2**42, lane="0/12"),
     mint(T, T + 99999, n=100000), clock(T - HOUR - 1), mint(T + 100000), observe(T + 10**12), mint((T + 10**12 + 1, T + 10**12 + 17)))  # fmt: skip
case("a lead past the end of time does not overflow", "1.5", clock(LAST - 2), new(max_lead=2**53 - 1, lane="0/12"),
     burst(3, kind="end", retry=None))  # fmt: skip
case("the last millisecond that a number of 53 bits cannot hold as a stamp", "1.1", clock(2**41 + 12345), new(), mint(2**41 + 12345),
     mint((2**41 + 12345, 2**41 + 12349), n=9000))  # fmt: skip
case("the first millisecond of all", "1.1", clock(0), new(), mint(0), mint((0, 1)))

# ---------------------------------------------------------------------------------------------------------------------
# 2. Reading the clock.

for reading, what in ((None, "none"), (-1, "negative"), (LAST + 1, "past the end"), (2**53 - 1, "far past the end")):
    case(f"a reading that is {what} is an error", "2.1", clock(reading), new(), not_minted("clock"), clock(T), mint(T))
    case(f"a reading that is {what} comes between others", "2.1 2.8", clock(T), new(), mint(T), clock(reading), not_minted("clock"), not_minted("clock"),
         clock(T + 1), mint(T + 1))  # fmt: skip
case("one reading fails", "2.5", clock(T), new(), mint(T), clock(None, T + 5), mint(T + 5))
case("one reading beside an observation fails", "2.5", clock(T), new(), mint(T), clock(None, T + 5), observe(T + 9), mint((T + 10, T + 12)))
case("one reading is negative", "2.5", clock(T), new(), mint(T), clock(-1, T + 5), mint(T + 5))
case("the reading that checks one far ahead fails", "2.1 2.3", clock(T), new(), mint(T), clock(T + 86400000, None), not_minted("clock"), clock(T + 86400000, None), observe(T + 9, refused="clock"),
     clock(T + 1), mint(T + 1))  # fmt: skip
case("the reading that checks the first one fails", "2.1 2.2", clock(T + 5, None), new(), not_minted("clock"), clock(T), mint(T))
case("the reading in the place of a dropped one fails", "2.1 2.6", clock(T), new(), mint(T), clock(T - 5, None), not_minted("clock"), clock(T + 1), mint(T + 1))
case("a reading is checked as long as none was believed, here after none", "2.2", clock(None), new(), not_minted("clock"), clock(T + 86400000, T), mint((T, T + 1)))
case("a reading is checked as long as none was believed, here after a refused one", "2.2", clock(T - 100), new(floor=T, max_rollback=70), not_minted("rollback", 29), clock(T + 86400000, T), mint((T, T + 16)))
case("the second look decides the kind of the refusal", "2.5", clock(T), new(max_lead=2, max_rollback=70, **SMALL), mint(T), clock(None, T - 77), not_minted("rollback", 7), clock(T - 77, None), not_minted("clock"),
     clock(T), burst((31, 47)), clock(T, T - 77), not_minted("rollback", 7), clock(T, None), not_minted("clock"), observe(T + 9000, refused="clock"))  # fmt: skip
case("an observation with a clock that has no reading", "2.1", clock(T), new(), mint(T), clock(None), observe(T + 9, refused="clock"), clock(T), mint((T, T + 1)))
for wild in (T + 1001, T + 59000, T + 86400000, LAST):
    case(f"one reading is {wild - T} ms ahead", "2.3", clock(T), new(), mint(T), clock(wild, T + 1), mint((T, T + 2)), *(mint((T, T + 2)) for _ in range(9)))
    case(f"the first reading of all is {wild - T} ms ahead", "2.2", clock(wild, T), new(), mint((T, T + 1)), mint((T, T + 1)))
    case(f"the reading beside an observation is {wild - T} ms ahead", "2.3", clock(T), new(), mint(T), clock(wild, T), observe(T + 900000, refused="skew"), mint((T, T + 1)))
case("a reading is ahead by less than a second", "2.3", clock(T), new(), mint(T), clock(T + 1000), mint(T + 1000))
case("one reading is ahead by exactly a second", "2.3", clock(T), new(), mint(T), clock(T + 1000, T + 1), mint(T + 1000))
case("one reading is ahead by exactly a small max_rollback", "2.3 2.4", clock(T), new(max_rollback=20), mint(T), clock(T + 20, T + 1), mint(T + 20))
case("one reading is a day ahead, with a max_rollback of a day and more", "2.4", clock(T), new(max_rollback=2**40, max_skew=2**40), mint(T), clock(T + 86400000, T + 1), mint((T, T + 2)),
     mint((T, T + 2)))  # fmt: skip
case("the clock was set forward by a day", "2.3", clock(T), new(), mint(T), clock(T + 86400000), mint(T + 86400000))
case("one reading is ahead by more than a small max_rollback", "2.4", clock(T), new(max_rollback=20), mint(T), clock(T + 900, T + 1), mint((T, T + 2)),
     mint((T, T + 2)), mint((T, T + 2)))  # fmt: skip
case("one reading is ahead by more than a small max_skew", "2.4", clock(T), new(max_skew=20), mint(T), clock(T + 900, T + 1), mint((T, T + 2)),
     mint((T, T + 2)), mint((T, T + 2)))  # fmt: skip
case("one reading is ahead by less than max_skew and more than the limit of an observation", "6.2", clock(T), new(), mint(T),
     clock(T + 900, T), observe(T + 800, 50, refused="skew"), mint((T, T + 1)))  # fmt: skip
case("one reading is an hour and more back", "2.5 2.6", clock(T), new(), mint(T), clock(T - HOUR - 9, T + 2), mint(T + 2))
case("one reading is 5 s back, and leaves nothing behind", "2.6", clock(T), new(max_lead=2, **SMALL), mint(T), clock(T - 5000, T + 40), mint(T + 40),
     burst((16, 47), 1), clock(T + 4000), mint(T + 4000))  # fmt: skip
case("one reading fails, and one is a day ahead", "2.5", clock(T), new(), mint(T), clock(None, T + 86400000, T + 5), mint(T + 5), mint((T + 5, T + 6)))
case("one reading is back, and one is a day ahead", "2.6", clock(T), new(), mint(T), clock(T - 5, T + 86400000, T + 1), mint((T, T + 2)), mint((T, T + 2)))
case("two readings are back, and the second counts", "2.6", clock(T), new(), mint(T), clock(T - 10, T - 50), mint((T, T + 1)), clock(T - 30), mint((T + 10, T + 11)))
case("one reading beside a floor fails", "2.5", clock(T), new(), mint(T), clock(None, T + 400), floor(T + 1000), clock(T + 600), mint((T + 1100, T + 1118)))
case("overload is found twice before it is said", "2.5", clock(T), new(max_lead=2, **SMALL), burst((33, 48)), clock(T, T + 10), mint(T + 10))
case("too far ahead is found twice before it is said", "2.5", clock(T), new(max_skew=50), mint(T), clock(T, T + 40), observe(T + 90), mint((T + 91, T + 104)))

case("a step back by exactly max_rollback", "2.7", clock(T), new(max_rollback=70), mint(T), clock(T - 70), mint((T, T + 1)))
case("a step back past max_rollback is refused with the exact wait", "2.7", clock(T), new(max_rollback=70), mint(T), clock(T - 77),
     not_minted("rollback", 7, follow=T - 77))  # fmt: skip
case("max_rollback is measured from the greatest reading", "2.7 3.6", clock(T), new(max_rollback=70), mint(T), clock(T - 50), mint((T, T + 1)), clock(T - 71),
     not_minted("rollback", 1), clock(T - 70), mint((T, T + 1)))  # fmt: skip
case("a max_rollback of 0", "2.7", clock(T), new(max_rollback=0), mint(T), clock(T - 1), not_minted("rollback", 1), clock(T), mint((T, T + 1)))
case("a floor counts as a reading", "2.7", clock(T), new(max_rollback=70), mint(T), floor(T + 71), mint((T + 71, T + 87)))
case("a floor past max_rollback is refused with the exact wait", "2.7", clock(T), new(max_rollback=70), mint(T), floor(T + 75),
     not_minted("rollback", 4, follow=T))  # fmt: skip
case("a floor that was ahead when it was raised counts, even if the clock had passed it", "2.7", clock(T), new(max_rollback=70), mint(T), clock(T + 100), floor(T + 50), clock(T - 30),
     not_minted("rollback", (9, 60)), clock(T + 60), mint((T + 60, T + 101)))  # fmt: skip
case("a floor that moves nothing is not a reading", "2.7", clock(T), new(max_rollback=70), mint(T), observe(T + 3000), floor(T + 2000), mint((T + 3001, T + 3017)))
case("an observed ID is not a reading", "2.7", clock(T), new(max_rollback=70), mint(T), observe(T + 500), mint((T + 501, T + 517)))
case("a refused reading is forgotten", "2.8 2.7", clock(T), new(max_rollback=1000, max_lead=2, **SMALL), mint(T), clock(T - 1007), not_minted("rollback", 7),
     clock(T), mint((T, T + 1)), burst((30, 47), 1, last=(T, T + 2)))  # fmt: skip
case("a refused reading does not begin half speed", "2.8", clock(T), new(max_rollback=1000), mint(T), clock(T - 5000), not_minted("rollback", 4000), clock(T - 400),
     mint((T, T + 1)), clock(T - 200), mint((T + 100, T + 101)))  # fmt: skip

# ---------------------------------------------------------------------------------------------------------------------
# 3. The time reached.

case("the time follows the clock", "3.1", clock(T), new(), mint(T), clock(T + 1), mint(T + 1), clock(T + 7), mint(T + 7), clock(T + 900), mint(T + 900))
for step in (1, 7, 30, 5000, HOUR):
    case(f"after a step of {step} ms the time goes on at half speed", "3.2 3.6 5.4", clock(T), new(), mint(T), clock(T - step), mint((T, T + 1)),
         *(part for at in range(1, 7) for part in (clock(T - step + at * step // 4), mint((T + at * step // 8 - 1, T + at * step // 8 + 2)))),
         clock(T + step + 1), mint(T + step + 1), clock(T + step + 2), mint(T + step + 2))  # fmt: skip
case("halves of a millisecond are kept", "3.2", clock(T), new(), mint(T), clock(T - 300), mint((T, T + 1)),
     *(step for at in range(-299, -199) for step in (clock(T + at), mint((T + (at + 300) // 2 - 1, T + (at + 300) // 2 + 2)))))  # fmt: skip
case("a reading at the millisecond reached ends half speed, with half a millisecond between them", "3.1", clock(T), new(), mint(T), clock(T - 2), mint((T, T + 1)), clock(T - 1), mint((T, T + 1)),
     clock(T), {"call": f"mint 1 {TAG}", "next": True}, clock(T + 1), mint(T + 1))  # fmt: skip
case("the same reading again does not move the time", "3.3", clock(T), new(), mint(T), clock(T - 100), *(mint((T, T + 1)) for _ in range(20)),
     clock(T - 80), *(mint((T + 10, T + 11)) for _ in range(20)))  # fmt: skip
case("an earlier reading does not move the time", "3.3", clock(T), new(), mint(T), clock(T - 100), mint((T, T + 1)), clock(T - 60), mint((T + 20, T + 21)),
     clock(T - 61), mint((T + 20, T + 21)))  # fmt: skip
case("a step back that is taken back leaves nothing", "3.1", clock(T), new(), mint(T), clock(T - 3000), mint((T, T + 1)), clock(T + 5), mint(T + 5), clock(T + 6), mint(T + 6))
case("the clock passes the time reached at one go", "3.1", clock(T), new(), mint(T), clock(T - 100), mint((T, T + 1)), clock(T + 5000), mint(T + 5000))
case("a step back with nothing minted before", "3.2", clock(T), new(), observe(T - 5), clock(T - 100), mint((T - 100, T + 1)), clock(T - 50), mint((T - 50, T + 26)))
case("a clock that repeats a step leads by two steps at most", "3.5", clock(T), new(), mint(T),
     *(step for turn in range(40) for step in (
         clock(T + turn - 400), mint((T + turn - 400, T + turn + 401)), clock(T + turn - 1), mint((T + turn - 1, T + turn + 800)))))  # fmt: skip
case("a clock that has two times, and was ahead of both before", "3.5", clock(T + 1000), new(), mint(T + 1000),
     *(step for turn in range(50) for step in (
         clock(T + turn), mint((T + turn, T + turn + 2001)), clock(T + turn + 400), mint((T + turn + 400, T + turn + 2401)))))  # fmt: skip
case("a clock that swings by two readings after a step back", "3.5", clock(T), new(), mint(T), clock(T - 1000), mint((T, T + 1)),
     *(step for _ in range(12) for offset in (-600, -200, -1000) for step in (clock(T + offset), mint((T, T + 1001)))))  # fmt: skip
case("a clock that steps back again past its greatest reading", "3.5", clock(T), new(), mint(T), clock(T - 1000), mint((T, T + 1)),
     *(step for turn in range(1, 8) for offset in (-900, -500, -100, 100 * turn) for step in (
         clock(T + offset), mint((T, T + max(0, 100 * turn) + 1000 + turn * 100 + 1)))))  # fmt: skip
for seed in range(3):
    steps, top, greatest, number = [], T, 0, seed
    for at in range(300):
        number = (number * 1103515245 + 12345) % 2**31
        now = T - 2000 + at + (number >> 16) % 1001
        top, greatest = max(top, now), max(greatest, top - now)
        steps += [clock(now), mint((now, max(top, now) + greatest + 1))]
    case(f"a clock that errs by half a second to both sides, {seed}", "3.5", clock(T), new(), mint(T), *steps)
case("steps of 1 ms, ten times a second", "3.5", clock(T), new(), mint(T),
     *(step for turn in range(60) for step in (
         clock(T + 100 * turn + 100), mint((T + 100 * turn + 100, T + 100 * turn + 102)), clock(T + 100 * turn + 99), mint((T + 100 * turn + 99, T + 100 * turn + 103)))))  # fmt: skip
case("a glitch back for two readings while an observed ID is ahead", "3.4", clock(T), new(), mint(T), observe(T + 100), mint((T + 101, T + 117)),
     clock(T + 10 - 30000), mint((T + 101, T + 119)), clock(T + 30 - 30000), mint((T + 101, T + 130)), clock(T + 40), mint((T + 101, T + 150)),
     clock(T + 41), mint((T + 101, T + 151)))  # fmt: skip
case("a glitch back by 100 ms while an observed ID is ahead, and then forward", "3.4", clock(T), new(), mint(T), observe(T + 1000), mint((T + 1001, T + 1017)),
     clock(T - 100), mint((T + 1001, T + 1017)), clock(T + 400), mint((T + 1200, T + 1218)))  # fmt: skip
case("the time never goes back", "3.6", clock(T), new(), mint(T), observe(T + 3000), mint((T + 3001, T + 3017)), clock(T - 1000), mint((T + 3001, T + 3017)),
     clock(T - 2000), mint((T + 3001, T + 3017)))  # fmt: skip

# ---------------------------------------------------------------------------------------------------------------------
# 4. The limit, and taking.

for lead in (0, 1, 2, 3, 4, 5, 10):
    case(f"a burst with a lead of {lead} ms", "4.1 5.6", clock(T), new(max_lead=lead, **SMALL), mint(T), burst((lead * 16, (lead + 1) * 16 - 1), 1, last=(T, T + lead)),
         not_minted("overload", 1, follow=T))  # fmt: skip
case("a lead of 0 and all spins", "4.1", clock(T), new(max_lead=0), burst((1, 4096), 1), clock(T + 1), burst((1, 4096), 1), clock(T + 2), burst((1, 4096), 1))
case("full load for 30 ms", "4.1 5.5", clock(T), new(max_lead=3, **SMALL), burst((49, 64), 1, last=(T, T + 3)),
     *(step for at in range(1, 31) for step in (clock(T + at), burst((15, 17), 1, last=(T, T + 3 + at)))))  # fmt: skip
case("the lead counts from the clock and not from the last ID", "4.1", clock(T), new(max_lead=20, **SMALL), burst((321, 336), 1), clock(T + 30), mint(T + 30),
     burst((319, 335), 1, last=(T + 30, T + 50)))  # fmt: skip
case("while the time is ahead of the clock, 4 ms past it are granted", "4.2", clock(T), new(max_lead=10, **SMALL), mint(T), observe(T + 500),
     mint((T + 501, T + 517)), burst((4 * 16, 5 * 16 - 1), (1, 8)))  # fmt: skip
for lead in (0, 1, 3):
    case(f"of a lead of {lead} ms no more is granted past the time reached", "4.2", clock(T), new(max_lead=lead, **SMALL), mint(T), observe(T + 500),
         mint((T + 501, T + 517)), burst((lead * 16, (lead + 1) * 16 - 1), (1, 16)))  # fmt: skip
case("a step back grants its length to full load", "4.3", clock(T), new(max_lead=3, **SMALL), burst((49, 64), 1), clock(T - 50), burst((0, 17), (1, 4), last=(T, T + 4)),
     clock(T - 48), burst((15, 34), (1, 4), last=(T, T + 6)), clock(T - 40), burst((8 * 16 - 32, 8 * 16 + 32), (1, 4), last=(T, T + 14)))  # fmt: skip
case("full load goes on when the clock has caught up after a step", "4.3 4.4", clock(T), new(max_lead=3, **SMALL), burst((49, 64), 1),
     *(step for at in range(-50, 60, 2) for step in (clock(T + at), burst((0 if at == -50 else 15, 80), (1, 4)))))  # fmt: skip
case("a step back grants its length until the clock is past its greatest reading", "4.3 4.4", clock(T), new(max_lead=3, **SMALL), mint(T), clock(T - 50), mint((T, T + 1)), clock(T - 20),
     mint((T, T + 16)), clock(T), burst((28 * 16, 29 * 16 + 16), 1, last=T + 53), not_minted("overload", 1))  # fmt: skip
case("past its greatest reading the clock grants what full load took", "4.4", clock(T), new(max_lead=3, **SMALL), mint(T), clock(T - 50), burst((32, 64), (1, 4), last=T + 3), clock(T + 1),
     burst(64, 1, last=T + 7), clock(T + 2), burst(16, 1, last=T + 8))  # fmt: skip
case("without full load a step leaves no lead when the clock has caught up", "4.4", clock(T), new(max_lead=3, **SMALL), mint(T), clock(T - 50), mint((T, T + 1)),
     clock(T + 60), mint(T + 60), burst((47, 63), 1, last=(T + 60, T + 63)))  # fmt: skip
case("no IDs", "5.1", clock(T), new(), mint(n=0), mint(T), mint(n=0))
case("no IDs of a closed generator, nor by a broken clock", "5.1", clock(T), new(), mint(T), close(T + 1), mint(n=0), clock(None), mint(n=0))
case("the longest run", "5.3", clock(T), new(max_lead=3, **SMALL), not_minted("run", n=50), mint(T, (T + 3, T + 3), n=49))
case("the longest run of the default lead", "5.3", clock(T), new(), not_minted("run", n=4096002), not_minted("run", n=2**53 - 1), mint(T))
case("a run is refused whole", "5.5 5.6", clock(T), new(max_lead=3, **SMALL), mint(T, n=40), not_minted("overload", (1, 4), n=40, follow=T), clock(T + 3), mint())
case("a run that waits for its place", "5.6", clock(T), new(max_lead=3, **SMALL), burst((49, 64), 1), not_minted("overload", (2, 4), n=49, follow=T))
case("overload names no more than the wait", "5.6", clock(T), new(max_lead=50, **SMALL), burst((801, 816), 1), clock(T + 10), mint(), clock(T), burst((0, 160), (1, 12)))
case("overload after a step back", "5.6", clock(T), new(max_lead=100, **SMALL), mint(T, n=1600), clock(T - 1000), mint(),
     not_minted("overload", (1, 1000), n=1500, follow=T - 1000, again=12))  # fmt: skip
case("overload after an observed ID", "5.6 4.2", clock(T), new(max_lead=10, **SMALL), mint(T), observe(T + 2000),
     mint((T + 2001, T + 2017)), burst((4 * 16, 5 * 16 - 1), (1, 16)), not_minted("overload", (1, 16), follow=T, again=6))  # fmt: skip
case("a wait during which half speed would take the run past the ceiling", "5.6", clock(T), new(max_lead=50, ceiling=T + 100, **SMALL), mint(T), observe(T + 40), not_minted("overload", (1, 51), n=720),
     clock(T + 52), mint(T + 52, (T + 96, T + 97), n=720))  # fmt: skip
case("closed comes before the lane, the clock and the limits", "5.2", clock(T), new(max_lead=3, **SMALL), mint(T), close(T + 1), not_minted("closed"), clock(None),
     not_minted("closed"), clock(T - 2 * HOUR), not_minted("closed"), not_minted("run", n=50))  # fmt: skip
case("a run too long comes before a broken clock", "5.2", clock(None), new(max_lead=3, **SMALL), not_minted("run", n=50), not_minted("clock", n=49))
case("rollback comes before the ceiling and the overload", "5.2", clock(T), new(max_lead=3, max_rollback=70, ceiling=T + 4, **SMALL), burst((49, 64), None, kind="ceiling"),
     clock(T - 100), not_minted("rollback", 30))  # fmt: skip
case("the ceiling comes before the overload", "5.2", clock(T), new(max_lead=3, ceiling=T + 2, **SMALL), burst((17, 32), None, kind="ceiling"), not_minted("ceiling", n=49))
case("full load to the ceiling", "5.7", clock(T), new(max_lead=2, ceiling=T + 3, **SMALL), burst((33, 48), None, kind="ceiling"),
     clock(T + 2), not_minted("ceiling"))  # fmt: skip
case("the last milliseconds of time", "5.7", clock(LAST - 1), new(max_lead=1000, **SMALL), burst((17, 32), None, kind="end"), clock(LAST), not_minted("end"))
case("past the end of time a ceiling does not count", "5.7", clock(LAST - 3), new(ceiling=LAST - 1, max_lead=1000, **SMALL), not_minted("end", n=100), not_minted("ceiling", n=40), mint(LAST - 3))
case("a run past the end of time", "5.7", clock(LAST), new(max_lead=1000, **SMALL), not_minted("end", n=100), mint(LAST), not_minted("end", n=17))
case("IDs of one millisecond follow each other", "5.5", clock(T), new(), mint(T), *({"call": f"mint {n} {TAG}", "next": True} for n in (1, 2, 3, 1, 100, 1, 1)))
case("IDs of all sessions are in one order", "5.5", clock(T), new(), mint(T), *(mint((T, T + 1), tag=tag) for tag in (0, 1, 2**26 - 1, 5, TAG) * 4))
case("a run that carries over continues in the next millisecond", "5.4", clock(T), new(max_lead=3, **SMALL), mint(T, (T + 1, T + 2), n=30), clock(T + 1), {"call": f"mint 1 {TAG}", "next": True},
     clock(T + 40), mint(T + 40))  # fmt: skip

# ---------------------------------------------------------------------------------------------------------------------
# 6. Observed IDs and floors.

case("an observed ID of the past changes nothing", "6.1", clock(T), new(), mint(T), observe(T - 1), observe(0), mint((T, T + 1)), clock(T + 1), mint(T + 1))
case("an observed ID of the past needs no clock", "6.1", clock(T), new(), mint(T), clock(None), observe(T - 1), observe(T - 1, 0), clock(T - 2 * HOUR), observe(T - 1))
case("an observed ID that new IDs follow already is no error, whatever the limit", "6.1", clock(T), new(), mint(T), observe(T + 3000), observe(T + 2900, 0),
     observe(T + 3000, 1), mint((T + 3001, T + 3017)))  # fmt: skip
case("an ID of the present millisecond moves to the next", "6.4", clock(T), new(), mint(T), observe(T), mint((T + 1, T + 2)))
for ahead in (1, 10, 100, 4999, 5000):
    case(f"after an ID {ahead} ms ahead", "6.4 6.5", clock(T), new(), mint(T), observe(T + ahead), mint((T + ahead + 1, T + ahead + 1 + min(16, (ahead + 1) // 4))),
         mint((T + ahead + 1, T + ahead + 18)), clock(T + 2 * ahead + 40), mint(T + 2 * ahead + 40))  # fmt: skip
case("an observed ID is past max_skew", "6.3", clock(T), new(max_skew=50), mint(T), observe(T + 51, **skew(1)), observe(LAST, **skew(LAST - T - 50)), mint((T, T + 1)), observe(T + 50))
case("the limit of one observation", "6.3", clock(T), new(), mint(T), observe(T + 51, 50, **skew(1)), mint((T, T + 1)), observe(T + 50, 50), mint((T + 51, T + 64)))
case("a limit past max_skew is max_skew", "6.3", clock(T), new(max_skew=50), mint(T), observe(T + 51, 1000, **skew(1)), observe(T + 50, 1000), mint((T + 51, T + 64)))
case("skew is measured from the greatest reading", "6.3", clock(T), new(max_skew=50), mint(T), clock(T - 40), mint((T, T + 1)), observe(T + 51, **skew(41)), observe(T + 50),
     mint((T + 51, T + 64)))  # fmt: skip
case("skew is measured from the present reading", "6.3", clock(T), new(max_skew=50), mint(T), clock(T + 30), observe(T + 81, **skew(1)), observe(T + 80), mint((T + 81, T + 94)))
case("skew is not measured from observed IDs", "6.3", clock(T), new(max_skew=50), mint(T), observe(T + 50), mint((T + 51, T + 64)), observe(T + 90, **skew(40)), mint((T + 51, T + 65)))
case("a refused ID changes nothing", "6.3", clock(T), new(max_lead=2, max_skew=50, **SMALL), mint(T), observe(T + 60, **skew(10)), burst((30, 47), 1, last=(T, T + 2)), clock(T + 1), burst((15, 17), 1))
case("an observed ID while the clock is too far back", "6.3", clock(T), new(max_rollback=1000), mint(T), clock(T - 5000), observe(T + 10), not_minted("rollback", 4000), clock(T), mint((T + 11, T + 15)))
case("an observed ID while the clock is too far back, and then less far", "6.3", clock(T), new(max_rollback=1000), mint(T), clock(T - 5000), observe(T + 10), clock(T - 500), mint((T + 11, T + 14)),
     clock(T - 300), mint((T + 107, T + 114)))  # fmt: skip
case("an observed ID while the clock is too far back grants no lead", "6.3", clock(T), new(max_lead=3, max_rollback=1000, **SMALL), mint(T), clock(T - 5000), observe(T + 2), clock(T),
     burst((49, 64), (1, 16), last=T + 6))  # fmt: skip
case("half speed begins with the observation, where its reading is behind", "6.5", clock(T), new(), mint(T), clock(T - 600), observe(T + 1000), clock(T - 200), mint((T + 1001, T + 1218)),
     clock(T), mint((T + 1101, T + 1318)))  # fmt: skip
case("an ID that is observed a little past max_rollback begins half speed", "6.5", clock(T), new(max_rollback=1000), mint(T), observe(T + 5000), clock(T + 800), mint((T + 5401, T + 5418)))
case("an ID at the first use", "6.4", clock(T), new(), observe(T + 100), mint((T + 101, T + 117)))
case("an ID past the limit at the first use", "6.3", clock(T), new(), observe(T + 5001, **skew(1)), mint(T))
case("half speed begins with the observation, and not with the next ID", "6.5", clock(T), new(), mint(T), observe(T + 1000), clock(T + 800), mint((T + 1400, T + 1418)),
     clock(T + 1400), mint((T + 1700, T + 1718)), clock(T + 2100), mint(T + 2100))  # fmt: skip
case("an observed ID grants no lead", "6.6 4.1", clock(T), new(max_lead=100, **SMALL), mint(T), observe(T + 500), burst((65, 80), (1, 16), last=(T + 501, T + 521)))
case("a floor far ahead", "6.7", clock(T), new(), mint(T), floor(T + 60000), mint((T + 60000, T + 60016)), clock(T + 20000), mint((T + 70000, T + 70017)),
     clock(T + 130000), mint(T + 130000))  # fmt: skip
case("a floor of the past", "6.7", clock(T), new(), mint(T), floor(T - 5), floor(0), mint((T, T + 1)))
case("a floor of the present", "6.7", clock(T), new(), mint(T), floor(T), mint((T, T + 1)), floor(T + 1), mint((T + 1, T + 2)))
case("a floor from the start", "6.7", clock(T), new(floor=T + 2000), mint((T + 2000, T + 2016)), clock(T + 1000), mint((T + 2500, T + 2518)))
case("a floor from the start that the clock has passed", "6.7", clock(T), new(floor=T - 2000), mint(T))
case("a floor without a clock", "6.8", clock(T), new(), mint(T), clock(None), floor(T + 1000), clock(T + 400), mint((T + 1000, T + 1016)), clock(T + 600), mint((T + 1100, T + 1118)))
case("a floor without a clock at the start", "6.8", clock(None), new(floor=T + 1000), not_minted("clock"), clock(T), mint((T + 1000, T + 1016)), clock(T + 600), mint((T + 1292, T + 1318)))
case("a floor grants no lead", "6.6", clock(T), new(max_lead=100, **SMALL), mint(T), floor(T + 500), burst((65, 80), (1, 16), last=(T + 500, T + 520)))
case("a floor past max_rollback holds when the clock comes near", "6.7 2.7", clock(T), new(max_rollback=1000), mint(T), floor(T + 5000), not_minted("rollback", 3999),
     clock(T + 3999), mint((T + 5000, T + 5016)))  # fmt: skip
case("a floor past max_rollback has no reading to begin half speed from", "6.8", clock(T), new(max_rollback=1000), mint(T), floor(T + 4000), clock(T + 3500), mint((T + 4000, T + 4016)),
     clock(T + 3600), mint((T + 4050, T + 4067)))  # fmt: skip
case("a floor past the end of time", "1.5 6.7", clock(T), new(), floor(2**53 - 1), clock(LAST), not_minted("end"))
case("a floor at the end of time", "6.7", clock(LAST - 3), new(), floor(LAST), mint((LAST, LAST)), floor(LAST + 1), not_minted("end"))
case("a floor and then a lower one", "6.7", clock(T), new(), mint(T), floor(T + 500), floor(T + 100), mint((T + 500, T + 516)))

# ---------------------------------------------------------------------------------------------------------------------
# 7. Ceiling and close.

case("no ID has the time of the ceiling", "7.1", clock(T), new(ceiling=T + 3, max_lead=100, **SMALL), burst((33, 48), None, kind="ceiling", last=(T, T + 2)), clock(T + 2), not_minted("ceiling"),
     clock(T + 3), not_minted("ceiling"), clock(T + 100), not_minted("ceiling"))  # fmt: skip
case("a ceiling is raised", "7.1 7.2", clock(T), new(ceiling=T), not_minted("ceiling"), ceiling(T + 1), mint(T), clock(T + 1), not_minted("ceiling"), ceiling(T + 2), mint(T + 1))
case("a ceiling is not lowered", "7.2", clock(T), new(ceiling=T + 10), ceiling(T), mint(T), ceiling(0), clock(T + 5), mint(T + 5), clock(T + 10), not_minted("ceiling"))
case("without a ceiling none can be set", "7.2", clock(T), new(), mint(T), ceiling(T), ceiling(0), mint((T, T + 1)), clock(T + 50), mint(T + 50))
case("a ceiling past the end of time", "7.2", clock(LAST), new(ceiling=T), ceiling(2**53 - 1), mint(LAST))
case("a run does not pass the ceiling", "7.1", clock(T), new(ceiling=T + 2, max_lead=100, **SMALL), not_minted("ceiling", n=33), mint(T, (T, T + 1), n=17))
case("a floor at the ceiling", "7.1", clock(T), new(ceiling=T + 50), mint(T), floor(T + 50), not_minted("ceiling"), ceiling(T + 100), mint((T + 50, T + 66)))
case("a ceiling while the clock is behind", "7.1", clock(T), new(ceiling=T + 2, max_lead=50, **SMALL), mint(T), clock(T - 100), burst((16, 32), None, kind="ceiling"), clock(T - 50), not_minted("ceiling"))
case("a closed generator mints nothing", "7.3", clock(T), new(), mint(T), close(T + 1), not_minted("closed"), clock(T + 50), not_minted("closed"))
case("close returns the millisecond after the last ID", "7.4", clock(T), new(max_lead=5, **SMALL), mint(T, (T + 2, T + 3), n=34), close((T + 3, T + 4)), close((T + 3, T + 4)))
case("close of a generator that minted nothing", "7.4", clock(T), new(floor=T + 5), close(), close(), not_minted("closed"))
case("close after an observed ID returns what was minted", "7.4", clock(T), new(), mint(T), observe(T + 500), close(T + 1))
case("the next generator starts at what close returned", "7.4 6.7", clock(T), new(max_lead=10, lane="0/12"), burst(11, 1), close(T + 11), new(max_lead=10, lane="0/12", floor=T + 11), mint((T + 11, T + 13)))
case("events after close", "7.5", clock(T), new(max_skew=50), mint(T), close(T + 1), observe(T + 10), observe(T + 99, **skew(49)), floor(T + 99), ceiling(T + 999), not_minted("closed"), close(T + 1))
case("a closed generator follows what it observes", "7.5", clock(T), new(max_skew=50), mint(T), close(T + 1), observe(T + 10), clock(None), observe(T + 10), observe(T + 99, refused="clock"))

# ---------------------------------------------------------------------------------------------------------------------
# 8. Fork.

case("a forked child starts after its parent", "8.1", clock(T), new(max_lead=5), mint(T, (T + 2, T + 3), n=9000), {"call": "fork"}, mint((T + 3, T + 5)), clock(T + 40), mint(T + 40))
case("a forked child starts after the time that its parent reached", "8.1", clock(T), new(), mint(T), observe(T + 100), {"call": "fork"}, mint((T + 102, T + 134)))
case("a forked child starts past a time without an ID", "8.1", clock(T), new(), mint(T), observe(T), {"call": "fork"}, mint(T + 2))
case("a forked child starts past the millisecond of the last ID, whose stamps it does not know", "8.1", clock(T), new(), mint(T), {"call": "fork"}, mint(T + 1))
case("a forked child starts past a burst, where a floor would", "8.1", clock(T), new(), mint(T, (T + 24, T + 25), n=100000), {"call": "fork"}, mint((T + 25, T + 32)))
case("a forked child keeps the greatest reading", "8.1", clock(T), new(max_rollback=70), mint(T), {"call": "fork"}, clock(T - 77), not_minted("rollback", 7, follow=T - 77))
case("a forked child keeps the ceiling", "8.1", clock(T), new(ceiling=T + 3), mint(T), {"call": "fork"}, mint(T + 1), clock(T + 3), not_minted("ceiling"))
case("a forked child keeps the lead that a step back granted", "8.1", clock(T), new(max_lead=3), mint(T), clock(T - 50), mint(n=3 * 4096), {"call": "fork"}, clock(T - 20), burst((16, 31), (1, 4), n=4096, last=T + 33))
case("a forked child of a closed generator without a lane", "8.1", clock(T), new(), mint(T), close(T + 1), {"call": "fork"}, not_minted("closed"), close(T + 1))
case("close in a forked child returns what its parent minted", "7.4", clock(T), new(max_lead=5), mint(T, (T + 2, T + 3), n=9000), {"call": "fork"}, close((T + 3, T + 4)), not_minted("closed"))
case("a forked child with a lane observes, has floors and is closed", "8.2", clock(T), new(lane="0/0"), mint(T), {"call": "fork"}, observe(T + 9), observe(T + 9000, refused="skew"), floor(T + 20), ceiling(T + 99), close(T + 1), not_minted("closed"))
case("a forked child of a generator with a lane", "8.2 5.2", clock(T), new(lane="0/0"), mint(T), {"call": "fork"}, not_minted("process"), mint(n=0), clock(None), not_minted("process"))
case("a forked child of a closed generator", "8.2 5.2", clock(T), new(lane="0/0"), mint(T), close(T + 1), {"call": "fork"}, not_minted("closed"))
case("a run too long in a forked child", "8.2 5.2", clock(T), new(lane="0/8", max_lead=3), mint(T), {"call": "fork"}, not_minted("run", n=50), not_minted("process", n=49))

# ---------------------------------------------------------------------------------------------------------------------
# 9. AFTER. The last ID has another session tag.

DAY = 86400000
after("a room without messages", "9.1", None, T, 7, 1023, (T, 7))
after("a room without messages, the greatest spin", "9.1", None, T, 4095, 0, (T, 4095))
after("a room without messages, in 1970", "9.1", None, 0, 0, 0, (0, 0))
after("a last ID of the past", "9.2", (T - 1, 0), T, 5, 1000, (T, 5))
after("a last ID of the past, whose step passes into the millisecond", "9.2", (T - 1, 4095), T, 5, 1000, (T, 1000))
after("equal stamps from both", "9.2", (T, 4), T, 5, 0, (T, 5))
after("a last ID of the same millisecond, below the random spin", "9.2", (T, 10), T, 500, 20, (T, 500))
after("a last ID of the same millisecond, above the random spin", "9.2", (T, 1000), T, 500, 20, (T, 1021))
after("a last ID of the same millisecond, the step passes into the next one", "9.2", (T, 4000), T, 0, 200, (T + 1, 105))
after("a last ID of a later millisecond, the least step", "9.2", (T + 40, 100), T, 4095, 0, (T + 40, 101))
after("a last ID of a later millisecond, the greatest step", "9.2", (T + 40, 100), T, 0, 1023, (T + 40, 1124))
after("a last ID at the end of a later millisecond", "9.2", (T + 40, 4095), T, 4095, 0, (T + 41, 0))
after("the tag of the last ID does not count", "9.3", (T + 40, 100), T, 0, 0, (T + 40, 101), tag=0)
after("the greatest tag", "9.3", (T + 40, 4095), T, 0, 0, (T + 41, 0), tag=2**26 - 1)
after("a last ID a day ahead", "9.4 9.2", (T + DAY, 4095), T, 0, 0, (T + DAY + 1, 0))
after("a last ID more than a day ahead", "9.4", (T + DAY + 1, 0), T, 0, 0, "skew")
after("a last ID at an own limit", "9.4", (T + 5, 0), T, 0, 9, (T + 5, 10), limit=5)
after("a last ID past an own limit", "9.4", (T + 6, 0), T, 0, 9, "skew", limit=5)
after("a limit of 0", "9.4", (T, 3), T, 0, 0, (T, 4), limit=0)
after("past a limit of 0", "9.4", (T + 1, 0), T, 0, 0, "skew", limit=0)
after("a limit beyond all time", "9.4", (LAST, 0), 0, 0, 0, (LAST, 1), limit=2**53 - 1)
after("a time a month behind the last ID", "9.4", (T, 0), T - 30 * DAY, 0, 0, "skew")
after("the last stamp of all", "9.5", (LAST, 4094), LAST, 0, 0, (LAST, 4095))
after("the last stamp of all by the time", "9.5", None, LAST, 4095, 0, (LAST, 4095))
after("past the last stamp of all", "9.5", (LAST, 4095), LAST, 0, 0, "end")
after("past the last stamp of all by the step", "9.5", (LAST, 4000), LAST, 0, 1000, "end")
after("a time past 2109", "9.5", None, LAST + 1, 0, 0, "end")
after("a time in microseconds", "9.5", (T, 0), 1000 * T, 0, 0, "end")
after("past the limit and near the end of time", "9.4", (LAST, 4095), T, 0, 0, "skew")

# ---------------------------------------------------------------------------------------------------------------------

STATISTICS = [
    # The counters at which fresh milliseconds start, of 32: chi-squared with 31 degrees of freedom, six standard deviations.
    {"name": "all starts are equally frequent", "rules": ["5.8"], "statistic": "starts", "new": ["new seed=7 lane=0/7"], "from": T, "milliseconds": 16000, "chi_squared": [4, 79]},
    {"name": "the starts of another seed too", "rules": ["5.8"], "statistic": "starts", "new": ["new seed=8 lane=3/7"], "from": 1, "milliseconds": 16000, "chi_squared": [4, 79]},
    # 16,000 / 32 = 500 are expected, with a standard deviation of 22.
    {"name": "two seeds start alike once in w", "rules": ["5.9"], "statistic": "equal_starts", "new": ["new seed=7 lane=0/7", "new seed=8 lane=0/7"], "from": T, "milliseconds": 16000, "equal": [367, 633]},
    {"name": "two distant seeds start alike once in w", "rules": ["5.9"], "statistic": "equal_starts", "new": ["new seed=1 lane=0/7", "new seed=4503599627370497 lane=0/7"], "from": T, "milliseconds": 16000, "equal": [367, 633]},
    {"name": "a seed starts alike again", "rules": ["5.8"], "statistic": "equal_starts", "new": ["new seed=7 lane=0/7", "new seed=7 lane=0/7"], "from": T, "milliseconds": 1000, "equal": [1000, 1000]},
    {"name": "without a seed each generator draws its own", "rules": ["5.9"], "statistic": "equal_starts", "new": ["new lane=0/7", "new lane=0/7"], "from": T, "milliseconds": 16000, "equal": [367, 633]},
    # 4,000 / 4,096 = 1 is expected.
    # 4 starts of 4,096 tell two generators apart. With seeds of 22 bits, 4 of the 6,000 would be equal to another one.
    {"name": "generators without a seed have different ones, in each process", "rules": ["5.9"], "statistic": "drawn_seeds", "from": T, "milliseconds": 4, "generators": 3000, "processes": 2},
    {"name": "a forked child draws a seed", "rules": ["8.1"], "statistic": "equal_starts", "new": ["new seed=7", "new seed=7"], "before": [[], ["mint 1 0", "fork"]], "from": T, "milliseconds": 4000, "equal": [0, 12]},
    # How many of the 17 milliseconds are found with 400 seeds, and how often the most frequent one.
    {"name": "hosts that observe one ID start apart", "rules": ["6.4"], "statistic": "spread", "event": f"observe {text(T + 999)}", "from": T, "least": T + 1000, "values": 17, "seeds": 400, "most_frequent": [24, 60]},
    {"name": "hosts that have one floor start apart", "rules": ["6.4"], "statistic": "spread", "event": f"floor {T + 1000}", "from": T, "least": T + 1000, "values": 17, "seeds": 400, "most_frequent": [24, 60]},
    {"name": "a jump of 8 ms spreads by 2", "rules": ["6.4"], "statistic": "spread", "event": f"floor {T + 8}", "from": T, "least": T + 8, "values": 3, "seeds": 300, "most_frequent": [100, 160]},
    # The time reached is at T + 10.5: behind a step of 20 ms, and then one millisecond past it.
    {"name": "a jump from half a millisecond counts from its millisecond", "rules": ["6.4"], "statistic": "spread", "before": [[f"clock {T - 20}", "mint 1 0", f"clock {T - 10}", "mint 1 0", f"clock {T}", "mint 1 0", f"clock {T + 1}", "mint 1 0"]], "event": f"observe {text(T + 13)}", "from": T, "least": T + 14, "values": 2, "seeds": 300, "most_frequent": [150, 210]},
    {"name": "a jump of 3 ms does not spread", "rules": ["6.4"], "statistic": "spread", "event": f"floor {T + 3}", "from": T, "least": T + 3, "values": 1, "seeds": 50, "most_frequent": [50, 50]},
]  # fmt: skip


def main():
    names = [row["name"] for row in cases + STATISTICS + afters]
    assert len(names) == len(set(names)), "two cases have one name"
    lists = {"cases": cases, "statistics": STATISTICS, "after": afters}
    members = ['"$schema": "schema/generator.json"', '"version": 1']
    members += (f'"{name}": [\n' + ",\n".join(json.dumps(row, separators=(", ", ": ")) for row in rows) + "\n]" for name, rows in lists.items())
    sys.stdout.write("{\n" + ",\n".join(members) + "\n}\n")


if __name__ == "__main__":
    main()
