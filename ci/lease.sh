#!/usr/bin/env bash
# The cases of docs/PROTOCOL.md: docs/lease.json is the output of ci/lease/cases.py, which does not use the library; the engine passes
# its cases. ci/lease.sh COMMAND... judges the driver that the command starts; --write writes docs/lease.json.
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in
  --write)
    cases=$(python3 ci/lease/cases.py)
    printf '%s\n' "$cases" >docs/lease.json
    ;;
  '')
    diff -u docs/lease.json <(python3 ci/lease/cases.py) ||
      { echo "lease.sh: docs/lease.json differs from the output of ci/lease/cases.py" >&2; exit 1; }
    cargo test --quiet --lib -- --nocapture the_engine_does_what_the_cases_for_ports_say
    ;;
  *) python3 ci/lease/check.py "$@" ;;
esac
