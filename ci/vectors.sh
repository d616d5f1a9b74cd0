#!/usr/bin/env bash
# spec/vectors.json is the output of spec/vectors.py and spec/dialects.json that of spec/dialects.py, which do not use the library. Both
# files, spec/generator.json and spec/lease.json fit their schemas. `ci/vectors.sh --write` writes the two files.
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
  "$venv/bin/python" "spec/$file.py" >"$fresh"
  if [ "${1:-}" = --write ]; then
    cp "$fresh" "spec/$file.json"
  elif ! diff -u "spec/$file.json" "$fresh"; then
    echo "vectors.sh: spec/$file.json differs from the output of spec/$file.py" >&2
    exit 1
  else
    echo "spec/$file.json: $(grep -c '^{.' "$fresh") rows, the same from spec/$file.py"
  fi
done
"$venv/bin/python" spec/schemas.py
