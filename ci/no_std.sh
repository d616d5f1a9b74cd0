#!/usr/bin/env bash
# The core without std: its tests pass, and a program that has neither std nor an allocator links with it and runs.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo test --no-default-features --lib --tests
cargo run --release --manifest-path ci/no_std/Cargo.toml --target-dir target/no_std
