#!/usr/bin/env bash
# The documents build without a warning: as users see them, and as maintainers do, private items included.
set -euo pipefail
cd "$(dirname "$0")/.."
export RUSTDOCFLAGS="${RUSTDOCFLAGS:-} -D warnings"

cargo doc --lib --no-deps --all-features
cargo doc --lib --no-deps --all-features --document-private-items --target-dir target/private-doc
