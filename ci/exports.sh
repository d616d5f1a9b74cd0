#!/usr/bin/env bash
# Files that PostgreSQL, MariaDB, SQLite, DuckDB and ClickHouse write are tagged without a loss: crates/imid-cli/tests/exports.py.
#
#   ci/exports.sh           checks 500 rows in each format of each database, and reads the results back
#   ci/exports.sh --write   also writes the exports of crates/imid-cli/tests/exports, which the tests read
#
# SQLite needs the program sqlite3; DuckDB and ClickHouse come from PyPI. What cannot be had is printed as `not checked`.
set -euo pipefail
cd "$(dirname "$0")/.."
# PyPI may be slow.
export PIP_RETRIES=10 PIP_DEFAULT_TIMEOUT=60
target=${CARGO_TARGET_DIR:-$PWD/target}
exports=crates/imid-cli/tests/exports

write=()
[ "${1:-}" != --write ] || write=(--write "$exports")
cargo build --quiet --release --package imid-cli --features postgres,tls-ring
venv=$target/exports-venv
[ -x "$venv/bin/pip" ] || python3 -m venv "$venv"
embedded=()
if command -v sqlite3 >/dev/null; then embedded+=(sqlite); else echo "not checked: exports of SQLite: sqlite3 is not installed"; fi
for package in duckdb-cli chdb; do
  name=${package/-cli/} && name=${name/chdb/clickhouse}
  if "$venv/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: "$package"; then
    embedded+=("$name")
  else
    echo "not checked: exports of $name: $package from PyPI cannot be installed here"
  fi
done
export PATH=$venv/bin:$PATH
python3 crates/imid-cli/tests/exports.py "$target/release" "${embedded[@]}" "${write[@]}"
for store in postgres mysql; do
  bash ci/services.sh run $store -- python3 crates/imid-cli/tests/exports.py "$target/release" $store "${write[@]}"
done
