#!/usr/bin/env python3
"""Tests imid_generate of postgres/install.sql with several connections, while the clock stands still and steps back, and over a
crash of the server. The library reads what was minted.

    python generate.py COUNT IMID

COUNT is the number of IDs, and IMID the tool `imid`. The server is that of IMID_POSTGRES_URL, and install.sql has run. The crash
needs ci/services.sh, which sets IMID_SERVICES_SH; without it the part is reported as not checked.
"""

import os
import subprocess
import sys
import tempfile

from chat import postgres
from figures import Client, DONE

LANE, BITS = 13, 4
# The type GROUP and the hash of the name.
NAME, SESSION = "room-42", 16549227
CONNECTIONS = 6
# The IDs come in one statement or in many transactions. One of ten transactions is rolled back.
ONE_STATEMENT = """INSERT INTO generated (connection, id)
  SELECT {connection}, imid_generate({lane}, {bits}, {session}) FROM generate_series(1, {count})"""
TRANSACTIONS = """DO $$ BEGIN
  FOR n IN 1..({count} + 9) / 9 LOOP
    INSERT INTO generated (connection, id) SELECT {connection}, imid_generate({lane}, {bits}, {session}) FROM generate_series(1, 10);
    IF n % 10 = 0 THEN ROLLBACK; ELSE COMMIT; END IF;
  END LOOP; END $$"""
# The clock has the right time for 100 ms, stands still, is 20 s behind, goes backwards, and so on.
CLOCK = """CREATE OR REPLACE FUNCTION imid_clock_ms() RETURNS bigint LANGUAGE sql AS $$
  SELECT CASE now % 400 / 100 WHEN 0 THEN now WHEN 1 THEN now / 100 * 100 WHEN 2 THEN now - 20000 ELSE now - now % 100 * 2 END - {behind}
  FROM (SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint OFFSET 0) AS clock(now) $$"""
# Sometimes a step of the lane takes long, so that without a lock another connection would step at the same time.
SLOW = """CREATE FUNCTION setval(regclass, bigint) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN
  IF random() < 0.02 THEN PERFORM pg_sleep(0.001); END IF;
  RETURN pg_catalog.setval($1, $2);
END $$"""
# The first schema has the tables, the clock and the slow step of this test, the second one the functions of install.sql.
PATH = "SELECT set_config('search_path', 'imid_generated, ' || current_schema || ', pg_catalog', false)"


def check(what, wrong):
    if wrong:
        sys.exit(f"{what}: {wrong}")
    print(f"ok: imid_generate: {what}", flush=True)


def connect():
    run = Client(["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", os.environ["IMID_POSTGRES_URL"]], f"\\echo {DONE}")
    run(PATH)
    return run


def mint(count, first=0):
    """Mints with all connections at once. They have numbers from `first`."""
    values = {"lane": LANE, "bits": BITS, "session": SESSION, "count": -(-count // CONNECTIONS)}
    clients = []
    for connection in range(first, first + CONNECTIONS):
        sql = (TRANSACTIONS if connection % 2 else ONE_STATEMENT).format(connection=connection, **values)
        command = ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-o", os.devnull, os.environ["IMID_POSTGRES_URL"]]
        clients.append(subprocess.Popen(command, stdin=subprocess.PIPE, text=True))
        clients[-1].stdin.write(f"{PATH};\n{sql};\n")
        clients[-1].stdin.close()
    check(f"{CONNECTIONS} connections mint at once, and a primary key finds no duplicate", [client.wait() for client in clients if client.wait()])


def main():
    count, tool = int(sys.argv[1]), sys.argv[2]
    run = postgres()
    run("SET client_min_messages = warning", "DROP SCHEMA IF EXISTS imid_generated CASCADE", "CREATE SCHEMA imid_generated",
        PATH, f"SELECT imid_open_lane({LANE}, {BITS})", CLOCK.format(behind=0), SLOW,
        "CREATE TABLE generated (place bigint GENERATED ALWAYS AS IDENTITY, connection integer, id bytea PRIMARY KEY)")
    mint(count)

    a, b = connect(), connect()
    statement = f"SELECT imid_text(imid_generate({LANE}, {BITS}, {SESSION}))"
    turns = [(a if turn % 2 else b)(statement)[0] for turn in range(400)]
    check("400 IDs of two connections in turns ascend", turns != sorted(set(turns)) and turns)

    if "IMID_SERVICES_SH" in os.environ:
        last = a("SELECT encode(id, 'hex') FROM generated ORDER BY id DESC LIMIT 1")[0]
        for action in ("kill", "start"):
            subprocess.run(["bash", os.environ["IMID_SERVICES_SH"], "server", "postgres", action], check=True)
        a, b = connect(), None
        a(CLOCK.format(behind=600_000))
        mint(count // 10, CONNECTIONS)
        lower = a(f"SELECT count(*) FROM generated WHERE connection >= {CONNECTIONS} AND id <= decode('{last}', 'hex')")[0]
        check("after a crash IDs go on above the last one, also with a clock that is 10 minutes behind", lower != "0" and lower)
    else:
        print("not checked: stores: imid_generate over a crash of the server: ci/services.sh did not start the server")

    found = a("SELECT count(*) FROM (SELECT id <= lag(id) OVER (PARTITION BY connection ORDER BY place) AS wrong FROM generated) AS x WHERE wrong")
    check("the IDs of each connection ascend", found != ["0"] and found)
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/ids"
        with open(path, "w", encoding="ascii") as file:
            for line in a("SELECT imid_text(id) FROM generated ORDER BY id"):
                file.write(line + "\n")
        minted = sum(1 for _ in open(path, encoding="ascii"))
        check(f"{minted} IDs, expected {count} at least", minted < count)
        subprocess.run([tool, "check", path], check=True)
        print(f"ok: imid_generate: the library finds {minted} valid IDs and no duplicate")
        with open(path, encoding="ascii") as file:
            fields = subprocess.run([tool, "inspect", "--format", "csv", "--no-header", "--columns", "spin,type,session_match", "--session", NAME],
                                    stdin=file, capture_output=True, text=True, check=True).stdout.splitlines()
        check("the library reads the lane, the type and the hash of the session", len(fields) != minted or [
            line for line in fields if not (line.endswith(",3,true") and int(line.split(",")[0]) >> (12 - BITS) == LANE)][:5])
    a("SET client_min_messages = warning; DROP SCHEMA imid_generated CASCADE")


if __name__ == "__main__":
    main()
