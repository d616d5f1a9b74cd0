#!/usr/bin/env bash
# No feature, each feature alone, and all of them: each compiles without a warning.
set -euo pipefail
cd "$(dirname "$0")/.."

command -v cargo-hack >/dev/null || cargo install cargo-hack --locked
cargo hack clippy --each-feature -- -D warnings
