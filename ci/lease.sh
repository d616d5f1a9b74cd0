#!/usr/bin/env bash
# The cases of spec/PROTOCOL.md: spec/lease.json is the output of spec/lease/cases.py, which does not use the library; the engine passes
# its cases. ci/lease.sh COMMAND... judges the driver that the command starts; --write writes spec/lease.json.
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in
  --write)
    cases=$(python3 spec/lease/cases.py)
    printf '%s\n' "$cases" >spec/lease.json
    ;;
  '')
    diff -u spec/lease.json <(python3 spec/lease/cases.py) ||
      { echo "lease.sh: spec/lease.json differs from the output of spec/lease/cases.py" >&2; exit 1; }
    cargo test --quiet --test simulation -- --nocapture the_engine_does_what_the_cases_for_ports_say
    ;;
  *) python3 spec/lease/check.py "$@" ;;
esac
