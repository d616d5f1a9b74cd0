#!/usr/bin/env python3
"""A holder of lanes on PostgreSQL and etcd, written from spec/PROTOCOL.md alone: holder.py URL FOLDER NAME BITS TAGS.

It appends IDs of the session tags TAGS (numbers, with commas between) to FOLDER/NAME-PID.ids, 10 bytes each, and releases its lane on
SIGTERM. Numbers in parentheses are rules of the page. With IMID_HOLDER_NO_CEILING it mints past its ceiling, which no holder may.
"""
import base64, contextlib, json, os, random, re, secrets, signal, sys, threading, time, types, urllib.request
from urllib.parse import unquote, urlsplit

import pg8000.native

# In milliseconds; the time limit of a call is in seconds.
HORIZON, MAX_LEAD, MAX_SKEW, MAX_ROLLBACK, END_OF_TIME, TIME_LIMIT = 2000, 1000, 5000, 3_600_000, 2**42, 0.8
IGNORES_CEILING = "IMID_HOLDER_NO_CEILING" in os.environ


class Silence(Exception):
    """A call without an answer. A write may have been done, or may be done later."""


class Postgres:
    TABLE = 'CREATE TABLE IF NOT EXISTS imid_register (key text COLLATE "C" PRIMARY KEY, value text NOT NULL)'
    STANDBYS = "SELECT current_setting('synchronous_standby_names'), pg_conf_load_time()"
    DURABLE = ("set_config('synchronous_commit', CASE current_setting('synchronous_commit') "
               "WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true) IS NOT NULL")
    INSERT = f"INSERT INTO imid_register (key, value) SELECT :key, :value WHERE {DURABLE} ON CONFLICT (key) DO NOTHING RETURNING value"
    UPDATE = f'UPDATE imid_register SET value = :value WHERE key = :key AND value COLLATE "C" = :seen AND {DURABLE} RETURNING value'

    def __init__(self, url):
        self.link, self.settings = None, (unquote(url.username), url.hostname, url.path[1:], url.port, unquote(url.password))

    def call(self, sql, **values):
        try:
            if self.link is None:
                self.link = pg8000.native.Connection(*self.settings, timeout=TIME_LIMIT)
                self.standbys = [self.link.run(sql) for sql in (self.TABLE, self.STANDBYS)][1]
            self.link.notices.clear()
            return self.link.run(sql, **values)
        except Exception as error:  # Also 40001 and 40P01: a conflict that counts as silence is only slower.
            with contextlib.suppress(Exception):
                self.link.close()
            self.link = None  # A late answer would be taken for that of the next call.
            raise Silence(repr(error)) from error

    def list(self, prefix):
        return dict(self.call("SELECT key, value FROM imid_register WHERE starts_with(key, :prefix)", prefix=prefix))

    def read(self, key):
        rows = self.call("SELECT value FROM imid_register WHERE key = :key", key=key)
        return rows[0][0] if rows else None

    def compare_and_set(self, key, seen, value):
        rows = self.call(self.INSERT if seen is None else self.UPDATE, key=key, value=value, seen=seen)
        warnings = [notice for notice in self.link.notices if b"WARNING" in notice.values()]
        before, self.standbys = self.standbys, self.call(self.STANDBYS)
        if rows and (rows != [[value]] or warnings or before[0][0] and self.standbys != before):
            raise Silence(f"wrote {rows}, with {warnings} and standbys {before}, {self.standbys}")
        return bool(rows)


class Etcd:
    def __init__(self, url):
        self.url, self.link = f"http://{url.netloc}/v3/kv", urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def call(self, path, **body):
        try:
            with self.link.open(f"{self.url}/{path}", json.dumps(body).encode(), TIME_LIMIT) as reply:
                return json.load(reply)
        except Exception as error:
            raise Silence(repr(error)) from error

    def encode(self, text):
        return base64.b64encode(text.encode()).decode()

    def list(self, prefix):
        first, last = f"imid-register/{prefix}", f"imid-register/{prefix[:-1]}{chr(ord(prefix[-1]) + 1)}"
        texts = [[base64.b64decode(pair[part]).decode() for part in ("key", "value")]
                 for pair in self.call("range", key=self.encode(first), range_end=self.encode(last)).get("kvs", [])]
        return {key.removeprefix("imid-register/"): text for key, text in texts}

    def read(self, key):
        pairs = self.call("range", key=self.encode(f"imid-register/{key}")).get("kvs", [])
        return base64.b64decode(pairs[0]["value"]).decode() if pairs else None

    def compare_and_set(self, key, seen, value):
        key = self.encode(f"imid-register/{key}")
        is_seen = dict(target="CREATE", createRevision="0") if seen is None else dict(target="VALUE", value=self.encode(seen))
        put = dict(requestPut=dict(key=key, value=self.encode(value)))
        return self.call("txn", compare=[dict(key=key, **is_seen)], success=[put]).get("succeeded", False)


NUMBERS = ("version", "horizon", "ceiling", "bits", "era", "floor")
FIELDS = {**dict.fromkeys(NUMBERS, "0|[1-9][0-9]{0,19}"), **dict.fromkeys(("holder", "layout"), "[-A-Za-z0-9_.:]{1,64}"),
          "token": "[0-9a-f]{16}", "state": "held|free|closed", "space": "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"}
LANE = "imid-lease/1 lane version={version} token={token} holder={holder} horizon={horizon} ceiling={ceiling} {state}"
META = "imid-lease/1 meta version={version} token={token} layout={layout} bits={bits} era={era} floor={floor} space={space}"


def parse(shape, text):
    """Returns a record, or None if the text does not fit."""
    if match := re.fullmatch(shape.format(**{name: f"(?P<{name}>{pattern})" for name, pattern in FIELDS.items()}), text):
        fields = {name: int(value) if name in NUMBERS else value for name, value in match.groupdict().items()}
        fits = fields.get("ceiling", 0) <= END_OF_TIME and all(fields.get(name, 0) < 2**63 for name in NUMBERS)
        return types.SimpleNamespace(**fields) if fits else None


def clock():
    return time.time_ns() // 1_000_000


def age_ms(since):
    return int((time.monotonic() - since) * 1000)


class Grant:
    """A lane with an acknowledged ceiling: the generator of its IDs (spec/GENERATOR.md), and what its holder knows of its record."""

    def __init__(self, key, bits, text, floor, ceiling):
        self.key, self.lane, self.width, self.floor, self.ceiling = key, int(key[-5:]), 4096 >> bits, floor, ceiling
        self.lock, self.is_sealed, self.process, self.seed = threading.Lock(), False, os.getpid(), random.random()
        self.reached, self.top, self.free = floor, clock(), 0
        # The text that the next attempt expects, since when it has been there, and the attempts after the last acknowledged one.
        self.text, self.attempts, self.is_in_doubt, self.is_lost = text, [], False, False
        self.since = self.tried = time.monotonic()

    def take(self, count, tag):
        """Returns IDs in one run, or none if they are refused."""
        with self.lock:  # Check and step are one (2).
            now = clock()
            self.reached = now if now >= self.reached else self.reached + max(0, now - self.top) / 2
            self.top, reached = max(self.top, now), int(self.reached)
            first = max(self.free, reached * self.width + hash((self.seed, reached)) % self.width)
            last = (first + count - 1) // self.width
            is_over = self.is_sealed or os.getpid() != self.process or max(self.top, self.floor - 1) - now > MAX_ROLLBACK  # (4, 22)
            if is_over or last >= (END_OF_TIME if IGNORES_CEILING else self.ceiling) or last > max(now + MAX_LEAD, reached + 4):
                return []
            self.free = first + count
        stamps = (divmod(stamp, self.width) for stamp in range(first, first + count))
        return [(ms << 38 | (self.lane * self.width + counter) << 26 | tag).to_bytes(10, "big") for ms, counter in stamps]

    def end(self):
        """Returns the first millisecond after all that was taken, or the floor."""
        return max(self.floor, (self.free - 1) // self.width + 1)

    def seal(self):
        with self.lock:
            self.is_sealed = True
            return self.end()


class Holder:
    def __init__(self, register, name, bits):
        self.register, self.name, self.bits, self.grant, self.is_ending = register, name, bits, None, False
        self.tokens, self.has_used_name, self.watched, self.looked = set(), False, {}, 0
        self.acknowledged, self.acknowledged_at, self.meta = {}, None, None

    def keep(self):
        """Takes a lane and renews it, until the end."""
        while not self.is_ending:
            with contextlib.suppress(Silence):
                self.seek() if self.grant is None or self.grant.is_lost else self.renew(self.grant)
            time.sleep(random.uniform(0.01, 0.1))

    def mint(self, path, tags):
        with open(path, "wb", buffering=0) as file:
            while not self.is_ending:
                file.write(b"".join(self.grant.take(random.randint(1, 200), random.choice(tags)) if self.grant else []))
                time.sleep(0.001)

    def attempt(self, key, seen, ceiling, state):
        """Tries to replace a lane's text. Returns the new one, or None after a conflict."""
        token, version = secrets.token_hex(8), parse(LANE, seen).version + 1 if seen else 1  # (3)
        text = LANE.format(version=version, token=token, holder=self.name, horizon=HORIZON, ceiling=ceiling, state=state)
        self.tokens.add(token)
        if self.grant and self.grant.key == key:
            self.grant.attempts.append(text)
        if self.register.compare_and_set(key, seen, text):
            self.acknowledged[key], self.acknowledged_at = parse(LANE, text), time.monotonic()
            return text

    def look(self):
        """Lists the space, and remembers for each lane its text, and since when it has been there. Returns the description."""
        pairs, now = self.register.list("lanes/"), time.monotonic()
        self.meta_text = pairs.get("lanes/meta", "")
        meta, last, before, self.watched = parse(META, self.meta_text), self.meta, self.watched, {}
        if meta is None or (meta.layout, meta.bits) != ("imid-80", self.bits):
            sys.exit(f"another space, or none: {pairs.get('lanes/meta')}")  # (20, 21)
        if last and (meta.space != last.space or meta.version < last.version or meta.era < last.era):
            sys.exit(f"the register went back: from {last} to {meta}")  # (19)
        for key in self.acknowledged:
            self.check(key, pairs.get(key))
        # A time without lists is not watched: the store may be away, and nobody can renew.
        blind, self.looked = max(0, now - self.looked - 0.5), now
        for key in (f"lanes/{meta.era}/{lane:05}" for lane in range(1 << self.bits)):
            text, (old, since) = pairs.get(key), before.get(key, ("", 0))
            self.watched[key] = text, since + blind if text == old else now
        return meta

    def read_again(self, key):
        """Returns a text, "" if there is none, or None if there is no answer."""
        with contextlib.suppress(Silence):
            return self.register.read(key) or ""

    def check(self, key, text):
        """Stops if the register shows less than it has acknowledged (19)."""
        last, found = self.acknowledged.get(key), text and parse(LANE, text)
        if last and (text is None or found and (found.version < last.version or found.ceiling < last.ceiling
                                                or found.version == last.version and found.token != last.token)):
            sys.exit(f"the register went back: from {last} to {found}")

    def next_ceiling(self, ceiling, floor, end, since):
        """Returns C' (10) from C, the floor, the first millisecond after the last value, and the time that C has been there."""
        age, now = min(HORIZON, age_ms(since)), clock()
        after_ceiling = min(ceiling + age, max(now + HORIZON, floor + HORIZON, end + HORIZON, ceiling + 1))
        after_end = end + min(age, age_ms(self.acknowledged_at)) if self.acknowledged_at else 0
        return min(END_OF_TIME, max(now + HORIZON, after_ceiling, after_end))

    def seek(self):
        """Tries to take a lane, and reads the description before it is used (9)."""
        meta, longest, candidates = self.look(), HORIZON, []
        empty = LANE.format(version=0, token=secrets.token_hex(8), holder=".", horizon=0, ceiling=meta.floor, state="free")
        for key, (text, since) in self.watched.items():
            if record := parse(LANE, text or empty):
                is_own = record.token in self.tokens or record.holder == self.name and not self.has_used_name
                is_over, longest = age_ms(since) >= record.horizon, max(longest, record.horizon)
                if record.state == "free" or record.state == "held" and (is_own or is_over):  # (5, 6)
                    candidates.append((max(0, record.ceiling - clock()), random.random(), key, text, record, since))
        if candidates and min(candidates)[0] <= longest + 4 * MAX_SKEW:
            _, _, key, text, record, since = min(candidates)  # (11)
            end = self.grant.end() if self.grant else 0
            floor = max(record.ceiling, meta.floor, end)  # (8)
            ceiling = self.next_ceiling(floor, floor, end, since)
            self.has_used_name |= record.holder == self.name or self.grant is not None
            if ceiling > floor and (written := self.attempt(key, text, ceiling, "held")):  # (7)
                while (found := self.read_again("lanes/meta")) is None:  # (9)
                    time.sleep(0.1)
                if found != self.meta_text:
                    self.attempt(key, written, floor, "free")
                    return
                floor = max(floor, self.grant.seal() if self.grant else 0)  # (12)
                self.meta, self.grant = meta, Grant(key, self.bits, written, floor, ceiling)

    def renew(self, grant):
        """Raises the ceiling if it is time (13)."""
        is_urgent = grant.is_in_doubt or grant.ceiling - max(clock(), grant.end()) < HORIZON / 2
        if age_ms(grant.tried) >= (100 if is_urgent else HORIZON / 4):
            grant.tried, before = time.monotonic(), parse(LANE, grant.text).ceiling
            ceiling = self.next_ceiling(before, grant.floor, grant.end(), grant.since)
            if grant.is_in_doubt or ceiling > before and not self.write(grant, ceiling, "held"):
                self.settle(grant)

    def write(self, grant, ceiling, state):
        """Replaces the record of a grant, which is in doubt until an acknowledgement comes. Returns whether it did."""
        grant.is_in_doubt = True
        if text := self.attempt(grant.key, grant.text, ceiling, state):
            grant.text, grant.since, grant.attempts, grant.is_in_doubt = text, time.monotonic(), [], False
            grant.ceiling = max(grant.ceiling, ceiling)  # (14)
        return bool(text)

    def settle(self, grant):
        """Reads what became of the attempts without an acknowledgement (15)."""
        text = self.register.list(grant.key).get(grant.key)
        if text != grant.text and text in grant.attempts:
            grant.text, grant.since = text, time.monotonic()  # (16)
        if text != grant.text:
            self.check(grant.key, text)
        grant.is_in_doubt, grant.is_lost = False, text != grant.text  # (17)

    def release(self):
        """Gives the lane back, in three attempts (23 to 25)."""
        for end in [self.grant.seal()] * 3 if self.grant else []:
            if self.grant.is_in_doubt:
                self.settle(self.grant)
            if self.grant.is_lost or self.write(self.grant, end, "free"):
                break


def main(url, folder, name, bits, tags):
    place = urlsplit(url)
    holder = Holder(Postgres(place) if place.scheme == "postgres" else Etcd(place), name, int(bits))
    signal.signal(signal.SIGTERM, lambda *_: setattr(holder, "is_ending", True))
    ids = f"{folder}/{name}-{os.getpid()}.ids"
    threading.Thread(target=holder.mint, args=(ids, [int(tag) for tag in tags.split(",")]), daemon=True).start()
    with contextlib.suppress(Silence):  # Then the lane is free when the write is done, or the horizon is over (25).
        holder.keep()
        holder.release()


main(*sys.argv[1:])
