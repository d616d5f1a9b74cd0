#!/usr/bin/env bash
# Measures */numbers.sql and postgres/partitions.sql on real servers: 32 clients store messages in 10,000 rooms and in one, while their connections are killed. SQLite
# has four processes, which are killed.
#
#   sql/numbers.sh [SECONDS [KILLS]]     for each of the eight runs; 20 s and 1,000 kills unless they are given
#
# The status is 1 if a number is missing or repeated, an ID is not in the order of the numbers, or a message was lost or doubled.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$here/../target}
numbers=$CARGO_TARGET_DIR/debug/numbers
if [ -z "${IMID_NUMBERS_BUILT:-}" ]; then
  # With its tests, so that its crates are those of ci/stores.sh.
  cargo test --quiet --manifest-path "$here/../tests/stores/Cargo.toml" --locked --no-run
  export IMID_NUMBERS_BUILT=1
  [ -n "${IMID_POSTGRES_URL:-}${IMID_MYSQL_URL:-}" ] || exec bash "$here/../ci/services.sh" run postgres mysql -- bash "$0" "$@"
fi
seconds=${1:-20} kills=${2:-1000}
status=0
for database in postgres partitions mysql sqlite; do
  server=${database/partitions/postgres}
  url=IMID_${server^^}_URL
  if [ "$database" != sqlite ] && [ -z "${!url:-}" ]; then
    echo "not checked: numbers: no server of $server runs"
    continue
  fi
  case $database in
    postgres) psql -X -q -v ON_ERROR_STOP=1 -f "$here/postgres/mint.sql" "${!url}" ;;
    mysql)
      [[ ${!url} =~ ^mysql://(.+):(.*)@(.+):([0-9]+)/(.+)$ ]]
      cat "$here"/mysql/{uninstall,mint}.sql | mariadb --no-defaults -u "${BASH_REMATCH[1]}" "-p${BASH_REMATCH[2]}" -h "${BASH_REMATCH[3]}" -P "${BASH_REMATCH[4]}" "${BASH_REMATCH[5]}"
      ;;
  esac
  for rooms in 10000 1; do "$numbers" "$database" "$rooms" "$seconds" "$kills" || status=1; done
done
exit $status
