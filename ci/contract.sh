#!/usr/bin/env bash
# The rules of spec/GENERATOR.md: spec/generator.json is the output of spec/contract/cases.py, which does not use the library; this
# library and the generator of spec/contract/model.py pass its cases.
#   ci/contract.sh             all of this
#   ci/contract.sh --sentences each sentence of the page has a case that fails without it: prints the mutants of the model and the
#                              case that notices each one. Some minutes
#   ci/contract.sh COMMAND...  the cases against the driver that the command starts
#   ci/contract.sh --mutants   which cases fail with which mutant of the model
#   ci/contract.sh --write     writes spec/generator.json
set -euo pipefail
cd "$(dirname "$0")/.."

case ${1:-} in
  --write)
    cases=$(python3 spec/contract/cases.py)
    printf '%s\n' "$cases" >spec/generator.json
    ;;
  --sentences) python3 spec/contract/mutants.py ;;
  --mutants) python3 spec/contract/mutants.py --all ;;
  '')
    diff -u spec/generator.json <(python3 spec/contract/cases.py) ||
      { echo "contract.sh: spec/generator.json differs from the output of spec/contract/cases.py" >&2; exit 1; }
    driver=$(cargo build --quiet --example contract --message-format json |
      python3 -c 'import json, sys; print(*filter(None, (json.loads(line).get("executable") for line in sys.stdin)))')
    # Both at once, because each needs one processor.
    python3 spec/contract/check.py python3 spec/contract/model.py &
    model=$! status=0
    python3 spec/contract/check.py "$driver" || status=$?
    wait "$model" || status=$?
    exit "$status"
    ;;
  *) python3 spec/contract/check.py "$@" ;;
esac
