#!/usr/bin/env python3
"""Breaks the generator of model.py in one place after the other. Cases of the broken rule must notice it.

Each sentence of spec/GENERATOR.md has a mutant here, and each mutant a case in spec/generator.json with the number of its sentence
that fails. A line for each says the sentence, what is wrong, and the case; a table of all sentences follows. With --all every mutant
runs every case, to see which cases are needed.
"""

import collections
import concurrent.futures
import json
import pathlib
import re
import sys
import tempfile

import check

FOLDER = pathlib.Path(__file__).resolve().parent
MODEL = (FOLDER / "model.py").read_text()
DOCUMENT = (FOLDER.parent / "GENERATOR.md").read_text()

# The sentence, what is wrong, and the patch: a text of model.py, and the text in its place.
MUTANTS = [
    ("1.1", "a stamp has 53 bits, as a JavaScript number", "(stamp // self.w, self.lane * self.w + stamp % self.w)", "(int(float(stamp * 2) - 1) // 2 // self.w if stamp > 2**53 else stamp // self.w, self.lane * self.w + stamp % self.w)"),
    ("1.1", "a carry enters the next lane", "(stamp // self.w, self.lane * self.w + stamp % self.w)", "(first // self.w, self.lane * self.w + stamp - first // self.w * self.w)"),
    ("1.2", "the lane is the lower part of the spin", "self.lane * self.w + stamp % self.w", "stamp % self.w * (4096 // self.w) + self.lane"),
    ("1.2", "lanes are ignored", "self.lane * self.w + stamp % self.w", "stamp % self.w"),
    ("1.3", "any index is taken", "bits > 12 or index >= 1 << bits", "bits > 12"),
    ("1.3", "13 bits are taken", "bits > 12 or index", "bits > 13 or index"),
    ("1.4", "another default lead", "max_lead=1000", "max_lead=999"),
    ("1.4", "another default rollback", "max_rollback=3600000", "max_rollback=3600001"),
    ("1.4", "another default skew", "max_skew=5000", "max_skew=5001"),
    ("1.5", "a lead is not cut", "self.max_lead = min(max_lead, LAST)", "self.max_lead = max_lead % 2**42"),
    ("1.5", "a rollback wraps", "self.max_rollback = min(max_rollback, LAST)", "self.max_rollback = max_rollback % 2**32 % 1000000"),
    ("2.1", "a reading past the end is taken", "0 <= reading <= LAST", "0 <= reading <= 2 * LAST"),
    ("2.1", "a negative reading is 0", "not 0 <= reading <= LAST", "not reading <= LAST"),
    ("2.2", "the first reading is taken at once", "if self.top is None or now", "if self.top is not None and now"),
    ("2.3", "a reading far ahead is taken at once", "now - self.top > far", "now - self.top > 2**50"),
    ("2.2", "of two first readings the greater counts", "now = min(now, self.one_reading())", "now = max(now, self.one_reading())"),
    ("2.3", "of two far readings the greater counts", "now = min(now, self.one_reading())", "now = max(now, self.one_reading())"),
    ("2.4", "max_rollback does not make a reading far", "min(1000, self.max_rollback, self.max_skew)", "min(1000, self.max_skew)"),
    ("2.4", "max_skew does not make a reading far", "min(1000, self.max_rollback, self.max_skew)", "min(1000, self.max_rollback)"),
    ("2.3", "far is a minute", "min(1000, self.max_rollback", "min(60000, self.max_rollback"),
    ("2.5", "a refusal by the clock is not looked at again", "            self.believe(self.reading(limit))  # 2.5", "            raise"),
    ("2.5", "an overload is not looked at again", "            self.believe(self.reading())  # 2.5\n", ""),
    ("2.5", "a skew is not looked at again", "for last in (False, True)", "for last in (True,)"),
    ("2.6", "a step back is believed at once", "            now = self.one_reading()  # 2.6", "            pass"),
    ("2.7", "rollback is refused a millisecond early", "if known - now > self.max_rollback", "if known - now >= self.max_rollback"),
    ("2.7", "rollback is never refused", "if known - now > self.max_rollback", "if known - now > 2**50"),
    ("2.7", "rollback is measured from the last reading", "known = max(-1 if self.top is None else self.top, self.floor - 1)", "known = max(-1 if self.read is None else self.read, self.floor - 1)"),
    ("2.7", "a floor is no reading", "self.top, self.floor - 1)", "self.top, -1)"),
    ("2.7", "the wait of a rollback is a millisecond long", "known - self.max_rollback - now)", "known - self.max_rollback - now + 1)"),
    ("2.8", "a refused reading grants lead", "        if known - now > self.max_rollback:\n", "        self.extra = max(self.extra, known - now)\n        if known - now > self.max_rollback:\n"),
    ("2.8", "a refused reading is the last one", "        if known - now > self.max_rollback:\n", "        before, self.read = self.read, now\n        if known - now > self.max_rollback:\n"),
    ("3.1", "half speed ends when the way is through", "        if now >= self.reached:\n            self.halves = 2 * now", "        if now >= self.reached + 40:\n            self.halves = 2 * now"),
    ("3.1", "the clock is followed a millisecond late", "self.halves = 2 * now  # 3.1", "self.halves = max(self.halves, 2 * now - 2)"),
    ("3.2", "full speed behind a step", "self.halves += now - since", "self.halves += 2 * (now - since)"),
    ("3.2", "the time stands still behind a step", "self.halves += now - since", "pass"),
    ("3.2", "halves are dropped", "self.halves += now - since", "self.halves += (now - since) // 2 * 2"),
    ("3.2", "quarter speed behind a step", "self.halves += now - since", "self.halves += (now - since) // 2"),
    ("3.3", "each call moves the time", "elif self.read is not None and now > self.read:", "elif self.read is not None:\n            self.halves += 1"),
    ("3.3", "an earlier reading moves the time back", "        self.read = now\n        self.top", "        if self.read is not None and now < min(self.read, self.reached):\n            self.halves -= self.read - now\n        self.read = now\n        self.top"),
    ("3.4", "a step forward counts as time", "since = max(self.read, top) if now > top else self.read", "since = self.read"),
    ("3.5", "repeated steps add up", "                self.halves = min(self.halves, 2 * (max(now, top) + self.step))  # 3.5", "                pass"),
    ("3.5", "two steps past the reading before are the limit", "2 * (max(now, top) + self.step))  # 3.5", "max(self.halves - now + since, 2 * (self.read + 2 * self.step)))"),
    ("3.6", "the time goes back with the clock", "        if now >= self.reached:\n", "        if now >= self.reached or now < top:\n"),
    ("4.1", "the lead counts from the time reached", "return max(now + self.max_lead", "return max(self.reached + self.max_lead"),
    ("4.1", "the lead counts from the last ID", "return max(now + self.max_lead", "return max(max(now, self.unissued() - 1) + self.max_lead"),
    ("4.1", "the lead is a millisecond longer", "now + self.max_lead + self.extra", "now + self.max_lead + 1 + self.extra"),
    ("4.2", "nothing is granted past the time reached", "self.reached + min(4, self.max_lead))", "self.reached)"),
    ("4.2", "4 ms are granted even with a lesser lead", "self.reached + min(4, self.max_lead))", "self.reached + 4)"),
    ("4.2", "5 ms are granted", "self.reached + min(4, self.max_lead))", "self.reached + min(5, self.max_lead))"),
    ("4.3", "a step back grants nothing", "            self.extra = max(self.extra, top - now)", "            pass"),
    ("4.4", "the lead of a step is for good", "            self.extra = min(self.extra, max(0, self.unissued() - now))", "            pass"),
    ("4.4", "the lead of a step ends at once", "self.extra = min(self.extra, max(0, self.unissued() - now))", "self.extra = 0"),
    ("5.1", "no IDs of a closed generator are an error", "        if n == 0:\n", "        if n == 0 and not self.closed:\n"),
    ("5.1", "no IDs need the clock", "            return []", "            self.settle()\n            return []"),
    ("5.2", "closed comes before a run too long", "        if n > self.max_lead * self.w + 1:", "        if not self.closed and n > self.max_lead * self.w + 1:"),
    ("5.2", "the clock comes before closed", "        if self.closed:\n", "        self.settle()\n        if self.closed:\n"),
    ("5.2", "the clock comes before the lane", "        self.follow_fork()\n        self.settle()\n", "        self.settle()\n        self.follow_fork()\n"),
    ("5.2", "the lane comes before closed", "        if self.closed:\n            raise", "        self.follow_fork()\n        if self.closed:\n            raise"),
    ("5.2", "the lane comes before a run too long", "        if n > self.max_lead * self.w + 1:", "        self.follow_fork()\n        if n > self.max_lead * self.w + 1:"),
    ("5.2", "the ceiling comes before rollback", "        known = max(", "        if self.free and -(-self.free // self.w) >= self.ceiling:\n            raise Refused(\"ceiling\")\n        known = max("),
    ("5.2", "overload comes before the ceiling", "        if last >= self.ceiling:  # 7.1", "        if last > self.limit(self.read):\n            raise Refused(\"overload\", 1)\n        if last >= self.ceiling:"),
    ("5.3", "a run is one shorter", "if n > self.max_lead * self.w + 1", "if n > self.max_lead * self.w"),
    ("5.3", "a run is one longer", "if n > self.max_lead * self.w + 1", "if n > self.max_lead * self.w + 2"),
    ("5.4", "each millisecond begins at its start", "first = max(self.free, self.reached * self.w + self.start(self.reached))", "first = max(self.free, max(self.reached, self.unissued()) * self.w + self.start(self.reached))"),
    ("5.4", "the clock counts and not the time reached", "first = max(self.free, self.reached * self.w + self.start(self.reached))", "first = max(self.free, self.read * self.w + self.start(self.read))"),
    ("5.4", "a run that carried over is forgotten", "first = max(self.free, self.reached", "first = max(self.free if self.free // self.w == self.reached else 0, self.reached"),
    ("5.5", "a stamp is lost", "self.free = first + n", "self.free = first + n + 1"),
    ("5.5", "the last stamp is taken again", "self.free = first + n", "self.free = first + max(1, n - 1)"),
    ("5.5", "a refused run takes what is left", '            raise Refused("overload", last', '            self.free = first + n // 2\n            raise Refused("overload", last'),
    ("5.6", "the wait is a millisecond long", "last - self.limit(self.read))", "last - self.limit(self.read) + 1)"),
    ("5.6", "the wait is always 1", "last - self.limit(self.read))", "1)"),
    ("5.7", "the end of time is a ceiling", '"end" if last > LAST else "ceiling"', '"ceiling"'),
    ("5.7", "a ceiling names a wait", '"end" if last > LAST else "ceiling"', '"end" if last > LAST else "ceiling", 1'),
    ("5.8", "each millisecond starts at 0", 'int.from_bytes(digest, "big") % self.w', "0"),
    ("5.8", "starts are in the lower half", 'int.from_bytes(digest, "big") % self.w', 'int.from_bytes(digest, "big") % max(1, self.w // 2)'),
    ("5.8", "starts are random", "b\"%d %d\" % (self.seed, ms), digest_size=8", "os.urandom(8), digest_size=8"),
    ("5.9", "the seed does not count", 'b"%d %d" % (self.seed, ms)', 'b"%d" % ms'),
    ("5.9", "seeds have 32 bits", 'b"%d %d" % (self.seed, ms)', 'b"%d %d" % (self.seed % 2**32, ms)'),
    ("5.9", "starts of two seeds are a fixed distance apart", 'int.from_bytes(digest, "big") % self.w', '(int.from_bytes(hashlib.blake2b(b"%d" % ms, digest_size=8).digest(), "big") + self.seed) % self.w'),
    ("5.9", "without a seed it is 0", 'int.from_bytes(os.urandom(8), "big") if seed is None else seed', "seed or 0"),
    ("6.1", "an ID of the past needs the clock", "        if ms < self.reached:\n            return  # 6.1", "        self.settle()\n        if ms < self.reached:\n            return"),
    ("6.1", "an ID that is followed already is held against the limit", "            return  # 6.1", "            if ms - (self.top or 0) > min(limit, self.max_skew):\n                raise Refused(\"skew\", ms - self.top)\n            return"),
    ("6.2", "the limit of a call does not make a reading far", "        far = min(far, limit)", "        pass"),
    ("6.3", "skew is refused a millisecond early", "max(self.top or 0, now) <= limit", "max(self.top or 0, now) < limit"),
    ("6.3", "skew is measured from the present reading", "max(self.top or 0, now) <= limit", "now <= limit"),
    ("6.3", "skew is measured from the time reached", "max(self.top or 0, now) <= limit", "max(self.top or 0, now, self.reached) <= limit"),
    ("6.3", "the limit of a call can be more than max_skew", "limit = min(limit, self.max_skew)", "limit = self.max_skew if limit == LAST else limit"),
    ("6.3", "the limit of a call is ignored", "limit = min(limit, self.max_skew)", "limit = self.max_skew"),
    ("6.3", "the wait is the distance", "ms - limit - now)", "ms - now)"),
    ("6.3", "the wait is measured from the greatest reading", "ms - limit - now)", "ms - limit - max(self.top or 0, now))"),
    ("6.3", "a rollback refuses an observation", "            pass  # 6.3: a rollback is no error here", "            raise"),
    ("6.3", "an ID that is refused moves the time to the limit", 'raise Refused("skew", ms - limit - now)', 'self.move(self.top + limit)\n                raise Refused("skew", ms - limit - now)'),
    ("6.4", "the ID's own millisecond is reached", "            self.move(ms + 1)", "            self.move(ms)"),
    ("6.4", "hosts do not spread", "most = min(16, (ms - self.reached) // 4)", "most = 0"),
    ("6.4", "hosts spread by 16 always", "most = min(16, (ms - self.reached) // 4)", "most = 16"),
    ("6.4", "hosts spread without a bound", "most = min(16, (ms - self.reached) // 4)", "most = (ms - self.reached) // 4"),
    ("6.5", "half speed begins with the next ID", "            self.move(ms + 1)", "            self.move(ms + 1)\n            self.read = None"),
    ("6.5", "the time stands still until the clock has caught up", "            self.move(ms + 1)", "            self.move(ms + 1)\n            self.believe = lambda now: Generator.believe(self, now) if now >= self.reached else setattr(self, 'read', now)"),
    ("6.6", "an observed ID grants the lead", "self.reached + min(4, self.max_lead))", "self.reached + (self.max_lead if self.moved else min(4, self.max_lead)))"),
    ("6.7", "a floor has the limit of skew", "        self.floor = ms", "        if self.top and ms - self.top > self.max_skew:\n            return\n        self.floor = ms"),
    ("6.7", "a floor is an ID", "            self.move(ms)", "            self.move(ms + 1)"),
    ("6.7", "a floor among the settings is forgotten", "        self.raise_floor(floor)", "        pass"),
    ("6.7", "a lower floor moves the time back", "        if ms <= self.reached:\n            return\n", "        if ms <= self.reached:\n            self.halves = 2 * ms\n            return\n"),
    ("6.8", "a floor needs a clock", "self.halves, self.read, self.moved = 2 * ms, None, True", "pass"),
    ("6.8", "half speed counts from the reading before", "            self.halves, self.read, self.moved = 2 * ms, None, True", "            self.halves, self.moved = 2 * ms, True"),
    ("7.1", "the ceiling is the last millisecond", "if last >= self.ceiling", "if last > self.ceiling"),
    ("7.1", "only the first ID of a run is held against the ceiling", "if last >= self.ceiling", "if first // self.w >= self.ceiling"),
    ("7.2", "a ceiling can be lowered", "self.ceiling = max(self.ceiling, min(ms, LAST + 1))", "self.ceiling = min(ms, LAST + 1)"),
    ("7.2", "a ceiling is not raised", "self.ceiling = max(self.ceiling, min(ms, LAST + 1))", "pass"),
    ("7.2", "a ceiling past the end is taken", "max(self.ceiling, min(ms, LAST + 1))", "max(self.ceiling, ms % 2**42)"),
    ("7.3", "a closed generator mints", '            raise Refused("closed")  # 7.3', "            pass"),
    ("7.4", "close returns the last millisecond", "return self.unissued() if self.free", "return self.unissued() - 1 if self.free"),
    ("7.4", "close returns the time reached", "return self.unissued() if self.free", "return max(self.reached, self.unissued()) if self.free"),
    ("7.4", "close returns 0 if nothing was minted", "return self.unissued() if self.free else None", "return self.unissued()"),
    ("7.5", "a floor of a closed generator is an error", "        if ms <= self.reached:\n            return\n", "        if self.closed:\n            raise Refused(\"closed\")\n        if ms <= self.reached:\n            return\n"),
    ("7.5", "an observation by a closed generator is an error", "        if ms < self.reached:\n", "        if self.closed:\n            raise Refused(\"closed\")\n        if ms < self.reached:\n"),
    ("8.1", "a child repeats its parent", "        self.move(max(self.unissued(), self.reached + 1))", "        self.free = 0"),
    ("8.1", "a child keeps its parent's time", "        self.move(max(self.unissued(), self.reached + 1))", "        self.move(max(self.unissued(), self.reached))"),
    ("8.2", "a child uses its parent's lane", "        if self.has_lane:\n", "        if False:\n"),
    ("1.5", "a floor past the end is taken", "        ms = min(ms, LAST + 1)  # 1.5\n", ""),
    ("1.5", "a skew wraps", "self.max_skew = min(max_skew, LAST)", "self.max_skew = max_skew % 2**32 % 1000000"),
    ("2.3", "a reading ahead by exactly a second is checked", "now - self.top > far", "now - self.top >= far"),
    ("2.4", "far is max_rollback or 1,000, whichever is more", "min(1000, self.max_rollback, self.max_skew)", "max(1000, min(self.max_rollback, self.max_skew))"),
    ("2.5", "the second look is believed at once", "            self.believe(self.reading(limit))  # 2.5", "            self.believe(self.one_reading())"),
    ("2.5", "a floor does not look again", "        try:\n            self.settle()", "        try:\n            self.believe(self.reading())"),
    ("2.6", "the reading in the place of a dropped one is not checked", "            now = self.one_reading()  # 2.6\n        if", "            return self.one_reading()\n        if"),
    ("2.6", "of two readings below the greatest the first counts", "            now = self.one_reading()  # 2.6", "            now = max(now, self.one_reading())"),
    ("2.7", "a floor that moved nothing is a reading", "        if ms <= self.reached:\n            return\n", "        if ms <= self.reached:\n            self.floor = max(self.floor, ms)\n            return\n"),
    ("3.4", "nothing past the greatest reading counts", "since = max(self.read, top) if now > top else self.read", "since = now if now > top else self.read"),
    ("4.3", "the last step counts and not the greatest", "self.extra = max(self.extra, top - now)", "self.extra = top - now"),
    ("4.4", "the lead of a step is a millisecond shorter", "max(0, self.unissued() - now)", "max(0, self.unissued() - now - 1)"),
    ("4.4", "the lead of a step is a millisecond longer", "max(0, self.unissued() - now)", "max(0, self.unissued() - now + 1)"),
    ("4.4", "a reading that is the greatest again ends the lead of a step", "        elif now > top:\n", "        else:\n"),
    ("5.7", "past the end of time a ceiling counts first", '"end" if last > LAST else "ceiling"', '"end" if last > LAST and self.ceiling > LAST else "ceiling"'),
    ("6.3", "a refused reading is the last one", "            pass  # 6.3: a rollback is no error here", "            self.read = now"),
    ("6.3", "a refused reading grants lead", "            pass  # 6.3: a rollback is no error here", "            self.extra = max(self.extra, (self.top or 0) - now)"),
    ("6.8", "half speed counts from the refused reading", "            self.halves, self.read, self.moved = 2 * ms, None, True", "            self.halves, self.read, self.moved = 2 * ms, self.clock.show(), True"),
    ("7.5", "a closed generator observes nothing", "        if ms < self.reached:\n", "        if self.closed or ms < self.reached:\n"),
    ("7.5", "a closed generator refuses observations and does not follow them", "        if ms >= self.reached:\n            self.move(ms + 1)", "        if ms >= self.reached and not self.closed:\n            self.move(ms + 1)"),
    ("8.1", "a child keeps its parent's seed", "        self.seed = int.from_bytes(os.urandom(8), \"big\")  # 8.1\n", ""),
    ("8.1", "a child keeps the millisecond of the last stamp", "self.move(max(self.unissued(), self.reached + 1))", "self.move(max(self.unissued() - 1, self.reached + 1))"),
    ("9.1", "the spin is not random", "stamp = now * 4096 + r", "stamp = now * 4096"),
    ("9.2", "the step is not random", "+ last[1] + 1 + q)", "+ last[1] + 1)"),
    ("9.2", "the step can be 0", "+ last[1] + 1 + q)", "+ last[1] + q)"),
    ("9.2", "the time does not count", "stamp = max(stamp, last[0]", "stamp = (last[0]"),
    ("9.2", "the step begins at the millisecond of the last ID", "last[0] * 4096 + last[1] + 1", "last[0] * 4096 + 1"),
    ("9.3", "the tag has 25 bits", "text_of(ms, spin, int(tag))", "text_of(ms, spin, int(tag) % 2**25)"),
    ("9.4", "skew is not refused", "if last[0] - now > limit:", "if False:"),
    ("9.4", "skew is refused a millisecond early", "if last[0] - now > limit:", "if last[0] - now >= limit:"),
    ("9.4", "the limit is a day", "if last[0] - now > limit:", "if last[0] - now > 86400000:"),
    ("9.5", "the end of time is passed", "if stamp >= 2**54:", "if stamp >= 2**60:"),
    ("9.5", "the last stamp is not used", "if stamp >= 2**54:", "if stamp >= 2**54 - 1:"),
    ("2.1", "where the second reading fails, the first one counts", "            now = min(now, self.one_reading())  # 2.2", "            try:\n                now = min(now, self.one_reading())\n            except Refused:\n                pass"),
    ("2.6", "where the reading in its place fails, the dropped one counts", "            now = self.one_reading()  # 2.6", "            try:\n                now = self.one_reading()\n            except Refused:\n                pass"),
    ("2.2", "only the first reading of all is checked, and not the first that is believed", "        if self.top is None or now - self.top > far:", "        first, self.checked = not hasattr(self, 'checked'), True\n        if first or self.top is not None and now - self.top > far:"),
    ("2.2", "only the first reading of all is checked, even if it failed", "        now = self.one_reading()\n        if self.top is not None and now < self.top:\n            now = self.one_reading()  # 2.6\n        if self.top is None or now - self.top > far:", "        first, self.asked = not hasattr(self, 'asked'), True\n        now = self.one_reading()\n        if self.top is not None and now < self.top:\n            now = self.one_reading()  # 2.6\n        if first or self.top is not None and now - self.top > far:"),
    ("2.5", "the first look decides the kind of the refusal", "        except Refused:\n            self.believe(self.reading(limit))  # 2.5", "        except Refused as first:\n            try:\n                self.believe(self.reading(limit))\n            except Refused:\n                raise first"),
    ("2.5", "an overload stays one, whatever the second look finds", "            self.believe(self.reading())  # 2.5\n", "            first = sys.exc_info()[1]\n            try:\n                self.believe(self.reading())\n            except Refused:\n                raise first\n"),
    ("2.7", "a floor that the clock has passed is forgotten", "        try:\n            self.settle()\n", "        before = copy.copy(self)\n        try:\n            self.settle()\n            if ms <= self.reached:\n                self.floor = 0\n                self.read, self.top = before.read, before.top\n"),
    ("3.1", "half a millisecond keeps half speed", "        if now >= self.reached:\n            self.halves", "        if 2 * now >= self.halves:\n            self.halves"),
    ("5.9", "drawn seeds have 20 bits", 'int.from_bytes(os.urandom(8), "big") if seed is None', 'int.from_bytes(os.urandom(8), "big") % 2**20 if seed is None'),
    ("5.9", "each process draws the same seeds", "        self.process = os.getpid()\n        self.seed = int.from_bytes(os.urandom(8), \"big\") if", "        self.process = os.getpid()\n        Generator.drawn = getattr(Generator, 'drawn', 0) + 1\n        self.seed = Generator.drawn if"),
    ("5.9", "the seed is the time in milliseconds", 'int.from_bytes(os.urandom(8), "big") if seed is None', "__import__('time').time_ns() // 10**6 if seed is None"),
    ("6.4", "a jump counts halves", "most = min(16, (ms - self.reached) // 4)", "most = min(16, (2 * ms - self.halves) // 8)"),
    ("7.4", "close in a forked child returns nothing", "if self.free else None", "if self.free and self.process == os.getpid() else None"),
    ("8.1", "a child forgets the greatest reading", "        self.read = None\n\n", "        self.read = self.top = None\n\n"),
    ("8.1", "a child forgets the ceiling", "        self.read = None\n\n", "        self.read = None\n        self.ceiling = LAST + 1\n\n"),
    ("8.1", "a child forgets the lead of a step", "        self.read = None\n\n", "        self.read = None\n        self.extra = 0\n\n"),
    ("8.1", "a child opens a closed generator", "        if self.closed:\n            raise", "        if self.closed and self.process == os.getpid():\n            raise"),
    ("8.2", "in a child with a lane nothing is observed", "            return  # 6.1\n", "            return\n        if self.has_lane and self.process != os.getpid():\n            raise Refused(\"process\")\n"),
    ("8.2", "a lane of no bits is no lane", "self.has_lane = lane is not None", "self.has_lane = lane not in (None, (0, 0))"),
]  # fmt: skip


MUTANTS.sort(key=lambda mutant: [int(part) for part in mutant[0].split(".")])


def sentences():
    """Returns the numbers of the sentences of GENERATOR.md."""
    found, section = [], None
    for line in DOCUMENT.splitlines():
        if heading := re.match(r"## (?:(\d+)\. )?", line):
            section = heading[1]
        elif section and (item := re.match(r"(\d+)\. ", line)):
            found.append(f"{section}.{item[1]}")
    return found


def rows():
    file = json.loads(check.FILE.read_text())
    return file["cases"] + file["statistics"] + file["after"]


def tried(index, every):
    """Returns the names of the rows that fail with a mutant."""
    rule, what, old, new = MUTANTS[index]
    if MODEL.count(old) != 1:
        raise SystemExit(f"mutants.py: {rule}, {what}: expected the patched text once in model.py, found it {MODEL.count(old)} times")
    chosen = [row for row in rows() if every or rule in row["rules"]]
    with tempfile.NamedTemporaryFile("w", suffix=".py") as mutant:
        mutant.write(MODEL.replace(old, new))
        mutant.flush()
        check.SECONDS = 10
        failed, _ = check.judge([sys.executable, mutant.name], chosen, first_only=not every, errors_shown=False)
    return index, failed


def table(killed):
    """Prints the cases of each sentence, and how many of its mutants they notice. Returns the sentences without either."""
    print("sentence  cases  mutants  noticed")
    empty = []
    for sentence in sentences():
        cases = sum(sentence in row["rules"] for row in rows())
        mutants = sum(mutant[0] == sentence for mutant in MUTANTS)
        print(f"{sentence:8}  {cases:5}  {mutants:7}  {killed[sentence]:7}")
        if not cases or not killed[sentence]:
            empty.append(f"{sentence} has {cases} cases, and {killed[sentence]} noticed mutants")
    return empty


def main():
    every = "--all" in sys.argv
    known = {rule for row in rows() for rule in row["rules"]}
    problems = [f"a case names {rule}, which GENERATOR.md does not have" for rule in sorted(known - set(sentences()))]
    needed = {row["name"]: 0 for row in rows()}
    killed = collections.Counter()
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        for index, failed in pool.map(tried, range(len(MUTANTS)), [every] * len(MUTANTS)):
            rule, what, *_ = MUTANTS[index]
            of_rule = [row["name"] for row in rows() if rule in row["rules"] and row["name"] in failed]
            if not of_rule:
                problems.append(f"{rule}: no case of this sentence fails if {what}" + f" ({len(failed)} others do)" * every)
            else:
                killed[rule] += 1
                print(f"{rule}: {what}: {of_rule[0]}" + f" and {len(failed) - 1} more" * every, flush=True)
            for name in failed:
                needed[name] += 1
    problems += table(killed)
    if every:
        idle = [name for name, mutants in needed.items() if not mutants]
        print(f"{len(needed) - len(idle)} of {len(needed)} cases and statistics fail with at least one mutant. The others:")
        print("".join(f"  {name}\n" for name in idle), end="")
    for problem in problems:
        print(f"mutants.py: {problem}")
    print(f"{len(MUTANTS)} mutants of {len(sentences())} sentences, {len(problems)} problems")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
