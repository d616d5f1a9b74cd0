#!/usr/bin/env python3
"""chat.py loses, doubles and reorders no message while its gateways are killed, with the clock of one of them an hour ahead:

    ci/services.sh run postgres -- check.py SECONDS [control]

The control mints by the transaction's time, without the last ID of the room,
and must be found out of order.
"""

import http.client
import json
import os
import pathlib
import random
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from email.utils import parsedate_to_datetime

import psycopg

PROGRAM = pathlib.Path(__file__).resolve().with_name("chat.py")
ROOT = PROGRAM.parents[2]
FAKETIME = next(map(str, pathlib.Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1")))
ROOMS, POSTERS, GATEWAYS = ["kitchen", "garden"], 8, 3
# What a request fails with while a gateway is killed.
FAILURES = OSError, http.client.HTTPException, ValueError
CONTROL = """CREATE OR REPLACE FUNCTION imid_after(last bytea, session_tag integer, limit_ms bigint DEFAULT 86400000) RETURNS bytea
    LANGUAGE sql VOLATILE AS $$ SELECT imid_lift(NULL, session_tag, 0) $$;
    CREATE OR REPLACE FUNCTION imid_lift(last bytea, session_tag integer, ahead_ms bigint) RETURNS bytea LANGUAGE sql VOLATILE AS $$
    SELECT substring(int8send((extract(epoch FROM now()) * 1000)::bigint << 22 >> 24) FROM 4)
        || substring(int8send(((random() * 16383)::bigint << 26) | session_tag) FROM 4) $$"""


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def start(place, port):
    # Not by the program faketime, which would be killed in place of the gateway.
    clock = {"LD_PRELOAD": FAKETIME, "FAKETIME": "+1h", "FAKETIME_DONT_FAKE_MONOTONIC": "1", "FAKETIME_DISABLE_SHM": "1"} if place == 0 else {}
    return subprocess.Popen([sys.executable, PROGRAM, str(port)], env={**os.environ, **clock}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def wait_for(port):
    while True:
        try:
            return ask(port, "/unread?reader=nobody")
        except FAILURES:
            time.sleep(0.05)


def ask(port, path, value=None, method=None):
    data = None if value is None else json.dumps(value).encode()
    with urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{port}{path}", data, method=method), timeout=60) as answer:
        return json.load(answer)


def follow(ports, room, seen, is_over):
    """Follows a room, at another gateway each time a stream ends."""
    while not is_over.is_set():
        after = f"?after={seen[-1]}" if seen else ""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{random.choice(ports)}/rooms/{room}/events{after}", timeout=8) as stream:
                for line in stream:
                    assert not line.startswith(b"event: reset"), "the database has lost nothing"
                    if line.startswith(b"id: "):
                        seen.append(line[4:].decode().strip())
                    if is_over.is_set():
                        break
        except FAILURES:
            time.sleep(0.05)


def post(ports, poster, acknowledged, is_over):
    n = 0
    while not is_over.is_set():
        n += 1
        room, message = ROOMS[n % len(ROOMS)], {"sender": f"user-{poster}", "key": str(n), "body": f"message {n}"}
        for _ in range(2 if n % 20 == 0 else 1):  # Some are sent twice on purpose.
            while True:
                try:
                    posted = ask(random.choice(ports), f"/rooms/{room}/messages", message)
                    break
                except FAILURES:
                    time.sleep(0.02)
            acknowledged.append((poster, n, room, posted["number"], posted["id"]))


def main():
    seconds, is_control = float(sys.argv[1]), sys.argv[2:] == ["control"]
    os.environ["DATABASE_URL"] = os.environ["IMID_POSTGRES_URL"]
    database = psycopg.connect(os.environ["DATABASE_URL"], autocommit=True)
    for name in ("install", "tables", "mint"):
        database.execute((ROOT / f"sql/postgres/{name}.sql").read_text())
    # As written in the README.
    [block] = re.findall(r"^```sql\n(.*?)^```$", (ROOT / "README.md").read_text(), re.M | re.S)
    for statement in block.strip().splitlines():
        [row] = database.execute(statement).fetchall()
    assert len(row[0]) == 10, row
    if is_control:
        database.execute(CONTROL)
    ports = [free_port() for _ in range(GATEWAYS)]
    gateways = [start(place, port) for place, port in enumerate(ports)]
    acknowledged, seen, is_over, is_followed = [], {room: [] for room in ROOMS}, threading.Event(), threading.Event()
    posters = [threading.Thread(target=post, args=(ports, poster, acknowledged, is_over)) for poster in range(POSTERS)]
    followers = [threading.Thread(target=follow, args=(ports, room, seen[room], is_followed)) for room in ROOMS]
    try:
        for port in ports:
            wait_for(port)
        for thread in posters + followers:
            thread.start()
        end, killed = time.monotonic() + seconds, 0
        while time.monotonic() < end or len(acknowledged) < 200 and time.monotonic() < end + 300:
            time.sleep(2)
            place = killed % GATEWAYS
            gateways[place].kill()
            gateways[place].wait()
            gateways[place] = start(place, ports[place])
            wait_for(ports[place])
            killed += 1
        is_over.set()
        for poster in posters:
            poster.join()
        with urllib.request.urlopen(f"http://127.0.0.1:{ports[0]}/unread?reader=a", timeout=60) as answer:
            clock_s = parsedate_to_datetime(answer.headers["date"]).timestamp() - time.time()
        assert clock_s > 3500, f"the clock of a gateway is {clock_s} s ahead"
        sql = "SELECT room, number, imid_text(id) FROM messages WHERE room = ANY(%s) ORDER BY room, number"
        stored = database.execute(sql, [ROOMS]).fetchall()
        of_room = {room: [(number, id) for name, number, id in stored if name == room] for room in ROOMS}
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline and any(len(seen[room]) < len(of_room[room]) for room in ROOMS):
            time.sleep(0.1)
        is_followed.set()
        for follower in followers:
            follower.join()
        sql = "SELECT (imid_ms(id) - extract(epoch FROM clock_timestamp()) * 1000)::bigint FROM messages ORDER BY id DESC LIMIT 1"
        [ahead_ms] = database.execute(sql).fetchone()
        for status, value in [(400, {"sender": "a", "key": "nul", "body": "a\0b"}), (400, {"sender": "a"})]:
            code, deadline = 503, time.monotonic() + 300
            while code == 503 and time.monotonic() < deadline:
                try:
                    ask(ports[0], "/rooms/kitchen/messages", value)
                    sys.exit(f"check.py: {value} was stored")
                except urllib.error.HTTPError as error:
                    code = error.code
                    time.sleep(0.1)
            assert code == status, f"{value} was answered {code}"
    finally:
        is_over.set()
        is_followed.set()
        for gateway in gateways:
            gateway.kill()

    rows = {(room, number, id) for room, number, id in stored}
    lost = sum((room, number, id) not in rows for _, _, room, number, id in acknowledged)
    messages = {(poster, n) for poster, n, *_ in acknowledged}
    twice = len({id for *_, id in acknowledged}) - len(messages)
    gaps = sum([number for number, _ in of_room[room]] != list(range(1, len(of_room[room]) + 1)) for room in ROOMS)
    lower = sum(a >= b for room in ROOMS for (_, a), (_, b) in zip(of_room[room], of_room[room][1:]))
    missed = sum(seen[room] != [id for _, id in of_room[room]] for room in ROOMS)
    print(f"{len(stored)} messages, {killed} gateways killed: {lost} lost, {twice} stored twice, {lower} lower, {gaps} rooms with gaps, "
          f"{missed} followers that missed some; IDs {ahead_ms} ms ahead of the database")
    is_right = len(stored) == len(messages) > 100 and not lost and not twice and not lower and not gaps and not missed and ahead_ms < 1000
    if is_control:
        sys.exit(0 if lower else "check.py: the control found nothing out of order")
    sys.exit(0 if is_right else 1)


if __name__ == "__main__":
    main()
