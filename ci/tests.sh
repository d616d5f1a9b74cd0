#!/usr/bin/env bash
# Runs the README's test command: unit, integration and documentation tests of all packages. ci/integrations.sh tests the features for other
# crates. If all pass, it lists those that could not run on this machine: such a test writes `skipped: NAME: REASON` to standard error.
set -euo pipefail
cd "$(dirname "$0")/.."

messages=$(mktemp)
trap 'rm -f "$messages"' EXIT
# Only standard error goes through `tee`, so standard output cannot split its lines.
{ cargo test 2>&1 >&3 3>&- | tee "$messages" >&2; } 3>&1

skipped=$(sed -n 's/^skipped: /  /p' "$messages" | sort -u)
printf '\nskipped tests: %d\n' "$(grep -c . <<<"$skipped" || true)"
[ -z "$skipped" ] || echo "$skipped"
