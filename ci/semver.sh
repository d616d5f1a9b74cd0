#!/usr/bin/env bash
# The library's API has no breaking change since the last release, unless the version number in Cargo.toml allows it.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! tag=$(git describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null); then
  echo "not checked: semver: there is no release yet (no tag v*)"
  exit
fi
command -v cargo-semver-checks >/dev/null || cargo install cargo-semver-checks --locked
cargo semver-checks --package imid --all-features --baseline-rev "$tag"
