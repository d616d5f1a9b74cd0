"""Files that databases write are tagged: each row gets the ID of its room and time, and nothing else changes.

exports.py TOOLS DATABASE... [--write FOLDER]

TOOLS is the folder of `imid`. A DATABASE is postgres and mysql (servers of ci/services.sh, with psql and mariadb), sqlite (sqlite3),
duckdb (the program) or clickhouse (the package chdb). Each one gets the same rows and exports them itself, in each format that it has.
The tool tags the same rows as JSON of Python with the same seed: these are the IDs to expect. PostgreSQL and MariaDB also read the
tagged file back. --write keeps exports of every seventh row, for the tests in Rust.
"""

import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOMS = [
    "a", "b", "", " a ", 'quo"te', '"quoted"', '"open', 'shut"', "C:\\x", "C:\\\\x", "tab\tin", "line\nin", "\\", "\\.", "é🍵", "x;y",
    "'single'", "{room}", "a\\tb", None,
]
TEXTS = [
    "ok", '"to be or not to be', "lunch?", 'that is the question"', '"hi" he said', '"', '""', '"""', "", "\ttab", "two\nlines", "\\N",
    "back\\slash", "ends\\", "\\.", "é 日本 🍵", "carriage\r", "\r\nboth", '"all, in quotes"', '"a\nb"', ",;,", "NULL", "'", "\\\"", None,
]
START = 1763640000000


def rows():
    """Each room with each text. The times increase."""
    pairs = [(room, text) for room in ROOMS for text in TEXTS]
    pairs = pairs[:: 7 if "--write" in sys.argv else 1]
    return [{"seq": n, "room": room, "at": START + n * 3, "text": text} for n, (room, text) in enumerate(pairs)]


def run(command, stdin="", **options):
    done = subprocess.run(command, input=stdin.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    if done.returncode != 0:
        sys.exit(f"{command}: {done.stderr.decode()}")
    return done.stdout


QUERY = "SELECT seq, room, at, text FROM message{} ORDER BY seq"
ROOM = " WHERE room IS NOT NULL"


def postgres(folder):
    psql = ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", os.environ["IMID_POSTGRES_URL"]]
    tag = "$rows$"
    run(psql, f"""DROP TABLE IF EXISTS message; CREATE TABLE message (seq int, room text, at bigint, text text);
        INSERT INTO message SELECT * FROM json_populate_recordset(NULL::message, {tag}{json.dumps(rows())}{tag});""")
    for name, where in [("all", ""), ("rooms", ROOM)]:
        query = QUERY.format(where)
        run(psql, f"\\copy ({query}) to '{folder}/{name}.tsv' with (format text, header)\n")
        run(psql, f"\\copy ({query}) to '{folder}/{name}.csv' with (format csv, header)\n")
        (folder / f"{name}.jsonl").write_bytes(run([*psql, "-Atc", f"SELECT row_to_json(row) FROM ({query}) AS row"]))

    def read_back(tagged, kind):
        form = "format text, header" if kind == "tsv" else "format csv, header"
        different = run([*psql, "-At"], f"""CREATE TEMP TABLE tagged (LIKE message); ALTER TABLE tagged ADD COLUMN id text;
            \\copy tagged from '{tagged}' with ({form})
            SELECT count(*) FROM message{ROOM} AND NOT EXISTS (SELECT FROM tagged WHERE (tagged.seq, tagged.room, tagged.at) =
            (message.seq, message.room, message.at) AND tagged.text IS NOT DISTINCT FROM message.text);
            SELECT count(DISTINCT id) FROM tagged""")
        return [int(count) for count in different.split()]

    return {"tsv": read_back, "csv": read_back, "jsonl": None}


def mysql(folder):
    """MariaDB has no CSV that others read: `ESCAPED BY '"'` breaks fields with a line feed."""
    url = os.environ["IMID_MYSQL_URL"].removeprefix("mysql://")
    (user, password), (host, name) = (part.split(sep) for part, sep in zip(url.split("@"), ":/"))
    host, port = host.split(":")
    name = name.split("?")[0]
    options = ["--local-infile=1", "--default-character-set=utf8mb4", "-h", host, "-P", port, "-u", user, f"-p{password}", name]
    client = ["mariadb", "--no-defaults", *options]
    text = json.dumps(rows()).replace("'", "''")
    run(client, f"""SET sql_mode = 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES'; DROP TABLE IF EXISTS message;
        CREATE TABLE message (seq int, room text, at bigint, text text) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
        INSERT INTO message SELECT * FROM JSON_TABLE('{text}', '$[*]' COLUMNS (seq int PATH '$.seq', room text PATH '$.room',
        at bigint PATH '$.at', text text PATH '$.text')) AS json;""")
    for name, where in [("all", ""), ("rooms", ROOM)]:
        query = QUERY.format(where)
        (folder / f"{name}.tsv").write_bytes(run([*client, "-B", "-e", query]))
        # The server writes it, so the header is added here, as its users do.
        out = pathlib.Path(os.environ["IMID_SERVICES"]) / "mysql" / f"{folder.name}-{name}"
        out.unlink(missing_ok=True)
        run(client, query.replace(" FROM", f" INTO OUTFILE '{out}' FROM") + ";")
        (folder / f"{name}-outfile.tsv").write_bytes(b"seq\troom\tat\ttext\n" + out.read_bytes())
        members = ", ".join(f"'{column}', {column}" for column in ["seq", "room", "at", "text"])
        (folder / f"{name}.jsonl").write_bytes(
            run([*client, "-N", "-r", "-B", "-e", query.replace("seq, room, at, text", f"JSON_OBJECT({members})")])
        )

    def read_back(tagged, _):
        different = run([*client, "-N", "-B"], f"""CREATE TEMPORARY TABLE tagged LIKE message; ALTER TABLE tagged ADD COLUMN id text;
            LOAD DATA LOCAL INFILE '{tagged}' INTO TABLE tagged CHARACTER SET utf8mb4 IGNORE 1 LINES;
            SELECT count(*) FROM message{ROOM} AND NOT EXISTS (SELECT 1 FROM tagged WHERE (tagged.seq, tagged.room, tagged.at) =
            (message.seq, message.room, message.at) AND COALESCE(tagged.text, 'NULL') = COALESCE(message.text, 'NULL'));
            SELECT count(DISTINCT id) FROM tagged;""")
        return [int(count) for count in different.split()]

    return {"tsv": read_back, "outfile.tsv": read_back, "jsonl": None}


def sqlite(folder):
    text = json.dumps(rows()).replace("'", "''")
    values = ", ".join(f"value->>'{column}'" for column in ["seq", "room", "at", "text"])
    columns = ["seq", "room", "at", "text"]
    table = f"CREATE TABLE message (seq, room, at, text); INSERT INTO message SELECT {values} FROM json_each('{text}');"
    members = ", ".join(f"'{column}', {column}" for column in columns)
    for name, where in [("all", ""), ("rooms", ROOM)]:
        query = QUERY.format(where)
        (folder / f"{name}.csv").write_bytes(run(["sqlite3"], f"{table}\n.headers on\n.mode csv\n{query};\n"))
        lines = query.replace("seq, room, at, text", f"json_object({members})")
        (folder / f"{name}.jsonl").write_bytes(run(["sqlite3"], f"{table}\n{lines};\n"))
    return {"csv": None, "jsonl": None}


def duckdb(folder):
    (folder / "rows.json").write_text(json.dumps(rows()))
    columns = "columns = {'seq': 'INT', 'room': 'VARCHAR', 'at': 'BIGINT', 'text': 'VARCHAR'}"
    table = f"CREATE TABLE message AS FROM read_json('{folder}/rows.json', {columns});"
    for name, where in [("all", ""), ("rooms", ROOM)]:
        query = QUERY.format(where).replace("at", '"at"')
        forms = {"csv": "HEADER", "jsonl": "FORMAT json"}
        copies = [f"COPY ({query}) TO '{folder}/{name}.{kind}' ({form});" for kind, form in forms.items()]
        run(["duckdb"], "\n".join([table, *copies, ""]))
    (folder / "rows.json").unlink()
    return {"csv": None, "jsonl": None}


def clickhouse(folder):
    import chdb

    source = folder / "rows.source"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows()))
    table = f"file('{source}', JSONEachRow, 'seq Int32, room Nullable(String), at Int64, text Nullable(String)')"
    for name, where in [("all", ""), ("rooms", ROOM)]:
        query = QUERY.format(where).replace("message", table)
        for kind, form in [("tsv", "TSVWithNames"), ("csv", "CSVWithNames"), ("jsonl", "JSONEachRow")]:
            (folder / f"{name}.{kind}").write_bytes(chdb.query(query, form).bytes())
    source.unlink()
    return {"tsv": None, "csv": None, "jsonl": None}


def tag(tool, path, *options):
    kind = path.suffix.removeprefix(".")
    arguments = ["--in", "lines" if kind == "jsonl" else kind, "--type", "group", "--session-field", "room", "--time-field", "at"]
    command = [tool, "tag", *arguments, "--seed", "1", *options, path]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def without_ids(tagged, kind, ids):
    """Removes what was added. The IDs are in order, so that no ID of a text is taken for one of them."""
    before, after = (b',"id":"', b'"') if kind == "jsonl" else (b"\t" if kind == "tsv" else b",", b"")
    head, at = [], 0
    if kind != "jsonl":
        tagged = tagged.replace(before + b"id", b"", 1)
    for id in ids:
        added = before + id.encode() + after
        found = tagged.index(added, at)
        head.append(tagged[at:found])
        at = found + len(added)
    return b"".join(head) + tagged[at:]


def check(tool, folder, ids, bad, readers):
    for kind, read_back in readers.items():
        every, rooms = (folder / f"{name}{'-' if '.' in kind else '.'}{kind}" for name in ["all", "rooms"])
        kind = rooms.suffix.removeprefix(".")
        tagged = tag(tool, rooms)
        assert tagged.returncode == 0, f"{rooms}: {tagged.stderr.decode()}"
        assert without_ids(tagged.stdout, kind, ids) == rooms.read_bytes(), f"{rooms}: a byte changed"
        # Each row without a room is reported, and no other row.
        kept = tag(tool, every, "--keep-going")
        reported = [line for line in kept.stderr.decode().splitlines() if line.startswith("error: line ")]
        problem = "expected a string or an integer, found null" if kind == "jsonl" else 'field "room" is missing'
        assert len(reported) == bad and all(problem in line for line in reported), f"{every}: {kept.stderr.decode()}"
        assert kept.stdout == tagged.stdout, f"{every}: rows without a room change others"
        out = folder / f"tagged.{kind}"
        out.write_bytes(tagged.stdout)
        summary = json.loads(run([tool, "check", "--json", out]))
        assert (summary["valid"], summary["invalid"]) == (len(ids), 0), f"{rooms}: {summary}"
        if read_back:
            assert read_back(out, kind) == [0, len(ids)], f"{rooms}: the database reads other rows"
        out.unlink()
        print(f"{folder.name}: {rooms.name.removeprefix('rooms').lstrip('-.')}: {len(ids)} rows tagged, {len(reported)} without a room reported")


def check_refusal(tool, folder, database):
    """DuckDB and Python write TSV in quotes."""
    path = folder / "quoted.tsv"
    if database == "duckdb":
        source = folder / "rooms.csv"
        run(["duckdb"], f"COPY (FROM read_csv('{source}', all_varchar = true)) TO '{path}' (HEADER, DELIMITER '\\t');\n")
    else:
        with path.open("w", newline="") as file:
            csv.writer(file, "excel-tab").writerows([["room", "at", "text"], ["a", START, "two\nlines"], ["b", START, "x"]])
    refused = tag(tool, path)
    assert refused.returncode == 1 and b"quotes as in the TSV of a spreadsheet" in refused.stderr, refused.stderr.decode()
    print(f"{folder.name}: TSV in quotes is refused")


def main():
    tools, *databases = sys.argv[1:]
    target = None
    if "--write" in databases:
        at = databases.index("--write")
        target, databases = pathlib.Path(databases[at + 1]), databases[:at]
    tool = f"{tools}/imid"
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        expected = folder / "rows.jsonl"
        named = [row for row in rows() if row["room"] is not None]
        expected.write_text("".join(json.dumps(row) + "\n" for row in named))
        ids = [json.loads(line)["id"] for line in tag(tool, expected).stdout.splitlines()]
        assert len(ids) == len(named)
        if target:
            target.mkdir(exist_ok=True)
            (target / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows()))
        for database in databases:
            (folder / database).mkdir()
            readers = {"postgres": postgres, "mysql": mysql, "sqlite": sqlite, "duckdb": duckdb, "clickhouse": clickhouse}
            kinds = readers[database](folder / database)
            if target:
                for path in sorted((folder / database).iterdir()):
                    if path.name.startswith("all"):
                        (target / f"{database}{path.name.removeprefix('all')}").write_bytes(path.read_bytes())
            check(tool, folder / database, ids, len(rows()) - len(named), kinds)
            if "tsv" not in kinds:
                check_refusal(tool, folder / database, database)


main()
