#!/usr/bin/env python3
"""Tests the statements of mint.sql with the tables of tables.sql: mint_test.py. It uses the module apsw if it is there, and sqlite3 otherwise."""

import os
import re
import sys
import threading
import time

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(FOLDER))
from chat import sections  # noqa: E402

try:
    import apsw

    Error, version = apsw.Error, apsw.sqlite_lib_version()

    def connect(path):
        connection = apsw.Connection(path)
        connection.set_busy_timeout(600_000)
        return lambda sql, **values: list(connection.execute(sql, values))
except ImportError:
    import sqlite3

    Error, version = sqlite3.Error, sqlite3.sqlite_version

    def connect(path):
        connection = sqlite3.connect(path, isolation_level=None, timeout=600)
        return lambda sql, **values: list(connection.execute(sql, values))

MINT, NUMBERS = sections(f"{FOLDER}/mint.sql"), sections(f"{FOLDER}/numbers.sql")
TAKE, STORE, LIFT, KNOWN = MINT["take"][0], MINT["store"][0], MINT["lift"][0], NUMBERS["known"][0]
TABLES = re.sub(r"--.*", "", open(f"{FOLDER}/tables.sql", encoding="utf-8").read()).split(";")
ROOM_42 = 16_549_227


def expect(what, is_right):
    if not is_right:
        sys.exit(f"mint_test.py: {what}")
    print(f"ok: {what}")


def create(run):
    for statement in TABLES:
        if statement.strip():
            run(statement)


def post(run, room, tag, sender, key):
    """Returns the ID, the number and whether the message is new, or None if the room is too far ahead."""
    for _ in range(5):
        run("BEGIN IMMEDIATE")
        try:
            taken = run(TAKE, room=room, session_tag=tag)
            if not taken:
                run("ROLLBACK")
                return None
            (number, digits), = taken
            id = bytes.fromhex(digits)
            if run(STORE, id=id, room=room, number=number, sender=sender, key=key, body="hello"):
                run("COMMIT")
                return id, number, True
            run("ROLLBACK")
            return *run(KNOWN, room=room, sender=sender, key=key)[0], False
        except Error as error:
            run("ROLLBACK")
            if "messages.id" not in str(error):
                raise
    raise Error("no new ID in 5 attempts")


def refusal(run, *message):
    try:
        return str(post(run, *message))
    except Error as error:
        return str(error)


def stamp(id):
    return int.from_bytes(id, "big") >> 26


def now():
    return time.time_ns() // 1_000_000 << 12


def one_connection():
    run = connect(":memory:")
    create(run), create(run)
    before = now()
    posts = [post(run, "room-42", ROOM_42, "ada", str(n)) for n in range(1_000)]
    expect("numbers without gaps", [number for _, number, _ in posts] == list(range(1, 1_001)))
    expect("IDs ascend and have the tag and the time", [id for id, *_ in posts] == sorted({id for id, *_ in posts})
           and all(int.from_bytes(id, "big") % 2**26 == ROOM_42 and before <= stamp(id) <= now() + 4096 + 1_024_000 for id, *_ in posts))
    expect("a client key is known and takes no number", post(run, "room-42", ROOM_42, "ada", "7") == (*posts[7][:2], False)
           and post(run, "room-42", ROOM_42, "ada", "next")[1:] == (1_001, True))
    expect("a key is of a sender and of a room", post(run, "room-42", ROOM_42, "bob", "7")[1:] == (1_002, True)
           and post(run, "room-43", 5, "ada", "7")[1:] == (1, True))
    spins = [int(run(TAKE, room=f"new-{n}", session_tag=1)[0][1], 16) >> 26 & 4095 for n in range(5_000)]
    expect("a spin is even over 0 to 4095", min(spins) < 64 and max(spins) > 4_031 and 1_947 < sum(spins) / 5_000 < 2_147)
    run("UPDATE rooms SET last_stamp = :stamp WHERE name = 'room-43'", stamp=now() + (3_600_000 << 12))
    ahead = [int(run(TAKE, room="room-43", session_tag=5)[0][1], 16) >> 26 for _ in range(5_000)]
    steps = [b - a for a, b in zip(ahead, ahead[1:])]
    expect("a step is even over 1 to 1,024", min(steps) in range(1, 17) and max(steps) in range(1_009, 1_025) and 490 < sum(steps) / 4_999 < 535)
    for day, is_followed in (86_399_000, True), (87_000_000, False):
        run("UPDATE rooms SET last_stamp = :stamp WHERE name = 'room-43'", stamp=now() + (day << 12))
        expect(f"a last ID {day} ms ahead", bool(post(run, "room-43", 5, "ada", str(day))) == is_followed)
    for what, message, wanted in [
        ("no session tag", ("new", None, "a", "1"), "NOT NULL constraint failed: rooms.session_tag"),
        ("a negative session tag", ("new", -1, "a", "1"), "CHECK constraint failed"),
        ("a session tag of 27 bits", ("new", 2**26, "a", "1"), "CHECK constraint failed"),
        ("a session tag that is a text", ("new", "x", "a", "1"), "CHECK constraint failed"),
        ("no room", (None, 1, "a", "1"), "NOT NULL constraint failed: rooms.name"),
        ("no sender", ("room-42", ROOM_42, None, "1"), "NOT NULL constraint failed: messages.sender"),
        ("no key", ("room-42", ROOM_42, "a", None), "NOT NULL constraint failed: messages.client_key"),
    ]:
        found = refusal(run, *message)
        expect(f"{what}: {found}", wanted in found)
    expect("errors took no number", run("SELECT last_number FROM rooms WHERE name IN ('room-42', 'new')") == [(1_002,)])
    refused = ""
    try:
        run("UPDATE rooms SET last_stamp = 1 << 54")
    except Error as error:
        refused = str(error)
    expect(f"a stamp of 55 bits: {refused}", "CHECK constraint failed" in refused)

    # A room of the same tag has half of the next IDs, and then all of them.
    def occupy(modulus):
        last = run("SELECT last_stamp FROM rooms WHERE name = 'room-42'")[0][0]
        twin = run("SELECT count(*) FROM messages WHERE room = 'twin'")[0][0]
        for step in range(1, 6_001):
            if step % modulus:
                run("INSERT OR IGNORE INTO messages VALUES (:id, 'twin', :number, 'a', :number, '')",
                    id=((last + step << 26) + ROOM_42).to_bytes(10, "big"), number=twin + step)

    run("UPDATE rooms SET last_stamp = :stamp WHERE name = 'room-42'", stamp=now() + (3_600_000 << 12))
    occupy(2)
    collided = []
    while len(collided) < 6:
        try:
            collided.append(post(run, "room-42", ROOM_42, "ada", f"c{len(collided)}"))
        except Error:
            pass
    expect("a collision takes another ID and no other number", [number for _, number, _ in collided] == list(range(1_003, 1_009)))
    occupy(10**6)
    expect("a room that is full has an error", "no new ID in 5 attempts" in refusal(run, "room-42", ROOM_42, "ada", "full"))

    before, begin = dict(run("SELECT name, last_stamp FROM rooms")), now()
    run(LIFT, ahead=60_000)
    lifted, end = dict(run("SELECT name, last_stamp FROM rooms")), now()
    expect("each room is lifted above its last ID and the clock",
           all(max(before[name], begin) + (60_000 << 12) <= at <= max(before[name], end) + (60_001 << 12) for name, at in lifted.items()))
    expect("a new room begins after that", stamp(post(run, "lifted", 9, "ada", "1")[0]) > begin + (60_000 << 12))


def many_connections(folder):
    """Eight writers of four rooms, of which two have one tag, and a follower by `id > cursor`."""
    path = os.path.join(folder, "mint")
    create(connect(path))
    tags = {"a": 1, "b": 2, "twin-1": 3, "twin-2": 3}
    stored, is_over = [], threading.Event()

    def write(writer):
        run = connect(path)
        for n in range(100):
            room = list(tags)[(writer + n) % 4]
            stored.append((room, *post(run, room, tags[room], f"user-{writer}", str(n))))

    seen = {room: [] for room in tags}

    def follow():
        run, cursors = connect(path), dict.fromkeys(tags, b"")
        while True:
            is_last = is_over.is_set()
            for room in tags:
                for id, in run("SELECT id FROM messages WHERE room = :room AND id > :cursor ORDER BY id", room=room, cursor=cursors[room]):
                    seen[room].append(id)
                    cursors[room] = id
            if is_last:
                return
            time.sleep(0.005)

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(8)]
    follower = threading.Thread(target=follow)
    for thread in [*threads, follower]:
        thread.start()
    for thread in threads:
        thread.join()
    is_over.set()
    follower.join()
    run = connect(path)
    expect("8 writers: all are stored, no ID is duplicated", len({id for _, id, *_ in stored}) == 800
           and run("SELECT count(*) FROM messages") == [(800,)])
    expect("no gap and no ID out of order", run(NUMBERS["audit"][0]) == [(800, 0, 0)] and run(NUMBERS["gaps"][0]) == [])
    expect("a follower by id > cursor has missed nothing", all(
        seen[room] == [id for id, in run("SELECT id FROM messages WHERE room = :room ORDER BY number", room=room)] for room in tags))


if __name__ == "__main__":
    import tempfile

    print(f"SQLite {version}")
    one_connection()
    with tempfile.TemporaryDirectory() as folder:
        many_connections(folder)
