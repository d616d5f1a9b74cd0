#!/usr/bin/env python3
"""A holder in another language that follows docs/PROTOCOL.md, whose rules are in the comments: holder.py URL FOLDER NAME BITS TAG,...

It mints IDs of these session tags in bursts, in a lane of the space `lanes` of a PostgreSQL or an etcd, until SIGTERM. The IDs are in
a file of the folder, ten bytes each. With IMID_HOLDER_NO_CEILING it does not check the ceiling. `ci/holder.sh` runs it beside others.
"""

import base64, json, os, random, re, signal, sys, threading, time, urllib.parse, urllib.request

URL, FOLDER, NAME, BITS, TAGS = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), [int(tag) for tag in sys.argv[5].split(",")]
HORIZON, SKEW, TIMEOUT, END_OF_TIME = 2_000, 1_000, 1.5, 1 << 42
WIDTH = 4096 >> BITS
LANE = re.compile(r"imid-lease/1 lane version=(\d+) token=([0-9a-f]{16}) holder=(\S{1,64}) horizon=(\d+) ceiling=(\d+) (held|free|closed)")
META = re.compile(r"imid-lease/1 meta version=(\d+) token=[0-9a-f]{16} layout=(\S+) bits=(\d+) era=(\d+) floor=(\d+) space=([0-9a-f-]{36})")


class Postgres:
    DURABLE = ("set_config('synchronous_commit', CASE current_setting('synchronous_commit') "
               "WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true) IS NOT NULL")
    connection = None

    def run(self, sql, **values):
        import pg8000.native
        try:
            if self.connection is None:
                url = urllib.parse.urlsplit(URL)
                self.connection = pg8000.native.Connection(
                    url.username, host=url.hostname, port=url.port, password=url.password, database=url.path[1:], timeout=TIMEOUT)
                self.run("CREATE TABLE IF NOT EXISTS imid_register (key text COLLATE \"C\" PRIMARY KEY, value text NOT NULL)")
            return self.connection.run(sql, **values)
        except Exception as error:
            self.connection = None
            raise OSError(error) from error

    def read(self, key):
        rows = self.run("SELECT value FROM imid_register WHERE key = :key", key=key)
        return rows[0][0] if rows else None

    def list(self, prefix):
        return dict(self.run("SELECT key, value FROM imid_register WHERE starts_with(key, :prefix)", prefix=prefix))

    def write(self, key, seen, value):
        standbys = self.run("SHOW synchronous_standby_names")[0][0]
        self.connection.notices.clear()
        if seen is None:
            sql = f"INSERT INTO imid_register (key, value) SELECT :key, :value WHERE {self.DURABLE} ON CONFLICT (key) DO NOTHING RETURNING value"
            rows = self.run(sql, key=key, value=value)
        else:
            sql = f"UPDATE imid_register SET value = :value WHERE key = :key AND value COLLATE \"C\" = :seen AND {self.DURABLE} RETURNING value"
            rows = self.run(sql, key=key, seen=seen, value=value)
        if self.connection.notices or rows not in ([], [[value]]) or standbys and not self.run("SHOW synchronous_standby_names")[0][0]:
            raise OSError("the outcome is unknown")
        return rows != []


class Etcd:
    def call(self, name, request):
        request = urllib.request.Request(f"http://{URL.split('://')[1]}/v3/kv/{name}", json.dumps(request).encode())
        with urllib.request.urlopen(request, timeout=TIMEOUT) as reply:
            return json.load(reply)

    @staticmethod
    def key(key):
        return base64.b64encode(f"imid-register/{key}".encode()).decode()

    def read(self, key):
        found = self.call("range", {"key": self.key(key)}).get("kvs")
        return base64.b64decode(found[0]["value"]).decode() if found else None

    def list(self, prefix):
        found = self.call("range", {"key": self.key(prefix), "range_end": self.key(prefix[:-1] + chr(ord(prefix[-1]) + 1))}).get("kvs", [])
        return {base64.b64decode(it["key"]).decode().split("/", 1)[1]: base64.b64decode(it["value"]).decode() for it in found}

    def write(self, key, seen, value):
        key, encode = self.key(key), lambda text: base64.b64encode(text.encode()).decode()
        compare = ({"key": key, "target": "CREATE", "create_revision": "0"} if seen is None
                   else {"key": key, "target": "VALUE", "value": encode(seen)})
        put = {"request_put": {"key": key, "value": encode(value)}}
        return self.call("txn", {"compare": [compare], "success": [put]}).get("succeeded", False)


class Generator:
    """Mints in [floor, ceiling). One lock makes each of its steps atomic."""

    def __init__(self, lane, floor, ceiling):
        self.lane, self.floor, self.ceiling, self.free = lane, floor, ceiling, floor * WIDTH
        self.lock, self.is_sealed = threading.Lock(), False

    def mint(self, tag):
        with self.lock:
            stamp = max(self.free, now() * WIDTH)
            # 1, 2, 22
            if self.is_sealed or stamp >= self.ceiling * WIDTH and "IMID_HOLDER_NO_CEILING" not in os.environ:
                return None
            self.free = stamp + 1
        return (stamp // WIDTH << 38) + (self.lane * WIDTH + stamp % WIDTH << 26) + tag

    def used_until(self):
        return -(-self.free // WIDTH)

    def seal(self):
        with self.lock:
            self.is_sealed = True
            return self.used_until()


class Stop(Exception):
    pass


def now():
    return time.time_ns() // 1_000_000


def mono():
    return time.monotonic_ns() // 1_000_000


def parse(text):
    """Returns version, token, ceiling, horizon and state, or None."""
    found = text and LANE.fullmatch(text)
    return (int(found[1]), found[2], int(found[5]), int(found[4]), found[6]) if found else None


class Holder:
    def __init__(self):
        self.register = Postgres() if URL.startswith("postgres") else Etcd()
        self.generator = self.proven = self.base = None
        self.watched, self.claims, self.acknowledged, self.written_at, self.used = {}, set(), {}, None, 0
        self.has_lane, self.stopping = False, False

    def attempt(self, key, seen, version, ceiling, state):
        """3, 7. Returns the text, and whether it was written: None if that is unknown."""
        token = os.urandom(8).hex()
        self.claims.add(token)
        text = f"imid-lease/1 lane version={version} token={token} holder={NAME} horizon={HORIZON} ceiling={ceiling} {state}"
        try:
            return text, self.register.write(key, seen, text)
        except OSError:
            return text, None

    def raised(self, ceiling, since):
        """10"""
        elapsed = min(mono() - since, HORIZON)
        by_stamps = 0 if self.written_at is None else self.end() + min(elapsed, mono() - self.written_at)
        return min(max(now() + HORIZON, ceiling + elapsed, by_stamps), END_OF_TIME)

    def end(self):
        self.used = max(self.used, self.generator.used_until() if self.generator else 0)
        return self.used

    def check_back(self, key, text):
        """19"""
        known, found = self.acknowledged.get(key), parse(text)
        if known and (text is None or found and (found[0] < known[0] or found[2] < known[2] or found[0] == known[0] and found[1] != known[1])):
            raise Stop(f"{key} went back")

    def seek(self):
        records = self.register.list("lanes/")
        listed_at, text = mono(), records.get("lanes/meta")
        meta = text and META.fullmatch(text)
        if text is None:
            if self.proven or records:
                raise Stop("the description is lost")  # 19, 20
            token, space = os.urandom(8).hex(), "-".join(os.urandom(size).hex() for size in (4, 2, 2, 2, 6))
            self.register.write("lanes/meta", None, f"imid-lease/1 meta version=1 token={token} layout=imid-80 bits={BITS} era=1 floor=0 space={space}")
            return
        if not meta or (meta[2], int(meta[3])) != ("imid-80", BITS):
            raise Stop(f"another space: {text}")  # 21
        version, era, meta_floor, space = int(meta[1]), int(meta[4]), int(meta[5]), meta[6]
        if self.proven and (space != self.proven[2] or version < self.proven[0] or era < self.proven[1]):
            raise Stop("the description went back")  # 19
        if self.proven and self.proven[1] != era:
            self.acknowledged.clear()
        choices = []
        for lane in range(1 << BITS):
            key = f"lanes/{era}/{lane:05}"
            text = records.get(key)
            self.check_back(key, text)
            if key not in self.watched or self.watched[key][0] != text:
                self.watched[key] = (text, listed_at)
            found, since = parse(text), self.watched[key][1]
            if text and not found or found and found[4] == "closed":
                continue  # 6
            if found and found[4] == "held" and listed_at - since < found[3] and found[1] not in self.claims:
                continue  # 5
            floor = max(found[2] if found else 0, meta_floor)
            ceiling = self.raised(floor, since)
            if ceiling > max(floor, self.end()) and floor < now() + HORIZON + 4 * SKEW:
                choices.append((max(floor, now()), random.random(), key, lane, text, found, floor, ceiling))  # 11
        if choices:
            _, _, key, lane, text, found, floor, ceiling = min(choices)
            text, is_written = self.attempt(key, text, found[0] + 1 if found else 1, ceiling, "held")  # 9: directly after the list
            if is_written:
                end = self.generator.seal() if self.generator else 0  # 12
                self.used = max(self.used, end)
                self.proven, self.acknowledged[key] = (version, era, space), parse(text)
                self.key, self.base, self.since, self.written_at, self.attempts = key, text, mono(), mono(), []
                self.has_lane, self.generator = True, Generator(lane, max(floor, self.used), ceiling)  # 8
                return
        time.sleep(random.uniform(0.05, 0.15))

    def renew(self):
        base, generator = parse(self.base), self.generator
        left = generator.ceiling - max(self.end(), now())
        if mono() - self.written_at < HORIZON // 4 and left > HORIZON // 2:
            return time.sleep(0.02)
        ceiling = self.raised(base[2], self.since)
        time.sleep(0.1)
        if ceiling <= base[2]:
            return
        text, is_written = self.attempt(self.key, self.base, base[0] + 1, ceiling, "held")  # 13
        self.attempts.append(text)
        if is_written:
            generator.ceiling = max(generator.ceiling, ceiling)  # 1, 14
            self.base, self.since, self.written_at, self.attempts, self.acknowledged[self.key] = text, mono(), mono(), [], parse(text)
            return
        self.check()

    def check(self):
        """15, 16, 17. Late answers (18) do not exist here: each call is waited for, and its connection is closed after a timeout."""
        while not self.stopping:
            try:
                found = self.register.read(self.key)
            except OSError:
                time.sleep(0.1)
                continue
            self.check_back(self.key, found)
            if found in self.attempts:
                self.base, self.since = found, mono()
            self.has_lane = found == self.base
            return

    def release(self):
        if self.generator:
            end = self.generator.seal()  # 22
            for _ in range(3 if self.has_lane else 0):
                text, is_written = self.attempt(self.key, self.base, parse(self.base)[0] + 1, max(self.generator.floor, end), "free")  # 23
                found = self.register.read(self.key) if is_written is False else None
                if is_written is not False or found not in self.attempts:
                    return  # 24, 25
                self.base = found

    def run(self):
        while not self.stopping:
            try:
                self.renew() if self.has_lane else self.seek()
            except OSError:
                time.sleep(random.uniform(0.05, 0.3))


def mint_all(holder):
    with open(f"{FOLDER}/{NAME}-{os.getpid()}-{time.time_ns()}-0.ids", "wb") as file:
        while not holder.stopping:
            ids = [holder.generator.mint(tag) if holder.generator else None for tag in TAGS * 200]
            file.write(b"".join(it.to_bytes(10, "big") for it in ids if it is not None))
            file.flush()
            time.sleep(random.uniform(0, 0.03))


def main():
    holder = Holder()
    signal.signal(signal.SIGTERM, lambda *_: setattr(holder, "stopping", True))
    minting = threading.Thread(target=mint_all, args=(holder,))
    minting.start()
    try:
        holder.run()
        holder.release()
    except Stop as why:
        print(f"{NAME}: {why}", file=sys.stderr)
        holder.generator and holder.generator.seal()
        sys.exit(1)
    finally:
        holder.stopping = True
        minting.join()


if __name__ == "__main__":
    main()
