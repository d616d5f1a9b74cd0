#!/usr/bin/env bash
# docs/vectors.json is the output of ci/vectors.py, which does not use the library. `ci/vectors.sh --write` writes the file.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=${CARGO_TARGET_DIR:-target}/vectors-venv

if ! "$venv/bin/python" -c 'import xxhash' 2>/dev/null; then
  if ! { python3 -m venv --clear "$venv" &&
    "$venv/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: 'xxhash>=3'; }; then
    echo "not checked: vectors: Python 3 with xxhash from PyPI cannot be installed here"
    exit
  fi
fi

fresh=$(mktemp)
trap 'rm -f "$fresh"' EXIT
"$venv/bin/python" ci/vectors.py >"$fresh"
if [ "${1:-}" = --write ]; then
  cp "$fresh" docs/vectors.json
elif ! diff -u docs/vectors.json "$fresh"; then
  echo "vectors.sh: docs/vectors.json differs from the output of ci/vectors.py" >&2
  exit 1
else
  echo "docs/vectors.json: $(grep -c '^{.' "$fresh") rows, the same from ci/vectors.py"
fi
