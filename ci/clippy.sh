#!/usr/bin/env bash
# No warning of the compiler or of clippy, in any target of any package; the lints are in each Cargo.toml.
set -euo pipefail
cd "$(dirname "$0")/.."
# One for all packages, which have many dependencies in common.
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"
# Nothing is linked, so libFuzzer, which takes four times as long as all the rest of its package, need not be built.
export CUSTOM_LIBFUZZER_PATH=/none

cargo clippy --all-targets --all-features -- -D warnings
RUSTFLAGS="${RUSTFLAGS:-} --cfg imid_levels" cargo clippy --manifest-path fuzz/Cargo.toml --locked --all-targets -- -D warnings
cargo clippy --manifest-path benches/faults/Cargo.toml --locked --all-targets -- -D warnings
# Its program without std has no test harness.
cargo clippy --manifest-path ci/no_std/Cargo.toml --locked -- -D warnings
