#!/usr/bin/env python3
"""Runs the SQL files of a database that is a Python package: install.sql, test.sql, rows.sql and uninstall.sql.

    python embedded.py duckdb|clickhouse [ROWS]

ROWS is the file of tests/stores/src/bin/rows.rs. Without it rows.sql is not run. A statement after a line
`-- refused: MESSAGE` must fail with this message.
"""

import os
import re
import sys


def statements(path):
    """Returns the statements of a file, each with the message that it must fail with, or None."""
    refused, lines = None, []
    for line in open(path, encoding="utf-8"):
        if line.startswith("-- refused: "):
            refused = line.removeprefix("-- refused: ").strip()
        elif not line.startswith("--"):
            lines.append(re.sub(r"\s-- .*", "", line.rstrip()))
            if lines[-1].endswith(";"):
                yield "\n".join(lines).strip().removesuffix(";"), refused
                refused, lines = None, []
    assert not "".join(lines).strip(), f"{path} ends inside a statement"


def duckdb_runner():
    import duckdb

    connection = duckdb.connect()
    return duckdb.__version__, lambda sql: [row[0] for row in connection.execute(sql).fetchall()]


def clickhouse_runner():
    from chdb import session

    server = session.Session()

    def run(sql):
        return server.query(sql, "TSVRaw").bytes().decode().splitlines()

    return run("SELECT version()")[0], run


def main():
    database, rows = sys.argv[1], os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else None
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), database))
    version, run = {"duckdb": duckdb_runner, "clickhouse": clickhouse_runner}[database]()
    print(f"{database} {version}")
    for path in ["install.sql", "test.sql", *(["rows.sql"] if rows else []), "uninstall.sql"]:
        for sql, refused in statements(path):
            sql = sql.replace("$ROWS", rows or "").replace("$VECTORS", os.path.abspath("../../docs/vectors.json"))
            try:
                found = run(sql)
            except Exception as error:
                if refused is None or refused not in str(error):
                    sys.exit(f"{database}/{path}: {error}\n{sql}")
                print(f"ok: refused: {refused}")
                continue
            if refused is not None:
                sys.exit(f"{database}/{path}: a statement was not refused: {sql}")
            if sql.startswith("SELECT"):
                print(*found, sep="\n")


if __name__ == "__main__":
    main()
