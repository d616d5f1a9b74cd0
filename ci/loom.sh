#!/usr/bin/env bash
# The generators are correct under all interleavings of their threads that loom explores. The target folder is another
# one, because `--cfg loom` recompiles all crates.
set -euo pipefail
cd "$(dirname "$0")/.."

RUSTFLAGS="${RUSTFLAGS:-} --cfg loom" CARGO_TARGET_DIR=target/loom cargo test --package imid --release --test loom --test loom_snowflake
