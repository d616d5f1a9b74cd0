#!/usr/bin/env bash
# No warning of the compiler or of clippy, in any target; the lints and their reasons are in Cargo.toml.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo clippy --all-targets --all-features -- -D warnings
