#!/usr/bin/env bash
# Counts the lines of code of each package: ci/lines.sh [--files] prints one line per package, or per file.
#
# A line of code is a line of a Rust file in the `src` of a package that is not blank, not a comment (it begins with `//`, which
# doc comments do, too) and not a test. A test is an item with `#[cfg(test)]` or `#[cfg(all(test, ...))]`,
# `#[cfg(loom)]` or `#[cfg(doctest)]`, up to its end, and the whole file or folder of a module that is declared so. Attributes, braces and imports
# count. tests/, benches/, examples/ and fuzz/ are no package's source.
set -euo pipefail
cd "$(dirname "$0")/.."

python3 - "$@" <<'PY'
import pathlib, re, sys

TEST = re.compile(r"#\[cfg\((all\()?(test|loom|doctest)\b")
MODULE = re.compile(r"(?:pub(?:\([a-z]+\))? )?mod (\w+);")


def scan(text):
    """Returns how many lines of a file are code, and the names of its modules that are tests."""
    count, tests, indent = 0, [], None
    for line in text.splitlines():
        bare = line.strip()
        if indent is not None:
            # In an item that is a test. Its attributes come first; it ends with a `;`, or a brace below its first line.
            if began is None and bare and not bare.startswith(("#[", "//")):
                began = bare
                if named := MODULE.match(bare):
                    tests.append(named[1])
                if bare.endswith((";", "}")):
                    indent = None
            elif began is not None and line.startswith((indent + "}", indent + ")")):
                indent = None
        elif TEST.match(bare):
            indent, began = line[: len(line) - len(line.lstrip())], None
        elif bare and not bare.startswith("//"):
            count += 1
    return count, tests


def package(src):
    counts, tests = {}, set()
    for path in sorted(src.rglob("*.rs")):
        counts[path], names = scan(path.read_text())
        folder = path.parent if path.stem in ("lib", "main", "mod") else path.with_suffix("")
        tests |= {folder / name for name in names}
    return {
        path: count
        for path, count in counts.items()
        if not any(test == path.with_suffix("") or test in path.parents for test in tests)
    }


total = 0
for manifest in ["Cargo.toml", *sorted(str(path) for path in pathlib.Path("crates").glob("*/Cargo.toml"))]:
    name = re.search(r'^\[package\]\nname = "(.*)"', pathlib.Path(manifest).read_text(), re.M)[1]
    counts = package(pathlib.Path(manifest).parent / "src")
    if "--files" in sys.argv:
        for path, count in counts.items():
            print(f"{count:6}  {path}")
    print(f"{sum(counts.values()):6}  {name}")
    total += sum(counts.values())
print(f"{total:6}  in all")
PY
