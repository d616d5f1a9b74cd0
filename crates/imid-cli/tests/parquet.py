"""Runs the commands of docs/MIGRATING.md about Parquet, and compares each column before and after:

    python crates/imid-cli/tests/parquet.py FOLDER_OF_THE_TOOL

Needs the packages duckdb-cli and pyarrow of PyPI. pyarrow, which did not write the file, also compares the values.
"""

import os
import subprocess
import sys
import tempfile
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

ROWS = 300_000  # more than two row groups

# One column for each type that DuckDB writes, and the value in row i.
COLUMNS = {
    "room": "'room ' || i % 1000",
    "sent": "TIMESTAMP '2025-11-20 12:00:00' + INTERVAL (i) SECOND",
    "date": "DATE '9999-12-31' - (i % 9)::INT",
    "date_old": "DATE '0001-01-01'",
    "micros": "TIMESTAMP '9999-12-31 23:59:59.999999'",
    "millis": "TIMESTAMP_MS '9999-12-31 23:59:59.999'",
    "nanos": "TIMESTAMP_NS '2262-04-11 23:47:16.854775806'",
    "seconds": "TIMESTAMP_S '1816-03-29 05:56:08'",
    "zoned": "TIMESTAMPTZ '9999-12-31 00:00:00+00'",
    "time": "TIME '23:59:59.999999'",
    "time_zoned": "TIMETZ '12:00:00+02'",
    "interval": "INTERVAL '1 month 2 days 3 seconds'",
    "uuid": "uuid()",
    "json": """('{"n": ' || i || '}')::JSON""",
    "decimal": "(i || '.0123456789')::DECIMAL(38, 10)",
    "decimal_small": "(-1.25)::DECIMAL(4, 2)",
    "bytes": "'\\xAA\\x00'::BLOB",
    "enum": "(['a', 'b'])[i % 2 + 1]::ENUM ('a', 'b')",
    "bits": "'101'::BIT",
    "boolean": "i % 2 = 0",
    "tiny": "(-128)::TINYINT",
    "small": "(-32768)::SMALLINT",
    "big": "(-9223372036854775808)::BIGINT",
    "unsigned_tiny": "255::UTINYINT",
    "unsigned_small": "65535::USMALLINT",
    "unsigned": "4294967295::UINTEGER",
    "unsigned_big": "18446744073709551615::UBIGINT",
    "float": "'infinity'::FLOAT",
    "double": "(-0.0)::DOUBLE",
    "text": "E'comma, \"quote\", line\\nfeed, é, '",
    "missing": "NULL::INTEGER",
    "sometimes": "CASE WHEN i % 3 = 0 THEN i END",
    "list": "[i, NULL, 2]",
    "structure": "{'a': i, 'b': {'c': ['x']}}",
    "map": "MAP {'k': i}",
}


def schema(path):
    """The type of each leaf of a Parquet file, as it is stored."""
    leaves = pq.ParquetFile(path).schema
    return {leaf.path: (leaf.physical_type, str(leaf.logical_type)) for leaf in map(leaves.column, range(len(leaves)))}


def run(script, folder, tool):
    path = os.pathsep.join([tool, str(Path(sys.executable).parent), os.environ["PATH"]])
    ran = subprocess.run(["sh", "-euc", script], cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def compare(folder, changed=()):
    """Asserts that the tagged file has the same columns and one more. Only the unit of the `changed` ones may differ."""
    before, after = schema(folder / "chat.parquet"), schema(folder / "tagged.parquet")
    assert after.pop("id") == ("BYTE_ARRAY", "None"), after
    different = {name: (before[name], after.get(name)) for name in before if before[name] != after.get(name)}
    assert set(different) == set(changed) and len(before) == len(after), different
    # By default, pyarrow reads times of 96 bits as nanoseconds, which end in 2262.
    old, new = (pq.read_table(folder / name, coerce_int96_timestamp_unit="us") for name in ("chat.parquet", "tagged.parquet"))
    assert new.column_names == [*old.column_names, "id"], new.column_names
    for name in old.column_names:
        values = new[name] if name not in changed else new[name].cast(old[name].type)
        assert old[name].equals(values), name
    return new


def main(tool):
    migrating = Path(__file__).parents[3] / "docs" / "MIGRATING.md"
    section = migrating.read_text().split("## Messages in Parquet files")[1].split("\n## ")[0]
    tag, check = [part.split("\n```")[0] for part in section.split("```sh\n")[1:]]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        columns = ", ".join(f'{value} AS "{name}"' for name, value in COLUMNS.items())
        run(f"duckdb <<'SQL'\nCOPY (SELECT {columns} FROM range({ROWS}) AS rows(i)) TO 'chat.parquet';\nSQL", folder, tool)
        run(tag, folder, tool)
        tagged = compare(folder, changed={"millis"})
        ids = [value.as_py() for value in tagged["id"]]
        sent = pc.cast(tagged["sent"], pa.timestamp("ms")).cast(pa.int64()).to_pylist()
        assert all(len(id) == 10 for id in ids) and ids == sorted(set(ids)), "the IDs increase"
        assert all(int.from_bytes(id, "big") >> 38 == at for id, at in zip(ids, sent)), "an ID has the time of its row"
        checked = run(check, folder, tool)
        assert f"lines       {ROWS}\nvalid       {ROWS}\n" in checked, checked
        print(f"parquet: {ROWS} rows with {len(COLUMNS)} columns are equal before and after, and have increasing IDs")

        # A file of an old program, with times of 96 bits.
        times = [datetime(2025, 11, 20, 12), datetime(1816, 3, 29, 5, 56, 8), datetime(9999, 12, 31), None]
        table = pa.table({"room": ["a"] * 4, "sent": pa.array([times[0]] * 4, pa.timestamp("us")), "old": pa.array(times, pa.timestamp("us"))})
        pq.write_table(table, folder / "chat.parquet", use_deprecated_int96_timestamps=True)
        assert schema(folder / "chat.parquet")["old"][0] == "INT96"
        run(tag, folder, tool)
        compare(folder, changed={"sent", "old"})
        print("parquet: times of 96 bits keep their values")


main(os.path.abspath(sys.argv[1]))
