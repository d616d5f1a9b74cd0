#!/usr/bin/env python3
"""Prints spec/lease.json: what a holder must do, by spec/PROTOCOL.md. It does not use the library. `ci/lease.sh --write` writes it."""

import json

T = 1_795_204_812_345
H = 1_000
SPACE, OTHER_SPACE = "0f8fad5b-d9cb-469f-a165-70867728950e", "7c9e6679-7425-40de-944b-e07fc1f90ae7"
HOUR = 3_600_000
# How long a holder may take to look at a store in which it can have a lane, and how late it may see that a lane is free.
SOON, WATCH = 200, 3 * H
# How far a generator may spread a floor (GENERATOR 6.4).
SPREAD = 16
cases = []


def case(name, rules, *steps, bits=0, horizon=H):
    new = f"bits={bits} holder=a horizon={horizon} skew=300"
    cases.append({"name": name, "rules": rules.split(), "from": T, "new": new, "steps": flat(steps)})


def flat(steps):
    return [it for step in steps for it in (flat(step) if isinstance(step, (list, tuple)) else [step])]


def call(text, **more):
    return {"call": text, **more}


def meta(version=1, layout="imid-80", bits=0, era=1, floor=0, space=SPACE, key="lanes/meta"):
    return call(f"set {key} imid-lease/1 meta version={version} token=00000000000000aa layout={layout} bits={bits} era={era} floor={floor} space={space}")


def lane(state, ceiling, lane=0, version=5, token=7, holder="other", horizon=H, era=1):
    return call(f"set lanes/{era}/{lane:05} imid-lease/1 lane version={version} token={token:016x} holder={holder} horizon={horizon} ceiling={ceiling} {state}")


def remove(key):
    return call(f"set {key}")


def write(do, ceiling, within=(0, SOON), answer="written", lanes=(0,)):
    return call(do, ceiling=list(ceiling), within=list(within), answer=answer, lanes=list(lanes))


def take(*ceiling, **more):
    """By the clock, unless the case says otherwise."""
    return write("take", ceiling or (T + H, T + H + SOON), **more)


def mint(least, greatest=None):
    return call("mint", ms=[least, least if greatest is None else greatest])


def idle(ms):
    return call(f"idle {ms}")


REFUSED = call("mint", refused=True)
CLOSE = call("close")
FREE_LANE = [meta(), lane("free", T - 50)]
STOPS = call(f"stop {WATCH}")


# The first grant of a lane that is far ahead can be shorter than the spread of its floor.
ROOM = [write("raise", (T + H, T + H + 2 * WATCH), within=(100, H // 4 + 100)), idle(1)]


def held(horizon=H):
    """It has taken a lane, and has minted."""
    return [meta(), lane("free", T - 50), take(T + horizon, T + horizon + SOON), idle(1), mint(T, T + SOON)]


# A first write, and where it starts.
case("an empty register", "20 27", STOPS)
for horizon in (H, 4 * H, 10 * H):
    case(f"a new space, horizon {horizon}", "1 3 10", meta(), take(T + horizon, T + horizon + SOON), idle(1), mint(T, T + SOON), horizon=horizon)
case("the description cannot be read after the lane was taken", "9", meta(), take(T + 10 * H, T + 10 * H + SOON), call("silence 300"), REFUSED, idle(H), mint(T, T + 2 * H), horizon=10 * H)
case("a lane without a record", "5 8", meta(), take(), idle(1), mint(T, T + SOON))
for ahead in (1, 200, 400):
    case(f"the floor of the space is {ahead} ms ahead", "8 10", meta(floor=T + ahead), take(T + H, T + H + SOON), idle(1), mint(T + ahead, T + ahead + SOON))
    case(f"the floor of the space is {ahead} ms ahead, and the record is below it", "8", meta(floor=T + ahead), lane("free", T - HOUR), take(T + H, T + H + SOON), idle(1), mint(T + ahead, T + ahead + SOON))
    case(f"the ceiling of a free lane is {ahead} ms ahead", "8 10", meta(), lane("free", T + ahead), take(T + H, T + H + SOON), idle(1), mint(T + ahead, T + ahead + SOON))
case("the floor of a space that was created is past the horizon of the clock", "8 10", meta(floor=T + H + 200), lane("free", T + H + 200, version=1, holder="create", horizon=0), take(T + H + 200 + H // 4, T + H + 200 + H // 4 + SOON), idle(1), mint(T + H + 200, T + H + 400))
case("a free lane whose ceiling is past the horizon of the clock", "8 10", meta(), lane("free", T + H + 200), take(T + H + 201, T + H + 200 + WATCH, within=(1, WATCH)), ROOM, mint(T + H + 200, T + 2 * H))

for what, changed in {"a floor": meta(version=2, floor=T + 400), "another era": meta(version=2, era=2, floor=T + 400)}.items():
    again = take(T + H, T + H + WATCH, within=(0, WATCH)), idle(1), mint(T + 400, T + 400 + WATCH)
    case(f"the description has {what} before the first value", "9", meta(), take(), changed, write("release", (0, 0)), *again)
case("a description that was only read goes back", "19", meta(version=3), lane("held", T + 500), idle(300), meta(version=2), take(T + H, T + H + WATCH, within=(0, WATCH)), idle(1), mint(T + 500, T + 500 + WATCH))

# Whose lane.
for horizon in (500, H, 2 * H):
    case(f"a lane that is held with a horizon of {horizon}", "5", meta(), lane("held", T + 500, horizon=horizon), idle(horizon - 20), take(T + H, T + H + horizon + WATCH, within=(0, WATCH)), idle(1), mint(T + 500, T + 500 + horizon + WATCH))
case("time in which the register does not answer is not watched", "5", meta(), lane("held", T + 500), idle(300), call(f"silence {2 * H}"), idle(H // 2), take(T + 3 * H, T + 6 * H, within=(0, WATCH)), idle(1), mint(T + 500, T + 7 * H))
case("a lane whose record changes while it is watched", "5", meta(), lane("held", T + 500), idle(H - 100), lane("held", T + 900, version=6, token=8), idle(H - 50), take(T + H, T + 3 * H + WATCH, within=(0, WATCH)), idle(1), mint(T + 900, T + 3 * H + WATCH))
case("only the token of a record changes", "5 16", meta(), lane("held", T + 500), idle(H - 100), lane("held", T + 500, token=8), idle(H - 50), take(T + H, T + 3 * H + WATCH, within=(0, WATCH)))
case("its own name holds the lane", "5", meta(), lane("held", T + 300, holder="a"), take(T + H, T + H + SOON), idle(1), mint(T + 300, T + 300 + SOON))
case("a closed lane", "6", meta(), lane("closed", T - HOUR), idle(5 * H), REFUSED)
case("a closed lane of its own name", "6", meta(), lane("closed", T - HOUR, holder="a"), idle(5 * H), REFUSED)
case("a closed lane beside a free one", "6", meta(bits=1), lane("closed", T - HOUR), lane("free", T - 50, lane=1), take(lanes=[1]), idle(1), mint(T, T + SOON), bits=1)
case("a held lane beside a free one", "5", meta(bits=1), lane("held", T - 50, horizon=10 * H), lane("free", T - 50, lane=1), take(lanes=[1]), idle(1), mint(T, T + SOON), bits=1)
case("a lane that is far ahead beside one that is near", "11", meta(bits=1), lane("free", T + HOUR), lane("free", T - 50, lane=1), take(lanes=[1]), idle(1), mint(T, T + SOON), bits=1)
case("a lane that is far ahead", "11", meta(), lane("free", T + HOUR), idle(3 * H), REFUSED)
case("a lane of another era", "21 30", meta(era=2, version=2), lane("free", T + HOUR), take(), idle(1), mint(T, T + SOON))
case("a record of another version of the format", "26", meta(), call("set lanes/1/00000 imid-lease/2 lane version=1"), idle(5 * H), REFUSED)
case("a record that is cut off", "26", meta(), call("set lanes/1/00000 imid-lease/1 lane version=5 token=0000000000000007 holder=other horizon=1000 ceiling=17952"), idle(5 * H), REFUSED)

# When nothing is minted.
case("lanes without a description", "20", lane("held", T + 500), STOPS)
case("a free lane without a description", "20", lane("free", T - 50), STOPS)
for what, other in {"more lanes": {"bits": 1}, "another layout": {"layout": "other-64"}}.items():
    case(f"a space of {what}", "21", meta(**other), STOPS)
case("a description of another version of the format", "21", call("set lanes/meta imid-lease/2 meta version=1"), STOPS)
case("nothing is minted before a lane is taken", "1", meta(), REFUSED, take())
for before in ("free", "held"):
    text = lane(before, T - 50, holder="a")
    case(f"another process is faster, the lane was {before}", "1 7", meta(), text, take(answer="conflict"), lane("held", T + 700, version=6, token=8, horizon=2 * H), REFUSED, idle(H), REFUSED)
case("the lane that it wants is taken while its attempt is under way", "1 7", *FREE_LANE, take(answer="conflict"), lane("held", T + 700, version=6, token=8), idle(H - 50), take(T + H, T + 2 * H + WATCH, within=(0, WATCH)), idle(1), mint(T + 700, T + 2 * H + WATCH))
case("an attempt to take has no answer and was not written", "1 15", *FREE_LANE, take(answer="lost"), REFUSED, take(T + H, T + H + WATCH, within=(0, WATCH)), idle(1), mint(T, T + WATCH))
case("an attempt to take has no answer and was written", "1 5 16", *FREE_LANE, take(answer="silent"), REFUSED, take(T + H + 1, T + H + WATCH, within=(0, 2 * WATCH)), ROOM, mint(T + H, T + H + WATCH))
case("the register does not answer at first", "15", *FREE_LANE, call(f"silence {H}"), REFUSED, take(T + 2 * H, T + 2 * H + WATCH, within=(0, WATCH)), idle(1), mint(T + H, T + H + WATCH))

# Renewals.
RAISE = (100, H * 3 // 4)
for horizon in (H, 4 * H, 10 * H):
    quarter = (100, horizon // 4 + 100)
    steps = [write("raise", (T + horizon + at * 100, T + horizon + (at + 1) * quarter[1] + SOON), within=(0, quarter[1])) for at in range(4)]
    case(f"four renewals, horizon {horizon}", "10 13", held(horizon), *steps, horizon=horizon)
case("nothing is minted at the ceiling while renewals have no answer", "1 2", held(), write("raise", (T + H, T + 2 * H), within=RAISE, answer="lost"), call("silence 100"), call("pass 1000"), REFUSED)
case("values below the ceiling are minted while the register is silent", "2", held(), write("raise", (T + H, T + 2 * H), within=RAISE, answer="lost"), call("silence 100"), mint(T + 200, T + H - 1))
case("a renewal without an answer that was written grants nothing", "1 15 16", held(), write("raise", (T + H + 100, T + 2 * H), within=RAISE, answer="silent"), call("pass 1000"), REFUSED, write("raise", (T + H + 101, T + 3 * H), within=(0, WATCH)), idle(1), mint(T + H, T + 3 * H))
case("a renewal without an answer that was not written", "1 15 16", held(), write("raise", (T + H + 100, T + 2 * H), within=RAISE, answer="lost"), write("raise", (T + H + 100, T + 3 * H), within=(0, WATCH)), idle(1), mint(T, T + H))
case("two renewals without an answer, of which the first was written", "15 16", held(), write("raise", (T + H + 100, T + 2 * H), within=RAISE, answer="silent"), write("raise", (T + H + 101, T + 3 * H), within=(0, WATCH), answer="lost"), write("raise", (T + H + 101, T + 4 * H), within=(0, WATCH)))
case("a conflict with a record that has not changed", "15 16", held(), write("raise", (T + H + 100, T + 2 * H), within=RAISE, answer="conflict"), write("raise", (T + H + 100, T + 3 * H), within=(0, WATCH)))
LOST = [held(), write("raise", (T + H + 100, T + 2 * H), within=RAISE, answer="conflict"), lane("held", T + 5 * H, version=9, token=9, horizon=4 * H)]
case("another process has the lane: values below the ceiling are minted", "17", LOST, idle(100), mint(T + 200, T + H - 1))
case("another process has the lane: nothing is written to it, and nothing minted past the ceiling", "17", LOST, idle(3 * H), REFUSED)
case("another process has the lane, with the same version", "16 17 19", held(), write("raise", (T + H + 100, T + 2 * H), within=RAISE, answer="conflict"), lane("held", T + 5 * H, version=6, token=9), STOPS)
case("a lost lane is followed by another one, above the values of the first", "8 12 17", meta(bits=1), lane("free", T - 50), lane("held", T - 50, lane=1, horizon=20 * H), take(T + H, T + H + SOON), idle(1), mint(T, T + SOON), write("raise", (T + H + 100, T + 2 * H), within=RAISE, answer="conflict"), lane("held", T + 5 * H, version=9, token=9, horizon=20 * H), lane("free", T - 50, lane=1, version=6, token=10), take(T + H, T + 3 * H, within=(0, WATCH), lanes=[1]), idle(1), mint(T + 1, T + WATCH), bits=1)
for back in (200, 600, HOUR):
    case(f"the clock steps back by {back} ms", "10 13 14", held(), call(f"clock -{back}"), write("raise", (T + H + 1, T + 2 * H), within=(0, H)), write("raise", (T + H + 2, T + 3 * H), within=(0, H)), mint(T, T + H))

# The end.
case("a release in order", "22 23", held(), CLOSE, write("release", (T + 1, T + SOON + 1)), REFUSED, idle(3 * H), REFUSED)
case("a release without a value", "23", meta(), lane("free", T + 300), take(T + H, T + H + SOON), idle(1), CLOSE, write("release", (T + 300, T + 300)), REFUSED)
case("a release of a value past the clock", "22 23", meta(), lane("free", T + 300), take(T + H, T + H + SOON), idle(1), mint(T + 300, T + 300 + SPREAD), CLOSE, write("release", (T + 301, T + 301 + SPREAD)), REFUSED)
case("a release without an answer is not repeated, and nothing is minted", "25", held(), CLOSE, write("release", (T + 1, T + SOON + 1), answer="lost"), REFUSED, idle(3 * H), REFUSED)
case("a release without an answer that was written", "25", held(), CLOSE, write("release", (T + 1, T + SOON + 1), answer="silent"), REFUSED, idle(3 * H), REFUSED)
case("a release meets another holder's record", "24 25", held(), CLOSE, write("release", (T + 1, T + SOON + 1), answer="conflict"), lane("held", T + 5 * H, version=9, token=9), idle(3 * H), REFUSED)
case("a release meets its own record, and is repeated", "24 25", held(), CLOSE, write("release", (T + 1, T + SOON + 1), answer="conflict"), write("release", (T + 1, T + SOON + 1), within=(0, WATCH)), REFUSED)
case("a close before a lane is taken", "22", meta(), lane("held", T + 500, horizon=10 * H), idle(100), CLOSE, idle(H), REFUSED)

# A register that goes back.
BACK = write("raise", (T + H + 100, T + 2 * H), within=RAISE, answer="conflict")
case("the record of its lane is gone", "19", held(), BACK, remove("lanes/1/00000"), STOPS)
case("the record of its lane has a lower version", "19", held(), BACK, lane("held", T + 2 * H, version=2, token=9), STOPS)
case("the record of its lane has a lower ceiling", "19", held(), BACK, lane("held", T, version=9, token=9), STOPS)
RESTORED = [meta(version=3, era=1), lane("free", T - 50), take(T + H, T + H + SOON), idle(1), mint(T, T + SOON), BACK, lane("held", T + 2 * H, version=9, token=9)]
for what, now in {"a lower version": meta(version=2), "another space": meta(version=3, space=OTHER_SPACE), "no description": remove("lanes/meta")}.items():
    case(f"a lane is lost, and there is {what}", "19", RESTORED, now, STOPS)
case("a lane is lost, and the space has an earlier era", "19", meta(version=3, era=2), lane("free", T - 50, era=2), take(T + H, T + H + SOON), idle(1), BACK, lane("held", T + 2 * H, version=9, token=9, era=2), meta(version=9, era=1), STOPS)
case("a lane is lost, and the space has more lanes", "21 30", RESTORED, meta(version=4, era=2, bits=1), STOPS)

print(json.dumps({"$schema": "schema/lease.json", "version": 1, "cases": cases}, indent=None, separators=(",", ":")).replace('{"name"', '\n{"name"').replace('}]}]}', '}]}\n]}'))
