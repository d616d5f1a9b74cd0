#!/usr/bin/env bash
# Every example runs to its end.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build --all-features --examples
shopt -s nullglob
for example in examples/*.rs; do
  name=$(basename "$example" .rs)
  echo "--- $name"
  cargo run --quiet --all-features --example "$name" </dev/null
done
