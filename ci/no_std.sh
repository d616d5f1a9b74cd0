#!/usr/bin/env bash
# The library works without std: its tests pass, and a program without std and without an allocator links and runs.
set -euo pipefail
cd "$(dirname "$0")/.."

# The tool uses std. If the library were built together with the tool, it would have std too.
cargo test --package imid --no-default-features --lib --tests
cargo run --release --manifest-path ci/no_std/Cargo.toml --target-dir target/no_std
