#!/usr/bin/env bash
# Values go through the traits of database drivers and other crates. Their tests are a package of their own, because the
# drivers take longer to compile than all tests of the library.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"

RUSTC_WORKSPACE_WRAPPER=$PWD/ci/clippy_driver.sh cargo test --manifest-path tests/integrations/Cargo.toml --locked --all-targets
