#!/usr/bin/env bash
# Each example and each recipe runs to its end. The recipes take turns (ci/turn.sh).
set -euo pipefail
cd "$(dirname "$0")/.."
# The recipes are a workspace of their own, and use the same target folder.
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"

# With the features of ci/leases.sh, so that nothing is compiled again.
cargo build --workspace --all-features --examples
shopt -s nullglob
for example in examples/*.rs; do
  name=$(basename "$example" .rs)
  echo "--- $name"
  "$CARGO_TARGET_DIR/debug/examples/$name" </dev/null
done

# Runs cargo for a recipe, which has a feature of its own.
recipe() {
  local name=$2
  RUSTC_WORKSPACE_WRAPPER=$PWD/ci/clippy_driver.sh \
    cargo "$1" --quiet --manifest-path examples/recipes/Cargo.toml --locked --features "$name" "${@:3}"
}
# ci/stores.sh makes it.
python=$CARGO_TARGET_DIR/stores-venv/bin/python
for name in $(basename -s .rs -a examples/recipes/*.rs | bash ci/turn.sh recipes 3); do
  echo "--- recipes/$name"
  recipe build "$name" --bin "$name"
  server=()
  # No registry has a server of this decade. ci/stores.sh tests its SQL inside of a process.
  [ "$name" != clickhouse ] || echo "not checked: recipes/clickhouse with a server"
  # It prints what is not checked, if there is no server.
  [ "$name" != sqlx_pool ] || server=(bash ci/services.sh run postgres --)
  "${server[@]}" "$CARGO_TARGET_DIR/debug/$name" </dev/null
  [ "$name" != json_schema ] || recipe test json_schema --test json_schema
done

# The commands of docs/MIGRATING.md about Parquet, with DuckDB from PyPI.
echo "--- parquet"
cargo build --quiet --release --package imid-cli --features postgres,tls-ring
if [ -x "$python" ] && "$python" -m pip install --quiet --disable-pip-version-check --only-binary :all: duckdb-cli pyarrow; then
  "$python" crates/imid-cli/tests/parquet.py "$CARGO_TARGET_DIR/release"
else
  echo "not checked: Parquet: duckdb-cli and pyarrow from PyPI cannot be installed here"
fi
