#!/usr/bin/env python3
"""Prints criterion's last results as Markdown: benches/table.py [TOPIC...], such as `generate batch-64`.

Medians per ID, and what each library's is as a multiple of ours in the same topic and case.
"""

import json
import sys
from pathlib import Path

RESULTS = Path(__file__).parent.parent / "target" / "criterion"


def results():
    """One (topic, case, library, nanoseconds per ID) for each result."""
    for file in RESULTS.glob("**/new/estimates.json"):
        about = json.loads((file.parent / "benchmark.json").read_text())
        topic, case = about["group_id"].split("/", 1)
        ids = (about["throughput"] or {"Elements": 1})["Elements"]
        median = json.loads(file.read_text())["median"]["point_estimate"]
        yield topic, case, about["function_id"], median / ids


def main(topics):
    groups = {}
    for topic, case, library, nanoseconds in results():
        if not topics or topic in topics:
            groups.setdefault((topic, case), {})[library] = nanoseconds
    if not groups:
        sys.exit(f"no results of these topics in {RESULTS}; run cargo bench first")
    for (topic, case), rows in sorted(groups.items()):
        ours = rows.get("imid")
        print(f"\n### {topic}/{case}\n")
        print("| | ns per ID | M IDs/s |" + (" × imid |" if ours else ""))
        print("| --- | ---: | ---: |" + (" ---: |" if ours else ""))
        for library, nanoseconds in sorted(rows.items(), key=lambda row: row[1]):
            ratio = f" {nanoseconds / ours:.2f} |" if ours else ""
            print(f"| {library} | {nanoseconds:.2f} | {1000 / nanoseconds:.1f} |{ratio}")


main(sys.argv[1:])
