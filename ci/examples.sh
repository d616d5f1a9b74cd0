#!/usr/bin/env bash
# Each example runs to its end.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build --package imid --all-features --examples
shopt -s nullglob
for example in examples/*.rs; do
  name=$(basename "$example" .rs)
  echo "--- $name"
  cargo run --quiet --package imid --all-features --example "$name" </dev/null
done
