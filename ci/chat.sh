#!/usr/bin/env bash
# The chat of examples/chat loses, doubles and reorders no message while its gateways are killed: ci/chat.sh [SECONDS], default 40.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"

RUSTC_WORKSPACE_WRAPPER=$PWD/ci/clippy_driver.sh cargo test --manifest-path examples/chat/Cargo.toml --locked --all-targets
bash examples/chat/run.sh load "${1:-40}"
if bash ci/services.sh install chromium; then
  bash examples/chat/run.sh browser
else
  echo "not checked: chat: chromium cannot be installed, so no two browsers talk"
fi
