#!/usr/bin/env bash
# The compiler and clippy have no warning for any target of any package. The lints are in each Cargo.toml. The tests with servers,
# the chat, the recipes, the models and the fuzz targets are compiled with clippy where they run: stores.sh, chat.sh, examples.sh, loom.sh and
# fuzz.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
# All packages use one target folder, because they share many dependencies.
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"

cargo clippy --workspace --all-targets --all-features -- -D warnings
cargo clippy --manifest-path benches/Cargo.toml --locked --all-targets -- -D warnings
cargo clippy --manifest-path benches/faults/Cargo.toml --locked --all-targets -- -D warnings
# The test harness needs std, so `--all-targets` does not work here.
cargo clippy --manifest-path tests/no_std/Cargo.toml --locked -- -D warnings
cargo clippy --manifest-path web/Cargo.toml --locked -- -D warnings
