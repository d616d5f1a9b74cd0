#!/usr/bin/env python3
"""Runs DATABASE/chat.sql, the tables and queries of a chat, with messages that the tool `imid tag` gave IDs to.

    python chat.py postgres|mysql|sqlite|duckdb|clickhouse TAGGED

TAGGED has one JSON object a line, with "id", "room" or "channel" and "topic", "seq" and "length". `chat.py sample` prints
messages without IDs, for a machine that has no archive of a chat.

Each answer of the database is compared with a recount in Python, which reads the IDs without the library. The plans of the
queries must say that the index is used.
"""

import bisect
import csv
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict

from embedded import statements

DIGITS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
FOLDER = os.path.dirname(os.path.abspath(__file__))
PAGE = 200
# As in postgres/chat.sql.
PARTITION_DAYS = 30
# How a database explains a query, what its answer must have, and what that means.
PLANS = {
    "postgres": ("EXPLAIN (COSTS OFF) ", {
        "page": r"Index Scan.*Index Cond: .*session_tag = .*id < ",
        # One partition, and the bounds in its index.
        "minute": r"\A(Sort|Index|Bitmap)(?!.*Append).*Index Cond: \(\(id >= .*id <= "}, "uses the index"),
    "mysql": ("EXPLAIN ", {"page": r"\brange \S*by_session_tag by_session_tag 17\b", "minute": r"\brange PRIMARY PRIMARY 12\b"}, "uses the index"),
    "sqlite": ("EXPLAIN QUERY PLAN ", {
        "page": r"SEARCH messages USING INDEX messages_by_session_tag \(imid_session_tag=\? AND id<\?\)",
        "minute": r"SEARCH messages USING PRIMARY KEY \(id>\? AND id<\?\)"}, "uses the index"),
    # DuckDB has no range scans of an index. A scan of the table has the least and the greatest ID of each row group (zone map),
    # and skips a row group if a constant bound says so.
    "duckdb": ("EXPLAIN ", {"page": r"Top N.*Seq Scan.*Filters:.*id < '", "minute": r"Seq Scan.*Filters:.*id >= '.*id <= '"},
               "is a scan with constant bounds for the zone maps"),
    "clickhouse": ("EXPLAIN indexes = 1 ", {
        "page": r"PrimaryKey\W+Keys:\W+session_tag\W+id\W", "minute": r"Min-?Max\W+Keys:\W+id\W"}, "uses the index"),
}


def integer(text):
    value = 0
    for digit in text.replace("-", ""):
        value = value * 32 + DIGITS.index(digit)
    return value


def quoted(value):
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


def filled(sql, **values):
    """Puts values in place of :name."""
    return re.sub(r"(?<!:):([a-z_]+)\b", lambda match: quoted(values[match[1]]), sql)


def sections(path):
    """Returns the statements below each line `-- NAME: ...`. A statement ends with a semicolon at the end of a line."""
    found, name, lines = defaultdict(list), None, []
    for line in open(path, encoding="utf-8"):
        header = re.match(r"-- ([a-z]+): ", line)
        if header:
            name = header[1]
        elif not line.startswith("--") and line.strip():
            lines.append(line.rstrip())
            if lines[-1].endswith(";"):
                found[name].append("\n".join(lines).removesuffix(";"))
                lines = []
    return found


def client(command, **options):
    """Returns a function that runs statements with a client program and returns rows of strings."""

    def run(*statements):
        sql = "".join(statement + ";\n" for statement in statements)
        done = subprocess.run(command, input=sql, text=True, capture_output=True, **options)
        if done.returncode:
            raise RuntimeError(f"{done.stderr}\n{sql[:2000]}")
        return [line.split("\t") for line in done.stdout.splitlines()]

    return run


def postgres():
    return client(["psql", "-X", "-q", "-A", "-t", "-F", "\t", "-v", "ON_ERROR_STOP=1", os.environ["IMID_POSTGRES_URL"]])


def mysql():
    user, password, host, port, name = re.fullmatch(r"mysql://(.+?):(.*)@(.+):(\d+)/(.+)", os.environ["IMID_MYSQL_URL"]).groups()
    return client(["mariadb", "--no-defaults", "--default-character-set=utf8mb4", "-N", "-B", "-u", user, f"-p{password}",
                   "-h", host, "-P", port, name])


def embedded(execute):
    def run(*statements):
        rows = []
        for statement in statements:
            rows = execute(statement)
        return [[str(value) for value in row] for row in rows]

    return run


def sqlite():
    import apsw

    connection = apsw.Connection(":memory:")
    return embedded(lambda sql: list(connection.execute(sql)))


def duckdb():
    import duckdb

    connection = duckdb.connect()
    return embedded(lambda sql: connection.execute(sql).fetchall())


def clickhouse():
    from chdb import session

    server = session.Session()
    server.query("CREATE DATABASE IF NOT EXISTS chat")
    server.query("USE chat")
    return embedded(lambda sql: [line.split("\t") for line in server.query(sql, "TSVRaw").bytes().decode(errors="replace").splitlines()])


def sample():
    """Prints 20,000 messages of 40 rooms in about 140 days. Some rooms have many messages."""
    chance, now = random.Random(80), 1_763_640_000_000
    for seq in range(20_000):
        now += int(chance.expovariate(1 / 2_000_000)) if chance.random() < 0.3 else chance.randrange(900)
        room = f"room-{int(chance.paretovariate(0.6)) % 40}"
        print(json.dumps({"seq": seq, "time_ms": now, "room": room, "length": chance.randrange(1, 400)}))


def check(what, found, wanted):
    if found != wanted:
        place = next((at for at, (a, b) in enumerate(zip(found, wanted)) if a != b), min(len(found), len(wanted)))
        sys.exit(f"{what}: {len(found)} rows, expected {len(wanted)}; the first difference is at {place}: "
                 f"found {found[place:place + 1]}, expected {wanted[place:place + 1]}")
    print(f"ok: {what}: {len(found)} rows")


# Messages of 1,000 rooms in the order of time: four in a second, a million in three days.
MANY = 1_000_000
FIRST_MS = 1_900_000_000_000


def clickhouse_promises(run, sql):
    """A minute reads few of the granules of 30 days."""
    run(f"""INSERT INTO messages (id, room, seq, length) SETTINGS max_partitions_per_insert_block = 0
        SELECT imid_from_integer(bitOr(bitShiftLeft(toUInt128({FIRST_MS} + number * 2592), 38), number % 1000)), 'many', number, 1 FROM numbers({MANY})""")
    run("OPTIMIZE TABLE messages FINAL")
    plan = "\n".join(" ".join(row) for row in run("EXPLAIN indexes = 1 " + filled(sql["minute"][0], first=FIRST_MS, last=FIRST_MS + 59_999)))
    read, granules = map(int, re.findall(r"Granules: (\d+)/(\d+)", plan)[-1])
    total = int(re.search(r"Granules: \d+/(\d+)", plan)[1])
    if read * 10 > total:
        sys.exit(f"a minute reads {read} of {total} granules:\n{plan}")
    print(f"ok: a minute reads {read} of {total} granules")


def duckdb_promises(run, sql):
    """A page computes the texts of its rows only, and the table has no primary key."""
    run(f"""INSERT INTO messages (id, room, seq, length)
        SELECT unhex(printf('%010x%010x', ms >> 2, ((ms & 3) << 38) | 77)), 'many', i, 1
        FROM (SELECT i, {FIRST_MS} + i * 2592 AS ms FROM range({MANY}) AS numbers(i))""")
    values = {"session_tag": 77, "room": "many", "before": "Z" * 4 + "-ZZZZ" * 3, "limit": 1}

    def seconds(statement):
        begin = time.monotonic()
        run(statement)
        return time.monotonic() - begin

    # On a machine that is busy, one of both may take long.
    for _ in range(10):
        page = seconds(filled(sql["page"][0], **values))
        texts = seconds(f"SELECT imid_text(id) FROM (SELECT id FROM messages LIMIT {MANY // 2}) ORDER BY 1 LIMIT 1")
        if page * 2 <= texts:
            break
    else:
        sys.exit(f"a page of a million rows takes {page:.2f} s, and the texts of half of them {texts:.2f} s")
    print(f"ok: a page of a million rows takes {page:.2f} s, the texts of half of them {texts:.2f} s")
    if run("SELECT count(*) FROM duckdb_constraints() WHERE table_name = 'messages' AND constraint_type = 'PRIMARY KEY'") != [["0"]]:
        sys.exit("the table has the primary key that STORES.md advises against")


PROMISES = {"clickhouse": clickhouse_promises, "duckdb": duckdb_promises}


def main():
    if sys.argv[1:] == ["sample"]:
        return sample()
    database, tagged = sys.argv[1:]
    run = {"postgres": postgres, "mysql": mysql, "sqlite": sqlite, "duckdb": duckdb, "clickhouse": clickhouse}[database]()
    sql = sections(f"{FOLDER}/{database}/chat.sql")

    # The plain recount: (ID, text, room, number, length), in the order of time.
    messages = []
    for line in open(tagged, encoding="utf-8"):
        row = json.loads(line)
        room = row["room"] if "room" in row else f"{row['channel']}/{row['topic']}"
        messages.append((integer(row["id"]), row["id"], room, row["seq"], row["length"]))
    assert messages == sorted(messages), "the IDs ascend in the order of the file"
    if database == "clickhouse":
        # A table with a partition for each day has months of messages, and not years.
        messages = messages[bisect.bisect_left(messages, (messages[-1][0] - (60 * 86_400_000 << 38),)):]
    rooms = Counter(room for _, _, room, _, _ in messages)
    room = rooms.most_common(1)[0][0]
    session_tag = next(id for id, _, name, _, _ in messages if name == room) % 2**26
    minute = Counter((id >> 38) // 60_000 for id, *_ in messages).most_common(1)[0][0] * 60_000
    print(f"{database}: {len(messages)} messages of {len(rooms)} rooms")

    # The packs of the servers are installed. SQLite's adds to the table.
    install = [] if database in ("postgres", "mysql") else [sql for sql, _ in statements(f"{FOLDER}/{database}/install.sql")]
    run(*sql["drop"], *(sql["schema"] + install if database == "sqlite" else install + sql["schema"]), *sql["installed"])
    if sql["load"]:
        with tempfile.NamedTemporaryFile("w", suffix=".csv", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([("id", "room", "seq", "length"), *(row[1:] for row in messages)])
            file.flush()
            run(*(filled(statement, file=file.name) for statement in sql["load"]))
    else:
        insert, row = re.fullmatch(r"(.*VALUES\s*)(\(.*\))", sql["insert"][0], re.S).groups()
        for at in range(0, len(messages), 1_000):
            run(insert + ", ".join(filled(row, id=text, hex=f"{id:020x}", room=name, seq=seq, length=length)
                                   for id, text, name, seq, length in messages[at:at + 1_000]))
    run(*sql["loaded"], *sql["support"])

    of_room = [[text, str(seq)] for _, text, name, seq, _ in reversed(messages) if name == room]
    pages, before = [], "ZZZZ-ZZZZ-ZZZZ-ZZZZ"
    while page := run(filled(sql["page"][0], session_tag=session_tag, room=room, before=before, beforehex=f"{integer(before):020x}", limit=PAGE)):
        assert len(page) <= PAGE
        pages += page
        if len(pages) > len(of_room):
            break
        before = page[-1][0]
    check(f"pages of {PAGE} backwards through the room with the most messages", pages, of_room)

    first, last = minute << 38, ((minute + 60_000) << 38) - 1
    of_minute = [[text, name] for id, text, name, _, _ in messages if first <= id <= last]
    times = {"first": minute, "last": minute + 59_999}
    check("all messages of the minute with the most", run(filled(sql["minute"][0], **times)), of_minute)

    after = [[text, name] for id, text, name, _, _ in messages if id >= first]
    for limit in (len(messages), 10):
        check("what a follower reads again", run(filled(sql["again"][0], **{"from": minute, "limit": limit})), after[:limit])

    for id, text, name, seq, length in random.Random(5).sample(messages, 3):
        check(f"the message {text}", run(filled(sql["one"][0], id=text)), [[name, str(seq), str(length)]])

    # A text that is not an ID finds no message; where the database has functions, it is an error.
    text = messages[0][1]
    for wrong in (text + "2", text[:-1], text.lower(), text.replace("-", " "), text.replace("-", ""), text[:4] + "0" + text[5:], "I" + text[1:],
                  text + " ", " " + text, text[:-1] + "-", "-" * 19, ""):
        try:
            found = run(filled(sql["one"][0], id=wrong))
        except Exception as error:
            found = [] if "expected a message ID" in str(error) else [str(error)]
        else:
            found = found if database == "sqlite" else [*found, "no error"]
        if found:
            sys.exit(f"the message {wrong!r}, which is not an ID: {found}")
    print("ok: texts that are not IDs find no message")

    if sql["support"]:
        _, text, _, seq, _ = messages[len(messages) // 2]
        found = run(f"SELECT text, seq FROM messages_for_support WHERE id = imid_bytes('{text}')")
        check("a message in the view for support", found, [[text, str(seq)]])

    for name, values in {"page": {"session_tag": session_tag, "room": room, "before": of_room[9][0], "limit": PAGE,
                                  "beforehex": f"{integer(of_room[9][0]):020x}"}, "minute": times}.items():
        explain, patterns, meaning = PLANS[database]
        pattern = patterns[name]
        plan = "\n".join(" ".join(row) for row in run(explain + filled(sql[name][0], **values)))
        if not re.search(pattern, plan, re.S):
            sys.exit(f"the plan of {name} has no {pattern}:\n{plan}")
        print(f"ok: the plan of {name} {meaning}")
        if os.environ.get("IMID_PLANS"):
            print(plan)

    # Retention: the messages before the middle of the archive's time go.
    middle = ((messages[0][0] + messages[-1][0]) // 2 >> 38) // 86_400_000 * 86_400_000
    # PostgreSQL drops whole partitions, so the time is at the edge of one.
    middle -= middle % (PARTITION_DAYS * 86_400_000)
    run(*(filled(statement, keep=middle) for statement in sql["retention"]))
    kept = messages[bisect.bisect_left(messages, (middle << 38,)):]
    assert 0 < len(kept) < len(messages)
    check("retention by time", run(sql["rest"][0]), [[text] for _, text, *_ in kept])
    if database in PROMISES:
        PROMISES[database](run, sql)
    run(*sql["drop"])


if __name__ == "__main__":
    main()
