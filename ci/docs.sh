#!/usr/bin/env bash
# The documents build without a warning: as maintainers see them, private items included, and as users do.
set -euo pipefail
cd "$(dirname "$0")/.."
export RUSTDOCFLAGS="${RUSTDOCFLAGS:-} -D warnings"

cargo doc --lib --no-deps --all-features --document-private-items
# Last, so that this is what stands in target/doc.
cargo doc --lib --no-deps --all-features
