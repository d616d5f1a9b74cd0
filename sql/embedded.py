#!/usr/bin/env python3
"""Runs the SQL files of a database that is a Python package (duckdb, chdb, apsw): install.sql, test.sql, rows.sql and uninstall.sql.

    python embedded.py duckdb|clickhouse|sqlite|system-sqlite [ROWS]

system-sqlite is the SQLite of Python's own module, which is an older version on many machines.

ROWS is the file of tests/stores/src/bin/rows.rs. Without it rows.sql is not run. A statement after a line
`-- refused: MESSAGE` must fail with this message. The result of a statement after a line
`-- plan: REGEX` must match REGEX.
"""

import os
import re
import sys


def statements(path):
    """Returns the statements of a file, each with what it must do: ("refused", MESSAGE), ("plan", REGEX) or None."""
    duty, lines = None, []
    for line in open(path, encoding="utf-8"):
        header = re.match(r"-- (refused|plan): (.*)", line)
        if header:
            duty = (header[1], header[2].strip())
        elif not line.startswith("--"):
            lines.append(re.sub(r"\s-- .*", "", line.rstrip()))
            if lines[-1].endswith(";"):
                yield "\n".join(lines).strip().removesuffix(";"), duty
                duty, lines = None, []
    assert not "".join(lines).strip(), f"{path} ends inside a statement"


def duckdb_runner(rows):
    import duckdb

    connection = duckdb.connect()
    return duckdb.__version__, lambda sql: [row[-1] for row in connection.execute(sql).fetchall()]


def clickhouse_runner(rows):
    from chdb import session

    server = session.Session()

    def run(sql):
        return server.query(sql, "TSVRaw").bytes().decode().splitlines()

    return run("SELECT version()")[0], run


def read(path):
    with open(path, "rb") as file:
        return file.read()


def sqlite_runner(rows):
    import apsw

    connection = apsw.Connection(":memory:")
    connection.create_scalar_function("readfile", read, 1)
    return apsw.sqlite_lib_version(), sqlite_tables(connection, rows)


def sqlite_tables(connection, rows):
    """Makes the tables that the files of sqlite/ use, and returns a function that runs a statement."""
    connection.execute("CREATE TABLE messages (id BLOB PRIMARY KEY CHECK (typeof(id) = 'blob' AND length(id) = 10)) WITHOUT ROWID")
    names = "n INTEGER, hex, letters, view, ms INTEGER, spin INTEGER, type INTEGER, hash INTEGER, session_tag INTEGER, bucket INTEGER"
    connection.execute(f"CREATE TEMP TABLE written ({names})")
    if rows:
        with open(rows, encoding="ascii") as file, connection:
            lines = (line.rstrip("\n").split(",") for line in file)
            connection.executemany("INSERT INTO written VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", lines)
    return lambda sql: [row[0] for row in connection.execute(sql)]


def system_sqlite_runner(rows):
    import sqlite3

    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.create_function("readfile", 1, read)
    # The tests use functions of newer versions. The columns of install.sql cannot: they have no functions of Python.
    connection.create_function("unhex", 1, lambda text: None if text is None else bytes.fromhex(text))
    connection.create_function("octet_length", 1, lambda text: None if text is None else len(text.encode()))
    return sqlite3.sqlite_version, sqlite_tables(connection, rows)


RUNNERS = {"duckdb": duckdb_runner, "clickhouse": clickhouse_runner, "sqlite": sqlite_runner, "system-sqlite": system_sqlite_runner}


def main():
    database, rows = sys.argv[1], os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else None
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), database.removeprefix("system-")))
    version, run = RUNNERS[database](rows)
    print(f"{database} {version}")
    for path in ["install.sql", "test.sql", *(["rows.sql"] if rows else []), "uninstall.sql"]:
        for sql, duty in statements(path):
            what, wanted = duty or (None, None)
            sql = sql.replace("$ROWS", rows or "").replace("$VECTORS", os.path.abspath("../../spec/vectors.json"))
            try:
                found = run(sql)
            except Exception as error:
                if what != "refused" or wanted not in str(error):
                    sys.exit(f"{database}/{path}: {error}\n{sql}")
                print(f"ok: refused: {wanted}")
                continue
            if what == "refused":
                sys.exit(f"{database}/{path}: a statement was not refused: {sql}")
            if what == "plan":
                if not re.search(wanted, "\n".join(found)):
                    sys.exit(f"{database}/{path}: the plan has no {wanted}:\n" + "\n".join(found))
                print(f"ok: the plan has {wanted}: {sql}")
            elif sql.startswith("SELECT"):
                print(*found, sep="\n")


if __name__ == "__main__":
    main()
