#!/usr/bin/env bash
# docs/vectors.json is the output of ci/vectors.py and docs/dialects.json that of ci/dialects.py, which do not use the library. Both
# files, docs/generator.json and docs/lease.json fit their schemas. `ci/vectors.sh --write` writes the two files.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=${CARGO_TARGET_DIR:-target}/vectors-venv

if ! "$venv/bin/python" -c 'import jsonschema, xxhash' 2>/dev/null; then
  if ! { python3 -m venv --clear "$venv" &&
    "$venv/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: 'jsonschema>=4' 'xxhash>=3'; }; then
    echo "not checked: vectors: Python 3 with jsonschema and xxhash from PyPI cannot be installed here"
    exit
  fi
fi

fresh=$(mktemp)
trap 'rm -f "$fresh"' EXIT
for file in vectors dialects; do
  "$venv/bin/python" "ci/$file.py" >"$fresh"
  if [ "${1:-}" = --write ]; then
    cp "$fresh" "docs/$file.json"
  elif ! diff -u "docs/$file.json" "$fresh"; then
    echo "vectors.sh: docs/$file.json differs from the output of ci/$file.py" >&2
    exit 1
  else
    echo "docs/$file.json: $(grep -c '^{.' "$fresh") rows, the same from ci/$file.py"
  fi
done
"$venv/bin/python" ci/schemas.py
