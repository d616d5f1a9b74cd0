#!/usr/bin/env bash
# The generators are correct under all thread interleavings that loom explores. `--cfg loom` recompiles all crates, so
# these have a separate target folder.
set -euo pipefail
cd "$(dirname "$0")/.."

RUSTFLAGS="${RUSTFLAGS:-} --cfg loom" CARGO_TARGET_DIR=target/loom cargo test --package imid --release --test loom --test loom_fork --test loom_snowflake
