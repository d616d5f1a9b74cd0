#!/usr/bin/env python3
"""Prints criterion's results as Markdown: the least median time per ID of several runs, and its ratio to imid's."""

import argparse

import results


def table(rows):
    """Returns the lines of one case as Markdown."""
    ours = rows.get("imid")
    yield "| | ns per ID | M IDs/s |" + (" × imid |" if ours else "")
    yield "| --- | ---: | ---: |" + (" ---: |" if ours else "")
    for library, nanoseconds in rows.items():
        ratio = f" {nanoseconds / ours:.2f} |" if ours else ""
        yield f"| {library} | {nanoseconds:.2f} | {1000 / nanoseconds:.1f} |{ratio}"


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("topic", nargs="*", help="such as generate or batch-64 (default: all topics)")
    for (topic, case), rows in results.read(arguments.parse_args().topic).items():
        print(f"\n### {topic}/{case}\n", *table(rows), sep="\n")


if __name__ == "__main__":
    main()
