#!/usr/bin/env bash
# Each fuzz target builds and finds no fault in some seconds: ci/fuzz.sh [SECONDS], default 10.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-10}
# The target `levels` needs this flag to force the codec's instructions.
export RUSTFLAGS="${RUSTFLAGS:-} --cfg imid_levels"

if ! cargo +nightly --version >/dev/null 2>&1; then
  echo "not checked: fuzz: this machine has no nightly Rust"
  exit
fi
command -v cargo-fuzz >/dev/null || cargo install cargo-fuzz --locked
cargo +nightly fuzz build

log=$(mktemp)
trap 'rm -f "$log"' EXIT
targets=$(cargo +nightly fuzz list)
for target in $targets; do
  # The log has hundreds of lines of progress. They are printed only after a failure.
  cargo +nightly fuzz run "$target" -- -max_total_time="$seconds" >"$log" 2>&1 || { cat "$log"; exit 1; }
  grep -E '^not run|DONE' "$log" | sed "s/^/$target: /"
done
