#!/usr/bin/env bash
# The scripts that print and draw the benches' results, on small results; drawing only where plot.sh has put matplotlib.
set -euo pipefail
cd "$(dirname "$0")/.."

python=${CARGO_TARGET_DIR:-target}/plot-venv/bin/python
[ -x "$python" ] || python=python3
"$python" -m unittest discover --start-directory benches/report --pattern tests.py
