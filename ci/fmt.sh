#!/usr/bin/env bash
# Every package is formatted as rustfmt.toml says.
set -euo pipefail
cd "$(dirname "$0")/.."

for package in . fuzz benches/faults ci/no_std; do
  cargo fmt --manifest-path "$package/Cargo.toml" --check
done
