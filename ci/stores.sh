#!/usr/bin/env bash
# Runs the tests of the integrations and of the SQL packs with real servers: PostgreSQL, MariaDB, Redis, and SQLite inside
# of the tests. IMID_ROWS is the number of random IDs, 1,000,000 unless it is set. A store that this machine does not have
# is reported as `skipped: TEST: REASON`.
set -euo pipefail
cd "$(dirname "$0")/.."
export IMID_ROWS=${IMID_ROWS:-1000000}
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}

# The servers of the environment are used if there are some. Otherwise throw-away ones are started.
if [ -z "${IMID_POSTGRES_URL:-}${IMID_MYSQL_URL:-}${IMID_REDIS_URL:-}" ] && [ -e ci/services.sh ]; then
  exec bash ci/services.sh run postgres mysql redis -- bash "ci/stores.sh" "$@"
fi

if [ -n "${IMID_POSTGRES_URL:-}" ] && command -v psql >/dev/null; then
  echo "sql/postgres/test.sql"
  (cd sql/postgres && psql -X -q -v ON_ERROR_STOP=1 -f install.sql -f test.sql -f uninstall.sql "$IMID_POSTGRES_URL")
else
  echo "skipped: sql/postgres/test.sql: no IMID_POSTGRES_URL or no psql" >&2
fi

cargo test --manifest-path tests/stores/Cargo.toml --locked
