#!/usr/bin/env bash
# What each change must pass: format, lints, the specification's files, tests, documents. Five minutes on two cores with a warm target
# folder. All of it runs, and the last line names what failed. `.ci/run` begins with it; CONTRIBUTING.md says what else to run for what you
# change.
set -euo pipefail
cd "$(dirname "$0")/.."
# As in `.ci/run`: the same profile for all workspaces, so that they share crates.
export CARGO_PROFILE_DEV_DEBUG=${CARGO_PROFILE_DEV_DEBUG:-0} PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED:-1}

failed=()
for check in fmt lines changed vectors contract clippy tests docs; do
  start=$SECONDS status=0
  printf '\n=== %s\n' "$check"
  case $check in
    changed) python3 ci/changed.py test || status=$? ;;
    *) bash "ci/$check.sh" || status=$? ;;
  esac
  [ $status = 0 ] || failed+=("$check")
  echo "=== $check: $((SECONDS - start)) s"
done
[ ${#failed[@]} = 0 ] || { printf '\ngate: failed in %d s: %s\n' "$SECONDS" "${failed[*]}"; exit 1; }
printf '\ngate passed in %d s\n' "$SECONDS"
