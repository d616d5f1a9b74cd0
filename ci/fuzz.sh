#!/usr/bin/env bash
# Every fuzz target builds and holds its law for some seconds: ci/fuzz.sh [SECONDS], 10 unless told.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-10}
# For the target `levels`, which forces the codec's instructions.
export RUSTFLAGS="${RUSTFLAGS:-} --cfg imid_levels"

command -v cargo-fuzz >/dev/null || cargo install cargo-fuzz --locked
rustup toolchain list | grep -q '^nightly' || rustup toolchain install nightly --profile minimal
cargo +nightly fuzz build

log=$(mktemp)
trap 'rm -f "$log"' EXIT
targets=$(cargo +nightly fuzz list)
for target in $targets; do
  # Hundreds of lines of progress, wanted only if the law does not hold.
  cargo +nightly fuzz run "$target" -- -max_total_time="$seconds" >"$log" 2>&1 || { cat "$log"; exit 1; }
  grep -E '^not run|DONE' "$log" | sed "s/^/$target: /"
done
