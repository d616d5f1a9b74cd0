#!/usr/bin/env bash
# The rules of docs/GENERATOR.md: docs/generator.json is the output of ci/contract/cases.py, which does not use the library; this
# library and the generator of ci/contract/model.py pass its cases.
#   ci/contract.sh             all of this
#   ci/contract.sh --sentences each sentence of the page has a case that fails without it: prints the mutants of the model and the
#                              case that notices each one. Some minutes
#   ci/contract.sh COMMAND...  the cases against the driver that the command starts
#   ci/contract.sh --mutants   which cases fail with which mutant of the model
#   ci/contract.sh --write     writes docs/generator.json
set -euo pipefail
cd "$(dirname "$0")/.."

case ${1:-} in
  --write)
    cases=$(python3 ci/contract/cases.py)
    printf '%s\n' "$cases" >docs/generator.json
    ;;
  --sentences) python3 ci/contract/mutants.py ;;
  --mutants) python3 ci/contract/mutants.py --all ;;
  '')
    diff -u docs/generator.json <(python3 ci/contract/cases.py) ||
      { echo "contract.sh: docs/generator.json differs from the output of ci/contract/cases.py" >&2; exit 1; }
    driver=$(cargo build --quiet --example contract --message-format json |
      python3 -c 'import json, sys; print(*filter(None, (json.loads(line).get("executable") for line in sys.stdin)))')
    python3 ci/contract/check.py "$driver"
    python3 ci/contract/check.py python3 ci/contract/model.py
    ;;
  *) python3 ci/contract/check.py "$@" ;;
esac
