#!/usr/bin/env bash
# The numbers of sql/*/numbers.sql have no gaps and no repeats while connections are killed (sql/numbers.sh alone runs longer), and a
# failover, a restore, a hot standby, replication and isolation levels do to them what docs/STORES.md says.
set -euo pipefail
cd "$(dirname "$0")/.."
# As ci/stores.sh compiles it.
export RUSTC_WORKSPACE_WRAPPER=$PWD/ci/clippy_driver.sh CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
bash sql/numbers.sh 4 100
# It measures nothing here, but it runs.
bash sql/rates.sh 1 1 4 >/dev/null
cargo test --quiet --manifest-path tests/stores/Cargo.toml --locked --test failover --no-run
IMID_FAILOVER=1 bash ci/services.sh run postgres mysql -- \
  cargo test --manifest-path tests/stores/Cargo.toml --locked --test failover -- --test-threads 1
