#!/usr/bin/env python3
"""Measures the forms of IDs in a database and prints the figures of docs/STORES.md: sizes, inserts, scans, sorts, functions.

    python figures.py postgres|mysql|sqlite|duckdb|clickhouse [ROWS]

ROWS is 1,000,000 unless it is given. The servers are those of IMID_POSTGRES_URL and IMID_MYSQL_URL; ci/services.sh starts them:

    ci/services.sh run postgres -- python3 sql/figures.py postgres 10000000

The others are Python packages: apsw, duckdb and chdb. DATABASE/figures.sql has the statements. A line `-- KIND: LABEL` says what
is done with the statements below it:

    make      they run; no figure
    once      the time of all of them together, in µs a row
    scan      the mean time of 200 runs, or of as many as take a second, in ms
    row       the shortest time of three runs less that of the `row` with the label "nothing", in µs a row
    function  the same with 200,000 rows at most
    values    the time of 1,000 rows in one statement; :id and :hex are those of a row, in µs a row
    value     the first column of the result
    install   install.sql runs here, if it needs the tables

All times are the processor time of the server, or of this process for an embedded database. So other work on the machine
changes them little. They do not include the time to wait for disks.
"""

import os
import re
import subprocess
import sys
import tempfile
import time

from embedded import statements

FOLDER = os.path.dirname(os.path.abspath(__file__))
DONE = "imid-figures-done"


class Client:
    """A client program that stays open, so that a short query is not measured with the start of a program."""

    def __init__(self, command, marker):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8",
                                        errors="replace")
        self.marker = marker

    def __call__(self, sql):
        self.process.stdin.write(f"{sql};\n{self.marker}\n")
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            if line.strip() == DONE:
                return lines
            lines.append(line.rstrip("\n"))
        sys.exit(f"the client ended after:\n{sql}")


def processor_time(pid):
    """Returns a function that reads the processor time of a process on this machine, in seconds."""

    def read():
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            user, system = file.read().rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    return read


def postgres(folder):
    command = ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", os.environ["IMID_POSTGRES_URL"]]
    run = Client(command, f"\\echo {DONE}")
    run(f"SET client_min_messages = warning; DROP SCHEMA IF EXISTS imid_figures CASCADE; CREATE SCHEMA imid_figures; SET search_path = imid_figures;\n;\\i {FOLDER}/postgres/install.sql\n")
    return run, run("SELECT version()")[0], lambda: run("DROP SCHEMA imid_figures CASCADE"), processor_time(run("SELECT pg_backend_pid()")[0])


def mysql(folder):
    user, password, host, port, name = re.fullmatch(r"mysql://(.+?):(.*)@(.+):(\d+)/(.+)", os.environ["IMID_MYSQL_URL"]).groups()
    run = Client(["mariadb", "--no-defaults", "--unbuffered", "-N", "-B", "-u", user, f"-p{password}", "-h", host, "-P", port, name],
                 f"SELECT '{DONE}';")
    run("DROP DATABASE IF EXISTS imid_figures; CREATE DATABASE imid_figures; USE imid_figures")
    run(f"SELECT 1;\nsource {FOLDER}/mysql/install.sql\n")
    with open(f"{os.environ['IMID_SERVICES']}/mysql/pid", encoding="ascii") as file:
        clock = processor_time(file.read().strip())
    return run, run("SELECT version()")[0], lambda: run("DROP DATABASE imid_figures"), clock


def text(id):
    """Returns the text of an ID of 10 bytes."""
    value = int.from_bytes(id, "big")
    digits = "".join("23456789ABCDEFGHJKLMNPQRSTUVWXYZ"[value >> shift & 31] for shift in range(75, -1, -5))
    return "-".join(digits[at:at + 4] for at in range(0, 16, 4))


def sqlite(folder):
    import apsw

    connection = apsw.Connection(f"{folder}/ids.sqlite")
    connection.create_scalar_function("text_of", text, 1, deterministic=True)
    return lambda sql: [row[0] for row in connection.execute(sql)], apsw.sqlite_lib_version(), connection.close, time.process_time


def duckdb(folder):
    import duckdb

    connection = duckdb.connect(f"{folder}/ids.duckdb")
    for sql, _ in statements(f"{FOLDER}/duckdb/install.sql"):
        connection.execute(sql)
    return lambda sql: [row[0] for row in connection.execute(sql).fetchall()], duckdb.__version__, connection.close, time.process_time


def clickhouse(folder):
    from chdb import session

    server = session.Session(f"{folder}/clickhouse")

    def run(sql):
        return server.query(sql, "TSVRaw").bytes().decode(errors="replace").splitlines()

    run("CREATE DATABASE figures")
    run("USE figures")
    for sql, _ in statements(f"{FOLDER}/clickhouse/install.sql"):
        run(sql)
    return run, run("SELECT version()")[0], server.close, time.process_time


def sections(path):
    """Returns the kind, the label and the statements below each line `-- KIND: LABEL`."""
    found, lines = [], []
    for line in open(path, encoding="utf-8"):
        header = re.match(r"-- (make|once|scan|row|function|values|value|install): (.*)", line)
        if header:
            found.append((header[1], header[2], []))
        elif not line.startswith("--") and line.strip():
            lines.append(line.rstrip())
            if lines[-1].endswith(";"):
                found[-1][2].append("\n".join(lines).removesuffix(";"))
                lines = []
    assert not lines, f"{path} ends inside a statement"
    return found


def seconds(run, statements, clock):
    start = clock()
    for statement in statements:
        run(statement)
    return clock() - start


def main():
    database, rows = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        run, version, close, clock = {"postgres": postgres, "mysql": mysql, "sqlite": sqlite, "duckdb": duckdb, "clickhouse": clickhouse}[database](folder)
        print(f"{database} {version}, {rows} rows", flush=True)
        some, nothing = min(rows, 200_000), 0
        for kind, label, of_section in sections(f"{FOLDER}/{database}/figures.sql"):
            of_section = [statement.replace(":rows", str(rows)).replace(":some", str(some)) for statement in of_section]
            if kind == "install":
                seconds(run, [sql for sql, _ in statements(f"{FOLDER}/{database}/install.sql")], clock)
            elif kind == "make":
                seconds(run, of_section, clock)
            elif kind == "once":
                print(f"{label}\t{seconds(run, of_section, clock) / rows * 1e6:.2f} µs a row", flush=True)
            elif kind == "scan":
                # The clock of a server ticks each 10 ms.
                start, runs = clock(), 0
                while runs < 200 and clock() - start < 1:
                    seconds(run, of_section, clock)
                    runs += 1
                found = (clock() - start) / runs
                print(f"{label}\t{found * 1e3:.1f} ms", flush=True)
            elif kind in ("row", "function"):
                found = min(seconds(run, of_section, clock) for _ in range(3))
                if label == "nothing":
                    nothing = found
                    continue
                print(f"{label}\t{(found - nothing) / (rows if kind == 'row' else some) * 1e6:.2f} µs a row", flush=True)
            elif kind == "values":
                head, row = of_section[0].split("VALUES ")
                ids = [(1_763_665_000_000 + at << 38) + at * 0x12_3456 for at in range(1000)]
                sql = head + "VALUES " + ", ".join(row.replace(":id", text(id.to_bytes(10))).replace(":hex", f"{id:020x}") for id in ids)
                print(f"{label}\t{seconds(run, [sql], clock) / len(ids) * 1e6:.1f} µs a row", flush=True)
            else:
                print(f"{label}\t{run(of_section[0])[0]}", flush=True)
        close()


if __name__ == "__main__":
    main()
