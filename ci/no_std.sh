#!/usr/bin/env bash
# The libraries work without std: their tests pass, and a program without std and without an allocator links and runs.
set -euo pipefail
cd "$(dirname "$0")/.."

# The tool uses std. If a library were built together with the tool, it would have std too.
for package in imid imid-snowflake; do
  cargo test --package $package --no-default-features --lib --tests
done
cargo run --release --manifest-path tests/no_std/Cargo.toml --target-dir target/no_std
