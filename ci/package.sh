#!/usr/bin/env bash
# What crates.io would get: the documents and licences are in it, the checks are not, and it builds from there.
set -euo pipefail
cd "$(dirname "$0")/.."

files=$(cargo package --package imid --list --allow-dirty)
for wanted in Cargo.toml README.md docs/FORMAT.md docs/DESIGN.md docs/MIGRATING.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT \
  src/lib.rs; do
  grep -qxF "$wanted" <<<"$files" || { echo "package.sh: $wanted is not in the package" >&2; exit 1; }
done
if unwanted=$(grep -E '^(\.ci|benches|ci|fuzz|tests)/' <<<"$files"); then
  echo "package.sh: in the package, but not for users: $unwanted" >&2
  exit 1
fi
cargo package --allow-dirty --package imid --all-features
