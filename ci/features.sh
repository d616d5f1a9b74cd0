#!/usr/bin/env bash
# The library compiles without a warning with no feature, with each feature alone, and with all of them.
set -euo pipefail
cd "$(dirname "$0")/.."

command -v cargo-hack >/dev/null || cargo install cargo-hack --locked
# The tool needs std. If the library were built together with the tool, it would always have std.
cargo hack --package imid clippy --each-feature -- -D warnings
