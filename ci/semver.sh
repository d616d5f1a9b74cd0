#!/usr/bin/env bash
# The API of no library has a breaking change since the last release, unless the version number in Cargo.toml allows it.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! tag=$(git describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null); then
  echo "not checked: semver: there is no release yet (no tag v*)"
  exit
fi
command -v cargo-semver-checks >/dev/null || cargo install cargo-semver-checks --locked
for package in imid imid-inspect imid-lease imid-snowflake leaf-segment; do
  # A package that the last release did not have has no API to break.
  manifest=$(git ls-files "Cargo.toml" "crates/*/Cargo.toml" | xargs grep -lx "name = \"$package\"")
  git cat-file -e "$tag:$manifest" 2>/dev/null || { echo "$package is new since $tag"; continue; }
  cargo semver-checks --package "$package" --all-features --baseline-rev "$tag"
done
