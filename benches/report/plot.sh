#!/usr/bin/env bash
# Draws benches/plots/*.svg from criterion's results, with matplotlib from PyPI, which it installs below the target
# folder:
#
#   benches/report/plot.sh            every figure
#   benches/report/plot.sh encode     the figures that show this topic
set -euo pipefail
cd "$(dirname "$0")/../.."
wanted=benches/report/requirements.txt
venv=${CARGO_TARGET_DIR:-target}/plot-venv

# The copy comes last, so an installation that was cut short is made again, and so is one of other versions.
if ! cmp -s "$wanted" "$venv/installed.txt"; then
  echo "installing matplotlib into $venv" >&2
  python3 -m venv --clear "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: --requirement "$wanted"
  cp "$wanted" "$venv/installed.txt"
fi
exec "$venv/bin/python" benches/report/plot.py "$@"
