#!/usr/bin/env bash
# Every crate is formatted as rustfmt.toml says.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo fmt --check
cargo fmt --manifest-path fuzz/Cargo.toml --check
cargo fmt --manifest-path ci/no_std/Cargo.toml --check
