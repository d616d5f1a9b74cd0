"""Reads criterion's results for table.py and plot.py. If it cannot read a result, it ends the program with the reason."""

import json
import os
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
# The last run, and the runs of run.sh. Other load on the machine only adds time, so the least time counts.
RUNS = ("new", "run-*")
# Much longer than one run takes.
ONE_RUN_SECONDS = 3600


def folder():
    """Returns the folder where criterion writes, from the same variables. Paths start at the root of the repository."""
    target = os.environ.get("CARGO_TARGET_DIR", "benches/target")
    return REPOSITORY / os.environ.get("CRITERION_HOME", Path(target, "criterion"))


def read(topics=()):
    """Returns nanoseconds per ID for these topics or all: {(topic, case): {library: nanoseconds}}, fastest first."""
    cases, times = {}, {}
    for file in (file for run in RUNS for file in folder().glob(f"**/{run}/estimates.json")):
        name, library, nanoseconds = read_one(file)
        case, time = cases.setdefault(name, {}), times.setdefault(name, {})
        case[library] = min(nanoseconds, case.get(library, nanoseconds))
        time[library] = max(file.stat().st_mtime, time.get(library, 0))
    if not cases:
        sys.exit(f"no results in {folder()}: run benches/report/run.sh first")

    known = sorted({topic for topic, _ in cases})
    if unknown := [topic for topic in topics if topic not in known]:
        sys.exit(f"no results of {', '.join(unknown)} in {folder()}; there are results of {', '.join(known)}")
    wanted = [name for name in sorted(cases) if not topics or name[0] in topics]
    for name in wanted:
        warn_of_old_results(name, times[name])
    return {name: dict(sorted(cases[name].items(), key=lambda row: row[1])) for name in wanted}


def read_one(file):
    """Reads one result: ((topic, case), library, nanoseconds per ID)."""
    try:
        about = json.loads((file.parent / "benchmark.json").read_text())
        topic, case = about["group_id"].split("/")
        # A result without a throughput is the time of one ID.
        ((unit, ids),) = (about["throughput"] or {"Elements": 1}).items()
        if unit != "Elements":
            raise ValueError(f"its throughput is in {unit}, not in Elements")
        median = json.loads(file.read_text())["median"]["point_estimate"]
        return (topic, case), about["function_id"], median / ids
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        sys.exit(f"{file.parent} is not a result of the form `topic/case/library`: {error!r}")


def warn_of_old_results(name, times):
    """Warns of old results: criterion keeps the results of benches that no longer exist, and of older code."""
    last = max(times.values())
    for library, time in times.items():
        if last - time > ONE_RUN_SECONDS:
            result, hours = "/".join([*name, library]), (last - time) / 3600
            print(f"warning: {result} is {hours:.1f} h older than the rest of its case", file=sys.stderr)
