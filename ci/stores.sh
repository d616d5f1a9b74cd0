#!/usr/bin/env bash
# Tests the integrations and the SQL packs with real databases: PostgreSQL, MariaDB and Redis as servers, and SQLite, DuckDB and
# ClickHouse inside of a process. IMID_ROWS is the number of random IDs, 1,000,000 unless it is set. What this machine cannot
# run is reported as `skipped: TEST: REASON`.
set -euo pipefail
cd "$(dirname "$0")/.."
export IMID_ROWS=${IMID_ROWS:-1000000}
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}

# Servers that the environment names are used. Otherwise throw-away ones are started.
if [ -z "${IMID_POSTGRES_URL:-}${IMID_MYSQL_URL:-}${IMID_REDIS_URL:-}" ] && [ -e ci/services.sh ]; then
  exec bash ci/services.sh run postgres mysql redis -- bash ci/stores.sh
fi

skip() { echo "skipped: $1: $2" >&2; }

# Prints what the library reads from random IDs. The packs must read the same.
rows=$(mktemp)
trap 'rm -f "$rows" "$rows".*' EXIT
cargo run --quiet --manifest-path tests/stores/Cargo.toml --locked --bin rows >"$rows"
chmod 644 "$rows"

# The messages of a chat, with IDs of the tool. An archive of a real chat is used if it is there.
archive=../shared/data/chat.jsonl.gz
if [ -e "$archive" ]; then
  cargo run --quiet --package imid-cli -- tag --type group --session-template '{channel}/{topic}' --time-field time_ms "$archive" >"$rows.chat"
else
  skip "the chat of $archive" "the file is not here; sql/chat.py makes 20,000 messages"
  python3 sql/chat.py sample | cargo run --quiet --package imid-cli -- tag --type group --session-field room --time-field time_ms >"$rows.chat"
fi

echo "== sql/postgres"
if [ -n "${IMID_POSTGRES_URL:-}" ] && command -v psql >/dev/null; then
  (
    cd sql/postgres
    psql -X -q -v ON_ERROR_STOP=1 -f install.sql -f test.sql "$IMID_POSTGRES_URL"
    psql -X -q -v ON_ERROR_STOP=1 -f rows.sql "$IMID_POSTGRES_URL" <"$rows"
    python3 ../chat.py postgres "$rows.chat"
    psql -X -q -v ON_ERROR_STOP=1 -f uninstall.sql "$IMID_POSTGRES_URL"
  )
else
  skip sql/postgres "IMID_POSTGRES_URL is not set, or there is no psql"
fi

echo "== sql/mysql"
if [[ ${IMID_MYSQL_URL:-} =~ ^mysql://([^:]+):([^@]*)@([^:/]+):([0-9]+)/(.+)$ ]] && command -v mariadb >/dev/null; then
  client=(mariadb --no-defaults --local-infile=1 --default-character-set=utf8mb4 -N -u "${BASH_REMATCH[1]}"
    "-p${BASH_REMATCH[2]}" -h "${BASH_REMATCH[3]}" -P "${BASH_REMATCH[4]}" "${BASH_REMATCH[5]}")
  # Stored functions are slow, so this takes 50,000 of the rows. The first column is the place among all rows, so it is written
  # anew.
  shuf -n 50000 --random-source="$rows" "$rows" | sort -t, -k2,2 | awk -F, -v OFS=, '{ $1 = NR - 1; print }' >"$rows.short"
  "${client[@]}" <sql/mysql/uninstall.sql
  "${client[@]}" <sql/mysql/install.sql
  # A string of MySQL has a backslash before each backslash and each quotation mark.
  { echo "SET @vectors = '"; sed "s/\\\\/\\\\\\\\/g; s/'/\\\\'/g" docs/vectors.json; echo "';"; cat sql/mysql/test.sql; } | "${client[@]}"
  sed "s|\$ROWS|$rows.short|" sql/mysql/rows.sql | "${client[@]}"
  python3 sql/chat.py mysql "$rows.chat"
  "${client[@]}" <sql/mysql/uninstall.sql
else
  skip sql/mysql "IMID_MYSQL_URL is not set, or there is no client mariadb"
fi

venv=$CARGO_TARGET_DIR/stores-venv
declare -A package=([sqlite]=apsw [duckdb]=duckdb [clickhouse]=chdb)
for database in sqlite duckdb clickhouse; do
  echo "== sql/$database"
  [ -x "$venv/bin/python" ] || python3 -m venv "$venv" || { skip "sql/$database" "Python 3 has no venv"; continue; }
  if "$venv/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: "${package[$database]}"; then
    "$venv/bin/python" sql/embedded.py "$database" "$rows"
    "$venv/bin/python" sql/chat.py "$database" "$rows.chat"
  else
    skip "sql/$database" "${package[$database]} from PyPI cannot be installed here"
  fi
done

echo "== tests/stores"
cargo test --manifest-path tests/stores/Cargo.toml --locked
