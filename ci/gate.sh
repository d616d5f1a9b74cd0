#!/usr/bin/env bash
# What each change must pass: format, lints, the specification's files, tests, documents. Five minutes on two cores with a warm target
# folder. All of it runs, and the last lines say what failed and how it ended. `.ci/run` begins with it; CONTRIBUTING.md says what else to
# run for what you change.
set -euo pipefail
cd "$(dirname "$0")/.."
# As in `.ci/run`: the same profile for all workspaces, so that they share crates.
export CARGO_PROFILE_DEV_DEBUG=${CARGO_PROFILE_DEV_DEBUG:-0} PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED:-1}

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
failed=()
for check in fmt lines changed vectors contract clippy tests docs; do
  start=$SECONDS status=0
  printf '\n=== %s\n' "$check"
  case $check in
    changed) command=(python3 ci/changed.py test) ;;
    *) command=(bash "ci/$check.sh") ;;
  esac
  "${command[@]}" 2>&1 | tee "$logs/$check" || status=$?
  [ $status = 0 ] || failed+=("$check")
  echo "=== $check: $((SECONDS - start)) s"
done
for check in "${failed[@]}"; do
  printf '\n=== the last lines of %s\n' "$check"
  tail -n 12 "$logs/$check"
done
[ ${#failed[@]} = 0 ] || { printf 'gate: failed in %d s: %s\n' "$SECONDS" "${failed[*]}"; exit 1; }
printf '\ngate passed in %d s\n' "$SECONDS"
