#!/usr/bin/env bash
# The chats of examples/chat (Rust) and examples/chat_sql (Python) lose, double and reorder no message while their gateways are killed and
# the clock of one is an hour ahead: ci/chat.sh [SECONDS], default 45. Controls must be found wrong.
set -euo pipefail
cd "$(dirname "$0")/.."
# PyPI may be slow.
export PIP_RETRIES=10 PIP_DEFAULT_TIMEOUT=60
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"

RUSTC_WORKSPACE_WRAPPER=$PWD/ci/clippy_driver.sh cargo test --manifest-path examples/chat/Cargo.toml --locked --all-targets
bash examples/chat/run.sh load "${1:-45}"
bash examples/chat/run.sh control
if bash ci/services.sh install chromium; then
  bash examples/chat/run.sh browser
else
  echo "not checked: chat: chromium cannot be installed, so no two browsers talk"
fi

venv=$CARGO_TARGET_DIR/chat-venv
if python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --disable-pip-version-check 'psycopg[binary,pool]'; then
  bash ci/services.sh run postgres -- "$venv/bin/python" examples/chat_sql/check.py 10
  bash ci/services.sh run postgres -- "$venv/bin/python" examples/chat_sql/check.py 5 control
else
  echo "not checked: chat_sql: PyPI cannot be reached"
fi
