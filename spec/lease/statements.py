#!/usr/bin/env python3
"""Runs each statement of spec/PROTOCOL.md on the store that it is for: statements.py. `ci/holder.sh` starts the stores."""

import os
import pathlib
import re
import sys
import time
import urllib.parse

PAGE = (pathlib.Path(__file__).resolve().parents[1] / "PROTOCOL.md").read_text()


def block(heading, language):
    """Returns the first block of code after a heading."""
    return re.search(rf"^\*\*{heading}\*\*.*?\n```{language}\n(.*?)\n```", PAGE, re.M | re.S)[1]


def statements(text):
    return [it.strip() for it in re.sub(r"--.*", "", text).split(";") if it.strip()]


def check(store, run):
    """`run` runs the statement of a number, and returns its rows, or how many it has written."""
    CREATE, READ, LIST, INSERT, UPDATE, NOW = range(6)
    text = lambda value: value.decode() if isinstance(value, bytes) else value
    prefix = f"statements-{time.time_ns()}_"
    first, other = prefix + "a", prefix.replace("_", "x") + "b"
    run(CREATE), run(CREATE)
    steps = [
        (READ, (first,), []),
        (UPDATE, (first, "1", "2"), 0),
        (INSERT, (first, "one"), 1),
        (INSERT, (first, "two"), 0),
        (READ, (first,), [("one",)]),
        (UPDATE, (first, "One", "two"), 0),
        (UPDATE, (first, "one ", "two"), 0),
        (UPDATE, (first, "one", "one"), 1),
        (UPDATE, (first, "one", "two"), 1),
        (INSERT, (other, "x"), 1),
        (LIST, (prefix,), [(first, "two")]),
    ]
    for number, values, expected in steps:
        found = run(number, *values)
        if not isinstance(found, int):
            found = [tuple(map(text, row)) for row in found]
        if found != expected:
            sys.exit(f"statements.py: {store}: {number} with {values}: expected {expected}, found {found}")
    if abs(run(NOW)[0][0] - time.time() * 1000) > 60_000:
        sys.exit(f"statements.py: {store}: the time is not that of this machine")
    print(f"{store}: the statements of PROTOCOL do what it says")


def postgres(url):
    import pg8000.native
    connection = pg8000.native.Connection(url.username, host=url.hostname, port=url.port, password=url.password, database=url.path[1:])
    sql, durable = re.search(r"^(.*?)-- DURABLE stands for\n(.*)", block("PostgreSQL", "sql"), re.S).groups()
    durable, now = durable.split("-- now")
    all_of = statements(sql) + statements(now)

    def run(number, *values):
        statement = re.sub(r"\$(\d)", r":v\1", all_of[number].replace("DURABLE", durable.strip()))
        rows = connection.run(statement, **{f"v{at}": value for at, value in enumerate(values, 1)})
        return len(rows) if number in (3, 4) else [tuple(row) for row in rows or []]

    check("postgres", run)


def mysql(url):
    import pymysql
    connection = pymysql.connect(host=url.hostname, port=url.port, user=url.username, password=url.password, database=url.path[1:],
                                 autocommit=True, client_flag=pymysql.constants.CLIENT.FOUND_ROWS)
    all_of = statements(block("MySQL, MariaDB", "sql"))

    def run(number, *values):
        if number == 2:
            values = (len(values[0]), *values)
        if number == 4:
            values = (values[2], values[0], values[1])
        with connection.cursor() as cursor:
            try:
                written = cursor.execute(all_of[number].replace("?", "%s"), values or None)
            except pymysql.err.IntegrityError as error:
                if error.args[0] != 1062:
                    raise
                written = 0
            return written if number in (3, 4) else list(cursor.fetchall())

    check("mysql", run)


def redis(url):
    import redis as client
    connection = client.Redis(host=url.hostname, port=url.port, password=url.password, decode_responses=True)
    script = block("Redis, Valkey", "lua")
    table = "imid:register"

    def run(number, *values):
        if number == 0:
            return []
        if number == 1:
            found = connection.hget(table, values[0])
            return [] if found is None else [(found,)]
        if number == 2:
            return sorted(it for it in connection.hgetall(table).items() if it[0].startswith(values[0]))
        if number == 5:
            return [(connection.time()[0] * 1000,)]
        key, seen, value = values if number == 4 else (values[0], "", values[1])
        return connection.eval(script, 1, table, key, seen, value)

    check("redis", run)


for store in (postgres, mysql, redis):
    url = os.environ.get(f"IMID_{store.__name__.upper()}_URL")
    if url:
        store(urllib.parse.urlsplit(url))
    else:
        print(f"not checked: holder: no {store.__name__} for the statements")
