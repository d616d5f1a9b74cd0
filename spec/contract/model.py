#!/usr/bin/env python3
"""The rules of spec/GENERATOR.md in short Python, and a driver for check.py. It shares no code with the library.

The number of the rule stands beside the line that follows it. mutants.py breaks these lines one by one.
"""

import copy
import hashlib
import os
import sys

LAST = 2**42 - 1
DIGITS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"


class Refused(Exception):
    def __str__(self):
        return " ".join(str(part) for part in self.args if part is not None)


class Clock:
    """Shows one reading after the other, and then the last one for good. None is no reading."""

    readings = [None]

    def show(self):
        return self.readings.pop(0) if len(self.readings) > 1 else self.readings[0]


class Generator:
    def __init__(self, clock, seed=None, max_lead=1000, max_rollback=3600000, max_skew=5000, lane=None, floor=0, ceiling=None):
        self.clock = clock
        self.max_lead = min(max_lead, LAST)  # 1.5
        self.max_rollback = min(max_rollback, LAST)  # 1.5
        self.max_skew = min(max_skew, LAST)  # 1.5
        self.has_lane = lane is not None
        self.lane, bits = lane or (0, 0)
        self.w = 4096 >> bits
        self.process = os.getpid()
        self.seed = int.from_bytes(os.urandom(8), "big") if seed is None else seed  # 5.9
        self.free = 0
        self.halves = 0  # of the time reached
        self.read = None
        self.top = None
        self.floor = 0
        self.step = 0
        self.moved = False  # by an event, since the clock was level with the time reached
        self.extra = 0
        self.ceiling = LAST + 1 if ceiling is None else min(ceiling, LAST + 1)  # 7.2
        self.closed = False
        self.raise_floor(floor)  # 6.7

    @property
    def reached(self):
        return self.halves // 2

    # 1. The clock.

    def one_reading(self):
        reading = self.clock.show()
        if reading is None or not 0 <= reading <= LAST:  # 2.1
            raise Refused("clock")
        return reading

    def reading(self, limit=LAST):
        far = min(1000, self.max_rollback, self.max_skew)  # 2.4
        far = min(far, limit)  # 6.2
        now = self.one_reading()
        if self.top is not None and now < self.top:
            now = self.one_reading()  # 2.6
        if self.top is None or now - self.top > far:  # 2.2, 2.3
            now = min(now, self.one_reading())  # 2.2
        return now

    def believe(self, now):
        known = max(-1 if self.top is None else self.top, self.floor - 1)  # 2.7
        if known - now > self.max_rollback:
            raise Refused("rollback", known - self.max_rollback - now)
        top = now if self.top is None else self.top
        if now < top:
            self.extra = max(self.extra, top - now)  # 4.3
            self.step = max(self.step, top - now)
        elif now > top:
            self.extra = min(self.extra, max(0, self.unissued() - now))  # 4.4
        if now >= self.reached:
            self.halves = 2 * now  # 3.1
            self.moved, self.step = False, 0
        elif self.read is not None and now > self.read:  # 3.3
            since = max(self.read, top) if now > top else self.read  # 3.4
            self.halves += now - since  # 3.2
            if not self.moved:
                self.halves = min(self.halves, 2 * (max(now, top) + self.step))  # 3.5
        self.read = now
        self.top = max(top, now)

    def settle(self, limit=LAST):
        """Believes a reading. Before a refusal the clock is read once more."""
        try:
            self.believe(self.reading(limit))
        except Refused:
            self.believe(self.reading(limit))  # 2.5

    # 3 and 4. Limits and taking.

    def unissued(self):
        return -(-self.free // self.w)

    def limit(self, now):
        return max(now + self.max_lead + self.extra, self.reached + min(4, self.max_lead))  # 4.1, 4.2

    def start(self, ms):
        digest = hashlib.blake2b(b"%d %d" % (self.seed, ms), digest_size=8).digest()
        return int.from_bytes(digest, "big") % self.w  # 5.8

    def run(self, n):
        first = max(self.free, self.reached * self.w + self.start(self.reached))  # 5.4
        last = (first + n - 1) // self.w
        if last >= self.ceiling:  # 7.1
            raise Refused("end" if last > LAST else "ceiling")  # 5.7
        return first, last

    def take(self, n):
        first, last = self.run(n)
        if last > self.limit(self.read):
            raise Refused("overload", last - self.limit(self.read))  # 5.6: a limit gains at most 1 in each millisecond
        self.free = first + n  # 5.5
        return first

    def mint(self, n):
        """Returns n pairs of millisecond and spin."""
        if n == 0:
            return []  # 5.1
        if n > self.max_lead * self.w + 1:  # 5.3
            raise Refused("run")
        if self.closed:
            raise Refused("closed")  # 7.3
        self.follow_fork()
        self.settle()
        try:
            first = self.take(n)
        except Refused:
            self.believe(self.reading())  # 2.5
            first = self.take(n)
        return [(stamp // self.w, self.lane * self.w + stamp % self.w) for stamp in range(first, first + n)]  # 1.1, 1.2

    # 5 to 7. Events.

    def move(self, ms):
        """Moves the time reached to a seeded place at or after this millisecond."""
        most = min(16, (ms - self.reached) // 4)  # 6.4
        digest = hashlib.blake2b(b"%d spread %d" % (self.seed, ms), digest_size=8).digest()
        self.halves = 2 * (ms + int.from_bytes(digest, "big") % (most + 1))  # 6.4
        self.moved = True

    def observe(self, ms, limit=LAST):
        if ms < self.reached:
            return  # 6.1
        limit = min(limit, self.max_skew)  # 6.3
        for last in (False, True):
            try:
                now = self.reading(limit)
            except Refused:
                if last:
                    raise
                continue
            if ms - max(self.top or 0, now) <= limit:  # 6.3
                break
            if last:
                raise Refused("skew", ms - limit - now)
        try:
            self.believe(now)
        except Refused:
            pass  # 6.3: a rollback is no error here
        if ms >= self.reached:
            self.move(ms + 1)

    def raise_floor(self, ms):
        ms = min(ms, LAST + 1)  # 1.5
        if ms <= self.reached:
            return
        self.floor = ms  # 2.7
        try:
            self.settle()
        except Refused:
            self.halves, self.read, self.moved = 2 * ms, None, True  # 6.8
            return
        if ms > self.reached:
            self.move(ms)

    def raise_ceiling(self, ms):
        self.ceiling = max(self.ceiling, min(ms, LAST + 1))  # 7.2

    def close(self):
        self.closed = True
        return self.unissued() if self.free else None  # 7.4

    def follow_fork(self):
        if self.process == os.getpid():
            return
        if self.has_lane:
            raise Refused("process")  # 8.2
        self.process = os.getpid()
        self.seed = int.from_bytes(os.urandom(8), "big")  # 8.1
        self.move(max(self.unissued(), self.reached + 1))  # 8.1
        self.read = None


def after(last, now, r, q, limit):
    """Returns the millisecond and the spin of an ID after those of `last`."""
    stamp = now * 4096 + r  # 9.1
    if last is not None:
        if last[0] - now > limit:  # 9.4
            raise Refused("skew", last[0] - limit - now)
        stamp = max(stamp, last[0] * 4096 + last[1] + 1 + q)  # 9.2
    if stamp >= 2**54:  # 9.5
        raise Refused("end")
    return divmod(stamp, 4096)


# ---------------------------------------------------------------------------------------------------------------------
# The driver.


def text_of(ms, spin, tag):
    value = ms * 2**38 + spin * 2**26 + tag
    digits = "".join(DIGITS[value >> 5 * (15 - i) & 31] for i in range(16))
    return "-".join(digits[i : i + 4] for i in (0, 4, 8, 12))


def stamp_of(text):
    value = 0
    for digit in text.replace("-", ""):
        value = value * 32 + DIGITS.index(digit)
    return value >> 38, value >> 26 & 4095


def line_of(ids, tag):
    return ["ok", *(text_of(ms, spin, int(tag)) for ms, spin in ids)]


def new(clock, words):
    settings = dict(word.split("=") for word in words)
    if "lane" in settings:
        index, bits = map(int, settings["lane"].split("/"))
        if bits > 12 or index >= 1 << bits:
            raise Refused("lane")  # 1.3
        settings["lane"] = index, bits
    return Generator(clock, **{key: value if key == "lane" else int(value) for key, value in settings.items()})


def answer(ids, clock, call, words):
    if call == "mint":
        return line_of(ids.mint(int(words[0])), words[1])
    if call == "observe":
        ids.observe(stamp_of(words[0])[0], *map(int, words[1:]))
    elif call == "floor":
        ids.raise_floor(int(words[0]))
    elif call == "ceiling":
        ids.raise_ceiling(int(words[0]))
    elif call == "close":
        end = ids.close()
        return ["none"] if end is None else ["ok", str(end)]
    else:
        return ["unsupported"]
    return ["ok"]


def main():
    clock, ids = Clock(), None
    while line := sys.stdin.readline():
        call, *words = line.split()
        reply = ["ok"]
        try:
            if call == "clock":
                clock.readings = [None if word == "none" else int(word) for word in words]
            elif call == "new":
                ids = new(clock, words)
            elif call == "after":
                last = None if words[0] == "none" else stamp_of(words[0])
                reply = line_of([after(last, *map(int, words[2:]))], words[1])
            elif call == "fork":
                if child := os.fork():
                    os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            else:
                reply = answer(ids, clock, call, words)
        except Refused as refused:
            reply = ["refused", str(refused)]
        print(*reply, flush=True)


if __name__ == "__main__":
    main()
