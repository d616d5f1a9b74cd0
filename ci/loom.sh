#!/usr/bin/env bash
# The generator under every interleaving of its threads. A directory of its own: `--cfg loom` changes every crate.
set -euo pipefail
cd "$(dirname "$0")/.."

RUSTFLAGS="${RUSTFLAGS:-} --cfg loom" CARGO_TARGET_DIR=target/loom cargo test --release --test loom --test loom_snowflake
