#!/usr/bin/env bash
# The generators are correct under all thread interleavings that loom explores. `--cfg loom` recompiles all crates, so
# these have a separate target folder. Each model prints how many interleavings it has tried, and whether a time limit has cut
# it, as it does on a slow machine.
set -euo pipefail
cd "$(dirname "$0")/.."

# No more models at once than processors, because each has a time limit.
export RUSTFLAGS="${RUSTFLAGS:-} --cfg loom" CARGO_TARGET_DIR=target/loom RUST_TEST_THREADS RUSTC_WORKSPACE_WRAPPER=$PWD/ci/clippy_driver.sh
RUST_TEST_THREADS=$(nproc)
cargo test --manifest-path tests/loom/Cargo.toml --locked --release -- --show-output
