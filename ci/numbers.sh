#!/usr/bin/env bash
# The numbers of sql/*/numbers.sql have no gaps and no repeats while connections are killed. sql/numbers.sh alone runs longer.
set -euo pipefail
cd "$(dirname "$0")/.."
# As ci/stores.sh compiles it.
export RUSTC_WORKSPACE_WRAPPER=$PWD/ci/clippy_driver.sh
bash sql/numbers.sh 4 100
