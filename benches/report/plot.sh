#!/usr/bin/env bash
# Draws benches/plots/*.svg from criterion's results. Installs matplotlib from PyPI in the target folder.
#
#   benches/report/plot.sh            all figures
#   benches/report/plot.sh encode     the figures of this topic
set -euo pipefail
cd "$(dirname "$0")/../.."
wanted=benches/report/requirements.txt
venv=${CARGO_TARGET_DIR:-target}/plot-venv

# The file is copied last, so an incomplete installation, or one of other versions, is replaced.
if ! cmp -s "$wanted" "$venv/installed.txt"; then
  echo "installing matplotlib into $venv" >&2
  python3 -m venv --clear "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: --requirement "$wanted"
  cp "$wanted" "$venv/installed.txt"
fi
exec "$venv/bin/python" benches/report/plot.py "$@"
