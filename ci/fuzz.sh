#!/usr/bin/env bash
# Each fuzz target builds without a warning and finds no fault: in the inputs of fuzz/corpus, in the same 5,000 runs each time, and in
# some seconds with a seed that is the date: ci/fuzz.sh [SECONDS], default 10. For these seconds the targets take turns (ci/turn.sh); `urls`,
# which compiles the clients of all stores, is built in its turn only.
# IMID_CI_SEED=20261123 ci/fuzz.sh begins as on that day.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-10}
seed=${IMID_CI_SEED:-$(date -u +%Y%m%d)}
# The target `levels` needs the flag to force the codec's instructions.
export RUSTFLAGS="${RUSTFLAGS:-} --cfg imid_levels"

if ! cargo +nightly --version >/dev/null 2>&1; then
  echo "not checked: fuzz: this machine has no nightly Rust"
  exit
fi
command -v cargo-fuzz >/dev/null || cargo install cargo-fuzz --locked
# Here and not in ci/clippy.sh, where the flags would compile all crates once more.
export RUSTC_WORKSPACE_WRAPPER=$PWD/ci/clippy_driver.sh
cargo +nightly clippy --version >/dev/null 2>&1 || { echo "not checked: fuzz: nightly Rust has no clippy for the warnings"; unset RUSTC_WORKSPACE_WRAPPER; }
targets=$(cargo +nightly fuzz list)
turn=$(bash ci/turn.sh "fuzz, with a new seed" 3 <<<"$targets")
features=()
if grep -qxF urls <<<"$turn"; then
  features=(--features urls)
else
  targets=$(grep -vxF urls <<<"$targets")
  echo "not checked: fuzz: urls (on other days; all with IMID_CI_ALL=1)"
fi
cargo +nightly fuzz build "${features[@]}"

echo "seed $seed"
log=$(mktemp)
found=$(mktemp -d) # New inputs. Those of the repository stay few and short.
trap 'rm -rf "$log" "$found"' EXIT
for target in $targets; do
  # The log has hundreds of lines of progress. They are printed only after a failure.
  mkdir "$found/$target"
  parts=("-runs=5000 -seed=1")
  ! grep -qxF "$target" <<<"$turn" || parts+=("-max_total_time=$seconds -seed=$seed")
  for part in "${parts[@]}"; do
    # shellcheck disable=SC2086 # two options
    cargo +nightly fuzz run "${features[@]}" "$target" "$found/$target" "fuzz/corpus/$target" -- $part >"$log" 2>&1 ||
      { cat "$log"; echo "fuzz.sh: $target failed with $part" >&2; exit 1; }
    grep -E '^not run|DONE' "$log" | sed "s/^/$target: /"
  done
done
