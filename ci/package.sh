#!/usr/bin/env bash
# The packages for crates.io have what users need and nothing else, and they build from there.
set -euo pipefail
cd "$(dirname "$0")/.."

# check PACKAGE FILE...: the package has these files, and none of the folders that only this repository needs.
check() {
  local files package=$1
  shift
  files=$(cargo package --package "$package" --list --allow-dirty)
  for wanted in "$@"; do
    grep -qxF "$wanted" <<<"$files" || { echo "package.sh: $package has no $wanted" >&2; exit 1; }
  done
  if unwanted=$(grep -E '^(\.ci|benches|ci|crates|fuzz|tests)/' <<<"$files"); then
    echo "package.sh: $package has files that users do not need: $unwanted" >&2
    exit 1
  fi
}
check imid Cargo.toml README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT src/lib.rs docs/*
check imid-cli Cargo.toml README.md LICENSE-APACHE LICENSE-MIT src/main.rs

cargo package --workspace --all-features --allow-dirty
