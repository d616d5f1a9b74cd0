#!/usr/bin/env python3
"""Attacks imid_post of */mint.sql on a real server, and then breaks the conditions of docs/STORES.md one after the other:

    python evidence.py postgres|mysql [SECONDS]      for each attack; 1.5 unless it is given

The URL is in IMID_POSTGRES_URL or IMID_MYSQL_URL; mint.sql and the new tables of tables.sql are in the schema or database imid_evidence. For
each attack there is a control without what protects from it. The status is 1 if an attack counts anything, or a control nothing in 20 rounds:

    lower    IDs that are not in the order of the numbers of their room
    equal    messages with the ID of another one
    gaps     numbers that are missing
    missed   what a follower of each room by `id > cursor` has never seen
    lost     messages that were acknowledged and are not there
    doubled  messages of one client that are there twice
    errors   calls that failed, which the writer repeats

IMID_CLOCK_FILE is the file from which the server takes the offset of its clock (ci/services.sh); without it the clock does not step. With
IMID_SERVICES_SH, what may be lost is lost: a standby of PostgreSQL is promoted, and MariaDB is restored.
"""

import contextlib
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict

DATABASE, SECONDS = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 1.5
WRITERS, HOUR_MS, GROUP = 6, 3_600_000, 3 << 22
URL = os.environ[f"IMID_{DATABASE.upper()}_URL"]
CLOCK_FILE, SERVICES = os.environ.get("IMID_CLOCK_FILE"), os.environ.get("IMID_SERVICES_SH")
WRONG = "lower equal gaps missed lost doubled".split()
START_MS = time.time_ns() // 1_000_000
failures = []


class Connection:
    """A connection in autocommit, that can be killed."""

    def __init__(self, url=URL):
        if DATABASE == "postgres":
            import psycopg

            # pgbouncer needs statements without names.
            self.error, self.inner = psycopg.Error, psycopg.connect(url, autocommit=True, connect_timeout=60, prepare_threshold=None)
            self("SET search_path = imid_evidence")
            self.pid = self.inner.info.backend_pid
        else:
            import pymysql

            user, password, host, port, _ = re.fullmatch(r"mysql://(.+?):(.*)@(.+):(\d+)/(.+)", url).groups()
            self.error = pymysql.Error
            self.inner = pymysql.connect(host=host, port=int(port), user=user, password=password, database="imid_evidence",
                                         autocommit=True, charset="utf8mb4", connect_timeout=60)
            self.pid = self.inner.thread_id()
            self("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")

    def __call__(self, sql, *values):
        with self.inner.cursor() as cursor:
            cursor.execute(sql, values)
            return list(cursor.fetchall()) if cursor.description else []

    def kill(self, pid):
        self("SELECT pg_terminate_backend(%s)" if DATABASE == "postgres" else "KILL %s", pid)


class Room:
    def __init__(self, name, tag, ahead_ms=0):
        self.name, self.tag, self.ahead_ms = name, GROUP + tag, ahead_ms

    def last_id(self):
        return (((START_MS + self.ahead_ms) << 38) + self.tag).to_bytes(10, "big") if self.ahead_ms else None


# ----------------------------------------------------------------------------------------------------------------------
# Ways to store a message. Each returns the ID.


def post(run, room, sender, key):
    call = "SELECT * FROM imid_post(%s, 3, %s, %s, 'hello')" if DATABASE == "postgres" else "CALL imid_post(%s, 3, %s, %s, 'hello')"
    return bytes(run(call, room.name, sender, key)[0][0])


def take(run, room):
    update = "UPDATE rooms SET last_number = last_number + 1 WHERE name = %s"
    if DATABASE == "postgres":
        return run(update + " RETURNING last_number, last_id, session_tag", room.name)[0]
    run(update, room.name)
    return run("SELECT last_number, last_id, session_tag FROM rooms WHERE name = %s", room.name)[0]


def mint(run, last, tag):
    return bytes(run("SELECT imid_after(%s, %s)", last, tag)[0][0])


def store(run, room, sender, key, id, number):
    run("INSERT INTO messages VALUES (%s, %s, %s, %s, %s, 'hello')", id, room.name, number, sender, key)
    run("UPDATE rooms SET last_id = %s WHERE name = %s", id, room.name)
    return id


def transaction(body):
    """An error ends it, because the writer then closes its connection."""

    def way(run, room, sender, key):
        run("BEGIN")
        id = body(run, room, sender, key)
        run("COMMIT")
        return id

    return way


def in_steps(run, room, sender, key):
    number, last, tag = take(run, room)
    return store(run, room, sender, key, mint(run, last, tag), number)


def last_from(read, is_locked=False):
    """Takes the last ID from elsewhere, before or after the room is locked."""

    def body(run, room, sender, key):
        last = None if is_locked else read(run, room)
        number, _, tag = take(run, room)
        last = read(run, room) if is_locked else last
        return store(run, room, sender, key, mint(run, last, tag), number)

    return transaction(body)


def row_of(run, room):
    return run("SELECT last_id FROM rooms WHERE name = %s", room.name)[0][0]


def greatest_of(run, room):
    found = run("SELECT id FROM messages WHERE room = %s ORDER BY id DESC LIMIT 1", room.name)
    return found[0][0] if found else room.last_id()


def in_a_cte(run, room, sender, key):
    (number, id), = run("""WITH room AS (SELECT last_id FROM rooms WHERE name = %s)
        UPDATE rooms SET last_number = last_number + 1, last_id = imid_after((SELECT last_id FROM room), session_tag) WHERE name = %s
        RETURNING last_number, last_id""", room.name, room.name)
    run("INSERT INTO messages VALUES (%s, %s, %s, %s, %s, 'hello')", id, room.name, number, sender, key)
    return bytes(id)


def savepoint_before_take(run, room, sender, key):
    run("SAVEPOINT before_take")
    _, last, tag = take(run, room)
    id = mint(run, last, tag)
    if random.random() < 0.5:
        # An error; the program keeps its ID, but the room is not locked any more.
        run("ROLLBACK TO SAVEPOINT before_take")
        number, *_ = take(run, room)
    else:
        run("RELEASE SAVEPOINT before_take")
        number = run("SELECT last_number FROM rooms WHERE name = %s", room.name)[0][0]
    return store(run, room, sender, key, id, number)


def by_the_hosts_clock(run, room, sender, key):
    """The clocks of the hosts differ by an hour, and each host mints after its own last ID."""
    number, _, tag = take(run, room)
    host_ms = time.time_ns() // 1_000_000 + int(sender) % 2 * HOUR_MS
    id = ((host_ms << 38) + (random.randrange(4096) << 26) + tag).to_bytes(10, "big")
    return store(run, room, sender, key, id, number)


def lowered_row(run, room, sender, key):
    """One post of ten lowers the room's last ID to an old one, as a row does that was deleted or restored."""
    if random.random() < 0.1:
        run("UPDATE rooms SET last_id = %s WHERE name = %s", room.last_id(), room.name)
    return in_steps(run, room, sender, key)


def two_rooms(in_order):
    """Stores in a room, in a transaction that also locks another one."""

    def body(run, room, sender, key):
        names = [room.name, f"room-{random.randrange(4)}"]
        for name in sorted(names) if in_order else names:
            run("SELECT 1 FROM rooms WHERE name = %s FOR UPDATE", name)
        return in_steps(run, room, sender, key)

    return transaction(body)


# ----------------------------------------------------------------------------------------------------------------------


def reset(run, rooms):
    run("TRUNCATE messages" if DATABASE == "postgres" else "DELETE FROM messages")
    run("DELETE FROM rooms")
    run("INSERT INTO rooms VALUES ('', 0, 0, NULL)")
    for room in rooms:
        run("INSERT INTO rooms VALUES (%s, %s, 0, %s)", room.name, room.tag, room.last_id())


def primary_key(run, is_there):
    if DATABASE == "postgres":
        run("ALTER TABLE messages DROP CONSTRAINT IF EXISTS messages_pkey")
        run("ALTER TABLE messages ADD PRIMARY KEY (id)" if is_there else "CREATE INDEX IF NOT EXISTS no_key ON messages (id)")
    else:
        run("ALTER TABLE messages " + ("ADD PRIMARY KEY (id)" if is_there else "DROP PRIMARY KEY"))


def attack(way, rooms, seconds=SECONDS, kills=False, new_keys=False, steps=(), url=URL, least=200):
    """Writers store for some seconds, and on a slow machine until they have tried to store a few messages. Returns what is wrong."""
    admin = connected()
    reset(admin, rooms)
    acknowledged, pids, is_over, seen = [], [0] * WRITERS, threading.Event(), defaultdict(set)
    senders, errors = defaultdict(set), []

    def write(writer):
        run, luck, n = None, random.Random(), 0
        while not is_over.is_set():
            room, n = luck.choice(rooms), n + 1
            key = str(n)
            for attempt in range(1_000):
                try:
                    if run is None:
                        run = Connection(url)
                        pids[writer] = run.pid
                    id = way(run, room, str(writer), key)
                    if kills and attempt == 0 and luck.random() < 0.05:
                        raise ConnectionError("the answer is lost")
                    acknowledged.append((id, room.name, str(writer), str(n)))
                    break
                except Exception as error:
                    if is_over.is_set():
                        break
                    errors.append(str(error))
                    if new_keys:
                        key = f"{n}-{attempt}"
                    # A new connection, because the transaction may be open.
                    if run:
                        run.inner.close()
                    pids[writer], run = 0, None
                    time.sleep(0.01)

    def follow():
        run, cursors = connected(), {room.name: b"" for room in rooms}
        while True:
            is_last = is_over.wait(0.003) and not any(thread.is_alive() for thread in threads)
            for name, cursor in cursors.items():
                for id, in run("SELECT id FROM messages WHERE room = %s AND id > %s ORDER BY id", name, cursor):
                    seen[name].add(bytes(id))
                    cursors[name] = bytes(id)
            if is_last:
                return

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(WRITERS)]
    follower = threading.Thread(target=follow)
    for thread in [*threads, follower]:
        thread.start()
    killed, parts = 0, [*steps, None]
    for step in parts:
        # Each part has its share of the time and of the messages.
        end = time.monotonic() + seconds / len(parts)
        wanted = len(acknowledged) + len(errors) + least / len(parts)
        while time.monotonic() < end or len(acknowledged) + len(errors) < wanted and time.monotonic() < end + 60:
            time.sleep(0.25 if kills else 0.02)
            pid = random.choice(pids)
            if kills and pid:
                try:
                    admin.kill(pid)
                    killed += 1
                except admin.error:
                    pass
        if step:
            step_clock(step)
    is_over.set()
    for thread in [*threads, follower]:
        thread.join()

    by_room = defaultdict(list)
    for id, name, number, sender, key in admin("SELECT id, room, number, sender, client_key FROM messages ORDER BY room, number"):
        by_room[name].append((bytes(id), number))
        senders[sender, name, key.split("-")[0]].add(key)
    stored = [id for rows in by_room.values() for id, _ in rows]
    there = {(id, name) for name, rows in by_room.items() for id, _ in rows}
    counts = {
        "posts": len(stored),
        "lower": sum(a[0] > b[0] for rows in by_room.values() for a, b in zip(rows, rows[1:])),
        "equal": len(stored) - len(set(stored)),
        "gaps": sum(number != place for rows in by_room.values() for place, (_, number) in enumerate(rows, 1)),
        "missed": sum(id not in seen[name] for name, rows in by_room.items() for id, _ in rows),
        "lost": sum((id, name) not in there for id, name, *_ in acknowledged),
        "doubled": sum(len(keys) - 1 for keys in senders.values()),
    }
    if kills:
        counts["kills"] = killed
    if errors or not stored:
        counts["errors"] = len(errors)
    return counts


def report(what, way, rooms, control=None, **options):
    """An attack counts nothing wrong. A control takes less time, and counts what it is for; if a round counts nothing by chance, another does."""
    check(what, lambda: attack(way, rooms, **{"seconds": SECONDS / 4 if control else SECONDS, **options}), control)


def check(what, count, control=None):
    for rounds in range(1, 21 if control else 2):
        counts = count()
        wrong = [name for name in WRONG if counts.get(name)]
        is_right = counts.get(control, 0) > 0 if control else not wrong and counts["posts"] > 0
        if is_right:
            break
    line = f"{'ok' if is_right else 'WRONG'}: {'control: ' if control else ''}{what}: " + ", ".join(f"{value} {name}" for name, value in counts.items())
    print(line + (f" (round {rounds})" if rounds > 1 else ""), flush=True)
    if not is_right:
        failures.append(line)


def step_clock(offset):
    with open(CLOCK_FILE + ".new", "w") as file:
        file.write(offset + "\n")
    os.chmod(CLOCK_FILE + ".new", 0o644)
    os.replace(CLOCK_FILE + ".new", CLOCK_FILE)


def server(what):
    subprocess.run(["bash", SERVICES, "server", *what.split()], check=True)


def connected(url=URL):
    """A connection to a server that may be starting."""
    for _ in range(600):
        try:
            return Connection(url)
        except Exception:
            time.sleep(0.1)
    return Connection(url)


def new_standby():
    server("postgres standby")
    with open(os.environ["IMID_SERVICES"] + "/standby/port", encoding="ascii") as file:
        return connected(re.sub(r":\d+/", f":{file.read().strip()}/", URL))


def loss(lift_ms, clock="+0"):
    """The server loses its newest messages, and the clock of the next one is another. Readers know these messages; what is posted after
    that must be after them."""
    rooms = [Room(f"room-{n}", n, n % 2 * HOUR_MS) for n in range(8)]
    # The row of a new room is lost too, and its IDs are ahead, because the clock was wrong.
    new = [Room(f"new-{n}", 100 + n, HOUR_MS) for n in range(4)]
    if CLOCK_FILE:
        step_clock("+0")
    run = connected()
    reset(run, rooms)
    for n in range(80):
        post(run, rooms[n % 8], "before", str(n))
    if DATABASE == "postgres":
        standby = new_standby()
        while standby("SELECT count(*) FROM messages")[0][0] < 80:
            time.sleep(0.02)
        standby.inner.close()
        server("standby detach")
    else:
        run.inner.close()
        server("mysql save")
        run = connected()
    for room in new:
        run("INSERT INTO rooms VALUES (%s, %s, 0, %s)", room.name, room.tag, room.last_id())
    known = defaultdict(set)
    for n in range(600):
        room = (rooms + new)[n % 12]
        known[room.name].add(post(run, room, "lost", str(n)))
    run.inner.close()
    if CLOCK_FILE:
        step_clock(clock)
    server("standby promote" if DATABASE == "postgres" else "mysql restore")
    run = connected()
    if lift_ms is not None:
        run("UPDATE rooms SET last_id = imid_lift(last_id, session_tag, %s)", lift_ms)
    lower = equal = 0
    for n in range(600):
        room = (rooms + new)[n % 12]
        id = post(run, room, "after", str(n))
        lower += id < max(known[room.name])
        equal += id in known[room.name]
    return {"posts": 600, "lower": lower, "equal": equal}


@contextlib.contextmanager
def pooled(mode):
    """The URL of pgbouncer with three connections to the server."""
    user, password, host, port, name = re.fullmatch(r"postgres://(.+?):(.*)@(.+):(\d+)/(.+)", URL).groups()
    with tempfile.TemporaryDirectory() as folder:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            listen = free.getsockname()[1]
        with open(f"{folder}/users", "w", encoding="ascii") as file:
            file.write(f'"{user}" "{password}"\n')
        with open(f"{folder}/ini", "w", encoding="ascii") as file:
            file.write(f"[databases]\n{name} = host={host} port={port} connect_query='SET search_path = imid_evidence'\n[pgbouncer]\nlisten_addr = 127.0.0.1\n"
                       f"listen_port = {listen}\nauth_type = plain\nauth_file = {folder}/users\npool_mode = {mode}\ndefault_pool_size = 3\n"
                       "unix_socket_dir =\n")
        os.chmod(folder, 0o755)
        user_of = {"user": "nobody"} if os.geteuid() == 0 else {}
        process = subprocess.Popen(["pgbouncer", "-q", f"{folder}/ini"], stderr=subprocess.DEVNULL, **user_of)
        url = f"postgres://{user}:{password}@127.0.0.1:{listen}/{name}"
        try:
            connected(url)
            yield url
        finally:
            process.terminate()
            process.wait()


def main():
    version = Connection()("SELECT version()")[0][0].split(" (")[0]
    print(f"{version}, {WRITERS} writers")
    has_servers = SERVICES and os.environ.get("IMID_LOSS")
    now = [Room(f"room-{n}", n) for n in range(4)]
    plain = [Room(f"room-{n}", n, n % 2 * HOUR_MS) for n in range(4)]
    ahead = [Room(f"room-{n}", n, HOUR_MS) for n in range(4)]
    twins = [Room(f"twin-{n}", 7) for n in range(2)]
    twins_ahead = [Room(f"twin-{n}", 7, HOUR_MS) for n in range(16)]
    report("imid_post, half of the rooms an hour ahead", post, plain)
    report("take, mint, store, commit in steps", transaction(in_steps), plain)
    report("kills every 250 ms, lost answers", post, plain, seconds=2 * SECONDS, kills=True)
    report("kills, lost answers, and a new key for each attempt", post, plain, "doubled", kills=True, new_keys=True)
    if CLOCK_FILE:
        steps = ["+3600", "+0", "-3600", "+3600", "+0"]
        report("the clock of the database steps an hour in both directions", post, now, seconds=2 * SECONDS, steps=steps)
        report("the same, minted without the last ID", last_from(lambda run, room: None), now, "lower", steps=steps)
    report("hosts mint by their own clocks, an hour apart", transaction(by_the_hosts_clock), plain, "lower")
    report("two rooms of one tag", post, twins)
    report("sixteen rooms of one tag, an hour ahead", post, twins_ahead)
    admin = connected()
    primary_key(admin, False)
    report("condition 5: sixteen rooms of one tag, an hour ahead, no key on the ID alone", transaction(in_steps), twins_ahead, "equal", least=1_000)
    reset(admin, [])
    primary_key(admin, True)
    report("condition 1: autocommit", in_steps, ahead, "lower")
    report("condition 2: the last ID is read before the lock", last_from(row_of), ahead, "lower")
    report("condition 2: max(id)", last_from(greatest_of), ahead, "lower")
    if DATABASE == "postgres":
        report("condition 2: the last ID is read in a CTE", transaction(in_a_cte), ahead, "lower")
        if has_servers:
            standby = new_standby()
            report("condition 2: the last ID is read from a standby", last_from(lambda _, room: row_of(standby, room), is_locked=True), ahead, "lower")
            standby.inner.close()
    report("condition 3: a savepoint before take", transaction(savepoint_before_take), ahead, "lower")
    report("condition 3: two rooms, locked in the order of their names", two_rooms(True), plain)
    report("condition 3: two rooms, locked in any order", two_rooms(False), ahead, "errors")
    report("condition 4: a room's last ID is lowered", transaction(lowered_row), ahead, "lower")
    if DATABASE == "postgres" and shutil.which("pgbouncer", path=os.environ["PATH"] + ":/usr/sbin"):
        os.environ["PATH"] += ":/usr/sbin"
        with pooled("transaction") as url:
            report("condition 8: pgbouncer with transaction pooling, imid_post", post, plain, url=url)
            report("condition 8: pgbouncer with transaction pooling, in steps", transaction(in_steps), plain, url=url)
        with pooled("statement") as url:
            report("condition 8: pgbouncer with statement pooling, in steps", transaction(in_steps), plain, "errors", url=url, least=20)
            report("condition 8: pgbouncer with statement pooling, autocommit", in_steps, ahead, "lower", url=url)
    if has_servers:
        check("condition 7: commits are lost, each room is lifted", lambda: loss(HOUR_MS + 60_000))
        if CLOCK_FILE:
            check("condition 7: the clock of the next server is an hour behind, each room is lifted", lambda: loss(2 * HOUR_MS + 60_000, "-3600"))
            check("condition 7: the same, lifted by less than the clocks differ", lambda: loss(HOUR_MS, "-3600"), "lower")
            step_clock("+0")
        check("condition 7: commits are lost, no room is lifted", lambda: loss(None), "lower")
    if failures:
        sys.exit("\n".join(failures))


if __name__ == "__main__":
    main()
