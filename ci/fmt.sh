#!/usr/bin/env bash
# All files of all packages are formatted as rustfmt.toml says, and each workspace's Cargo.lock has all packages.
set -euo pipefail
cd "$(dirname "$0")/.."

find . -name target -prune -o -name '*.rs' -print0 | xargs -0 rustfmt --edition 2024 --check

# The gate compiles only some of them.
find . -name target -prune -o -name Cargo.lock -print | while read -r lock; do
  cargo update --quiet --workspace --locked --manifest-path "${lock%lock}toml" || { echo "fmt.sh: $lock lacks a package" >&2; exit 1; }
done
