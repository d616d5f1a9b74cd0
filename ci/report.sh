#!/usr/bin/env bash
# The scripts that print and draw benchmark results work on small results. Drawing needs matplotlib, which
# benches/report/plot.sh installs.
set -euo pipefail
cd "$(dirname "$0")/.."

python=${CARGO_TARGET_DIR:-target}/plot-venv/bin/python
[ -x "$python" ] || python=python3
"$python" -m unittest discover --start-directory benches/report --pattern tests.py
