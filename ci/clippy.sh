#!/usr/bin/env bash
# No target of any package has a warning of the compiler or of clippy. The lints are in each Cargo.toml.
set -euo pipefail
cd "$(dirname "$0")/.."
# One folder for all packages, because they share many dependencies.
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"
# Skips the build of libFuzzer, which takes four times as long as the rest of its package. Nothing is linked here.
export CUSTOM_LIBFUZZER_PATH=/none

cargo clippy --all-targets --all-features -- -D warnings
RUSTFLAGS="${RUSTFLAGS:-} --cfg imid_levels" cargo clippy --manifest-path fuzz/Cargo.toml --locked --all-targets -- -D warnings
cargo clippy --manifest-path benches/faults/Cargo.toml --locked --all-targets -- -D warnings
# Without std there is no test harness, so not `--all-targets`.
cargo clippy --manifest-path ci/no_std/Cargo.toml --locked -- -D warnings
